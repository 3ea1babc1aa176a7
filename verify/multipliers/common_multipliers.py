"""The search for multipliers of what is linked: simple numbers that do for all parts, such multiples of what stands in
the statement, or what one part wants."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fedtheory.numbers.rational import Array
from verify.multipliers.common_relations import agreed, nets
from verify.multipliers.inequalities import ComparisonProof
from verify.multipliers.points import Programs, SamplePoints, values
from verify.multipliers.posing import Posed
from verify.multipliers.proofs import OVER, CaseProof, Tree, check
from verify.multipliers.ratios import Ratio
from verify.multipliers.search import search
from verify.multipliers.work import Work

#: The linked multipliers, by the names of links.
Links = Mapping[str, Ratio]
#: Points at which programs ask for the multipliers that are linked.
_POINTS = 8
#: The error that these may have in floats.
_NEAR = 1e-5
#: Minus the least multiplier that is linked.
_LOW = 20.0
#: Numbers that are tried for what is linked.
_SIMPLE = sorted(
    {Fraction(sign * a, b) for sign in (1, -1) for a in range(9) for b in range(1, 5)},
    key=lambda c: (c.denominator + abs(c.numerator), c < 0),
)


def searched(group: ComparisonProof, work: Work) -> dict[str, Tree] | str:
    """Proofs of all parts of a group, or why none were found with the work that is left.

    What is linked gets numbers that do for all parts, or else the multipliers that one part wants.
    """
    why = OVER
    for links in _proposed(group, work):
        found = _with(group, links, work)
        if not isinstance(found, str):
            agreed(group, found)
            return found
        why = found
        if work.is_spent:
            break
    return why


def _proposed(group: ComparisonProof, work: Work) -> Iterator[Links]:
    """Multipliers of what is linked, if any is, that may do."""
    found = _numbers(group, work)
    if found is not None:
        yield found
    for first in group.parts.values() if found != {} else ():
        one = search(first, work)
        if isinstance(one, CaseProof):
            links = nets(group, one.posed, one.multipliers)
            if not any(group.own & c.letters() for c in links.values()):
                yield links


def _numbers(group: ComparisonProof, work: Work) -> Links | None:
    """Simple numbers between what programs at points want of each link, one after another, or simple multiples of a
    coefficient of the statement; None where none are."""
    scales = [next(iter(group.parts.values())).one, *_coefficients(group)]
    programs = {name: _at_points(posed, work) for name, posed in group.parts.items()}
    links = sorted(
        {link for known, (link, _) in group.linked.items() if any(known in p.known for p in group.parts.values())}
    )
    chosen: dict[str, Ratio] = {}
    for link in links:
        wanted: list[tuple[Array, float, float]] = []
        for name, posed in group.parts.items():
            for program, p in programs[name]:
                bounds = _interval(group, posed, program, p, link, chosen)
                if bounds is not None:
                    wanted.append((program.X[p : p + 1], *bounds))
        found = next((scale * c for scale in scales if (c := _multiple(scale, wanted)) is not None), None)
        if found is None:
            return None
        chosen[link] = found
    return chosen


def _coefficients(group: ComparisonProof) -> list[Ratio]:
    """The coefficients of a statement in which no letter of a client's own stands, each once."""
    posed = next(iter(group.parts.values()))
    if any(of.names != posed.names for of in group.parts.values()):
        return []
    found = {c.key: c for c in posed.target.of.values() if c.letters() and not group.own & c.letters()}
    return [found[key] for key in sorted(found)]


def _multiple(scale: Ratio, wanted: list[tuple[Array, float, float]]) -> Fraction | None:
    """The simplest number that times a scale lies between bounds at points; None where none does."""
    low, high = -math.inf, math.inf
    for point, least, most in wanted:
        unit = float(values(scale, point)[0])
        ends = sorted((least / unit, most / unit)) if unit else [-math.inf, math.inf]
        low, high = max(low, ends[0]), min(high, ends[1])
    return next((c for c in _SIMPLE if low - _NEAR <= c <= high + _NEAR), None)


def _at_points(posed: Posed, work: Work) -> list[tuple[Programs, int]]:
    points = SamplePoints(posed, np.random.default_rng(0))
    if len(points.X) < 4:
        return []
    programs = Programs(posed, points.choose(_POINTS), work)
    return [(programs, p) for p in range(len(programs.X))]


def _interval(
    group: ComparisonProof, posed: Posed, program: Programs, p: int, link: str, chosen: Links
) -> tuple[float, float] | None:
    """Return bounds on a link at a point, with the others as chosen; None if they are not clear."""
    place = {name: k for k, name in enumerate(posed.known)}
    fixed: dict[int, float] = {}
    below = 0.0
    for known, (one, sign) in group.linked.items():
        if known not in place:
            continue
        if one in chosen:
            fixed[place[known]] = max(0.0, float(values(chosen[one], program.X[p : p + 1])[0]) * sign)
        elif sign < 0:
            # Numbers of any sign are numbers above a low one.
            fixed[place[known]] = _LOW
            below = _LOW if one == link else below
    if link not in {group.linked[name][0] for name in place if name in group.linked}:
        return None
    plus = next(
        place[known] for known, (one, sign) in group.linked.items() if one == link and sign > 0 and known in place
    )
    ends = []
    for side in (1.0, -1.0):
        goal = np.zeros(len(place))
        goal[plus] = side
        found = program.solve(p, goal, list(range(len(place))), fixed)
        ends.append(float(found[plus]) - below if isinstance(found, np.ndarray) else -math.inf * side)
    return ends[0], ends[1]


def _with(group: ComparisonProof, links: Links, work: Work) -> dict[str, Tree] | str:
    """Proofs of all parts with given multipliers of what is linked."""
    trees: dict[str, Tree] = {}
    for name, posed in group.parts.items():
        given: dict[str, Ratio] = {}
        for known, (link, sign) in group.linked.items():
            c = links[link] * sign
            if known in posed.known and not c.is_zero and posed.domain.ratio_sign(c) is not None:
                given[known] = c
        target = posed.target
        for known, c in given.items():
            target = target - posed.known[known] * c
        others = {known: form for known, form in posed.known.items() if known not in group.linked}
        found = OVER if work.is_spent else search(replace(posed, target=target, known=others), work)
        if not isinstance(found, CaseProof):
            return f"{name}: {found if isinstance(found, str) else 'it is split'}"
        trees[name] = check(posed, {**found.multipliers, **given})
    return trees
