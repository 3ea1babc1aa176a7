"""The checker checked: what each method makes of the mutants, and of the claims that hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice, zip_longest
from multiprocessing import get_context
from typing import Any

import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe, Start
from fedtheory.kinds.base import Statement
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.rational import Array
from fedtheory.settings.hypotheses import Hypothesis
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold, meeting, sides
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.checking import BUDGETS
from verify.evidence.record import strongest
from verify.exact import reals, symbolic
from verify.methods import METHODS, PROOFS, sequential_tests
from verify.methods.base import Inquiry, examined
from verify.mutation import Mutant, bank
from verify.pep import certifying, posing
from verify.search import hunting, states

#: Instances at which the worst case over the class is computed for a mutant.
CLASSES = 3
#: The sorts of proof that vouch for a statement at all parameters.
FOR_ALL = frozenset({"symbolic", "reals", "entailed"})


class Label(StrEnum):
    """The ground truth about a mutant.

    FALSE: a counterexample to one of its statements was confirmed, or the worst case over the class exceeds it. TRUE:
    each of its statements is proved, or a consequence of the original's, or certified at some parameters and not
    refuted by the full search at any others. OPEN: none of these. STILLBORN: it does not run, or no values meet its
    hypotheses.
    """

    FALSE = "false"
    TRUE = "true"
    OPEN = "open"
    STILLBORN = "stillborn"


@dataclass(frozen=True)
class Trial:
    """The outcome of one mutant.

    ``killed``: the methods that found a counterexample at the quick budget, each by itself, among those ``tried``.
    ``budget``: that at which the search as a whole found one, or None. ``vouching``: methods that accept all of its
    statements. ``contradicted``: whether the worst case over the class, at the very parameters of a counterexample, was
    certified to obey the statement; None where it was not computed. ``reason``: what the label rests on.
    """

    id: str
    label: Label
    tried: frozenset[str]
    killed: frozenset[str]
    budget: str | None
    vouching: frozenset[str]
    contradicted: bool | None
    reason: str


@dataclass(frozen=True)
class Alarm:
    """A claim that holds, and a seed at which it was refuted all the same."""

    id: str
    seed: int


def holding(among: Sequence[Claim], jobs: int = 1) -> tuple[Claim, ...]:
    """The claims that the search does not refute, those that it does not test left out."""
    about = [c for c in among if c.statement.refutable]
    return tuple(c for c, holds in zip(about, mapped(_holds, [(c,) for c in about], jobs), strict=True) if holds)


def sample(mutants: Sequence[Mutant], size: int) -> tuple[Mutant, ...]:
    """``size`` mutants, in turn from each claim, method and compressor, and at random within one."""
    sources: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        sources.setdefault(mutant.id.split("#")[0], []).append(mutant)
    orders = [np.random.default_rng(0).permutation(len(group)) for group in sources.values()]
    groups = [[group[i] for i in order] for group, order in zip(sources.values(), orders, strict=True)]
    turns = (m for turn in zip_longest(*groups) for m in turn if m is not None)
    return tuple(islice(turns, size))


def trials(mutants: Sequence[Mutant], seed: int = 0, budget: str = "quick", jobs: int = 1) -> Iterator[Trial]:
    """Yield the outcome of each mutant, in order, as it becomes known.

    At the budget "full" what the quick search left is searched again.
    """
    return mapped(_try, [(m, seed, budget) for m in mutants], jobs)


def alarms(
    about: Sequence[Claim], seeds: Sequence[int], jobs: int = 1, progress: Callable[[], None] = lambda: None
) -> tuple[Alarm, ...]:
    """The seeds at which a claim that holds is refuted at the quick budget; ``progress`` is called for each search."""
    tasks = [(claim, seed) for seed in seeds for claim in about]
    found = []
    for (claim, seed), wrong in zip(tasks, mapped(_refuted, tasks, jobs), strict=True):
        if wrong:
            found.append(Alarm(claim.id, seed))
        progress()
    return tuple(found)


# Changed code does not travel between processes: they are forked once all tasks are here, and given only a number.
_waiting: tuple[Callable[..., Any], list[Any]]


def mapped(function: Callable[..., Any], tasks: list[Any], jobs: int) -> Iterator[Any]:
    global _waiting
    if jobs == 1:
        yield from (function(*task) for task in tasks)
        return
    _waiting = function, tasks
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        yield from pool.map(_numbered, range(len(tasks)))


def _numbered(index: int) -> Any:
    function, tasks = _waiting
    return function(*tasks[index])


def _hunt(claim: Claim, seed: int, budget: str) -> hunting.Hunt:
    with threadpool_limits(limits=1):
        return hunting.hunt(claim, hunting.generator(claim, seed), BUDGETS[budget], 1)


def _holds(claim: Claim) -> bool:
    found = _hunt(claim, 0, "quick")
    return found.instances > 0 and not found.refutations


def _refuted(claim: Claim, seed: int) -> bool:
    return bool(_hunt(claim, seed, "quick").refutations)


def _try(mutant: Mutant, seed: int, budget: str) -> Trial:
    with threadpool_limits(limits=1):
        try:
            return _tried(mutant, seed, budget)
        except Exception as error:  # Changed code may fail in any way.
            return _stillborn(mutant, f"{type(error).__name__}: {error}")


def _stillborn(mutant: Mutant, reason: str) -> Trial:
    nothing: frozenset[str] = frozenset()
    return Trial(mutant.id, Label.STILLBORN, nothing, nothing, None, nothing, None, reason)


def _tried(mutant: Mutant, seed: int, budget: str) -> Trial:
    tried: set[str] = set()
    killed: set[str] = set()
    vouching: set[str] = set()
    unknown, contradicted = "", None
    if any(reals.contradictory(symbolic.assumed(claim)) for claim in mutant.claims):
        return _stillborn(mutant, "no instance meets its hypotheses")
    for claim, original in zip(mutant.claims, mutant.originals, strict=True):
        used, found, met, fatal = _alone(claim, seed, BUDGETS["quick"])
        tried |= used
        killed |= found
        if not met:
            unknown = unknown or claim.id
            continue
        outcomes = tuple(examined(Inquiry(claim, seed, given=tuple(met), methods=METHODS), PROOFS))
        best = strongest(outcomes)
        exceeded = next((o.exceeded for o in outcomes if o.exceeded is not None), None)
        if best is not None and best.verdict is Verdict.REFUTED:
            tried.add("reals")
            killed.add("reals")
        elif best is not None:
            vouching |= set(best.used)
        elif follows(claim, original):
            vouching.add("entailed")
        else:
            unknown = unknown or claim.id
        if exceeded is not None:
            tried.add("sdp")
            killed |= {"sdp"} if exceeded else set()
        if fatal is not None:
            contradicted = _certified(Case(claim, fatal))
        if killed:
            break
    vouched = frozenset() if unknown else frozenset(vouching)

    def trial(label: Label, at: str | None, reason: str) -> Trial:
        return Trial(mutant.id, label, frozenset(tried), frozenset(killed), at, vouched, contradicted, reason)

    if not killed:
        # What is drawn, where what is enumerated is right.
        for claim in mutant.claims:
            drawn = sequential_tests.test(claim, seed)
            tried |= {"sequential"} if drawn is not None else set()
            if drawn is not None and drawn.counterexample is not None:
                killed.add("sequential")
                break
    if killed - {"sdp"}:
        return trial(Label.FALSE, "quick", f"a counterexample to {claim.id}")
    # A certificate is valid at the parameters at which it was computed: alone it shows no mutant true.
    shown = bool(vouched) and vouched <= FOR_ALL
    if not killed and shown:
        return trial(Label.TRUE, None, ", ".join(sorted(vouched)))
    if budget == "full":
        for claim in mutant.claims:
            if _hunt(claim, seed, "full").refutations:
                return trial(Label.FALSE, "full", f"a counterexample to {claim.id}")
    if killed:
        return trial(Label.FALSE, None, f"the worst case over the class exceeds {claim.id}")
    if vouched and budget == "full":
        return trial(Label.TRUE, None, f"{', '.join(sorted(vouched))}, and not refuted by the full search")
    if vouched:
        return trial(
            Label.OPEN, None, "certified at the parameters tried, and not refuted by the quick search at others"
        )
    return trial(Label.OPEN, None, f"{unknown} is neither refuted nor proved")


def _alone(claim: Claim, seed: int, size: int) -> tuple[set[str], set[str], list[Recipe], Recipe | None]:
    """Methods that found states, those of them that refute alone, recipes that met the claim, one that refutes it."""
    rng = hunting.generator(claim, seed)
    used: set[str] = set()
    killed: set[str] = set()
    met: list[Recipe] = []
    fatal = None
    for recipe in hunting.proposed(claim, rng, size):
        case = Case(claim, recipe)
        findings = states.examine(case, rng)
        if not findings:
            continue
        if len(met) < CLASSES:
            met.append(recipe)
        for method in sorted({f.method for f in findings} - killed):
            used.add(method)
            if states.first_confirmed(case, [f for f in findings if f.method == method]) is not None:
                killed.add(method)
                fatal = fatal or recipe
        if killed and killed == used and len(met) == CLASSES:
            break
    return used, killed, met, fatal


def _certified(case: Case) -> bool | None:
    """Return True if the worst case over the class satisfies the claim at a recipe; None if that is not computed."""
    if not posing.posable(case.setting):
        return None
    try:
        if case.statement.residual is not None:
            with attributed(case.claim, case.recipe):
                return posing.preserved(case)
        return certifying.certify(case).verdict is Verdict.CERTIFIED
    except (ValueError, ArithmeticError):
        return None


#: The recipes among which instances that break a hypothesis are sought.
_PROPOSED = 200
#: The number of such instances that is needed.
_TRIED = 3


def follows(changed: Claim, original: Claim) -> bool:
    """Return True if the changed claim provably follows from the original, for all parameters; False proves nothing."""
    relations = symbolic.assumed(changed)
    if any(not _assumed(h, changed, relations) for h in original.requires):
        return changed.statement == original.statement and _at_no_cost(changed, original)
    if changed.statement == original.statement:
        return True
    pairs = _larger(changed.statement, original.statement)
    return pairs is not None and all(reals.at_most(a, b, relations) for a, b in pairs)


def _assumed(hypothesis: Hypothesis, changed: Claim, relations: list[sympy.Basic]) -> bool:
    """Return True if the changed claim's hypotheses imply this one."""
    if hypothesis in changed.requires:
        return True
    if hypothesis.relation is None or hypothesis.met is not None or hypothesis.each:
        return False
    return reals.implied(hypothesis.relation, relations)


