"""The instance at which a claim is examined: some letters have given values, others typical ones or their bounds.

A worst case over a class depends on the class, on the number of clients and on the parameters alone; the functions of
the instance matter for what is found from below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, islice, product
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.instances.members import sampler
from fedtheory.sampling import derived
from fedtheory.sampling.compressors import samplers
from fedtheory.settings import Setting
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold
from verify.comparisons import asserted

#: Values of the paper's letters, by name.
Letters = Mapping[str, Fraction]

#: What letters are that nobody gives: the ends of the class, and parameters of compressors and of noise.
_USUAL = {"omega": Fraction(1), "alpha": Fraction(3, 4), "sigma": Fraction(1)}
_CONDITION = Fraction(10)
#: Values of letters that are tried where the usual ones break a hypothesis: with squares, as of curvatures whose root
#: is asked for.
_GRID = tuple(sympy.Rational(v) for v in ("1/9", "9", "1/4", "4", "1/2", "2", "1/16", "16", "1", "1/10", "10"))
#: The number of those that meet the relations and are tried.
_TRIED = 8
#: The number of draws of functions that are to meet the hypotheses.
_SEEDS = 10


def known(claim: Claim) -> tuple[str, ...]:
    """The letters that may be given values: those of the grid of a claim's setting and its other letters."""
    setting = claim.setting
    fields = getattr(setting.algorithm.Params, "_fields", ()) if setting.algorithm is not None else ()
    named = [str(letter) for letter, source in setting.sources.items() if isinstance(source, str)]
    # A grid has its own units.
    ends = () if setting.functions is None or setting.drawing.sweep else map(str, setting.functions.letters)
    others = (name for name in named if name in fields or name in _USUAL)
    return tuple(dict.fromkeys((*setting.drawing.sweep, "n", *ends, *others)))


def recipe(claim: Claim, at: Letters, stiff: int = 0) -> Recipe:
    """The recipe of an instance where the letters have these values, the first ``stiff`` clients with the largest
    curvature and the others with the least.

    ``ValueError`` for a letter that the claim does not have, and where the letters cannot occur together.
    """
    names = known(claim)
    unknown = [name for name in at if name not in names]
    if unknown:
        raise ValueError(f"{claim.id} has no letter {unknown[0]!r} that can be given: it has {', '.join(names)}")
    sweep = claim.setting.drawing.sweep
    if sweep:
        return derived.at_letters(claim, {**{k: _typical(k, v) for k, v in sweep.items()}, **at}, stiff)
    for seed in range(_SEEDS):
        # Functions that are drawn may be members that break a hypothesis.
        found = _plain(claim, at, stiff, seed)
        case = Case(claim, found)
        values = shown(case)
        if wrong := [name for name, value in at.items() if values.get(name, str(value)) != str(value)]:
            raise ValueError(f"no instance of {claim.id} is known where {wrong[0]} is {at[wrong[0]]}")
        if hypotheses_hold(case):
            return found
    return _plain(claim, at, stiff, 0)


def _typical(name: str, values: Sequence[Any]) -> Fraction:
    """The first value of a grid at which there is all that a claim is about: compression, several clients, a coin."""
    numbers = [Fraction(value) for value in values]
    left_out = (0, 1) if name in ("n", "N", "p") else (0,)
    return next((value for value in numbers if value not in left_out), numbers[0])


def others(claim: Claim, at: Letters) -> Letters:
    """Values of letters beside those ``at`` that are given, if the usual ones break a hypothesis and some are known
    that meet all; else none.

    To be asked once: a search that varies a letter must leave the others where they are.
    """
    if claim.setting.drawing.sweep or hypotheses_hold(Case(claim, recipe(claim, at))):
        return {}
    tried = islice(_meeting(claim, at), _TRIED)
    return next((v for v in tried if hypotheses_hold(Case(claim, _plain(claim, {**v, **at}, 0, 0)))), {})


def _meeting(claim: Claim, at: Letters) -> Iterator[Letters]:
    """Yield values of letters that nobody gives, one or two of them and those that equalities then decide, at which the
    relations between the letters hold where the usual ones break them."""
    relations = [h.relation for h in claim.requires if h.relation is not None]
    usual = {s: _rational(v) for s, v in Case(claim, _plain(claim, at, 0, 0)).letters.items() if _is_number(v)}
    names = [name for name in known(claim) if name not in at and name != "n"]
    letters = [s for s in usual if str(s) in names and any(s in relation.free_symbols for relation in relations)]
    solved = [r for r in relations if isinstance(r, sympy.Eq) and (r.lhs in letters or r.rhs in letters)]
    for count in range(3):
        for some in combinations(letters, count):
            for values in product(_GRID, repeat=count):
                now = {**usual, **dict(zip(some, values, strict=True))}
                for one in solved:
                    letter, value = (one.lhs, one.rhs) if one.lhs in letters else (one.rhs, one.lhs)
                    value = sympy.simplify(value.xreplace(now))
                    if letter not in some and value.is_Rational:
                        now[letter] = value
                if all(relation.xreplace(now) == True for relation in relations):  # noqa: E712
                    yield {str(s): Fraction(int(v.p), int(v.q)) for s, v in now.items() if v != usual[s]}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Fraction)


