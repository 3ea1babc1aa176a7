"""Functions beside a convex one that is taken at K x, with K a linear operator of known norm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import sympy

from fedtheory.classes.base import Declared, Linear, OfAnother, Outside
from fedtheory.classes.composite import Composite
from fedtheory.classes.convex import Convex, StronglyConvex, kinked
from fedtheory.classes.sets import turned_axes
from fedtheory.classes.smooth import SmoothConvex
from fedtheory.classes.strongly_convex import SmoothStronglyConvex
from fedtheory.instances import Recipe, Source, check_shape, members, number, numbers, pick, small
from fedtheory.instances.members import InnerSampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.coupling import Coupling, LinearOperator

#: Classes of convex functions that may stand beside h(K x), with a g or without.
_BESIDE = (SmoothStronglyConvex, SmoothConvex, StronglyConvex, Convex)
#: Tangents of half the angles by which operators turn vectors, one of (3, 4, 5) among them.
_TURNS = tuple(Fraction(v) for v in (0, 0, 1, "1/2", "1/3", "-2/3"))


@dataclass(frozen=True)
class Coupled(OfAnother):
    """Convex f_1, ..., f_n of the class ``of``, a linear operator K with |K x| <= k |x|, and any convex h: minimise
    (1/n) sum f_i(x) + h(K x), with a g too where ``of`` is a :class:`Composite`.

    ``problem.K(x)`` is K x for ``x (..., d)``, and ``problem.K.T(y)`` is K' y. ``problem.h.resolvent(s, y[..., None,
    :])[..., 0, :]`` is the root u of s u + (a subgradient of h at u) = y, so that y - s u is the proximal point of h*
    at y for the stepsize s. (x*, u*) is a saddle point: u*, which is ``problem.u_star``, is a subgradient of h at K x*,
    and K' u* balances the gradients at x*. A part of the state of the kind "dual" is a vector of the space of u*.

    Args:
        of: The class of the f_i.
        k: The letter of a bound of the norm of K, ``problem.K.norm`` in code.
        least: A letter with |K x| >= least |x| for all x, if there is one; ``problem.K.least`` in code.
        adjoint_least: A letter with |K' y| >= adjoint_least |y| for all y; ``problem.K.T.least`` in code.
        optimum: What x* is: "saddle", with u* a saddle point.

    Raises:
        ValueError: For another class of functions, or for a constant that is not a letter.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Coupled(ft.Convex(), ft.letters("k")).text
        'each convex, h convex at K x, K of norm k at most'
    """

    k: sympy.Symbol
    least: sympy.Symbol | None = None
    adjoint_least: sympy.Symbol | None = None

    optima: ClassVar[tuple[str, ...]] = ("saddle",)
    alike = True
    coupled = True

    def __post_init__(self) -> None:
        super().__post_init__()
        inner = self.of.of if type(self.of) is Composite else self.of
        if type(inner) not in _BESIDE or self.of.optimum != "consensus":
            names = ", ".join(kind.__name__ for kind in _BESIDE)
            raise ValueError(
                f"beside h(K x) functions are of one of the classes {names}, or Composite of one, got {self.of!r:.60}"
            )
        bounds = {"k": self.k, "least": self.least, "adjoint_least": self.adjoint_least}
        own = {name: letter for name, letter in bounds.items() if letter is not None or name == "k"}
        self._check_letters({**{str(x): x for x in self.of.letters}, **own})

    @property
    def with_g(self) -> bool:  # type: ignore[override]
        """True if there is a g whose proximal operator the method uses."""
        return self.of.with_g

    has_g = with_g

    @property
    def text(self) -> str:
        """The class, in words."""
        least = "" if self.least is None else f", of which no singular value is below {self.least}"
        adjoint = "" if self.adjoint_least is None else f", K' y of length {self.adjoint_least} |y| at least"
        return f"{self.of.text}, h convex at K x, K of norm {self.k} at most{least}{adjoint}"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        own: dict[sympy.Symbol, Source] = {self.k: lambda problem, params: problem.K.norm}
        if self.least is not None:
            own[self.least] = lambda problem, params: problem.K.least
        if self.adjoint_least is not None:
            own[self.adjoint_least] = lambda problem, params: problem.K.T.least
        return {**self.of.letters, **own}

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume: those of ``of`` hold about another point than a minimiser
        of the f_i, and are apart."""
        return Declared(linear=Linear(self.of.declares, self.least is not None, self.adjoint_least is not None))

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance belong to their classes, and K is as declared."""
        coupling = problem.coupling
        if coupling is None or not self.of.contains(replace(problem, coupling=None), params):
            return False
        return min(coupling.h.mu) >= 0 and coupling.K.is_as_declared()

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return self.of.curvatures(replace(problem, coupling=None), params)

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose f_i are just outside their class."""
        alone = (replace(one, coupling=None) for one in (problem, known))
        for name, worse, changed in self.of.outside(next(alone), params, next(alone)):
            yield name, replace(worse, coupling=problem.coupling), changed


