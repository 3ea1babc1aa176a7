"""Falls that are added up over the iterations of a run: what they give, and that they give nothing once a premise, or a
constant, is less."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.kinds.inequality import Inequality
from fedtheory.papers.fedadmm import ages, iterates, rate, runs, transition
from fedtheory.papers.fedadmm.letters import k, k0, m, s0, sigma_bar
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Infimum, Least, Start
from fedtheory.settings.quantities import Among, Total
from fedtheory.settings.relations import Comparison, Quantity
from verify import checker
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.derivation import descent, for_all
from verify.derivation import runs as compared
from verify.export import for_all_letters
from verify.methods import METHODS, derivation
from verify.methods.base import Inquiry

THEOREM = claims.get("fedadmm/theorem-4.3")
ITERATION, MONOTONE, ENDS = PREMISES = tuple(map(claims.get, THEOREM.follows))
RIGHT = THEOREM.statement.right
METHOD = derivation.METHOD
_Q = sympy.Rational


def _added(claim=THEOREM, premises=PREMISES):
    iteration = derivation._iteration(claim)
    return descent.added(claim, [derivation._premise(premise, iteration, claim) for premise in premises])


_C, _D, _TIME = _Q(940, 9) * s0 * (s0 + 1), 169 * s0, k0 / (k - s0 * k0)


def _bound(C=_C, D=_D, time=_TIME):
    """The theorem with other constants."""
    return THEOREM.variant(right=(C * m * sigma_bar * rate._above + D * m * rate._eps_all) * time)


def _stated(claim, **parts):
    return replace(claim, statement=replace(claim.statement, **parts))


def test_the_theorem_follows_from_its_premises():
    found = _added()
    assert {claim.id for claim in found.used} == {claim.id for claim in PREMISES}
    assert [claim.id for claim in found.own] == ["what-is-nonnegative"] * 3 + ["what-is-kept"]


@pytest.mark.parametrize(
    "claim",
    [
        # (88/15) N (3 N - 1) is at most 352/5 s_0^2, and no less for all s_0.
        _bound(C=_Q(352, 5) * s0 * (s0 + 1)),
        _bound(C=_Q(88, 15) * (2 * s0 - 1) * (6 * s0 - 4)),
        _bound(time=2 * k0 / (k - s0 * k0)),
        _bound(time=k0 / (k - s0 * k0) + 1),
    ],
)
def test_constants_follow_down_to_those_of_the_function(claim):
    assert _added(claim).used


@pytest.mark.parametrize(
    "claim",
    [
        _bound(C=_Q(351, 5) * s0 * (s0 + 1)),
        _bound(C=_Q(88, 15) * (2 * s0 - 1) * (6 * s0 - 4) - _Q(1, 10**9)),
        _bound(C=940 * (s0 + 1)),
        _bound(C=_Q(940, 9) * s0 * (s0 + 1) / m),
        _bound(D=169 * s0 - _Q(1, 10**9)),
        _bound(D=169),
        _bound(D=169 * s0 / m),
        _bound(time=k0 / (k - s0 * k0 + k0)),
        _bound(time=k0 / (k - s0 * k0 + 1)),
        _bound(time=k0 / (k - (s0 - 1) * k0)),
        _bound(time=k0 / k),
        _bound(time=1 / (k - s0 * k0)),
        _bound(time=k0 / (k - s0 * k0) ** 2),
        _bound(time=-k0 / (k - s0 * k0)),
        THEOREM.variant(right=RIGHT.subs(rate._f_star, 2 * rate._f_star)),
        THEOREM.variant(right=RIGHT.subs(rate._f_star, 0)),
        THEOREM.variant(right=RIGHT.subs(rate._E_0, 0)),
        THEOREM.variant(right=RIGHT**2),
        THEOREM.variant(right=RIGHT, left=2 * THEOREM.statement.left),
        THEOREM.variant(strict=True),
        THEOREM.variant(also=(Comparison(THEOREM.statement.left, "==", RIGHT),)),
        THEOREM.variant(also=(Comparison(THEOREM.statement.left, "<", RIGHT),)),
        THEOREM.variant(also=(Comparison(RIGHT, "<=", THEOREM.statement.left),)),
    ],
)
def test_smaller_bounds_do_not_follow(claim):
    with pytest.raises(ValueError):
        _added(claim)


def test_what_need_not_be_nonnegative_is_not_shown_to_be():
    found = _added(THEOREM.variant(right=RIGHT.subs(rate._L_0, 2 * rate._L_0)))
    assert for_all.unshown(found.own).startswith("what-is-nonnegative")


def _quantities(*changed):
    """The theorem with other quantities in place of those of the same name."""
    names = {quantity.expression: quantity for quantity in changed}
    return THEOREM.variant(quantities=tuple(names.get(q.expression, q) for q in THEOREM.statement.quantities))


def test_quantities_of_two_names_add_up():
    twice = Quantity(sympy.Symbol("again", real=True), replace(rate.OF_CONSTANT[0].of))
    share = sympy.expand(RIGHT).coeff(rate._L_0)
    less = THEOREM.variant(right=RIGHT - share * twice.expression, quantities=(*THEOREM.statement.quantities, twice))
    with pytest.raises(ValueError):
        _added(less)
    same = less.variant(right=RIGHT + share * (twice.expression - rate._L_0))
    assert _added(same).used


def _least(of=ages.SLOPE, later=True, first=1, along=ages.ALONG):
    return Quantity(THEOREM.statement.left, Least(along, At(along.iteration, of, later), first))


OTHER = replace(ages.ALONG, iteration=replace(ages.ITERATION))


@pytest.mark.parametrize(
    "claim",
    [
        # After the first iteration that counts, of another number, of the state before, of other runs.
        _quantities(_least(first=2)),
        _quantities(_least(of=iterates.objective)),
        _quantities(_least(later=False)),
        _quantities(_least(along=OTHER)),
        _quantities(Quantity(rate._L_0, Start(ages.ALONG, At(ages.ITERATION, iterates.objective)))),
        _quantities(Quantity(rate._L_0, Start(ages.ALONG, At(ages.ITERATION, iterates.lagrangian, later=True)))),
        _quantities(Quantity(rate._f_star, Infimum(ages.ALONG, At(ages.ITERATION, iterates.lagrangian), min))),
        _quantities(Quantity(rate._f_star, Start(ages.ALONG, At(ages.ITERATION, iterates.objective)))),
        _quantities(Quantity(rate._eps_all, Start(ages.ALONG, At(ages.ITERATION, Total(iterates.accuracy))))),
        _quantities(Quantity(rate._eps_all, lambda problem, run, history: 0)),
    ],
)
def test_of_other_quantities_nothing_follows(claim):
    with pytest.raises(ValueError):
        _added(claim)


def _without(text, *more):
    kept = tuple(h for h in THEOREM.requires if text not in h.text)
    assert len(kept) < len(THEOREM.requires)
    return THEOREM.variant(requires=(*kept, *more))


WINDOWS = ages.SCHEME.says[0]
LONGER = replace(ages.SCHEME, says=(replace(WINDOWS, rounds=k0),))


@pytest.mark.parametrize(
    "claim",
    [
        _without("Scheme"),
        _without("Scheme", runs.SCHEME),
        _without("Scheme", ages.SCHEME, replace(ages.SCHEME, text="again")),
        _without("Scheme", LONGER),
        _without("Scheme", replace(ages.SCHEME, says=(replace(WINDOWS, seen=ages.unseen, unseen=ages.seen),))),
        _without("Scheme", replace(ages.SCHEME, says=(replace(WINDOWS, begins=transition.CONTINUES),))),
        _without("k > s_0 k_0"),
        _without("k > s_0 k_0", Hypothesis("k >= s_0 k_0", sympy.Ge(k, s0 * k0, evaluate=False))),
        _without("Assumption"),
        _without("sigma_i"),
        _without("sigma_i", transition.step_condition(_Q(2))),
    ],
)
def test_under_less_nothing_follows(claim):
    with pytest.raises(ValueError):
        _added(claim)


def _renamed(claim, name, of):
    """A premise with another function for one of its quantities."""
    found = tuple(replace(q, of=of) if q.expression == name else q for q in claim.statement.quantities)
    return _stated(claim, quantities=found)


FALLS = ITERATION.statement.right
EVERYWHERE = tuple(h for h in ITERATION.requires if h is not transition.BEGINS)


@pytest.mark.parametrize(
    "premises",
    [
        (MONOTONE, ENDS),
        (ITERATION, ENDS),
        (ITERATION, MONOTONE),
        # Only in some iterations, in others, or of another function of the state.
        (ITERATION, replace(MONOTONE, requires=ITERATION.requires), ENDS),
        (replace(ITERATION, requires=(*EVERYWHERE, transition.CONTINUES)), MONOTONE, ENDS),
        (replace(ITERATION, requires=(*EVERYWHERE, transition.SELECTED)), MONOTONE, ENDS),
        (ITERATION, _stated(MONOTONE, right=-MONOTONE.statement.right), ENDS),
        (ITERATION, _stated(MONOTONE, right=MONOTONE.statement.right / 2 + ages._L), ENDS),
        (_stated(ITERATION, right=2 * FALLS), MONOTONE, ENDS),
        (_stated(ITERATION, right=FALLS + ages._eps), MONOTONE, ENDS),
        (_stated(ITERATION, left=-ages._slope), MONOTONE, ENDS),
        # A sum over others, or over all.
        (_renamed(ITERATION, ages._never, At(ages.ITERATION, Among(ages.seen, ages._uncounted))), MONOTONE, ENDS),
        (_renamed(ITERATION, ages._never, At(ages.ITERATION, Total(ages._uncounted))), MONOTONE, ENDS),
        (
            _renamed(ITERATION, ages._never, At(ages.ITERATION, Among(ages.unseen, ages._uncounted), later=True)),
            MONOTONE,
            ENDS,
        ),
        # Ends that say nothing of f, or of the accuracies.
        (ITERATION, MONOTONE, _stated(ENDS, also=())),
        (ITERATION, MONOTONE, _stated(ENDS, left=ages._eps, right=169 * s0 * ages._shares, also=())),
        (ITERATION, MONOTONE, _stated(ENDS, left=-ages._f)),
        # With what may be another number in each iteration.
        (_stated(ITERATION, left=ages._left_i * ages._slope), MONOTONE, ENDS),
        (ITERATION, MONOTONE, _stated(ENDS, left=ages._left_i * ages._f, right=ages._left_i * ENDS.statement.right)),
        (ITERATION, MONOTONE, _stated(ENDS, left=ages._f, right=ages._L + 30 * ages._tol)),
        (ITERATION, MONOTONE, _renamed(ENDS, ages._f, At(ages.ITERATION, iterates.objective, later=True))),
    ],
)
def test_without_a_premise_nothing_follows(premises):
    with pytest.raises(ValueError):
        _added(premises=premises)


def test_a_fall_by_a_share_of_the_number_gives_that_share():
    half = _stated(ITERATION, left=ages._slope / 2), MONOTONE, ENDS
    assert _added(_bound(C=_Q(704, 5) * s0 * (s0 + 1), D=338 * s0), half).used
    with pytest.raises(ValueError):
        _added(premises=half)


def _proved(claim=THEOREM, verdict=Verdict.PROVED, most=5):
    _, premises = derivation._premises(claim)
    inquiry = Inquiry(claim, 0, 10, methods=METHODS)
    return derivation._proved(METHOD, inquiry, premises, {p.claim.id: verdict for p in premises}, most)


def test_what_follows_from_what_is_proved_is_proved():
    found = _proved()
    assert found.verdict is Verdict.PROVED and "added falls" in found.note


@pytest.mark.parametrize("verdict", [Verdict.CERTIFIED, Verdict.SUPPORTED])
def test_what_is_no_proof_gives_none(verdict):
    with pytest.raises(ValueError, match="and not proved"):
        _proved(verdict=verdict)


def test_what_does_not_follow_is_left_to_the_search():
    found = METHOD.run(METHOD, Inquiry(_bound(D=169), 0, 10, known=dict.fromkeys(THEOREM.follows, Verdict.PROVED)))
    assert found.verdict is None and "left open" in found.note


# Runs


def _compared(claim, most=200):
    return compared.compared(claim, descent.read(claim), PREMISES, 0, most)


def test_runs_consist_of_the_iterations():
    assert _compared(THEOREM, 40) == 40


def _with_points(points):
    """The theorem of runs that are told otherwise."""
    along = replace(ages.ALONG, points=points)
    changed = [replace(q, of=replace(q.of, along=along)) for q in THEOREM.statement.quantities]
    return _quantities(*changed)


def _changed(change):
    """Points of which the parameters are changed, ``change(j, run, params)``."""

    def points(problem, run, history):
        for j, (params, point) in enumerate(ages._of_run(problem, run, history)):
            yield params._replace(**change(j, run, params)), point

    return _with_points(points)


def _later(problem, run, history):
    return islice(ages._of_run(problem, run, history), 1, None)


def _short(problem, run, history):
    return islice(ages._of_run(problem, run, history), run.k)


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (_with_points(_later), "participation|ends before"),
        (_with_points(_short), "ends before"),
        (_changed(lambda j, run, params: {"left": params.left + 1}), "constants|start where"),
        (_changed(lambda j, run, params: {"left": 0 * params.left + 1}), "start where"),
        (_changed(lambda j, run, params: {"seen": params.seen | True}), "participation"),
        (_changed(lambda j, run, params: {"seen": params.seen & False}), "participation|start where"),
        (_changed(lambda j, run, params: {"begins": 1}), "beginning of rounds|start where"),
        (_changed(lambda j, run, params: {"begins": int(j == 0)}), "beginning of rounds|start where"),
        (_changed(lambda j, run, params: {"active": params.active | True}), "start where|not among"),
        (_changed(lambda j, run, params: {"s0": run.s0 + 1}), "changes its value|start where"),
        (_changed(lambda j, run, params: {"largest": params.largest / 2}), "signs|changes its value"),
        (_changed(lambda j, run, params: {"r": params.r / 2}), "Lipschitz|hypothesis|changes its value"),
        (_changed(lambda j, run, params: {"nu": params.nu / 2}), "not among"),
        # Runs that do not meet Scheme 4.1, or whose multipliers start elsewhere.
        (_without("Scheme", replace(ages.SCHEME, met=lambda problem, run: True)), "participation|constants"),
        (_without("pi_i^0"), "does not preserve"),
        (
            _quantities(
                Quantity(rate._f_star, replace(rate.OF_CONSTANT[2].of, value=lambda problem, run: Fraction(10**6)))
            ),
            "infimum",
        ),
        (_without("Scheme", replace(ages.SCHEME, met=lambda problem, run: False)), "no run"),
    ],
)
def test_runs_that_consist_of_others_are_seen(claim, why):
    with pytest.raises(ValueError, match=why):
        _compared(claim)


@pytest.mark.parametrize("s0", [1, 2, 3])
def test_in_windows_every_client_waits_for_no_longer_than_is_said(s0):
    # All plans of three windows, of one client among others.
    patterns = [window for window in product((False, True), repeat=s0) if any(window)]
    least = 2 * s0 - 1
    for windows in product(patterns, repeat=3):
        left, seen = 2 * s0 - 1, False
        for j, active in enumerate(on for window in windows for on in window):
            assert 1 <= left <= 2 * s0 - 1 and (seen or j < s0)
            left, seen = (2 * s0 - 1 if active else left - seen), seen or active
            least = min(least, left)
    assert least == 1


def test_what_the_theorem_rests_on_besides_its_premises_is_checked_by_itself():
    made = for_all_letters.of_derived(THEOREM)
    assert made and all("fedadmm/theorem-4.3/ends" in one["says"][0] for one in made)
    for one in made:
        checker.check(json.dumps(one))


def _smallest(view, k):
    found = [view.slope(s + 1) for s in range(1, k + 1)]
    return np.min(np.stack(found), axis=0) if found else view.slope(k + 1)


def test_the_least_is_that_of_the_servers_models():
    for recipe, _ in islice(meeting(THEOREM, THEOREM.instances.recipes(np.random.default_rng(1))), 12):
        instance = THEOREM.instances.build(recipe, False)
        problem, history = instance.at(np.random.default_rng(0).standard_normal((2, instance.dimension)))
        view = runs.RunView(problem, instance.params, history)
        found = rate._LEAST.of(problem, instance.params, history)
        assert np.allclose(found, _smallest(view, instance.params.k))
        first, second = (q.of(problem, instance.params, history) for q in rate.OF_CONSTANT[:2])
        assert np.allclose(first + 29 * second, view.lyapunov(0))


def test_an_inequality_without_such_quantities_is_none_of_the_rule():
    assert not any(map(descent.speaks_of, PREMISES)) and isinstance(THEOREM.statement, Inequality)
