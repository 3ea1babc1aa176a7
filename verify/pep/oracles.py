"""Compressors and oracles whose errors are known only by moments, as an algorithm sees them.

What one returns is the exact answer plus a new row (:mod:`verify.pep.gram`) for its error; each states what its errors
satisfy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import count, permutations
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.oracles import Answer
from fedtheory.randomness import Constant, Distribution, Draw, Size
from verify.pep.gram import ZERO, Form, Number, Sample, Vector, interpolation, row, value
from verify.pep.programs import Constraint

#: The block of compression errors, which are uncorrelated with everything before the step; or how its name begins,
#: where errors that are uncorrelated with each other have one each.
NOISE = "noise"


def noisy(vector: Vector) -> bool:
    """Return True if a vector contains compression errors."""
    return any(r.block.startswith(NOISE) for r in vector.coefficients)


@dataclass
class Compressors:
    """n compressors with the constants of eqs. (2) and (3), known by the first two moments of what they return."""

    n: int
    omega: Number
    omega_av: Number
    joint: str
    applied: dict[Any, Array] = field(default_factory=dict)
    points: list[Array] = field(default_factory=list)

    @property
    def draws(self) -> Distribution:
        """No draw: only moments are known."""
        return Constant()

    def apply(self, draw: Draw, x: Array) -> Array:
        """x_i plus an error of mean zero, ``(..., n, 1) -> (..., n, 1)``."""
        out = np.empty(x.shape, dtype=object)
        for index in np.ndindex(x.shape[:-2]):
            key = tuple(v.key for v in x[index].flat)
            if any(noisy(v) for v in x[index].flat):
                raise ValueError("a compressed vector cannot be compressed again: only moments of the noise are known")
            if key not in self.applied:
                if self.applied:
                    # Two messages in one step would need the covariance of their errors.
                    raise ValueError("only one compression a step can be modelled")
                self.points.append(x[index])
                noise = np.array([[row(f"noise_{i}", NOISE)] for i in range(self.n)], dtype=object)
                self.applied[key] = noise if self.omega != 0 else 0 * noise
            out[index] = x[index] + self.applied[key]
        return out

    def constraints(self) -> Iterator[Constraint]:
        """E|error_i|^2 <= omega |x_i|^2, and the same for the mean with omega_av."""
        for x, noise in zip(self.points, self.applied.values(), strict=True):
            if self.omega == 0:
                continue
            for i, (e, v) in enumerate(zip(noise.flat, x.flat, strict=True)):
                why = f"E|C_{i + 1}(v) - v|^2 <= {self.omega} |v|^2 of what client {i + 1} sends, v = {v}"
                yield Constraint(f"variance_{i}", e**2 - self.omega * v**2, partial(str, why))
            mean = noise.sum() / self.n
            why = f"E|mean of C_i(v_i) - v_i|^2 <= {self.omega_av} times the mean of |v_i|^2, of all messages together"
            form = mean**2 - self.omega_av / self.n * (x**2).sum()
            yield Constraint("joint variance", form, partial(str, why))


@dataclass(frozen=True)
class NumberedDraws:
    """A source of randomness where only its identity matters: each time it is drawn from it has another number.

    A draw is that number, ``shape`` times.
    """

    shape: Size
    numbers: Iterator[int]

    @property
    def count(self) -> int:
        """One outcome, as only its identity matters."""
        return 1

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """The number of this draw, ``(*size, *shape)``."""
        return np.full((*size, *self.shape), next(self.numbers))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """The number of this draw, ``(1, *shape)``, with probability 1."""
        return np.full((1, *self.shape), next(self.numbers)), np.array([Fraction(1)], dtype=object)


def _with_errors(draw: Draw, x: Array, error: Callable[[int, int, Vector], Vector]) -> Array:
    """x plus ``error(number of the draw, client, vector)``, for ``x (..., n, 1)``."""
    numbers = np.broadcast_to(draw[..., 0], x.shape[:-1])
    out = np.empty(x.shape, dtype=object)
    for index in np.ndindex(x.shape):
        out[index] = x[index] + error(int(numbers[index[:-1]]), index[-2], ZERO + x[index])
    return out


@dataclass
class Messages:
    """n unbiased compressors in U(omega) that may send several messages a step; or, with a ``variance``, what has an
    error of mean zero and of a variance of omega |x|^2 + ``variance`` at most.

    Messages drawn separately have uncorrelated errors; so have those of different clients, if ``joint`` is
    "independent". Nothing is known of how the errors of two vectors compressed by one draw are correlated.
    """

    n: int
    omega: Number
    joint: str
    variance: Number = 0
    errors: dict[Any, tuple[Vector, Vector]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def omega_av(self) -> Number:
        """The constant of the mean of all messages: omega/n if they are independent, else omega."""
        return self.omega / self.n if self.joint == "independent" else self.omega

    @property
    def draws(self) -> Distribution:
        """A number for the message of each client: ``(n, 1)``."""
        return NumberedDraws((self.n, 1), self.numbers)

    def apply(self, draw: Draw, x: Array) -> Array:
        """x_i plus an error of mean zero, ``(..., n, 1) -> (..., n, 1)``."""
        return _with_errors(draw, x, self._error)

    def _error(self, number: int, i: int, x: Vector) -> Vector:
        if noisy(x):
            raise ValueError("a compressed vector cannot be compressed again: only moments of the noise are known")
        if self.variance == 0 and (self.omega == 0 or not x.coefficients):
            return ZERO
        key = (number, i, x.key)
        if key not in self.errors:
            block = f"{NOISE} {number}_{i}" if self.joint == "independent" else f"{NOISE} {number}"
            self.errors[key] = (x, row(f"noise({len(self.errors)})_{i}", block))
        return self.errors[key][1]

    def constraints(self) -> Iterator[Constraint]:
        """E|error|^2 <= omega |x|^2 + variance for every message."""
        for k, (x, error) in enumerate(self.errors.values()):
            more = f" + {self.variance}" if self.variance else ""
            why = f"E|C(v) - v|^2 <= {self.omega} |v|^2{more} of the message v = {x}"
            yield Constraint(f"variance[{k}]", error**2 - self.omega * x**2 - self.variance, partial(str, why))


@dataclass
class Contractions:
    """Any compressors with E|C(x) - x|^2 <= (1 - alpha) |x|^2, biased or not, deterministic or not.

    Rows are random vectors here and inner products expectations: errors may be correlated with everything.
    """

    alpha: Number
    errors: dict[Any, tuple[Vector, Vector]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def draws(self) -> Distribution:
        """The draws of one client's compressor."""
        return NumberedDraws((1,), self.numbers)

    def apply(self, draw: Draw, x: Array) -> Array:
        """x_i plus an error, ``(..., n, 1) -> (..., n, 1)``, for the draws of n clients."""
        return _with_errors(draw, x, self._error)

    def _error(self, number: int, i: int, x: Vector) -> Vector:
        if noisy(x):
            raise ValueError("a noisy vector is compressed: the error may be correlated with the noise")
        if self.alpha == 1 or not x.coefficients:
            return ZERO
        key = (number, i, x.key)
        if key not in self.errors:
            self.errors[key] = (x, row(f"error({len(self.errors)})_{i}"))
        return self.errors[key][1]

    def constraints(self) -> Iterator[Constraint]:
        """E|error|^2 <= (1 - alpha) |x|^2 for every message."""
        for k, (x, error) in enumerate(self.errors.values()):
            why = f"E|C(v) - v|^2 <= (1 - {self.alpha}) |v|^2 of the message v = {x}"
            yield Constraint(f"contraction[{k}]", error**2 - (1 - self.alpha) * x**2, partial(str, why))


