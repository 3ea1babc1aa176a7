"""A step by the gradient of one client, corrected at a reference point: of the client no more is known than that its
gradients change nearly as those of the average do, up to delta times the distance; no function is convex.

Source: Karimireddy et al., Mime: mimicking centralized stochastic algorithms in federated learning (2020), (A2), for
one local step after the other, whose reference point is the point before.
"""

import fedtheory as ft

L, gamma, delta = ft.letters("L gamma delta")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def square_of_gradient(problem, params, state):
    return (slope(problem, state.x) ** 2).sum(axis=-1)


def moved(problem, params, state):
    return ((state.x - state.w) ** 2).sum(axis=-1)


def step(problem, params, state, draw):
    # What client i answers, grad f_i(x) - grad f_i(w), is near grad f(x) - grad f(w).
    difference = slope(problem, state.x) - slope(problem, state.w)
    answer = params.client.answer(difference, params.delta**2 * ((state.x - state.w) ** 2).sum(axis=-1))
    return {"x": state.x - params.gamma * (answer + slope(problem, state.w)), "w": state.x}


similar = ft.method("similar-client", step, ["gamma", "delta", "client"], {"x": "point", "w": "point"})
setting = ft.Setting(algorithm=similar, functions=ft.Smooth(L), adversaries=(ft.Adversary("client"),))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
R, R_next = ft.Quantity("R", moved), ft.Quantity("R_next", moved, after=True)
G = ft.Quantity("G", square_of_gradient)
w = gamma * delta**2 / 2
half, whole = (ft.one_step(similar, ft.E(F_next + w * R_next) <= F + w * R - gamma / c * G) for c in (2, 1))
short = (gamma * L + gamma**2 * delta**2 <= 1,)
CLAIMS = (
    ft.Claim("similar-client/step", setting=setting, statement=half, requires=short),
    ft.Claim("similar-client/more-descent", setting=setting, statement=whole, requires=short),
)
