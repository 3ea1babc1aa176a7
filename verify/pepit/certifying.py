"""Both ends of a worst case, exactly: multipliers that prove an upper bound, and a point that attains a lower one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar, cast

from verify.pep import faces
from verify.pepit import absent, enclosed, invariances, optimality, points, recognised, systems
from verify.pepit.algebraic import Algebraic, Field, rational
from verify.pepit.enclosed import Enclosure
from verify.pepit.model import Model
from verify.pepit.systems import Rational
from verify.pepit.units import Units, two

#: A number that is known exactly; ``Algebraic`` where it is irrational. Their operators are the same.
Number: TypeAlias = Fraction | Algebraic
#: The numbers of one proof: fractions only, or any that are known exactly.
N = TypeVar("N", Fraction, Number)
#: A symmetric matrix, row by row.
Matrix = tuple[tuple[N, ...], ...]


@dataclass(frozen=True)
class Upper(Generic[N]):
    """A proof that no instance does worse than ``bound``.

    The objective plus sum of multiplier * (-expression), plus the inner product of each matrix of expressions with its
    ``matrices`` entry, plus that of the Gram matrix with a positive semidefinite one, is ``identity`` identically.

    Attributes:
        bound: The proved value.
        multipliers: Of each constraint, by name; at least 0 for inequalities. Zeros are left out.
        matrices: Positive semidefinite multipliers of the model's matrix inequalities, by name.
        enclosure: Where coefficients are rounded, what of the bound makes it one for all numbers that they may stand
            for; None where there is nothing like that, and the bound is for the fractions in their place.
    """

    bound: N
    multipliers: Mapping[str, N]
    matrices: Mapping[str, Matrix[N]]
    enclosure: Enclosure | None = None

    @property
    def identity(self) -> N:
        """The bound for the model's coefficients, as they are."""
        return self.bound if self.enclosure is None else self.bound - self.enclosure.excess


@dataclass(frozen=True)
class Lower(Generic[N]):
    """An instance whose objective is ``bound``: Gram matrix and function values that satisfy every constraint."""

    bound: N
    gram: Matrix[N]
    values: tuple[N, ...]


@dataclass(frozen=True)
class Bounds(Generic[N]):
    """The bounds proved for a model.

    Attributes:
        model: The model, with exact coefficients: fractions, and numbers of one field with square roots.
        pepit: What PEPit answers, if it was asked and found a bound.
        upper: None where no exact multipliers were found.
        lower: None where no exact point was found.
        rounded: How many coefficients are replaced by fractions nearby, as they lie outside such a field. The lower
            bound is for these fractions.
    """

    model: Model
    pepit: float | None
    upper: Upper[N] | None
    lower: Lower[N] | None
    rounded: int = 0

    @property
    def exact(self) -> N | None:
        """The worst case, where both ends meet; None where coefficients are rounded."""
        if self.rounded or self.upper is None or self.lower is None or self.upper.bound != self.lower.bound:
            return None
        return self.upper.bound

    @property
    def gap(self) -> N | None:
        """Upper minus lower bound; None where one of them is missing."""
        return None if self.upper is None or self.lower is None else self.upper.bound - self.lower.bound

    @property
    def pepit_is_bound(self) -> bool | None:
        """Return True if PEPit's number is at least the proved upper bound, False if below the lower; else None."""
        if self.pepit is None:
            return None
        value = Fraction(self.pepit)
        if self.upper is not None and value >= self.upper.bound:
            return True
        return False if self.lower is not None and value < self.lower.bound else None


def bounds(
    model: Model,
    pepit: float | None = None,
    rounded: int = 0,
    expected: Fraction | None = None,
    roots: bool = True,
) -> Bounds[Number]:
    """Both ends of a model; ``expected``: a value in which they may meet, tried before simple ones.

    ``roots``: whether worst cases may have square roots that the coefficients do not have.

    ``ValueError`` if there is no worst case: its constraints contradict one another, or its objective has no bound.
    """
    found = _bounds(model, pepit, rounded, expected, roots)
    if found is None or _is_wide(found):
        # In other units a solver may see more.
        units = Units.of(model)
        other = _bounds(units.scaled(model), None, rounded, None, roots)
        if other is not None:
            found = _joined(found, _in_own(other, model, units, pepit))
    if found is None:
        raise ValueError(absent.reason(model, rounded))
    return found


def _is_wide(found: Bounds[Number]) -> bool:
    """Return True if an end is missing, or both are far apart for their size."""
    if found.upper is None or found.lower is None:
        return True
    upper, lower = _near(found.upper.identity), _near(found.lower.bound)
    return upper - lower > _WIDE * max(abs(upper), abs(lower))


