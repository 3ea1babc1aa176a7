"""Gradient descent on the mean of the f_i as an author writes it, with exact and with noisy gradients."""


def mean_gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * mean_gradient(problem, state.x)}


def noisy_step(problem, params, state, draw):
    stochastic = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * stochastic.sum(axis=-2) / problem.n}
