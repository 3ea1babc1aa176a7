"""Evaluate statements about whole runs along the tree of draws: sums over rounds, least values, averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from fedtheory.numbers.rational import Array, Undefined, evaluate
from fedtheory.numbers.symbols import T, round_index
from fedtheory.randomness import expectation
from fedtheory.settings.relations import OfRun, Quantity
from fedtheory.settings.whole_runs import AtAverage, RunMinimum, RunTotal


def of_runs(statement: Any) -> tuple[Quantity, ...]:
    """The quantities of a statement that are of whole runs."""
    return tuple(q for q in statement.quantities if isinstance(q.of, OfRun))


def expression_over(of: RunTotal, letters: Mapping[Any, Any], rounds: int, each: Sequence[Mapping[Any, Any]]) -> Any:
    """A sum over the rounds of T = ``rounds``, where ``each`` has the expected values of the quantities by round."""
    found: Any = 0
    for k in range(of.first, int(of.last.subs(T, rounds)) + 1):
        found = found + evaluate(of.term, {**letters, **each[k], T: rounds, round_index: k})
    return found


class Along:
    """Quantities of whole runs, along states ``(M, B, ...)`` that are passed in from round 0 on; ``letters``: their
    values; ``exact``: whether they are fractions."""

    def __init__(self, quantities: Sequence[Quantity], letters: Mapping[Any, Any], exact: bool) -> None:
        self._quantities, self._letters, self._exact = quantities, letters, exact
        summed = [q.of for q in quantities if isinstance(q.of, RunTotal | RunMinimum)]
        inner = {q for of in summed for q in of.inner}
        self._inner = sorted(inner, key=lambda q: str(q.expression))
        #: For each round, the expectations of the quantities of its state.
        self._each: list[dict[Any, Array]] = []
        self._least: dict[Quantity, Array] = {}
        #: The weighted sums of the parts of the states, with those of the weights.
        self._sums: dict[Quantity, tuple[list[Array], Any]] = {}

    def values(
        self, problem: Any, params: Any, state: Any, probabilities: Array, asked: bool
    ) -> dict[sympy.Expr, Array]:
        """Record a state; return the values after as many rounds as there were states before it, ``(M, 1)``, if
        ``asked``.

        Raise ``Undefined`` if there is nothing to compute.
        """
        rounds, found = len(self._each), {}
        for last in (T - 1, T):
            # Quantities that end before this state are computed before it is recorded.
            if last == T:
                self._tell(problem, params, state, probabilities)
            for q in self._quantities if asked else ():
                if q.of.last == last:  # type: ignore[attr-defined]
                    found[q.expression] = self._value(q, rounds, problem, params, state, probabilities)
        return found

    def _tell(self, problem: Any, params: Any, state: Any, probabilities: Array) -> None:
        k, branches = len(self._each), len(probabilities)
        at = {q: _numbers(q.of(problem, params, state), state) for q in self._inner}
        self._each.append({q.expression: expectation(value, probabilities)[..., None] for q, value in at.items()})
        for q in self._quantities:
            of: Any = q.of
            if k < of.first:
                continue
            if isinstance(of, RunMinimum) and not of.expected:
                now = at[of.inner[0]]
                before = self._least.get(q)
                self._least[q] = now if before is None else np.minimum(_spread(before, branches), now)
            elif isinstance(of, AtAverage):
                w = evaluate(of.weight, {**self._letters, round_index: k})
                # Floats times a fraction would be objects.
                w = w if self._exact else float(w)
                parts = [w * np.asarray(part) for part in state]
                if q in self._sums:
                    sums, whole = self._sums[q]
                    self._sums[q] = [_spread(a, branches) + b for a, b in zip(sums, parts, strict=True)], whole + w
                else:
                    self._sums[q] = parts, w

    def _value(self, q: Quantity, rounds: int, problem: Any, params: Any, state: Any, probabilities: Array) -> Array:
        of: Any = q.of
        size, branches = np.shape(state[0])[0], len(probabilities)
        if isinstance(of, RunTotal):
            total = expression_over(of, self._letters, rounds, self._each)
            return np.broadcast_to(np.asarray(total), (size, 1))
        last = int(of.last.subs(T, rounds))
        if last < of.first:
            raise Undefined(f"of {rounds} rounds there is no {of}")
        if isinstance(of, RunMinimum) and of.expected:
            found = self._each[of.first][of.inner[0].expression]
            for k in range(of.first + 1, last + 1):
                found = np.minimum(found, self._each[k][of.inner[0].expression])
            return found
        if isinstance(of, RunMinimum):
            return expectation(_spread(self._least[q], branches), probabilities)[..., None]
        sums, whole = self._sums[q]
        if not whole:
            raise Undefined(f"the weights of the average over {rounds} rounds sum to 0")
        mean = type(state)(*(_spread(a, branches) / whole for a in sums))
        value = of.inner[0].of(problem, params, mean)
        return expectation(_numbers(value, mean), probabilities)[..., None]


def _numbers(value: Any, state: Any) -> Array:
    """One number for each state ``(M, B)``."""
    shape = np.shape(state[0])[:2]
    if np.ndim(value) > 2:
        raise ValueError(f"a quantity of an iterate gives a value of shape {np.shape(value)}, where one number is due")
    return np.broadcast_to(np.asarray(value), shape)


def _spread(before: Array, branches: int) -> Array:
    """Repeat each branch's value for the branches into which it was split."""
    return np.repeat(before, branches // before.shape[1], axis=1)
