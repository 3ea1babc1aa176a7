"""The methods of verification, in the order in which they run: what refutes first, then what shows most."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.eventually import Eventually
from fedtheory.kinds.experiment import Experiment
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.one_step import OneStep
from fedtheory.kinds.order import Order
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.kinds.readings import Readings
from fedtheory.kinds.untested import Untested
from verify.comparisons.deciding import arithmetic, floats_in
from verify.comparisons.number_types import runs_on_states
from verify.evidence.certificates import ClassCertificate
from verify.evidence.counterexamples import Counterexample
from verify.evidence.parsing import number
from verify.evidence.record import Outcome
from verify.faults import Unrunnable, attributed
from verify.methods import (
    almost_sure,
    asymptotics,
    certificates,
    class_certificates,
    derived,
    determinants,
    existence,
    long_runs,
    number_types,
    points,
    readings,
    reals,
    runs,
    sampled,
    seen,
    shrinking,
    states,
    symbolic,
    trajectories,
    unmet,
)
from verify.methods.base import Inquiry, Method
from verify.methods.refutation import margin
from verify.pep import generic_states, posing
from verify.pep.bounding import Refused
from verify.verdict import Verdict

#: Attempts at making each counterexample smaller, before the best one is made as small as can be.
_TRIES = 30
#: Instances at which floats are compared with fractions, besides a share of those that are proposed.
LOOKED_AT = 6
#: What a search that found no violation says.
SEARCHED = "no violation at the worst states of the instances"


def _searched(claim: Claim) -> bool:
    return not isinstance(claim.statement, Untested | Order | Eventually | Readings | Fails | Experiment)


def _cite(method: Method, inquiry: Inquiry) -> Outcome:
    assert isinstance(inquiry.claim.statement, Untested)
    return method.found(Verdict.NOT_TESTED, inquiry.claim.statement.reason)


def _read(method: Method, inquiry: Inquiry) -> Outcome:
    return readings.compare(method, inquiry, examined)


def _derive(method: Method, inquiry: Inquiry) -> Outcome:
    return derived.outcome(method, inquiry, lambda premise: _examine(premise.claim, premise.seed, premise.size))


@lru_cache(maxsize=256)
def _examine(claim: Claim, seed: int, size: int) -> tuple[Outcome, ...]:
    """What methods find of a premise, on which several claims may rest."""
    # Premises are certified anew, at the constants of each derivation.
    methods = tuple(m for m in METHODS if m.name != _WORST_CASES)
    return tuple(examined(Inquiry(claim, seed, size), methods))


def _grow(method: Method, inquiry: Inquiry) -> Outcome:
    return asymptotics.outcome(method, inquiry.claim)


def _search(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted by the smallest counterexample, or supported by the instances that met the hypotheses, if any did."""
    claim, found = inquiry.claim, inquiry.hunt
    used = tuple(sorted(found.methods))
    if found.untrue and not (found.refutations and isinstance(claim.statement, Limit)):
        return method.found(Verdict.ILL_POSED, found.untrue, used=used)
    if found.refutations:
        # Simplifying is greedy: what comes out depends on the start, so each is tried a little, the best one fully.
        tried = (shrinking.smallest(c, tries=_TRIES) for c in found.refutations)
        small = shrinking.smallest(min(tried, key=lambda c: shrinking.complexity(c.recipe)))
        return method.found(
            Verdict.REFUTED,
            f"confirmed {arithmetic(small.left, small.right)}",
            margin=min(margin(c) for c in (*found.refutations, small)),
            instances=found.instances,
            counterexample=small,
            tightest=small.recipe,
            used=(*used, "rational"),
        )
    if found.undefined is not None:
        why, where = found.undefined
        return method.found(Verdict.ILL_POSED, f"{why}, which no hypothesis excludes: at {where}", used=used)
    if found.instances == 0:
        return method.found(Verdict.NOT_TESTED, unmet.reason(claim, np.random.default_rng(inquiry.seed), inquiry.size))
    limit = isinstance(claim.statement, Limit)
    note = "the optimum is a fixed point; of the limit that says nothing" if limit else SEARCHED
    if where := states.floats(claim, found.met):
        note += f"; not exact: {floats_in(where)}: nothing stronger can be said of it until it is written in fractions"
    # Where no ratio could be measured the worst is infinite.
    least = round(1 - found.worst, 9) + 0.0 if math.isfinite(found.worst) else None
    looked = frozenset() if limit else found.looked
    note = "; ".join(filter(None, (note, seen.words(looked))))
    details = {"margin": least, "instances": found.instances, "tightest": found.tightest, "used": used, "seen": looked}
    return method.found(None if limit else Verdict.SUPPORTED, note, **details)


