"""FedProx: a round, the mean of the clients' proximal points, contracts by 1/(1 + gamma mu); but not to the optimum.

Two models move towards each other, wherever they start, so that there is one fixed point; it is x* where the clients
agree on it, and another point otherwise.
Source: Li and others, Federated optimization in heterogeneous networks (2020); Pathak and Wainwright, FedSplit (2020).
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def after(problem, params, x):
    points = problem.f.resolvent(1 / params.gamma, x[..., None, :] / params.gamma + 0 * problem.y_star)
    return points.sum(axis=-2) / problem.n


def step(problem, params, state, draw):
    return {"x": after(problem, params, state.x), "z": after(problem, params, state.z)}


def apart(problem, params, state):
    return ((state.x - state.z) ** 2).sum(axis=-1)


fedprox = ft.method("fedprox", step, ["gamma"], {"x": "point", "z": "point"})
setting = ft.Setting(algorithm=fedprox, functions=ft.SmoothStronglyConvex(mu, L))
together, to_optimum = (ft.contracts(fedprox, of, 1 / (1 + gamma * mu) ** 2) for of in (apart, ft.distance))
CLAIMS = (
    ft.Claim("fedprox/contraction", setting=setting, statement=together),
    ft.Claim("fedprox/to-the-optimum", setting=setting, statement=to_optimum),
)
