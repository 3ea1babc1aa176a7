"""The points at which a claim is certified: which of them are the same but for units, and which say little.

What holds where the class is one quadratic, where there is one client, or where a probability is 1 may hold there
only. A point is *degenerate* in these ways, as far as the hypotheses allow other points:

- the class of functions has mu = L, or there is one client;
- a letter is 0, or 1 where that is an end of what it may be;
- two letters that a hypothesis orders are equal;
- both sides of an inequality vanish.

One of the points is to be degenerate in none of these ways. And not all of them are to be where a letter without a unit
is 1 that may be more or less, or where any other hypothesis holds with equality.

A number that stands in a claim is a threshold, and some of the points are to lie beyond it: those of letters without a
unit, and the condition number. Where a side has a maximum, a minimum or a size, each of its terms is to be the one that
counts at some point. A sum of letters is to vanish at some point, if the hypotheses let it.

Units are read off the claim. Scaling the functions, or the space, multiplies letters by powers; two points are the
same up to scaling when one is the other after such a change that leaves every relation and every side homogeneous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms.schedules import ROUND
from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.numbers.rational import evaluate, exact, holds
from fedtheory.numbers.symbols import n
from fedtheory.numbers.validation import conjuncts
from fedtheory.sampling import drawing, pinned
from fedtheory.settings.hypotheses import Hypothesis
from verify.base.evaluate import hypotheses_hold, sides
from verify.exact import reals, symbolic
from verify.search import critical, hunting
from verify.search.units import scalings

#: Recipes among which points are looked for that are not degenerate, how many of these are enough, and how many, the
#: simplest, are tried.
_PROPOSED, _ENOUGH, _TRIED = 1000, 4, 3
#: States at which both sides are looked at.
_STATES = 3
#: Letters of a point that a note names.
_NAMED = 6


@dataclass(frozen=True)
class Points:
    """What is said of points of a claim.

    ``units``: for each independent scaling the powers to which the letters scale; ``ends``: the sides of hypotheses
    that may hold with equality; ``avoidable``: the ways of being degenerate that the hypotheses do not force;
    ``inside``: those of them that only all points together must not share; ``jointly``: whether one point may avoid all
    the others; ``far``: relations that hold beyond a threshold, or where one term of a maximum is seen to count
    somewhere, with a point in each; ``zeros``: sums of letters that vanish somewhere; ``turns``: others, of
    letters that are computed, what derivatives of sums are products of, and differences of terms of a maximum, where
    they may vanish.
    """

    claim: Claim
    units: tuple[Mapping[sympy.Expr, Fraction], ...]
    ends: tuple[tuple[sympy.Expr, sympy.Expr], ...]
    avoidable: frozenset[str]
    inside: frozenset[str]
    jointly: bool
    far: tuple[sympy.Basic, ...] = ()
    zeros: tuple[sympy.Expr, ...] = ()
    turns: tuple[sympy.Expr, ...] = ()

    def place(self, recipe: Recipe) -> Any:
        """The point of a recipe, the same for all that differ by units."""
        return self._scaled(_bound(self.claim, self._built(recipe)))

    def degeneracies(self, recipe: Recipe) -> frozenset[str]:
        """In which of the avoidable ways the point of a recipe is degenerate; that both sides vanish is another."""
        return self._degeneracies(self._built(recipe))

    def _degeneracies(self, instance: Instance) -> frozenset[str]:
        found = self.avoidable & set(_ways(self.claim, instance, self.units, self.ends))
        return found | {"both sides vanish"} if _vanishing(self.claim, instance) else found

    def uncovered(self, recipes: Sequence[Recipe]) -> tuple[str, ...]:
        """What all of the points have in common that the hypotheses do not ask: empty where one of them has none of it.

        Where no point can avoid all of it at once, each is to be avoided by one of the points.
        """
        each = [self.degeneracies(recipe) for recipe in recipes]
        common = frozenset.intersection(*each) if each else frozenset()
        least = min((found - self.inside for found in each), key=lambda d: (len(d), sorted(d)), default=frozenset())
        return tuple(sorted(common or (least if self.jointly else ())))

    def better(self, seed: int, shared: Iterable[str]) -> Iterator[Recipe]:
        """A few simple points that are not degenerate, of those that are drawn and meet the hypotheses; where there are
        none, points that have nothing of what those at hand have in common."""
        least = frozenset(shared) | (self.avoidable - self.inside if self.jointly else frozenset())
        yield from self._avoiding(seed, self.avoidable) or self._avoiding(seed, least)

    def _avoiding(self, seed: int, ways: frozenset[str]) -> list[Recipe]:
        return list(self._simple(seed, lambda at: ways.isdisjoint(_ways(self.claim, at, self.units, self.ends))))

    def near(self, recipes: Sequence[Recipe]) -> tuple[sympy.Basic, ...]:
        """The thresholds that none of the points is beyond, and the terms of a maximum that count at none."""
        at = [_bound(self.claim, self._built(recipe)) for recipe in recipes]
        return tuple(relation for relation in self.far if not any(_holds(relation, values) for values in at))

    def passed(self, recipes: Sequence[Recipe]) -> tuple[sympy.Expr, ...]:
        """The sums that vanish at none of the points."""
        at = [_bound(self.claim, self._built(recipe)) for recipe in recipes]
        return tuple(e for e in self.zeros if not any(_holds(critical.nearly(e), values) for values in at))

    def beyond(self, relation: sympy.Basic, seed: int) -> Iterator[Recipe]:
        """A few simple points beyond a threshold, as :meth:`better`."""
        return self._simple(seed, lambda at: _holds(relation, _bound(self.claim, at)))

    def _simple(self, seed: int, wanted: Callable[[Instance], bool]) -> Iterator[Recipe]:
        found = []
        for recipe in islice(self.claim.instances.recipes(hunting.generator(self.claim, seed)), _PROPOSED):
            try:
                at = self._built(recipe)
                if wanted(at) and hypotheses_hold(self.claim, at) and not _vanishing(self.claim, at):
                    found.append(recipe)
            except (ValueError, ArithmeticError):
                continue
            if len(found) == _ENOUGH:
                break
        yield from sorted(found, key=lambda recipe: (len(recipe.get("clients", ())), hunting.wildness(recipe)))[:_TRIED]

    def _built(self, recipe: Recipe) -> Instance:
        return self.claim.instances.build(recipe, True)

    def _scaled(self, values: Mapping[sympy.Expr, Any]) -> tuple[tuple[str, str], ...]:
        """The letters' values in units in which those that set a unit are 1."""
        found = dict(values)
        for powers in self.units:
            unit = next(letter for letter, power in powers.items() if power == 1)
            size = found[unit]
            if not (_is_ratio(size) and size > 0):
                continue
            for letter, power in powers.items():
                if power.denominator == 1 and _is_ratio(found[letter]):
                    found[letter] = Fraction(found[letter]) / Fraction(size) ** int(power)
        return tuple(sorted((str(letter), str(value)) for letter, value in found.items()))


