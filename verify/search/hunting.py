"""Worst instances: those of a setting that meet the hypotheses, in every way in which the maxima of a claim bind."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, islice
from typing import Any

import numpy as np
import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances import Recipe, members
from fedtheory.instances.members import sampler
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.rational import Undefined, evaluate, real
from fedtheory.sampling import pinned
from fedtheory.sampling.compressors import with_turned
from verify.base.case import Case
from verify.base.evaluate import NoStep, hypotheses_hold, meeting, sides
from verify.base.faults import attributed, theirs
from verify.comparisons import asserted
from verify.evidence.counterexamples import Counterexample
from verify.search import far_letters, hostile, seen, spectral, states


@dataclass(frozen=True)
class HuntLimits:
    """The numbers of instances that a hunt looks at, and in which ways."""

    far_every: int = 4  # one in this many is looked at far away too
    close: int = 2  # the first that are met are looked at next to the optimum in fractions, which is slow
    wider: int = 10  # times more recipes are proposed where those are wanted that a changed claim alone allows
    # For each way in which maxima bind, evaluated exactly where floats cannot tell equality from a violation.
    ties: int = 3
    # From which the search climbs to worse parameters; and as many where hypotheses leave the least room.
    starts: int = 3
    steps: int = 15  # of each climb
    further: int = 60  # of each climb, while the ratio is between `almost` and 1
    almost: float = 0.9  # a ratio that is worth them
    narrow: int = 60  # recipes beyond the class that meet the hypotheses
    changes: int = 3  # attempts at one of them from each instance
    client_numbers: int = 3  # the least numbers of clients with which terms of maxima are made to meet at mu = L
    extremes: int = 4  # besides the nearest to a violation, with extreme values of what no hypothesis bounds
    turned: int = 12  # the first, and the nearest to a violation, with compressors that answer otherwise for one draw
    first: int = 12  # the first at which assertions of an author are compared with the code
    again: int = 40  # and then one in this many


LIMITS = HuntLimits()
#: Far states are this many times the numbers that stand in a claim.
BEYOND = 30.0
#: Larger numbers in a claim are not taken for sizes of states.
LARGEST = 10**100
#: The seeds of turned compressors, of what is drawn at boundaries, of the worst answers of adversaries, and of states
#: where letters are far from where they are drawn.
TURNED_SEED = 12
BOUNDARIES = 13
ANSWERS = 14
FAR = 15
#: Condition numbers beyond which worst-case programs are often left open.
STIFF = 10_000
#: The distance at which letters are too near to a bound that may not be attained, relative to both sides.
NEXT_TO = 1e-5
#: Hypotheses that bound letters.
_BOUNDS = (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt)


@dataclass(frozen=True)
class Hunt:
    """The result of a search over instances.

    ``instances``: the number that met the hypotheses and were informative; ``met``: recipes of some of them, those with
    the largest ratios first; ``worst``: the largest ratio without a violation, at the recipe ``tightest``;
    ``by_round``: the largest ratio by number of rounds; ``methods``: how states were found; ``refutations``: violations
    confirmed exactly, of as many instances; ``undefined``: why a side is not a real number at an instance that meets
    the hypotheses, and where; ``failed_assertion``: the author's assertion that fails, and where; ``looked``: the
    functions on which states were examined; ``attained``: the state at the recipe ``tightest`` where the largest ratio
    was seen.
    """

    instances: int
    met: tuple[Recipe, ...]
    worst: float
    tightest: Recipe | None
    by_round: Mapping[int, float]
    methods: frozenset[str]
    refutations: tuple[Counterexample, ...]
    undefined: tuple[str, str] | None = None
    failed_assertion: str = ""
    looked: frozenset[seen.FunctionsSeen] = frozenset()
    attained: states.Finding | None = None


def failed_assertion(case: Case) -> str:
    """Return the author's assertion that fails at an instance that meets the hypotheses; empty if none does.

    Raise ``ValueError`` if the draws of a step are not a distribution, code mixes replicas, or the chart does not reach
    all states.
    """
    try:
        if not states.is_examined(case):
            return ""
    except (ValueError, ArithmeticError):
        return ""
    try:
        asserted.check_draws(case)
        asserted.check_replicas(case)
        why = asserted.failed_assertion(case) or asserted.unfixed(case)
    except (ZeroDivisionError, NoStep) as error:
        # Evaluation shows whether sides are numbers; but a limit has no meaning without the steps.
        culprit = str(error) if isinstance(error, NoStep) else f"{theirs(error)} divides by zero"
        why = culprit if case.statement.scope is Scope.LIMIT else ""
    return f"{why}: at {case.instance.text}" if why else ""


def undefined_at(case: Case) -> tuple[str, str] | None:
    """Return a side that is not a real number at values of the letters that meet the hypotheses, and where; or None."""
    if not case.setting.of_constants or case.statement.scope is Scope.COMPRESSOR:
        return None
    try:
        if not hypotheses_hold(case):
            return None
    except (ValueError, ArithmeticError):
        return None
    try:
        sides(case, np.zeros((1, 0), dtype=object))
    except Undefined as error:
        return str(error), ", ".join(f"{name}={value}" for name, value in case.recipe.items())
    except (ValueError, ArithmeticError):
        return None
    return None


def scales(claim: Claim, index: int, met: int) -> tuple[Any, ...]:
    """Sizes of other states that are looked at at an instance: how many were proposed, and were met, before it.

    Far away, and there beyond the numbers that stand in the claim and beyond their roots; and next to the optimum.
    """
    near = (states.NEARBY[index % len(states.NEARBY)], *((states.NEAR,) if met < LIMITS.close else ()))
    if index % LIMITS.far_every:
        return near
    past = [float(size) for size in pinned.thresholds(claim) if size < LARGEST]
    return (*states.FAR, *(BEYOND * size for size in past), *(BEYOND * math.sqrt(size) for size in past), *near)


def generator(claim: Claim, seed: int) -> np.random.Generator:
    """The random numbers of a search for violations of a claim, or of a changed one with the same id but for a "*"."""
    return np.random.default_rng([seed, zlib.crc32(claim.id.rstrip("*").encode())])


def hunt(claim: Claim, rng: np.random.Generator, size: int, enough: int, climbing: bool = True) -> Hunt:
    """Examine up to ``size`` instances, until ``enough`` of them have confirmed violations.

    Without ``climbing`` these are the first of those that a larger search looks at, and no others: what is largest
    among them is at most what that finds.
    """
    methods: set[str] = set()
    instances, worst, tightest = 0, -np.inf, None
    by_round: dict[int, float] = {}
    refutations: list[Counterexample] = []
    met: list[_Met] = []
    ties: Counter[tuple[int, ...]] = Counter()
    looked: frozenset[seen.FunctionsSeen] = frozenset()
    undefined: tuple[str, str] | None = None
    attained: states.Finding | None = None
    wrong, limit = "", claim.statement.scope is Scope.LIMIT
    recipes = _climbing(claim, rng, size, met) if climbing else proposed(claim, rng, size)
    for index, case in enumerate(Case(claim, recipe) for recipe in recipes):
        with attributed(claim, case.recipe):
            asked = not wrong and (limit or len(met) < LIMITS.first or index % LIMITS.again == 0)
            if asked:
                wrong = failed_assertion(case.anew())
            if wrong and not limit:
                # The known facts about states decide which of them a statement covers.
                break
            findings, more = states.examine(case, rng), []
            tied = _tied(case, findings or [], ties)
            found = states.first_confirmed(case, findings or [], tied)
            if found is None and findings:
                more = list(states.elsewhere(case, findings, scales(claim, index, len(met))))
                found = states.first_confirmed(case, more)
            if found is not None and not asked and not limit and (wrong := failed_assertion(case.anew())):
                break
            beyond = [f for f in (*(findings or ()), *more) if not np.isfinite(f.ratio)]
            if undefined is None and (beyond or not findings or index < LIMITS.first or index % LIMITS.again == 0):
                undefined = states.find_undefined_side(case, beyond)
        if not findings:
            undefined = undefined or undefined_at(case)
            continue
        met.append(_built(case, float(spectral.steady(findings[0].ratio))))
        drawn = seen.is_drawn(case)
        looked |= seen.of(met[-1].problem, max(f.rounds for f in findings), drawn)
        # A comparison whose left side vanishes says nothing.
        instances += any(f.ratio != 0 for f in findings)
        methods.update(f.method for f in findings)
        if found is not None:
            refutations.append(found)
            if len(refutations) == enough:
                break
            continue
        for finding in (states.settled(case, f) for f in findings):
            by_round[finding.rounds] = max(by_round.get(finding.rounds, 0.0), finding.ratio)
            if spectral.steady(finding.ratio) <= worst:
                continue
            if finding.ratio > 1 - states.SUSPECT:
                finding = states.with_exact_ratio(case, finding)
            if (ratio := float(spectral.steady(finding.ratio))) > worst:
                worst, tightest, attained = ratio, case.recipe, finding
    if climbing and not refutations and not wrong:
        informative = 0
        for case, findings, found in chain(_turned(claim, met), _hostile(claim, met)):
            informative += any(f.ratio != 0 for f in findings)
            if found is not None:
                refutations.append(found)
                if len(refutations) == enough:
                    break
                continue
            for finding in (states.settled(case, f) for f in findings):
                # A function linear in the squared errors is the same without these compressors, up to rounding.
                if (ratio := float(spectral.steady(finding.ratio))) > worst + states.BLURRED:
                    worst, tightest, attained = ratio, case.recipe, finding
        instances = instances or informative
        refutations += islice(chain(_at_boundaries(claim), _far(claim, met)), enough - len(refutations))
    # Programs of many clients are large, and say no more.
    few = [m for m in met if len(m.recipe.get("clients", ())) <= states.LIMITS.clients]
    chosen = tuple(_telling(claim, few or met[:1], max(3, size // 250)))
    return Hunt(
        instances,
        chosen,
        worst,
        tightest,
        by_round,
        frozenset(methods),
        tuple(refutations),
        undefined,
        wrong,
        looked,
        attained,
    )


def _turned(claim: Claim, met: list[_Met]) -> Iterator[tuple[Case, list[states.Finding], Counterexample | None]]:
    """Instances that were met, the nearest to a violation and the first, with compressors that are not linear in a
    vector for every draw: the worst states, and a violation if one is confirmed.

    They have random numbers of their own, so that all else is looked at as it is without them.
    """
    rng = generator(claim, TURNED_SEED)
    recipes = [with_turned(claim.setting, m.recipe) for m in met]
    pairs = [(m, recipe) for m, recipe in zip(met, recipes, strict=True) if recipe is not None and m.ratio < np.inf]
    nearest = sorted(pairs, key=lambda pair: -pair[0].ratio)[: LIMITS.turned]
    for _, recipe in (*nearest, *pairs[: LIMITS.turned]):
        with attributed(claim, recipe):
            case = Case(claim, recipe)
            findings = states.examine(case, rng) or []
            yield case, findings, states.first_confirmed(case, findings)


def _hostile(claim: Claim, met: list[_Met]) -> Iterator[tuple[Case, list[states.Finding], Counterexample | None]]:
    """As :func:`_turned`, the worst answers of adversaries, at the instances nearest to a violation and at others."""
    nearest = [m.recipe for m in sorted(met, key=lambda m: -m.ratio) if m.ratio < np.inf]
    for case, finding, found in hostile.worst(claim, nearest, generator(claim, ANSWERS)):
        yield case, [finding], found


def _far(claim: Claim, met: list[_Met]) -> Iterator[Counterexample]:
    """Violations where a letter is far from where it is drawn, from instances nearest to a violation and others.

    As in :func:`_turned`, all else is looked at as it is without them; and what is largest is so with rounding errors.
    """
    nearest = [m.recipe for m in sorted(met, key=lambda m: -m.ratio) if m.ratio < np.inf]
    yield from far_letters.violations(claim, nearest, [m.recipe for m in met], generator(claim, FAR))


def _at_boundaries(claim: Claim) -> Iterator[Counterexample]:
    """Violations where parts of a statement about constants alone vanish, or right beside; and of a single client.

    As in :func:`_turned`, all else is looked at as it is without them.
    """
    for recipe in claim.instances.boundaries(generator(claim, BOUNDARIES)):
        with attributed(claim, recipe):
            found = states.violation(Case(claim, recipe))
        if found is not None:
            yield found


def _climbing(claim: Claim, rng: np.random.Generator, size: int, met: list[_Met]) -> Iterator[Recipe]:
    """Yield the proposed recipes, those that the hypotheses allow beyond the class where they are narrowest, those
    where maxima change their arguments at mu = L, then recipes near the ones of ``met`` (which grows) that came closest
    to a violation, and near some where the hypotheses leave the least room.

    A hypothesis that is a little too weak may be broken only where several bounds are attained and maxima change their
    arguments, which few draws come near to.
    """
    yield from proposed(claim, rng, size)
    found = [claim.instances.narrow(m.recipe, rng) for m in met for _ in range(LIMITS.changes)]
    beyond = [recipe for recipe in found if recipe is not None]
    yield from (beyond[int(i)] for i in rng.permutation(len(beyond))[: LIMITS.narrow])
    for recipe in _kinds(met):
        yield from claim.instances.crossings(recipe, rng)
    starts = sorted((m for m in met if 0 < m.ratio < np.inf), key=lambda m: -m.ratio)[: LIMITS.starts]
    rooms = _rooms(claim, met)
    least = [m for row, m in rooms if row[-1] == min(row[-1] for row, _ in rooms)]
    starts += [least[int(i)] for i in rng.permutation(len(least))[: LIMITS.starts]]
    for start in starts:
        ratio, at = start.ratio, start.recipe
        for step in range(LIMITS.further):
            if step >= LIMITS.steps and not LIMITS.almost < ratio < 1 - states.SUSPECT:
                break
            near, before = claim.instances.nearby(at, rng), len(met)
            if near is None:
                continue
            yield near
            if len(met) > before and met[-1].ratio > ratio:
                ratio, at = met[-1].ratio, met[-1].recipe


def _kinds(met: list[_Met]) -> list[Recipe]:
    """One recipe of each number of clients, the least, and of each choice of the constants that vanish.

    One number of clients may be the only one for which a bound is attained, and a constant that vanishes changes no
    maximum.
    """
    found: dict[Any, Recipe] = {}
    for recipe in (m.recipe for m in met):
        vanish = {name for name, value in recipe.items() if isinstance(value, int | Fraction) and not value}
        found.setdefault((len(recipe.get("clients", ())), frozenset(vanish)), recipe)
    few = sorted({n for n, _ in found})[: LIMITS.client_numbers]
    return [recipe for (n, _), recipe in found.items() if n in few]


def proposed(claim: Claim, rng: np.random.Generator, size: int) -> Iterator[Recipe]:
    """``size`` recipes; before them, where hypotheses were changed, up to as many that only the change allows."""
    recipes = claim.instances.recipes(rng)
    # A claim of no paper has no original: nothing but the changed hypotheses is known of it.
    original = claims.of_paper(claim.paper).get(claim.id.rstrip("*")) if "requires" in claim.changes else None
    if original is not None:
        fresh = (
            recipe
            for recipe, built in meeting(claim, islice(recipes, LIMITS.wider * size))
            if not _meets(Case.of(original, built, recipe))
        )
        yield from islice(fresh, size)
    yield from islice(recipes, size)


def _meets(case: Case) -> bool:
    """Return True if an instance of a changed claim meets the hypotheses whose letters are defined at the instance."""
    values = case.letters
    about = tuple(h for h in case.claim.requires if h.relation is None or h.relation.free_symbols <= set(values))
    try:
        return all(h.holds(case.problem, case.params, values) for h in about)
    except (Undefined, ArithmeticError):
        return False


@dataclass(frozen=True)
class _Met:
    """An instance that meets the hypotheses: left/right at its worst state, its recipe, and what is built from that."""

    ratio: float
    recipe: Recipe
    problem: Any = field(compare=False)
    values: Mapping[sympy.Expr, Any] = field(compare=False)


def _built(case: Case, ratio: float) -> _Met:
    """The instance of a recipe, with the values of the letters."""
    return _Met(ratio, case.recipe, case.problem, case.letters)


def _telling(claim: Claim, met: list[_Met], count: int) -> list[Recipe]:
    """One for each way in which the maxima of the statement bind, one where each hypothesis leaves least room, and then
    up to ``count`` others, all with other letters.

    Two thirds of these came nearest to a violation with mu < L, the rest are the first that were met; all are among the
    simplest quarter, whose programs are not ill-conditioned for no reason.
    """
    simple = sorted(met, key=lambda m: wildness(m.recipe))
    binding: dict[Any, _Met] = {}
    for m in simple:
        binding.setdefault(_binding(claim, m.values), m)
    tame = simple[: max(count, len(simple) // 4)]
    binding.update(enumerate(_cornered(claim, simple)))
    met = [m for m in met if m in tame]
    # Where mu = L the class is one quadratic, and says nothing of others.
    wide = [m for m in simple if getattr(m.problem, "mu", None) is None or m.problem.mu != m.problem.L]
    ordered = sorted([m for m in wide if m in tame] or wide[:count] or met, key=lambda m: -m.ratio)
    chosen = [*ordered[: count - count // 3], *binding.values()]
    chosen += [m for m in met if m not in chosen][: count // 3]
    # The clients' functions are not part of a program: one of two choices with the same letters is enough.
    distinct: dict[str, Recipe] = {}
    for m in chosen:
        distinct.setdefault(_place(m), m.recipe)
    return list(distinct.values())


def _place(met: _Met) -> str:
    """All that a program depends on: the letters, and of what else a recipe speaks but the clients' functions."""
    recipe = met.recipe
    rest = {name: value for name, value in recipe.items() if name not in ("x", "clients", "g")}
    own = {name for client in recipe.get("clients", ()) for name in client}
    own -= {*members.SLOPES, *members.KINKS, "y", "c", "turn", "dip"}
    clients = [[client.get(name) for name in sorted(own)] for client in recipe.get("clients", ())]
    return str((sorted(rest.items()), len(clients), clients, sorted(map(str, met.values.items()))))


