"""EF21, ADIANA, 5GCS-CC and CompressedScaffnew on vectors known only by their inner products.

They need more than the other rivals: contractive compressors, two messages a step, proximal steps, and masks that act
on coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np

from fedtheory.algorithms import adiana, compressed_scaffnew, ef21, fivegcs_cc
from fedtheory.instances import Instance
from fedtheory.optimum import Optimum
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from verify.pep.functions import Formal, Primal, Record, repeated, rows, rows_of_sum_zero
from verify.pep.gram import ZERO, Form, Number, Sample, interpolation, row, value
from verify.pep.posing.base import batch, curvatures, each, make_problem
from verify.pep.programs import Constraint
from verify.pep.randomness import Contractions, Messages

# EF21


@dataclass
class SmoothAverage(Primal):
    """Smooth functions f_i, convex or not, whose average f has the Polyak-Lojasiewicz constant ``pl``.

    ``declared (n,)``: numbers mu_i with the mean ``pl``, as the claims ask for them.
    """

    declared: Array = field(default_factory=lambda: np.zeros(0, dtype=object))

    @property
    def mu(self) -> Array:
        return self.declared

    def constraints(self) -> Iterator[Constraint]:
        """|grad f(x)|^2/(2L) <= f(x) - f* <= |grad f(x)|^2/(2 mu) wherever all gradients were asked, L the mean L_i."""
        mu, L = self.declared.sum() / self.n, self.record.L.sum() / self.n
        for k, key in enumerate(self.record.asked[0]):
            known = [asked[key] for asked in self.record.asked if key in asked]
            gradients = [at.gradient for at in known if at.gradient is not None]
            if not key or len(gradients) < self.n:
                continue
            # The tangents at x* that were subtracted have the sum zero.
            gradient = sum(gradients, ZERO) / self.n
            gap = sum((at.value for at in known), Form({}, {}, 0)) / self.n
            yield Constraint(f"f at least f* [{k}]", gradient**2 / (2 * L) - gap)
            yield Constraint(f"Polyak-Lojasiewicz [{k}]", gap - gradient**2 / (2 * mu))


def _ef21(given: Instance) -> Formal:
    """The f_i are smooth and need not be convex; of f only the Polyak-Lojasiewicz inequality is used.

    That is more than the class of the setting. The descent does not need the inequality either.
    """
    problem, params = given.problem, given.params
    n, x_star, h_star = problem.n, row("x*"), rows_of_sum_zero("h*", problem.n)
    record = Record("f", -problem.f.L, problem.f.L, repeated(x_star, n), h_star)
    functions = SmoothAverage(record, declared=problem.f.mu)
    formal = make_problem(functions, None, (problem.mu, problem.L), x_star, h_star)
    compressor = Contractions(min(params.alpha, params.compressor.alpha))
    asked = params._replace(compressor=compressor)

    def at(theta: Array) -> tuple[Problem, ef21.State]:
        return formal, ef21.init(formal, asked, batch(x_star + rows("x", 1)[0]), batch(h_star + rows("g", n)))

    return Formal(Instance(formal, asked, 0, at), (record,), others=(compressor, functions), loose=True)


def _curvatures(problem: Problem) -> tuple[Array, Array]:
    """mu and L of every function."""
    mu, L = curvatures(problem)
    return each(mu, problem.n), each(L, problem.n)


# ADIANA


def _adiana(given: Instance) -> Formal:
    """f(y) after the step is an expectation over the noise in y, bounded by smoothness: more than the class."""
    problem, params = given.problem, given.params
    n, x_star, h_star = problem.n, row("x*"), rows_of_sum_zero("h*", problem.n)
    record = Record("f", *_curvatures(problem), repeated(x_star, n), h_star)
    family = Messages(n, params.compressors.omega, params.compressors.joint)
    formal = make_problem(Primal(record), None, (problem.mu, problem.L), x_star, h_star)
    asked = params._replace(compressors=family)

    def at(theta: Array) -> tuple[Problem, adiana.State]:
        y, z, w = (batch(x_star + rows(name, 1)[0]) for name in "yzw")
        return formal, adiana.init(formal, asked, y, z, w, batch(h_star + rows("h", n)))

    return Formal(Instance(formal, asked, 0, at), (record,), others=(family,))


# 5GCS-CC


class Proximal(Primal):
    """Functions of a class, whose proximal points are new points at which the gradient is known."""

    def resolvent(self, shift: Number, target: Array) -> Array:
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i, ``(..., n, 1) -> (..., n, 1)``."""
        out = np.empty(target.shape, dtype=object)
        for index, vector in np.ndenumerate(target):
            out[index] = self.record.resolvent(index[-2], shift, ZERO + vector)
        return out