@dataclass
class InexactOracle:
    """A ``delta``-inexact oracle of grad f_1^*, ..., grad f_n^*, known by nothing else (FedDCD, Definition 5.1).

    Rows are random vectors here and inner products expectations, so that its own randomness is allowed for. A call is
    identified by the point and the guess: ``errors`` holds (i, guess - gradient, answer - gradient) by client and both.
    """

    delta: Number
    errors: dict[Any, tuple[int, Vector, Vector]] = field(default_factory=dict)
    contraction: None = None

    def draws(self, f: Any) -> Distribution:
        """No draw: its randomness is part of what inner products mean."""
        return Constant()

    def answer(self, f: Any, y: Array, start: Array, draw: Draw) -> Answer:
        """``y``, ``start (..., n, 1)`` -> answers of that shape, each with a new row for its error."""
        gradient, start = np.broadcast_arrays(f.conjugate_gradient(y), start)
        y = np.broadcast_to(y, gradient.shape)
        out = np.empty(gradient.shape, dtype=object)
        for index in np.ndindex(out.shape):
            out[index] = gradient[index] + self._error(index[-2], y[index], gradient[index], start[index])
        return Answer(out, np.zeros(out.shape[:-1], dtype=int))

    def _error(self, i: int, y: Any, gradient: Any, start: Any) -> Vector:
        guess = ZERO + start - gradient
        if noisy(ZERO + y) or noisy(guess):
            raise ValueError("an oracle is asked about what is noisy: its error may be correlated with the noise")
        if not guess.coefficients:
            return ZERO
        key = (i, (ZERO + y).key, (ZERO + start).key)
        if key not in self.errors:
            self.errors[key] = (i, guess, row(f"error({len(self.errors)})_{i}"))
        return self.errors[key][2]

    def constraints(self) -> Iterator[Constraint]:
        """E|answer - gradient|^2 <= delta |guess - gradient|^2 for every call."""
        for k, (i, guess, error) in enumerate(self.errors.values()):
            why = f"E|answer - gradient|^2 <= {self.delta} |guess - gradient|^2, of the oracle of client {i + 1}"
            yield Constraint(f"oracle_{i}[{k}]", error**2 - self.delta * guess**2, partial(str, why))


