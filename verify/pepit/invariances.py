"""Directions in which points, or function values, may move without a model noticing, where coefficients are rounded.

A worst case is the same after a translation: all forms map the vector with a one for each point to zero. What is
computed from rounded step sizes does so up to rounding only. Then the cone of multipliers, which has an interior
beside that direction, has none at all: no proof is found of any bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import flint
import numpy as np

from verify.pep import faces
from verify.pepit.algebraic import rational
from verify.pepit.model import Model, Quantity
from verify.pepit.systems import Rational, to_float

#: The share of the largest number below which one is zero, in floats.
_CUT = 1e-13
#: The share of a quantity's largest coefficient below which a change of it is the rounding of zero.
_ROUNDING = Fraction(1, 10**14)
#: The largest relative error of the entries of a direction.
_ERROR = 1e-7
#: Their largest denominator.
_SIMPLE = 10**4


def restored(model: Model) -> Model:
    """The model with forms that map to zero what they map to zero up to rounding.

    Coefficients that are to be changed by more than rounding stay as they are, with the direction that asks for it.
    """
    for pivot, direction in directions(model):
        changed = [_cancelled(quantity, pivot, direction) for quantity in model.quantities()]
        if all(quantity is not None for quantity in changed):
            model = model.replaced([quantity for quantity in changed if quantity is not None])
    return model


def directions(model: Model) -> list[tuple[int, list[Rational]]]:
    """Simple vectors that all forms map to zero, in floats, each with the place of a one, where others have 0."""
    squared = np.zeros((model.points, model.points))
    for quantity in model.quantities():
        form = np.zeros_like(squared)
        for (i, j), c in quantity.pairs():
            form[i, j] += to_float(c) / 2
            form[j, i] += to_float(c) / 2
        largest = float(abs(form).max(initial=0.0))
        if largest:
            squared += form @ form / largest**2
    sizes, vectors = np.linalg.eigh(squared)
    few = sizes <= _CUT * max(float(sizes.max(initial=0.0)), 1e-300)
    found = []
    for vector, pivot in faces.reduced(vectors[:, few].T.copy()):
        simple = [faces.simplest(v, Fraction(1), _ERROR) for v in vector.tolist()]
        if all(v.denominator <= _SIMPLE for v in simple):
            found.append((pivot, [rational(v) for v in simple]))
    return found


def _cancelled(quantity: Quantity, pivot: int, direction: Sequence[Rational]) -> Quantity | None:
    """The form that maps a direction to zero, by other coefficients of the pivot; None if these differ by more than
    rounding. What they are changed by is added to their errors."""
    image: dict[int, Rational] = {}
    coefficients = dict(quantity.coefficients)
    for (i, j), c in quantity.pairs():
        image[i] = image.get(i, Rational(0)) + c * direction[j] / 2
        image[j] = image.get(j, Rational(0)) + c * direction[i] / 2
    largest = max((abs(c) for _, c in quantity.pairs()), default=Rational(0))
    if any(abs(v) > rational(_ROUNDING) * largest for v in image.values()):
        return None
    left = image.pop(pivot, Rational(0))
    for i, v in image.items():
        if v:
            pair = min(i, pivot), max(i, pivot)
            coefficients[pair] = coefficients.get(pair, Rational(0)) - 2 * v
            left -= v * direction[i]
    square = (pivot, pivot)
    coefficients[square] = coefficients.get(square, Rational(0)) - left
    errors = dict(quantity.errors)
    for key, c in coefficients.items():
        change = abs(c - quantity.coefficients.get(key, Rational(0)))
        if change:
            errors[key] = errors.get(key, Rational(0)) + change
    return Quantity({key: c for key, c in coefficients.items() if c}, quantity.constant, errors)


def of_values(model: Model) -> list[tuple[int, list[Rational]]]:
    """Directions in which function values may move without any expression or the objective changing, each with the
    place of a one, where others have 0; of rational coefficients."""
    rows: set[tuple[tuple[int, Rational], ...]] = {((model.objective, Rational(1)),)}
    for quantity in model.quantities():
        rows.add(tuple(sorted((key, c) for key, c in quantity.coefficients.items() if isinstance(key, int))))
    table = flint.fmpq_mat(len(rows), model.values)
    for r, row in enumerate(rows):
        for column, c in row:
            table[r, column] = c
    return kernel(table)


def kernel(table: flint.fmpq_mat) -> list[tuple[int, list[Rational]]]:
    """A basis of what a matrix maps to zero, each vector with the place of a one, where others have 0."""
    reduced, rank = table.rref()
    width = table.ncols()
    pivots = [next(c for c in range(width) if reduced[r, c]) for r in range(rank)]
    found = []
    for free in sorted(set(range(width)) - set(pivots)):
        vector = [Rational(0)] * width
        vector[free] = Rational(1)
        for r, pivot in enumerate(pivots):
            vector[pivot] = -reduced[r, free]
        found.append((free, vector))
    return found
