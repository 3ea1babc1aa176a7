"""FedADMM, Theorem 4.3 from one iteration: a function of the state that falls by the squared gradient in every round.

How long a client has waited, in rounds, is part of its state: under Scheme 4.1 it takes part again after 2 s_0 - 1 of
them at most. Distances of clients to the server's model weigh less the longer they have waited, as there is less time
left in which the server moves on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Recipe, pick
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import transition
from fedtheory.papers.fedadmm.descent import LYAPUNOV, LYAPUNOV_NEXT, OF_ANY
from fedtheory.papers.fedadmm.letters import m, q, s0, sigma_bar
from fedtheory.problems.base import Problem
from fedtheory.settings.relations import Quantity

_Q = sympy.Rational
_NEVER = -1
_drawing: Any = transition.TRANSITION.drawing
_letters: Any = transition.WITH_LARGEST.letters


class Params(NamedTuple):
    """As :class:`transition.Params`, with ``ages``: the rounds since each client took part, -1 for never; ``s0``."""

    alpha: Array
    sigma: Array
    nu: Array
    r: Array
    active: tuple[bool, ...]
    ratio: Any
    begins: int
    i: int
    ages: tuple[int, ...]
    s0: int

    @property
    def plain(self) -> transition.Params:
        """Those of the iteration alone."""
        return transition.Params(*self[:8])

    @property
    def fed(self) -> Any:
        """Those of Algorithm 1."""
        return self.plain.fed

    @property
    def later(self) -> tuple[int, ...]:
        """The ages after the iteration."""
        waits = (a + 1 if self.begins and a != _NEVER else a for a in self.ages)
        return tuple(0 if on else a for on, a in zip(self.active, waits, strict=True))


def _draw(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    drawn = _drawing.draw(rng, recipe)
    windows = int(pick(rng, (2, 2, 3, 3, 5, 1)))

    def age(on: int) -> int:
        if not drawn["begins"] and on:
            return 0
        most = 2 * windows - 2 if on or not drawn["begins"] else 2 * windows - 3
        return _NEVER if most < 0 or rng.random() < 1 / 8 else int(rng.integers(most + 1))

    return {**drawn, "s0": windows, "ages": tuple(age(c["active"]) for c in drawn["clients"])}


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> Params:
    given: Any = _drawing.parameters(recipe, problem, exact)
    params = Params(**given._asdict(), ages=tuple(recipe["ages"]), s0=recipe["s0"])
    last = 2 * params.s0 - 2
    if (
        params.s0 < 1
        or len(params.ages) != problem.n
        or not all(_NEVER <= a <= last for a in (*params.ages, *params.later))
    ):
        raise ValueError("under Scheme 4.1 a client waits for 2 s_0 - 2 rounds at most")
    if not params.begins and any(on and a for on, a in zip(params.active, params.ages, strict=True)):
        raise ValueError("within a round its clients have taken part in it")
    return params


def _weights(params: Params, ages: tuple[int, ...]) -> Array:
    """3/2 (2 s_0 - 1 - a_i), 0 of clients that never took part: ``(m,)``."""
    # Halves and whole numbers are the same in floats and fractions.
    return np.array([0 if a == _NEVER else 2 * params.s0 - 1 - a for a in ages])


def _distances(later: bool) -> Any:
    """sum_i (2 s_0 - 1 - a_i) sigma_i^2 |w_i - w|^2, before the iteration or after it."""

    def of(problem: Problem, params: Params, state: transition.State) -> Array:
        at = transition.later(problem, params.plain, state) if later else state
        gap = square(at.W - at.w[..., None, :])
        ages = params.later if later else params.ages
        found: Array = (_weights(params, ages) * params.sigma**2 * gap).sum(axis=-1)
        return found

    return of


def _tolerances(later: bool) -> Any:
    """sum_i E(a_i) eps_i, before the iteration or after it."""

    def of(problem: Problem, params: Params, state: transition.State) -> Array:
        ages, last = (params.later if later else params.ages), 2 * params.s0 - 2
        waits = np.array([0 if a == _NEVER else a for a in ages])
        least = (11 * (1 + last * params.nu) + 176 * (last + 1) * (1 + params.nu) / 5) / (1 - params.nu)
        eps = transition.later(problem, params.plain, state).eps if later else state.eps
        found: Array = ((least + 11 * (last - waits)) * eps).sum(axis=-1)
        return found

    return of


def _slope(problem: Problem, params: Params, state: transition.State) -> Array:
    """|grad f(w^{tau_{k+1}})|^2 in the first iteration of a round before which all clients took part, else 0."""
    slope = transition.View(problem, params.plain, state).slope()
    return slope if params.begins and _NEVER not in params.ages else 0 * slope


def _plainly(quantity: Quantity) -> Quantity:
    return replace(quantity, of=lambda problem, params, state: quantity.of(problem, params.plain, state))


_gradient, _far, _far_next, _eps, _eps_next = (
    q(name)
    for name in (
        "|grad_f(w^{tau_{k+1}})|^2_(k in K, all selected before)",
        "sum_i((2s_0-1-a_i)sigma_i^2|w_i^k-w^{tau_k}|^2)",
        "sum_i((2s_0-1-a_i')sigma_i^2|w_i^{k+1}-w^{tau_{k+1}}|^2)",
        "sum_i(E(a_i)eps_i^k)",
        "sum_i(E(a_i')eps_i^{k+1})",
    )
)
_N = 2 * s0 - 1
AGED = replace(
    transition.WITH_LARGEST,
    text=f"{transition.TRANSITION.text}; a_i <= 2 s_0 - 2 are the rounds since client i took part, where it has",
    letters={**_letters, s0: "s0"},
    algorithm=replace(transition.algorithm, name="fedadmm, one iteration with ages", Params=Params),
    drawing=replace(_drawing, draw=_draw, parameters=_parameters),
)
ITERATION = Claim(
    id="fedadmm/theorem-4.3/iteration",
    where="Theorem 4.3",
    kind="inequality",
    gist="a function of the state falls by the squared gradient in the first iteration of a round, and never rises",
    setting=AGED,
    statement=Inequality(
        _gradient,
        m
        * (
            _Q(88, 15) * _N * (3 * _N - 1) * sigma_bar * (LYAPUNOV - LYAPUNOV_NEXT)
            + _Q(88, 45) * _Q(3, 2) * (_far - _far_next)
            + _eps
            - _eps_next
        ),
        (
            *map(_plainly, OF_ANY[:4]),
            Quantity(_gradient, _slope),
            Quantity(_far, _distances(False)),
            Quantity(_far_next, _distances(True)),
            Quantity(_eps, _tolerances(False)),
            Quantity(_eps_next, _tolerances(True)),
        ),
    ),
    requires=(transition.SMOOTH, transition.STEP),
    reading="E(a) = (11 (1 + (N - 1) nu_i) + 176/5 N (1 + nu_i))/(1 - nu_i) + 11 (N - 1 - a), N = 2 s_0 - 1. Added up "
    "over the iterations it gives Theorem 4.3, with constants below those of c, since Lt is at least f* (lemma-C.2/b) "
    "and under Scheme 4.1 all clients took part in the first s_0 rounds; coerciveness is not used",
)

__all__ = ["ITERATION"]
