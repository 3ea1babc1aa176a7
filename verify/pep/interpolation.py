"""Functions known only by their class, as a problem and an algorithm see them.

An oracle answers with new rows (:mod:`verify.pep.gram`), remembers where it was asked, and states what a function of
its class must satisfy at these points. Compressors and inexact oracles are in :mod:`verify.pep.oracles`;
:mod:`verify.pep.posing` makes problems of all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Any, NamedTuple, Protocol

import numpy as np

from fedtheory.instances import Instance
from fedtheory.numbers.rational import Array
from verify.pep.gram import (
    ZERO,
    Form,
    NotLinear,
    Number,
    Sample,
    Vector,
    interpolate,
    quadratic_sample,
    row,
    smoothness,
    strong_convexity,
    value,
)
from verify.pep.oracles import InexactOracle, noisy
from verify.pep.programs import Constraint

_NOTHING = Form({}, {}, 0)


def rows(name: str, n: int) -> Array:
    """n new rows, as an array ``(n, 1)``."""
    return np.array([[row(f"{name}_{i}")] for i in range(n)], dtype=object)


def rows_of_sum_zero(name: str, n: int) -> Array:
    """n vectors ``(n, 1)`` with sum zero: n - 1 new rows and minus their sum."""
    free = rows(name, n)[:-1, 0]
    return np.append(free, [-sum(free, ZERO)])[:, None]


def repeated(vector: Vector, n: int) -> Array:
    """One vector for each of n clients, ``(n, 1)``."""
    out = np.empty((n, 1), dtype=object)
    out[:] = vector
    return out


class Majorised(np.ndarray):
    """Vectors of n clients, ``(n, 1)``, whose ``max`` over the clients of a form of each is a new value.

    ``assumed`` states that it is at least each of them: what is bounded by a multiple of that value is bounded by that
    multiple of the maximum.
    """

    assumed: list[Constraint]

    def __array_finalize__(self, other: Any) -> None:
        self.assumed = getattr(other, "assumed", [])

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # A sum over all axes is a scalar, as for other arrays.
        return array[()] if array.ndim == 0 else super().__array_wrap__(array, context, return_scalar)

    def max(self, axis: Any = None, **ignored: Any) -> Any:  # type: ignore[override]
        """The new value that bounds a form of each client; ``NotLinear`` for a maximum over anything else."""
        if self.ndim != 1 or axis not in (None, 0, -1) or not all(isinstance(v, Form) for v in self):
            raise NotLinear("a maximum over other things than the clients")
        top, count = value(f"max({len(self.assumed)})"), len(self.assumed)
        why = "a maximum over the clients is at least what each has"
        self.assumed.extend(Constraint(f"max[{count + i}]", form - top, lambda: why) for i, form in enumerate(self))
        return top

    def constraints(self) -> Iterator[Constraint]:
        """Yield the assumptions made so far."""
        yield from self.assumed


@dataclass
class Asked:
    """The data of a function at one point, relative to its reference point, with its tangent there subtracted."""

    point: Vector
    value: Form
    gradient: Vector | None = None


@dataclass
class Record:
    """n functions of given classes, mu_i-strongly convex and L_i-smooth, and all that was asked of them.

    ``origin (n, 1)``: the reference points; ``slope (n, 1)``: the gradients there. With ``anchored`` the function minus
    its tangent at the origin is least there, which is what an optimum says; otherwise nothing is known there, and
    values are relative to that at the point asked first.

    Values at compressed points are expectations, bounded by smoothness from the other points, which holds for the mean
    too. A gradient there would depend on the noise, and is refused.

    Functions that need not be smooth have an infinite L_i: what is asked of them is a subgradient, which need not be
    the one that a proximal point is known by, nor at the origin the slope there. Of functions with an infinite -mu_i
    nothing is known. ``steepest``: the square of the length
    of each gradient, at most.
    """

    name: str
    mu: Array
    L: Array
    origin: Array
    slope: Array
    anchored: bool = True
    steepest: Number | None = None
    asked: list[dict[Any, Asked]] = field(default_factory=list)
    solved: dict[Any, Vector] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.asked = [{} for _ in self.mu]
        for i, (mu, L) in enumerate(zip(self.mu, self.L, strict=True)):
            if mu == L and not self.anchored:
                self.slope[i, 0] = self.slope[i, 0] + row(f"{self.name} slope_{i}")

    @property
    def n(self) -> int:
        """The number of functions."""
        return len(self.mu)

    def gradient(self, x: Array) -> Array:
        """``(..., n, 1) -> (..., n, 1)``."""
        return self._each(x, lambda i, point: self.slope[i, 0] + self._gradient(i, self._at(i, point)))

    def resolvent(self, i: int, shift: Number, target: Vector) -> Vector:
        """The point x with grad f_i(x) + ``shift`` x = ``target``, a new row; the gradient there is then known.

        Raise ``ValueError`` if f_i + (shift/2)|.|^2 need not be strongly convex, or the target is compressed.
        """
        if shift + self.mu[i] <= 0:
            raise ValueError("a proximal point is known where the objective is strongly convex")
        if self.mu[i] == self.L[i]:
            # The only function of its class: L (x - origin) + slope + shift x = target.
            return (target - self.slope[i, 0] + self.L[i] * self.origin[i, 0]) / (self.L[i] + shift)
        if noisy(target):
            raise ValueError("no function can be asked at a noisy or compressed point: only moments of noise are known")
        key = (i, shift, target.key)
        if key not in self.solved:
            x = self.origin[i, 0] + row(f"prox {self.name}({len(self.solved)})_{i}")
            at = self._at(i, x - self.origin[i, 0], self.L[i] == math.inf)
            at.gradient = target - shift * x - self.slope[i, 0]
            self.solved[key] = x
        return self.solved[key]

    def value(self, x: Array) -> Array:
        """``(..., n, 1) -> (..., n)``."""

        def one(i: int, point: Vector) -> Form:
            # A proximal point has one value, for every subgradient there.
            at = self.asked[i].get(_proximal(point)) or self._at(i, point)
            return at.value + self.slope[i, 0] * at.point + value(f"{self.name} level_{i}")

        return self._each(x, one)[..., 0]

    def _each(self, x: Array, answer: Callable[[int, Vector], Any]) -> Array:
        x = np.broadcast_to(x, (*x.shape[:-2], self.n, 1))
        out = np.empty(x.shape, dtype=object)
        for index in np.ndindex(x.shape):
            i = index[-2]
            out[index] = answer(i, ZERO + x[index] - self.origin[i, 0])
        return out

    def _at(self, i: int, point: Vector, apart: bool = False) -> Asked:
        """Return the data at a point; ``apart``: of a proximal point with a subgradient of its own."""
        known, key = self.asked[i], _proximal(point) if apart else point.key
        if key not in known:
            if self.mu[i] == self.L[i]:
                sample = quadratic_sample(point, self.L[i])
                known[key] = Asked(point, sample.value, sample.gradient)
            elif self.anchored and not point.coefficients:
                balancing = apart or self.L[i] < math.inf
                known[key] = Asked(point, _NOTHING, ZERO if balancing else None)
            else:
                first = not self.anchored and not known
                known[key] = Asked(point, _NOTHING if first else value(f"{self.name}({len(known)})_{i}"))
        return known[key]

    def _gradient(self, i: int, at: Asked) -> Vector:
        if noisy(at.point):
            # It would depend on the noise, and a row of its own would be taken for uncorrelated.
            raise ValueError("no function can be asked at a noisy or compressed point: only moments of noise are known")
        if at.gradient is None:
            number = sum(other.gradient is not None for other in self.asked[i].values())
            at.gradient = row(f"grad {self.name}({number})_{i}")
        return at.gradient

    @property
    def averaged(self) -> bool:
        """True if a value was evaluated at a compressed point, where the constraints are only necessary."""
        return any(at.gradient is None and noisy(at.point) for known in self.asked for at in known.values())

    def constraints(self, exact: bool) -> Iterator[Constraint]:
        """Yield the constraints on the answers.

        Every pair of points is interpolated. Without ``exact``, points at which only the value was evaluated are
        bounded by the other gradients only, which keeps their own gradients out of the program. Nonsmooth functions
        have no such upper bound.
        """
        for i in range(self.n):
            if self.mu[i] == self.L[i] or self.mu[i] == -math.inf:
                # One function alone, or any.
                continue
            smooth = self.L[i] < math.inf
            if self.anchored:
                self._at(i, ZERO, not smooth)
            points = list(self.asked[i].values())
            if exact or not smooth:
                for at in points:
                    if not noisy(at.point):
                        self._gradient(i, at)
            known = [Sample(at.point, at.gradient, at.value) for at in points if at.gradient is not None]
            for k, sample in enumerate(known if self.steepest is not None else ()):
                length = (self.slope[i, 0] + sample.gradient) ** 2
                bound = f"gradients of {self.name}_{i + 1} have squares of at most {self.steepest}"
                yield Constraint(f"{self.name}_{i} steepest[{k}]", length - self.steepest, partial(str, bound))
            membership = self._CLASS if smooth else "{mu}-strongly convex"
            for (name, form), (one, other) in zip(
                interpolate(f"{self.name}_{i}", known, self.mu[i], self.L[i]), permutations(known, 2), strict=True
            ):
                yield Constraint(name, form, partial(self._why, i, one, other, membership))
            for k, at in enumerate(at for at in points if at.gradient is None and smooth):
                for j, sample in enumerate(known):
                    here = Sample(at.point, ZERO, at.value)
                    form, why = smoothness(here, sample, self.L[i]), partial(self._why, i, here, sample)
                    yield Constraint(f"{self.name}_{i} smooth[{k},{j}]", form, partial(why, "{L}-smooth"))
                    if not noisy(at.point):
                        # The mean of a value is bounded from above only: potentials count it positively.
                        form = strong_convexity(here, sample, self.mu[i])
                        why = partial(why, "{mu}-strongly convex")
                        yield Constraint(f"{self.name}_{i} convex[{k},{j}]", form, why)

    #: The description of each function, with its own constants.
    _CLASS = "{mu}-strongly convex and {L}-smooth"

    def _why(self, i: int, one: Sample, other: Sample, membership: str) -> str:
        """The source of what holds of two points, which are named by their offsets from the reference point."""
        membership = membership.format(mu=self.mu[i], L=self.L[i])
        from_where = "its minimiser, less its tangent there," if self.anchored else "its reference point"
        return (
            f"{self.name}_{i + 1} is {membership}, between the points {one.point} and {other.point} from {from_where}"
        )


def _proximal(point: Vector) -> Any:
    """The key of a point that is known by a subgradient there, not by the one that is given when it is asked."""
    return "proximal", point.key


#: What a class says of the average of its functions: of a point relative to x*, of f - f* and the gradient there.
Average = Callable[[Vector, Form, Vector | None], Iterator[tuple[str, Form]]]


@dataclass
class OfClass:
    """Functions f_1, ..., f_n of a class as a problem offers them. ``multiplier``: their common gradient at the
    origins.

    ``average``: what is known of the average of the functions beyond the functions themselves.
    """

    record: Record
    multiplier: Vector | None = None
    average: Average | None = None
    d: int = 1

    @property
    def n(self) -> int:
        """The number of functions."""
        return self.record.n

    @property
    def mu(self) -> Array:
        """The mu_i: ``(n,)``."""
        return self.record.mu

    @property
    def L(self) -> Array:
        """The L_i: ``(n,)``."""
        return self.record.L

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i), new vectors unless asked for before: ``(n, 1)`` for ``x (n, 1)``."""
        return self.record.gradient(x)

    def value(self, x: Array) -> Array:
        """f_i(x_i) as the record holds it, new values unless asked for before: ``(n,)`` for ``x (n, 1)``."""
        return self.record.value(x)

    def resolvent(self, shift: Any, target: Array) -> Array:
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i, ``(..., n, 1) -> (..., n, 1)``; ``shift``: one number,
        or one for each function ``(n,)``. A target that is given once is that of all."""
        shifts, target = np.broadcast_to(shift, (self.n,)), np.broadcast_to(target, (*target.shape[:-2], self.n, 1))
        out = np.empty(target.shape, dtype=object)
        for index, vector in np.ndenumerate(target):
            out[index] = self.record.resolvent(index[-2], shifts[index[-2]], ZERO + vector)
        return out

    def constraints(self) -> Iterator[Constraint]:
        """Yield the constraints that the class places on the average, wherever all functions were evaluated.

        The tangents at x* that the record subtracts sum to zero.
        """
        for k, (key, one) in enumerate(self.record.asked[0].items()):
            known = [asked[key] for asked in self.record.asked if key in asked]
            if self.average is None or not key or len(known) < self.n:
                continue
            gradients = [at.gradient for at in known if at.gradient is not None]
            gap = sum((at.value for at in known), _NOTHING) / self.n
            gradient = sum(gradients, ZERO) / self.n if len(gradients) == self.n else None
            for name, form in self.average(one.point, gap, gradient):
                why = f"the class says of the average of its functions, at {one.point} from x*: {name}"
                yield Constraint(f"{name} [{k}]", form, partial(str, why))

    # What ``problems.constrained`` asks: unit Hessians and centres that lead to the common gradient, and the
    # points where each function has it.

    @property
    def H_inverse(self) -> Array:
        """Ones ``(n, 1, 1)``, in the place of what quadratics have there."""
        return np.ones((self.n, 1, 1), dtype=int).astype(object)

    @property
    def c(self) -> Array:
        """The common gradient with a minus, once for each function. Raise ``ValueError`` if there is none."""
        if self.multiplier is None:
            raise ValueError("the constrained minimiser is not part of this setting")
        return repeated(-1 * self.multiplier, self.n)

    def conjugate_gradient(self, slope: Array) -> Array:
        """grad f_i^* at the common gradient, the origins ``(n, 1)``; ``ValueError`` anywhere else."""
        if self.multiplier is None or any(s.key != self.multiplier.key for s in slope.flat):
            raise ValueError("the gradient of a conjugate is known at the common gradient only")
        return self.record.origin


@dataclass
class Dual:
    """Functions f_1, ..., f_n known by their conjugates, which ``record`` holds."""

    record: Record
    mu: Array
    L: Array
    d: int = 1

    @property
    def n(self) -> int:
        """The number of functions."""
        return self.record.n

    def conjugate(self, y: Array) -> Array:
        """f_i^*(y_i), which is what is recorded: ``(n,)`` for ``y (n, 1)``."""
        return self.record.value(y)

    def conjugate_gradient(self, y: Array) -> Array:
        """grad f_i^*(y_i), which is what is recorded: ``(n, 1)`` for ``y (n, 1)``."""
        return self.record.gradient(y)


class Constrained(Protocol):
    """Anything that states what its answers must satisfy."""

    def constraints(self) -> Iterator[Constraint]:
        """Yield the constraints on the answers, as forms that are at most 0."""


class Formal(NamedTuple):
    """An instance on formal vectors, and the records of what its oracles and compressors were asked.

    ``others``: compressors, and anything else that states what its answers satisfy.
    ``loose``: what is known of the class is more than these constraints say.
    """

    instance: Instance
    records: tuple[Record, ...] = ()
    oracle: InexactOracle | None = None
    others: tuple[Constrained, ...] = ()
    loose: bool = False

    def constraints(self, exact: bool) -> list[Constraint]:
        """Return the constraints on the answers given so far; see :meth:`Record.constraints`."""
        found = [constraint for record in self.records for constraint in record.constraints(exact)]
        parts = self.others if self.oracle is None else (self.oracle, *self.others)
        found += [constraint for part in parts for constraint in part.constraints()]
        return found

    @property
    def wider(self) -> bool:
        """True if the constraints, exact or not, allow more than the class, so that feasible points are no
        counterexamples.
        """
        return self.loose or any(record.averaged for record in self.records)

    @property
    def open(self) -> int:
        """Number of points whose value was asked and not the gradient: constraints not ``exact`` allow more there."""
        points = (at for record in self.records for known in record.asked for at in known.values())
        return sum(at.gradient is None for at in points)
