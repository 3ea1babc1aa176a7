"""The proximal point method, for one function: the contraction of an exact step."""

from fedtheory import Claim, Setting, SmoothStronglyConvex, contracts, letters, method

mu, L, gamma = letters("mu L gamma")


def step(problem, params, state, draw):
    target = state.x[..., None, :] / params.gamma
    return {"x": problem.f.resolvent(1 / params.gamma, target)[..., 0, :]}


def distance(problem, params, state):
    return ((state.x - problem.x_star) ** 2).sum(axis=-1)


prox = method("proximal-point", step, ["gamma"], {"x": "point"})
SETTING = Setting(algorithm=prox, functions=SmoothStronglyConvex(mu, L), clients=(1,))
CLAIMS = (
    Claim("proximal-point/step", setting=SETTING, statement=contracts(prox, distance, 1 / (1 + gamma * mu) ** 2)),
    Claim("proximal-point/faster", setting=SETTING, statement=contracts(prox, distance, 1 / (1 + gamma * mu) ** 3)),
)
