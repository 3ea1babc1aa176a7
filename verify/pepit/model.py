"""A performance estimation problem as data: what is maximised, over which Gram matrices and function values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.pepit.algebraic import Algebraic, Field, rational
from verify.pepit.systems import Affine, Block, Found, Rational, System, unpacked

#: An inner product of two points (smaller index first), or a function value.
Key = tuple[int, int] | int


class Quantity(NamedTuple):
    """A linear expression in inner products and function values.

    ``errors``: how far the numbers may be from these that coefficients stand for, where they are rounded; None is the
    place of the constant.
    """

    coefficients: Mapping[Key, Rational]
    constant: Rational = Rational(0)
    errors: Mapping[Key | None, Rational] = {}

    def minus(self, other: Quantity) -> Quantity:
        """The difference."""
        keys = self.coefficients.keys() | other.coefficients.keys()
        zero = Rational(0)
        differences = {k: self.coefficients.get(k, zero) - other.coefficients.get(k, zero) for k in keys}
        errors = {k: self.errors.get(k, zero) + other.errors.get(k, zero) for k in {*self.errors, *other.errors}}
        return Quantity({k: c for k, c in differences.items() if c}, self.constant - other.constant, errors)

    def times(self, factor: Rational | Fraction) -> Quantity:
        """A multiple."""
        scale = rational(factor) if isinstance(factor, Fraction) else factor
        errors = {k: abs(scale) * e for k, e in self.errors.items() if scale}
        return Quantity({k: scale * c for k, c in self.coefficients.items() if scale}, scale * self.constant, errors)

    def mapped(self, number: Callable[[Any], Any]) -> Quantity:
        """The expression with other coefficients, those that are not zero."""
        numbers = {k: number(c) for k, c in self.coefficients.items()}
        return Quantity({k: c for k, c in numbers.items() if c}, number(self.constant), self.errors)

    def pairs(self) -> Iterator[tuple[tuple[int, int], Rational]]:
        """The coefficients of inner products."""
        for key, c in self.coefficients.items():
            if not isinstance(key, int):
                yield key, c


class Constraint(NamedTuple):
    """``expression`` <= 0, or = 0; ``name`` as PEPit has it."""

    name: str
    expression: Quantity
    is_equality: bool = False


class Inequality(NamedTuple):
    """A symmetric matrix of expressions that is positive semidefinite; ``name`` as PEPit has it."""

    name: str
    entries: tuple[tuple[Quantity, ...], ...]


@dataclass(frozen=True)
class Model:
    """Maximise the function value number ``objective`` subject to all constraints, over all dimensions.

    Points are rows 0, ..., ``points`` - 1 of the Gram matrix; function values are numbered likewise.
    """

    objective: int
    points: int
    values: int
    constraints: tuple[Constraint, ...]
    inequalities: tuple[Inequality, ...] = ()

    def quantities(self) -> Iterator[Quantity]:
        """All expressions: those of constraints, and then the entries of matrices."""
        yield from (c.expression for c in self.constraints)
        yield from (entry for m in self.inequalities for row in m.entries for entry in row)

    def replaced(self, quantities: Iterable[Quantity]) -> Model:
        """The model with other expressions, in the same order."""
        following = iter(quantities)
        constraints = tuple(c._replace(expression=next(following)) for c in self.constraints)
        inequalities = tuple(
            m._replace(entries=tuple(tuple(next(following) for _ in row) for row in m.entries))
            for m in self.inequalities
        )
        return replace(self, constraints=constraints, inequalities=inequalities)

    def mapped(self, number: Callable[[Any], Any]) -> Model:
        """The model with other coefficients."""
        return self.replaced(quantity.mapped(number) for quantity in self.quantities())

    def numbers(self) -> Iterator[Any]:
        """All coefficients and constants."""
        for quantity in self.quantities():
            yield from quantity.coefficients.values()
            yield quantity.constant

    def in_one_field(self) -> Model:
        """The model with all irrational coefficients in one field; ``TooLarge`` if that has too many dimensions."""
        field = Field()
        for number in self.numbers():
            if isinstance(number, Algebraic):
                field, _ = field.image(number)

        def of(number: Any) -> Any:
            if not isinstance(number, Algebraic):
                return number
            image = field.image(number)[1]
            return field.element(image.coordinates).simplified()

        return self.mapped(of) if field.squares else self

    def primal(self) -> System:
        """Gram matrices and function values that satisfy every constraint; minus the objective is minimised.

        Unknowns are the entries (i, j), i <= j, of the Gram matrix, row by row, and then the function values.
        """
        n = self.points
        number = {(i, j): i * n - i * (i - 1) // 2 + j - i for i in range(n) for j in range(i, n)}
        first = n * (n + 1) // 2

        def affine(quantity: Quantity, sign: int = 1) -> Affine:
            return Affine(
                {
                    first + key if isinstance(key, int) else number[key]: sign * c
                    for key, c in quantity.coefficients.items()
                },
                sign * quantity.constant,
            )

        gram = Block(n, {pair: Affine({k: Rational(1)}) for pair, k in number.items()})
        others = [
            Block(
                len(m.entries),
                {(i, j): affine(m.entries[i][j]) for i in range(len(m.entries)) for j in range(i, len(m.entries))},
            )
            for m in self.inequalities
        ]
        return System(
            first + self.values,
            tuple(affine(c.expression) for c in self.constraints if c.is_equality),
            tuple(affine(c.expression, -1) for c in self.constraints if not c.is_equality),
            (gram, *others),
            Affine({first + self.objective: Rational(-1)}),
        )

    def columns(self) -> Iterator[tuple[Quantity, int]]:
        """The expressions that the unknowns of :meth:`dual` multiply, in their order, each with a factor."""
        yield from ((c.expression, -1) for c in self.constraints)
        for matrix in self.inequalities:
            size = len(matrix.entries)
            yield from ((matrix.entries[i][j], 1 if i == j else 2) for i in range(size) for j in range(i, size))

    def dual(self, of: Quantity | None = None) -> System:
        """Multipliers that prove a bound: objective + <S, G> + sum of multiplier * (-expression) + <matrix multiplier,
        matrix> = bound, identically. The bound is minimised.

        Unknowns are the multipliers of the constraints, and then the entries (i, j), i <= j, of each matrix's. ``of``:
        what is bounded in place of the objective, without a constant.
        """
        objective = Quantity({self.objective: Rational(1)}) if of is None else of
        unknown = len(self.constraints)
        blocks = []
        for matrix in self.inequalities:
            size = len(matrix.entries)
            pairs = [(i, j) for i in range(size) for j in range(i, size)]
            blocks.append(Block(size, {pair: Affine({k: Rational(1)}) for k, pair in enumerate(pairs, unknown)}))
            unknown += len(pairs)
        sums: dict[Key, dict[int, Rational]] = {key: {} for key in objective.coefficients}
        bound: dict[int, Rational] = {}
        for k, (quantity, factor) in enumerate(self.columns()):
            for key, c in quantity.coefficients.items():
                sums.setdefault(key, {})[k] = factor * c
            if quantity.constant:
                bound[k] = factor * quantity.constant
        wanted = objective.coefficients
        equations = [Affine(sums[v], wanted.get(v, Rational(0))) for v in range(self.values) if v in sums]
        slack = {}
        for key, row in sums.items():
            if not isinstance(key, int):
                share = Rational(-1) if key[0] == key[1] else Rational(-1, 2)
                constant = share * wanted.get(key, Rational(0))
                slack[key] = Affine({k: share * c for k, c in row.items()}, constant)
        scalars = tuple(Affine({k: Rational(1)}) for k, c in enumerate(self.constraints) if not c.is_equality)
        return System(unknown, tuple(equations), scalars, (Block(self.points, slack), *blocks), Affine(bound))

    def multipliers(self, found: Found, primal: System) -> Array:
        """The unknowns of :meth:`dual` that a solver has found with a point of :meth:`primal`."""
        rows = primal.rows
        dual = found.dual
        of_equations = iter(-dual[: rows.equations] * rows.scales[: rows.equations])
        of_scalars = iter(dual[rows.equations : rows.equations + rows.scalars])
        out = [next(of_equations if c.is_equality else of_scalars) for c in self.constraints]
        start = rows.equations + rows.scalars + self.points * (self.points + 1) // 2
        for size, unit in zip(rows.sizes[1:], rows.units[1:], strict=True):
            end = start + size * (size + 1) // 2
            matrix = unpacked(dual[start:end], size) * unit[:, None] * unit
            out += [float(matrix[i, j]) for i in range(size) for j in range(i, size)]
            start = end
        return np.array(out)
