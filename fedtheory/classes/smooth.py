"""Smooth functions that need not be strongly convex, convex or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy

from fedtheory.classes.base import (
    ELL,
    MU,
    Average,
    Bounds,
    Declared,
    FunctionClass,
    OfClient,
    S,
    each,
    extremes,
    f_star,
    parts,
)
from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.growth import steepest_squared
from fedtheory.problems.separable import lojasiewicz_constant


@dataclass(frozen=True, init=False)
class Smooth(FunctionClass):
    """Each f_i, and g where there is one, is L-smooth, convex or not: a property of each f_i, so that the average is
    L-smooth too. The sum has a minimiser, x*.

    There is no mu, and no kappa: where two letters are given, as to other classes, the first says nothing.
    """

    L: sympy.Symbol

    alike = True
    loose = True
    constants: ClassVar[tuple[str, ...]] = ("L",)
    has_g = True

    def __init__(self, *letters: sympy.Symbol, L: sympy.Symbol | None = None, optimum: str = "") -> None:
        """``Smooth(L)``, or ``Smooth(mu, L)``; ``ValueError`` for anything else."""
        given = letters if L is None else (*letters, L)
        if len(given) not in (1, 2):
            raise ValueError(f"Smooth takes one letter, L, got {len(given)}")
        object.__setattr__(self, "L", given[-1])
        object.__setattr__(self, "optimum", optimum)
        self.__post_init__()

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.L}-smooth, convex or not"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return {self.L: "L"}

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(
            Bounds(-ELL, ELL), average=f_star(ELL), client=OfClient("-L", "L", of_g=True), differentiable=True
        )

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance belong to the class."""
        return all(min(part.mu) >= -problem.L and max(part.L) <= problem.L for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: -L and L, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        largest = max(L, -mu)
        return each(-largest, problem.n), each(largest, problem.n)

    def average(self, problem: Problem, params: Any) -> Average:
        """Return what is known of the average f: it is L-smooth, and at least f*."""
        return f_star(max(problem.L, *problem.f.L))


@dataclass(frozen=True)
class SmoothConvex(FunctionClass):
    """Each f_i, and g where there is one, is convex and L-smooth, none needs to be strongly convex; the sum has a
    minimiser, x*, and perhaps others.

    A property of each f_i, so that the average is convex and L-smooth too. The members are flat in some directions, or
    everywhere. There is no mu, and no kappa.
    """

    L: sympy.Symbol

    alike = True
    constants: ClassVar[tuple[str, ...]] = ("L",)
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.L}-smooth"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return {self.L: "L"}

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(
            Bounds(sympy.S.Zero, ELL), client=OfClient("0", "L", of_g=True), convex=True, differentiable=True
        )

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance belong to the class."""
        return all(min(part.mu) >= 0 and max(part.L) <= problem.L for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and L, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(mu, problem.n), each(L, problem.n)


@dataclass(frozen=True)
class SmoothConvexLipschitz(FunctionClass):
    """Each f_i is convex, L-smooth and M-Lipschitz, so that its gradients are of length M at most; the sum has a
    minimiser, x*. A property of each f_i, so that the average has it too.

    ``problem.L`` is L, ``problem.M`` is M. There is no mu, and no kappa. What holds of convex and smooth functions
    between each two points, and the bound of each gradient, are all that is known at finitely many points: conjugates
    are (1/L)-strongly convex, and finite on the ball of radius M alone, and the maximum of the parabolas which one has
    to exceed is such a function there (Taylor, Hendrickx and Glineur, 2017).
    """

    L: sympy.Symbol
    M: sympy.Symbol

    alike = True
    constants: ClassVar[tuple[str, ...]] = ("L",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex, {self.L}-smooth and {self.M}-Lipschitz"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return {self.L: "L", self.M: lambda problem, params: problem.M}

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(convex=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance belong to the class."""
        f, steepest = problem.f, steepest_squared(problem.f, problem.optimum.x)
        return bool(min(f.mu) >= 0 and max(f.L) <= problem.L and max(steepest) <= problem.M**2)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and L, or those of functions that do not keep to it."""
        f = problem.f
        return each(min(0 * problem.L, *f.mu), f.n), each(max(problem.L, *f.L), f.n)

    def steepest(self, problem: Problem, params: Any) -> Any:
        """The square of the length of a gradient, at most: as declared, or as of functions that do not keep to it."""
        return max(problem.M**2, *steepest_squared(problem.f, problem.optimum.x))


@dataclass(frozen=True)
class SmoothOwn(FunctionClass):
    """Each f_i has an r_i-Lipschitz gradient, convex or not, with the r_i ``(n,)`` of a field ``r`` of ``Params``,
    which the setting's ``parameters`` make of the clients' entries ``r``.

    A property of each f_i. Nothing is known of an optimum, and the class has no letters. The members are quadratics,
    and quadratics less a bend.
    """

    constants: ClassVar[tuple[str, ...]] = ()
    optima: ClassVar[tuple[str, ...]] = ("none",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each with an r_i-Lipschitz gradient"

    @property
    def letters(self) -> Mapping[Any, Source]:
        """None: the r_i are parameters."""
        return {}

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(client=OfClient("-params.r", "params.r"), differentiable=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance belong to the class."""
        f = problem.f
        return all(-r <= mu and r >= L for mu, L, r in zip(f.mu, f.L, params.r, strict=True))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        r = np.maximum(params.r, np.maximum(problem.f.L, -problem.f.mu))
        return -r, r


