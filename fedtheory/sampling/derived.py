"""The instances of a claim, derived from its setting: members of its classes, letters that meet its hypotheses, states.

A recipe is data: the letters by the names of their sources, ``x`` and the ``clients`` for the functions, what the
adversaries need. It can be drawn, simplified, stored and rebuilt, in floats for speed or in fractions for proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain, count
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms.schedules import ROUND
from fedtheory.classes import InexactOracles
from fedtheory.instances import ClaimLike, Instance, Instances, Recipe, generic, members, number, pick
from fedtheory.instances.members import sampler
from fedtheory.numbers.polynomials import Unknown, unknowns, unseen
from fedtheory.numbers.rational import Undefined, holds
from fedtheory.numbers.validation import admits
from fedtheory.sampling import boundaries, building, drawing, letter_values, nearby, own, pinned, uneven
from fedtheory.sampling.compressors import samplers
from fedtheory.settings import Setting

#: Clients of an instance chosen by its letters, at most.
MOST = 1000
#: One of so many recipes is strained: one of its constants is off.
EVERY = 4
#: In one of so many recipes a hypothesis on the constants of the class alone is met with equality.
_ENDS = 5
#: In one of so many recipes of a setting with a hook a letter that the hook drew is set to its bounds.
FREED = 4
#: If so many first draws give no recipe, the next pay no heed to the hypotheses.
_FUTILE = 200
#: Recipes after which the hypotheses are judged by how few they leave.
_SEEN = 24
#: They leave few if they leave one in so many.
_RARE = 8
#: Recipes of one client where others are drawn.
_ALONE = 24
#: One in how many recipes lies beyond a number that stands in the claim.
_PAST = 3
#: The factors: squares among them, since some instances take roots.
_FACTORS = tuple(
    Fraction(v) for v in ("1/100", "1/4", "4/9", "9/10", "999999/1000000", "1000001/1000000", "11/10", "9/4", 4, 100)
)


def instances(claim: ClaimLike) -> Instances:
    """The instances on which a claim is tested."""
    setting = claim.setting
    if setting.drawing.special is not None:
        plain = setting.drawing.special
    elif setting.of_constants:
        plain = _constants(claim)
    else:
        plain = Instances(
            lambda rng: _recipes(claim, rng),
            _build(claim),
            _simpler(setting),
            lambda recipe, rng: nearby.nearby(claim, recipe, rng),
            lambda recipe, rng: nearby.narrow(claim, recipe, rng),
            lambda recipe, rng: nearby.crossings(claim, recipe, rng),
            boundaries=lambda rng: chain(_alone(claim, rng), uneven.uneven(claim, rng)),
        )
    return replace(plain, recipes=lambda rng: strained(plain.recipes(rng), rng, _counts(claim)))


def _build(claim: ClaimLike) -> Callable[[Recipe, bool], Instance]:
    """How the instances of a claim are built: where code of its hypotheses, letters or parameters looks at the optimum,
    or at the gradients there, runs begin on the problem that is drawn only."""
    setting = claim.setting
    codes = (setting.drawing.parameters, *setting.sources.values(), *(h.met for h in claim.requires))
    runs = claim.statement.horizon or claim.statement.ends
    moves = runs and setting.centred and not setting.drawing.start and any(map(callable, codes))

    # The recipe that was asked for last, by identity, and whether its runs begin about any optimum: the code that says
    # so looks at fractions, and searches ask for floats too.
    latest: list[tuple[Recipe, bool]] = []

    def build(recipe: Recipe, exact: bool) -> Instance:
        instance = building.build(setting, recipe, exact)
        if not moves or instance.initial is None:
            return instance
        at, about_any = latest[-1] if latest else ({}, False)
        if at is not recipe:
            fractions = instance if exact else building.build(setting, recipe, True)
            about_any = _about_any_optimum(claim, recipe, fractions)
            latest[:] = [(recipe, about_any)]
        return instance if about_any else building.unmoved(setting.algorithm, instance)

    return build


def _about_any_optimum(claim: ClaimLike, recipe: Recipe, instance: Instance) -> bool:
    """Return True if parameters and hypotheses are the same about every optimum, by running their code on an unknown
    one.
    """
    n, d = instance.problem.n, instance.problem.d
    try:
        with unseen():
            x, y = unknowns(0, d), unknowns(d, n * d).reshape(n, d)
            problem = building.problem_about(claim.setting, recipe, x, y, True)
            if not building.needs_constants_only(claim.setting, recipe, problem, x, y, instance.params):
                return False
            building.check_domain(claim.setting, problem, instance.params)
            values = claim.setting.bind(problem, instance.params)
            if any(isinstance(value, Unknown) for value in values.values()):
                # A letter that is another there: a start is one of the statement with the letters at hand.
                return False
            return all(h.holds(problem, instance.params, values) for h in claim.requires)
    except Exception:
        # At an optimum that is known the code need not fail.
        return False


# Recipes


def _recipes(claim: ClaimLike, rng: np.random.Generator) -> Iterator[Recipe]:
    setting = claim.setting
    crowds = pinned.crowds(claim)
    past = bool(crowds or pinned.thresholds(claim))
    of_class = () if setting.functions is None else setting.functions.letters
    # Letters that are drawn after the functions meet such an equality by coincidence only, as where mu = L.
    tied = letter_values.unsolved(drawing.relations(claim), drawing.drawn_letters(setting), of_class)
    proposed = met = 0

    def one(relations: tuple[object, ...]) -> Recipe | None:
        nonlocal proposed, met
        proposed += 1
        recipe = drawing.drawn(setting, rng)
        rare = relations and proposed > _SEEN and proposed % 2 and (tied or met * _RARE < _SEEN)
        if rare or (past and not proposed % _PAST):
            if crowds and pick(rng, (True, False)):
                recipe = drawing.drawn(setting, rng, pick(rng, crowds))
            if ROUND in recipe and (late := pinned.late(claim, rng)) is not None:
                recipe = {**recipe, ROUND: late}
            pin = pinned.beyond(claim, rng)
            found = pinned.drawn(claim, recipe, (*relations, pin) if pin is not None else relations, rng)
            if found is None and rare and pin is not None:
                # Where all letters are fixed none is beyond anything.
                found = pinned.drawn(claim, recipe, relations, rng)
            if found is not None:
                return found
        if (ends := pinned.ends(claim, relations)) and not proposed % _ENDS:
            found = pinned.drawn(claim, recipe, (*relations, pick(rng, ends)), rng)
            if found is not None:
                return found
        found = following(recipe, relations)
        if proposed <= _SEEN and found is not None and relations:
            met += _meets(setting, found, relations)
        return found

    def following(recipe: Recipe, relations: tuple[object, ...]) -> Recipe | None:
        # Letters that the hook gives are fixed; the others are drawn.
        given = setting.drawing.draw(rng, recipe) if setting.drawing.draw is not None else recipe
        if given is None:
            return None
        # The hook knows the setting, and not what hypotheses were changed to.
        hooked = setting.drawing.draw is not None and not rng.integers(FREED)
        freed = _freed(setting, recipe, given, rng) if hooked else given
        return drawing.with_letters(claim, freed, relations, rng, cornered=freed is not given)

    return _patiently(claim, one)


def _meets(setting: Setting, recipe: Recipe, relations: tuple[object, ...]) -> bool:
    """Return True if relations between letters hold at a recipe."""
    try:
        values = building.values(setting, recipe)
        return all(holds(relation, values) for relation in relations)
    except (ValueError, ArithmeticError):
        return False


def _freed(setting: Setting, recipe: Recipe, given: Recipe, rng: np.random.Generator) -> Recipe:
    """Return the recipe that the hook made, without one of the letters that it drew, if it drew any."""
    if any(isinstance(adversary, InexactOracles) for adversary in setting.adversaries):
        # The accuracy of an oracle is drawn with the letters that bound it.
        return given
    names = [
        n for n in drawing.drawn_letters(setting).values() if isinstance(given.get(n), Fraction) and n not in recipe
    ]
    dropped = pick(rng, names) if names else None
    return {name: value for name, value in given.items() if name != dropped} if names else given


def _patiently(claim: ClaimLike, one: Callable[[tuple[Any, ...]], Recipe | None]) -> Iterator[Recipe]:
    """Yield what ``one`` gives for the hypotheses of a claim; for no hypotheses, if nothing ever meets them.

    The search must end for such a claim as well; it then reports recipes that violate a hypothesis.
    """
    patience = float(_FUTILE)
    while True:
        relations = drawing.relations(claim) if patience > 0 else ()
        try:
            found = one(relations)
        except (Undefined, ArithmeticError):
            found = None
        if relations:
            patience = patience - 1 if found is None else math.inf
        if found is not None:
            yield found


def _alone(claim: ClaimLike, rng: np.random.Generator) -> Iterator[Recipe]:
    """Recipes of a single client, where a claim covers every number of clients and one is not among those drawn."""
    setting = claim.setting
    if not setting.any_clients or 1 in setting.clients or setting.drawing.draw is not None:
        return
    for _ in range(_ALONE):
        try:
            recipe = drawing.with_letters(claim, drawing.drawn(setting, rng, 1), drawing.relations(claim), rng)
        except (ValueError, ArithmeticError):
            # There may be no such member.
            continue
        if recipe is not None:
            yield recipe


def at_letters(claim: ClaimLike, values: Mapping[str, Fraction], stiff: int) -> Recipe:
    """The recipe with these letters, kappa = L/mu and the size of the clients among them, and the first ``stiff``
    clients with the largest curvature; what is not given is typical, or at the boundary of a hypothesis.

    Raise ``ValueError`` if the letters cannot occur together.
    """
    setting = claim.setting
    size = next((str(x) for x, source in setting.sources.items() if source == "n" or str(x) in ("n", "N")), "n")
    n = _integer(values, size)
    recipe: dict[str, Any] = {"n": n, "d": 1}
    if setting.functions is not None:
        recipe = dict(sampler(setting.functions, setting.drawing).at(values, n, stiff, setting.drawing.g[0]))
        recipe = dict(own.plain(setting, recipe))
    for adversary in samplers(setting):
        recipe |= adversary.at(values)
    if setting.drawing.draw is not None:
        recipe = dict(setting.drawing.draw(np.random.default_rng(0), recipe) or {})
    return filled(claim, recipe, values)


def filled(claim: ClaimLike, recipe: Recipe, values: Mapping[str, Fraction]) -> Recipe:
    """A recipe of functions and compressors with the letters that it lacks: as given, typical, or at the boundary of a
    hypothesis. Raise ``ValueError`` if the letters cannot occur together."""
    setting, recipe = claim.setting, dict(recipe)
    wanted = drawing.drawn_letters(setting)
    fixed = {x: _integer(values, str(x)) if x.is_integer else values[str(x)] for x in wanted if str(x) in values}
    recipe |= {wanted[x]: value for x, value in fixed.items()}
    missing = tuple(x for x in setting.sources if x in wanted and wanted[x] not in recipe)
    known = drawing.known(setting, recipe, building.problem_of(setting, recipe, True)) | fixed
    plan = letter_values.plan(missing, frozenset(known), drawing.relations(claim), ())
    tightest = letter_values.tightest(plan, known, setting.drawing.typical)
    return {**recipe, **{wanted[x]: value for x, value in tightest.items()}}


def _integer(values: Mapping[str, Fraction], name: str) -> int:
    if values[name].denominator != 1 or values[name] < 1:
        raise ValueError(f"{name} must be a positive integer, got {values[name]}")
    if values[name] > MOST:
        raise ValueError(f"{name} must be at most {MOST}, got {values[name]}: every client is written out")
    return int(values[name])


def _counts(claim: ClaimLike) -> frozenset[str]:
    """The entries of a recipe that are integer letters."""
    setting = claim.setting
    if setting.of_constants:
        return frozenset(str(x) for x in tuple(setting.sources) or _free_symbols(claim) if x.is_integer)
    return frozenset(source for x, source in drawing.drawn_letters(setting).items() if x.is_integer)


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
    places: list[tuple[int | None, str]] = [(None, name) for name in drawing.fractions(recipe)]
    places += [(None, name) for name in recipe if name in counts]
    places += [
        (i, name) for i, client in enumerate(clients) for name in (*drawing.fractions(client), "h") if name in client
    ]
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
        return {
            **recipe,
            "clients": tuple({**c, "h": drawing.times(c["h"], factor)} if "h" in c else c for c in clients),
        }
    if index is None:
        return {**recipe, name: recipe[name] * factor}
    # A client's curvatures change together.
    changed = {**clients[index], name: drawing.times(clients[index][name], factor)}
    return {**recipe, "clients": (*clients[:index], changed, *clients[index + 1 :])}


def _simpler(setting: Setting) -> Any:
    functions = setting.functions
    if functions is None:
        return lambda recipe: iter(())
    ends = functions.ends and (str(functions.ends[0]), str(functions.ends[1]))
    return lambda recipe: members.simpler(recipe, ends)


# Constants alone


def _free_symbols(claim: ClaimLike) -> tuple[sympy.Symbol, ...]:
    """The letters of a statement and its hypotheses, those that it assigns left out."""
    statement = claim.statement
    assigned = getattr(statement, "assignments", {})
    parts = (
        *drawing.relations(claim),
        *(side for c in getattr(statement, "comparisons", ()) for side in (c.left, c.right)),
    )
    found = sympy.Tuple(*parts).free_symbols - set(assigned)
    return tuple(sorted(found, key=str))


def _constants(claim: ClaimLike) -> Instances:
    """Values of the letters alone; those that a claim does not bound lie anywhere."""
    setting = claim.setting
    symbols = tuple(setting.sources) or _free_symbols(claim)

    past = bool(pinned.thresholds(claim))

    def recipes(rng: np.random.Generator) -> Iterator[Recipe]:
        proposed = 0

        def one(relations: tuple[object, ...]) -> Recipe | None:
            nonlocal proposed
            proposed += 1
            pin = pinned.beyond(claim, rng, symbols) if past and not proposed % _PAST else None
            given = (*relations, pin) if pin is not None else relations
            plan = letter_values.plan(symbols, frozenset(), given, drawing.sides(claim))
            values = letter_values.draw(plan, {}, {}, rng, wide=True)
            return None if values is None else {str(letter): value for letter, value in values.items()}

        return _patiently(claim, one)

    def construct(recipe: Recipe, exact: bool) -> Instance:
        for s in symbols:
            if not admits(s, recipe[str(s)]):
                raise ValueError(f"{s} = {recipe[str(s)]} contradicts the declaration of the letter")
        values = {s: number(recipe[str(s)], exact) for s in symbols}
        if exact:
            building.check_domain(setting, None, values)
        text = ", ".join(f"{s}={recipe[str(s)]}" for s in symbols)
        return Instance(None, values, 0, lambda theta: (None, theta), text=text)

    def at_boundaries(rng: np.random.Generator) -> Iterator[Recipe]:
        for found in boundaries.values(claim, symbols, rng):
            yield {str(letter): value for letter, value in found.items()}

    return Instances(recipes, construct, boundaries=at_boundaries)
