"""Letters drawn together with the constants of the class, where hypotheses or thresholds pin these.

A class draws its members, and the letters follow. Where a hypothesis says that L is 25, or at least a million, hardly
any member meets it: then the hypotheses are solved for the constants of the class too, and the functions are moved to
the constants that come out.

The numbers that stand in a claim are thresholds: what holds on one side of them may not hold on the other. Those that
no draw passes by itself are passed by letters, and ratios of letters, that are pinned beyond them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, cast

import numpy as np
import sympy

from fedtheory.algorithms.schedules import ROUND
from fedtheory.classes import InexactOracles
from fedtheory.instances import ClaimLike, Recipe, generic, members, pick
from fedtheory.instances.members import sampler
from fedtheory.numbers.rational import holds
from fedtheory.sampling import building, drawing, letter_values
from fedtheory.settings import Setting

#: The size beyond which draws of letters with functions rarely come.
REACHED = 100
#: The same for letters alone.
REACHED_ALONE = 10**6
#: The distances beyond a threshold at which letters are pinned: a little or a lot.
_BEYOND = ((Fraction(11, 10), Fraction(2)), (Fraction(2), Fraction(100)))
#: The most clients that are written out for one threshold.
MOST_CLIENTS = 60
#: The largest number whose exponential is looked for.
_EXPONENT = 200
#: Clients beyond which a number of the claim is a threshold for theirs.
_FEW = 12


def drawn(claim: ClaimLike, recipe: Recipe, relations: Iterable[object], rng: np.random.Generator) -> Recipe | None:
    """A recipe with other constants of the class and letters, such that the relations hold; None where none is found.

    What else the functions of the given one are stays: their curvatures lie as they did between the ends of the class.
    """
    setting = claim.setting
    of_class = _constants(setting, recipe)
    if not of_class:
        return None
    wanted = {x: source for x, source in drawing.drawn_letters(setting).items() if source not in recipe}
    stale = {*of_class, *(x for x, source in setting.sources.items() if source in ("mu", "L", "kappa"))}
    known = drawing.known(setting, recipe, building.problem_of(setting, recipe, True))
    given = {x: value for x, value in known.items() if x not in stale}
    # The largest curvature comes first where nothing else is known.
    order = (*reversed(of_class), *(x for x in setting.sources if x in wanted))
    stated = [*_about(setting, relations), *_ordered(setting)]
    plan = letter_values.plan(order, frozenset(given), tuple(stated), drawing.sides(claim))
    values = letter_values.draw(plan, given, {}, rng)
    if values is None:
        return None
    constants = {str(x): Fraction(values[x]) for x in of_class}
    try:
        found = {**moved(setting, recipe, constants), **{wanted[x]: values[x] for x in wanted if x in values}}
        at = building.values(setting, found)
        # In floats some constants are too far apart.
        building.problem_of(setting, found, False)
        return found if all(holds(relation, at) for relation in relations) else None
    except (ValueError, ArithmeticError):
        # There is no such member, or it has no such letters.
        return None


def _constants(setting: Setting, recipe: Recipe) -> tuple[sympy.Symbol, ...]:
    """The letters of the class, where its members can be moved to any values of them."""
    functions = setting.functions
    if functions is None or setting.drawing.draw is not None or setting.drawing.special is not None:
        return ()
    if any(isinstance(adversary, InexactOracles) for adversary in setting.adversaries):
        # The accuracy of an oracle is drawn with the letters that bound it.
        return ()
    found = tuple(functions.letters)
    return found if all(isinstance(recipe.get(str(x)), Fraction) for x in found) else ()


def _ordered(setting: Setting) -> Iterator[sympy.Rel]:
    """Yield the relation that the lower bound of the class is at most the upper one."""
    if setting.functions is not None and setting.functions.ends is not None:
        yield sympy.Le(*setting.functions.ends)


def _about(setting: Setting, relations: Iterable[Any]) -> list[Any]:
    """The relations, where they involve the condition number, of the constants that it is the ratio of."""
    ends = setting.functions.ends if setting.functions is not None else None
    ratio = {x: ends[1] / ends[0] for x, source in setting.sources.items() if source == "kappa"} if ends else {}
    substituted = (relation.subs(ratio) for relation in relations)
    return [relation for relation in substituted if relation not in (sympy.true, sympy.false)]


def moved(setting: Setting, recipe: Recipe, constants: Mapping[str, Fraction]) -> Recipe:
    """The recipe with these constants of the class, its curvatures between them as they were between the old ones."""
    moved = {**recipe, **constants}
    functions = sampler(setting.functions, setting.drawing)
    if functions.relative:
        return moved
    (low, high), (least, most) = (
        cast(tuple[Fraction, Fraction], functions.declared(r, True)[:2]) for r in (recipe, moved)
    )
    # The largest curvature of functions that need not be smooth is infinite, and stays.
    size = Fraction(1) if high == math.inf else Fraction(most / high)
    low, least = Fraction(low), Fraction(least)
    slope = size if high in (low, math.inf) else Fraction((most - least) / (high - low))

    def curvature(h: Fraction) -> Fraction:
        return least + (h - low) * slope if high > low else h * slope

    def strip(client: Recipe, h: Fraction) -> Recipe:
        # Where it ends the same share is left of the derivative at its start, so that minimisers stay minimisers.
        dip = curvature(client["dip"])
        near, far = sorted((client["dip_from"], client["dip_to"]), key=abs)
        far = near + (far - near) * h * client["dip"] / (client["h"][0] * dip) if dip and client["h"][0] else far
        return {"dip": dip, "dip_from": min(near, far), "dip_to": max(near, far)}

    def part(client: Recipe) -> Recipe:
        own = {key: tuple(map(curvature, client[key])) for key in members.SLOPES if key in client}
        dip = strip(client, own["h"][0]) if "dip" in client else {}
        # Where each function is least of its own stays where it was, or nearly.
        y = {"y": tuple(v * size for v in client["y"])} if "y" in client else {}
        jumps = {"jump": tuple(v * size for v in client["jump"])} if "jump" in client else {}
        return {**client, **own, **dip, **y, **jumps}

    whole = setting.functions is not None and setting.functions.with_g
    g = {"g": recipe["g"] if whole else part(recipe["g"])} if "g" in recipe else {}
    return {**moved, "clients": tuple(map(part, recipe["clients"])), **g}


# Thresholds


@lru_cache(maxsize=256)
def _numbers(expressions: tuple[sympy.Basic, ...]) -> tuple[Fraction, ...]:
    """The rational numbers that stand in expressions, exponents left out."""
    found: set[Fraction] = set()
    left = list(expressions)
    while left:
        node = left.pop()
        if node.is_Rational:
            found.add(abs(Fraction(int(node.p), int(node.q))))
            continue
        if isinstance(node, sympy.Rel | sympy.Max | sympy.Min):
            found.update(size for a, b in combinations(node.args, 2) for size in _solved(a - b))
        left += [node.base] if isinstance(node, sympy.Pow) else node.args
    return tuple(sorted(found))


def _solved(gap: sympy.Expr) -> Iterator[Fraction]:
    """Nearly the place where a difference of a number and a monotone function of a product of letters changes its sign:
    through powers, exponentials and logarithms, one in another."""
    number, rest = gap.as_coeff_Add()
    number = -number
    while True:
        factor, rest = rest.as_independent(*rest.free_symbols, as_Add=False)
        if not rest.free_symbols or not factor.is_nonzero or not number.is_real:
            return
        number = number / factor
        if isinstance(rest, sympy.Pow) and rest.exp.is_Rational and number > 0:
            number, rest = number ** (1 / rest.exp), rest.base
        elif isinstance(rest, sympy.log) and number < _EXPONENT:
            number, rest = sympy.exp(number), rest.args[0]
        elif isinstance(rest, sympy.exp) and number > 0:
            number, rest = sympy.log(number), rest.args[0]
        elif isinstance(rest, sympy.Add) and rest.args[0].is_Rational:
            number, rest = number - rest.args[0], rest - rest.args[0]
        else:
            break
    if number.is_number and number > 0:
        # Letters are pinned a little beyond it, so that an approximation is enough.
        yield Fraction(float(number)).limit_denominator(10**6) if number < 10**9 else Fraction(int(number))


def numbers(claim: ClaimLike) -> tuple[Fraction, ...]:
    """The sizes of the rational numbers that stand in the statement and in its hypotheses."""
    compared = (side for c in getattr(claim.statement, "comparisons", ()) for side in (c.left, c.right))
    return _numbers((*compared, *drawing.sides(claim), *drawing.relations(claim)))


def thresholds(claim: ClaimLike) -> tuple[Fraction, ...]:
    """Those of the numbers, or their inverses, that are larger than what letters reach by themselves."""
    reached = REACHED_ALONE if claim.setting.of_constants else REACHED
    return tuple(sorted({max(c, 1 / c) for c in numbers(claim) if c and max(c, 1 / c) > reached}))


def crowds(claim: ClaimLike) -> tuple[int, ...]:
    """Numbers of clients that lie beyond a number in the claim, which depends on theirs."""
    setting = claim.setting
    counts = {x for x, source in setting.sources.items() if source == "n"}
    compared = sympy.Tuple(*(side for c in getattr(claim.statement, "comparisons", ()) for side in (c.left, c.right)))
    if not setting.any_clients or not counts & (compared.free_symbols.union(*_free(drawing.relations(claim)))):
        return ()
    return tuple(int(c) + 1 for c in numbers(claim) if _FEW <= c < MOST_CLIENTS)


def _free(relations: Iterable[Any]) -> Iterator[set[sympy.Basic]]:
    return (relation.free_symbols for relation in relations)


def measures(setting: Setting, alone: tuple[sympy.Symbol, ...] = ()) -> tuple[sympy.Expr, ...]:
    """Letters, and the condition number, that may lie beyond a threshold; of constants the letters ``alone``."""
    if setting.functions is None:
        return alone
    fields = tuple(x for x, source in drawing.drawn_letters(setting).items() if source != ROUND)
    ends = setting.functions.ends
    return (*setting.functions.letters, *fields, *((ends[1] / ends[0],) if ends else ()))


def ends(claim: ClaimLike, relations: Iterable[object]) -> tuple[sympy.Eq, ...]:
    """Return relations that make bounds on the constants of the class attained: no letter drawn later could."""
    functions = claim.setting.functions
    of_class = frozenset() if functions is None else frozenset(functions.letters)
    bounds = (r for r in relations if isinstance(r, sympy.Le | sympy.Ge) and r.free_symbols <= of_class)
    return tuple(sympy.Eq(r.lhs, r.rhs, evaluate=False) for r in bounds if r.free_symbols)


def late(claim: ClaimLike, rng: np.random.Generator) -> int | None:
    """A round beyond a threshold; None where there is none."""
    sizes = thresholds(claim)
    return int(pick(rng, sizes) * generic(rng, *pick(rng, _BEYOND))) if sizes else None


def beyond(claim: ClaimLike, rng: np.random.Generator, alone: tuple[sympy.Symbol, ...] = ()) -> sympy.Rel | None:
    """Return a relation that puts a letter, or a ratio, beyond a threshold or below its inverse; None if there is
    none.
    """
    sizes, of = thresholds(claim), measures(claim.setting, alone)
    if not sizes or not of:
        return None
    one, size = pick(rng, of), pick(rng, sizes) * generic(rng, *pick(rng, _BEYOND))
    if one.is_integer:
        return sympy.Eq(one, int(size), evaluate=False)
    if one.is_Symbol and pick(rng, (True, False, False)):
        size = 1 / size
    return sympy.Eq(one, sympy.Rational(size.numerator, size.denominator), evaluate=False)
