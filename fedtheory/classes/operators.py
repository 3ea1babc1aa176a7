"""Monotone, Lipschitz and cocoercive operators: what is asked as a gradient need not be one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import sympy

from fedtheory.classes.base import ELL, MU, WORSE, Declared, FunctionClass, OfOperators, OfTwoConstants, Outside, each
from fedtheory.classes.convex import kinked
from fedtheory.instances import Recipe, check_shape, members, number, numbers, pick
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.operators import GradientOperators, TurningOperators

#: Tangents of half the angles by which operators turn a vector: up to a right angle.
_TURNS = tuple(Fraction(v) for v in ("1/5", "1/3", "1/2", "2/3", "4/5", "9/10", "1"))


@dataclass(frozen=True)
class _Operators(FunctionClass):
    """Operators F_1, ..., F_n, and x*, a zero of their sum, which is there: ``problem.y_star`` are the F_i(x*).

    ``problem.f.gradient`` gives F_i, and ``problem.f.resolvent`` its resolvent. There are no values of functions.
    """

    alike = True
    loose = True
    operators = True
    constants: ClassVar[tuple[str, ...]] = ()
    optima: ClassVar[tuple[str, ...]] = ("stationary",)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the operators of an instance belong to the class."""
        of: Any = problem.f
        facts = self.of_operators
        mu = problem.mu if MU in facts.least.free_symbols else 0
        return bool(
            of.are_monotone(mu)
            and (facts.lipschitz is None or of.are_lipschitz(problem.L))
            and (facts.cocoercive is None or of.are_cocoercive(problem.L))
        )

    @property
    def of_operators(self) -> OfOperators:
        """The inequalities that each of the operators satisfies."""
        raise NotImplementedError

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of functions whose gradients belong to the class, ``(n,)``."""
        known = self.of_operators
        mu = problem.mu if MU in known.least.free_symbols else 0 * problem.mu
        L = math.inf if known.lipschitz is None and known.cocoercive is None else problem.L
        return each(mu, problem.n), each(L, problem.n)

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances with one operator a little less monotone, or that turns vectors a little too far."""
        low, high = self.curvatures(problem, params)
        f = problem.f
        for i in range(f.n):
            here = (np.arange(f.n) == i)[:, None]
            h = np.where(here, low[:, None] - WORSE, low[:, None]) + np.zeros((f.n, f.d), dtype=int)
            b, x, y = 0 * low, problem.x_star, problem.y_star
            worse: Any = TurningOperators(h, b, x, y)
            yield "less monotone functions", replace(problem, f=worse), params
            if high[0] < math.inf and f.d > 1:
                turned: Any = TurningOperators(
                    0 * h + low[0], b + np.where(here[:, 0], high * (1 + WORSE), 0 * high), x, y
                )
                yield "functions that turn too far", replace(problem, f=turned), params


@dataclass(frozen=True)
class Monotone(_Operators):
    """Each F_i is maximally monotone, and may have several values at a point; one of them is returned: no letters.

    Args:
        optimum: What x* is, a zero of the sum of the F_i, which is there: "stationary".

    Examples:
        >>> import fedtheory as ft
        >>> ft.Monotone().text
        'each a monotone operator'
    """

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each a monotone operator"

    @property
    def of_operators(self) -> OfOperators:
        """The inequalities that each of the operators satisfies."""
        return OfOperators(sympy.S.Zero)

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(operators=self.of_operators)