def of(claim: Claim, assumed: Iterable[Hypothesis] = ()) -> Points:
    """What is said of the points of a claim; ``assumed``: hypotheses that are made besides its own."""
    relations = [*symbolic.assumed(claim), *(h.relation for h in assumed if h.relation is not None)]
    given = [*relations, *of_class(claim)]
    units, ends = tuple(scalings(claim, relations)), tuple(_ends(claim, relations))
    ways = dict(_all_ways(claim, units, ends))
    avoidable = {way: holds for way, holds in ways.items() if holds is None or not reals.implied(holds, given)}
    letters = set(claim.setting.sources)
    inside = {way for way, holds in avoidable.items() if holds is not None and not _is_end(holds, letters, given)}
    apart = [
        sympy.Ne(r.lhs, r.rhs, evaluate=False) for way, r in avoidable.items() if r is not None and way not in inside
    ]
    jointly = not reals.contradictory([*given, *apart])
    far = [r for r in _far(claim, units) if not reals.contradictory([*given, r])]
    attained = (sympy.Eq(r.lhs, r.rhs, evaluate=False) for r in bounds(claim, relations))
    far += [r for r in attained if not reals.contradictory([*given, r])]
    few = [*given, *_posed(claim)]
    # A term that counts for more clients than are posed is asked for as well: it is seen nowhere.
    any_number = given if claim.setting.any_clients else few
    far += [r for r in _branches(claim) if reals.possible([*any_number, *conjuncts(r)])]
    sums = critical.sums(claim)
    vanishing = critical.vanishing(sums, few)
    zeros = [e for e in vanishing if critical.is_free(claim, e)]
    turns = [*(e for e in vanishing if e not in zeros), *critical.turns(sums, few)]
    turns += [e for e in critical.ties(claim, few) if e not in zeros and e not in turns]
    return Points(
        claim, units, ends, frozenset(avoidable), frozenset(inside), jointly, tuple(far), tuple(zeros), tuple(turns)
    )


