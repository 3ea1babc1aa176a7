"""Claims that say from which others they follow: the step from these to the claim is itself examined.

The registry only names the premises. What follows from them is derived by the rules of :mod:`verify.derivation.rules`,
and every inequality that a rule uses, the nonnegativity of what it takes for nonnegative, and that an iteration keeps
what the next one rests on are proved for all letters, for everything that may be drawn.
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
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.derivation import chains, combined, descent, for_all, obligations, runs
from verify.derivation.for_all import RuleResult
from verify.derivation.obligations import Premise
from verify.derivation.rules import RuleUse
from verify.evidence.record import Outcome, strongest
from verify.exact import reals, symbolic
from verify.methods import worst_cases
from verify.methods.base import Inquiry, Method, Role, examined
from verify.pep.prover import DoesNotHold

#: Numbers of clients at whose constants iterations are looked at, and recipes among which these are looked for.
_CLIENTS, _PROPOSED = (1, 2), 400
#: Runs on which iterations are compared with the method, and steps of the first of them; the others take one. For each
#: of them one is proposed whose constants are anything.
_RUNS, _LONG_RUNS, _STEPS = 200, 3, 12
#: Runs on which they are compared where a stored proof is checked.
_RUNS_AGAIN = 20
#: Verdicts with which nothing follows.
_FALLEN = (Verdict.REFUTED, Verdict.ILL_POSED, Verdict.NOT_TESTED)


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where all that the claim says is derived for all letters from what is proved; no verdict, with the reason,
    where it does not follow."""
    try:
        premises = premises_of(inquiry.claim)
    except ValueError as error:
        return method.skipped(f"left open: {error}")
    verdicts = _verdicts(inquiry, premises)
    if fallen := _fallen(verdicts):
        return method.skipped(fallen)
    try:
        return _found(method, inquiry, premises, verdicts, _RUNS)
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")


def following(claim: Claim, premises: Sequence[Premise]) -> RuleResult:
    """Derive a claim for all letters. Raise ``ValueError`` with the step that fails, or the assumption that is
    missing.
    """
    of_runs = _of_runs(claim)
    return (for_all.derived if of_runs is None else of_runs.added)(claim, premises)


def _found(
    method: Method, inquiry: Inquiry, premises: tuple[Premise, ...], verdicts: Mapping[str, Verdict], most: int
) -> Outcome:
    """Return the outcome for what follows. Raise ``ValueError`` with the reason if the claim does not."""
    prove = _combined if combined.speaks_of(inquiry.claim) else _proved
    return prove(method, inquiry, premises, verdicts, most)


def _combined(
    method: Method, inquiry: Inquiry, premises: tuple[Premise, ...], verdicts: Mapping[str, Verdict], most: int
) -> Outcome:
    """Return the outcome for a sum of multiples of inequalities. Raise ``ValueError`` if it is none; arguments as of
    :func:`_proved`.
    """
    claim = inquiry.claim
    used = combined.added(claim, [p.claim for p in premises])
    _check_proved([premise.id for premise in used], verdicts)
    if why := reals.unreal(claim).removeprefix("left open: "):
        raise ValueError(why)
    ids = ", ".join(sorted(premise.id for premise in used))
    note = f"derived from {ids}, by {combined.RULE}; for all letters, every number of clients and d, and all draws"
    return method.found(Verdict.PROVED, note, used=("derivation", "symbolic"))


def _check_proved(ids: Iterable[str], verdicts: Mapping[str, Verdict]) -> None:
    """Raise ``ValueError`` if a premise is not proved."""
    if unproved := next((id for id in ids if verdicts[id] is not Verdict.PROVED), ""):
        raise ValueError(f"{unproved} is {verdicts[unproved]}, and not proved")


def _of_runs(claim: Claim) -> Any:
    """The rule for claims about runs as wholes; None of others."""
    return next((rule for rule in (descent, chains) if rule.speaks_of(claim)), None)


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
    """Return the outcome for what follows for all letters and any number of clients. Raise ``ValueError`` with the
    reason if the claim does not.

    ``most``: runs on which the iterations are compared with the method.
    """
    claim, of_runs = inquiry.claim, _of_runs(inquiry.claim)
    iteration = _iteration(claim)
    found = following(claim, premises)
    _check_proved([used.id for used in found.used], verdicts)
    if why := _own_code(claim, found.used, iteration) or reals.unreal(claim).removeprefix("left open: "):
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
        seen = _compared(claim, inquiry.seed, rng, most)
    note = (
        f"{_premises_note([c.id for c in found.used], found.steps, seen)}; all of it for all letters, "
        f"each client's own too, every number of clients and d, and all draws"
    )
    return method.found(Verdict.PROVED, note, instances=seen, used=("derivation", "symbolic"))


def recheck(method: Method, inquiry: Inquiry, stored: Outcome) -> Outcome:
    """As :func:`run`, on fewer runs."""
    premises = premises_of(inquiry.claim)
    verdicts = _verdicts(inquiry, premises)
    if fallen := _fallen(verdicts):
        raise DoesNotHold(fallen)
    return _found(method, inquiry, premises, verdicts, _RUNS_AGAIN)


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
    """Examine a premise, once for all claims that rest on it."""
    # From what is certified nothing follows for all letters.
    others = tuple(method for method in methods if method is not worst_cases.METHOD)
    return tuple(examined(Inquiry(claim, seed, size, methods=methods), others))