def _cornered(claim: Claim, met: list[_Met]) -> list[_Met]:
    """The places where each hypothesis that bounds letters leaves least room, and where all of them together do.

    Of several instances the one nearest to a violation; and where all leave least, some at which what no hypothesis
    bounds is extreme. A hypothesis that asks for a little too little fails there, if anywhere.
    """
    # Programs in long fractions, or at large condition numbers, are left open for no reason.
    simple = sorted(met, key=lambda m: sum(_constants(m.recipe)))[: len(met) // 2 + 1]
    simple = [m for m in simple if not 0 < getattr(m.problem, "mu", 0) * STIFF < getattr(m.problem, "L", 0)]
    rooms = _rooms(claim, simple)
    if not rooms:
        return []
    nearest = [min(rooms, key=lambda room: (room[0][place], -room[1].ratio))[1] for place in range(len(rooms[0][0]))]
    least = min(row[-1] for row, _ in rooms)
    return nearest + _extremes(claim, [m for row, m in rooms if row[-1] == least])


def _extremes(claim: Claim, met: list[_Met]) -> list[_Met]:
    """A few instances among which the constants of recipes, those of the clients' functions aside, are least and
    largest."""
    functions, drawing = claim.setting.functions, claim.setting.drawing
    drawn: Recipe = {}
    if functions is not None:
        drawn = sampler(functions, drawing).draw(np.random.default_rng(0), 1, 1, drawing.g[0])["clients"][0]
    constants = [_free_constants(m.recipe, set(drawn)) for m in met]
    names = sorted(set().union(*constants))
    ends = {(name, end(t[name] for t in constants if name in t)) for name in names for end in (min, max)}
    chosen: list[_Met] = []
    while ends and len(chosen) < LIMITS.extremes:
        m, at = max(zip(met, constants, strict=True), key=lambda pair: len(ends & set(pair[1].items())))
        chosen.append(m)
        ends -= set(at.items())
    return chosen


def _free_constants(recipe: Recipe, aside: Container[str]) -> dict[str, Any]:
    """The constants of a recipe by name; of the clients' the largest, but for those ``aside``."""
    found = {name: value for name, value in recipe.items() if isinstance(value, int | Fraction) and name != "d"}
    for client in recipe.get("clients", ()):
        for name, value in client.items():
            if isinstance(value, int | Fraction) and name not in aside:
                found[f"client's {name}"] = max(value, found.get(f"client's {name}", value))
    return found


def _rooms(claim: Claim, met: list[_Met]) -> list[tuple[list[float], _Met]]:
    """Return the slack of each hypothesis that bounds letters, and of all together, at each instance; empty without
    any.
    """
    stated = [*claim.setting.domain, *(h.relation for h in claim.requires if h.relation is not None)]
    bounds = [r for s in stated for r in sympy.And.make_args(s) if isinstance(r, _BOUNDS)]
    if not bounds:
        return []
    if claim.setting.functions is not None and claim.setting.functions.ends is not None:
        # The end of the class counts as a bound.
        bounds.append(sympy.Le(*claim.setting.functions.ends))
    rows = [[_room(bound, m.values) for bound in bounds] for m in met]
    # Next to a bound that may not be attained programs are left open for no reason.
    open_ = [isinstance(bound, sympy.Lt | sympy.Gt) for bound in bounds]
    clear = [not any(o and room < NEXT_TO for o, room in zip(open_, row, strict=True)) for row in rows]
    return [([*row, sum(row)], m) for row, m, kept in zip(rows, met, clear, strict=True) if kept]


def _room(bound: sympy.Rel, values: Mapping[sympy.Expr, Any]) -> float:
    """The distance of the two sides, relative to them, to nine digits; 1 where they contain more than letters."""
    if not bound.free_symbols <= set(values):
        return 1.0
    left, right = (real(evaluate(side, values)) for side in (bound.lhs, bound.rhs))
    return round(float(abs(right - left) / (abs(right) + abs(left) or 1)), 9)


def wildness(recipe: Recipe) -> float:
    """The distance of a recipe's constants from small rationals: the digits of numerators and denominators.

    Of the clients' constants the longest counts: that there are many of them makes no program harder to round.
    """
    return sum(map(_digits, recipe.values())) + max(_constants({"clients": recipe.get("clients", ())}), default=0.0)


def _constants(recipe: Recipe) -> list[float]:
    """The digits of each constant of a recipe, of the clients' too."""
    values = [*recipe.values(), *(value for client in recipe.get("clients", ()) for value in client.values())]
    return [_digits(part) for value in values for part in (value if isinstance(value, tuple) else (value,))]


def _digits(value: Any) -> float:
    return (
        math.log(abs(value.numerator)) + math.log(value.denominator) if isinstance(value, Fraction) and value else 0.0
    )


def regime(case: Case) -> tuple[int, ...]:
    """The argument of each maximum and minimum in the statement that counts at a recipe's parameters.

    Those of quantities are left out.
    """
    return _binding(case.claim, case.letters)


def _binding(claim: Claim, values: Mapping[sympy.Expr, Any]) -> tuple[int, ...]:
    """As :func:`regime`, at values of the letters."""
    sides = [side for c in claim.statement.comparisons for side in (c.left, c.right)]
    nodes = sorted(sympy.Tuple(*sides).atoms(sympy.Max, sympy.Min), key=sympy.default_sort_key)
    found = []
    for node in nodes:
        if all(symbol in values for symbol in node.free_symbols):
            arguments = [_float(evaluate(argument, values)) for argument in node.args]
            extreme = max if isinstance(node, sympy.Max) else min
            found.append(arguments.index(extreme(arguments)))
    return tuple(found)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _tied(case: Case, findings: list[states.Finding], ties: Counter[tuple[int, ...]]) -> bool:
    """Return True if a bound is attained up to rounding in a regime that has had at most ``ties`` such instances so
    far.
    """
    if states.pointwise(case.claim) or not any(abs(f.ratio - 1) <= states.SUSPECT for f in findings):
        return False
    try:
        binding = regime(case)
    except (ValueError, ArithmeticError):
        return False
    ties[binding] += 1
    return ties[binding] <= LIMITS.ties
