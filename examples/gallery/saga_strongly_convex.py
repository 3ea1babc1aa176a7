"""SAGA where each function is strongly convex, its table kept as points: the rate 1 - gamma mu is the best possible.

Source: Defazio, Bach and Lacoste-Julien, SAGA (2014), Theorem 1; the stepsize is theirs.
"""

import numpy as np

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    drawn, here = np.asarray(draw)[..., None], state.x[..., None, :]
    fresh, stale = problem.f.gradient(here), problem.f.gradient(state.phi)
    change = np.where(drawn, fresh - stale, 0 * fresh).sum(axis=-2)
    x = state.x - params.gamma * (change + stale.sum(axis=-2) / problem.n)
    return {"x": x, "phi": np.where(drawn, here, state.phi)}


def draws(problem, params, state):
    return ft.UniformSubset(problem.n, 1)


def rest(problem, params):
    return saga.State(problem.x_star, problem.x_star[..., None, :] + 0 * problem.y_star)


def potential(problem, params, state):
    """T of the theorem: how far the f_i exceed their tangents at x* where they were last asked, and c |x - x*|^2."""
    optimum = problem.x_star[..., None, :]
    tangent = problem.f.value(optimum) + (problem.y_star * (state.phi - optimum)).sum(axis=-1)
    excess = (problem.f.value(state.phi) - tangent).sum(axis=-1) / problem.n
    c = 1 / (2 * params.gamma * (1 - params.gamma * problem.mu) * problem.n)
    return excess + c * ft.distance(problem, params, state)


saga = ft.method("saga-points", step, ["gamma"], {"x": "point", "phi": "clients"}, draws=draws, fixed_point=rest)
setting = ft.Setting(algorithm=saga, functions=ft.SmoothStronglyConvex(mu, L), clients=(2, 3))
rate, faster = (ft.contracts(saga, potential, (1 - gamma * mu) ** k) for k in (1, 2))
stated = (gamma <= 1 / (2 * (mu * ft.n + L)),)
CLAIMS = (
    ft.Claim("saga-strongly-convex/step", setting=setting, statement=rate, requires=stated),
    ft.Claim("saga-strongly-convex/faster", setting=setting, statement=faster, requires=stated),
)