def _rational(value: int | Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def recipes(claim: Claim, at: Letters) -> Iterator[Recipe]:
    """Distinct recipes at the letters, whose functions are at the ends of the class in other ways."""
    first = recipe(claim, at)
    seen = [first]
    yield first
    for stiff in range(1, len(first.get("clients", ())) + 1):
        other = recipe(claim, at, stiff)
        if other not in seen:
            seen.append(other)
            yield other


def case(claim: Claim, given: Recipe) -> Case:
    """Return the claim at the exact instance of a recipe.

    Raise ``ValueError`` if a hypothesis does not hold there, or if the code is not what its author asserts.
    """
    found = Case(claim, given)
    for hypothesis in claim.requires:
        if not hypothesis.holds(found.problem, found.params, found.letters):
            letters = ", ".join(f"{name}={value}" for name, value in shown(found).items())
            why = f"the letters {letters} do not meet the hypothesis {hypothesis.text} of {claim.id}"
            raise ValueError(f"{why}: give values that do by --at")
    if not hypotheses_hold(found):
        raise ValueError(f"the letters do not meet the hypotheses of {claim.id}")
    # A worst case over formal states takes what the author asserts for granted.
    for at in (found, Case(claim, _moved(given))):
        if failed := asserted.failed_assertion(at):
            raise ValueError(f"{claim.id}: {failed}")
    return found


def _moved(given: Recipe) -> Recipe:
    """A recipe whose optimum, and whose gradients there, are not 0: what is wrong there shows."""
    if "x" not in given or not all("y" in client for client in given.get("clients", ())):
        return given
    clients = tuple(
        {**client, "y": tuple(v + Fraction((-1) ** k * (k + 2), 3) for v in client["y"])}
        for k, client in enumerate(given["clients"])
    )
    return {**given, "x": tuple(v + Fraction(3, 2) for v in given["x"]), "clients": clients}


def shown(case: Case) -> dict[str, str]:
    """The values of the letters at an instance, and the number of its clients."""
    values = {str(x): str(v) for x, v in case.letters.items()}
    n = getattr(case.problem, "n", None)
    return values if n is None or "n" in values else {**values, "n": str(n)}


def freed(claim: Claim, letter: str) -> Claim:
    """The claim without the hypotheses that bound a letter. Raise ``ValueError`` if it is a constant of the problem."""
    if letter not in known(claim):
        raise ValueError(f"{claim.id} has no letter {letter!r} that can be given: it has {', '.join(known(claim))}")
    functions = claim.setting.functions
    if letter in ("n", "kappa") or (functions is not None and letter in map(str, functions.letters)):
        raise ValueError(f"{letter} is a constant of the problem: a parameter of the method was expected")

    def speaks(relation: Any) -> bool:
        return relation is not None and letter in map(str, relation.free_symbols)

    kept = tuple(h for h in claim.requires if not speaks(h.relation))
    return claim if len(kept) == len(claim.requires) else replace(claim, requires=kept)


def _plain(claim: Claim, at: Letters, stiff: int, seed: int) -> Recipe:
    """The recipe of a setting without a grid, with one coordinate."""
    setting = claim.setting
    n = _clients(setting, at)
    found: dict[str, Any] = {"n": n, "d": 1}
    if setting.functions is not None:
        found = _functions(setting, at, n, stiff, seed)
    for adversary in samplers(setting):
        found |= adversary.at({**_USUAL, "b": Fraction(1), **at})
    if setting.drawing.draw is not None:
        found = dict(setting.drawing.draw(np.random.default_rng(0), found) or {})
    return derived.filled(claim, found, at)


def _clients(setting: Setting, at: Letters) -> int:
    if "n" not in at:
        return min(setting.clients, key=lambda n: (n < 2, n)) if setting.functions is not None else 2
    n = at["n"]
    if n.denominator != 1 or not 1 <= n <= derived.MOST:
        raise ValueError(f"n must be an integer between 1 and {derived.MOST}, got {n}")
    return int(n)


def _functions(setting: Setting, at: Letters, n: int, stiff: int, seed: int) -> dict[str, Any]:
    """The functions: at the ends of the class where it has ends, else drawn."""
    of = setting.functions
    assert of is not None
    by = sampler(of, setting.drawing)
    drawn = by.draw(np.random.default_rng(seed), n, 1, setting.drawing.g[0])
    if by.relative:
        return {**drawn, **{name: at.get(name, Fraction(1)) for name in map(str, of.letters)}}
    named = {source: str(letter) for letter, source in of.letters.items() if isinstance(source, str)}
    top, low = named.get("L"), named.get("mu")
    ends = {top: at.get(top, Fraction(1))} if top else {}
    if low:
        ends[low] = at.get(low, ends[top] / _CONDITION if top else Fraction(1))
    for name, value in ends.items():
        if value < 0 or (value == 0 and name == top):
            raise ValueError(f"{name} must be positive, got {value}")
    if low and top and ends[low] > ends[top]:
        raise ValueError(f"{low} must be at most {top}, got {low} = {ends[low]} and {top} = {ends[top]}")
    if top is None or not all(set(client) >= {"h", "y"} for client in drawn.get("clients", ())):
        # Other functions keep the constants with which they were drawn.
        return {**drawn, **{name: value for name, value in ends.items() if name in at}}
    found: dict[str, Any] = {**drawn, **ends}
    flat = (Fraction(0),)
    high = ends[top]
    least = ends[low] if low and of.ends is not None else high
    found |= {"d": 1, "x": flat}
    found["clients"] = tuple({"h": (high if i < stiff else least,), "y": flat} for i in range(n))
    if "g" in drawn:
        found["g"] = {"h": (least,), "y": flat}
    return found
