"""``check``: the evidence for one claim, by every method that applies."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.statements import Bound, Inequality, Invariant, Limit, OneStep, Order, Untested
from verify.evidence import Counterexample, Evidence, Verdict
from verify.methods import asymptotics, certificates, generic_states, reals, sampled, search, shrinking, symbolic
from verify.methods.almost_sure import contracts
from verify.pep import posing
from verify.pep.worst_case import Status

#: Counterexamples collected before the simplest is made smaller.
REFUTATIONS = 4
#: Instances proposed at each budget.
BUDGETS = {"quick": 160, "full": 3000}


def check(claim: Claim, seed: int = 0, budget: str = "quick") -> Evidence:
    """Test a claim and return the evidence. The same seed and budget give the same evidence.

    ``ValueError`` for an unknown budget. A refutation is confirmed in exact arithmetic and made as small as the
    search can; a claim whose hypotheses no instance met is ``not-tested``, never ``supported``.
    """
    if not isinstance(claim, Claim):
        raise ValueError(f"check takes a claim, as claims.get(id) gives, not {claim!r}")
    check_arguments(seed, budget)
    begun = time.perf_counter()
    # One BLAS thread: the sums of small matrices then round alike whatever else runs.
    with threadpool_limits(limits=1):
        evidence = _check(claim, seed, BUDGETS[budget])
    return Evidence(**{**evidence.__dict__, "seconds": time.perf_counter() - begun})


def check_arguments(seed: int, budget: str) -> None:
    """``ValueError`` for a seed or a budget that ``check`` does not take."""
    if not isinstance(budget, str) or budget not in BUDGETS:
        raise ValueError(f"the budget must be one of {', '.join(BUDGETS)}, got {budget!r}")
    if not isinstance(seed, int) or seed < 0:
        raise ValueError(f"the seed must be a nonnegative integer, got {seed}")


def _check(claim: Claim, seed: int, size: int) -> Evidence:
    if isinstance(claim.statement, Untested):
        return Evidence(claim, Verdict.NOT_TESTED, None, (), 0, note=claim.statement.reason)
    if isinstance(claim.statement, Order):
        return asymptotics.evidence(claim)
    rng = search.generator(claim, seed)
    found = search.hunt(claim, rng, size, REFUTATIONS)
    methods = set(found.methods)
    if found.refutations:
        return _refuted(claim, list(found.refutations), methods, found.instances)
    if isinstance(claim.statement, Limit):
        return contracts(claim, found.instances, claim.family.recipes(rng), size)
    if found.instances == 0:
        return Evidence(claim, Verdict.NOT_TESTED, None, (), 0, note="no instance met the hypotheses")
    # Where no ratio could be measured the worst is infinite.
    margin = round(1 - found.worst, 9) + 0.0 if math.isfinite(found.worst) else None
    drawn = sampled.test(claim, seed)
    if drawn is not None:
        methods.add("sequential")
        if drawn.counterexample is not None:
            return _wrongly_sampled(claim, drawn.counterexample, methods, found.instances)
    verdict, method, note, _ = strongest(claim, found.met)
    if method:
        methods.add(method)
    if isinstance(claim.statement, Bound):
        by_round = found.by_round
        note += "; margin at " + ", ".join(f"T={T}: {round(1 - by_round[T], 6) + 0.0:g}" for T in sorted(by_round))
    if drawn is not None:
        note += drawn.note
    return Evidence(claim, verdict, margin, _ordered(methods), found.instances, tightest=found.tightest, note=note)


def _wrongly_sampled(claim: Claim, found: Counterexample, methods: set[str], instances: int) -> Evidence:
    note = "what is enumerated holds; what is sampled does not"
    return Evidence(
        claim, Verdict.REFUTED, _margin(found), _ordered(methods), instances, found, found.recipe, note=note
    )


class Strongest(NamedTuple):
    """The strongest verdict on a claim that no instance violates, the method it is due to, and what it rests on.

    ``exceeded``: whether the worst case over the class exceeds the claim at some of the parameters, None if not known.
    """

    verdict: Verdict
    method: str
    note: str
    exceeded: bool | None = None


def strongest(claim: Claim, met: Sequence[Recipe]) -> Strongest:
    """The strongest verdict on a claim that the search did not refute.

    ``met``: recipes of instances that meet the hypotheses, at whose parameters the whole class is examined.
    """
    if symbolic.proves(claim):
        note = "reduced to the sign of polynomials, for all values of the constants"
        return Strongest(Verdict.PROVED, "symbolic", note)
    if reals.proves(claim):
        note = "no real values of the constants break it, by z3's decision procedure for polynomials"
        return Strongest(Verdict.PROVED, "reals", note)
    searched = "no violation at the worst states of the instances"
    if generic_states.applies(claim):
        return _in_all_states(claim, met, searched)
    if not isinstance(claim.statement, OneStep | Bound | Inequality | Invariant):
        return Strongest(Verdict.SUPPORTED, "", searched)
    if not posing.posable(claim.setting):
        return Strongest(Verdict.SUPPORTED, "", f"{searched}; the class of the setting is not posed")
    try:
        if certificates.prove(claim) is not None:
            note = "an identity with nonnegative multipliers, for all parameters and every number of clients"
            return Strongest(Verdict.PROVED, "symbolic", note)
        build = claim.family.build
        exact = [build(recipe, True) for recipe in met]
        where = f"the whole class, in all dimensions, at {len(met)} choices of the parameters"
        if isinstance(claim.statement, Invariant):
            if exact and all(posing.preserved(claim, instance) for instance in exact):
                return Strongest(Verdict.CERTIFIED, "formal", f"exact over {where}")
            return Strongest(Verdict.SUPPORTED, "", searched)
        found = [certificates.certify(claim, instance).status for instance in exact]
    except (ValueError, TypeError, AttributeError, ArithmeticError) as error:
        # The statement, or somebody's own step, does not run on vectors known only by their inner products.
        return Strongest(Verdict.SUPPORTED, "", f"{searched}; over the class: {error}")
    unsettled = sum(status > Status.CERTIFIED for status in found)
    if found and not unsettled:
        return Strongest(Verdict.CERTIFIED, "sdp", f"bounded over {where}", False)
    note = f"{searched}; over the class: {unsettled} of {len(found)} programs left open"
    # A potential that does not contract says nothing against a bound that is stated of something else.
    known = not isinstance(claim.statement, Bound)
    return Strongest(Verdict.SUPPORTED, "", note, Status.EXCEEDED in found if known else None)


def _in_all_states(claim: Claim, met: Sequence[Recipe], searched: str) -> Strongest:
    build = claim.family.build
    try:
        certain = bool(met) and all(generic_states.holds(claim, build(recipe, True)) for recipe in met)
    except (ValueError, TypeError, AttributeError, ArithmeticError, IndexError) as error:
        return Strongest(Verdict.SUPPORTED, "", f"{searched}; in all states: {error}")
    if not certain:
        return Strongest(Verdict.SUPPORTED, "", searched)
    return Strongest(Verdict.CERTIFIED, "formal", f"exact in all states, at {len(met)} choices of the parameters")


def _refuted(claim: Claim, found: list[Counterexample], methods: set[str], instances: int) -> Evidence:
    # Simplifying is greedy: what comes out depends on the start, so each is tried a little and the best one fully.
    small = min((shrinking.smallest(c, tries=30) for c in found), key=lambda c: shrinking.complexity(c.recipe))
    small = shrinking.smallest(small)
    return Evidence(
        claim,
        Verdict.REFUTED,
        min(_margin(c) for c in (*found, small)),
        _ordered(methods | {"rational"}),
        instances,
        counterexample=small,
        tightest=small.recipe,
        note="confirmed in exact arithmetic",
    )


def _margin(found: Counterexample) -> float:
    """The margin of a violation, rounded; -inf where a side is not a number, or the ratio is beyond the floats."""
    try:
        left, right = float(found.left), float(found.right)
    except OverflowError:
        return -math.inf
    if found.relation == "==":
        margin = -abs(left - right) / max(abs(left), abs(right), 1e-300)
    elif right > 0:
        margin = 1 - left / right
    else:
        margin = (right - left) / max(abs(left) + abs(right), 1e-300)
    return round(margin, 9) if math.isfinite(margin) else -math.inf


def _ordered(methods: set[str]) -> tuple[str, ...]:
    return tuple(
        m
        for m in ("symbolic", "reals", "formal", "sdp", "exact", "spectral", "search", "rational", "sequential")
        if m in methods
    )


__all__ = ["BUDGETS", "Recipe", "check"]
