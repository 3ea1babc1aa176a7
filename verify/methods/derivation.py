"""Claims that say from which others they follow: the step from these to the claim is itself examined.

The registry only names the premises. What follows from them is derived by the rules of :mod:`verify.derivation.rules`,
and every inequality that a rule uses, the nonnegativity of what it takes for nonnegative, and that an iteration keeps
what the next one rests on are proved for all letters, or certified at the same constants of a run, for everything that
may be drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.kinds.base import Statement
from fedtheory.kinds.eventually import Eventually
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import Along, Iteration
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.derivation import chains, falls, for_all, obligations, runs
from verify.derivation.for_all import RuleResult as Following
from verify.derivation.obligations import Found, Premise
from verify.derivation.rules import RuleUse
from verify.derivation.runs import Drawn
from verify.evidence.certificates import Derived, Part
from verify.evidence.record import Outcome, strongest
from verify.exact import reals, symbolic
from verify.methods import worst_cases
from verify.methods.base import Inquiry, Method, Role, examined
from verify.pep.prover import DoesNotHold
from verify.search import allowed, points
from verify.search.hunting import wildness

#: Numbers of clients at whose constants a derivation is certified, and recipes among which these are looked for.
_CLIENTS, _PROPOSED = (1, 2), 400
#: Constants at which the rules have to derive the same, for each of these numbers; at how many of them, the simplest,
#: it is tried to certify it, since the programs at one choice may be too ill-conditioned to be rounded; and at how many
#: more that have nothing in common which the hypotheses do not ask.
_ALIKE, _TRIES, _SPARE = 13, 3, 2
#: Runs on which iterations are compared with the method, and steps of the first of them; the others take one. For each
#: of them one is proposed whose constants are anything.
_RUNS, _LONG_RUNS, _STEPS = 200, 3, 12
#: Runs on which they are compared where a stored proof is checked.
_RUNS_AGAIN = 20
#: Verdicts with which nothing follows.
_FALLEN = (Verdict.REFUTED, Verdict.ILL_POSED, Verdict.NOT_TESTED)


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where all that the claim says is derived for all letters from what is proved; certified where it follows
    from what is certified; supported where some of that is only supported; no verdict, with the reason, where it does
    not follow."""
    try:
        iteration, premises = _premises(inquiry.claim)
    except ValueError as error:
        return method.skipped(f"left open: {error}")
    verdicts = _verdicts(inquiry, premises)
    if fallen := _fallen(verdicts):
        return method.skipped(fallen)
    try:
        return _proved(method, inquiry, premises, verdicts, _RUNS)
    except (ValueError, ArithmeticError) as error:
        if _of_runs(inquiry.claim) is not None:
            return method.skipped(f"left open: {error}")
        # It may still follow at single choices of the constants, from what is certified there.
    try:
        return _derived(method, inquiry, iteration, premises)
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")


def following(claim: Claim, premises: Sequence[Premise]) -> Following:
    """How a claim follows, whatever the letters. ``ValueError`` says what does not follow, or is not known of them."""
    of_runs = _of_runs(claim)
    found: Following = (for_all.derived if of_runs is None else of_runs.added)(claim, premises)
    return found


def _of_runs(claim: Claim) -> Any:
    """The rule for claims that speak of runs as wholes; None of others."""
    return next((rule for rule in (falls, chains) if rule.speaks_of(claim)), None)


def _verdicts(inquiry: Inquiry, premises: Iterable[Premise]) -> dict[str, Verdict]:
    """The verdicts of premises, up to the first from which nothing follows."""
    found: dict[str, Verdict] = {}
    for premise in premises:
        verdict = inquiry.known.get(premise.claim.id)
        if verdict is None:
            best = strongest(_examined_once(premise.claim, inquiry.seed, inquiry.size, inquiry.methods))
            verdict = Verdict.NOT_TESTED if best is None or best.verdict is None else best.verdict
        found[premise.claim.id] = verdict
        if verdict in _FALLEN:
            break
    return found


