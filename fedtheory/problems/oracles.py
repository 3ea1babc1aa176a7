"""The clients' oracles: inexact gradients of conjugates (FedDCD, Section 5).

An :class:`Oracle` approximates grad f_i^*(y_i) = argmin_w f_i(w) - <w, y_i> for all clients at once, from an initial
guess (a warm start). It is a value, so that it can be a parameter of an algorithm, and its randomness is a value too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array, is_exact, to_float
from fedtheory.problems.functions import Functions
from fedtheory.randomness import Constant, Distribution, Draw


class Answer(NamedTuple):
    """``w (..., n, d)``: approximations of grad f_i^*(y_i); ``steps (..., n)``: local steps that each client took."""

    w: Array
    steps: Array


@dataclass(frozen=True)
class Oracle:
    """An inexact gradient oracle of f_1^*, ..., f_n^* (FedDCD, Definition 5.1).

    ``draws(f)``: the distribution of its randomness; ``answer(f, y, start, draw)``: what it returns at the dual points
    ``y (..., n, d)`` from the guesses ``start (..., n, d)``. ``contraction``: the factors ``(1,)`` or ``(n,)`` of an
    oracle that answers grad + contraction (start - grad), None if its answer depends on f in another way.
    """

    name: str
    draws: Callable[[Functions], Distribution]
    answer: Callable[[Functions, Array, Array, Draw], Answer]
    contraction: Any = None

    @property
    def delta(self) -> Any:
        """The least number with E|answer - grad f_i^*(y_i)|^2 <= delta |start_i - grad f_i^*(y_i)|^2 for all f, or None
        if it depends on f."""
        return None if self.contraction is None else (self.contraction**2).max()


def deterministic(f: Functions) -> Distribution:
    """The randomness of an oracle that has none."""
    return Constant()


def constant(f: Functions, steps: int) -> Array:
    """As many local steps by each client, ``(n,)``."""
    return np.full(f.n, steps)


def _exact_answer(f: Functions, y: Array, start: Array, draw: Draw) -> Answer:
    return Answer(f.conjugate_gradient(y), constant(f, 0))


#: The exact gradient, delta = 0; no local steps are counted.
exact = Oracle("exact", deterministic, _exact_answer, np.zeros(1, dtype=int))


def worst_case(contraction: Any) -> Oracle:
    """grad + contraction (start - grad): Definition 5.1 with equality, delta = contraction^2; no steps are counted.

    Deterministic and linear, so that worst states can be computed; exact for a rational contraction, which is a square
    root of delta. One number in (-1, 1), or one for each client ``(n,)``: a negative one overshoots. Errors of opposite
    signs are as extreme as equal ones, and for many statements worse: projections cancel what clients have in common.
    """
    factors = np.atleast_1d(contraction)
    if not (abs(factors) < 1).all():
        raise ValueError(f"the contraction of an inexact oracle must be in (-1, 1), got {contraction}")

    def answer(f: Functions, y: Array, start: Array, draw: Draw) -> Answer:
        gradient = f.conjugate_gradient(y)
        scale = factors if is_exact(gradient) else to_float(factors)
        return Answer(gradient + scale[..., None] * (start - gradient), constant(f, 0))

    name = ", ".join(str(v) for v in factors)
    return Oracle(f"worst-case({name})", deterministic, answer, factors)