@dataclass(frozen=True)
class WeaklyConvex(FunctionClass):
    """Each f_i has curvatures between -s and r >= s >= 0: f_i + (s/2)|.|^2 is convex, f_i is r-smooth. A property of
    each f_i, so that the average has it too; the average has a minimiser, x*.

    ``mu`` is the letter of s, ``L`` that of r. ``symmetric``: s = r, so that all that is known is that gradients are
    r-Lipschitz. There is no kappa.
    """

    mu: sympy.Symbol
    L: sympy.Symbol
    symmetric: bool = False

    flat: ClassVar[str] = "SmoothConvex({})"
    alike = True
    loose = True
    constants: ClassVar[tuple[str, ...]] = ("L",)

    @property
    def text(self) -> str:
        """The class, in words."""
        if self.symmetric:
            return f"each with an {self.L}-Lipschitz gradient"
        return f"each with curvatures between -{self.mu} and {self.L}"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return {self.mu: lambda problem, params: -problem.mu, self.L: "L"}

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        low, word = (-ELL, "-L") if self.symmetric else (-S, "mu")
        return Declared(Bounds(low, ELL), average=f_star(ELL), client=OfClient(word, "L"), weak=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance belong to the class."""
        # Declared are -s and r.
        ordered = 0 <= -problem.mu <= problem.L
        return bool(ordered and min(problem.f.mu) >= problem.mu and max(problem.f.L) <= problem.L)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: -s and r, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(mu, problem.n), each(L, problem.n)

    def average(self, problem: Problem, params: Any) -> Average:
        """Return what is known of the average f: it is r-smooth, and at least f*."""
        return f_star(max(problem.L, *problem.f.L))


@dataclass(frozen=True)
class PolyakLojasiewicz(FunctionClass):
    """The average f of the f_i is mu-Polyak-Lojasiewicz, |grad f(x)|^2 >= 2 mu (f(x) - f^*), and has a minimiser, x*;
    each f_i is L-smooth, convex or not.

    The condition is of the average: the f_i need not meet it, nor be bounded below. x* is one of perhaps many
    minimisers. ``own``: each f_i is smooth with an L_i of its own, which ``problem.f.L`` gives, and L, of f, is the
    mean of the L_i.

    What is known of the average are these inequalities at every point, and that f is L-smooth: necessary conditions, so
    that a bound that they give holds, and one that they do not give may hold. Among the members are functions that are
    not convex, and flat directions.
    """

    mu: sympy.Symbol
    L: sympy.Symbol
    own: bool = False

    flat: ClassVar[str] = "Smooth({})"
    loose = True

    @property
    def alike(self) -> bool:  # type: ignore[override]
        """True if its letters are all the constants of the class."""
        return not self.own

    @property
    def text(self) -> str:
        """The class, in words."""
        if self.own:
            return f"f {self.mu}-Polyak-Lojasiewicz and {self.L}-smooth, f_i L_i-smooth, {self.L} the mean of the L_i"
        return f"f {self.mu}-Polyak-Lojasiewicz, each f_i {self.L}-smooth"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the two constants, of which the first is at most the other."""
        return self.mu, self.L

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(Bounds(-ELL, ELL, own=self.own), average=_steep(MU, ELL))

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance are known to belong to the class."""
        smooth = _lipschitz(problem.f)
        within = smooth.mean() <= problem.L if self.own else max(smooth) <= problem.L
        return bool(within and lojasiewicz_constant(problem.f, problem.optimum.x) >= problem.mu)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: -L and L, of ``own`` constants -L_i and L_i."""
        smooth = _lipschitz(problem.f)
        largest = smooth if self.own else each(max(problem.L, *smooth), problem.n)
        return -largest, largest

    def mean_square(self, problem: Problem, params: Any) -> Any:
        """The mean of the squares of the Lipschitz constants of the gradients, of ``own`` constants the L_i."""
        return (self.curvatures(problem, params)[1] ** 2).mean()

    def average(self, problem: Problem, params: Any) -> Average:
        """Return what is known of the average f at a point."""
        smooth = _lipschitz(problem.f)
        return _steep(problem.mu, max(problem.L, smooth.mean() if self.own else max(smooth)))


def _steep(mu: Any, L: Any) -> Average:
    def formulas(x: Any, gap: Any, gradient: Any | None) -> Iterator[tuple[str, Any]]:
        """|grad f(x)|^2/(2L) <= f(x) - f* <= |grad f(x)|^2/(2 mu)."""
        if gradient is None:
            yield "f at least f*", -1 * gap
            return
        yield "f at least f*", gradient**2 / (2 * L) - gap
        yield "Polyak-Lojasiewicz", gap - gradient**2 / (2 * mu)

    return formulas


def _lipschitz(f: Any) -> Array:
    """The Lipschitz constants of the gradients, ``(n,)``."""
    found: Array = np.maximum(f.L, -f.mu)
    return found