def _contract(method: Method, inquiry: Inquiry) -> Outcome:
    # The search draws first, from the same random numbers.
    searched = inquiry.hunt.instances
    assert searched >= 0
    return almost_sure.contracts(method, inquiry.claim, inquiry.claim.instances.recipes(inquiry.rng), inquiry.size)


def _sample(method: Method, inquiry: Inquiry) -> Outcome:
    drawn = sampled.test(inquiry.claim, inquiry.seed)
    if drawn is None:
        return method.skipped("no instance that meets the hypotheses draws at random")
    example = drawn.counterexample
    if example is None:
        return method.found(None, drawn.note.removeprefix("; "), used=("sequential",))
    note = "what is enumerated holds; what is sampled does not"
    details = {"margin": margin(example), "counterexample": example, "tightest": example.recipe}
    return method.found(Verdict.REFUTED, note, used=("sequential",), **details)


def _compare_types(method: Method, inquiry: Inquiry) -> Outcome:
    example = number_types.test(inquiry.claim, inquiry.seed, LOOKED_AT + inquiry.size // 100)
    if example is None:
        return method.found(None, "floats and fractions agree, and so do answers to the same question")
    note = f"a finding of its own: {number(example.left)} against {number(example.right)}"
    details = {"margin": -math.inf, "counterexample": example, "tightest": example.recipe}
    return method.found(Verdict.REFUTED, note, **details)


def _undefined(claim: Claim) -> str:
    """Why a proof about numbers says nothing: a part of the claim that may be no number; empty where all are."""
    part = reals.undefined(claim)
    return "" if part is None else f"left open: {part} is not shown to be a real number wherever the hypotheses hold"


def _reduce(method: Method, inquiry: Inquiry) -> Outcome:
    if not symbolic.proves(inquiry.claim):
        return method.skipped("left open: the difference of the sides is not a product of factors of one sign")
    if undefined := _undefined(inquiry.claim):
        return method.skipped(undefined)
    note = "reduced to the sign of polynomials, for all values of the constants"
    return method.found(Verdict.PROVED, note, used=("symbolic",))


def _decide(method: Method, inquiry: Inquiry) -> Outcome:
    if not reals.proves(inquiry.claim):
        for recipe in reals.suspects(inquiry.claim):
            example = states.violation(inquiry.claim, recipe)
            if example is not None:
                return _fallen(method, example)
        return method.skipped("left open: z3 gives no proof in its time, or the statement is not one of polynomials")
    if undefined := _undefined(inquiry.claim):
        return method.skipped(undefined)
    note = "no real values of the constants break it, by z3's decision procedure for polynomials"
    return method.found(Verdict.PROVED, note, used=("reals",))


def _fallen(method: Method, example: Counterexample) -> Outcome:
    """Refuted by values that z3 found, made as simple as can be."""
    small = shrinking.smallest(example)
    note = f"at values that z3 found: confirmed {arithmetic(small.left, small.right)}"
    details = {"counterexample": small, "tightest": small.recipe, "used": ("reals", "rational"), "instances": 1}
    return method.found(Verdict.REFUTED, note, margin=margin(small), **details)


def _combine(method: Method, inquiry: Inquiry) -> Outcome:
    try:
        with attributed(inquiry.claim):
            proof = certificates.prove(inquiry.claim)
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")
    if proof is None:
        return method.skipped(f"left open: no identity is known that shows {inquiry.claim.id}")
    if undefined := _undefined(inquiry.claim):
        return method.skipped(undefined)
    note = "an identity with nonnegative multipliers, for all parameters and every number of clients; "
    note += f"the code does not look at them, and is what is proved at {proof.compared}"
    return method.found(Verdict.PROVED, note, used=("symbolic",))


def _everywhere(method: Method, inquiry: Inquiry) -> Outcome:
    return _certified(method, inquiry, "all states", "in all states", "exact in all states, at {}", "formal")


def _preserve(method: Method, inquiry: Inquiry) -> Outcome:
    if not posing.posable(inquiry.claim.setting):
        return method.skipped(_unposed(inquiry.claim))
    whole = "exact over the whole class, in all dimensions, at {}"
    return _certified(method, inquiry, "invariant", "over the class", whole, "formal")


def _certified(method: Method, inquiry: Inquiry, how: str, where: str, whole: str, used: str) -> Outcome:
    """What holds on formal states at each choice of the parameters, or the first reason why that is not known."""

    def at(recipe: Recipe) -> tuple[ClassCertificate | None, str, bool]:
        found = class_certificates.formal(inquiry.claim, how, recipe)
        return found, "" if found else "it is not seen on formal states, which refutes nothing", False

    return _at_each(method, inquiry, at, where, whole, used)


def _bound(method: Method, inquiry: Inquiry) -> Outcome:
    if not posing.posable(inquiry.claim.setting):
        return method.skipped(_unposed(inquiry.claim))

    def at(recipe: Recipe) -> tuple[ClassCertificate | None, str, bool]:
        found, certificate = class_certificates.certified(inquiry.claim, recipe)
        exceeded = found.verdict is Verdict.REFUTED
        size = found.lower if found.lower is not None else "not bounded"
        worst = f"the worst case over the class is {_short(size)}, and {_short(found.claimed)} is claimed"
        return certificate, worst if exceeded else found.note, exceeded

    whole = "bounded over the whole class, in all dimensions, at {}"
    return _at_each(method, inquiry, at, "over the class", whole, "sdp")


def _short(value: Fraction | str) -> str:
    return value if isinstance(value, str) else f"{float(value):.9g}"


def _unposed(claim: Claim) -> str:
    return f"the class of {claim.id} is not posed"


def _at_each(
    method: Method,
    inquiry: Inquiry,
    at: Callable[[Recipe], tuple[ClassCertificate | None, str, bool]],
    where: str,
    whole: str,
    used: str,
) -> Outcome:
    """Certified if at each choice of the parameters that can be posed there is a certificate, and there is one at all.

    ``at(recipe)``: the certificate or None, why there is none, and whether the class exceeds the claim there. A choice
    that cannot be posed is lost, and no other; a claim that is refused at one choice is certified at none.
    """
    certificates: list[ClassCertificate] = []
    left_open: list[str] = []
    lost: list[str] = []
    exceeded = False
    for recipe in inquiry.met:
        try:
            found, why, worse = at(recipe)
        except Refused as error:
            return method.skipped(f"{where}: {error}")
        except (ValueError, ArithmeticError) as error:
            lost.append(f"{_place(inquiry.claim, recipe, error)}{error}")
            continue
        exceeded = exceeded or worse
        if found is not None:
            certificates.append(found)
        else:
            left_open.append(f"{_place(inquiry.claim, recipe)}{why}")
    # A potential that does not contract says nothing against a bound that is stated of something else.
    known = not isinstance(inquiry.claim.statement, Bound) and not lost and bool(inquiry.met)
    details = {"instances": len(inquiry.met), "left_open": (*left_open, *lost), "certificates": tuple(certificates)}
    if left_open or not certificates:
        what = "programs" if used == "sdp" else "choices of the parameters"
        reason = f"{len(left_open)} of {len(inquiry.met)} {what} left open"
        if lost and not left_open:
            reason = lost[0]
        return method.found(None, f"{where}: {reason}", exceeded=exceeded if known else None, **details)
    about = points.of(inquiry.claim)
    shared = about.uncovered([c.recipe for c in certificates])
    # Where the points are given it is for who gives them to say what they show.
    if shared and inquiry.given is None:
        better, broken = _better(inquiry, at, about.better(inquiry.seed))
        certificates += better
        details |= {"certificates": tuple(certificates), "instances": len(inquiry.met) + len(better)}
        shared = about.uncovered([c.recipe for c in certificates])
        if broken or shared:
            said = f"certified at {len(certificates)} choices of the parameters, but only where {', '.join(shared)}"
            found_worse = bool(broken) if known else None
            return method.found(None, f"{where}: {broken or said}", exceeded=found_worse, **details)
    for threshold in about.near([c.recipe for c in certificates]) if inquiry.given is None else ():
        more, broken = _better(inquiry, at, about.beyond(threshold, inquiry.seed))
        certificates += more
        details |= {"certificates": tuple(certificates), "instances": len(inquiry.met) + len(more)}
        if not more:
            said = f"certified at {len(certificates)} choices of the parameters, but at none where {threshold}"
            return method.found(None, f"{where}: {broken or said}", exceeded=bool(broken) if known else None, **details)
    note = whole.format(_places(about, certificates))
    if lost:
        note += f"; {len(lost)} could not be posed: {lost[0]}"
    return method.found(Verdict.CERTIFIED, note, exceeded=False if known else None, used=(used,), **details)


def _better(
    inquiry: Inquiry, at: Callable[[Recipe], tuple[ClassCertificate | None, str, bool]], better: Iterator[Recipe]
) -> tuple[list[ClassCertificate], str]:
    """A certificate at one of some better points, if one is found; why the claim fails at one, if it does."""
    for recipe in better:
        try:
            found, why, worse = at(recipe)
        except (ValueError, ArithmeticError):
            continue
        if worse:
            return [], f"{_place(inquiry.claim, recipe)}{why}"
        if found is not None:
            return [found], ""
    return [], ""


def _places(about: points.Points, certificates: Sequence[ClassCertificate]) -> str:
    """At how many points there are certificates, and the least degenerate of them."""
    recipes = [c.recipe for c in certificates]
    count = len({about.place(recipe) for recipe in recipes})
    named = points.told(about.claim, min(recipes, key=lambda recipe: len(about.degeneracies(recipe))))
    if count == 1:
        return "one choice of the parameters" + (f", {named}" if named else "")
    return f"{count} choices of the parameters" + (f", among them {named}" if named else "")


def _place(claim: Claim, recipe: Recipe, error: Exception | None = None) -> str:
    """At which instance something was left open; an error of the claim's own code names it already."""
    return "" if isinstance(error, Unrunnable) else f"at {claim.instances.build(recipe, True).text or recipe}: "


def _is(*kinds: type) -> Callable[[Claim], bool]:
    return lambda claim: isinstance(claim.statement, kinds)


_WORST_CASES = "worst cases"
_CONSTANTS = "relations between constants, at all their values"
_WEAK, _EVERY = frozenset({"==", "<="}), frozenset({"==", "<=", "<"})
_CLASS = "the whole class, in all dimensions, at exact parameters"

METHODS = (
    Method("citation", "what is cited, and experiments on data that are not there", _is(Untested), _cite),
    Method("readings", "the admissible readings of what is left open", _is(Readings), _read),
    Method("long runs", "limits along runs, from several starts, in floats", _is(Eventually), long_runs.outcome),
    Method("growth", "orders of growth, by leading terms in all directions", _is(Order), _grow),
    Method("witness", "that something fails, by an instance in fractions", _is(Fails), existence.witness),
    Method(
        "experiment", "orderings seen in an experiment, on data that are at hand", _is(Experiment), existence.sightings
    ),
    Method("search", "the worst states of instances that meet the hypotheses", _searched, _search),
    Method("runs", "whole runs, on functions with one, two and three slopes", runs.applies, runs.outcome),
    Method("determinants", "limits that fail, on quadratics with linear draws", _is(Limit), determinants.outcome),
    Method("second moments", "almost sure limits, on quadratics with linear draws", _is(Limit), _contract),
    Method(
        "sequential tests", "what is sampled, against the enumerated", _is(CompressorClass, OneStep, Bound), _sample
    ),
    Method("number types", "floats against fractions, and the same again", runs_on_states, _compare_types),
    Method("trajectories", "whole runs in floats, with the same draws", _is(Agreement), trajectories.outcome),
    Method("signs of polynomials", _CONSTANTS, _is(Inequality, ParameterRule), _reduce, _EVERY),
    Method("real closed fields", _CONSTANTS, reals.applies, _decide, _EVERY),
    Method("all states", "all states, at exact parameters", generic_states.applies, _everywhere, _WEAK),
    Method(
        "identities with multipliers",
        "the whole class, in all dimensions, at all parameters and numbers of clients",
        _is(OneStep, Bound, Inequality, Invariant),
        _combine,
    ),
    Method("invariants", _CLASS, _is(Invariant), _preserve),
    Method(_WORST_CASES, _CLASS, _is(OneStep, Bound, Inequality), _bound),
    Method("derivation", "what the claims that it follows from imply", lambda claim: bool(claim.follows), _derive),
)
#: The methods that show a claim which the search does not refute.
PROOFS = METHODS[next(i for i, m in enumerate(METHODS) if m.name == "signs of polynomials") :]


def examined(inquiry: Inquiry, methods: tuple[Method, ...] = METHODS) -> Iterator[Outcome]:
    """What each method finds, in order; once a verdict is final the rest are not run, and say so."""
    final = ""
    for method in methods:
        if not method.applies(inquiry.claim):
            why = f"does not apply: the statement is of the kind {inquiry.claim.statement.kind}"
            outcome = method.skipped(why, applied=False)
        elif final:
            outcome = method.skipped(f"not run: {final}", applied=False)
        else:
            with attributed(inquiry.claim):
                outcome = method.run(method, inquiry)
            if outcome.verdict in (Verdict.PROVED, Verdict.CERTIFIED) and (relation := method.unshown(inquiry.claim)):
                outcome = method.skipped(
                    f"left open: the claim says {relation}, which a proof by this method does not show"
                )
            if outcome.verdict not in (None, Verdict.SUPPORTED):
                final = f"{outcome.verdict} by the method {method.name!r}"
        yield outcome


__all__ = ["METHODS", "PROOFS", "SEARCHED", "examined", "margin"]
