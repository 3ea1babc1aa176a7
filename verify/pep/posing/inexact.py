"""Inexact FedDCD and inexact coordinate descent on vectors known only by their inner products.

The oracle of an instance is replaced by any one that the theorem allows: a delta/2-inexact oracle of which nothing else
is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import inexact_feddcd, inexact_rbcd
from fedtheory.instances import Instance
from fedtheory.papers.feddcd import appendix_b, dual, inexact
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from verify.pep.functions import Formal, rows
from verify.pep.gram import value
from verify.pep.posing import feddcd
from verify.pep.posing.base import batch
from verify.pep.randomness import InexactOracle


class Parts(NamedTuple):
    """What a Lyapunov function of an inexact method is made of, as functions of (problem, params, state).

    ``gap``: the objective's; ``error``: sum_i |last estimate_i - gradient_i|^2, from which the next call starts, ``0``
    where the guess is exact; ``invariant``: residuals that vanish on all the states that are posed.
    """

    gap: Callable[[Any, Any, Any], Array]
    error: Callable[[Any, Any, Any], Array]
    invariant: Callable[[Any, Any, Any], Array]


def _scalar(name: str) -> Array:
    return np.array([[value(name)]], dtype=object)


def _feddcd(warm: bool) -> Callable[[Instance], Formal]:
    """``warm``: the first guess is exact; otherwise 0."""

    def build(given: Instance) -> Formal:
        base = feddcd.SETTINGS["feddcd"](given)
        formal = base.instance.problem
        oracle = InexactOracle(given.params.delta / 2)
        asked = given.params._replace(oracle=oracle)

        def at(theta: Array) -> tuple[Problem, inexact.Tracked]:
            _, exact = base.instance.at(theta)
            return formal, inexact.Tracked(exact.y, exact.w, _scalar("drift"), _scalar("gaps"))

        def initial(theta: Array) -> tuple[Problem, inexact.Tracked]:
            assert base.instance.initial is not None
            _, exact = base.instance.initial(theta)
            return formal, inexact.tracked.init(formal, asked, exact.y, exact.w if warm else 0 * exact.y)

        return base._replace(instance=Instance(formal, asked, 0, at, initial), oracle=oracle)

    return build


def _rbcd(warm: bool) -> Callable[[Instance], Formal]:
    def build(given: Instance) -> Formal:
        base = feddcd.SETTINGS["rbcd"](given)
        formal, params = base.instance.problem, given.params
        oracle = InexactOracle(inexact_rbcd.constants(formal.mu, params.L, params.tau).delta / 2)

        def state(theta: Array, error: Any) -> tuple[Problem, inexact_rbcd.State]:
            _, exact = base.instance.at(theta)
            slope = formal.f.gradient(exact.x)
            return formal, inexact_rbcd.State(exact.x, slope + error if warm else error)

        def at(theta: Array) -> tuple[Problem, inexact_rbcd.State]:
            return state(theta, batch(rows("slope", formal.n)))

        def initial(theta: Array) -> tuple[Problem, inexact_rbcd.State]:
            return state(theta, 0 * batch(rows("slope", formal.n)))

        return base._replace(
            instance=replace(base.instance, params=params._replace(oracle=oracle), at=at, initial=initial),
            oracle=oracle,
        )

    return build


def _error_feddcd(problem: Problem, params: Any, state: Any) -> Array:
    found: Array = ((state.w - problem.f.conjugate_gradient(state.y)) ** 2).sum(axis=(-1, -2))
    return found


def _error_rbcd(problem: Problem, params: Any, state: Any) -> Array:
    found: Array = ((state.slope - problem.f.gradient(state.x)) ** 2).sum(axis=(-1, -2))
    return found


SETTINGS = {
    "inexact-feddcd": _feddcd(False),
    "inexact-feddcd-warm": _feddcd(True),
    "inexact-rbcd": _rbcd(False),
    "inexact-rbcd-warm": _rbcd(True),
}

_FEDDCD = Parts(dual.dual_gap, _error_feddcd, inexact_feddcd.invariant)
_RBCD = Parts(appendix_b.h_gap, _error_rbcd, inexact_rbcd.invariant)
#: The parts of a Lyapunov function in each setting.
PARTS = {name: _FEDDCD if "feddcd" in name else _RBCD for name in SETTINGS}