def _own_code(claim: Claim, used: Sequence[Claim], iteration: Iteration) -> str:
    """Why the iterations need not be those of all runs, in words; empty where all of the code is of our theory."""
    name = for_all.foreign(claim, used, iteration)
    return f"that the iterations are those of all runs is only seen, and {name} may know of which" if name else ""


def _premises_note(ids: Iterable[str], steps: Iterable[RuleUse], seen: int) -> str:
    """From what a claim is derived, by which rules, and on how many runs iterations were compared with the method."""
    rules = {step.rule for step in steps}
    from_these = ", ".join(sorted(set(ids)))
    return f"derived from {from_these}, by {', '.join(sorted(rules))}; iterations are those of {seen} runs"


def _compared(claim: Claim, seed: int, rng: np.random.Generator, most: int) -> int:
    """On how many runs the iterations were seen to be those of the method. Raise ``ValueError`` if they are not.

    Hypotheses that only few instances break, and starts, are looked at on many runs; the first are longer ones.
    """
    seen = 0
    for recipe, _ in islice(meeting(claim, islice(_near_and_far(claim, rng), _PROPOSED)), most):
        case = Case(claim, recipe)
        try:
            remembers = not seen and runs.remembers(case, seed)
            why = runs.differs(case.anew(), seed, _STEPS if seen < _LONG_RUNS else 1)
        except ValueError:
            # The method has no step there, as where a client's problem has no solution: there is no run.
            continue
        if remembers:
            raise ValueError(f"a step returns different values for the same state and draw: at {recipe}")
        if why:
            raise ValueError(f"{why}: at {recipe}")
        seen += 1
    if not seen:
        raise ValueError("no run meets the hypotheses")
    return seen


def _near_and_far(claim: Claim, rng: np.random.Generator) -> Iterator[Recipe]:
    for recipe in claim.instances.recipes(rng):
        yield recipe
        far = claim.instances.far(recipe, rng)
        if far is not None:
            yield far


def premises_of(claim: Claim) -> tuple[Premise, ...]:
    """The claims from which a claim is to follow. Raise ``ValueError`` if no rule covers it, or one of them."""
    if combined.speaks_of(claim):
        return tuple(Premise(claims.get(id), None) for id in _leaves(claim))
    return _premises(claim)[1]


def _premises(claim: Claim) -> tuple[Iteration, tuple[Premise, ...]]:
    """The iteration of which a claim's quantities are, and the claims from which it is to follow.

    Raise ``ValueError`` if a premise is of another setting, or rests on what the claim does not assume.
    """
    iteration = _iteration(claim)
    if any(quantity.after or quantity.domain is not None for quantity in claim.statement.quantities):
        raise ValueError("no rule involves expectations, or quantities that need not be finite")
    found = {id: _premise(claims.get(id), iteration, claim) for id in _leaves(claim)}
    domain = symbolic.assumed(claim)
    if not all(reals.implied(relation, domain) for relation in iteration.setting.domain):
        raise ValueError("the setting of its iterations assumes more about the letters")
    return iteration, tuple(found.values())


def _iteration(claim: Claim) -> Iteration:
    """The iteration of which a claim's quantities are. Raise ``ValueError`` if no rule covers the claim."""
    if (of_runs := _of_runs(claim)) is not None:
        along: Along = of_runs.read(claim).along
        return along.iteration
    if claim.statement.iteration is None:
        raise ValueError("no rule derives a statement of this kind")
    return claim.statement.iteration


def _leaves(claim: Claim) -> Iterator[str]:
    """The claims from which a claim is to follow: in place of a limit that itself is derived those from which that is,
    as nothing of it is believed. Raise ``ValueError`` if a claim would follow from itself."""

    def follows(id: str) -> tuple[str, ...]:
        known = claim if id == claim.id else claims.get(id)
        return known.follows if known is claim or isinstance(known.statement, Eventually) else ()

    for id, path in claims.behind(claim.id, follows, deep=True):
        for premise in follows(id):
            if premise in (*path, id):
                raise ValueError(f"{premise} would follow from itself")
        if path and not follows(id):
            yield id


def _premise(premise: Claim, iteration: Iteration, claim: Claim) -> Premise:
    """A claim about iterations as a premise. Raise ``ValueError`` if it is none."""
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
    """Return True if the claim's hypotheses imply this one, for all values of its letters."""
    if hypothesis in claim.requires:
        return True
    known = hypothesis.relation is not None and hypothesis.met is None
    return known and reals.implied(hypothesis.relation, symbolic.assumed(claim))


def _constants(
    iteration: Iteration, claim: Claim, premises: tuple[Premise, ...], clients: int, rng: np.random.Generator
) -> Iterator[Recipe]:
    """Recipes of iterations at whose constants the claim's relations and the premises' hypotheses hold."""
    for recipe in islice(premises[0].claim.instances.recipes(rng), _PROPOSED):
        if _clients(iteration, claim, premises, recipe) == clients:
            yield recipe


METHOD = Method(
    "derivation",
    "what follows from claims about every iteration, along whole runs",
    (Statement,),
    run,
    role=Role.DERIVES,
    applies=lambda claim: bool(claim.follows),
    recheck=recheck,
)
