"""Certificates are replayed in exact arithmetic, without a solver, from their files; tampered ones fail."""

from __future__ import annotations

import copy
import json
from fractions import Fraction

import cvxpy
import numpy as np
import pytest
import sympy

from fedtheory import claims
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.cli import main
from verify.evidence import certificates, formats
from verify.evidence.certificates import ClassCertificate, load
from verify.pep import certifying
from verify.pep.prover import DoesNotHold, Solving, Stored

#: One claim for each way in which certificates are made.
IDS = [
    "baseline/gradient-descent/one-step",
    "baseline/ef21/descent",
    "locodl/eq-18",
    "feddcd/theorem-6.1/eq-12",
    "feddcd/theorem-C.1/repaired",
    "feddcd/lemma-C.2/repaired",
    "feddcd/theorem-5.2/zeta/repaired",
    "fedadmm/lemma-4.1/with-step-condition",
]
FORMAL = {"all states": "feddcd/lemma-B.2", "invariant": "baseline/scaffnew/invariant"}


def first_recipe(claim):
    """The first whose class has more than one function, so that its constraints have multipliers."""
    met = (recipe for recipe, _ in meeting(claim, claim.instances.recipes(np.random.default_rng(0))))
    return next(r for r in met if "mu" not in r or (r["mu"] < r["L"] and len(r["clients"]) > 1))


def certified(id):
    claim = claims.get(id)
    _, found = certificates.certified(Case(claim, first_recipe(claim)))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def descent():
    return certified(IDS[0]).to_json()


@pytest.fixture
def without_a_solver(monkeypatch):
    def solve(*given, **named):
        raise AssertionError("a solver was asked")

    monkeypatch.setattr(cvxpy.Problem, "solve", solve)


@pytest.mark.parametrize("id", IDS)
def test_a_certificate_is_replayed_from_its_file_without_a_solver(id, monkeypatch):
    data = json.loads(json.dumps(certified(id).to_json()))
    monkeypatch.setattr(cvxpy.Problem, "solve", None)
    read = ClassCertificate.from_json(data)
    assert read.steps and read.replay() is True
    assert read.to_json() == data


@pytest.mark.parametrize("method", FORMAL)
def test_what_holds_on_formal_states_is_computed_again(method, without_a_solver):
    claim = claims.get(FORMAL[method])
    found = certificates.formal(Case(claim, first_recipe(claim)), method)
    assert found is not None and not found.steps
    assert ClassCertificate.from_json(json.loads(json.dumps(found.to_json()))).replay() is True


def test_a_changed_claim_travels_with_its_change():
    claim = claims.get(IDS[0])
    larger = claim.variant(factor=claim.statement.factor + sympy.Rational(1, 100))
    _, found = certificates.certified(Case(larger, first_recipe(claim)))
    read = ClassCertificate.from_json(json.loads(json.dumps(found.to_json())))
    assert read.claim.id == f"{claim.id}*" and read.replay()
    # The multipliers of the larger factor need not prove the smaller one.
    data = found.to_json() | {"claim": claim.id, "changes": {}}
    bound = max(step.bound for step in found.steps.values())
    factor = Fraction(str(certified(IDS[0]).steps["comparison 1"].bound))
    if bound > factor:
        with pytest.raises(DoesNotHold, match="its bound is"):
            ClassCertificate.from_json(data).replay()


def tampered(data):
    """(what was changed, the changed object)."""

    def changed(*path, to):
        out = copy.deepcopy(data)
        at = out
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = to(at[path[-1]])
        return out

    def more(text):
        return str(Fraction(text) + Fraction(1, 10**15))

    (name, step), *_ = data["steps"].items()
    for constraint in step["multipliers"]:
        where = ("steps", name, "multipliers", constraint)
        yield f"{constraint} larger", changed(*where, to=more)
        yield f"{constraint} negative", changed(*where, to=lambda text: f"-{text}")
    yield "a bound lowered", changed("steps", name, "bound", to=lambda text: str(Fraction(text) - Fraction(1, 10**15)))
    yield "a bound raised", changed("steps", name, "bound", to=more)
    for k in range(len(step["squares"])):
        yield f"square {k}", changed("steps", name, "squares", k, to=more)
    for letter in data["letters"]:
        yield f"the letter {letter}", changed("letters", letter, to=more)
    yield "a letter left out", changed("letters", to=lambda letters: dict(list(letters.items())[1:]))
    yield "the stepsize", changed("recipe", "gamma", to=lambda value: {"ratio": more(value["ratio"])})
    yield "no steps", data | {"steps": {}}
    yield "a step more", data | {"steps": data["steps"] | {"another": step}}
    yield "a step of another name", data | {"steps": {f"{k}?": v for k, v in data["steps"].items()}}
    yield "another claim", data | {"claim": "baseline/gradient-descent/nonconvex"}
    yield "another method", data | {"certificate": "all states"}


