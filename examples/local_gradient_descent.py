"""Local gradient descent, H steps a round: contracts up to the drift of the clients' own optima."""

from fedtheory import Claim, OneStep, Quantity, Setting, SmoothStronglyConvex, letters, method

mu, L, gamma = letters("mu L gamma")
H = 3


def locally(problem, params, x):
    for _ in range(H):
        x = x - params.gamma * problem.f.gradient(x)
    return x


def step(problem, params, state, draw):
    return {"x": locally(problem, params, state.x[..., None, :]).sum(axis=-2) / problem.n}


def distance(problem, params, state):
    return ((state.x - problem.x_star) ** 2).sum(axis=-1)


def drift(problem, params, state):
    x = problem.x_star[..., None, :]
    return ((locally(problem, params, x) - x) ** 2).sum(axis=(-1, -2)) / problem.n


local = method("local-gradient-descent", step, ["gamma"], {"x": "point"})
SETTING = Setting(algorithm=local, functions=SmoothStronglyConvex(mu, L))
before, after, drifted = Quantity("D", distance), Quantity("D_next", distance, after=True), Quantity("drift", drift)


def bound(q):
    return OneStep(
        local, after.expression, q * before.expression + drifted.expression / (1 - q), (before, after, drifted)
    )


CLAIMS = (
    Claim("local-gd/round", setting=SETTING, statement=bound((1 - gamma * mu) ** H), requires=(gamma * L <= 1,)),
    Claim(
        "local-gd/twice-and-one-more",
        setting=SETTING,
        statement=bound((1 - gamma * mu) ** (2 * H + 1)),
        requires=(gamma * L <= 1,),
    ),
)
