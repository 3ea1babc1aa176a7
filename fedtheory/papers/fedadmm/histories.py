"""FedADMM, eq. (65) in any number of dimensions: what all clients did last, and the server's moves since then.

Each client's last iteration k_i is k where it takes part. Of functions nothing is used but what lemma-C.1/c says of
iteration k_i; of the rounds t in which a client waits only how far the server moves in all of them, b_i, and the sum of
the |w^{t+1} - w^t|^2, as in eq-53.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.classes import Smooth
from fedtheory.instances import Recipe, number, numbers, pick
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedadmm.letters import parts, s0, section
from fedtheory.papers.fedadmm.transition import largest
from fedtheory.problems.base import Problem
from fedtheory.settings import Drawing, Hints, Setting, points
from fedtheory.settings.relations import Quantity

_Q = sympy.Rational


class Params(NamedTuple):
    """``sigma (m,)``; ``active (m,)``: who takes part in iteration k; ``s0``: the windows of Scheme 4.1."""

    sigma: Array
    active: tuple[bool, ...]
    s0: Scalar


class Last(NamedTuple):
    """``Dpi``, ``Dw (..., m, d)``: the clients' last changes; ``B``: the moves of the server since then, over 2 s_0 -
    2; ``E``, ``F``, ``G``: vectors that make scalars large enough; ``eps``, ``after (..., m)``: eps_i^{k_i} and
    eps_i^{k_i+1}; ``waits (..., m)``: the sums of |w^{t+1} - w^t|^2."""

    Dpi: Array
    Dw: Array
    B: Array
    E: Array
    F: Array
    G: Array
    eps: Array
    after: Array
    waits: Array


def _origin(problem: Problem, params: Params) -> Last:
    vectors, none = np.zeros((problem.n, problem.d), dtype=int), np.zeros(problem.n, dtype=int)
    return Last(*(vectors,) * 6, *(none,) * 3)


def _missing(params: Params, Dpi: Array, Dw: Array, after: Array) -> Array:
    """The least that lemma-C.1/c asks of eps_i^{k_i}."""
    return (square(Dpi) - 2 * params.sigma**2 * square(Dw) / 15) / 12 - after


def _init(problem: Problem, params: Params, Dpi: Array, Dw: Array, B: Array, E: Array, F: Array, G: Array) -> Last:
    after = square(F)
    eps = largest(square(E), _missing(params, Dpi, Dw, after))
    waits = largest(square(G), (2 * params.s0 - 2) * square(B))
    return Last(Dpi, Dw, B, E, F, G, eps, after, waits)


def _known(problem: Problem, params: Params, state: Last) -> Array:
    """lemma-C.1/c at k_i, and |b_i|^2 <= (2 s_0 - 2) waits_i for b_i = (2 s_0 - 2) B_i."""
    changes = _missing(params, state.Dpi, state.Dw, state.after) - state.eps
    return np.stack([changes, (2 * params.s0 - 2) * square(state.B) - state.waits], axis=-2)


def _draw(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    clients = tuple(
        {**c, "sigma": pick(rng, (1, 1, 2, 5)), "active": int(index == 0 or rng.random() < 0.4)}
        for index, c in enumerate(recipe["clients"])
    )
    order = rng.permutation(len(clients))
    return {**recipe, "s0": int(pick(rng, (1, 2, 3, 5))), "clients": tuple(clients[i] for i in order)}


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> Params:
    clients = recipe["clients"]
    sigma, active = numbers([c["sigma"] for c in clients], exact), tuple(bool(c["active"]) for c in clients)
    if min(sigma) <= 0 or recipe["s0"] < 1 or not any(active):
        raise ValueError("penalties are positive, s_0 >= 1, and somebody takes part")
    return Params(sigma, active, number(recipe["s0"], exact))


def _away(problem: Problem, params: Params, state: Last) -> Array:
    """w_i^{k+1} - w^{tau_{k+1}}, where w_i^{k+1} is w^{tau_{k_i+1}} + Dpi_i^{k_i+1}/sigma_i, by (7)."""
    moved = np.where(np.array(params.active)[:, None], 0, (2 * params.s0 - 2) * state.B)
    return state.Dpi / params.sigma[:, None] - moved


def _total(of: Callable[[Problem, Params, Last], Array]) -> Callable[[Problem, Params, Last], Array]:
    """sum_i sigma_i^2 of_i."""
    return lambda problem, params, state: (params.sigma**2 * of(problem, params, state)).sum(axis=-1)


def _moved(problem: Problem, params: Params, state: Last) -> Array:
    """|Dw_i^{k+1}|^2: the idle stay."""
    return np.where(np.array(params.active), square(state.Dw), 0)


def _waits(problem: Problem, params: Params, state: Last) -> Array:
    """The sums over the rounds in which the idle wait."""
    return np.where(np.array(params.active), 0, state.waits)


def _tolerances(problem: Problem, params: Params, state: Last) -> Array:
    """sum_i (eps_i^{k_i} + eps_i^{k_i+1})."""
    return (state.eps + state.after).sum(axis=-1)


_points: Any = points(Last, Params, _origin)
_L = sympy.Symbol("L", positive=True)
HISTORIES = Setting(
    "any clients at an iteration k in K: those that take part, and those at rest for 2 s_0 - 2 rounds at most since "
    "their last iteration k_i; what lemma-C.1/c says of k_i, any moves of the server, in any dimension",
    letters={s0: "s0"},
    algorithm=replace(_points, init=_init),
    functions=Smooth(_L),
    drawing=Drawing(draw=_draw, parameters=_parameters),
    hints=Hints(
        known=_known,
        signs=((lambda problem, params: params.sigma, True), (lambda problem, params: params.s0 - 1, False)),
    ),
    clients=(1, 2, 2, 3),
)
BARS, MOVES, MOVES_LAST, WAITS, EPS = (
    Quantity(symbol, of)
    for symbol, of in zip(
        parts(
            "sum_i(sigma_i^2|Dbar_i^{k+1}|^2) sum_i(sigma_i^2|Dw_i^{k+1}|^2) sum_i(sigma_i^2|Dw_i^{k_i+1}|^2) "
            "sum_i(sigma_i^2sum_t|w^{t+1}-w^t|^2) sum_i(eps_i^{k_i}+eps_i^{k_i+1})"
        ),
        (
            _total(lambda problem, params, state: square(_away(problem, params, state))),
            _total(_moved),
            _total(lambda problem, params, state: square(state.Dw)),
            _total(_waits),
            _tolerances,
        ),
        strict=True,
    )
)
EQ_65 = section("eq. (65)", HISTORIES)(
    "repaired",
    Inequality(
        BARS.expression,
        _Q(2, 15) * MOVES.expression
        + _Q(4, 15) * MOVES_LAST.expression
        + 2 * (2 * s0 - 2) * WAITS.expression
        + 24 * EPS.expression,
        (BARS, MOVES, MOVES_LAST, WAITS, EPS),
    ),
    "with 2(2 s_0 - 2) in place of 2 s_0, and the tolerances at k_i and k_i + 1",
    reading="sum_t is over tau_{k_i+1} <= t < tau_{k+1}; of every client what lemma-C.1/c says of k_i, and that the "
    "square of a sum of 2 s_0 - 2 moves is at most 2 s_0 - 2 times the sum of their squares",
    repairs="eq-65",
)