def _joined(found: Bounds[Number] | None, other: Bounds[Number]) -> Bounds[Number]:
    """The better of both ends, each of which may be missing: first those that hold for all that is rounded."""
    if found is None:
        return other
    uppers = [end for end in (found.upper, other.upper) if end is not None]
    lowers = [end for end in (found.lower, other.lower) if end is not None]
    upper = min(uppers, key=lambda end: (end.enclosure is None, end.bound), default=None)
    lower = max(lowers, key=lambda end: end.bound, default=None)
    return replace(found, upper=upper, lower=lower)


def _in_own(found: Bounds[Number], model: Model, units: Units, pepit: float | None) -> Bounds[Number]:
    """Both ends of a model, found in other units, in its own; they are checked there again."""
    unit = units.values[model.objective]
    upper = lower = None
    if found.upper is not None:
        given, dual = found.upper, model.dual()
        proof = [
            _flint(given.multipliers.get(c.name, Fraction(0))) * two(unit + factor)
            for c, factor in zip(model.constraints, units.constraints, strict=True)
        ]
        for m, rows in zip(model.inequalities, units.matrices, strict=True):
            pairs = [(i, j) for i in range(len(rows)) for j in range(i, len(rows))]
            proof += [_flint(given.matrices[m.name][i][j]) * two(unit + rows[i] + rows[j]) for i, j in pairs]
        if dual.holds(proof):
            wider = given.enclosure
            excess = wider and wider._replace(excess=wider.excess * fraction(two(unit)))
            upper = _upper(model, dual, proof, excess)
    if found.lower is not None:
        primal, (gram, values) = model.primal(), (found.lower.gram, found.lower.values)
        n = model.points
        point = [_flint(gram[i][j]) * two(units.points[i] + units.points[j]) for i in range(n) for j in range(i, n)]
        point += [_flint(v) * two(k) for v, k in zip(values, units.values, strict=True)]
        if primal.holds(point):
            lower = _lower(model, primal, point)
    return Bounds(model, pepit, upper, lower, found.rounded)


def _flint(value: Number) -> Rational | Algebraic:
    return value if isinstance(value, Algebraic) else rational(value)


def _bounds(
    model: Model, pepit: float | None, rounded: int, expected: Fraction | None, roots: bool
) -> Bounds[Number] | None:
    """Both ends of a model in its own units; None where a solver finds no worst case."""
    primal, dual = model.primal(), model.dual()
    found = systems.optimum(primal)
    if found is None:
        return None
    multipliers, value = model.multipliers(found, primal), -found.value
    starts = [[points.rounded(end)] for end in (found.point, multipliers)]
    for optimal in optimality.optimal(primal, dual, found.point, multipliers):
        ends = [optimality.rounded(end, 64) for end in (optimal.primal, optimal.dual)]
        worst = -systems.to_float(primal.objective.at(ends[0]))
        if abs(worst - value) > _FAR * max(abs(value), _FAR):
            continue
        meeting = _meeting(primal, dual, optimal, primal.field)
        objective = optimal.primal[-model.values + model.objective]
        if meeting is None and roots and not rounded:
            field = recognised.larger_field(objective, optimality.BITS, optimal.bits, primal.field)
            meeting = None if field is None else _meeting(primal, dual, optimal, field)
        if meeting is not None:
            return Bounds(model, pepit, _proof(model, dual, meeting[1]), _lower(model, primal, meeting[0]), rounded)
        starts = [[end, *others] for end, others in zip(ends, starts, strict=True)]
        value = worst
        if recognised.number(objective, optimality.BITS, optimal.bits, primal.field) is None:
            break
    proof = points.near_optimal(dual, value, starts[1])
    # The attained value is measured against the proved one, if they are close enough to be one.
    above = value if proof is None else systems.to_float(dual.objective.at(proof))
    close = abs(above - value) <= _FAR * max(abs(value), _FAR)
    point = points.near_optimal(primal, -above if close else -value, starts[0])
    simple = _simple(proof, point, primal, dual)
    if expected is not None and abs(float(expected) - value) <= _NEAR * max(1.0, abs(value)):
        simple = Rational(expected.numerator, expected.denominator)
    if simple is not None:
        # Where both ends meet in a simple fraction, that.
        attained = points.attaining(dual, simple)
        reached = None if attained is None else points.attaining(primal, -simple)
        if attained is not None and reached is not None:
            proof, point = attained, reached
    upper = None if proof is None else _proof(model, dual, proof)
    lower = None if point is None else _lower(model, primal, point)
    return Bounds(model, pepit, upper, lower, rounded)


def _meeting(
    primal: systems.System, dual: systems.System, optimal: optimality.Optimal, field: Field
) -> tuple[list[Rational], list[Rational]] | None:
    """An instance and a proof of one value, with the zeros of optimal points; None where the field lacks these."""
    zero = optimality.faces(optimal, field)
    if zero is None:
        return None
    found = []
    for system, zeros, digits in zip((primal, dual), zero, (optimal.primal, optimal.dual), strict=True):
        face = zeros.imposed(system)
        tried = (points.satisfying(face, optimality.rounded(digits, bits)) for bits in _GRIDS)
        on_face = next((point for point in tried if point is not None and system.holds(point)), None)
        if on_face is None:
            return None
        found.append(on_face)
    point, proof = found
    return (point, proof) if not primal.objective.at(point) + dual.objective.at(proof) else None