def _fallen(verdicts: Mapping[str, Verdict]) -> str:
    """The first premise from which nothing follows, in words; empty where there is none."""
    return next((f"falls with {id}, which is {verdict}" for id, verdict in verdicts.items() if verdict in _FALLEN), "")


def _proved(
    method: Method, inquiry: Inquiry, premises: tuple[Premise, ...], verdicts: Mapping[str, Verdict], most: int
) -> Outcome:
    """What follows for all letters and every number of clients; ``ValueError`` says what does not.

    ``most``: runs on which the iterations are compared with the method.
    """
    claim, of_runs = inquiry.claim, _of_runs(inquiry.claim)
    iteration = _iteration(claim)
    found = following(claim, premises)
    if unproved := next((c.id for c in found.used if verdicts[c.id] is not Verdict.PROVED), ""):
        raise ValueError(f"{unproved} is {verdicts[unproved]}, and not proved")
    if why := _own_code(claim, found.used, iteration):
        raise ValueError(why)
    if why := for_all.unshown(found.own):
        raise ValueError(why)
    rng = np.random.default_rng(inquiry.seed)
    for n in _CLIENTS if of_runs is None else ():
        # The cases of iterations, and the limits of their constants, are looked at where these are numbers.
        for recipe in islice(_constants(iteration, claim, premises, n, rng), 1):
            if missing := obligations.missing(claim, premises, recipe):
                raise ValueError(f"{missing} is not derived")
    if of_runs is not None:
        seen = runs.compared(claim, of_runs.read(claim), found.used, inquiry.seed, most)
    else:
        seen = _compared(claim, None, inquiry.seed, rng, most)
    note = (
        f"{_said([c.id for c in found.used], found.steps, seen)}; all of it for all letters, each client's own too, "
        f"every number of clients and d, whatever is drawn"
    )
    return method.found(Verdict.PROVED, note, instances=seen, used=("derivation", "symbolic"))


def recheck(method: Method, inquiry: Inquiry, stored: Outcome) -> Outcome:
    """As :func:`run`, at the stored constants: what follows is derived again, and the certificates of what it rests on
    are checked, without a solver."""
    claim, rng = inquiry.claim, np.random.default_rng(inquiry.seed)
    iteration, premises = _premises(claim)
    verdicts = _verdicts(inquiry, premises)
    if fallen := _fallen(verdicts):
        raise DoesNotHold(fallen)
    if stored.verdict is Verdict.PROVED:
        return _proved(method, inquiry, premises, verdicts, _RUNS_AGAIN)
    about = points.of(premises[0].claim, claim.requires)
    recipes = [derived.recipe for derived in stored.derived]
    numbers = [_clients(iteration, claim, premises, recipe) for recipe in recipes]
    if None in numbers:
        raise DoesNotHold(f"stored constants do not meet the hypotheses of {claim.id}")
    for n in _CLIENTS:
        if n not in numbers and next(_constants(iteration, claim, premises, n, rng), None) is not None:
            raise DoesNotHold(f"nothing is stored of {claim.id} for n = {n}")
    seen = _compared(
        claim, {n: _draws(iteration, premises, recipes, n) for n in _CLIENTS}, inquiry.seed, rng, _RUNS_AGAIN
    )
    found = [obligations.at(claim, premises, d.recipe, obligations.checked(d.parts)) for d in stored.derived]
    for each in found:
        if each.missing or each.left_open:
            raise DoesNotHold(f"{each.missing} is not derived" if each.missing else each.left_open[0])
    if why := _elsewhere(claim, iteration, found):
        raise DoesNotHold(f"{claim.id} is derived at some constants, but {why}")
    if shared := about.uncovered(recipes):
        raise DoesNotHold(f"{claim.id} is derived only where {', '.join(shared)}")
    note = _certified(about, list(zip(recipes, found, strict=True)), seen)
    used = ("derivation", "sdp")
    return method.found(Verdict.CERTIFIED, note, instances=len(found), derived=stored.derived, used=used)