@sampler.register(Coupled)
class CoupledSampler(InnerSampler):
    """Functions of a class, an operator that stretches and turns, and a convex function with kinks."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        recipe = self.inner.draw(rng, n, d, with_g, minimised)
        size, rows = members.scale(rng), d
        if self.of.least is None and d > 1:
            rows = pick(rng, (d, d, d - 1))
        lowest = self.of.least is not None or self.of.adjoint_least is not None
        shares = tuple(Fraction(v) for v in ((1, "1/2", "1/10") if lowest else (1, 1, 0, "1/2")))
        values = [size * pick(rng, (1, -1)) * share for share in (1, *(pick(rng, shares) for _ in range(d - 1)))]
        turns = {name: pick(rng, _TURNS) if d == 2 else Fraction(0) for name in ("left", "right")}
        own = {str(self.of.k): size / pick(rng, members.SHARES)}
        for letter in (self.of.least, self.of.adjoint_least):
            if letter is not None:
                own[str(letter)] = min(map(abs, values[:rows])) * pick(rng, members.SHARES)
        outer = {**kinked(rng, d, Fraction(0), members.scale(rng)), "y": small(rng, d)}
        return {**recipe, "outer": outer, "operator": {"values": tuple(values), "rows": rows, **turns}, **own}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, ...]:
        """(mu, L) as declared of the f_i of a recipe; ``ValueError`` unless the constants of K are positive."""
        own = (self.of.k, self.of.least, self.of.adjoint_least)
        check_shape(recipe["d"], *(recipe[str(letter)] for letter in own if letter is not None))
        return super().declared(recipe, exact)

    def coupling(self, recipe: Recipe, x: Array, exact: bool) -> Coupling:
        """The operator of a recipe, and the function of its values, about ``x (..., d)``."""
        given, d = recipe["operator"], recipe["d"]
        rows = min(given["rows"], d)
        if rows < 0 or len(given["values"]) != d:
            raise ValueError("an operator has as many singular values as there are coordinates")
        values = [v if k < rows else Fraction(0) for k, v in enumerate(given["values"])]
        # An image of fewer dimensions is not turned.
        left = given["left"] if rows == d else Fraction(0)
        bounds = (self.of.k, self.of.least, self.of.adjoint_least)
        declared = [None if letter is None else number(recipe[str(letter)], exact) for letter in bounds]
        axes = [turned_axes(number(t, exact), d, exact) for t in (left, given["right"])]
        K = LinearOperator(axes[0], numbers(values, exact), axes[1], rows, *declared)
        outer = {
            key: (*v[:rows], *(0 * w for w in v[rows:])) if isinstance(v, tuple) else v
            for key, v in recipe["outer"].items()
        }
        dual = numbers(outer["y"], exact)
        return Coupling(K, members.curved([outer], K(x), dual[None, :], exact), dual)
