"""FedADMM, eqs. (53) and (61) to (63) in any number of dimensions: a client that waits while the server moves.

What the client did last is an iteration of its own (lemma-C.2/c/selected, eq-62/selected); then it stays, and the
server goes on for any number of rounds. Of the functions nothing else is used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.classes import Smooth
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedadmm import transition
from fedtheory.papers.fedadmm.descent import ACCURACY, DUAL, LOCAL
from fedtheory.papers.fedadmm.letters import parts, q, s0, section, sigma_i
from fedtheory.papers.fedadmm.transition import TRANSITION
from fedtheory.problems.base import Problem
from fedtheory.settings import Hints, Setting, points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison, Quantity

_Q = sympy.Rational


class Penalty(NamedTuple):
    """``sigma``: sigma_i; ``s0``: the windows of Scheme 4.1."""

    sigma: Scalar
    s0: Scalar


class Waits(NamedTuple):
    """``Dpi``, ``Dw (..., d)``: the client's last changes pi_i^{k_i+1} - pi_i^{k_i} and w_i^{k_i+1} - w_i^{k_i};
    ``E (..., d)``: a vector of accuracy; ``moves (..., n, d)``: w^{t+1} - w^t in the n rounds t since then; ``eps
    (...)``: eps_i^{k_i}."""

    Dpi: Array
    Dw: Array
    E: Array
    moves: Array
    eps: Array


def _origin(problem: Problem, params: Penalty) -> Waits:
    none = np.zeros(problem.d, dtype=int)
    return Waits(none, none, none, np.zeros((problem.n, problem.d), dtype=int), np.zeros((), dtype=int))


def _missing(params: Penalty, Dpi: Array, Dw: Array) -> Array:
    """The bound that (61) requires of eps_i^{k_i}."""
    return (square(Dpi) - 2 * params.sigma**2 * square(Dw) / 15) / 24


def _init(problem: Problem, params: Penalty, Dpi: Array, Dw: Array, E: Array, moves: Array) -> Waits:
    """eps_i^{k_i} = |E|^2, or as much as (61) asks for."""
    return Waits(Dpi, Dw, E, moves, transition.largest(square(E), _missing(params, Dpi, Dw)))


def _known(problem: Problem, params: Penalty, state: Waits) -> Array:
    """Eq. (61)."""
    return _missing(params, state.Dpi, state.Dw) - state.eps


def _jump(problem: Problem, params: Penalty, state: Waits) -> Array:
    """|Dpi_i^{k_i+1}|^2."""
    return square(state.Dpi)


def _move(problem: Problem, params: Penalty, state: Waits) -> Array:
    """|Dw_i^{k_i+1}|^2."""
    return square(state.Dw)


def _eps(problem: Problem, params: Penalty, state: Waits) -> Array:
    """eps_i^{k_i}."""
    return state.eps


def _rounds(problem: Problem, params: Penalty, state: Waits) -> Array:
    """The sum of |w^{t+1} - w^t|^2."""
    return square(state.moves).sum(axis=-1)


def _away(problem: Problem, params: Penalty, state: Waits) -> Array:
    """|w_i^{k+1} - w^{tau_{k+1}}|^2, where w_i^{k+1} is w^{tau_{k_i+1}} + Dpi_i^{k_i+1}/sigma_i, by (7)."""
    return square(state.Dpi / params.sigma - state.moves.sum(axis=-2))


_points: Any = points(Waits, Penalty, _origin)
_n, _L = sympy.Symbol("tau_{k+1}-tau_{k_i+1}", integer=True, positive=True), sympy.Symbol("L", positive=True)
WAITING = Setting(
    "a client at rest for n rounds since its last iteration k_i, of which (61) holds, any moves of the server in them, "
    "in any dimension",
    letters={_n: "n", sigma_i: "sigma", s0: "s0"},
    algorithm=replace(_points, init=_init),
    functions=Smooth(_L),
    hints=Hints(known=_known),
)
_CONSECUTIVE = Hypothesis("eq. (21): a client rests for s_0 - 1 rounds at most", sympy.Le(_n, s0 - 1, evaluate=False))
_SCHEME = Hypothesis(
    "Scheme 4.1: a client rests for 2 s_0 - 2 rounds at most", sympy.Le(_n, 2 * s0 - 2, evaluate=False)
)

AWAY, JUMP, ROUNDS, MOVE, EPS = (
    Quantity(symbol, of)
    for symbol, of in zip(
        parts(
            "|Dbar_i^{k+1}|^2 |Dpi_i^{k_i+1}|^2 "
            "sum_{tau_{k_i+1}<=t<tau_{k+1}}|w^{t+1}-w^t|^2 |Dw_i^{k_i+1}|^2 eps_i^{k_i}"
        ),
        (_away, _jump, _rounds, _move, _eps),
        strict=True,
    )
)
_far, _dual, _waits = (quantity.expression for quantity in (AWAY, JUMP, ROUNDS))

EQ_53 = section("eq. (53)", WAITING, _SCHEME)(
    "repaired",
    Inequality(
        _far,
        2 * _dual / sigma_i**2 + 2 * (2 * s0 - 2) * _waits,
        (AWAY, JUMP, ROUNDS),
    ),
    "with 2 s_0 - 2 in place of s_0",
    kind="inequality",
    repairs="eq-53",
)

_61 = _Q(2, 15) * sigma_i**2 * LOCAL.expression + 24 * ACCURACY.expression
_62 = q("|w_i^{k+1}-w^{tau_{k+1}}|^2")


eq_62 = section("eqs. (61)-(63)", WAITING, id="eq-62")


def _eq_62(name: str, gist: str, rounds: Any, wait: Hypothesis) -> Claim:
    """(63) with so many rounds for s_0."""
    return eq_62(
        name,
        Inequality(
            sigma_i**2 * _far,
            _Q(4, 15) * sigma_i**2 * MOVE.expression + 48 * EPS.expression + 2 * rounds * sigma_i**2 * _waits,
            (AWAY, MOVE, EPS, ROUNDS),
        ),
        gist,
        kind="inequality",
        requires=(wait,),
        reading="(63); that (61) and (62) hold at k_i is eq-62/selected",
        repairs="eq-62",
    )


EQ_62 = (
    eq_62(
        "selected",
        Inequality(
            DUAL.expression,
            _61,
            (DUAL, LOCAL, ACCURACY, transition.of_client(_62.name, lambda v: v.away())),
            also=(Comparison(sigma_i**2 * _62, "<=", _61),),
        ),
        "(61) and (62), of a client that takes part",
        kind="inequality",
        tex=r"\|\sigma_i\triangle\overline{\mathbf{w}}_i^{k+1}\|^2\leq\frac{2\sigma_i^2}{15}\|\triangle"
        r"\mathbf{w}_i^{k+1}\|^2+24\epsilon_i^k",
        setting=TRANSITION,
        requires=(transition.SMOOTH, transition.STEP, transition.SELECTED),
        reading="it is what eq. (62) says at k_i, at which the client took part",
    ),
    _eq_62(
        "repaired",
        "with 2(2 s_0 - 2) in place of 2 s_0: under Scheme 4.1 a client waits for as many rounds",
        2 * s0 - 2,
        _SCHEME,
    ),
    _eq_62("repaired-under-21", "as printed, under eq. (21) in place of Scheme 4.1", s0, _CONSECUTIVE),
)

__all__ = ["EQ_53", "EQ_62"]