def _clients(iteration: Iteration, claim: Claim, premises: tuple[Premise, ...], recipe: Recipe) -> int | None:
    """For how many clients a recipe has constants of iterations at which what is assumed holds; None where it has
    none."""
    try:
        instance = premises[0].claim.instances.build(recipe, True)
    except ValueError:
        return None
    wanted = {h: None for p in premises for h in p.claim.requires if h is not p.case}
    relations = [h for h in claim.requires if h.relation is not None and h.met is None]
    values = iteration.setting.bind(instance.problem, instance.params)
    holds = all(h.holds(instance.problem, instance.params, values) for h in (*wanted, *relations))
    return int(instance.problem.n) if holds else None


@lru_cache(maxsize=256)
def _examined_once(claim: Claim, seed: int, size: int, methods: tuple[Method, ...]) -> tuple[Outcome, ...]:
    """What methods find of a premise, on which several claims may rest."""
    # Premises are certified anew, at the constants of each derivation.
    others = tuple(method for method in methods if method is not worst_cases.METHOD)
    return tuple(examined(Inquiry(claim, seed, size, methods=methods), others))


def _derived(method: Method, inquiry: Inquiry, iteration: Iteration, premises: tuple[Premise, ...]) -> Outcome:
    claim, rng = inquiry.claim, np.random.default_rng(inquiry.seed)
    of_each = [list(islice(_constants(iteration, claim, premises, n, rng), _ALIKE)) for n in _CLIENTS]
    about = points.of(premises[0].claim, claim.requires)
    tried = [sorted(recipes, key=lambda recipe: _plain(about, recipe))[:_TRIES] for recipes in of_each if recipes]
    if not tried:
        raise ValueError("no constants meet the hypotheses")
    for recipe in (recipe for recipes in of_each for recipe in recipes):
        if missing := obligations.missing(claim, premises, recipe):
            raise ValueError(f"{missing} is not derived")
    # Should those share what the hypotheses do not ask: the simplest of many that have none of it.
    others = _constants(iteration, claim, premises, max(_CLIENTS), np.random.default_rng(inquiry.seed))
    spare = sorted((recipe for recipe in others if not about.uncovered([recipe])), key=wildness)[:_SPARE]
    simple = [recipe for recipes in (*tried, spare) for recipe in recipes]
    every = {clients: _draws(iteration, premises, simple, clients) for clients in _CLIENTS}
    seen = _compared(claim, every, inquiry.seed, rng)
    certified = [_found(claim, premises, recipes) for recipes in tried]
    if spare and about.uncovered([recipe for recipe, _ in certified]):
        certified.append(_found(claim, premises, spare))
    found = [each for _, each in certified]
    left_open = tuple(line for f in found for line in f.left_open)
    said = _of_all(found, seen)
    if left_open:
        note = f"{said}; not certified: {left_open[0]}"
        return method.found(Verdict.SUPPORTED, note, instances=len(found), left_open=left_open)
    recipes = [recipe for recipe, _ in certified]
    if why := _elsewhere(claim, iteration, found):
        return method.found(Verdict.SUPPORTED, f"{said}; certified, but {why}", instances=len(found))
    if shared := about.uncovered(recipes):
        note = f"{said}; certified, but only where {', '.join(shared)}"
        return method.found(Verdict.SUPPORTED, note, instances=len(found))
    derived = tuple(Derived(recipe, tuple(map(Part.of, each.certificates))) for recipe, each in certified)
    note, used = _certified(about, certified, seen), ("derivation", "sdp")
    return method.found(Verdict.CERTIFIED, note, instances=len(found), derived=derived, used=used)


def _elsewhere(claim: Claim, iteration: Iteration, found: Iterable[Found]) -> str:
    """Why what is certified at some constants may fail at others, or its iterations be others; or empty."""
    used = [claims.get(id) for id in sorted({id for each in found for id in each.used})]
    own = _own_code(claim, used, iteration)
    return own or next((why for each in (claim, *used) if (why := allowed.unlisted(each))), "")


