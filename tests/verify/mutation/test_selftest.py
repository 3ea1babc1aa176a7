"""The mutation bank: how it is made, how truth is told, and that what is false is killed."""

import dataclasses
import json
from functools import cache

import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import feddcd
from fedtheory.kinds.identity import identity
from fedtheory.papers import locodl
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity
from verify.cli import main
from verify.evidence import formats
from verify.mutation import bank, changed_code, selftest
from verify.mutation.bank import OPERATORS, formula_changes
from verify.mutation.selftest import Alarm, Label

a, b, c = sympy.symbols("a b c", positive=True)
quantity = sympy.Symbol("quantity")

#: Claims, methods and compressors of every kind, quickly tested.
CHOSEN = (
    "locodl/theorem-3.1/one-step",
    "locodl/proof/dual-step",
    "locodl/eq-2/rand-k",
    "locodl/eq-2/natural",
    "locodl/eq-6",
    "locodl/eq-13",
    "feddcd/theorem-4.1/eq-3",
    "feddcd/lemma-B.8/descent",
    "feddcd/lemma-B.3/eq-18",
    "feddcd/lemma-E.2",
    "feddcd/participation/bound",
    "baseline/diana/one-step",
    "baseline/scaffnew/one-step",
)


@cache
def chosen():
    return tuple(claims.get(id) for id in CHOSEN)


@cache
def mutants():
    return bank(chosen())


# Changes


def test_every_place_of_a_formula_is_changed():
    formula = 1 - sympy.Max(a * b, 2 * c**2)
    found = {change.result for change in formula_changes(formula)}
    assert {
        2 - sympy.Max(a * b, 2 * c**2),
        1 + sympy.Max(a * b, 2 * c**2),
        1 - sympy.Min(a * b, 2 * c**2),
        1 - sympy.Max(b, 2 * c**2),
        1 - a * b,
        1 - sympy.Max(b**2, 2 * c**2),
        1 - sympy.Max(a * b, c**2),
        1 - sympy.Max(a * b, 2 * c**4),
    } <= found
    assert formula not in found


def test_formulas_of_equal_value_are_no_changes():
    assert [change.result for change in formula_changes((a - a**2) / a)] == [
        change.result for change in formula_changes(sympy.sympify((a - a**2) / a))
    ]
    results = [change.result for change in formula_changes(sympy.sqrt(a) * sympy.sqrt(b))]
    assert len(results) == len(set(results)) and all(not (r - sympy.sqrt(a * b)).equals(0) for r in results)


def test_quantities_are_neither_dropped_nor_exchanged():
    for change in formula_changes(a * quantity, frozenset({quantity})):
        assert change.result.has(quantity)
    assert not any(change.result.has(sympy.I) for change in formula_changes(sympy.sqrt(a - 1)))


def test_every_place_of_a_function_is_changed():
    fields = {"params": feddcd.Params._fields, "state": feddcd.State._fields}
    found = list(changed_code.changes(feddcd, ("step", "draws"), fields))
    texts = {change.text for change in found}
    assert {
        "state.y + params.eta * w_hat for state.y - params.eta * w_hat",
        "state.y for state.y - params.eta * w_hat",
        "params.eta / w_hat for params.eta * w_hat",
        "params.Lambda for params.eta",
        "state.w for state.y",
        "direction for project(params.Lambda, draw, direction)",
        "1 / Lambda * 11 / 10 for 1 / Lambda",
    } <= texts
    # Shapes, indices and messages are not arithmetic.
    assert not any("axis" in text and "=-1" in text for text in texts)
    assert {change.function for change in found} == {"step", "project", "draws"}
    assert all(change.namespace["State"] is feddcd.State for change in found)
    assert all(change.namespace["step"] is not feddcd.step for change in found)


# The bank


def test_the_bank_is_large_complete_and_the_same_every_time():
    ids = [m.id for m in mutants()]
    assert len(ids) >= 120 and len(set(ids)) == len(ids)
    assert {m.operator for m in mutants()} == set(OPERATORS)
    places = " ".join({m.place for m in mutants()})
    for part in ("locodl.step", "compressors.rand_k", "factor of", "right of", "hypotheses of", "relation 1 of"):
        assert part in places
    assert [(m.id, m.text) for m in bank(chosen())] == [(m.id, m.text) for m in mutants()]


def test_a_sample_takes_from_every_source():
    taken = selftest.sample(mutants(), 30)
    assert len({m.id.split("#")[0] for m in taken}) == len({m.id.split("#")[0] for m in mutants()})
    assert taken == selftest.sample(mutants(), 40)[:30]


# Truth


