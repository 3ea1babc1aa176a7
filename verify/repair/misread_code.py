"""Quantities whose code reads something else: another part of the state, the same one before or after the step, the
negative, the multiple by a number of the client, the next index, twice a count less 2 or 1.

The expressions that are readings are observed as the code of the quantities runs, at instances of the claim; the reads
of a branch that is not taken are not seen. A replacement has the same shape at all of them. Few of these changes mend a
claim; the others are excluded at a handful of states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.kinds.scope import Scope
from fedtheory.settings.relations import Quantity
from verify.base.case import Case
from verify.base.evaluate import meeting, sides
from verify.repair import formulas
from verify.repair.noting import AnyNumbers, Notes, noting
from verify.repair.rewriting import Substitution, rebuilt, substituted

#: Instances at which code is run.
INSTANCES = 10
#: Instances that are proposed for these.
_PROPOSED = 200
#: States of each instance.
STATES = 3
#: Numbers that differ by less are the same.
_NEAR = 1e-9
#: Single changes that mend some line, to each of which a second one is added.
_BEAM = 3
#: The most changes that are found.
MOST = 12
#: The most changes that are tried.
TRIED = 2000
#: The costs of replacements beyond that of another part.
COSTS: Mapping[str, float] = {"part": 0.0, "count": 0.0, "negative": 0.0, "index": 0.1, "multiple": 0.2}

#: A violation: the instance and the coordinates of a state.
Counterexample = tuple[Recipe, tuple[Fraction, ...]]


class Sample(NamedTuple):
    """An instance in floats, with coordinates of some of its states ``(STATES, dimension)``."""

    instance: Instance
    theta: np.ndarray


@dataclass(frozen=True)
class Misreading:
    """One reading exchanged: the substitution, and its sort."""

    substitution: Substitution
    sort: str

    @property
    def text(self) -> str:
        """The exchange in words."""
        return f"{self.substitution.new} for {self.substitution.old}"

    @property
    def where(self) -> str:
        """The file and the line."""
        return f"{Path(self.substitution.place.file).name}, line {self.substitution.place.line}"


def samples(claim: Claim, places: Iterable[Counterexample] = ()) -> list[Sample]:
    """Return states of instances that meet the hypotheses: first those where the claim is known to fail, then those
    with several clients and coordinates.
    """
    rng = np.random.default_rng(0)
    failing, found = [], []
    for recipe, point in islice(places, INSTANCES // 2):
        try:
            instance = claim.instances.build(recipe, False)
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
            # A place of a change that was made in another setting.
            continue
        failing.append(Sample(instance, np.array([point], dtype=float)))
    for recipe, exact in islice(meeting(claim, islice(claim.instances.recipes(rng), _PROPOSED)), 4 * INSTANCES):
        try:
            case = Case(claim, recipe, exact=False)
            size = case.dimension
        except (ValueError, ArithmeticError):
            continue
        n, d = (getattr(exact.problem, name, 1) for name in ("n", "d"))
        found.append(((n > 1) + (d > 1) + (n != d), Sample(case.instance, rng.normal(size=(STATES, size)))))
    found.sort(key=lambda one: -one[0])
    # Single clients and coordinates distinguish other readings.
    half = INSTANCES // 2
    return failing + [sample for _, sample in [*found[:half], *found[half:][-half:]]]


def misread(claim: Claim, by: Iterable[Misreading]) -> dict[str, Any]:
    """Return the arguments of ``variant`` for the claim with its quantities so read; empty if no quantity changes."""
    made = tuple(by)
    try:
        changed = substituted(one.substitution for one in made)
    except SyntaxError:
        return {}
    words = " and ".join(one.text for one in made)
    found, names = [], {}
    for quantity in claim.statement.quantities:
        of = rebuilt(quantity.of, changed)
        if of is not quantity.of:
            names[quantity.expression] = _renamed(quantity.expression, words)
            quantity = Quantity(names[quantity.expression], of, quantity.after, quantity.domain)
        found.append(quantity)
    if not names:
        return {}
    parts = formulas.rewritten(claim.statement, lambda expression: expression.xreplace(names))
    return {**parts, "quantities": tuple(found)} if parts else {}


def in_words(claim: Claim, by: Iterable[Misreading], parts: Mapping[str, Any]) -> str:
    """Return a change in words: the new readings, their quantities, and the place in the code."""
    pairs = zip(claim.statement.quantities, parts["quantities"], strict=True)
    names = ", ".join(str(old.expression) for old, new in pairs if new is not old)
    changes = " and ".join(f"{one.text} ({one.where})" for one in by)
    return f"{changes} in the code of {names}"


def _renamed(expression: sympy.Expr, words: str) -> sympy.Expr:
    symbols = {s: sympy.Symbol(f"({s} with {words})", **s._assumptions_orig) for s in expression.free_symbols}
    return expression.xreplace(symbols)


def found(claim: Claim, places: Iterable[Counterexample] = ()) -> list[tuple[Misreading, ...]]:
    """Return changes of readings, one or two, after which no violation is left at a few states.

    ``places``: known violations of the claim.
    """
    at = samples(claim, places) if claim.statement.scope is Scope.STATE else []
    printed = _lines(claim, at)
    if printed is None or all(line.holds for line in printed):
        return []
    equal = equalities(claim)
    singles = [one for one in readings(claim, at) if equal or one.sort != "multiple"]
    accepted: list[tuple[Misreading, ...]] = []
    partly: list[tuple[int, Misreading]] = []
    known = {_signature(printed)}

    def candidates() -> Iterator[tuple[Misreading, ...]]:
        yield from ((one,) for one in singles)
        for _, first in sorted(partly, key=lambda one: -one[0])[:_BEAM]:
            place = first.substitution.place
            yield from ((first, second) for second in singles if not place.meets(second.substitution.place))

    for by in islice(candidates(), TRIED):
        if len(accepted) == MOST:
            break
        parts, lines = _tried(claim, by, at)
        if lines is None or (signature := _signature(lines)) in known:
            continue
        known.add(signature)
        if all(line.holds for line in lines):
            accepted += [by] if _says_something(claim, parts, at, printed, lines) else []
        elif len(by) == 1 and (mended := _mended(printed, lines)) > 0:
            partly.append((mended, by[0]))
    return accepted


def _mended(printed: list[_Line], lines: list[_Line]) -> int:
    """Return the number of lines that hold and did not before; 0 if another one no longer does."""
    if any(was.holds and not now.holds for was, now in zip(printed, lines, strict=True)):
        return 0
    return sum(now.holds for now in lines) - sum(was.holds for was in printed)


class _Line(NamedTuple):
    """A comparison at the samples: True if it holds, and its sides there."""

    holds: bool
    left: np.ndarray
    right: np.ndarray


def _tried(claim: Claim, by: tuple[Misreading, ...], at: list[Sample]) -> tuple[dict[str, Any], list[_Line] | None]:
    parts = misread(claim, by)
    try:
        return parts, _lines(claim.variant(**parts), at) if parts else None
    except (ValueError, TypeError):
        return parts, None


def _lines(claim: Claim, at: list[Sample], first: int = 0) -> list[_Line] | None:
    """Return the comparisons at the samples; None if a side is not a number there."""
    met: list[list[tuple[np.ndarray, np.ndarray]]] = []
    try:
        with np.errstate(all="ignore"):
            for sample in at:
                pairs = [
                    (np.asarray(a, float), np.asarray(b, float))
                    for a, b in sides(Case.of(claim, sample.instance), sample.theta)
                ]
                if not all(np.isfinite(side).all() for pair in pairs for side in pair):
                    return None
                met.append(pairs)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
        return None
    if not met:
        return None
    lines = []
    for index, comparison in enumerate(claim.statement.comparisons):
        left, right = (np.concatenate([pairs[index][side].ravel() for pairs in met]) for side in (0, 1))
        apart = _NEAR * (1 + abs(left) + abs(right))
        holds = abs(left - right) <= apart if comparison.relation == "==" else left <= right + apart
        lines.append(_Line(bool(holds.all()), left, right))
    return lines


def _signature(lines: list[_Line]) -> bytes:
    """Return bytes that two changes share if their sides agree at the samples."""
    numbers = np.concatenate([side for line in lines for side in (line.left, line.right)])
    return np.array([f"{v:.8e}" for v in numbers]).tobytes()


def equalities(claim: Claim) -> bool:
    """Return True if a claim states an equality: as such, or by two inequalities."""
    lines = [(c.left, c.right) for c in claim.statement.comparisons]
    return any(c.relation == "==" for c in claim.statement.comparisons) or any((b, a) in lines for a, b in lines)


def _says_something(
    claim: Claim, parts: Mapping[str, Any], at: list[Sample], printed: list[_Line], lines: list[_Line]
) -> bool:
    """Return True if lines that hold are not trivial.

    No side is 0 that was not, unless it is compared with one that was, and none that was positive is negative. With
    random numbers in place of what is read no side is 0 either, and not every line holds.
    """
    for was, now in zip(printed, lines, strict=True):
        for before, after, other in ((was.left, now.left, was.right), (was.right, now.right, was.left)):
            if _nothing(after) and not _nothing(before) and not _nothing(other):
                return False
            if (before >= 0).all() and (after <= 0).all() and not _nothing(before):
                return False
    changed = claim.variant(**parts)
    for seed in range(2):
        anything = [_lines(noting(one, AnyNumbers(seed=seed)), at) for one in (claim, changed)]
        if anything[0] is None or anything[1] is None:
            return False
        for was, now in zip(*anything, strict=True):
            if any(_nothing(b) and not _nothing(a) for a, b in ((was.left, now.left), (was.right, now.right))):
                return False
        if not all(line.holds for line in anything[1]):
            return True
    return False


def _nothing(values: np.ndarray) -> bool:
    """Return True if a side is 0 up to rounding."""
    return bool((abs(values) <= _NEAR).all())


def readings(claim: Claim, at: list[Sample]) -> list[Misreading]:
    """Return the replacements for the readings of the claim's quantities, the cheapest first."""
    notes = Notes()
    changed = noting(claim, notes)
    for sample in at:
        try:
            with np.errstate(all="ignore"):
                sides(Case.of(changed, sample.instance), sample.theta)
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
            continue
    made = [
        Misreading(Substitution(place, old, new), sort)
        for place, (old, others) in notes.found.items()
        for new, sort in others.items()
        # A nonnegative value is a square or a size, and is not negated.
        if sort != "negative" or place in notes.signed
    ]
    return sorted(made, key=lambda one: (COSTS[one.sort], one.substitution.place))