#: Binary digits to which optimal points are rounded where they are not determined.
_GRIDS = (16, 40, 100)
#: An exact value that differs from the solver's by more, relative to that, is not the measure of what is attained.
_FAR = 1e-5
#: The factor by which a simple fraction must be nearer than by chance to be tried.
_CHANCE = 30
#: The largest distance of an expected value that is tried.
_NEAR = 1e-6
#: The gap between both ends, as a share of their size, beyond which other units are tried.
_WIDE = Fraction(1, 10**6)
#: Binary digits of fractions near irrational numbers.
_DIGITS = 133


def _simple(
    proof: list[Rational] | None, point: list[Rational] | None, primal: systems.System, dual: systems.System
) -> Rational | Algebraic | None:
    """A simple number of the coefficients' field between both ends, if chance does not put it there."""
    if proof is None or point is None:
        return None
    high, low = (_near(of) for of in (dual.objective.at(proof), -primal.objective.at(point)))
    if dual.objective.at(proof) + primal.objective.at(point) < 0:
        raise AssertionError("a lower bound exceeds an upper one")
    if high <= low:
        return None
    if low <= 0 <= high:
        return Rational(0)
    if primal.field.squares:
        surd = recognised.surd_between(low, high, optimality.BITS, primal.field)
        if surd is not None:
            return surd
    small, large = sorted((abs(low), abs(high)))
    found = faces.between(small, large)
    if found.denominator**2 * (high - low) * _CHANCE > 1:
        return None
    sign = 1 if high > 0 else -1
    return Rational(sign * found.numerator, found.denominator)


def _proof(model: Model, dual: systems.System, point: list[Rational]) -> Upper[Number]:
    """The upper bound of multipliers, for all numbers that coefficients may stand for if these are bounded."""
    rounded = any(quantity.errors for quantity in model.quantities())
    return _upper(model, dual, point, enclosed.enclosure(model, point) if rounded else None)


def _upper(model: Model, dual: systems.System, point: list[Rational], wider: Enclosure | None) -> Upper[Number]:
    multipliers = {c.name: number(v) for c, v in zip(model.constraints, point, strict=False) if v}
    matrices = {}
    at = len(model.constraints)
    for inequality in model.inequalities:
        size = len(inequality.entries)
        rows: list[list[Number]] = [[Fraction(0)] * size for _ in range(size)]
        for i in range(size):
            for j in range(i, size):
                rows[i][j] = rows[j][i] = number(point[at])
                at += 1
        matrices[inequality.name] = tuple(map(tuple, rows))
    bound = number(dual.objective.at(point))
    return Upper(bound if wider is None else bound + wider.excess, multipliers, matrices, wider)


def _lower(model: Model, primal: systems.System, point: list[Rational]) -> Lower[Number]:
    gram = tuple(tuple(map(number, row)) for row in primal.blocks[0].at(point))
    values = tuple(map(number, point[len(point) - model.values :]))
    return Lower(number(-primal.objective.at(point)), gram, values)


def number(value: Rational | Algebraic) -> Number:
    """Python's own fraction, where the number is one."""
    simple = value.simplified() if isinstance(value, Algebraic) else value
    return simple if isinstance(simple, Algebraic) else fraction(simple)


def fraction(value: Rational) -> Fraction:
    """Python's own fraction."""
    return Fraction(int(value.p), int(value.q))


def _near(value: Rational | Number) -> Fraction:
    if isinstance(value, Fraction):
        return value
    return value.between(_DIGITS)[0] if isinstance(value, Algebraic) else fraction(value)


def in_fractions(found: Bounds[Number]) -> Bounds[Fraction]:
    """The bounds with fractions only: where something is irrational, those of the model with fractions near it."""
    irrational = sum(isinstance(c, Algebraic) for c in found.model.numbers())
    if irrational or any(isinstance(v, Algebraic) for v in _numbers(found)):
        near = found.model.mapped(lambda c: rational(_near(c)) if isinstance(c, Algebraic) else c)
        model = invariances.restored(near)
        found = bounds(model, found.pepit, found.rounded + irrational, roots=False)
    return cast(Bounds[Fraction], found)


def _numbers(found: Bounds[Number]) -> Iterator[Number]:
    """All numbers of both ends."""
    if found.upper is not None:
        yield from (found.upper.bound, *found.upper.multipliers.values())
        yield from (v for matrix in found.upper.matrices.values() for row in matrix for v in row)
    if found.lower is not None:
        yield from (found.lower.bound, *found.lower.values, *(v for row in found.lower.gram for v in row))