def test_what_follows_from_the_original():
    one_step = claims.get("locodl/theorem-3.1/one-step")
    larger = one_step.variant(factor=sympy.Max(one_step.statement.factor, 1))
    assert selftest.follows(larger, one_step)
    assert not selftest.follows(one_step.variant(factor=one_step.statement.factor**2), one_step)
    more = Hypothesis("gamma <= 1/L", sympy.Le(locodl.gamma, 1 / locodl.L, evaluate=False))
    assert selftest.follows(one_step.variant(requires=(*one_step.requires, more)), one_step)
    for hypothesis in one_step.requires:
        fewer = tuple(h for h in one_step.requires if h is not hypothesis)
        # That the coin has a probability is said of the setting already.
        said = hypothesis.relation in one_step.setting.domain
        assert selftest.follows(one_step.variant(requires=fewer), one_step) is said
    # Another step is another claim, however large the bound.
    assert not selftest.follows(larger.variant(algorithm=dataclasses.replace(locodl_method(), name="other")), one_step)


def test_constants_that_nobody_reads_may_be_declared_at_will():
    # Gradients of a function and of its conjugate do not depend on the constants it is declared to have.
    there_and_back = Quantity("grad f*(grad f(y))", lambda p, params, at: p.f.conjugate_gradient(p.f.gradient(at.y)))
    back = identity(there_and_back, Quantity("y", lambda problem, params, at: at.y))
    unread = dataclasses.replace(claims.get("feddcd/lemma-E.2"), id="mine/back", statement=back)
    assert selftest.follows(unread.variant(requires=()), unread)
    for id in ("feddcd/lemma-E.2", "feddcd/theorem-4.1/eq-3", "baseline/diana/one-step"):
        read = claims.get(id)
        assert not selftest.follows(read.variant(requires=read.requires[1:]), read)


def locodl_method():
    return claims.get("locodl/theorem-3.1/one-step").statement.algorithm


def test_what_does_not_run_is_stillborn():
    claim = claims.get("locodl/theorem-3.1/one-step")

    def step(problem, params, state, draw):
        raise RuntimeError("no")

    broken = claim.variant(algorithm=dataclasses.replace(locodl_method(), step=step))
    mutant = dataclasses.replace(mutants()[0], claims=(broken,), originals=(claim,))
    (trial,) = list(selftest.trials([mutant]))
    assert trial.label is Label.STILLBORN and "no" in trial.reason


@pytest.mark.parametrize("number", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_no_false_mutant_survives_and_none_is_proved(number):
    """Subsets of `fedtheory selftest`; its bar is 95 % at this budget."""
    # The first, of LoCoDL's theorem, takes several times as long as the few that follow.
    taken = selftest.sample(mutants(), number + 1)[number == 4 :]
    trials = list(selftest.trials(taken))
    false = [t for t in trials if t.label is Label.FALSE]
    assert len(false) >= number / 2
    assert sum(t.budget == "quick" for t in false) >= 0.95 * len(false)
    assert not any({"symbolic", "reals", "formal"} & t.vouching for t in false), false
    assert not any(t.contradicted for t in false)
    assert sum(t.contradicted is False for t in false) >= number / 8
    for method in ("exact", "spectral", "sdp") if number > 12 else ():
        assert any(method in t.killed for t in false)
    vouched = [t for t in trials if t.label is Label.TRUE]
    assert all(t.vouching for t in vouched)


def test_claims_that_hold_raise_no_alarm_and_false_ones_do():
    assert selftest.alarms(chosen()[1:3], [5]) == ()
    wrong = claims.get("feddcd/lemma-B.8/rate")
    assert selftest.alarms((wrong,), [1]) == (Alarm(wrong.id, 1),)


@pytest.mark.slow
def test_two_processes_find_the_same():
    taken = selftest.sample(mutants(), 8)
    # One process first: the two are forked from one that has solved programs, whose threads would not follow.
    assert list(selftest.trials(taken)) == list(selftest.trials(taken, jobs=2))


def test_the_command_prints_the_rates(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(selftest, "holding", lambda among, jobs: chosen()[1:2])
    monkeypatch.setattr("verify.cli.commands.CASES", 20)
    out = tmp_path / "selftest.json"
    assert (
        main(["selftest", "--mutants", "3", "--regions", "1", "--seeds", "1", "--jobs", "1", "--json", str(out)]) == 0
    )
    text = capsys.readouterr().out
    for words in ("killed at budget quick", "false alarms: 0 in 1 searches", "killed alone", "at level 1e-06: 0 false"):
        assert words in text
    stored = json.loads(out.read_text())
    assert len(stored["mutants"]) == 3 and len(stored["regions"]) == 1 and stored["alarms"] == []
    assert stored["format"] == "fedtheory-selftest-1" and formats.checked("selftest", stored)
    assert main(["selftest", "--json", str(tmp_path / "no" / "such.json")]) == 2
