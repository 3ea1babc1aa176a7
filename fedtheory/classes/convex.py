"""Convex functions that need not be smooth, and functions beside a convex g of which proximal points are asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import ELL, MU, Bounds, Declared, FunctionClass, each, parts
from fedtheory.classes.blocks import BlockSmoothConvex
from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class Convex(FunctionClass):
    """Each f_i, and g where there is one, is closed and convex, smooth or not; the sum has a minimiser, x*.

    ``problem.f.gradient`` gives a subgradient, the same whenever it is asked at one point; y* are subgradients at x*
    that balance, which need not be those given. ``problem.f.resolvent`` gives proximal points. There are no letters.
    """

    alike = True
    constants: ClassVar[tuple[str, ...]] = ()
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each convex"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """None."""
        return {}

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(Bounds(sympy.S.Zero, None), convex=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance are convex."""
        return all(min(part.mu) >= 0 for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0, or what functions that do not keep to it have, and no
        largest one."""
        least = min(0 * problem.mu, *(v for part in parts(problem) for v in part.mu))
        return each(least, problem.n), each(math.inf, problem.n)


@dataclass(frozen=True)
class StronglyConvex(FunctionClass):
    """Each f_i, and g where there is one, is closed and mu-strongly convex, smooth or not.

    Subgradients and proximal points are those of :class:`Convex`. There is no L, and no kappa.
    """

    mu: sympy.Symbol

    alike = True
    flat: ClassVar[str] = "Convex()"
    constants: ClassVar[tuple[str, ...]] = ("mu",)
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letter of the class, and where its value comes from."""
        return {self.mu: "mu"}

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(Bounds(MU, None), convex=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance have the declared constant."""
        return all(min(part.mu) >= problem.mu for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: mu, or what functions that do not keep to it have, and no
        largest one."""
        least = min(problem.mu, *(v for part in parts(problem) for v in part.mu))
        return each(least, problem.n), each(math.inf, problem.n)


@dataclass(frozen=True)
class ConvexLipschitz(FunctionClass):
    """Each f_i is convex and M-Lipschitz, so that its subgradients are of length M at most; the sum has a minimiser,
    x*. A property of each f_i, so that the average has it too.

    Subgradients and proximal points are those of :class:`fedtheory.classes.convex.Convex`. ``M``: the letter of the
    Lipschitz constant of the functions, which a problem of this class declares in the place of a smoothness constant:
    ``problem.L`` is M. There is no mu, and no kappa.
    """

    M: sympy.Symbol

    alike = True
    constants: ClassVar[tuple[str, ...]] = ()

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.M}-Lipschitz"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letter of the class, and where its value comes from."""
        return {self.M: "L"}

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(Bounds(sympy.S.Zero, None, steepest=ELL**2), convex=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance are convex and Lipschitz with the declared constant."""
        return bool(min(problem.f.mu) >= 0 and max(_steepest_squared(problem.f)) <= problem.L**2)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0, or what functions that do not keep to it have, and no
        largest one."""
        return each(min(0 * problem.mu, *problem.f.mu), problem.n), each(math.inf, problem.n)

    def steepest(self, problem: Problem, params: Any) -> Any:
        """The square of the length of a subgradient, at most: as declared, or as of functions that do not keep to
        it."""
        return max(problem.L**2, *_steepest_squared(problem.f))


def _steepest_squared(f: Any) -> Any:
    """The squares of the Lipschitz constants, ``(n,)``: infinite for functions that state none."""
    return getattr(f, "steepest_squared", each(math.inf, f.n))


@dataclass(frozen=True)
class Composite(FunctionClass):
    """f_1, ..., f_n of the class ``of``, beside a closed and convex g, smooth or not: minimise (1/n) sum f_i + g.

    ``problem.g.resolvent(1 / gamma, x[..., None, :] / gamma)[..., 0, :]`` is the proximal point at x for the stepsize
    gamma; ``problem.g.gradient`` gives a subgradient. x* is a minimiser of the whole. ``ValueError`` for a class that
    says something of the average of the f_i, which is least at x* only where there is no g.
    """

    of: FunctionClass

    has_g = True
    with_g = True

    def __post_init__(self) -> None:
        super().__post_init__()
        of: Any = self.of
        if not isinstance(of, FunctionClass) or isinstance(of, Composite):
            raise ValueError(f"a composite problem is made of a class of functions, got {of!r:.60}")
        own = type(of).average is not FunctionClass.average or type(of).steepest is not FunctionClass.steepest
        if own or of.conjugates or of.optimum != "consensus" or isinstance(of, BlockSmoothConvex):
            raise ValueError(f"{type(of).__name__} requires functions without a regulariser g")

    @property
    def constants(self) -> tuple[str, ...]:  # type: ignore[override]
        """The constants of the problem that the class has."""
        return self.of.constants

    @property
    def alike(self) -> bool:  # type: ignore[override]
        """True if the letters are all the constants of the class of the f_i."""
        return self.of.alike

    @property
    def loose(self) -> bool:  # type: ignore[override]
        """True if the formulas state less than all that is known of the class."""
        return self.of.loose

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"{self.of.text}, g convex"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class of the f_i, and where their values come from."""
        return self.of.letters

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol] | None:
        """The letters of the least and the largest curvature of the f_i, where their class has both."""
        return self.of.ends

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(
            self.of.declares.bounds, of_g=Bounds(sympy.S.Zero, None), differentiable=self.of.declares.differentiable
        )

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the f_i of an instance belong to their class, and g is convex."""
        alone = self.of.contains(replace(problem, g=None), params)
        return alone and problem.g is not None and min(problem.g.mu) >= 0

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return self.of.curvatures(replace(problem, g=None), params)

    def curvatures_of_g(self, problem: Problem, params: Any) -> tuple[Any, Any]:
        """Least and largest curvature of g: 0, or what one that does not keep to it has, and no largest one."""
        least = Fraction(0) if problem.g is None else min(0 * problem.mu, *problem.g.mu)
        return least, math.inf
