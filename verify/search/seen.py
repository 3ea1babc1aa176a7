"""The coverage of a search: which sorts of functions, in which dimensions, after how many rounds; and
what it missed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.kinds.scope import Scope
from fedtheory.problems.nonconvex import LessHuber, LessParabola
from fedtheory.problems.piecewise import PiecewiseQuadratic
from fedtheory.problems.quadratic import Quadratics
from fedtheory.problems.ridged import Ridged
from fedtheory.sampling.chart import skeleton, untied
from verify.base.case import Case
from verify.base.evaluate import rollout, tree_size
from verify.comparisons.starts import generic

#: The name of quadratics among the sorts of functions.
QUADRATICS = "quadratics"
#: The largest number of rounds that is printed: beyond it all rounds are meant.
LARGEST = 10**6
#: The number of rounds beyond which a bound counts as tested in the long run.
_SHORT = 3


class FunctionsSeen(NamedTuple):
    """Functions of one ``sort`` (:func:`sort_of`) in one ``dimension``, up to so many ``rounds``.

    ``drawn``: whether what is drawn makes a difference (:func:`is_drawn`); ``clients``: how many have one.
    """

    sort: str
    dimension: int
    rounds: int
    drawn: bool = False
    clients: int = 1


def of(problem: Any, rounds: int, drawn: bool = False) -> frozenset[FunctionsSeen]:
    """Return the functions seen in one problem; empty if it has none."""
    functions = getattr(problem, "f", None)
    if functions is None or not hasattr(functions, "d"):
        return frozenset()
    return frozenset({FunctionsSeen(sort_of(functions), int(functions.d), rounds, drawn, int(problem.n))})


def is_drawn(case: Case) -> bool:
    """Return True if the states after one step of an exact instance depend on what is drawn, for a bound for every T.

    They do not where one client is drawn of several that have the same curvatures, for some methods.
    """
    if not case.statement.horizon or tree_size(case, 1) == 1:
        return False
    problem, state = case.instance.at(generic(case.instance.dimension))
    try:
        later, _ = rollout(case, problem, state, 1)
    except (ValueError, ArithmeticError):
        return False
    return any(bool((part != part[:, :1]).any()) for part in map(np.asarray, later))


def sort_of(f: Any) -> str:
    """Return the sort of functions, in words; adding a parabola does not change it."""
    inner: Any = f.f if isinstance(f, LessParabola) else f
    if isinstance(inner, PiecewiseQuadratic):
        return ("two slopes", "three slopes", "kinks")[min(len(inner.slopes), 4) - 2]
    if isinstance(inner, Quadratics):
        return QUADRATICS
    if isinstance(inner, Ridged):
        return "functions with ridges"
    return "quadratics with a strip" if isinstance(inner, LessHuber) else "other functions"


def words(seen: Collection[FunctionsSeen]) -> str:
    """The functions, the dimensions and the numbers of rounds; empty if there were none."""
    if not seen:
        return ""
    last: dict[str, int] = {}
    for s in seen:
        last[s.sort] = max(last.get(s.sort, 0), s.rounds)
    sorts = [f"{name} up to T={last[name]}" if 1 < last[name] <= LARGEST else name for name in sorted(last)]
    return f"seen: {', '.join(sorts)}; d={', '.join(map(str, sorted({s.dimension for s in seen})))}"


def with_draws(seen: Collection[FunctionsSeen]) -> str:
    """The number of rounds for which a bound was followed where draws make a difference; empty if there are none."""
    found = []
    for name in sorted({s.sort for s in seen if s.drawn}):
        of_sort = [s for s in seen if s.drawn and s.sort == name]
        last = max(s.rounds for s in of_sort)
        in_one = {s.dimension for s in of_sort if s.rounds == last} == {1}
        found.append(f"{name}{' of d=1' if in_one else ''} up to T={last}")
    return f"with draws: {', '.join(found)}" if found else ""


def unmoved(claim: Claim, recipes: Sequence[Recipe]) -> tuple[str, ...]:
    """Parts of the state that may be anything where a claim is about one step, and that a search of instances of these
    recipes has only as ``init`` makes them, from those that it takes."""
    statement, setting = claim.statement, claim.setting
    otherwise = statement.scope is not Scope.STEP
    if otherwise or not recipes or setting.algorithm is None or setting.drawing.special is not None:
        return ()
    at = claim.instances.build(recipes[0], True)
    if at.problem is None:
        return ()
    size = at.problem.n, at.params, at.problem.g is not None
    return tuple(untied(setting.algorithm, skeleton(setting.algorithm, *size), *size))


def caveat(claim: Claim, seen: Iterable[FunctionsSeen], unmoved: Sequence[str] = ()) -> str:
    """Return what a search with this coverage has missed, as the opening words of a supported verdict; empty if
    nothing.
    """
    found = set(seen)
    functions = claim.setting.functions
    gaps = []
    if found and (functions is None or not functions.quadratics):
        long = {s.sort for s in found if s.rounds > _SHORT}
        if {s.sort for s in found} == {QUADRATICS}:
            gaps.append("on quadratics only")
        elif claim.statement.horizon and not long:
            gaps.append(f"for the first {_SHORT} rounds only")
        elif (claim.statement.horizon or claim.statement.ends) and long == {QUADRATICS}:
            gaps.append(f"beyond {_SHORT} rounds on quadratics only")
    if {s.dimension for s in found} == {1}:
        gaps.append("in one dimension only")
    if unmoved:
        gaps.append(f"with {', '.join(unmoved)} searched only as init makes {'it' if len(unmoved) == 1 else 'them'}")
    return f"supported {', and '.join(gaps)}: " if gaps else ""