def _posed(claim: Claim) -> tuple[sympy.Rel, ...]:
    """With how many clients instances are posed."""
    clients = claim.setting.clients
    most = pinned.MOST_CLIENTS if claim.setting.any_clients else max(clients)
    return sympy.Ge(n, min(clients), evaluate=False), sympy.Le(n, most, evaluate=False)


def _far(claim: Claim, units: Sequence[Mapping[sympy.Expr, Fraction]]) -> Iterator[sympy.Rel]:
    """That a letter, or the condition number, is beyond a threshold, or below its inverse, where it has no unit."""
    rounds = [x for x, source in claim.setting.sources.items() if source == ROUND]
    given = symbolic.assumed(claim)
    sizes, letters = pinned.thresholds(claim), (*pinned.measures(claim.setting), *rounds)
    for size, one in product(sizes, letters):
        number = sympy.Rational(size.numerator, size.denominator)
        if any(_degree(one, powers) for powers in units):
            continue
        if one.is_integer and reals.implied(sympy.Le(one, n, evaluate=False), given):
            # Of so many clients no program is posed.
            continue
        yield sympy.Gt(one, number, evaluate=False)
        if one.is_Symbol and not one.is_integer:
            yield sympy.Lt(one, 1 / number, evaluate=False)


def bounds(claim: Claim, relations: Iterable[sympy.Rel]) -> Iterator[sympy.Rel]:
    """The bounds on constants of the classes alone, which are drawn before all else."""
    functions = claim.setting.functions
    named = {name for adversary in claim.setting.adversaries for name in adversary.letters}
    constants = {x for x, source in claim.setting.sources.items() if source in named}
    constants |= set(functions.letters) if functions is not None else set()
    single = (r for given in relations for r in conjuncts(given))
    yield from (r for r in single if r.free_symbols and r.free_symbols <= constants)


def _branches(claim: Claim) -> Iterator[sympy.Basic]:
    """That one term of a maximum, or of a minimum, of letters is beyond all others; that a number is positive, or
    negative, whose size is taken."""
    compared = [side for c in claim.statement.comparisons for side in (c.left, c.right)]
    nodes = sympy.Tuple(*compared, *drawing.sides(claim)).atoms(sympy.Max, sympy.Min, sympy.Abs)
    for node in sorted(nodes, key=sympy.default_sort_key):
        if not node.free_symbols <= set(claim.setting.sources):
            continue
        if isinstance(node, sympy.Abs):
            yield from (by(node.args[0], 0, evaluate=False) for by in (sympy.Gt, sympy.Lt))
            continue
        order = sympy.Gt if isinstance(node, sympy.Max) else sympy.Lt
        for one in node.args:
            yield sympy.And(*(order(one, other, evaluate=False) for other in node.args if other is not one))


def _degree(one: sympy.Expr, powers: Mapping[sympy.Expr, Fraction]) -> Any:
    """To which power a product of letters scales."""
    return sum(powers.get(letter, 0) * exponent for letter, exponent in one.as_powers_dict().items())


def of_class(claim: Claim) -> Iterator[sympy.Rel]:
    """What the class of functions says of its letters: mu <= L, and that kappa is their ratio."""
    functions = claim.setting.functions
    if functions is not None and functions.ends is not None:
        mu, L = functions.ends
        yield sympy.Le(mu, L, evaluate=False)
        yield from (sympy.Eq(x * mu, L, evaluate=False) for x, s in claim.setting.sources.items() if s == "kappa")


def _is_end(holds: sympy.Rel, letters: set[sympy.Expr], relations: Sequence[sympy.Basic]) -> bool:
    """Whether letters are equal, or one is 0, or is 1 and cannot pass it."""
    if holds.lhs not in letters or (holds.rhs not in letters and holds.rhs not in (0, 1)):
        return False
    if holds.rhs != 1 or (holds.lhs.is_integer and holds.lhs.is_positive):
        return True
    return any(reals.implied(side(holds.lhs, 1, evaluate=False), relations) for side in (sympy.Le, sympy.Ge))


