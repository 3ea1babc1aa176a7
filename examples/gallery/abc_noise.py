"""SGD without convexity, where stochastic gradients g meet the ABC condition E|g|^2 <= 2A (f - f*) + B |grad f|^2 + C:
E f(x+) - f* <= (1 + gamma^2 L A) (f(x) - f*) - gamma (1 - gamma L B/2) |grad f(x)|^2 + gamma^2 L C/2.

Source: Khaled and Richtarik, Better theory for SGD in the nonconvex world (2020), Assumption 2.
"""

import fedtheory as ft

L, gamma, A, B, C = ft.letters("L gamma A B C")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def square_of_gradient(problem, params, state):
    return (slope(problem, state.x) ** 2).sum(axis=-1)


def step(problem, params, state, draw):
    x, optimum = state.x[..., None, :], problem.x_star[..., None, :]
    gap = (problem.f.value(x) - problem.f.value(optimum)).mean(axis=-1)
    # E|g|^2 is |grad f|^2 and the variance.
    variance = 2 * params.A * gap + (params.B - 1) * (slope(problem, state.x) ** 2).sum(axis=-1) + params.C
    stochastic = params.noise.apply(draw, problem.f.gradient(x), variance[..., None])
    return {"x": state.x - params.gamma * stochastic.mean(axis=-2)}


sgd = ft.method("sgd", step, ["gamma", "A", "B", "C", "noise"], {"x": "point"})
setting = ft.Setting(
    algorithm=sgd, functions=ft.Smooth(L), adversaries=(ft.BoundedNoise(),), clients=(1,), domain=(B >= 1,)
)
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G = ft.Quantity("G", square_of_gradient)


def bound(c):
    noise = gamma**2 * L / c * (2 * A * F + B * G + C)
    return ft.one_step(sgd, ft.E(F_next) <= F - gamma * G + noise)


CLAIMS = (
    ft.Claim("abc-noise/step", setting=setting, statement=bound(2)),
    ft.Claim("abc-noise/less-noise", setting=setting, statement=bound(3)),
)
