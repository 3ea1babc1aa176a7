"""Error feedback: the iterate less the errors that clients still hold descends as if nothing were compressed."""

from sympy import Rational

from fedtheory import (
    Claim,
    ContractiveCompressors,
    Independent,
    OneStep,
    Quantity,
    Setting,
    SmoothStronglyConvex,
    letters,
    method,
)

mu, L, gamma, alpha = letters("mu L gamma alpha")


def step(problem, params, state, draw):
    wanted = params.gamma * problem.f.gradient(state.x[..., None, :]) + state.e
    sent = params.compressor.apply(draw, wanted)
    return {"x": state.x - sent.sum(axis=-2) / problem.n, "e": wanted - sent}


def virtual(problem, params, state):
    return ((state.x - state.e.sum(axis=-2) / problem.n - problem.x_star) ** 2).sum(axis=-1)


def error(problem, params, state):
    return ((state.e.sum(axis=-2) / problem.n) ** 2).sum(axis=-1)


def draws(problem, params, state):
    return Independent(params.compressor.draws, problem.n)


ef = method("error-feedback", step, ["gamma", "alpha", "compressor"], {"x": "point", "e": "clients"}, draws=draws)
SETTING = Setting(algorithm=ef, functions=SmoothStronglyConvex(mu, L), adversaries=(ContractiveCompressors(),))
before, after, held = Quantity("V", virtual), Quantity("V_next", virtual, after=True), Quantity("E", error)
CLAIMS = tuple(
    Claim(
        f"error-feedback/{name}",
        setting=SETTING,
        statement=OneStep(
            ef,
            after.expression,
            (1 - gamma * mu / 2) * before.expression + c * L * gamma * held.expression,
            (before, after, held),
        ),
        requires=(4 * gamma * L <= 1,),
    )
    for name, c in (("virtual-iterate", 3), ("fewer-errors", Rational(1, 2)))
)
