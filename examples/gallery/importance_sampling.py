"""SGD that draws client i with a probability proportional to its L_i: stepsizes up to 1/(2 mean L_i).

For clients that are drawn uniformly, the largest L_i counts, and not the mean.
Source: Needell, Ward and Srebro, Stochastic gradient descent, weighted sampling, and the randomized Kaczmarz algorithm
(2016); Zhao and Zhang, Stochastic optimization with importance sampling (2015).
"""

import numpy as np

import fedtheory as ft

mu, L, gamma, L_mean = ft.letters("mu L gamma L_mean")


def mean_of_L(problem, params):
    return problem.f.L.sum() / problem.n


def by_smoothness(problem):
    return problem.f.L / problem.f.L.sum()


def step(problem, params, state, draw):
    gradient = problem.f.gradient(state.x[..., None, :])
    weighted = gradient / (problem.n * by_smoothness(problem)[..., None])
    drawn = np.where(draw[..., None], weighted, 0 * gradient).sum(axis=-2)
    return {"x": state.x - params.gamma * drawn}


def draws(problem, params, state):
    return ft.Categorical(by_smoothness(problem))


def noise(problem, params, state):
    squares = (problem.y_star**2).sum(axis=-1)
    return (squares / problem.f.L).sum(axis=-1) * mean_of_L(problem, params) / problem.n


sgd = ft.method("sgd", step, ["gamma"], {"x": "point"}, draws=draws)
functions = ft.SmoothEach(mu, L)
letters = {**functions.letters, gamma: "gamma", L_mean: mean_of_L}
setting = ft.Setting(algorithm=sgd, functions=functions, letters=letters)
CLAIMS = tuple(
    ft.Claim(
        f"importance-sampling/{name}",
        setting=setting,
        statement=ft.contracts(sgd, ft.distance, rate, noise={noise: 2 * gamma**2}),
        requires=(2 * gamma * L_mean <= 1,),
    )
    for name, rate in (("step", 1 - gamma * mu), ("faster", 1 - 2 * gamma * mu))
)
