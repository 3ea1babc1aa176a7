"""The instances of a claim, derived from its setting: members of its classes, letters that meet its hypotheses, states.

A recipe is data: the letters by the names of their sources, ``x`` and the ``clients`` for the functions, what the
adversaries need. It can be drawn, simplified, stored and rebuilt, in floats for speed or in fractions for proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, count, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from scipy.optimize import brentq

from fedtheory.classes import InexactOracles
from fedtheory.instances import building, letters, members
from fedtheory.instances.base import Instance, Instances, Recipe, generic, number, pick
from fedtheory.rational import Undefined, evaluate

if TYPE_CHECKING:
    from fedtheory.claims import Claim
    from fedtheory.settings import Setting

#: Clients of an instance chosen by its letters, at most.
MOST = 1000
#: One of so many recipes is strained: one of its constants is off.
EVERY = 4
#: In one of so many recipes of a setting with a hook a letter that the hook drew is set to its bounds.
FREED = 4
#: The share of instances with more clients, or of a higher dimension, than decide most bounds.
_OFTEN = 0.12
#: If so many first draws give no recipe, the next pay no heed to the hypotheses.
_FUTILE = 200
#: What a recipe calls the curvatures of a client.
_CURVATURES = {"h", "h_above"}
#: Between which factors of a constant two terms of a maximum may become equal.
_SCALE = tuple(Fraction(2) ** k for k in range(-3, 4))
#: By how much: squares among them, since some instances take roots.
_FACTORS = tuple(
    Fraction(v) for v in ("1/100", "1/4", "4/9", "9/10", "999999/1000000", "1000001/1000000", "11/10", "9/4", 4, 100)
)


def instances(claim: Claim) -> Instances:
    """The instances on which a claim is tested."""
    setting = claim.setting
    if setting.special is not None:
        plain = setting.special
    elif setting.of_constants:
        plain = _constants(claim)
    else:
        plain = Instances(
            lambda rng: _recipes(claim, rng),
            lambda recipe, exact: building.build(setting, recipe, exact),
            _simpler(setting),
            lambda recipe, rng: _nearby(claim, recipe, rng),
            lambda recipe, rng: _narrow(claim, recipe, rng),
        )
    return replace(plain, recipes=lambda rng: strained(plain.recipes(rng), rng, _counts(claim)))


# Recipes


def _relations(claim: Claim) -> tuple[Any, ...]:
    return (*claim.setting.domain, *(h.relation for h in claim.requires if h.relation is not None))


def _sides(claim: Claim) -> tuple[Any, ...]:
    statement = claim.statement
    factor = getattr(statement, "factor", None)
    if factor is not None:
        return (factor,)
    return tuple(side for c in getattr(statement, "comparisons", ()) for side in (c.left, c.right))


def _recipes(claim: Claim, rng: np.random.Generator) -> Iterator[Recipe]:
    setting = claim.setting

    def one(relations: tuple[Any, ...]) -> Recipe | None:
        recipe = _drawn(setting, rng)
        # What the hook gives is given; the letters that are left are drawn.
        given = setting.draw(rng, recipe) if setting.draw is not None else recipe
        if given is None:
            return None
        # The hook knows the setting, and not what hypotheses were changed to.
        hooked = setting.draw is not None and not rng.integers(FREED)
        freed = _freed(setting, recipe, given, rng) if hooked else given
        return _with_letters(claim, freed, relations, rng, cornered=freed is not given)

    return _patiently(claim, one)


def _freed(setting: Setting, recipe: Recipe, given: Recipe, rng: np.random.Generator) -> Recipe:
    """What the hook made of a recipe, without one of the letters that it drew, if there is one."""
    if any(isinstance(adversary, InexactOracles) for adversary in setting.adversaries):
        # The accuracy of an oracle is drawn with the letters that bound it.
        return given
    names = [n for n in drawn_letters(setting).values() if isinstance(given.get(n), Fraction) and n not in recipe]
    dropped = pick(rng, names) if names else None
    return {name: value for name, value in given.items() if name != dropped} if names else given


def _patiently(claim: Claim, one: Callable[[tuple[Any, ...]], Recipe | None]) -> Iterator[Recipe]:
    """What ``one`` gives for the hypotheses of a claim, and for none of them where nothing ever meets them.

    Such a claim must not keep us for ever: recipes that break a hypothesis say so.
    """
    patience = float(_FUTILE)
    while True:
        relations = _relations(claim) if patience > 0 else ()
        try:
            found = one(relations)
        except (Undefined, ZeroDivisionError):
            found = None
        if relations:
            patience = patience - 1 if found is None else math.inf
        if found is not None:
            yield found


def _drawn(setting: Setting, rng: np.random.Generator) -> Recipe:
    """Functions and compressors."""
    n, d = int(pick(rng, setting.clients)), int(pick(rng, (1, 1, 1, 1, 1, 2, 2, 3)))
    if max(setting.clients) > 2 and rng.random() < _OFTEN:
        n, d = pick(rng, (int(rng.integers(5, 13)), n)), 1
        d = d if n > 4 else int(rng.integers(4, 9))
    recipe: dict[str, Any] = {}
    for adversary in setting.adversaries:
        if not isinstance(adversary, InexactOracles):
            d, more = adversary.draw(rng)
            recipe |= more
            n = adversary.clients({**recipe, "d": d}, n)
    if setting.functions is None:
        return {"n": n, "d": d, **recipe}
    return {**setting.functions.draw(rng, n, d, pick(rng, setting.g)), **recipe}


def _nearby(claim: Claim, recipe: Recipe, rng: np.random.Generator) -> Recipe | None:
    """The recipe with one constant times another number, and the letters that hypotheses bound at their bounds.

    Now and then with the number for which two terms of a maximum in the statement are equal there.
    """
    given = _unbounded(claim.setting, recipe)
    places: list[tuple[str, int | None]] = [(name, None) for name in _fractions(given)]
    places += [("clients", i) for i, client in enumerate(recipe.get("clients", ())) if "h" in client]
    if not places:
        return None
    name, index = pick(rng, places)
    gaps = _differences(claim)
    times = _times_one(claim, given, name, index, rng)
    if gaps and pick(rng, (True, False)):
        return _crossed(claim, times, pick(rng, gaps))
    return times(generic(rng, Fraction(1, 3), Fraction(3)))


def _times_one(
    claim: Claim, given: Recipe, name: str, index: int | None, rng: np.random.Generator
) -> Callable[[Fraction], Recipe | None]:
    """The recipe with one constant, or the curvatures of a client, times a factor, and the letters at their bounds."""
    seed = int(rng.integers(2**32))

    def times(factor: Fraction) -> Recipe | None:
        if index is None:
            changed = {**given, name: given[name] * factor}
        else:
            clients = list(given["clients"])
            clients[index] = {**clients[index], "h": _times(clients[index]["h"], factor)}
            changed = {**given, "clients": tuple(clients)}
        try:
            # The same random numbers for each factor: the letters follow it.
            return _with_letters(claim, changed, _relations(claim), np.random.default_rng(seed), cornered=True)
        except (ValueError, ArithmeticError):
            # There is no such instance.
            return None

    return times


def _narrow(claim: Claim, recipe: Recipe, rng: np.random.Generator) -> Recipe | None:
    """The recipe with mu = L for the bound that its functions pass, and the letters at their bounds; None if they
    pass none, or there is none. Mostly two terms of a maximum in the statement are equal there too.

    What is claimed of functions a little beyond the class may fail there only: where terms that are attained at mu and
    at L meet, a change of one of them costs its square.
    """
    functions = claim.setting.functions
    names = () if functions is None else (str(functions.mu), str(functions.L))
    if not names or not set(names) <= set(recipe):
        return None
    mu, L = (recipe[name] for name in names)
    slopes = [h for client in recipe["clients"] for key in _CURVATURES & set(client) for h in client[key]]
    if not slopes or mu <= min(slopes) <= max(slopes) <= L:
        return None
    end, kept = (L, max) if max(slopes) > L else (mu, min)
    clients = tuple(
        {**client, **{key: tuple(kept(h, end) for h in client[key]) for key in _CURVATURES & set(client)}}
        for client in recipe["clients"]
    )
    changed = {**_unbounded(claim.setting, recipe), **dict.fromkeys(names, end), "clients": clients}
    others = [name for name in _fractions(changed) if name not in names]
    gaps = _differences(claim)
    times = _times_one(claim, changed, pick(rng, others or names), None, rng)
    if others and gaps and pick(rng, (True, True, False)):
        return _crossed(claim, times, pick(rng, gaps))
    return times(Fraction(1))


def _unbounded(setting: Setting, recipe: Recipe) -> Recipe:
    """The recipe without the letters that hypotheses bound: others have entries where adversaries or the hook draw."""
    first: Recipe | None = _drawn(setting, np.random.default_rng(0))
    if setting.draw is not None and first is not None:
        first = setting.draw(np.random.default_rng(0), first)
    bounded = set(drawn_letters(setting).values()) - set(first or recipe)
    return {name: value for name, value in recipe.items() if name not in bounded}


def _differences(claim: Claim) -> list[sympy.Expr]:
    """Differences of the terms of each maximum in the statement that speaks of letters alone."""
    choices = sympy.Tuple(*_sides(claim)).atoms(sympy.Max, sympy.Min)
    pairs = (a - b for node in sorted(choices, key=sympy.default_sort_key) for a, b in combinations(node.args, 2))
    return [gap for gap in pairs if gap.free_symbols <= set(claim.setting.sources)]


def _crossed(claim: Claim, times: Callable[[Fraction], Recipe | None], gap: sympy.Expr) -> Recipe | None:
    """The recipe at a factor for which ``gap`` vanishes, or nearly so; None where none is found."""

    def at(factor: Fraction) -> Any:
        recipe = times(factor)
        if recipe is None:
            return math.nan
        built = building.build(claim.setting, recipe, True)
        return evaluate(gap, claim.setting.bind(built.problem, built.params))

    try:
        seen = [(factor, float(at(factor))) for factor in _SCALE]
        ends = [(a, b) for (a, u), (b, v) in pairwise(seen) if u * v < 0]
        if not ends:
            return times(next((factor for factor, value in seen if value == 0), Fraction(1)))
        low, high = map(float, ends[0])
        root = brentq(lambda factor: float(at(Fraction(factor))), low, high, xtol=1e-12)
        simple = Fraction(root).limit_denominator(1000)
        return times(simple if simple > 0 and at(simple) == 0 else Fraction(root).limit_denominator(10**5))
    except (ValueError, ArithmeticError):
        return None


def _with_letters(
    claim: Claim, recipe: Recipe, relations: tuple[Any, ...], rng: np.random.Generator, cornered: bool = False
) -> Recipe | None:
    """The recipe with values of the letters that are fields of the parameters."""
    setting = claim.setting
    wanted = {letter: source for letter, source in drawn_letters(setting).items() if source not in recipe}
    problem = building.problem_of(setting, recipe, True)
    known = _known(setting, recipe, problem)
    order = tuple(letter for letter in setting.sources if letter in wanted)
    plan = letters.plan(order, frozenset(known), relations, _sides(claim))
    values = letters.draw(plan, known, setting.typical, rng, cornered=cornered)
    if values is None:
        return None
    return {**recipe, **{wanted[letter]: value for letter, value in values.items()}}


def drawn_letters(setting: Setting) -> dict[sympy.Expr, str]:
    """The letters that are fields of the parameters by name, with these names."""
    fields = getattr(setting.algorithm.Params, "_fields", ()) if setting.algorithm is not None else ()
    return {x: source for x, source in setting.sources.items() if isinstance(source, str) and source in fields}


def at_letters(claim: Claim, values: Mapping[str, Fraction], stiff: int) -> Recipe:
    """The recipe with these letters, kappa = L/mu and the size of the clients among them, and the first ``stiff``
    clients with the largest curvature; what is not given is typical, or at the boundary of a hypothesis.

    ``ValueError`` where the letters cannot occur together.
    """
    setting = claim.setting
    size = next((str(x) for x, source in setting.sources.items() if source == "n" or str(x) in ("n", "N")), "n")
    n = _integer(values, size)
    recipe: dict[str, Any] = {"n": n, "d": 1}
    if setting.functions is not None:
        recipe = dict(setting.functions.at(values, n, stiff, setting.g[0]))
    for adversary in setting.adversaries:
        recipe |= {"k": 0, "omega": values["omega"], "joint": "independent"} if hasattr(adversary, "draw") else {}
    if setting.draw is not None:
        recipe = dict(setting.draw(np.random.default_rng(0), recipe) or {})
    wanted = drawn_letters(setting)
    fixed = {x: _integer(values, str(x)) if x.is_integer else values[str(x)] for x in wanted if str(x) in values}
    recipe |= {wanted[x]: value for x, value in fixed.items()}
    missing = tuple(x for x in setting.sources if x in wanted and wanted[x] not in recipe)
    known = _known(setting, recipe, building.problem_of(setting, recipe, True)) | fixed
    plan = letters.plan(missing, frozenset(known), _relations(claim), ())
    tightest = letters.tightest(plan, known, setting.typical)
    return {**recipe, **{wanted[x]: value for x, value in tightest.items()}}


def _integer(values: Mapping[str, Fraction], name: str) -> int:
    if values[name].denominator != 1 or values[name] < 1:
        raise ValueError(f"{name} must be a positive integer, got {values[name]}")
    if values[name] > MOST:
        raise ValueError(f"{name} must be at most {MOST}, got {values[name]}: every client is written out")
    return int(values[name])


class _Undrawn(Exception):
    """A letter that depends on parameters not drawn yet."""


class _Partial:
    """Parameters of which some are drawn: ``Params`` says which there will be."""

    def __init__(self, Params: Any, drawn: Mapping[str, Any]) -> None:
        self.Params = Params
        self.__dict__.update(drawn)

    def __getattr__(self, name: str) -> Any:
        raise (_Undrawn if hasattr(self.Params, name) else AttributeError)(name)


def _known(setting: Setting, recipe: Recipe, problem: Any) -> dict[sympy.Expr, Any]:
    """Values of the letters that do not depend on what is still to be drawn."""
    from fedtheory.settings import value_of

    n, Params = problem.n, setting.algorithm.Params  # type: ignore[union-attr]
    parts: dict[str, Any] = {a.field: a.build(recipe, n, True) for a in setting.adversaries if hasattr(a, "build")}
    parts |= {name: recipe[name] for name in getattr(Params, "_fields", ()) if name in recipe and name not in parts}
    if setting.functions is None:
        parts |= {"n": n, "d": recipe["d"]}
    partial = _Partial(Params, parts)
    found = {}
    for letter, source in setting.sources.items():
        try:
            found[letter] = value_of(source, problem if setting.functions is not None else None, partial)
        except _Undrawn:
            continue
    return found


def _counts(claim: Claim) -> frozenset[str]:
    """The entries of a recipe that are integer letters."""
    setting = claim.setting
    if setting.of_constants:
        return frozenset(str(x) for x in tuple(setting.sources) or _spoken_of(claim) if x.is_integer)
    return frozenset(source for x, source in drawn_letters(setting).items() if x.is_integer)


def strained(
    recipes: Iterator[Recipe], rng: np.random.Generator, counts: frozenset[str] = frozenset()
) -> Iterator[Recipe]:
    """The recipes, now and then with a constant, or one of a client's, times another number; ``counts`` are integers.

    A hypothesis that no instance breaks could be dropped from a claim, and the claim would still be called supported.
    """
    for index, recipe in zip(count(1), recipes, strict=False):
        yield recipe if index % EVERY else _strained(recipe, rng, counts)


def _strained(recipe: Recipe, rng: np.random.Generator, counts: frozenset[str]) -> Recipe:
    clients = recipe.get("clients", ())
    places: list[tuple[int | None, str]] = [(None, name) for name in _fractions(recipe)]
    places += [(None, name) for name in recipe if name in counts]
    places += [(i, name) for i, client in enumerate(clients) for name in (*_fractions(client), "h") if name in client]
    if not places:
        return recipe
    index, name = pick(rng, places)
    if name in counts and index is None:
        value = int(recipe[name])
        return {**recipe, name: pick(rng, (1, max(1, value - 1), value + 1, 2 * value))}
    # A little, or anything: a hypothesis may be off by a factor that is on no list.
    factor = pick(rng, _FACTORS)
    if pick(rng, (True, False)):
        beyond = generic(rng, Fraction(1, 1000), Fraction(1)) * pick(rng, (Fraction(1), Fraction(1, 10), Fraction(10)))
        factor = pick(rng, (1 + beyond, 1 / (1 + beyond)))
    if name == "h" and pick(rng, (True, False)):
        return {**recipe, "clients": tuple({**c, "h": _times(c["h"], factor)} if "h" in c else c for c in clients)}
    if index is None:
        return {**recipe, name: recipe[name] * factor}
    # A client's curvatures change together.
    changed = {**clients[index], name: _times(clients[index][name], factor)}
    return {**recipe, "clients": (*clients[:index], changed, *clients[index + 1 :])}


def _times(value: Any, factor: Fraction) -> Any:
    return tuple(v * factor for v in value) if isinstance(value, tuple) else value * factor


def _fractions(values: Recipe) -> list[str]:
    return [name for name, value in values.items() if isinstance(value, Fraction) and value != 0 and name != "turn"]


def _simpler(setting: Setting) -> Any:
    functions = setting.functions
    if functions is None:
        return lambda recipe: iter(())
    return lambda recipe: members.simpler(recipe, str(functions.mu), str(functions.L))


# Constants alone


def _spoken_of(claim: Claim) -> tuple[sympy.Symbol, ...]:
    """The letters of a statement and its hypotheses, those that it assigns left out."""
    statement = claim.statement
    assigned = getattr(statement, "assignments", {})
    parts = (*_relations(claim), *(side for c in getattr(statement, "comparisons", ()) for side in (c.left, c.right)))
    found = sympy.Tuple(*parts).free_symbols - set(assigned)
    return tuple(sorted(found, key=str))


def _constants(claim: Claim) -> Instances:
    """Values of the letters alone; those that a claim does not bound lie anywhere."""
    setting = claim.setting
    symbols = tuple(setting.sources) or _spoken_of(claim)

    def recipes(rng: np.random.Generator) -> Iterator[Recipe]:
        def one(relations: tuple[Any, ...]) -> Recipe | None:
            plan = letters.plan(symbols, frozenset(), relations, _sides(claim))
            values = letters.draw(plan, {}, {}, rng, wide=True)
            return None if values is None else {str(letter): value for letter, value in values.items()}

        return _patiently(claim, one)

    def construct(recipe: Recipe, exact: bool) -> Instance:
        if any(recipe[str(s)] <= 0 and s.is_positive for s in symbols):
            raise ValueError("the constants must be positive")
        values = {s: number(recipe[str(s)], exact) for s in symbols}
        if exact:
            building.check_domain(setting, None, values)
        text = ", ".join(f"{s}={recipe[str(s)]}" for s in symbols)
        return Instance(None, values, 0, lambda theta: (None, theta), text=text)

    return Instances(recipes, construct)