def _own_code(claim: Claim, used: Sequence[Claim], iteration: Iteration) -> str:
    """Why the iterations need not be those of all runs, in words; empty where all of the code is of our theory."""
    name = for_all.foreign(claim, used, iteration)
    return f"that the iterations are those of all runs is only seen, and {name} may know of which" if name else ""


def _said(ids: Iterable[str], steps: Iterable[RuleUse], seen: int) -> str:
    """From what a claim is derived, by which rules, and on how many runs iterations were compared with the method."""
    rules = {step.rule for step in steps}
    from_these = ", ".join(sorted(set(ids)))
    return f"derived from {from_these}, by {', '.join(sorted(rules))}; iterations are those of {seen} runs"


def _of_all(found: Iterable[Found], seen: int) -> str:
    """The same of what was found at several choices of the constants."""
    every = tuple(found)
    return _said((id for f in every for id in f.used), (step for f in every for step in f.steps), seen)


def _certified(about: points.Points, certified: Sequence[tuple[Recipe, Found]], seen: int) -> str:
    """What is shown, at which constants."""
    found = [each for _, each in certified]
    plainest = min((recipe for recipe, _ in certified), key=lambda recipe: _plain(about, recipe))
    return (
        f"{_of_all(found, seen)}; all of it exact over the whole class, in all dimensions, at {len(found)} choices of "
        f"the constants, among them {points.told(about.claim, plainest)}, whatever is drawn "
        f"({sum(f.programs for f in found)} programs)"
    )


def _plain(about: points.Points, recipe: Recipe) -> tuple[int, float]:
    """How degenerate constants are, and then how long."""
    return len(about.degeneracies(recipe) - about.inside), wildness(recipe)


def _found(claim: Claim, premises: tuple[Premise, ...], recipes: Iterable[Recipe]) -> tuple[Recipe, Found]:
    """What is found at the first of the constants at which nothing is left open; where there are none, at the last."""
    for recipe in recipes:
        found = obligations.at(claim, premises, recipe)
        if not found.left_open:
            break
    return recipe, found


def _compared(
    claim: Claim, every: Mapping[int, set[Drawn]] | None, seed: int, rng: np.random.Generator, most: int = _RUNS
) -> int:
    """On how many runs the iterations were seen to be those of the method; ``ValueError`` where they are not.

    ``every``: all that may be drawn by so many clients, as certified; None where whatever is drawn may be. Hypotheses
    that only few instances break, and starts, are looked at on many runs; the first are longer ones.
    """
    seen = long = 0
    for recipe, instance in islice(meeting(claim, islice(_near_and_far(claim, rng), _PROPOSED)), most):
        certified = None if every is None else every.get(instance.problem.n)
        steps = _STEPS if (certified or every is None) and long < _LONG_RUNS else 1
        try:
            remembers = not seen and runs.remembers(claim, recipe, seed)
            why = runs.differs(claim, recipe, certified or None, seed, steps)
        except ValueError:
            # The method has no step there, as where a client's problem has no solution: there is no run.
            continue
        if remembers:
            raise ValueError(f"a step comes to give something else for the same state and draw: at {recipe}")
        if why:
            raise ValueError(f"{why}: at {recipe}")
        seen, long = seen + 1, long + (steps > 1)
    if not long:
        raise ValueError("no run meets the hypotheses")
    return seen


def _near_and_far(claim: Claim, rng: np.random.Generator) -> Iterator[Recipe]:
    for recipe in claim.instances.recipes(rng):
        yield recipe
        far = claim.instances.far(recipe, rng)
        if far is not None:
            yield far


def premises_of(claim: Claim) -> tuple[Premise, ...]:
    """The claims from which a claim is to follow; ``ValueError`` where no rule speaks of it, or of one of them."""
    return _premises(claim)[1]


