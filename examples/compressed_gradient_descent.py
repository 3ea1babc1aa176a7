"""Compressed gradient descent (DCGD) contracts up to a neighbourhood that the gradients at the optimum make."""

from fedtheory import (
    Claim,
    OneStep,
    Quantity,
    Setting,
    SmoothStronglyConvex,
    UnbiasedCompressors,
    letters,
    method,
    n,
    omega,
)

mu, L, gamma = letters("mu L gamma")


def step(problem, params, state, draw):
    sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n}


def distance(problem, params, state):
    return ((state.x - problem.x_star) ** 2).sum(axis=-1)


def heterogeneity(problem, params, state):
    return (problem.y_star**2).sum(axis=(-1, -2)) / problem.n


dcgd = method("dcgd", step, ["gamma", "compressors"], {"x": "point"})
SETTING = Setting(
    algorithm=dcgd, functions=SmoothStronglyConvex(mu, L), adversaries=(UnbiasedCompressors(independent=True),)
)
before, after, noise = Quantity("D", distance), Quantity("D_next", distance, after=True), Quantity("H", heterogeneity)
CLAIMS = tuple(
    Claim(
        f"dcgd/{name}",
        setting=SETTING,
        statement=OneStep(
            dcgd,
            after.expression,
            (1 - gamma * mu) * before.expression + c * gamma**2 * omega / n * noise.expression,
            (before, after, noise),
        ),
        requires=(gamma * L * (1 + 2 * omega / n) <= 1,),
    )
    for name, c in (("neighbourhood", 2), ("half-the-noise", 1))
)
