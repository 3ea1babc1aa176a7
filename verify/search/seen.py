"""What a search has seen: functions of which sorts, in which dimensions, after how many rounds; what it has not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.problems.nonconvex import LessHuber, LessParabola
from fedtheory.problems.piecewise import PiecewiseQuadratic
from fedtheory.problems.quadratic import Quadratics
from fedtheory.problems.ridged import Ridged
from fedtheory.sampling.chart import skeleton, untied

#: What quadratics are called among the sorts of functions.
QUADRATICS = "quadratics"
#: The largest number of rounds that is told: beyond it all rounds are meant.
LARGEST = 10**6
#: Rounds beyond which a bound is said to have been looked at in the long run.
_SHORT = 3


class FunctionsSeen(NamedTuple):
    """Functions of one ``sort`` (:func:`sort_of`) in one ``dimension``, up to so many ``rounds``."""

    sort: str
    dimension: int
    rounds: int


def of(problem: Any, rounds: int) -> frozenset[FunctionsSeen]:
    """What is seen of one problem; nothing where there are no functions."""
    functions = getattr(problem, "f", None)
    if functions is None or not hasattr(functions, "d"):
        return frozenset()
    return frozenset({FunctionsSeen(sort_of(functions), int(functions.d), rounds)})


def sort_of(f: Any) -> str:
    """Of which sort functions are, in words: what a parabola is added to stays of its sort."""
    inner: Any = f.f if isinstance(f, LessParabola) else f
    if isinstance(inner, PiecewiseQuadratic):
        return ("two slopes", "three slopes", "kinks")[min(len(inner.slopes), 4) - 2]
    if isinstance(inner, Quadratics):
        return QUADRATICS
    if isinstance(inner, Ridged):
        return "functions with ridges"
    return "quadratics with a strip" if isinstance(inner, LessHuber) else "other functions"


def words(seen: Collection[FunctionsSeen]) -> str:
    """Which functions, in which dimensions, after how many rounds; empty where there were none."""
    if not seen:
        return ""
    last: dict[str, int] = {}
    for s in seen:
        last[s.sort] = max(last.get(s.sort, 0), s.rounds)
    sorts = [f"{name} up to T={last[name]}" if 1 < last[name] <= LARGEST else name for name in sorted(last)]
    return f"seen: {', '.join(sorts)}; d={', '.join(map(str, sorted({s.dimension for s in seen})))}"


def unmoved(claim: Claim, recipes: Sequence[Recipe]) -> tuple[str, ...]:
    """Parts of the state that may be anything where a claim speaks of one step, and that a search of instances of these
    recipes has only as ``init`` makes them, from those that it takes."""
    statement, setting = claim.statement, claim.setting
    runs = statement.horizon or statement.ending or not statement.stepping
    if runs or not recipes or setting.algorithm is None or setting.drawing.special is not None:
        return ()
    at = claim.instances.build(recipes[0], True)
    if at.problem is None:
        return ()
    size = at.problem.n, at.params, at.problem.g is not None
    return tuple(untied(setting.algorithm, skeleton(setting.algorithm, *size), *size))


def caveat(claim: Claim, seen: Iterable[FunctionsSeen], unmoved: Sequence[str] = ()) -> str:
    """What a search that has seen only this has not seen, as the first words of what it supports; empty where nothing
    is to be said."""
    found = set(seen)
    functions = claim.setting.functions
    said = []
    if found and (functions is None or not functions.quadratics):
        long = {s.sort for s in found if s.rounds > _SHORT}
        if {s.sort for s in found} == {QUADRATICS}:
            said.append("on quadratics only")
        elif claim.statement.horizon and not long:
            said.append(f"for the first {_SHORT} rounds only")
        elif (claim.statement.horizon or claim.statement.ends) and long == {QUADRATICS}:
            said.append(f"beyond {_SHORT} rounds on quadratics only")
    if {s.dimension for s in found} == {1}:
        said.append("in one dimension only")
    if unmoved:
        said.append(f"with {', '.join(unmoved)} searched only as init makes {'it' if len(unmoved) == 1 else 'them'}")
    return f"supported {', and '.join(said)}: " if said else ""
