"""Models in units in which their coefficients are of size one, as nearly as may be.

A solver has eight digits of numbers of size one. Where L is a million, or a distance 10^-8, it finds nothing, or too
little; in other units of points, function values and constraints it does. Units are powers of two, so what is found is
the same, exactly, in the model's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from verify.pepit.model import Key, Model, Quantity
from verify.pepit.systems import Rational, to_float


@dataclass(frozen=True)
class Units:
    """Exponents of two: a point is so many times what stands for it, a function value likewise; a constraint, and a row
    and column of a matrix of expressions, are multiplied."""

    points: tuple[int, ...]
    values: tuple[int, ...]
    constraints: tuple[int, ...]
    matrices: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, model: Model) -> Units:
        """The units in which the logarithms of all coefficients are small, in the sense of least squares."""
        places = _Places(model)
        data: list[float] = []
        rows: list[int] = []
        columns: list[int] = []
        right: list[float] = []
        for unknowns, c in places.logarithms():
            data += [1.0] * len(unknowns)
            rows += [len(right)] * len(unknowns)
            columns += unknowns
            right.append(-c)
        table = sp.csr_matrix((data, (rows, columns)), shape=(len(right), places.width))
        found = np.rint(lsqr(table, np.array(right))[0]).astype(int).tolist()
        return cls(*(tuple(part) for part in places.parted(found)))

    def scaled(self, model: Model) -> Model:
        """The model in these units."""
        of_matrices = [a + b for rows in self.matrices for a in rows for b in rows]
        factors = [*self.constraints, *of_matrices]
        return model.replaced(
            self._quantity(quantity, factor) for quantity, factor in zip(model.quantities(), factors, strict=True)
        )

    def _quantity(self, of: Quantity, factor: int) -> Quantity:
        return Quantity(
            {key: c * two(factor + self.unit(key)) for key, c in of.coefficients.items()},
            of.constant * two(factor),
            {key: e * two(factor + (0 if key is None else self.unit(key))) for key, e in of.errors.items()},
        )

    def unit(self, key: Key) -> int:
        """The exponent of an inner product or a function value."""
        return self.values[key] if isinstance(key, int) else self.points[key[0]] + self.points[key[1]]


def two(exponent: int) -> Rational:
    """A power of two."""
    return Rational(1 << exponent) if exponent >= 0 else Rational(1, 1 << -exponent)


class _Places:
    """Numbers of the exponents that are sought."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sizes = [len(m.entries) for m in model.inequalities]
        self.first = model.points + model.values
        self.width = self.first + len(model.constraints) + sum(self.sizes)

    def logarithms(self) -> Iterator[tuple[list[int], float]]:
        """Each coefficient's logarithm, with the exponents that are added to it."""
        for factors, quantity in zip(self._factors(), self.model.quantities(), strict=True):
            for key, c in (*quantity.coefficients.items(), (None, quantity.constant)):
                if c:
                    yield factors + self._unit(key), float(np.log2(abs(to_float(c))))

    def _factors(self) -> Iterator[list[int]]:
        start = self.first + len(self.model.constraints)
        yield from ([k] for k in range(self.first, start))
        for size in self.sizes:
            yield from ([start + i, start + j] for i in range(size) for j in range(size))
            start += size

    def _unit(self, key: Key | None) -> list[int]:
        if key is None:
            return []
        return [self.model.points + key] if isinstance(key, int) else list(key)

    def parted(self, found: list[int]) -> Iterator[Any]:
        """The exponents of points, values, constraints and matrices."""
        model = self.model
        yield found[: model.points]
        yield found[model.points : self.first]
        start = self.first + len(model.constraints)
        yield found[self.first : start]
        matrices = []
        for size in self.sizes:
            matrices.append(tuple(found[start : start + size]))
            start += size
        yield matrices
