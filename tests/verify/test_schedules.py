"""Methods whose parameters vary with the round: what holds is not refuted, and wrong schedules are found."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from first_found import first_found
from places import EXAMPLES

import fedtheory as ft
from fedtheory.kinds.eventually import Eventually
from fedtheory.kinds.limit import Limit
from verify import Verdict, check
from verify.base.case import Case
from verify.base.own import load
from verify.cli import main
from verify.pep.bounding import Refused
from verify.pep.worst_case import certify
from verify.search import hunting

mu, L, c = ft.letters("mu L c")
k, T = ft.round_index, ft.T
gamma = c / (k + 1)
V_0, V_T = ft.Quantity("V_0", ft.distance), ft.Quantity("V_T", ft.distance, after=True)


@pytest.fixture(scope="module")
def true():
    return load(EXAMPLES / "decreasing_step.py")[0]


def shortened_late(problem, params, state, draw):
    late = params.gamma / (1 if params.round < 1000 else 2)
    return {"x": state.x - late * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


WRONG = {
    "k + 2 for k + 1": c / (k + 2),
    "k for k + 1": c / sympy.Max(k, 1),
    "wrong from 1000 on": c / (k + 1 + sympy.Max(k - 999, 0) / 10),
    "constant": c,
    "a root": c / sympy.sqrt(k + 1),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("seed", [0, 1])
def test_another_schedule_than_that_of_which_a_claim_speaks_is_refuted(true, name, seed):
    changed = replace(true.statement.algorithm, schedules={"gamma": WRONG[name]})
    found = first_found(true.variant(algorithm=changed), seed)
    assert found.verdict is Verdict.REFUTED
    assert "k=" in found.counterexample.text and found.counterexample.replay()
    if name == "wrong from 1000 on":
        assert found.counterexample.recipe["round"] >= 1000


@pytest.mark.parametrize("seed", [0, 1])
def test_a_step_that_looks_at_the_round_is_refuted(true, seed):
    late = ft.method("late", shortened_late, ["c"], {"x": "point"}, schedules={"gamma": gamma})
    found = first_found(true.variant(algorithm=late), seed)
    assert found.verdict is Verdict.REFUTED and found.counterexample.recipe["round"] >= 1000


@pytest.mark.parametrize(("shift", "verdict"), [(2, Verdict.PROVED), (sympy.S.Half, Verdict.REFUTED)])
def test_a_factor_off_by_one_round_is_refuted_where_it_claims_more(true, shift, verdict):
    claimed = ft.contracts(true.statement.algorithm, ft.distance, (1 - c * mu / (k + shift)) ** 2)
    assert first_found(replace(true, id="mine/off", statement=claimed)).verdict is verdict


SCHEDULES = {
    "a root": (c / sympy.sqrt(k + 1), Verdict.PROVED),
    "of the problem": (2 / (mu * (k + 2)), Verdict.PROVED),
    "the less of two": (sympy.Min(1 / L, c / (mu * (k + 1))), Verdict.SUPPORTED),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_other_schedules_stand_and_a_shorter_bound_is_refuted(true, name):
    varying, stands = SCHEDULES[name]
    step = true.statement.algorithm.step.__wrapped__
    gd = ft.method("descent", step, ["c"], {"x": "point"}, schedules={"gamma": varying})
    setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L))
    for power, verdict in ((2, stands), (3, Verdict.REFUTED)):
        statement = ft.contracts(gd, ft.distance, (1 - varying * mu) ** power)
        claim = ft.Claim(f"mine/{power}", setting=setting, statement=statement, requires=(varying * L <= 1,))
        assert first_found(claim).verdict is verdict


def bound(true, relation):
    algorithm = true.statement.algorithm
    setting = ft.Setting(algorithm=algorithm, functions=ft.SmoothStronglyConvex(mu, L))
    statement = ft.bound(algorithm, relation)
    return ft.Claim("mine/bound", setting=setting, statement=statement, requires=(c * L <= 1,))


def product(of, power=2):
    return sympy.Product((1 - of * mu) ** power, (k, 0, T - 1))


@pytest.mark.slow
def test_a_bound_is_tested_with_the_parameters_of_its_rounds_and_not_certified_by_one_of_them(true):
    claim = bound(true, ft.E(V_T) <= product(gamma) * V_0)
    found = check(claim)
    assert found.verdict is Verdict.PROVED and "T=30: 0" in found.note and "shown of every round" in found.note
    one = next(r for r in claim.instances.recipes(np.random.default_rng(0)))
    with pytest.raises(Refused, match="vary with the round"):
        certify(Case(claim, one))


@pytest.mark.parametrize(
    "right",
    [product(gamma, 3), product(c / sympy.Max(k, 1)), (1 - c * mu) ** (2 * T), product(c / (k + 1 - k / 100))],
)
def test_a_bound_that_claims_a_little_more_is_refuted(true, right):
    found = first_found(bound(true, ft.E(V_T) <= right * V_0))
    assert found.verdict is Verdict.REFUTED and found.counterexample.rounds >= 1


def test_a_bound_with_a_sum_of_stepsizes(true):
    gap = ft.Quantity("gap_T", ft.gap, after=True)
    total = sympy.Sum(gamma, (k, 0, T - 1))
    assert check(bound(true, ft.E((2 / L + total) * gap) <= V_0)).verdict is Verdict.SUPPORTED
    assert first_found(bound(true, ft.E((2 / L + 9 * total) * gap) <= V_0)).verdict is Verdict.REFUTED


def test_what_is_not_said_of_every_round_gets_a_sentence(true):
    gd = true.statement.algorithm
    setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L))
    letter = sympy.Symbol("gamma", positive=True)
    contraction = ft.contracts(gd, ft.distance, (1 - gamma * mu) ** 2)
    plain = replace(gd, schedules={})
    given = replace(true.setting, letters=(mu, L, c), text="")
    for make, said in (
        (lambda: bound(true, ft.E(V_T) <= gamma * V_0), "may only be the index"),
        (
            lambda: ft.Claim("a/b", setting=setting, statement=ft.contracts(gd, ft.distance, 1 - letter * mu)),
            "write its",
        ),
        (
            lambda: ft.Claim("a/b", setting=setting, statement=ft.contracts(gd, ft.distance, 1 / ft.k)),
            "uses a k other than",
        ),
        (lambda: ft.Claim("a/b", setting=setting, statement=Limit(gd, V_T, "")), "not tested where parameters vary"),
        (lambda: ft.Claim("a/b", setting=setting, statement=Eventually(gd, (V_0,))), "not tested where parameters"),
        (lambda: true.variant(algorithm=plain), "other parameters vary"),
        (lambda: ft.Claim("a/b", setting=given, statement=contraction), "which its setting leaves out of its letters"),
    ):
        with pytest.raises(ValueError, match=said):
            make()


def test_the_command_line_tells_a_wrong_schedule_with_its_file_and_line(tmp_path, capsys):
    text = (EXAMPLES / "decreasing_step.py").read_text().replace("gamma = c / (k + 1)", "gamma = c / (k - 1)")
    file = tmp_path / "mine.py"
    file.write_text(text)
    assert main(["check", str(file)]) == 2
    err = capsys.readouterr().err
    line = next(i for i, written in enumerate(text.splitlines(), 1) if "ft.method(" in written)
    assert f"mine.py, line {line}: " in err and "gamma = c/(k - 1) is negative at k = 0" in err and err.count("\n") == 1


def test_what_holds_up_to_a_round_that_the_claim_names_is_looked_at_beyond_it(true):
    gd = true.statement.algorithm
    setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
    statement = ft.contracts(gd, ft.distance, 1 - k / 10**7)
    claim = ft.Claim("mine/late", setting=setting, statement=statement, requires=(gamma * L <= 1, 2 * gamma * mu >= 1))
    assert hunting.hunt(claim, np.random.default_rng(0), 60, 1).refutations