# Functions of vectors in parts, for methods that draw coordinates.


@dataclass
class Coordinates:
    """n functions of a class, of vectors in d parts, with gradients to query.

    ``origin (d,)``, ``slope (n, d)``: the optimum and the gradients there. Inner products are sums over the parts.
    """

    mu: Array
    L: Array
    origin: Array
    slope: Array
    asked: list[dict[Any, tuple[Array, Array, Form]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        nowhere = np.array([ZERO] * self.d, dtype=object)
        known = (nowhere, nowhere, Form({}, {}, 0))
        self.asked = [{tuple(v.key for v in nowhere): known} for _ in range(self.n)]

    @property
    def n(self) -> int:
        """The number of functions."""
        return len(self.mu)

    @property
    def d(self) -> int:
        """The number of parts of a vector."""
        return len(self.origin)

    def gradient(self, x: Array) -> Array:
        """``(..., n, d) -> (..., n, d)``."""
        x = np.broadcast_to(x, (*x.shape[:-2], self.n, self.d))
        out = np.empty(x.shape, dtype=object)
        keys: dict[int, Any] = {}
        for index in np.ndindex(x.shape[:-1]):
            i = index[-1]
            point = np.array([ZERO + v for v in x[index] - self.origin], dtype=object)
            key = tuple(v.key for v in point)
            if keys.setdefault(i, key) != key:
                # An entry of the gradient depends on the coins of all coordinates then, and not on its own alone.
                raise ValueError("a gradient is taken at a point that depends on which coordinates are drawn")
            if key not in self.asked[i]:
                k = len(self.asked[i])
                new = np.array([row(f"grad f({k})_{i} part {j}") for j in range(self.d)], dtype=object)
                self.asked[i][key] = (
                    point,
                    self.L[i] * point if self.mu[i] == self.L[i] else new,
                    value(f"f({k})_{i}"),
                )
            out[index] = self.slope[i] + self.asked[i][key][1]
        return out

    def value(self, x: Array) -> Array:
        """``ValueError``: each part has a share of the value, and nothing is known about one share."""
        raise ValueError("no function values are posed where coordinates are drawn")

    def constraints(self) -> Iterator[Constraint]:
        """Every pair of points is interpolated."""
        for i in range(self.n):
            if self.mu[i] == self.L[i]:
                continue
            for (k, one), (j, other) in permutations(enumerate(self.asked[i].values()), 2):
                # Each part has its share of the value, so that the sum over the parts is the form of the whole.
                pairs = zip(_samples(*one), _samples(*other), strict=True)
                forms = [interpolation(a, b, self.mu[i], self.L[i]) for a, b in pairs]
                form = sum(forms, Form({}, {}, 0))
                why = (
                    f"f_{i + 1} is {self.mu[i]}-strongly convex and {self.L[i]}-smooth, between its points {k} and {j}"
                )
                yield Constraint(f"f_{i}[{k},{j}]", form, partial(str, why))


def _samples(point: Array, gradient: Array, height: Form) -> list[Sample]:
    return [Sample(x, g, height / len(point)) for x, g in zip(point, gradient, strict=True)]