def told(claim: Claim, recipe: Recipe) -> str:
    """The letters' values at a point, in a few words."""
    values = _bound(claim, claim.instances.build(recipe, True))
    named = [f"{letter}={value}" for letter, value in values.items() if str(letter) != "d" and len(str(value)) <= 12]
    return ", ".join(named[:_NAMED])


def _bound(claim: Claim, instance: Instance) -> Mapping[sympy.Expr, Any]:
    return claim.setting.bind(instance.problem, instance.params)


def _holds(relation: sympy.Basic, values: Mapping[sympy.Expr, Any]) -> bool:
    """Whether a relation holds at values of the letters; not where a side of it is no number."""
    try:
        return holds(relation, values)
    except (ValueError, ArithmeticError):
        return False


def _is_ratio(value: Any) -> bool:
    return isinstance(value, int | Fraction | np.integer)


_CURVATURES, _ONE_CLIENT = "mu = L", "one client"


def _all_ways(
    claim: Claim,
    units: Sequence[Mapping[sympy.Expr, Fraction]],
    ends: Sequence[tuple[sympy.Expr, sympy.Expr]],
) -> Iterator[tuple[str, sympy.Rel | None]]:
    """Every way of being degenerate, with the relation between letters that it is, if it is one."""
    functions = claim.setting.functions
    if functions is not None:
        if functions.ends is not None:
            yield _CURVATURES, sympy.Eq(*functions.ends, evaluate=False)
        if max(claim.setting.clients) > 1:
            yield _ONE_CLIENT, None
    scaling = set().union(*units)
    if functions is not None:
        scaling |= set(functions.letters)
    for letter, source in claim.setting.sources.items():
        if _counts(claim, source):
            continue
        for value in (0, 1):
            if value not in _excluded(letter) and not (value and letter in scaling):
                yield f"{letter} = {value}", sympy.Eq(letter, value, evaluate=False)
    for a, b in ends:
        yield f"{a} = {b}", sympy.Eq(a, b, evaluate=False)


def _counts(claim: Claim, source: Any) -> bool:
    """Whether a letter is told otherwise: the number of clients, and the dimension where all of them are meant."""
    return claim.setting.functions is not None and source in ("n", "d")


def _excluded(letter: sympy.Expr) -> tuple[int, ...]:
    """Values that a letter never has, by what is assumed of it."""
    return (0,) if letter.is_positive or letter.is_nonzero else ()


def _ways(
    claim: Claim,
    instance: Instance,
    units: Sequence[Mapping[sympy.Expr, Fraction]],
    ends: Sequence[tuple[sympy.Expr, sympy.Expr]],
) -> Iterator[str]:
    """The ways in which an instance is degenerate."""
    values = _bound(claim, instance)
    problem = instance.problem
    for way, relation in _all_ways(claim, units, ends):
        if way == _CURVATURES:
            degenerate = problem.mu == problem.L
        elif relation is None:
            degenerate = problem.n == 1
        else:
            try:
                left, right = (values[s] if s in values else evaluate(s, values) for s in (relation.lhs, relation.rhs))
            except ValueError:
                continue
            degenerate = bool(left == right)
        if degenerate:
            yield way


def _vanishing(claim: Claim, instance: Instance) -> bool:
    """Whether both sides of every inequality are 0 at some states, drawn at random, though neither is written so."""
    statement = claim.statement
    if not statement.bounding:
        return False
    if any(side.is_zero for c in statement.comparisons for side in (c.left, c.right)):
        return False
    rng = np.random.default_rng(0)
    theta = exact(rng.integers(-9, 10, (_STATES, instance.dimension)))
    try:
        found = sides(claim, instance, theta)
    except (ValueError, ArithmeticError):
        return False
    return not any(np.any(np.asarray(side) != 0) for part in found for side in part)


def _ends(claim: Claim, relations: Iterable[sympy.Basic]) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    """The sides of the hypotheses on letters that may hold with equality, or not."""
    letters = set().union(*(letter.free_symbols for letter in claim.setting.sources))
    for relation in symbolic.conjuncts(relations):
        if isinstance(relation, sympy.Le | sympy.Ge) and relation.free_symbols <= letters:
            yield relation.lhs, relation.rhs
