"""The cases of a claim, and what its classes say of their members."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.classes import Smooth, SmoothStronglyConvex, StronglyConvexOnAverage
from fedtheory.instances import Instance
from verify.reading.source import Unread

#: Instances that are looked through for an example.
_LOOKED_AT = 300


@dataclass(frozen=True, eq=False)
class Case:
    """``with_g``: whether the problem has a g; ``equal``: whether mu = L, or mu < L; None where there is no mu."""

    with_g: bool
    equal: bool | None

    @property
    def name(self) -> str:
        """The case in words."""
        curvature = {None: "", True: ", mu = L", False: ", mu < L"}[self.equal]
        return f"{'with' if self.with_g else 'without'} g{curvature}"


def cases(claim: Claim) -> list[Case]:
    """The cases of a claim, one of which every instance is of."""
    of = claim.setting.functions
    told = None if of is None or not stated(claim, of) else declared(of)
    equal = [True, False] if told == _MU_L else [None]
    return [Case(g, e) for g in sorted(set(claim.setting.drawing.g)) for e in equal]


#: The constants of a problem, as classes are asked what they say.
_MU_L = tuple(sympy.symbols("mu L", positive=True))


def stated(claim: Claim, part: Any, name: str = "contains") -> bool:
    """Whether a hypothesis of a claim is what a class says of its members."""
    return any(h.states_membership((part,), (name,)) for h in claim.requires)


def typical() -> Any:
    """A problem that keeps to the constants that it declares."""
    mu, L = _MU_L
    f = SimpleNamespace(n=1, mu=np.array([mu], dtype=object), L=np.array([L], dtype=object))
    return SimpleNamespace(n=1, f=f, g=None, mu=mu, L=L)


def declared(of: Any) -> tuple[Any, Any] | None:
    """The least and the largest curvature of functions of a class, in mu and L; None of a class that is not posed."""
    if type(of) not in (SmoothStronglyConvex, StronglyConvexOnAverage, Smooth) or of.conjugates:
        return None
    least, largest = of.curvatures(typical(), None)
    return sympy.sympify(least[0]), sympy.sympify(largest[0])


def example(claim: Claim, with_g: bool) -> Instance:
    """An instance of the setting that tells the kinds of parameters. ``Unread`` where none is found."""
    recipes = claim.instances.recipes(np.random.default_rng(0))
    for recipe in islice(recipes, _LOOKED_AT):
        try:
            instance = claim.instances.build(recipe, True)
        except (ValueError, ArithmeticError):
            continue
        problem = instance.problem
        if problem is None:
            break
        if (problem.g is not None) is with_g and problem.n != problem.d and 1 not in (problem.n, problem.d):
            return instance
    raise Unread("no instance tells the kinds of the parameters")