def test_a_tampered_certificate_fails_with_one_sentence(descent, without_a_solver):
    cases = dict(tampered(descent))
    assert len(cases) > 20
    for what, data in cases.items():
        with pytest.raises(ValueError) as caught:
            ClassCertificate.from_json(data).replay()
        assert "\n" not in str(caught.value) and len(str(caught.value)) > 20, what


@pytest.mark.parametrize(
    "broken",
    [
        {"steps": None},
        {"steps": {"comparison 1": {}}},
        {"steps": {"comparison 1": {"bound": "1e999999999", "multipliers": {}, "squares": []}}},
        {"steps": {"comparison 1": {"bound": "1/0", "multipliers": {}, "squares": []}}},
        {"steps": {"comparison 1": {"bound": 0.5, "multipliers": {}, "squares": []}}},
        {"claim": "nobody/knows"},
        {"letters": None},
        {"certificate": "by decree"},
        {"changes": {"algorithm": None}},
    ],
)
def test_a_malformed_certificate_is_one_sentence(descent, broken):
    with pytest.raises(ValueError, match=r"^[^\n]{20,}$"):
        ClassCertificate.from_json(descent | broken).replay()


def test_the_residual_is_told(descent):
    data = copy.deepcopy(descent)
    name, step = next(iter(data["steps"].items()))
    constraint = next(k for k in step["multipliers"] if k.startswith("f_"))
    step["multipliers"][constraint] = str(Fraction(step["multipliers"][constraint]) + Fraction(1, 7))
    with pytest.raises(DoesNotHold, match=rf"step '{name}' is not proved by its multipliers: .* coefficient -?1/7"):
        ClassCertificate.from_json(data).replay()


def test_a_prover_that_stores_asks_what_a_prover_that_solves_asked():
    claim = claims.get("feddcd/theorem-6.1/eq-12")
    instance = claim.instances.build(first_recipe(claim), True)
    solving = Solving()
    found = certifying.certify(Case.of(claim, instance), solving)
    stored = Stored(solving.steps)
    again = certifying.certify(Case.of(claim, instance), stored)
    assert (again.verdict, again.claimed) == (found.verdict, found.claimed)
    assert set(stored.used) == set(solving.steps) and len(stored.used) >= 4


# At the command line


def run(capsys, *argv):
    status = main(list(argv))
    out, err = capsys.readouterr()
    return status, out, err


def test_an_audit_stores_certificates_that_the_command_replays(tmp_path, capsys):
    # What is proved for all letters has no certificates at some of them.
    ids = ["baseline/gradient-descent/one-step", "feddcd/lemma-B.2", "fedopt/fsvrg/property-a"]
    assert run(capsys, "audit", *ids, "--jobs", "1", "--out", str(tmp_path))[0] == 0
    entries = json.loads((tmp_path / "audit.json").read_text())["claims"]
    counted = {e["id"]: sum(len(outcome["certificates"]) for outcome in e["outcomes"]) for e in entries}
    files = sorted((tmp_path / "certificates").iterdir())
    proved, *others = ids
    assert counted[proved] == 0 and all(counted[id] >= 3 for id in others) and len(files) == sum(counted.values())
    for file in files:
        stored = json.loads(file.read_text())
        assert stored["format"] == "fedtheory-certificate-1" and formats.checked("certificate", stored)
    for file in files[:1] + files[-1:]:
        status, out, err = run(capsys, "replay", str(file))
        assert (status, err) == (0, "") and "the certificate holds" in out
    data = json.loads(files[0].read_text())
    data["letters"]["gamma" if "gamma" in data["letters"] else next(iter(data["letters"]))] = "12345/678"
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(data))
    status, out, err = run(capsys, "replay", str(changed))
    assert (status, err) == (1, "") and "does NOT hold: the letters" in out
    changed.write_text(json.dumps(data | {"steps": 3}))
    status, out, err = run(capsys, "replay", str(changed))
    assert (status, out) == (2, "") and err.count("\n") == 1


def test_show_lists_outcomes_and_certificates(capsys):
    status, out, _ = run(capsys, "show", "feddcd/theorem-C.1/repaired")
    assert status == 0
    for text in ("what each method found", "worst cases: no verdict", "certificate (worst case) at n=", "multipliers"):
        assert text in out


def test_what_is_no_certificate_is_left_to_others(tmp_path):
    path = tmp_path / "a.json"
    assert load(path) is None
    for text in ("{", "[]", "{}", '{"claim": "feddcd/eq-1"}'):
        path.write_text(text)
        assert load(path) is None
