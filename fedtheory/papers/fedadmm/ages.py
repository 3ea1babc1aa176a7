"""FedADMM, Theorem 4.3 from one iteration: a function of the state that falls by the squared gradient in every round.

How many rounds a client may still wait is part of its state: under Scheme 4.1 it takes part again after N = 2 s_0 - 1
of them at most. Distances of clients to the server's model weigh more the more rounds are left to them, as there is
more time in which the server moves on. Those of clients that never took part do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.instances import Recipe, numbers, pick
from fedtheory.kinds.inequality import Inequality
from fedtheory.meanings import Windows
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedadmm import along, iterates, runs, transition
from fedtheory.papers.fedadmm.letters import k, k0, m, parts, q, s0, section, sigma_bar
from fedtheory.papers.fedadmm.limits import gradient
from fedtheory.problems.base import Problem
from fedtheory.settings.iterations import Along, At
from fedtheory.settings.quantities import Among, Square, Total
from fedtheory.settings.relations import Comparison, Quantity

_Q = sympy.Rational
_drawing: Any = transition.TRANSITION.drawing


class Params(NamedTuple):
    """As :class:`transition.Params`, with ``left (m,)``: the rounds that are left to each client that ever took part, N
    less those since it did; ``seen (m,)``: who did; ``s0``; ``largest``: the largest sigma_i."""

    alpha: Array
    sigma: Array
    nu: Array
    r: Array
    active: tuple[bool, ...]
    ratio: Scalar
    begins: int
    i: int
    left: Array
    seen: tuple[bool, ...]
    s0: Scalar
    largest: Scalar

    @property
    def plain(self) -> transition.Params:
        """Those of the iteration alone."""
        return transition.Params(self.alpha, self.sigma, self.nu, self.r, self.active, self.ratio, self.begins, self.i)

    @property
    def fed(self) -> Any:
        """Those of Algorithm 1."""
        return self.plain.fed


class Aged(NamedTuple):
    """As :class:`fedadmm.State`, with ``left``, ``seen (m,)`` as in :class:`Params`."""

    w: Array
    W: Array
    Pi: Array
    Z: Array
    eps: Array
    left: Array
    seen: Array


def _draw(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    drawn = _drawing.draw(rng, recipe)
    windows = int(pick(rng, (2, 2, 3, 3, 5, 1)))
    N = 2 * windows - 1

    def of(on: int) -> dict[str, int]:
        if not drawn["begins"] and on:
            return {"left": N, "seen": 1}
        least = 1 if on or not drawn["begins"] else 2
        seen = int(least <= N and rng.random() < 3 / 4)
        return {"left": int(rng.integers(least, N + 1)) if seen else N, "seen": seen}

    clients = tuple({**c, **of(c["active"])} for c in drawn["clients"])
    return {**drawn, "s0": windows, "clients": clients}


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> Params:
    given: Any = _drawing.parameters(recipe, problem, exact)
    clients, windows = recipe["clients"], recipe["s0"]
    N = 2 * windows - 1
    for c in clients:
        waits = recipe["begins"] and not c["active"]
        if windows < 1 or c["seen"] not in (0, 1) or not (1 + bool(waits and c["seen"])) <= c["left"] <= N:
            raise ValueError("under Scheme 4.1 a client waits for 2 s_0 - 2 rounds at most")
        if not c["seen"] and c["left"] != N:
            raise ValueError("to clients that never took part all rounds are left")
        if not recipe["begins"] and c["active"] and (c["left"], c["seen"]) != (N, 1):
            raise ValueError("within a round its clients have taken part in it")
    left = numbers([c["left"] for c in clients], exact)
    seen = tuple(bool(c["seen"]) for c in clients)
    return Params(**given._asdict(), left=left, seen=seen, s0=windows, largest=max(given.sigma))


def _before(problem: Problem, params: Params, state: transition.State) -> Aged:
    at = transition.before(problem, params.plain, state)
    return Aged(at.w, at.W, at.Pi, at.Z, at.eps, params.left, np.array(params.seen))


def _after(problem: Problem, params: Params, state: transition.State) -> Aged:
    """A round that begins without a client leaves it one less; in that in which it takes part all are left to it."""
    at = transition.later(problem, params.plain, state)
    active, seen = np.array(params.active), np.array(params.seen)
    waited = np.where(seen, params.left - 1, params.left) if params.begins else params.left
    left = np.where(active, 2 * params.s0 - 1, waited)
    return Aged(at.w, at.W, at.Pi, at.Z, at.eps, left, np.where(active, True, seen))


def _admits(problem: Problem, params: Params) -> bool:
    """As of an iteration alone, and between 1 and 2 s_0 - 1 rounds are left to each client."""
    within = bool(np.all((params.left >= 1) & (params.left <= 2 * params.s0 - 1)))
    return within and transition.ITERATION.admits(problem, params)


def _kept(problem: Problem, params: object, at: Aged) -> Array:
    """Eq. (37): |phi_i|^2 - eps_i."""
    return square(transition.residuals(problem, params, at)) - at.eps


def _of_run(
    problem: Problem, run: runs.ScheduledRun, history: runs.History
) -> Iterator[tuple[Params, transition.State]]:
    """The iterations 0, 1, ... of a run, for all its clients."""
    largest, N = max(run.fed.sigma), 2 * run.s0 - 1
    left, seen = np.full(len(run.r), N), np.zeros(len(run.r), dtype=bool)
    for params, point in along.iterations(problem, run, history):
        yield Params(*params, left, seen, run.s0, largest), point  # type: ignore[arg-type]
        left = np.where(params.active, N, np.where(seen, left - params.begins, left))
        seen = seen | params.active


def _of_client(name: str) -> Any:
    return lambda problem, params: getattr(params, name)[params.i]


_left_i = sympy.Symbol("left_i", positive=True)
AGED = replace(
    transition.TRANSITION,
    text=f"{transition.TRANSITION.text}; left_i, between 1 and 2 s_0 - 1, are the rounds in which client i must take "
    "part again, where it ever did",
    letters={**transition.TRANSITION.sources, s0: "s0", sigma_bar: "largest", _left_i: _of_client("left")},
    algorithm=replace(
        transition.algorithm,
        name="fedadmm, one iteration of clients that wait",
        Params=Params,  # type: ignore[arg-type]
    ),
    drawing=replace(_drawing, draw=_draw, parameters=_parameters),
    hints=replace(
        transition.TRANSITION.hints,
        signs=(
            *transition.TRANSITION.hints.signs,
            (lambda problem, params: params.largest - params.sigma, False),
            (lambda problem, params: params.left, True),
            (lambda problem, params: params.left - 1, False),
            (lambda problem, params: 2 * params.s0 - 1 - params.left, False),
        ),
    ),
)
ITERATION = replace(
    transition.ITERATION,
    setting=AGED,
    before=_before,
    after=_after,
    drawn=("active", "begins", "i", "left", "seen"),
    kept=_kept,
    admits=_admits,
)
ALONG = Along(ITERATION, _of_run, k)

# The function V


def seen(problem: Problem, params: object, at: Aged) -> Array:
    """Who ever took part, ``(m,)``."""
    return at.seen


def unseen(problem: Problem, params: object, at: Aged) -> Array:
    """Who never took part, ``(m,)``."""
    return np.where(at.seen, False, True)


def _gap(problem: Problem, params: Params, at: Aged) -> Array:
    """sigma_i^2 |w_i - w|^2, ``(..., m)``."""
    return params.sigma**2 * square(at.W - at.w[..., None, :])


def _weighted_gap(problem: Problem, params: Params, at: Aged) -> Array:
    """left_i sigma_i^2 |w_i - w|^2, ``(..., m)``."""
    return at.left * _gap(problem, params, at)


def _tolerance(problem: Problem, params: Params, at: Aged) -> Array:
    """E_i eps_i, in which no rounds are left to those that never took part: ``(..., m)``."""
    N, nu = 2 * params.s0 - 1, params.nu
    least = (11 * (1 + (N - 1) * nu) + 176 * N * (1 + nu) / 5) / (1 - nu)
    return (least + 11 * (np.where(at.seen, at.left, 0) - 1)) * at.eps


def _uncounted(problem: Problem, params: Params, at: Aged) -> Array:
    """44/15 sigma_i^2 |w_i - w|^2 + 11 eps_i, ``(..., m)``."""
    return 44 * _gap(problem, params, at) / 15 + 11 * at.eps


def share(problem: Problem, params: Params, at: Aged) -> Array:
    """eps_i/(1 - nu_i), ``(..., m)``."""
    return at.eps / (1 - params.nu)


def at(name: str, function: Any, later: bool = False) -> Quantity:
    """A function of the state, before the iteration or after it."""
    return Quantity(q(name), At(ITERATION, function, later))


_L, _tol, _far, _eps, _f, _shares, _never, _slope = parts(
    "L^k sum_i(eps_i^k/((1-nu_i)sigma_i)) sum_{i_had_part}(left_i*sigma_i^2|w_i^k-w^{tau_k}|^2) sum_i(E_i*eps_i^k) "
    "f(w^{tau_k}) sum_i(eps_i^k/(1-nu_i)) sum_{i_had_none}(44/15*sigma_i^2|w_i^k-w^{tau_k}|^2+11*eps_i^k) "
    "|grad_f(w^{tau_{k+1}})|^2"
)
_V: dict[sympy.Symbol, Any] = {
    _L: iterates.lagrangian,
    _tol: iterates.tolerances,
    _far: Among(seen, _weighted_gap),
    _eps: Total(_tolerance),
}
_BEFORE = tuple(at(name.name, function) for name, function in _V.items())
_AFTER = tuple(at(name.name.replace("k", "{k+1}"), function, later=True) for name, function in _V.items())
SLOPE = Square(gradient)
_N = 2 * s0 - 1


def _value(L: sympy.Expr, tol: sympy.Expr, far: sympy.Expr, eps: sympy.Expr) -> sympy.Expr:
    """V, of its parts."""
    return m * (_Q(88, 15) * _N * (3 * _N - 1) * sigma_bar * (L + 29 * tol) + _Q(44, 15) * far + eps)


_falls = _value(*_V) - _value(*(quantity.expression for quantity in _AFTER))

theorem_43 = section("Theorem 4.3", AGED, transition.SMOOTH, transition.STEP)
ITERATIONS = (
    theorem_43(
        "iteration",
        Inequality(
            _slope,
            _falls + m * _never,
            (*_BEFORE, *_AFTER, at(_slope.name, SLOPE, later=True), at(_never.name, Among(unseen, _uncounted))),
        ),
        "a function V of the state falls by the squared gradient in the first iteration of a round, but for "
        "clients that never took part",
        kind="inequality",
        requires=(transition.SMOOTH, transition.STEP, transition.BEGINS),
        origin="implied",
        reading="E_i = (11 (1 + (N - 1) nu_i) + 176/5 N (1 + nu_i))/(1 - nu_i) + 11 (left_i - 1), N = 2 s_0 - 1, with "
        "0 for left_i of clients that never took part",
    ),
    theorem_43(
        "monotone",
        Inequality(sympy.S.Zero, _falls, (*_BEFORE, *_AFTER)),
        "that function of the state never rises",
        kind="inequality",
        origin="implied",
        reading="of any iteration and any clients: of those that never took part distances do not count",
    ),
    theorem_43(
        "ends",
        Inequality(
            _f,
            _L + 29 * _tol,
            (*_BEFORE[:2], _BEFORE[3], at(_f.name, iterates.objective), at(_shares.name, Total(share))),
            also=(Comparison(_eps, "<=", 169 * s0 * _shares),),
        ),
        "V from below by f, and its accuracies from above by those of c",
        kind="inequality",
        origin="implied",
        reading="the first is lemma-C.2/b",
    ),
)
#: Scheme 4.1, and what it means of who takes part. Of two rounds in which a client takes part one after another the
#: first lies in some window and the second in the next one at the latest: 2 s_0 - 1 rounds lie between them at most.
SCHEME = replace(runs.SCHEME, says=(Windows(transition.BEGINS, k0, s0, seen, unseen),))

__all__ = ["ALONG", "ITERATION", "ITERATIONS", "SCHEME", "SLOPE", "share"]
