"""Functions of which a class is known, in a program of a generic client: what they answer, and what holds of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, permutations, product
from typing import Any, NamedTuple

import sympy

from verify.multipliers.reasons import (
    Curvatures,
    Dissimilarity,
    DrawnCurvature,
    FunctionPoint,
    GradientBound,
    OfAverage,
    OfOperators,
    Phrase,
    Reason,
    Smoothness,
)
from verify.reading.source import Unread
from verify.reading.terms import Op
from verify.reading.worlds import ONE, Atom, World, WorldValue


class Number:
    """A number of a world, as formulas of classes take it."""

    def __init__(self, world: World, value: WorldValue) -> None:
        self.world, self.value = world, value

    def __add__(self, other: Number) -> Number:
        return Number(self.world, self.value + other.value)

    def __sub__(self, other: Number) -> Number:
        return Number(self.world, self.value - other.value)

    def __mul__(self, c: Any) -> Number:
        return Number(self.world, self.value * scalar(self.world, c))

    def __truediv__(self, c: Any) -> Number:
        return self * (1 / sympy.sympify(c))

    __rmul__ = __mul__


class SharedVector:
    """A vector that all clients share, as formulas of classes take it."""

    def __init__(self, world: World, value: WorldValue) -> None:
        self.world, self.value = world, value

    def __mul__(self, other: SharedVector) -> Number:
        return Number(self.world, self.world.inner(self.value * other.value))

    def __pow__(self, exponent: int) -> Number:
        if exponent != 2:
            raise Unread("a formula of a class has another power of a vector than its square")
        return self * self


def scalar(world: World, c: Any) -> WorldValue:
    """A number that a class states in the constants mu, L and s of the problem."""
    number = sympy.sympify(c)
    found = world.field(number.xreplace({x: sympy.Symbol(f"{Op.GIVEN} {x}") for x in number.free_symbols}))
    return WorldValue({ONE: found} if found else {})


class OperatorBounds(NamedTuple):
    """Bounds on operators, of the differences x of two points and g of the values there: <g, x> >= ``least``
    |x|^2, |g|^2 <= ``square`` |x|^2 and |g|^2 <= ``cocoercive`` <g, x>, where these are known."""

    least: WorldValue
    square: WorldValue | None
    cocoercive: WorldValue | None


class DrawnPoint(NamedTuple):
    """A function's value at a point that is drawn, less its tangent at x*; ``when``: 1 where it is asked, else 0."""

    when: WorldValue
    point: WorldValue
    value: WorldValue


@dataclass(eq=False)
class FunctionAt:
    """A function at one point, less its tangent at x*: the point and the gradient relative to those there."""

    point: WorldValue
    gradient: WorldValue
    value: WorldValue