@dataclass(frozen=True)
class StronglyMonotone(_Operators):
    r"""Each F_i is maximally monotone with $\langle u - v, x - y \rangle \ge \mu |x - y|^2$ for values u at x and v at
    y.

    Args:
        mu: The letter of the constant of strong monotonicity.
        optimum: What x* is, a zero of the sum of the F_i, which is there: "stationary".

    Examples:
        >>> import fedtheory as ft
        >>> ft.StronglyMonotone(ft.letters("mu")).text
        'each a mu-strongly monotone operator'
    """

    mu: sympy.Symbol

    flat: ClassVar[str] = "Monotone()"
    constants: ClassVar[tuple[str, ...]] = ("mu",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each a {self.mu}-strongly monotone operator"

    @property
    def of_operators(self) -> OfOperators:
        """The inequalities that each of the operators satisfies."""
        return OfOperators(MU)

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(operators=self.of_operators)


@dataclass(frozen=True)
class MonotoneLipschitz(_Operators):
    """Each F_i is monotone and L-Lipschitz.

    Args:
        L: The letter of the Lipschitz constant.
        optimum: What x* is, a zero of the sum of the F_i, which is there: "stationary".

    Examples:
        >>> import fedtheory as ft
        >>> ft.MonotoneLipschitz(ft.letters("L")).text
        'each a monotone and L-Lipschitz operator'
    """

    L: sympy.Symbol

    constants: ClassVar[tuple[str, ...]] = ("L",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each a monotone and {self.L}-Lipschitz operator"

    @property
    def of_operators(self) -> OfOperators:
        """The inequalities that each of the operators satisfies."""
        return OfOperators(sympy.S.Zero, lipschitz=ELL)

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(operators=self.of_operators)


@dataclass(frozen=True)
class StronglyMonotoneLipschitz(_Operators, OfTwoConstants):
    """Each F_i is mu-strongly monotone and L-Lipschitz.

    Args:
        mu: The letter of the constant of strong monotonicity.
        L: The letter of the Lipschitz constant.
        optimum: What x* is, a zero of the sum of the F_i, which is there: "stationary".

    Examples:
        >>> import fedtheory as ft
        >>> ft.StronglyMonotoneLipschitz(*ft.letters("mu L")).text
        'each a mu-strongly monotone and L-Lipschitz operator'
    """

    flat: ClassVar[str] = "MonotoneLipschitz({})"
    constants: ClassVar[tuple[str, ...]] = ("mu", "L")

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each a {self.mu}-strongly monotone and {self.L}-Lipschitz operator"

    @property
    def of_operators(self) -> OfOperators:
        """The inequalities that each of the operators satisfies."""
        return OfOperators(MU, lipschitz=ELL)

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(operators=self.of_operators)


@dataclass(frozen=True)
class Cocoercive(_Operators):
    r"""Each F_i is cocoercive: $|F_i(x) - F_i(y)|^2 \le L \langle F_i(x) - F_i(y), x - y \rangle$, and so monotone and
    L-Lipschitz.

    Args:
        L: The letter of the reciprocal of the modulus.
        optimum: What x* is, a zero of the sum of the F_i, which is there: "stationary".

    Examples:
        >>> import fedtheory as ft
        >>> ft.Cocoercive(ft.letters("L")).text
        'each a 1/L-cocoercive operator'
    """

    L: sympy.Symbol

    constants: ClassVar[tuple[str, ...]] = ("L",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each a 1/{self.L}-cocoercive operator"

    @property
    def of_operators(self) -> OfOperators:
        """The inequalities that each of the operators satisfies."""
        return OfOperators(sympy.S.Zero, cocoercive=ELL)

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(operators=self.of_operators)


@sampler.register(_Operators)
class OperatorSampler(Sampler):
    """Operators that turn vectors, as far as the class allows, and gradients."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the operators of a random member."""
        known, size = self.of.of_operators, members.scale(rng)
        strong = MU in known.least.free_symbols
        bounded = known.lipschitz is not None or known.cocoercive is not None
        turns = d > 1 and bool(pick(rng, (True, True, False)))
        t = pick(rng, _TURNS[:-1])
        # Operators of length L that turn by an angle of half tangent t have the least eigenvalue 2 mu of A + A'.
        mu = size * (1 - t**2) / (1 + t**2) if turns and bounded else size / members.condition(rng)
        mu = mu if strong else Fraction(0)
        if bounded:
            recipe = members.draw_functions(rng, n, d, (mu, size), False)
        else:
            each_of = tuple(kinked(rng, d, mu, size * pick(rng, (1, 1, 10))) for _ in range(n))
            recipe = {"d": d, "x": tuple(Fraction(int(v), 4) for v in rng.integers(-12, 13, d)), "clients": each_of}
        if turns:
            clients = [
                {"h": (a,) * d, "skew": b, "y": client["y"]}
                for client in recipe["clients"]
                for a, b in [self._turned(rng, mu, size, bounded, t)]
            ]
            recipe = {**recipe, "clients": tuple(clients)}
        share = pick(rng, members.SHARES)
        constants = {"mu": mu * share, "L": size / share}
        return {**recipe, **{str(letter): constants[name] for letter, name in self.of.letters.items()}}

    def _turned(
        self, rng: np.random.Generator, mu: Fraction, size: Fraction, bounded: bool, t: Fraction
    ) -> tuple[Fraction, Fraction]:
        """The numbers a and b of an operator a + b J, mostly as far from a gradient as the class allows."""
        sign = pick(rng, (1, 1, -1))
        if not bounded:
            return mu + pick(rng, (0, 0, 0, 1)) * size, sign * size * pick(rng, (0, 1, 1, 10))
        if self.of.of_operators.cocoercive is not None:
            # These lie on a circle, through 0 and L.
            t = pick(rng, (*_TURNS, *(1 / v for v in _TURNS)))
            return pick(rng, ((size / (1 + t**2), sign * size * t / (1 + t**2)),) * 4 + ((size, 0), (Fraction(0), 0)))
        t = t if mu else Fraction(1)
        far = size * (1 - t**2) / (1 + t**2), sign * size * 2 * t / (1 + t**2)
        return pick(rng, (far,) * 4 + ((mu, Fraction(0)), (size, Fraction(0)), (far[0], far[1] / 2)))

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the operators of a recipe, 0 and infinity where there is none; ``ValueError`` unless
        0 < mu <= L."""
        found = {name: recipe[str(letter)] for letter, name in self.of.letters.items()}
        check_shape(recipe["d"], *found.values())
        if len(found) == 2 and found["mu"] > found["L"]:
            raise ValueError(f"operators are at most as monotone as they are steep: {self.of.mu} <= {self.of.L}")
        mu, L = found.get("mu", Fraction(0)), found.get("L")
        return number(mu, exact), math.inf if L is None else number(L, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The operators of ``parts`` with the values ``y (..., n, d)`` at ``x (..., d)``."""
        found: Any
        if any("skew" in c for c in parts):
            h, b = numbers([c["h"] for c in parts], exact), numbers([c.get("skew", 0) for c in parts], exact)
            found = TurningOperators(h, b, x, y)
        else:
            found = GradientOperators(members.curved(parts, x, y, exact))
        return found
