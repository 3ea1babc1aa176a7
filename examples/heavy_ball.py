"""Heavy ball: gradient descent with momentum decreases f(x) - f* + delta |x - before|^2 (iPiano's Lyapunov function)."""

from fedtheory import Claim, Setting, SmoothStronglyConvex, contracts, letters, method

mu, L, gamma, beta = letters("mu L gamma beta")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope + params.beta * (state.x - state.before), "before": state.x}


def energy(problem, params, state):
    here, there = (problem.f.value(x[..., None, :]).sum(axis=-1) / problem.n for x in (state.x, problem.x_star))
    delta = (1 - params.beta / 2) / params.gamma - problem.L / 2
    return here - there + delta * ((state.x - state.before) ** 2).sum(axis=-1)


heavy_ball = method("heavy-ball", step, ["gamma", "beta"], {"x": "point", "before": "point"})
SETTING = Setting(algorithm=heavy_ball, functions=SmoothStronglyConvex(mu, L))
CLAIMS = (
    Claim(
        "heavy-ball/decrease",
        setting=SETTING,
        statement=contracts(heavy_ball, energy, 1),
        requires=(gamma * L <= 2 * (1 - beta),),
    ),
    Claim(
        "heavy-ball/longer-steps",
        setting=SETTING,
        statement=contracts(heavy_ball, energy, 1),
        requires=(gamma * L <= 2 - beta,),
    ),
)
