"""The cases of a claim, and what its classes say of their members."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.classes import (
    Composite,
    Convex,
    ConvexLipschitz,
    ConvexQuadraticGrowth,
    PolyakLojasiewicz,
    RestrictedSecant,
    Smooth,
    SmoothConvex,
    SmoothStronglyConvex,
    StronglyConvex,
    StronglyConvexOnAverage,
    WeaklyConvex,
)
from fedtheory.instances import Instance
from fedtheory.problems.base import Problem
from verify.reading.source import Unread
from verify.reading.values import is_ours

#: Instances that are looked through for an example, and how many of those that fit are to be of one kind.
_LOOKED_AT, _ALIKE = 300, 12
#: Classes that are posed.
_POSED = (
    Convex,
    ConvexLipschitz,
    ConvexQuadraticGrowth,
    PolyakLojasiewicz,
    RestrictedSecant,
    Smooth,
    SmoothConvex,
    SmoothStronglyConvex,
    StronglyConvex,
    StronglyConvexOnAverage,
    WeaklyConvex,
)


@dataclass(frozen=True, eq=False)
class FunctionCase:
    """``with_g``: whether the problem has a g; ``equal``: whether mu = L, or mu < L; None where there is no mu;
    ``single``: whether the claim is about a single client alone; ``alone``: whether there is but one client here, or
    there are more, where the two are cases of their own; ``parts``: polynomials in the letters, and what they are here:
    "=", ">" or ">=" 0."""

    with_g: bool
    equal: bool | None
    single: bool = False
    alone: bool | None = None
    parts: tuple[tuple[Any, str], ...] = ()

    @property
    def name(self) -> str:
        """The case in words."""
        curvature = {None: "", True: ", mu = L", False: ", mu < L"}[self.equal]
        clients = {None: "", True: ", n = 1", False: ", n > 1"}[self.alone]
        parts = "".join(f", {p} {by} 0" for p, by in self.parts)
        return f"{'with' if self.with_g else 'without'} g{curvature}{clients}{parts}"


class OfTwoParts(Exception):
    """Of a case that is two: ``parts``: a polynomial in the letters, and what it is in each of them."""

    def __init__(self, *parts: tuple[Any, str]) -> None:
        super().__init__(" or ".join(f"{p} {by} 0" for p, by in parts))
        self.parts = parts


def cases(claim: Claim) -> list[FunctionCase]:
    """The cases of a claim, one of which every instance is of."""
    of, setting = claim.setting.functions, claim.setting
    told = None if of is None or not stated(claim, of) else declared(of)
    equal = [True, False] if told is not None and (told.least, told.largest) == MU_L else [None]
    with_g = {True} if of is not None and of.with_g else set(setting.drawing.g)
    return [FunctionCase(g, e, set(setting.clients) == {1}) for g in sorted(with_g) for e in equal]


#: The constants of a problem, as classes are asked what they say, and the s of a least curvature -s.
MU_L = tuple(sympy.symbols("mu L", positive=True))
S = sympy.Symbol("s", nonnegative=True)


def stated(claim: Claim, part: Any, name: str = "contains") -> bool:
    """Whether a hypothesis of a claim is what a class says of its members."""
    return any(h.states_membership((part,), (name,)) for h in claim.requires)


def typical(of: Any) -> Any:
    """A problem of a class that keeps to the constants that it declares: no mu but of a class that has one."""
    mu, L = (c if str(c) != "mu" or "mu" in of.constants else sympy.Integer(0) for c in MU_L)
    if type(of) is WeaklyConvex:
        mu = -L if of.symmetric else -S
    each = {name: np.array([c], dtype=object) for name, c in (("mu", mu), ("L", L), ("steepest_squared", L**2))}
    f, optimum = SimpleNamespace(n=1, **each), SimpleNamespace(x=None)
    return SimpleNamespace(n=1, f=f, g=None, mu=mu, L=L, optimum=optimum)


class Declared(NamedTuple):
    """What a class says of each function, in mu, L and s: the least and the largest curvature, each None where there
    is none, and of the squares of the lengths of gradients the largest, None where nothing is said. ``own``:
    whether the curvatures are those of the average, and each function is smooth with a constant of its own."""

    least: sympy.Expr | None
    largest: sympy.Expr | None
    steepest: sympy.Expr | None
    own: bool = False


def declared(of: Any) -> Declared | None:
    """What a class says of each f_i; None of a class that is not posed."""
    if type(of) is Composite:
        return declared(of.of)
    if type(of) not in _POSED or (getattr(of, "conjugates", False) and type(of) is not SmoothStronglyConvex):
        return None
    least, largest = (c[0] for c in of.curvatures(typical(of), None))
    steepest = of.steepest(typical(of), None)
    return Declared(_finite(least), _finite(largest), steepest, getattr(of, "own", False))


def declared_of_g(of: Any) -> Declared | None:
    """What a class says of g."""
    if type(of) is not Composite:
        return declared(of)
    least, largest = of.curvatures_of_g(typical(of), None)
    return Declared(_finite(least), _finite(largest), None)


def _finite(curvature: Any) -> sympy.Expr | None:
    return None if curvature in (-math.inf, math.inf) else sympy.sympify(curvature)


def example(claim: Claim, case: FunctionCase) -> Instance:
    """An instance of the setting that tells the kinds of parameters, and what functions can be asked. ``Unread`` where
    none is found, or where instances differ in that."""
    of, recipes = claim.setting.functions, claim.instances.recipes(np.random.default_rng(0))
    told = None if of is None else declared(of)
    # Of functions without curvatures some have proximal points and some have none: what is read is read of the latter.
    any_curvature = told is not None and told.least is None
    found: list[Instance] = []
    for recipe in islice(recipes, _LOOKED_AT):
        try:
            instance = claim.instances.build(recipe, True)
        except (ValueError, ArithmeticError):
            continue
        problem = instance.problem
        if problem is None:
            break
        if (problem.g is not None) is not case.with_g or (any_curvature and hasattr(problem.f, "resolvent")):
            continue
        if found and _kinds(problem) != _kinds(found[0].problem):
            raise Unread("the instances have problems of several types")
        fits = problem.d > 1 and (problem.n == 1 if case.single else problem.n not in (1, problem.d))
        if fits:
            found.append(instance)
        if len(found) == _ALIKE:
            break
    if not found:
        raise Unread("no instance shows the types of the parameters")
    return found[0]


def _kinds(problem: Any) -> tuple[Any, ...]:
    """Whether a problem is one of ours, and its functions are, and which have resolvents."""
    if type(problem) is not Problem or not is_ours(type(problem.f)):
        raise Unread(f"functions of type {type(problem.f).__name__} may be anything")
    return tuple(hasattr(of, "resolvent") for of in (problem.f, problem.g))
