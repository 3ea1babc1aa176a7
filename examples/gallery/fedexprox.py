"""FedExProx: a round of FedProx, extrapolated by alpha, contracts by 1 - alpha gamma mu/(1 + gamma mu).

The mean of Moreau envelopes is strongly convex and smooth, with the constants mu/(1 + gamma mu) and L/(1 + gamma L), so
that alpha may be larger than 1: up to 2/(gamma (mu/(1 + gamma mu) + L/(1 + gamma L))). Two models are compared, since
the fixed point is x* only where the clients agree on it.
Source: Li, Acharya and Richtarik, The power of extrapolation in federated learning (2024), Theorem 1, on quadratics.
"""

import fedtheory as ft

mu, L, gamma, extra = ft.letters("mu L gamma extra")


def after(problem, params, x):
    points = problem.f.resolvent(1 / params.gamma, x[..., None, :] / params.gamma + 0 * problem.y_star)
    return x + params.extra * (points.sum(axis=-2) / problem.n - x)


def step(problem, params, state, draw):
    return {"x": after(problem, params, state.x), "z": after(problem, params, state.z)}


def apart(problem, params, state):
    return ((state.x - state.z) ** 2).sum(axis=-1)


fedexprox = ft.method("fedexprox", step, ["gamma", "extra"], {"x": "point", "z": "point"})
setting = ft.Setting(algorithm=fedexprox, functions=ft.SmoothStronglyConvex(mu, L))
least, largest = (c / (1 + gamma * c) for c in (mu, L))
contraction = ft.contracts(fedexprox, apart, (1 - extra * gamma * least) ** 2)
CLAIMS = (
    ft.Claim(
        "fedexprox/step", setting=setting, statement=contraction, requires=(extra * gamma * (least + largest) <= 2,)
    ),
    ft.Claim(
        "fedexprox/more-extrapolation", setting=setting, statement=contraction, requires=(extra * gamma * largest <= 2,)
    ),
)
