"""DIANA: gradient descent on compressed gradient differences (Mishchenko et al. 2019; Horvath et al. 2019).

Minimises (1/n) sum_i f_i. Client i keeps a control variate h_i that learns grad f_i(x*), so that what it compresses
vanishes at the optimum.
"""

from __future__ import annotations

from typing import Annotated

from fedtheory.algorithms.dialect import Array, Draw, Gradients, NamedTuple, Point, Problem, Scalar, edits, method
from fedtheory.algorithms.starts import OtherStart, gradients
from fedtheory.compressors import Family


class Params(NamedTuple):
    """``gamma``: stepsize; ``alpha``: stepsize of the control variates; ``compressors``: the family C_1, ..., C_n."""

    gamma: Scalar
    alpha: Scalar
    compressors: Family


class State(NamedTuple):
    """``x (..., d)``: model; ``h (..., n, d)``: the clients' control variates; ``h_bar (..., d)``: the server's."""

    x: Point
    h: Gradients
    h_bar: Annotated[Array, "mean of h"]


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of DIANA."""
    gamma, alpha, compressors = params
    m = compressors.apply(draw, problem.f.gradient(state.x[..., None, :]) - state.h)
    m_bar = m.sum(axis=-2) / problem.n
    return State(
        x=state.x - gamma * (state.h_bar + m_bar),
        h=state.h + alpha * m,
        h_bar=state.h_bar + alpha * m_bar,
    )


def theory(problem: Problem, compressors: Family) -> Params:
    """The largest stepsizes of the theorem: alpha = 1/(1+omega), gamma = 1/(L (1 + 6 omega/n))."""
    omega = float(compressors.omega)
    return Params(1 / (problem.L * (1 + 6 * omega / problem.n)), 1 / (1 + omega), compressors)


algorithm = method("diana", step, Params, State)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - gamma (h_bar + (1/n) sum m_i), m_i = C_i(grad f_i(x) - h_i)",
    "h": "h_i <- h_i + alpha m_i",
    "h_bar": "h_bar <- h_bar + alpha (1/n) sum m_i",
}

#: Other starts of its runs.
STARTS = (OtherStart("h_i^0 = grad f_i(x^0)", "h", gradients),)

#: Known mistakes of implementations.
SLIPS = edits("""
x: the sign of the server's control variate is swapped
    (state.h_bar + m_bar) => (m_bar - state.h_bar)
x: clients compress the sum of gradient and control variate: its sign is swapped
    [..., None, :]) - state.h) => [..., None, :]) + state.h)
x: the server steps along the new average of the control variates
    (state.h_bar + m_bar) => (state.h_bar + alpha * m_bar)
x: the server renews its control variate before it adds the messages to it
    (state.h_bar + m_bar) => (state.h_bar + alpha * m_bar + m_bar)
h_bar: the server's control variate is never updated (a stale average)
    state.h_bar + alpha * m_bar => state.h_bar + 0 * m_bar
h: the clients' control variates are never updated
    state.h + alpha * m, => state.h + 0 * m,
h: the clients' control variates are the last messages: they are overwritten where messages are added
    state.h + alpha * m, => m,
h: the messages are added to the clients' control variates without the stepsize alpha
    state.h + alpha * m, => state.h + m,
h: the clients' control variates are averaged with the messages: (1 - alpha) h_i + alpha m_i
    state.h + alpha * m, => (1 - alpha) * state.h + alpha * m,
h: the clients' control variates move by the mean of the messages
    state.h + alpha * m, => state.h + alpha * m_bar[..., None, :],
h: the clients' control variates move by the differences themselves, which are not compressed
    state.h + alpha * m, => state.h + alpha * (problem.f.gradient(state.x[..., None, :]) - state.h),
h: the control variates move with the stepsize gamma of the model
    state.h + alpha * m, => state.h + gamma * m,
    state.h_bar + alpha * m_bar => state.h_bar + gamma * m_bar
h_bar: the server's control variate adds the sum of the messages instead of their average
    state.h_bar + alpha * m_bar => state.h_bar + problem.n * alpha * m_bar
h_bar: the server's average is a stale one: that of the clients' control variates before this step
    =state.h_bar + alpha * m_bar => =state.h.sum(axis=-2) / problem.n + 0 * m_bar
""")
