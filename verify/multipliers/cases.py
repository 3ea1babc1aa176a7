"""The cases of a claim, and what its classes say of their members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.classes import ContractiveCompressors, MixingMatrix
from fedtheory.classes.base import ELL, MU, Declared
from fedtheory.instances import Instance
from fedtheory.problems.base import Problem
from verify.reading.declarations import declarations
from verify.reading.source import Unread
from verify.reading.values import is_ours

#: Instances that are looked through for an example, and how many of those that fit are to be of one kind.
_LOOKED_AT, _ALIKE = 300, 12


@dataclass(frozen=True, eq=False)
class FunctionCase:
    """A case of a claim, by what reading its functions depends on.

    ``with_g``: True if the problem has a g; ``equal``: True if mu = L, False if mu < L, None if there is no mu;
    ``single``: True if the claim is about a single client alone; ``alone``: True if there is one client, False if there
    are more, None if these are not cases of their own; ``parts``: polynomials in the letters, with their signs: "=",
    ">" or ">=" 0; ``numbers``: what letters in them stand for, where these are numbers of a state. ``correlated``: True
    if gradients are asked at points that errors of mean zero move, so that they are correlated with these errors.
    """

    with_g: bool
    equal: bool | None
    single: bool = False
    alone: bool | None = None
    parts: tuple[tuple[Any, str], ...] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)
    correlated: bool = False

    @property
    def name(self) -> str:
        """The case in words."""
        curvature = {None: "", True: ", mu = L", False: ", mu < L"}[self.equal]
        clients = {None: "", True: ", n = 1", False: ", n > 1"}[self.alone]
        parts = "".join(f", {p} {by} 0" for p, by in self.parts)
        return f"{'with' if self.with_g else 'without'} g{curvature}{clients}{parts}"


class OfTwoParts(Exception):
    """Raised for a case that splits in two.

    ``parts``: a polynomial in the letters, and its sign in each part; ``numbers``: what letters stand for that are
    numbers of a state. In each part they stand for the same, or the parts would not cover all states.
    """

    def __init__(self, *parts: tuple[Any, str], numbers: Mapping[str, str] | None = None) -> None:
        super().__init__(" or ".join(f"{p} {by} 0" for p, by in parts))
        self.parts, self.numbers = parts, numbers

    def of(self, case: FunctionCase) -> list[FunctionCase]:
        """Return the two cases."""
        numbers = case.numbers if self.numbers is None else self.numbers
        return [replace(case, parts=(*case.parts, part), numbers=numbers) for part in self.parts]


def cases(claim: Claim) -> list[FunctionCase]:
    """The cases of a claim; every instance belongs to one."""
    of, setting = claim.setting.functions, claim.setting
    known = declarations(of) if stated(claim, of) else Declared()
    declared = (known, *known.named, *(() if known.linear is None else (known.linear.of,)))
    bounds = [part.bounds for part in declared if part.bounds is not None]
    equal = [True, False] if any((b.least, b.largest) == (MU, ELL) for b in bounds) else [None]
    with_g = {True} if of is not None and of.with_g else set(setting.drawing.g)
    return [FunctionCase(g, e, set(setting.clients) == {1}) for g in sorted(with_g) for e in equal]


def stated(claim: Claim, part: Any, name: str = "contains") -> bool:
    """Return True if a hypothesis of a claim states the property ``name`` of ``part``, by default membership."""
    return any(h.states_membership((part,), (name,)) for h in claim.requires)


def are_quadratics(claim: Claim) -> bool:
    """Return True if a hypothesis of a claim says that the functions are quadratics, not only the setting."""
    of = claim.setting.functions
    stating = any(h.states_membership((of,), ("contains",), quadratics=True) for h in claim.requires)
    return stating and declarations(of).linear_gradients


def at_most_one(claim: Claim) -> Iterator[str]:
    """Yield the parameters that are at most 1 by what they mean: gaps of mixing matrices, alpha of compressors."""
    for one in claim.setting.adversaries:
        if isinstance(one, MixingMatrix | ContractiveCompressors) and stated(claim, one):
            yield one.gap if isinstance(one, MixingMatrix) else "alpha"


def example(claim: Claim, case: FunctionCase) -> Instance:
    """Return an instance of the setting that shows the kinds of parameters, and what functions can be asked.

    Where members of the class differ in that, it is one whose functions can be asked the least. Raise ``Unread`` if
    none is found.
    """
    of, recipes = claim.setting.functions, claim.instances.recipes(np.random.default_rng(0))
    bounds = declarations(of).bounds
    # Some functions without curvatures have proximal points and some have none: the latter are read.
    any_curvature = bounds is not None and bounds.least is None
    found: list[Instance] = []
    least: tuple[bool, ...] = (True, True)
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
        kinds = _kinds(problem)
        least = tuple(map(min, least, kinds))
        fits = problem.d > 1 and (problem.n == 1 if case.single else problem.n not in (1, problem.d))
        if fits:
            found.append(instance)
        if len(found) == _ALIKE:
            break
    found = [instance for instance in found if _kinds(instance.problem) == least]
    if not found:
        raise Unread("no instance shows the types of the parameters")
    return found[0]


def _kinds(problem: Any) -> tuple[Any, ...]:
    """Return which of the functions of a problem have resolvents. Raise ``Unread`` if the functions are not ours."""
    if type(problem) is not Problem or not is_ours(type(problem.f)):
        raise Unread(f"functions of type {type(problem.f).__name__} may be anything")
    return tuple(hasattr(of, "resolvent") for of in (problem.f, problem.g))