def _premises(claim: Claim) -> tuple[Iteration, tuple[Premise, ...]]:
    """The iteration of which a claim's quantities are, and the claims from which it is to follow.

    ``ValueError`` where a premise is of another setting, or rests on what the claim does not assume.
    """
    iteration = _iteration(claim)
    if any(quantity.after or quantity.domain is not None for quantity in claim.statement.quantities):
        raise ValueError("no rule speaks of quantities that need not be finite, or of expectations")
    found = {id: _premise(claims.get(id), iteration, claim) for id in _leaves(claim)}
    domain = symbolic.assumed(claim)
    if not all(reals.implied(relation, domain) for relation in iteration.setting.domain):
        raise ValueError("the setting of its iterations assumes more of the letters")
    return iteration, tuple(found.values())


def _iteration(claim: Claim) -> Iteration:
    """The iteration of which a claim's quantities are; ``ValueError`` where no rule speaks of the claim."""
    if (of_runs := _of_runs(claim)) is not None:
        along: Along = of_runs.read(claim).along
        return along.iteration
    iteration: Iteration | None = getattr(claim.statement, "iteration", None)
    if not isinstance(claim.statement, Eventually) or iteration is None:
        raise ValueError("no rule derives a statement of this kind")
    return iteration


def _leaves(claim: Claim) -> Iterator[str]:
    """The claims from which a claim is to follow: in place of a limit that itself is derived those from which that is,
    as nothing of it is believed. ``ValueError`` where a claim is to follow from itself."""

    def follows(id: str) -> tuple[str, ...]:
        known = claim if id == claim.id else claims.get(id)
        return known.follows if known is claim or isinstance(known.statement, Eventually) else ()

    for id, path in claims.behind(claim.id, follows, deep=True):
        for premise in follows(id):
            if premise in (*path, id):
                raise ValueError(f"{premise} is to follow from itself")
        if path and not follows(id):
            yield id


def _premise(premise: Claim, iteration: Iteration, claim: Claim) -> Premise:
    """A claim about iterations as a premise; ``ValueError`` where it is none."""
    if premise.setting is not iteration.setting:
        raise ValueError(f"{premise.id} is of another setting")
    known = [h for pair in iteration.cases for h in pair]
    cases = [h for h in premise.requires if h in known]
    for h in premise.requires:
        if h not in cases and not _assumed(h, claim):
            raise ValueError(f"{premise.id} rests on {h.text}, which is not assumed")
    if len(cases) > 1:
        raise ValueError(f"{premise.id} is of several cases")
    return Premise(premise, cases[0] if cases else None)


def _assumed(hypothesis: Hypothesis, claim: Claim) -> bool:
    """Whether the claim assumes at least this, for all values of its letters."""
    if hypothesis in claim.requires:
        return True
    known = hypothesis.relation is not None and hypothesis.met is None
    return known and reals.implied(hypothesis.relation, symbolic.assumed(claim))


def _draws(iteration: Iteration, premises: tuple[Premise, ...], constants: list[Recipe], clients: int) -> set[Drawn]:
    """All that an iteration of so many clients may draw, as certified; empty where none are."""
    build = premises[0].claim.instances.build
    rows = [build(each, True) for recipe in constants for each in iteration.every(recipe)]
    return {drawn for row in rows if row.problem.n == clients for drawn in runs.draws(iteration, row.params)}


def _constants(
    iteration: Iteration, claim: Claim, premises: tuple[Premise, ...], clients: int, rng: np.random.Generator
) -> Iterator[Recipe]:
    """Recipes of iterations at whose constants the claim's relations and the premises' hypotheses hold."""
    for recipe in islice(premises[0].claim.instances.recipes(rng), _PROPOSED):
        if _clients(iteration, claim, premises, recipe) == clients:
            yield recipe


METHOD = Method(
    "derivation",
    "what the claims that it follows from imply",
    (Statement,),
    run,
    role=Role.DERIVES,
    applies=lambda claim: bool(claim.follows),
    recheck=recheck,
)