def _5gcs_cc(given: Instance) -> Formal:
    problem, params = given.problem, given.params
    n, x_star, h_star = problem.n, row("x*"), rows_of_sum_zero("h*", problem.n)
    record = Record("f", *_curvatures(problem), repeated(x_star, n), h_star)
    family = Messages(n, max(params.omega, params.compressors.omega), params.compressors.joint)
    formal = make_problem(Proximal(record), None, (problem.mu, problem.L), x_star, h_star)
    asked = params._replace(compressors=family)

    def at(theta: Array) -> tuple[Problem, fivegcs_cc.State]:
        u_star = fivegcs_cc.fixed_point(formal, asked).u
        return formal, fivegcs_cc.init(formal, asked, batch(x_star + rows("x", 1)[0]), batch(u_star + rows("u", n)))

    return Formal(Instance(formal, asked, 0, at), (record,), others=(family,))


# CompressedScaffnew


@dataclass
class Coordinates:
    """n functions of a class, of vectors in d parts, of which gradients can be asked.

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
        return len(self.mu)

    @property
    def d(self) -> int:
        return len(self.origin)

    def gradient(self, x: Array) -> Array:
        """``(..., n, d) -> (..., n, d)``."""
        x = np.broadcast_to(x, (*x.shape[:-2], self.n, self.d))
        out = np.empty(x.shape, dtype=object)
        for index in np.ndindex(x.shape[:-1]):
            i = index[-1]
            point = np.array([ZERO + v for v in x[index] - self.origin], dtype=object)
            key = tuple(v.key for v in point)
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

    def constraints(self) -> Iterator[Constraint]:
        """Every pair of points is interpolated."""
        for i in range(self.n):
            if self.mu[i] == self.L[i]:
                continue
            for (k, one), (j, other) in permutations(enumerate(self.asked[i].values()), 2):
                # Each part has its share of the value, so that the sum over the parts is the form of the whole.
                pairs = zip(_samples(*one), _samples(*other), strict=True)
                forms = [interpolation(a, b, self.mu[i], self.L[i]) for a, b in pairs]
                yield Constraint(f"f_{i}[{k},{j}]", sum(forms, Form({}, {}, 0)))


def _samples(point: Array, gradient: Array, height: Form) -> list[Sample]:
    return [Sample(x, g, height / len(point)) for x, g in zip(point, gradient, strict=True)]


def _parts(name: str, n: int, d: int, balanced: bool = False) -> Array:
    """``(n, d)`` new rows, with sum zero over the clients if ``balanced``."""
    make = rows_of_sum_zero if balanced else rows
    return np.concatenate([make(f"{name} part {j}", n) for j in range(d)], axis=1)


def _compressed_scaffnew(given: Instance) -> Formal:
    """The masks are those of the instance's dimension d, and each acts on one of d parts of a vector of any length.

    Nothing depends on d for the method itself: step and potential are sums over coordinates, so that an expectation
    involves the masks of one coordinate at a time, and these are uniformly random sets of s clients whatever d is. A
    step that mixes coordinates is refused before (:mod:`verify.pep.coordinates`).
    """
    problem, params = given.problem, given.params
    n, d = problem.n, problem.d
    origin, slope = _parts("x*", 1, d)[0], _parts("h*", n, d, balanced=True)
    functions: Any = Coordinates(*_curvatures(problem), origin, slope)
    formal = Problem(functions, None, (problem.mu, problem.L), Optimum(origin, slope, 0.0))

    def at(theta: Array) -> tuple[Problem, compressed_scaffnew.State]:
        x, h = origin + _parts("x", n, d), slope + _parts("h", n, d, balanced=True)
        return formal, compressed_scaffnew.State(batch(x), batch(h))

    return Formal(Instance(formal, params, 0, at), others=(functions,))


SETTINGS = {"ef21": _ef21, "adiana": _adiana, "5gcs-cc": _5gcs_cc, "compressed-scaffnew": _compressed_scaffnew}
