"""Proofs by multipliers, and how they are checked: everything but the multipliers is derived again from the claim.

A proof of a case gives each known inequality a multiplier, a quotient of polynomials in the letters. It is checked that
multipliers are nonnegative, that function values cancel, and that what is left, sum of multiplier * known - target, is
a sum of squares with nonnegative weights: those that a proof states, and the pivots of an elimination of what they
leave. All of it is exact.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from verify.multipliers.domains import Domain
from verify.multipliers.forms import ProductSum
from verify.multipliers.posing import Posed
from verify.multipliers.ratios import Ratio, coefficients, degree, parsed, text
from verify.multipliers.work import Work

#: Why a search ended that was not exhausted.
OVER = "no multipliers were found before the search ended"

#: A symmetric matrix, all of its entries.
Matrix = list[list[Ratio]]


class WeightedSquare(NamedTuple):
    """A weight that is >= 0, and the vector whose square it multiplies, by rows. ``pivot``: the row of the pivot, None
    where it was not eliminated."""

    pivot: str | None
    weight: Ratio
    vector: Mapping[str, Ratio]


class Elimination(NamedTuple):
    """A plan that shows a block to be a sum of squares.

    ``maximum``: the letter for a maximum that is replaced on the diagonal; ``bounds``: the bound that replaces it, for
    each row that contains it; ``stated``: squares that are subtracted before the elimination; ``order``: its pivots.
    """

    maximum: int | None
    bounds: Mapping[str, int]
    order: tuple[str, ...]
    stated: tuple[WeightedSquare, ...] = ()


@dataclass(frozen=True, eq=False)
class CaseProof:
    """A proof of one case that was checked: the multipliers by name, and by blocks of rows the squares and plans."""

    posed: Posed
    multipliers: Mapping[str, Ratio]
    squares: Mapping[str, tuple[WeightedSquare, ...]]
    plans: Mapping[str, Elimination]


class Wrong(ValueError):
    """Multipliers that are not shown to prove a claim: why."""


def blocks(posed: Posed) -> dict[str, list[str]]:
    """The vectors that appear, by blocks: products of vectors of different blocks do not."""
    found: dict[str, set[str]] = {}
    for form in (posed.target, *posed.known.values()):
        for key in form.of:
            if key[0] != "value":
                found.setdefault(key[0], set()).update(key[1:])
    return {block: sorted(rows) for block, rows in sorted(found.items())}


def remainder(posed: Posed, multipliers: Mapping[str, Ratio]) -> ProductSum:
    """Sum of multiplier * known - target."""
    total = -posed.target
    for name, c in multipliers.items():
        total = total + posed.known[name] * c
    return total


def matrix(posed: Posed, form: ProductSum, block: str, rows: Sequence[str]) -> Matrix:
    """The symmetric matrix of a form on the rows of a block."""
    zero = posed.zero

    def entry(a: str, b: str) -> Ratio:
        c = form.of.get((block, *sorted((a, b))), zero)
        return c if a == b else c / 2

    return [[entry(a, b) for b in rows] for a in rows]


def check(posed: Posed, multipliers: Mapping[str, Ratio], plans: Mapping[str, Elimination] | None = None) -> CaseProof:
    """Return the proof that multipliers make. Raise ``Wrong`` with what is not shown.

    ``plans``: how blocks are shown to be sums of squares, by name; any that work are looked for where there are none.
    """
    domain = posed.domain
    if not set(multipliers) <= set(posed.known):
        raise Wrong(f"no inequality is called {min(set(multipliers) - set(posed.known))[:40]!r}")
    if not domain.is_regular():
        raise Wrong("the admissible letters are not shown to be limits of others")
    for name, c in multipliers.items():
        if not domain.never_zero(c.den):
            raise Wrong(f"the multiplier of {name} is not shown to be finite")
        # An expression that is 0 may be multiplied by any number.
        if name not in posed.equal and domain.ratio_sign(c) is None:
            raise Wrong(f"the multiplier of {name} is not shown to be nonnegative")
    left = remainder(posed, multipliers)
    if values := [key[1] for key in left.of if key[0] == "value"]:
        raise Wrong(f"the values {values[0]} do not cancel")
    squares, made = {}, {}
    for block, rows in blocks(posed).items():
        of = matrix(posed, left, block, rows)
        for plan in [plans[block]] if plans is not None and block in plans else planned(posed, of, rows):
            found = semidefinite(posed, of, rows, plan)
            if found is not None:
                squares[block] = found
                made[block] = plan._replace(order=pivots(found))
                break
        else:
            raise Wrong(f"the block {block} is not shown to be a sum of squares")
    return CaseProof(posed, multipliers, squares, made)


def pivots(squares: Sequence[WeightedSquare]) -> tuple[str, ...]:
    """The order of an elimination."""
    return tuple(square.pivot for square in squares if square.pivot is not None)


def planned(posed: Posed, of: Matrix, rows: list[str]) -> Iterator[Elimination]:
    """Yield plans for a block, with the pivots left open: first with letters for maxima replaced, then without."""
    for letter, bounds in posed.branches.items():
        places = _diagonal(posed.domain, of, letter)
        if places:
            for choice in product(range(len(bounds)), repeat=len(places)):
                yield Elimination(letter, {rows[i]: k for i, k in zip(places, choice, strict=True)}, ())
    yield Elimination(None, {}, ())


def semidefinite(posed: Posed, of: Matrix, rows: list[str], plan: Elimination) -> tuple[WeightedSquare, ...] | None:
    """Weights and squares whose sum a matrix is; None where this is not shown."""
    below, more = lowered(posed, of, rows, plan)
    below = without(posed.domain, below, rows, plan.stated)
    found = eliminated(posed.domain, below, rows, plan.order)
    return None if found is None else (*more, *plan.stated, *found)


def without(domain: Domain, of: Matrix, rows: list[str], squares: Sequence[WeightedSquare]) -> Matrix:
    """Return a matrix less weighted squares.

    They may divide by what is zero somewhere, as pivots may. Raise ``Wrong`` if a weight is not shown to be
    nonnegative, or a vector has a row that does not occur.
    """
    for _, weight, vector in squares:
        if not set(vector) <= set(rows):
            raise Wrong("a square is of vectors that do not occur")
        if domain.ratio_sign(weight) is None:
            raise Wrong("the weight of a square is not shown to be nonnegative")
        parts = [(i, vector[row]) for i, row in enumerate(rows) if row in vector]
        of = [list(row) for row in of]
        for (i, a), (j, b) in product(parts, repeat=2):
            of[i][j] = of[i][j] - weight * a * b
    return of


def eliminated(
    domain: Domain, of: Matrix, rows: list[str], order: Sequence[str] = ()
) -> tuple[WeightedSquare, ...] | None:
    """The squares that elimination makes, in an order in which all pivots are shown to be nonnegative; None if none is.

    A pivot may be zero somewhere: a domain is regular, so that what is shown elsewhere holds there too.
    """
    if all(c.is_zero for row in of for c in row):
        return ()
    alive = [i for i in range(len(rows)) if not of[i][i].is_zero]
    if any(not c.is_zero for i in range(len(rows)) if i not in alive for c in of[i]):
        return None
    choices = [i for i in alive if rows[i] == order[0]] if order else sorted(alive, key=lambda i: of[i][i].length)[:3]
    for k in choices:
        pivot = of[k][k]
        if domain.ratio_sign(pivot) is None:
            continue
        rest = [i for i in alive if i != k]
        left = [[of[i][j] - of[i][k] * of[k][j] / pivot for j in rest] for i in rest]
        found = eliminated(domain, left, [rows[i] for i in rest], order[1:])
        if found is not None:
            vector = {rows[i]: of[i][k] / pivot for i in alive if not of[i][k].is_zero}
            return (WeightedSquare(rows[k], pivot, vector), *found)
    return None


def lowered(posed: Posed, of: Matrix, rows: list[str], plan: Elimination) -> tuple[Matrix, tuple[WeightedSquare, ...]]:
    """Return a matrix that is at most the given one, with the squares by which they differ.

    Raise ``Wrong`` if a plan has none.
    """
    if plan.maximum is None:
        return of, ()
    places = _diagonal(posed.domain, of, plan.maximum) if plan.maximum in posed.branches else []
    bounds = posed.branches.get(plan.maximum, ())
    if {rows[i] for i in places} != set(plan.bounds) or not all(0 <= k < len(bounds) for k in plan.bounds.values()):
        raise Wrong("a maximum is replaced where it does not occur")
    value = Ratio(posed.domain.ring.gen(plan.maximum), posed.domain.ring.constant(1))
    below = [list(row) for row in of]
    more = []
    for i in places:
        apart = _slope(of[i][i], plan.maximum) * (value - bounds[plan.bounds[rows[i]]])
        below[i][i] = of[i][i] - apart
        more.append(WeightedSquare(None, apart, {rows[i]: posed.one}))
    return below, tuple(more)


def _slope(entry: Ratio, letter: int) -> Ratio:
    return Ratio.of(coefficients(entry.num, letter)[1], entry.den)


def _diagonal(domain: Domain, of: Matrix, letter: int) -> list[int]:
    """The rows in which a letter stands, where it stands on the diagonal alone and its coefficients are nonnegative."""
    found = []
    for i, row in enumerate(of):
        for j, c in enumerate(row):
            if degree(c.den, letter) or degree(c.num, letter) > 1 or (i != j and degree(c.num, letter)):
                return []
        if degree(row[i].num, letter):
            if domain.ratio_sign(_slope(row[i], letter)) is None:
                return []
            found.append(i)
    return found


@dataclass(frozen=True, eq=False)
class SplitProof:
    """Proofs of two parts of a domain: where a polynomial is >= 0, and where it is <= 0."""

    by: Any
    above: Tree
    below: Tree


Tree = CaseProof | SplitProof


def leaves(tree: Tree) -> Iterator[CaseProof]:
    """The proofs of all parts."""
    if isinstance(tree, SplitProof):
        yield from leaves(tree.above)
        yield from leaves(tree.below)
    else:
        yield tree


# In files: multipliers by name, or a polynomial and what is shown on both sides of it


def written(tree: Tree) -> dict[str, Any]:
    """Proofs as texts by name."""
    if isinstance(tree, SplitProof):
        names = next(leaves(tree)).posed.names
        by = text(Ratio(tree.by, tree.by.context().constant(1)), names)
        return {"split": by, "above": written(tree.above), "below": written(tree.below)}
    names = tree.posed.names
    plans = {
        block: {
            "maximum": None if plan.maximum is None else names[plan.maximum],
            "bounds": dict(plan.bounds),
            "order": list(plan.order),
            **_stated(plan, names),
        }
        for block, plan in tree.plans.items()
    }
    return {"multipliers": {name: text(c, names) for name, c in tree.multipliers.items()}, "plans": plans}


def _stated(plan: Elimination, names: tuple[str, ...]) -> dict[str, Any]:
    squares = [
        {"weight": text(s.weight, names), "vector": {row: text(c, names) for row, c in s.vector.items()}}
        for s in plan.stated
    ]
    return {"stated": squares} if squares else {}


def checked(posed: Posed, stored: Mapping[str, Any]) -> Tree:
    """Return proofs from texts, checked anew. Raise ``Wrong`` if they are not proofs."""
    try:
        if set(stored) == {"multipliers", "plans"}:
            multipliers = {str(name): parsed(str(c), posed.names) for name, c in stored["multipliers"].items()}
            return check(posed, multipliers, {str(k): _plan(posed, v) for k, v in stored["plans"].items()})
        if set(stored) != {"split", "above", "below"}:
            raise Wrong("a stored proof has multipliers, or is split")
        by = parsed(str(stored["split"]), posed.names)
    except Wrong:
        raise
    except (ValueError, ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise Wrong(f"a stored proof cannot be read: {error}") from error
    above, below = posed.part(by.num), posed.part(-by.num)
    return SplitProof(by.num, checked(above, stored["above"]), checked(below, stored["below"]))


def _plan(posed: Posed, stored: Mapping[str, Any]) -> Elimination:
    top = stored["maximum"]
    maximum = None if top is None else posed.names.index(top)
    bounds = {str(row): int(k) for row, k in stored["bounds"].items()}
    squares = tuple(_square(posed, square) for square in stored.get("stated", ()))
    return Elimination(maximum, bounds, tuple(map(str, stored["order"])), squares)


def _square(posed: Posed, stored: Mapping[str, Any]) -> WeightedSquare:
    vector = {str(row): parsed(str(c), posed.names) for row, c in stored["vector"].items()}
    return WeightedSquare(None, parsed(str(stored["weight"]), posed.names), vector)


_Found = TypeVar("_Found")


@cache
def texts(name: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the contents of a file beside this one, by claims and their cases or parts; none of it may be used
    unchecked.
    """
    return json.loads(Path(__file__).with_name(name).read_text())


def else_searched(known: Callable[[], _Found] | None, search: Callable[[], _Found | str], work: Work) -> _Found | str:
    """Return what ``known`` proves (None if nothing is stored) or, if that is ``Wrong``, what a search finds with the
    work that is left; else why nothing was found.
    """
    if known is not None:
        try:
            return known()
        except Wrong:
            pass
    return OVER if work.is_spent else search()
