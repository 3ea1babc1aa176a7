"""Sparse linear equations in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

#: A linear equation: the coefficients of unknowns, by number, and the right side.
Equation = tuple[dict[int, Fraction], Fraction]

#: The prime modulo which equations are compared: products of two residues are integers of 64 bits.
_PRIME = 2**31 - 1


class Reduced(NamedTuple):
    """Equations from which the others follow, in their order, and the unknowns that have one value only."""

    equations: list[Equation]
    determined: frozenset[int]


def reduced(equations: Sequence[Equation], unknowns: int) -> Reduced:
    """The equations without those that follow from earlier ones, by elimination modulo a prime.

    ``ValueError`` where they contradict one another: in fractions that takes minutes to see, and most faces that are
    guessed at are none. What the prime hides, once in 10^9 times, costs a certificate: each is checked afterwards.
    """
    chosen: list[Equation] = []
    rows, pivots = np.zeros((0, unknowns + 1), dtype=np.int64), np.zeros(0, dtype=np.int64)
    for coefficients, right in equations:
        row = np.zeros(unknowns + 1, dtype=np.int64)
        for place, value in (*coefficients.items(), (unknowns, right)):
            row[place] = value.numerator * pow(value.denominator, -1, _PRIME) % _PRIME
        # The pivots of the rows so far stand in no other of them.
        for factor, other in zip(row[pivots].tolist(), rows, strict=True):
            if factor:
                row = (row - factor * other) % _PRIME
        left = np.flatnonzero(row[:-1])
        if not len(left):
            if row[-1]:
                raise ValueError("the linear equations have no solution")
            continue
        pivot = int(left[0])
        row = row * pow(int(row[pivot]), -1, _PRIME) % _PRIME
        rows = (rows - rows[:, [pivot]] * row) % _PRIME
        rows, pivots = np.vstack([rows, row]), np.append(pivots, pivot)
        chosen.append((coefficients, right))
    alone = (rows[:, :-1] != 0).sum(axis=1) == 1
    return Reduced(chosen, frozenset(pivots[alone].tolist()))


def nearest_solution(equations: Sequence[Equation], guess: Sequence[Fraction]) -> list[Fraction]:
    """A rational solution of sparse linear equations that keeps the free unknowns at their guess.

    Unknowns with large guesses become dependent first, so that rounding errors do not change the sign of small ones.
    ``ValueError`` when there is no solution.
    """
    solved: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    for coefficients, right in reduced(equations, len(guess)).equations:
        row, value = dict(coefficients), Fraction(right)
        for unknown in [u for u in row if u in solved]:
            factor = row.pop(unknown, Fraction(0))
            value -= factor * solved[unknown][1]
            for other, c in solved[unknown][0].items():
                row[other] = row.get(other, Fraction(0)) - factor * c
        row = {u: c for u, c in row.items() if c != 0}
        if not row:
            if value != 0:
                raise ValueError("the linear equations have no solution")
            continue
        pivot = max(row, key=lambda u: (abs(guess[u]), -u))
        scale = row.pop(pivot)
        row, value = {u: c / scale for u, c in row.items()}, value / scale
        for unknown, (other_row, other_value) in list(solved.items()):
            factor = other_row.pop(pivot, Fraction(0))
            if factor:
                for u, c in row.items():
                    other_row[u] = other_row.get(u, Fraction(0)) - factor * c
                solved[unknown] = (other_row, other_value - factor * value)
        solved[pivot] = (row, value)
    out = list(guess)
    for unknown, (row, value) in solved.items():
        out[unknown] = value - sum((c * guess[u] for u, c in row.items()), Fraction(0))
    return out
