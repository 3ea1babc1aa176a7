"""Methods have one interface, evidence keeps all outcomes, and an error of ours is no limit of a method."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import sympy
from first_found import at_few
from in_turn import in_turn

from fedtheory import algorithms, claims
from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import contraction
from fedtheory.settings import Setting
from fedtheory.settings.relations import Quantity
from verify import Verdict, check, checking
from verify.audit import audit
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.base.faults import Defect, Unrunnable, attributed
from verify.evidence.record import strongest
from verify.methods import METHODS, PROOFS, client_by_client, identities
from verify.methods.base import Inquiry, Method, examined
from verify.pep import certifying, faces, generic_states, posing, programs, rounding, worst_case
from verify.pep.bounding import Refused, enclosed
from verify.pep.prover import bounds
from verify.report import outcomes
from verify.search import hunting, states

DESCENT = claims.get("baseline/gradient-descent/one-step")
SCAFFNEW = claims.get("baseline/scaffnew/one-step")
KNOWN = next(claim for claim in claims.of_paper("fedadmm").values() if claim.setting.hints.known is not None)
LITTLE = sympy.Rational(1, 10**11)


def recipes(claim, count=1):
    return [recipe for recipe, _ in islice(meeting(claim, claim.instances.recipes(np.random.default_rng(0))), count)]


def shown(claim, count=1, given=None):
    """The outcomes of the methods that show a claim, by their names."""
    inquiry = Inquiry(claim, given=tuple(given or recipes(claim, count)), methods=METHODS)
    return {outcome.method: outcome for outcome in examined(inquiry, PROOFS)}


@pytest.fixture
def at_points(monkeypatch):
    """No multipliers for all letters are known: what comes after them is asked."""
    monkeypatch.setattr("verify.methods.multipliers.prove", lambda claim: "not asked")


# The interface


def test_methods_are_named_once_and_say_what_they_cover():
    assert len({method.name for method in METHODS}) == len(METHODS)
    assert all(isinstance(method, Method) and method.covers for method in METHODS)


def test_each_method_is_a_file_of_its_own_that_runs_it():
    # Limits are shown by sums over the rounds, as bounds are.
    files = {path.stem for path in Path(identities.__file__).parent.glob("*.py")} - {"__init__", "base", "limits"}
    assert sorted(method.run.__module__.rpartition(".")[2] for method in METHODS) == sorted(files)


def test_a_way_of_working_that_is_new_is_listed_and_assumes_what_a_formal_one_does(monkeypatch):
    def proves(method, inquiry):
        return method.found(Verdict.PROVED, "by a device of its own", used=("device",))

    new = Method("device", "all there is", (Statement,), proves, frozenset({"<=", "==", "<"}))
    monkeypatch.setattr(checking, "METHODS", (new,))
    evidence = check(KNOWN)
    assert (evidence.verdict, evidence.methods) == (Verdict.PROVED, ("device",))
    assert "what the setting says is known of states holds of formal vectors" in evidence.assumed
    assert evidence.assumed == checking.assumptions(KNOWN, Verdict.PROVED, ("symbolic",))


#: Claims, the method that decides, and the verdict.
DECIDED = [
    ("baseline/gradient-descent/one-step", "multipliers", Verdict.PROVED),
    ("feddcd/lemma-B.8/rate", "search", Verdict.REFUTED),
    ("feddcd/participation/bound", "signs of polynomials", Verdict.PROVED),
    ("fedadmm/remark-4.3/eq-28", "real closed fields", Verdict.PROVED),
    ("baseline/scaffnew/invariant", "code that is read", Verdict.PROVED),
    ("feddcd/lemma-B.6/euclidean", "client by client", Verdict.PROVED),
    ("feddcd/theorem-4.1/eq-3", "induction on rounds", Verdict.PROVED),
    ("locodl/eq-7", "growth", Verdict.PROVED),
    ("locodl/table-1/lower-bound", "citation", Verdict.NOT_TESTED),
]
SEARCHED = pytest.param("locodl/theorem-3.1/limits", "second moments", Verdict.SUPPORTED, marks=pytest.mark.slow)


@pytest.mark.parametrize(("id", "decisive", "verdict"), [*in_turn(DECIDED, lambda at: at[2]), SEARCHED])
def test_the_verdict_is_the_strongest_outcome_and_all_outcomes_are_kept(id, decisive, verdict):
    evidence = check(claims.get(id))
    assert [outcome.method for outcome in evidence.outcomes] == [method.name for method in METHODS]
    best = strongest(evidence.outcomes)
    assert (best.method, best.verdict, evidence.verdict) == (decisive, verdict, verdict)
    for outcome in evidence.outcomes:
        assert outcome.covers and outcome.note and outcome.verdict is not Verdict.OPEN
        assert outcome.applied or outcome.note.startswith(("does not apply", "not run"))
    entry = json.loads(json.dumps(evidence.to_json()))
    assert [outcome["method"] for outcome in entry["outcomes"]] == [method.name for method in METHODS]
    said = "\n".join(outcomes.lines(evidence))
    # What did not run is told in the JSON only.
    assert all((f"  {outcome.method}: " in said) == outcome.applied for outcome in evidence.outcomes)


@pytest.mark.usefixtures("at_points")
def test_each_certificate_names_its_parameters_multipliers_and_bound():
    evidence = at_few(DESCENT)
    (outcome,) = (o for o in evidence.outcomes if o.method == "worst cases")
    assert len(outcome.certificates) == outcome.instances >= 3
    for certificate in outcome.certificates:
        assert set(certificate.letters) == {"mu", "L", "gamma"} and certificate.recipe
        factor = sympy.Rational(str(certificate.steps["comparison 1"].bound))
        letters = {name: sympy.Rational(value) for name, value in certificate.letters.items()}
        claimed = DESCENT.statement.factor.subs({s: letters[s.name] for s in DESCENT.statement.factor.free_symbols})
        assert factor <= claimed
    assert "multipliers" in "\n".join(outcomes.lines(evidence))


# Certified is exact


def lowered(claim):
    return claim.variant(factor=claim.statement.factor - LITTLE)


@pytest.mark.usefixtures("at_points")
@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(DESCENT, id="descent"),
        pytest.param(SCAFFNEW, id="scaffnew"),
        pytest.param(claims.get("baseline/saga/one-step"), id="saga", marks=pytest.mark.slow),
    ],
)
def test_a_factor_lowered_by_less_than_any_tolerance_is_not_certified(claim):
    attained = [recipe for recipe in recipes(claim, 6) if _is_certified(claim, recipe) and not _has_room(claim, recipe)]
    assert attained
    for recipe in attained:
        built = claim.instances.build(recipe, True)
        assert certifying.certify(Case.of(claim, built)).verdict is Verdict.CERTIFIED
        assert certifying.certify(Case.of(lowered(claim), built)).verdict is not Verdict.CERTIFIED


def _is_certified(claim, recipe):
    return certifying.certify(Case(claim, recipe)).verdict is Verdict.CERTIFIED


def _has_room(claim, recipe):
    """Whether a factor that is noticeably smaller is certified as well."""
    smaller = claim.variant(factor=claim.statement.factor - sympy.Rational(1, 10**7))
    return certifying.certify(Case.of(smaller, claim.instances.build(recipe, True))).verdict is Verdict.CERTIFIED


@pytest.mark.usefixtures("at_points")
def test_the_evidence_for_a_lowered_factor_is_no_certificate():
    evidence = check(lowered(DESCENT))
    assert evidence.verdict in (Verdict.SUPPORTED, Verdict.REFUTED)
    assert not any(outcome.certificates and outcome.verdict for outcome in evidence.outcomes)


#: Instances at which the multipliers found by guessing faces alone proved the number up to rounding only.
HARD = [
    (
        "baseline/gradient-descent/one-step",
        {"d": 1, "mu": Fraction(1, 10**4), "L": Fraction(1, 100), "gamma": Fraction(100)},
        ({"h": (Fraction(1, 10**4),), "y": (Fraction(1),)},) * 3,
    ),
    (
        "baseline/saga/one-step",
        {"d": 1, "mu": Fraction(1, 10**5), "L": Fraction(1, 100), "gamma": Fraction(25000, 501)},
        ({"h": (Fraction(1, 10**5),), "y": (Fraction(1),)},) * 2,
    ),
]


@pytest.mark.parametrize(("id", "constants", "clients"), HARD, ids=lambda value: str(value)[:20])
def test_bounds_that_are_attained_by_functions_of_small_curvature_are_certified(id, constants, clients):
    claim = claims.get(id)
    built = claim.instances.build({**constants, "x": (Fraction(1),), "clients": clients}, True)
    found = certifying.certify(Case.of(claim, built))
    assert found.verdict is Verdict.CERTIFIED and found.certificate.check()
    assert found.certificate.bound <= found.claimed


def test_the_face_of_an_attained_bound_is_found_from_its_worst_case():
    claim = DESCENT
    recipe = {**HARD[0][1], "x": (Fraction(1),), "clients": HARD[0][2]}
    built = claim.instances.build(recipe, True)
    posed = posing.pose(claim.setting, built)
    left, right = (np.ravel(side)[0] for side in worst_case.sides(Case.of(claim, posed.instance), np.zeros((1, 0)))[0])
    factor = Fraction(9801, 10000)
    program = programs.ratio(left, right / factor, posed.constraints(True))
    scaled = programs.equilibrated(program)
    balanced = rounding.balanced(scaled, programs.solve(scaled))
    cases = list(faces.worst_cases(balanced, programs.solve(balanced)))
    assert cases
    found = bounds(program, factor)
    assert found.verdict is Verdict.CERTIFIED and found.lower is not None
    assert bounds(program, factor - Fraction(1, 10**9)).verdict is not Verdict.CERTIFIED


def test_an_irrational_number_is_enclosed_from_both_sides():
    x = sympy.Symbol("x", positive=True)
    low, high = enclosed(1 - sympy.sqrt(x), {x: Fraction(1, 2)})
    assert low < high and high - low < Fraction(1, 10**38)
    assert (1 - low) ** 2 > Fraction(1, 2) > (1 - high) ** 2
    assert enclosed(1 - sympy.sqrt(x), {x: Fraction(1, 4)}) == (Fraction(1, 2), Fraction(1, 2))


def test_an_irrational_factor_is_certified_by_a_smaller_rational_one():
    # sqrt(1 - gamma mu) is above (1 - gamma mu)^2, which is the worst case for small steps.
    mu, gamma = (next(s for s in DESCENT.statement.factor.free_symbols if s.name == name) for name in ("mu", "gamma"))
    claim = DESCENT.variant(factor=sympy.sqrt(sympy.sqrt(DESCENT.statement.factor)))
    built = DESCENT.instances.build({**HARD[0][1], "x": (Fraction(1),), "clients": HARD[0][2]}, True)
    found = certifying.certify(Case.of(claim, built))
    assert found.verdict is Verdict.CERTIFIED
    exact = sympy.sqrt(sympy.sqrt(sympy.Rational(9801, 10000)))
    assert sympy.Rational(str(found.certificate.bound)) <= exact and mu != gamma
    below = claim.variant(factor=DESCENT.statement.factor * sympy.sqrt(sympy.Rational(9, 10)))
    assert certifying.certify(Case.of(below, built)).verdict is not Verdict.CERTIFIED


# Whose fault an error is


def numbers_only(problem, params, state):
    """A quantity that runs on arrays of numbers only."""
    distance = state.x - problem.x_star
    if distance.dtype == object and not all(isinstance(v, int | Fraction) for v in distance.flat):
        raise TypeError("only numbers, please")
    return (distance**2).sum(axis=-1)


def with_quantity(of):
    """The descent of a gradient step, with its quantity replaced."""
    after, before = (dataclasses.replace(q, of=of) for q in DESCENT.statement.quantities)
    step = contraction(DESCENT.statement.algorithm, after, DESCENT.statement.factor, before)
    return dataclasses.replace(DESCENT, id="mine/descent", statement=step)


def test_code_that_is_not_read_is_told_with_its_line():
    claim = with_quantity(numbers_only)
    evidence = at_few(claim)
    assert evidence.verdict is Verdict.SUPPORTED
    assert "the code of mine/descent is not read: numbers_only (test_methods.py), line " in evidence.note


def test_a_step_that_does_not_run_on_numbers_is_a_sentence_with_the_recipe():
    def step(problem, params, state, draw):
        return state._replace(x=state.no_such_field)

    changed = dataclasses.replace(algorithms.get("gradient-descent"), step=step)
    with pytest.raises(
        ValueError, match=r"its own code fails in step .*no_such_field.*, at the instance n=\d+, d=\d+, .*mu="
    ):
        check(DESCENT.variant(algorithm=changed))


BUGS = [TypeError("planted"), AttributeError("planted"), IndexError("planted"), KeyError("planted")]
PLACES = [
    (worst_case, "bounded", "baseline/gradient-descent/one-step"),
    (posing, "pose", "baseline/gradient-descent/one-step"),
    (posing, "any_functions", "baseline/gradient-descent/one-step"),
    (generic_states, "holds", "feddcd/lemma-B.2"),
    (hunting, "regime", "baseline/gradient-descent/one-step"),
    (states, "first_confirmed", "baseline/gradient-descent/one-step"),
    (identities, "prove", "baseline/gradient-descent/one-step"),
]


@pytest.mark.usefixtures("at_points")
@pytest.mark.parametrize(
    ("module", "name", "id", "error"),
    # In each place one.
    [(*place, BUGS[at % len(BUGS)]) for at, place in enumerate(PLACES)],
    ids=lambda part: getattr(part, "__name__", None) or (type(part).__name__ if isinstance(part, Exception) else None),
)
def test_our_own_bugs_stop_the_check(module, name, id, error, monkeypatch):
    broken = compile("def broken(*given, **named):\n    raise error\n", module.__file__, "exec")
    namespace = {"__name__": module.__name__, "error": error}
    exec(broken, namespace)
    monkeypatch.setattr(module, name, namespace["broken"])
    if name == "holds":
        formal = certifying.FORMAL["all states"]
        monkeypatch.setitem(certifying.FORMAL, "all states", formal._replace(holds=namespace["broken"]))
    with pytest.raises(Defect, match=rf"{id}: {type(error).__name__}: .*planted.* please report"):
        at_few(claims.get(id))


@pytest.mark.usefixtures("at_points")
def test_an_audit_tells_our_bugs_and_goes_on(monkeypatch):
    def broken(*given):
        raise TypeError("planted")

    planted = tuple(dataclasses.replace(m, run=broken) if m.name == "worst cases" else m for m in METHODS)
    monkeypatch.setattr("verify.checking.METHODS", planted)
    bad, good = audit([DESCENT, claims.get("feddcd/participation/bound")])
    assert bad.verdict is Verdict.NOT_TESTED and "planted" in bad.note and DESCENT.id in bad.note
    assert good.verdict is Verdict.PROVED


def test_errors_are_attributed_by_the_code_that_raises_them():
    with (
        pytest.raises(Unrunnable, match=r"has no len"),
        attributed(DESCENT, {"n": Fraction(1, 2)}),
    ):
        len(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^bad input$"), attributed(DESCENT):
        raise ValueError("bad input")


# What is lost with an instance


@pytest.mark.usefixtures("at_points")
def test_an_instance_that_cannot_be_posed_is_lost_alone(monkeypatch):
    given = tuple(recipe for recipe in recipes(DESCENT, 8) if _is_certified(DESCENT, recipe))[:3]
    lost = DESCENT.instances.build(given[1], True).text

    def pose(setting, instance, *anything, original=posing.pose):
        if instance.text == lost:
            raise ValueError("no such vectors")
        return original(setting, instance, *anything)

    monkeypatch.setattr(posing, "pose", pose)
    outcome = shown(DESCENT, given=given)["worst cases"]
    assert outcome.verdict is None and len(outcome.certificates) == 2
    assert outcome.left_open == (f"at {lost}: no such vectors",) and "1 could not be posed" in outcome.note


@pytest.mark.usefixtures("at_points")
def test_a_claim_that_is_refused_at_one_instance_is_certified_at_none(monkeypatch):
    given = recipes(DESCENT, 3)
    mixed = DESCENT.instances.build(given[1], True).text

    def mixing(case, original=posing.check_read):
        if case.instance.text == mixed:
            raise ValueError("coordinates are mixed")
        return original(case)

    monkeypatch.setattr(posing, "check_read", mixing)
    outcome = shown(DESCENT, given=given)["worst cases"]
    assert outcome.verdict is None and not outcome.certificates and "coordinates are mixed" in outcome.note
    with pytest.raises(Refused):
        certifying.certify(Case.of(DESCENT, DESCENT.instances.build(given[1], True)))


@pytest.mark.usefixtures("at_points")
def test_one_program_that_is_left_open_leaves_the_class_open():
    claim = lowered(DESCENT)
    outcome = shown(claim, 3)["worst cases"]
    assert outcome.verdict is None and "left open" in outcome.note and outcome.left_open
    assert all(text.startswith("at n=") for text in outcome.left_open)


def test_a_claim_that_the_class_exceeds_says_by_how_much():
    claim = SCAFFNEW.variant(factor=SCAFFNEW.statement.factor / 2)
    # Where mu = L the factor may be 0, and half of it is no less.
    different = [recipe for recipe in recipes(claim, 20) if recipe["mu"] < recipe["L"] and recipe["p"] < 1]
    outcomes = (shown(claim, given=[recipe])["worst cases"] for recipe in different[:4])
    outcome = next(o for o in outcomes if o.exceeded)
    assert outcome.verdict is None
    assert "the worst case over the class is" in outcome.left_open[0] and "is claimed" in outcome.left_open[0]


def test_a_quantity_of_the_registry_is_ours():
    assert all(isinstance(q, Quantity) for q in DESCENT.statement.quantities)
    evidence = at_few(DESCENT)
    assert evidence.verdict is Verdict.PROVED and evidence.methods == ("symbolic", "spectral", "search")


def test_where_no_instance_meets_the_hypotheses_it_is_said_which_fail():
    gamma, L = sympy.symbols("gamma L", positive=True)
    both = (sympy.Le(gamma * L, 1), sympy.Ge(gamma * L, 2))
    claim = Claim("mine/void", setting=Setting("constants"), statement=Inequality(gamma, 2 / L), requires=both)
    found = check(claim)
    assert found.verdict is Verdict.NOT_TESTED and found.note.startswith("no instance met the hypotheses: of 160")
    assert "break 'L*gamma" in found.note and "check that they can hold together" in found.note


def test_an_inequality_without_letters_is_shown_client_by_client():
    claim = claims.get("locodl/eq-18")
    found = client_by_client.run(client_by_client.METHOD, Inquiry(claim, 0, 40))
    assert found.verdict is Verdict.PROVED