@dataclass(eq=False)
class ClassFunctions:
    """The f_i, or one function for all (``own`` False): their least and largest ``curvatures``, the largest None where
    there is none, and both where nothing is known of them.

    ``slope``: the gradients at x*. ``equal``: whether mu is L here, so that there is but one function of the class.
    ``average``: what is known of the average of the f_i. ``steepest``: the square of the length of each gradient, at
    most. ``smooth``: whether each has one gradient at each point. ``spread``: where each f_i is smooth with a constant
    of its own, the mean of the squares of these; the curvatures are then those of the average. ``apart``: by how much
    their gradients differ at most, as the root of the mean of squares.

    ``quadratic``: the functions are quadratics, with Hessians that are constant and symmetric.

    ``operators``: of what is asked as a gradient and need not be one, what is known; it has no values, nor curvatures.

    ``anchor``: the point relative to which points are given, in words: for conjugates it is not x*.

    Of functions that may have kinks what is asked is a subgradient, which need not be the one that a proximal point is
    known by, nor at x* the one that balances.
    """

    name: str
    own: bool
    curvatures: tuple[WorldValue, WorldValue | None] | None
    slope: WorldValue
    equal: bool
    average: Callable[[SharedVector, Number, SharedVector], Iterable[tuple[str, Number]]] | None = None
    steepest: WorldValue | None = None
    smooth: bool = True
    spread: WorldValue | None = None
    apart: WorldValue | None = None
    anchor: str = "x*"
    operators: OperatorBounds | None = None
    is_operator: bool = False
    quadratic: bool = False
    asked: dict[str, FunctionAt] = field(default_factory=dict)
    #: Values at points that are drawn, by when they are asked, and the points.
    drawn: dict[tuple[str, str], DrawnPoint] = field(default_factory=dict)
    #: The values at points, and the proximal points that were asked, both relative to x*.
    values: dict[str, WorldValue] = field(default_factory=dict)
    solved: dict[tuple[str, str], WorldValue] = field(default_factory=dict)

    def _named(self, world: World, name: str, degree: int) -> WorldValue:
        return (world.of_client if self.own else world.atom)(name, degree)

    def _key(self, point: WorldValue, apart: bool) -> str:
        return f"{'apart from what is asked: ' if apart and not self.smooth else ''}{point.name()}"

    def at(self, world: World, point: WorldValue, apart: bool = False) -> FunctionAt:
        """Return the value and gradient at a point relative to x*.

        ``apart``: use a subgradient that need not be the one asked there.
        """
        name = self._key(point, apart)
        if name not in self.asked:
            if self.equal and self.curvatures is not None and self.curvatures[1] is not None:
                L, half = self.curvatures[1], WorldValue({ONE: world.field.one / 2})
                found = FunctionAt(point, L * point, L * world.inner(point * point) * half)
            else:
                balanced = point.is_zero() and (apart or self.smooth)
                own = self._named(world, f"grad {self.name}({len(self.asked)})", 1)
                found = FunctionAt(point, WorldValue({}) if balanced else own, self._value(world, point))
            self.asked[name] = found
        return self.asked[name]

    def value(self, world: World, point: WorldValue) -> WorldValue:
        """The value at a point relative to x*, less the tangent there."""
        self._check_values()
        known = self.asked.get(self._key(point, True)) or self.at(world, point)
        return known.value

    def _check_values(self) -> None:
        if self.is_operator:
            raise Unread("an operator has no values of a function")

    def value_drawn(self, world: World, point: WorldValue, when: WorldValue) -> WorldValue:
        """The value at a point relative to x* that is drawn, less the tangent at x*."""
        self._check_values()
        if self.equal and self.curvatures is not None and self.curvatures[1] is not None:
            return self.curvatures[1] * world.inner(point * point) * WorldValue({ONE: world.field.one / 2})
        name = f"{self.name} drawn ({len(self.drawn)})"
        value = WorldValue({(frozenset(), (Atom(name, 0, self.own),)): world.field.one})
        return self.drawn.setdefault((when.name(), point.name()), DrawnPoint(when, point, value)).value

    def _value(self, world: World, point: WorldValue) -> WorldValue:
        if point.is_zero() or self.is_operator:
            return WorldValue({})
        name = f"{self.name}({len(self.asked)})"
        return self.values.setdefault(point.name(), self._named(world, name, 0))

    def resolvent(self, world: World, shift: WorldValue, target: WorldValue) -> tuple[WorldValue, WorldValue]:
        """The root x of grad f(x) + shift x = target, the reference point being 0, and the number that
        has to be positive for it to be the only one."""
        if self.operators is not None:
            least, largest = self.operators.least, None
        elif self.curvatures is not None and self.spread is None:
            least, largest = self.curvatures
        else:
            raise Unread(f"proximal points of {self.name} are not known")
        if not set(shift.of) <= {ONE}:
            raise Unread(f"proximal points of {self.name} are not known")
        if self.equal and largest is not None:
            return (target - self.slope) * WorldValue({ONE: 1 / (largest + shift).of[ONE]}), shift + least
        key = shift.name(), target.name()
        if key not in self.solved:
            point = self._named(world, f"prox {self.name}({len(self.solved)})", 1)
            self.solved[key] = point
            gradient = target - shift * point - self.slope
            self.asked[self._key(point, True)] = FunctionAt(point, gradient, self._value(world, point))
        return self.solved[key], shift + least

    def inequalities(self, world: World) -> Iterator[KnownInequality]:
        """Yield the inequalities of the class for each pair of points, summed over the clients, or for the average."""
        if self.apart is not None:
            self.at(world, WorldValue({}), apart=True)
            yield from self._of_gradients(world, self.apart)
        if self.equal:
            return
        if self.operators is not None:
            yield from self._of_operators(world, self.operators)
        if self.curvatures is not None:
            yield from self._of_each(world, *self.curvatures)
        if self.quadratic:
            yield from self._of_quadratics(world)
        for k, a in enumerate(self.asked.values()):
            if self.average is not None and is_shared(a) and not a.point.is_zero():
                mean = self._averaged(world, a)
                gap, gradient = mean.value, mean.gradient
                inequalities = self.average(
                    SharedVector(world, a.point), Number(world, gap), SharedVector(world, gradient)
                )
                for name, number in inequalities:
                    why = OfAverage(name, FunctionPoint(k, "x*", a.point))
                    yield KnownInequality(f"{name} [{k}]", why, number.value)

    def _of_operators(self, world: World, known: OperatorBounds) -> Iterator[KnownInequality]:
        """Yield what is known of the values of each operator at two points."""
        self.at(world, WorldValue({}), apart=True)
        for (i, a), (j, b) in combinations(enumerate(self.asked.values()), 2):
            x, g = a.point - b.point, a.gradient - b.gradient
            square, both, length = world.inner(x * x), world.inner(g * x), world.inner(g * g)
            forms = {"is monotone": known.least * square - both}
            if known.square is not None:
                forms["is Lipschitz"] = length - known.square * square
            if known.cocoercive is not None:
                forms["is cocoercive"] = length - known.cocoercive * both
            points = FunctionPoint(i, "x*", a.point), FunctionPoint(j, "x*", b.point)
            for does, form in forms.items():
                why = OfOperators(f"{self.name} {does}", self.name, points, does, self.own)
                yield KnownInequality(why.name, why, world.total(form) if self.own else form)

    def _of_each(self, world: World, mu: WorldValue, L: WorldValue | None) -> Iterator[KnownInequality]:
        """Yield the inequalities for each function that its curvatures give."""
        self.at(world, WorldValue({}), apart=True)
        if self.spread is not None:
            yield from self._of_average(world, self.spread)
        for (i, a), (j, b) in permutations(enumerate(self.asked.values()), 2) if self.spread is None else ():
            form = _between(world, a, b, mu, L)
            points = FunctionPoint(i, self.anchor, a.point), FunctionPoint(j, self.anchor, b.point)
            why = Curvatures(self.name, self.name, points, self.own, mu, L)
            yield KnownInequality(why.name, why, world.total(form) if self.own else form)
        yield from self._at_drawn_points(world)
        for k, a in enumerate(self.asked.values() if self.steepest is not None else ()):
            assert self.steepest is not None
            length = self.slope + a.gradient
            form = world.inner(length * length) - self.steepest
            most = GradientBound(self.name, self.own, self.steepest, FunctionPoint(k, "x*", a.point))
            yield KnownInequality(f"{self.name} steepest[{k}]", most, world.total(form) if self.own else form)

    def _of_quadratics(self, world: World) -> Iterator[KnownInequality]:
        """Yield that the Hessian of a quadratic is symmetric, for two points, and gives its values."""
        half = WorldValue({ONE: world.field.one / 2})
        away = [(k, a) for k, a in enumerate(self.asked.values()) if not a.point.is_zero()]
        forms: list[tuple[str, Phrase, WorldValue]] = []
        for k, a in away:
            why = Phrase((f"{self.name} is quadratic, at {self.anchor} + ", a.point))
            forms.append((f"{self.name} quadratic[{k}]", why, a.value - half * world.inner(a.gradient * a.point)))
        for (i, a), (j, b) in combinations(away, 2):
            form = world.inner(a.gradient * b.point) - world.inner(b.gradient * a.point)
            parts = (f"the Hessian of {self.name} is symmetric, at {self.anchor} + ", a.point, " and ", b.point)
            forms.append((f"{self.name} symmetric[{i},{j}]", Phrase(parts), form))
        for name, why, form in forms:
            total = world.total(form) if self.own else form
            yield KnownInequality(f"{name} +", why, total)
            yield KnownInequality(f"{name} -", why, -total)

    def _of_gradients(self, world: World, zeta: WorldValue) -> Iterator[KnownInequality]:
        """Yield the bound on how much the gradients of all functions differ at each point that the clients share."""
        count, each = world.count("n"), WorldValue({ONE: 1 / world.field(sympy.Symbol("n"))})
        for k, a in enumerate(self.asked.values()):
            if is_shared(a):
                gradient = self.slope + a.gradient
                whole = world.total(gradient)
                form = world.total(world.inner(gradient * gradient)) - each * world.inner(whole * whole)
                why = Dissimilarity(self.name, zeta, FunctionPoint(k, "x*", a.point))
                yield KnownInequality(f"{self.name} dissimilarity[{k}]", why, form - count * zeta * zeta)

    def _at_drawn_points(self, world: World) -> Iterator[KnownInequality]:
        """Yield the bounds on each value at a drawn point that hold for every draw, by the gradients at points not
        drawn.
        """
        if self.curvatures is None or self.spread is not None:
            return
        half = WorldValue({ONE: world.field.one / 2})
        for (k, at), (j, b) in product(enumerate(self.drawn.values()), enumerate(self.asked.values())):
            x = at.point - b.point
            above = at.value - b.value - world.inner(b.gradient * x)
            for word, c, sign in zip(("least", "largest"), self.curvatures, (-1, 1), strict=True):
                if c is None:
                    continue
                form = at.when * (above - half * c * world.inner(x * x)) * world.constant(sympy.Integer(sign))
                here, by = FunctionPoint(k, self.anchor, at.point), FunctionPoint(j, self.anchor, b.point)
                why = DrawnCurvature(self.name, self.own, word, c, here, by, at.when)
                yield KnownInequality(f"{self.name} {word} [{k}, {j}]", why, world.total(form) if self.own else form)

    def _averaged(self, world: World, at: FunctionAt) -> FunctionAt:
        """Return the value and gradient of the average at a point that all clients share."""
        if not self.own:
            return at
        each = WorldValue({ONE: 1 / world.field(sympy.Symbol("n"))})
        return FunctionAt(at.point, world.total(at.gradient) * each, world.total(at.value) * each)

    def _of_average(self, world: World, spread: WorldValue) -> Iterator[KnownInequality]:
        """Yield the inequalities for two points that all clients share: for the average, and for differences of
        gradients.
        """
        assert self.curvatures is not None
        mu, L = self.curvatures
        for (i, a), (j, b) in permutations(enumerate(self.asked.values()), 2):
            if not (is_shared(a) and is_shared(b)):
                continue
            points = FunctionPoint(i, "x*", a.point), FunctionPoint(j, "x*", b.point)
            form = _between(world, self._averaged(world, a), self._averaged(world, b), mu, L)
            smooth = Smoothness(f"mean of {self.name}", self.name, points, False)
            yield KnownInequality(smooth.name, smooth, form)
            if i < j:
                x, g = a.point - b.point, a.gradient - b.gradient
                form = world.total(world.inner(g * g)) - world.count("n") * spread * world.inner(x * x)
                own = Smoothness(f"{self.name} apart", self.name, points, True)
                yield KnownInequality(own.name, own, form)


def is_shared(at: FunctionAt) -> bool:
    """Return True if a point is shared by all clients."""
    return not any(atom.own for _, atoms in at.point.of for atom in atoms)


def _between(world: World, a: FunctionAt, b: FunctionAt, mu: WorldValue, L: WorldValue | None) -> WorldValue:
    """Return the number that is at most 0 for a function with curvatures between mu and L at two points.

    Taylor, Hendrickx and Glineur (2017).
    """
    x, g = a.point - b.point, a.gradient - b.gradient
    form = b.value + world.inner(b.gradient * x) - a.value
    gradient, both, square = world.inner(g * g), world.inner(g * x), world.inner(x * x)
    half = WorldValue({ONE: world.field.one / 2})
    if L is None:
        return form + half * mu * square
    return form + half * WorldValue({ONE: 1 / (L - mu).of[ONE]}) * (gradient + mu * L * square - mu * (both + both))


class KnownInequality(NamedTuple):
    """A number whose expectation is at most 0, under a name; ``why``: where it comes from."""

    name: str
    why: Reason
    value: WorldValue
