"""Functions of a class beside a convex g, whose proximal operator the method uses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.classes.base import WORSE, Bounds, Declared, FunctionClass, OfAnother, Outside, each, only_declared
from fedtheory.classes.blocks import BlockSmoothConvex
from fedtheory.classes.convex import kinked
from fedtheory.instances import Recipe, members
from fedtheory.instances.members import InnerSampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions


@dataclass(frozen=True)
class Composite(OfAnother):
    """f_1, ..., f_n of the class ``of``, beside a closed and convex g, smooth or not: minimise (1/n) sum f_i + g.

    ``problem.g.resolvent(1 / gamma, x[..., None, :] / gamma)[..., 0, :]`` is the proximal point at x for the stepsize
    gamma; ``problem.g.gradient`` gives a subgradient. x* is a minimiser of the whole. ``ValueError`` for a class that
    says something of the average of the f_i, which is least at x* only where there is no g.

    Args:
        of: The class of the f_i.
        optimum: What x* is, by default the minimiser of the whole, "consensus".

    Raises:
        ValueError: For a class of the average of the f_i.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Composite(ft.SmoothConvex(ft.letters("L"))).text
        'each convex and L-smooth, g convex'
    """

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
    def alike(self) -> bool:  # type: ignore[override]
        """True if the letters are all the constants of the class of the f_i."""
        return self.of.alike

    @property
    def loose(self) -> bool:  # type: ignore[override]
        """True if the formulas are weaker than what is known of the class."""
        return self.of.loose

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"{self.of.text}, g convex"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(
            self.of.declares.bounds, of_g=Bounds(sympy.S.Zero, None), differentiable=self.of.declares.differentiable
        )

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the f_i of an instance belong to their class, and g is convex."""
        alone = self.of.contains(replace(problem, g=None), params)
        return alone and problem.g is not None and min(problem.g.mu) >= 0

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return self.of.curvatures(replace(problem, g=None), params)

    def curvatures_of_g(self, problem: Problem, params: object) -> tuple[Scalar, Scalar]:
        """Least and largest curvature of g: 0, or what one that does not keep to it has, and no largest one."""
        least = Fraction(0) if problem.g is None else min(0 * problem.mu, *problem.g.mu)
        return least, math.inf

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose f_i are just outside their class, or whose g is not convex."""
        alone = replace(known, g=None)
        for name, worse, changed in self.of.outside(replace(problem, g=None), params, alone):
            yield name, replace(worse, g=problem.g), changed
        least, _ = self.curvatures_of_g(problem, params)
        g: Any = problem.g
        other = only_declared(g, each(min(least, *known.g.mu) - WORSE, 1), g.L)  # type: ignore[union-attr]
        yield "other functions", replace(problem, g=other), params


@sampler.register(Composite)
class CompositeSampler(InnerSampler):
    """Functions of a class, and a g with kinks."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        recipe = self.inner.draw(rng, n, d, False, minimised)
        g = kinked(rng, d, Fraction(0), members.scale(rng))
        return {**recipe, "g": {**g, "y": (Fraction(0),) * d}}

    def at(self, values: Mapping[str, Fraction], n: int, stiff: int, with_g: bool) -> Recipe:
        """The functions of a grid's point, beside a g that is 0 but for its gradient."""
        flat = (Fraction(0),)
        return {**self.inner.at(values, n, stiff, False), "g": {"h": flat, "y": flat}}

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` (clients, or g alone) with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        if len(parts) == 1 and parts[0] is recipe["g"]:
            return members.curved(parts, x, y, exact)
        return super().build(recipe, parts, x, y, exact)
