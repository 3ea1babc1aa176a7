"""FedADMM, Theorem 4.3 from one iteration: a function of the state that falls by the squared gradient in every round.

How many rounds a client may still wait is part of its state: under Scheme 4.1 it takes part again after N = 2 s_0 - 1
of them at most. Distances of clients to the server's model weigh more the more rounds are left to them, as there is
more time in which the server moves on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Recipe, numbers, pick
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import transition
from fedtheory.papers.fedadmm.descent import LYAPUNOV, LYAPUNOV_NEXT, OF_ANY
from fedtheory.papers.fedadmm.letters import m, q, s0, sigma_bar
from fedtheory.problems.base import Problem
from fedtheory.settings.relations import Quantity

_Q = sympy.Rational
_drawing: Any = transition.TRANSITION.drawing


class Params(NamedTuple):
    """As :class:`transition.Params`, with ``left (m,)``: the rounds that are left to each client, N less those since it
    took part; ``seen (m,)``: 1 of clients that ever took part, else 0; ``s0``; ``largest``: the largest sigma_i."""

    alpha: Array
    sigma: Array
    nu: Array
    r: Array
    active: tuple[bool, ...]
    ratio: Any
    begins: int
    i: int
    left: Array
    seen: Array
    s0: Any
    largest: Any

    @property
    def plain(self) -> transition.Params:
        """Those of the iteration alone."""
        return transition.Params(self.alpha, self.sigma, self.nu, self.r, self.active, self.ratio, self.begins, self.i)

    @property
    def fed(self) -> Any:
        """Those of Algorithm 1."""
        return self.plain.fed


def _draw(rng: np.random.Generator, recipe: Recipe, all_seen: bool = False) -> Recipe:
    drawn = _drawing.draw(rng, recipe)
    windows = int(pick(rng, (2, 2, 3, 3, 5, 1)))
    N = 2 * windows - 1

    def of(on: int) -> dict[str, int]:
        if not drawn["begins"] and on:
            return {"left": N, "seen": 1}
        least = 1 if on or not drawn["begins"] else 2
        seen = int(all_seen or (least <= N and rng.random() < 3 / 4))
        return {"left": int(rng.integers(min(least, N), N + 1)) if seen else N, "seen": seen}

    clients = tuple({**c, **of(c["active"])} for c in drawn["clients"])
    return {**drawn, "s0": windows, "clients": clients}


def _parameters(recipe: Recipe, problem: Problem, exact: bool, all_seen: bool = False) -> Params:
    given: Any = _drawing.parameters(recipe, problem, exact)
    clients, windows = recipe["clients"], recipe["s0"]
    N = 2 * windows - 1
    for c in clients:
        waits = recipe["begins"] and not c["active"]
        if windows < 1 or c["seen"] not in (0, 1) or not (1 + bool(waits and c["seen"])) <= c["left"] <= N:
            raise ValueError("under Scheme 4.1 a client waits for 2 s_0 - 2 rounds at most")
        if not recipe["begins"] and c["active"] and (c["left"], c["seen"]) != (N, 1):
            raise ValueError("within a round its clients have taken part in it")
        if all_seen and not c["seen"]:
            raise ValueError("all clients took part before")
    left, seen = (numbers([c[name] for c in clients], exact) for name in ("left", "seen"))
    return Params(**given._asdict(), left=left, seen=seen, s0=windows, largest=max(given.sigma))


def _left(params: Params, later: bool) -> Array:
    """The rounds that are left to each client, before the iteration or after it: ``(m,)``."""
    if not later:
        return params.left
    waited = params.left - 1 if params.begins else params.left
    found: Array = np.where(np.array(params.active), 2 * params.s0 - 1, waited)
    return found


def _ever(params: Params, later: bool) -> Array:
    """1 of clients that ever took part, ``(m,)``."""
    return np.where(np.array(params.active), 1, params.seen) if later else params.seen


def _gaps(problem: Problem, params: Params, state: transition.State, later: bool) -> Array:
    """sigma_i^2 |w_i - w|^2, ``(..., m)``."""
    at = transition.later(problem, params.plain, state) if later else state
    found: Array = params.sigma**2 * square(at.W - at.w[..., None, :])
    return found


def _least(params: Params) -> Array:
    """(11 (1 + (N - 1) nu_i) + 176/5 N (1 + nu_i))/(1 - nu_i), N = 2 s_0 - 1: ``(m,)``."""
    N = 2 * params.s0 - 1
    found: Array = (11 * (1 + (N - 1) * params.nu) + 176 * N * (1 + params.nu) / 5) / (1 - params.nu)
    return found


def _eps(problem: Problem, params: Params, state: transition.State, later: bool) -> Array:
    return transition.later(problem, params.plain, state).eps if later else state.eps


def _distances(later: bool, of_all: bool) -> Any:
    """The sum of left_i sigma_i^2 |w_i - w|^2, over those that took part or (``of_all``) all."""

    def of(problem: Problem, params: Params, state: transition.State) -> Array:
        weights = _left(params, later) if of_all else _ever(params, later) * _left(params, later)
        found: Array = (weights * _gaps(problem, params, state, later)).sum(axis=-1)
        return found

    return of


def _tolerances(later: bool, of_all: bool) -> Any:
    """The sum of E_i eps_i, with N rounds left to those that never took part."""

    def of(problem: Problem, params: Params, state: transition.State) -> Array:
        N, left = 2 * params.s0 - 1, _left(params, later)
        left = left if of_all else N - _ever(params, later) * (N - left)
        found: Array = ((_least(params) + 11 * (left - 1)) * _eps(problem, params, state, later)).sum(axis=-1)
        return found

    return of


def _slope(problem: Problem, params: Params, state: transition.State) -> Array:
    """|grad f(w^{tau_{k+1}})|^2."""
    return transition.View(problem, params.plain, state).slope()


def _plainly(quantity: Quantity) -> Quantity:
    return replace(quantity, of=lambda problem, params, state: quantity.of(problem, params.plain, state))


def _of_client(name: str) -> Any:
    return lambda problem, params: getattr(params, name)[params.i]


_left_i, _seen_i = sympy.Symbol("left_i", positive=True), sympy.Symbol("seen_i", nonnegative=True)
_gradient = q("|grad_f(w^{tau_{k+1}})|^2")
_N = 2 * s0 - 1
AGED = replace(
    transition.TRANSITION,
    text=f"{transition.TRANSITION.text}; left_i, between 1 and 2 s_0 - 1, are the rounds in which client i must take "
    "part again, where it ever did",
    letters={
        **transition.TRANSITION.sources,
        s0: "s0",
        sigma_bar: "largest",
        _left_i: _of_client("left"),
        _seen_i: _of_client("seen"),
    },
    algorithm=replace(transition.algorithm, name="fedadmm, one iteration of clients that wait", Params=Params),
    drawing=replace(_drawing, draw=_draw, parameters=_parameters),
    hints=replace(
        transition.TRANSITION.hints,
        signs=(
            *transition.TRANSITION.hints.signs,
            (lambda problem, params: params.largest - params.sigma, False),
            (lambda problem, params: params.left, True),
            (lambda problem, params: params.left - 1, False),
            (lambda problem, params: 2 * params.s0 - 1 - params.left, False),
            (lambda problem, params: params.seen, False),
            (lambda problem, params: 1 - params.seen, False),
        ),
    ),
)
#: The same, once all clients took part.
SEEN = replace(
    AGED,
    text=f"{transition.TRANSITION.text}; all clients took part before, and left_i, between 1 and 2 s_0 - 1, are the "
    "rounds in which client i must take part again",
    letters={letter: of for letter, of in AGED.sources.items() if letter != _seen_i},
    drawing=replace(_drawing, draw=partial(_draw, all_seen=True), parameters=partial(_parameters, all_seen=True)),
)


def _falls(of_all: bool) -> tuple[Any, tuple[Quantity, ...]]:
    """V^k - V^{k+1}, and its quantities."""
    names = ("sum_i(left_i*sigma_i^2|w_i^k-w^{tau_k}|^2)", "sum_i(left_i'*sigma_i^2|w_i^{k+1}-w^{tau_{k+1}}|^2)")
    far, far_next, eps, eps_next = map(q, (*names, "sum_i(E_i*eps_i^k)", "sum_i(E_i'*eps_i^{k+1})"))
    change = (
        _Q(88, 15) * _N * (3 * _N - 1) * sigma_bar * (LYAPUNOV - LYAPUNOV_NEXT)
        + _Q(88, 45) * _Q(3, 2) * (far - far_next)
        + eps
        - eps_next
    )
    quantities = (
        *map(_plainly, OF_ANY[:4]),
        Quantity(far, _distances(False, of_all)),
        Quantity(far_next, _distances(True, of_all)),
        Quantity(eps, _tolerances(False, of_all)),
        Quantity(eps_next, _tolerances(True, of_all)),
    )
    return m * change, quantities


def _iterations() -> tuple[Claim, ...]:
    (falls, of_seen), (never, of_any) = _falls(True), _falls(False)
    return (
        Claim(
            id="fedadmm/theorem-4.3/iteration",
            where="Theorem 4.3",
            kind="inequality",
            gist="a function V of the state falls by the squared gradient in the first iteration of a round, once all "
            "clients took part",
            setting=SEEN,
            statement=Inequality(_gradient, falls, (*of_seen, Quantity(_gradient, _slope))),
            requires=(transition.SMOOTH, transition.STEP, transition.BEGINS),
            reading="E_i = (11 (1 + (N - 1) nu_i) + 176/5 N (1 + nu_i))/(1 - nu_i) + 11 (left_i - 1), N = 2 s_0 - 1. "
            "Added up "
            "over the iterations it gives Theorem 4.3, with constants below those of c, since Lt is at least f* "
            "(lemma-C.2/b) and under Scheme 4.1 all clients took part in the first s_0 rounds; coerciveness is not "
            "used",
        ),
        Claim(
            id="fedadmm/theorem-4.3/monotone",
            where="Theorem 4.3",
            kind="inequality",
            gist="that function of the state never rises",
            setting=AGED,
            statement=Inequality(sympy.S.Zero, never, of_any),
            requires=(transition.SMOOTH, transition.STEP),
            reading="of any iteration and any clients: of those that never took part distances do not count, and N "
            "rounds are left to them",
        ),
    )


ITERATIONS = _iterations()

__all__ = ["ITERATIONS"]