def _at_no_cost(changed: Claim, original: Claim) -> bool:
    """Return True if every instance could declare other constants of its functions and so meet the original hypotheses.

    That is so if neither the statement nor what the changed claim requires ever reads the constants declared, which is
    tried on instances that only the changed claim allows: there is nothing to read.
    """
    proposed = islice(changed.instances.recipes(np.random.default_rng(0)), _PROPOSED)
    tried = 0
    for _, built in meeting(changed, proposed):
        if built.problem is None or hypotheses_hold(Case.of(original, built)):
            continue
        f = built.problem.f
        try:
            silent = Case.of(changed, _declaring(built, object(), object()))
            true = Case.of(original, _declaring(built, min(f.mu), max(f.L)))
            read = [left - right for left, right in sides(silent, np.zeros((1, built.dimension), dtype=int))]
            if not (read and hypotheses_hold(silent) and hypotheses_hold(true)):
                return False
        except (TypeError, ValueError, AttributeError):
            return False
        tried += 1
    return tried >= _TRIED


def _declaring(instance: Instance, mu: Any, L: Any) -> Instance:
    """The instance with other constants declared of its functions."""

    def redeclared(start: Start) -> Start:
        def at(theta: Array) -> tuple[Any, Any]:
            problem, state = start(theta)
            return replace(problem, declared=(mu, L)), state

        return at

    initial = None if instance.initial is None else redeclared(instance.initial)
    problem = replace(instance.problem, declared=(mu, L))
    return replace(instance, problem=problem, at=redeclared(instance.at), initial=initial)


def _larger(changed: Statement, original: Statement) -> list[tuple[sympy.Expr, sympy.Expr]] | None:
    """Pairs (a, b) such that a <= b makes the changed statement the weaker one; None where anything else has changed.

    Potentials and factors of claims that hold are nonnegative.
    """
    match changed, original:
        case OneStep(factor=sympy.Expr()), OneStep(factor=sympy.Expr()):
            a, b = original.factor, changed.factor
            scaled = changed.right == original.right / a * b
            same = scaled and replace(changed, factor=a, right=original.right) == original
            return [(a, b)] if same else None
        case Bound(), Bound(override=None):
            same = replace(changed, factor=original.factor, constant=original.constant) == original
            return [(original.factor, changed.factor), (original.constant, changed.constant)] if same else None
        case CompressorClass(), CompressorClass():
            same = replace(changed, omega=original.omega) == original
            return [(original.omega, changed.omega)] if same else None
    return None


__all__ = ["FOR_ALL", "Alarm", "Label", "Trial", "alarms", "bank", "holding", "sample", "trials"]
