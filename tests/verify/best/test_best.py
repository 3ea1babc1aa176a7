"""Best numbers: known optima are recovered exactly, ends that are not true are rejected, and the command."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction as Fr

import faster
import pytest
import sympy
from places import EXAMPLES, ROOT

import fedtheory as ft
from fedtheory import claims
from verify.base.case import Case
from verify.base.own import load
from verify.best import every_n, factors, parameters, places, potentials, record, thresholds, words
from verify.best.states import AtInstance, AtPoints
from verify.best.subjects import MULTIPLE, subject
from verify.cli import main
from verify.pep.prover import DoesNotHold
from verify.tightness import sweep

GD = EXAMPLES / "gallery" / "gradient_descent.py"
PROX = EXAMPLES / "proximal_point.py"


@pytest.fixture(scope="module", autouse=True)
def _loaded():
    for path in (GD, PROX, EXAMPLES / "gallery" / "scaffnew.py", EXAMPLES / "gallery" / "saga.py"):
        load(path)


def smallest(id, *at):
    of = subject(claims.get(id))
    found = factors.smallest(of, sweep.letters(at))
    factors.check(of, found)
    return of, found


@pytest.mark.parametrize(
    ("id", "at", "expected"),
    [
        # max((1 - gamma mu)^2, (1 - gamma L)^2), on both sides of 2/(mu + L)
        ("gradient-descent/step", ("mu=1/7", "gamma=1"), Fr(36, 49)),
        ("gradient-descent/longer-steps", ("gamma=2",), Fr(1)),
        ("gradient-descent/longer-steps", ("gamma=20/11",), Fr(81, 121)),
        # 1/(1 + gamma mu)^2
        ("prox/step", ("mu=1/2", "gamma=3"), Fr(4, 25)),
        ("scaffnew/step", ("p=1/4",), Fr(15, 16)),
    ],
)
def test_known_optima_are_found_exactly(id, at, expected):
    _, found = smallest(id, *at)
    assert found.lower == found.upper == expected


def test_a_rate_that_is_stated_too_large_is_improved():
    of, found = smallest("scaffnew/step", "p=1/2")
    assert found.upper == Fr(81, 100) < found.printed == Fr(9, 10)
    assert isinstance(found.witness, AtInstance) and found.witness.ratio(of.at(Fr(1))) == found.lower


def test_a_lower_end_that_is_known_is_taken_over(monkeypatch):
    of, found = smallest("gradient-descent/step", "gamma=1")
    monkeypatch.setattr(factors.states, "worst_instance", None)
    again = factors.smallest(of, {"gamma": Fr(1)}, known=replace(found, upper=None, steps={}))
    assert again == found


def test_a_worst_case_that_is_relaxed_gives_an_interval():
    _, found = smallest("saga/step")
    assert found.lower < found.upper < found.printed and isinstance(found.witness, AtInstance)


def test_a_function_by_its_gram_matrix_is_a_witness(monkeypatch):
    monkeypatch.setattr(factors.states, "worst_instance", lambda claim, recipes: None)
    of, found = smallest("gradient-descent/step", "n=1", "gamma=1")
    assert isinstance(found.witness, AtPoints) and Fr(81, 100) - Fr(1, 10**6) < found.lower <= found.upper
    block, (names, gram) = next(iter(found.witness.gram.items()))
    larger = tuple(tuple(2 * v for v in line) for line in gram)
    for wrong in ((names, larger), (names[::-1], gram)):
        with pytest.raises(DoesNotHold, match="the stored vectors"):
            factors.check(of, replace(found, witness=replace(found.witness, gram={block: wrong})))


def test_ends_that_are_not_true_are_rejected():
    of, found = smallest("gradient-descent/step", "gamma=1")
    wrong = [
        replace(found, upper=found.upper - Fr(1, 10**9)),
        replace(found, lower=found.lower + Fr(1, 10**9)),
        replace(found, printed=Fr(1, 2)),
        replace(found, letters={**found.letters, "gamma": "1/2"}),
        replace(found, steps={}),
        replace(found, witness=replace(found.witness, recipe={**found.recipe, "gamma": Fr(1, 2)})),
    ]
    for one in wrong:
        with pytest.raises(ValueError, match=r"step|reaches|states|letters"):
            factors.check(of, one)


def test_what_has_no_best_number_is_told():
    with pytest.raises(ValueError, match="has no best value over a class"):
        subject(claims.get("baseline/diana/invariant"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "id", "at", "expected"),
    [
        # u^2, of Thomsen, Taylor and Dieuleveut
        ("ef21_tight", "ef21-tight/step", ("n=2",), Fr(21, 22) ** 2),
        # 1 - gamma mu, of Defazio, Bach and Lacoste-Julien
        ("saga_strongly_convex", "saga-strongly-convex/step", ("mu=1/10", "gamma=5/13", "n=3"), Fr(25, 26)),
        ("point_saga", "point-saga/step", ("mu=1/10", "L=9/2", "gamma=1", "n=2"), Fr(106, 121)),
    ],
)
def test_optima_of_methods_with_tables_and_compressors(file, id, at, expected):
    load(EXAMPLES / "gallery" / f"{file}.py")
    _, found = smallest(id, *at)
    assert found.lower == found.upper == expected


ROWS = re.findall(
    r"(?m)^\| (\S+/\S+) \| ([^|]+=[^|]+) \| (\S+) \| (\S+) \| (\S+) \|$", (ROOT / "docs" / "best.md").read_text()
)


def test_the_page_improves_at_least_three_printed_rates():
    assert len({claim for claim, _, best, stated, _ in ROWS if Fr(best) < Fr(stated)}) >= 3


def test_the_table_of_the_page_is_written_with_bounds_that_stay_bounds(tmp_path):
    assert tuple((id, at) for id, at, *_ in ROWS) == faster.TABLE
    third = {faster.key(id, at): faster.Speed(Fr(1, 3), Fr(2, 3)) for id, at in faster.TABLE}
    assert faster.rows(third).splitlines()[0].endswith("| 0.333334 | 0.666667 | 2 |")
    faster.store(third, tmp_path / "faster.json")
    assert faster.load(tmp_path / "faster.json") == third
    with pytest.raises(ValueError, match="nothing is certified"):
        faster.rows(third | {faster.key(*faster.TABLE[0]): faster.Speed(None, Fr(2, 3))})


@pytest.mark.slow
@pytest.mark.parametrize(("id", "at", "best", "stated", "times"), ROWS)
def test_rates_are_faster_than_printed_as_the_page_tells(id, at, best, stated, times):
    _, found = smallest(id, *at.split())
    digits = Fr(1, 10**6)
    assert found.upper <= Fr(best) < found.upper + digits and found.printed <= Fr(stated) < found.printed + digits
    assert Fr(times) <= (1 - found.upper) / (1 - found.printed) < Fr(times) + Fr(1, 1000)


# Letters


@pytest.mark.parametrize(
    ("id", "letter", "largest", "expected"),
    [
        # gamma <= 2/(mu + L)
        ("gradient-descent/step", "gamma", True, Fr(20, 11)),
        # 1 - p^2 <= 1 - gamma mu holds where p^2 = gamma mu, which is irrational here
        pytest.param("scaffnew/faster", "p", False, None, marks=pytest.mark.slow),
    ],
)
def test_the_value_of_a_letter_beyond_which_a_claim_fails(id, letter, largest, expected):
    claim = claims.get(id)
    ends = thresholds.threshold(claim, letter, {}, largest, float("inf"), lambda text: None)
    found = record.Record(claim, letter, ends)
    found.check()
    inside, outside = (Fr(one.letters[letter]) for one in ends)
    assert expected is None or inside == expected
    assert abs(outside - inside) <= inside / 10**4 and (outside > inside) == largest
    with pytest.raises(DoesNotHold, match="is not shown"):
        record.Record(claim, letter, ends[::-1]).check()
    assert record.from_json(json.loads(record.text(found))) == found


@pytest.mark.slow
def test_the_best_stepsize_is_found():
    claim = claims.get("gradient-descent/step")
    of, at = parameters.best(claim, ("gamma",), {"mu": Fr(1, 7)}, float("inf"), lambda text: None)
    found = factors.smallest(of, at)
    assert at["gamma"] == Fr(7, 4) and found.lower == found.upper == Fr(9, 16)
    record.Record(claim, "", (found,), None, ("gamma",)).check()


def test_a_rate_is_proved_for_every_number_of_clients():
    of, found = smallest("scaffnew/step", "p=1/3")
    assert found.upper == Fr(8, 9)
    assert every_n.proved(of, found, {"p": Fr(1, 3)}, lambda text: None) == (Fr(8, 9), "")
    # What is below the best rate of two clients is proved for no number of them.
    number, why = every_n.proved(of, replace(found, upper=Fr(7, 9)), {"p": Fr(1, 3)}, lambda text: None)
    assert (number is None or number >= Fr(8, 9)) and (why or number)


def test_letters_that_are_tied_to_the_number_of_clients_leave_it_no_room():
    load(EXAMPLES / "gallery" / "point_saga.py")
    at = {"mu": Fr(1, 10), "L": Fr(9, 2), "gamma": Fr(1), "n": Fr(2)}
    of = subject(claims.get("point-saga/step"))
    given = places.recipe(of.claim, at)
    shown = places.shown(places.case(of.claim, given))
    found = factors.Interval(given, shown, Fr(10, 11), upper=Fr(10, 11))
    number, why = every_n.proved(of, found, at, lambda text: None)
    assert number is None and "with 3 clients" in why


def test_a_multiple_of_a_right_side():
    mu, setting = ft.letters("mu"), claims.get("gradient-descent/step").setting
    D, F = ft.Quantity("D", ft.distance), ft.Quantity("F", ft.gap)
    claim = ft.Claim("mine/growth", setting=setting, statement=ft.inequality(D <= 5 * F / mu))
    of = subject(claim)
    found = factors.smallest(of, {})
    factors.check(of, found)
    # |x - x*|^2 <= 2/mu (f - f*)
    assert of.name == MULTIPLE and found.lower == found.upper == Fr(2, 5)
    with pytest.raises(DoesNotHold):
        factors.check(of, replace(found, upper=Fr(2, 5) - Fr(1, 10**6)))


def test_a_form_that_may_be_negative_is_no_part_of_a_potential():
    base = claims.get("gradient-descent/step")
    less = ft.Quantity("M", lambda problem, params, state: -ft.distance(problem, params, state))
    more = ft.Quantity("M_next", less.of, after=True)
    claim = ft.Claim(
        "mine/negative", setting=base.setting, statement=ft.one_step(base.setting.algorithm, ft.E(more) <= less)
    )
    found = potentials.best(claim, {"gamma": Fr(1)}, float("inf"), lambda text: None)
    potentials.check(claim, found)
    assert found.rate.upper == Fr(81, 100) and sum(map(bool, found.weights.values())) == 1


# Potentials


@pytest.mark.parametrize(
    ("id", "at", "rate"),
    [
        ("gradient-descent/step", ("gamma=20/11",), Fr(81, 121)),
        ("scaffnew/step", ("p=1/2",), Fr(81, 100)),
    ],
)
def test_the_best_potential_has_an_exact_rate(id, at, rate):
    claim = claims.get(id)
    found = potentials.best(claim, sweep.letters(at), float("inf"), lambda text: None)
    potentials.check(claim, found)
    assert found.rate.upper == rate and rate - Fr(1, 10**4) < found.rate.lower < rate
    first, *others = found.weights
    wrong = [
        replace(found, rate=replace(found.rate, upper=rate - Fr(1, 1000))),
        replace(found, rate=replace(found.rate, lower=rate + Fr(1, 1000))),
        replace(found, weights={**found.weights, first: Fr(2)}),
        replace(found, weights={**found.weights, **dict.fromkeys(others, Fr(-1))}) if others else None,
    ]
    for one in filter(None, wrong):
        with pytest.raises(DoesNotHold):
            potentials.check(claim, one)


@pytest.mark.slow
def test_what_saga_weighs_is_not_the_best_and_the_best_is_told_by_another_letter():
    load(EXAMPLES / "gallery" / "saga_strongly_convex.py")
    claim = claims.get("saga-strongly-convex/step")
    found = potentials.best(claim, {"n": Fr(2)}, float("inf"), lambda text: None)
    potentials.check(claim, found)
    assert Fr(945, 1000) < found.rate.lower < found.rate.upper < Fr(946, 1000) < Fr(23, 24)
    said = words.report_lines(record.Record(claim, "", (found.rate,), found.weights))
    assert any("W = |x - x*|^2 + " in line and line.endswith(" V") for line in said)


@pytest.mark.slow
def test_a_potential_may_be_better_than_that_of_the_claim():
    claim = claims.get("saga/step")
    found = potentials.best(claim, {}, float("inf"), lambda text: None)
    potentials.check(claim, found)
    assert found.rate.upper < Fr(978, 1000) < Fr(59, 60) and found.rate.lower is None
    kept = record.Record(claim, "", (found.rate,), found.weights)
    assert record.from_json(json.loads(record.text(kept))) == kept


# Attacks


def mine(name, step, potential=ft.distance, **more):
    mu, L, gamma = ft.letters("mu L gamma")
    method = ft.method(name, step, ["gamma"], {"x": "point"}, **more)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    return ft.Claim(f"mine/{name}", setting=setting, statement=ft.contracts(method, potential, (1 - gamma * mu) ** 2))


def descent(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


def descent_of_few(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope * (1 if problem.n < 5 else 3)}


def descent_of_one(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope if state.x.shape[-1] < 2 else state.x}


def in_the_first_coordinate(problem, params, state):
    return ((state.x - problem.x_star)[..., :1] ** 2).sum(axis=-1)


def elsewhere(problem, params):
    return {"x": 2 * problem.x_star}


def remembering(problem, params, state, draw, calls=[]):  # noqa: B006
    calls.append(1)
    return {"x": state.x - len(calls) * params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2)}


@pytest.mark.parametrize(
    "claim",
    [
        mine("few", descent_of_few),
        mine("one", descent_of_one),
        mine("first", descent, in_the_first_coordinate),
        mine("remembering", remembering),
    ],
    ids=lambda claim: claim.id,
)
def test_what_is_not_so_for_all_has_no_best_value(claim):
    with pytest.raises(
        Exception, match=r"not read|fixed point|leaves|beside|twice|again|remembers|calls|differ|whatever"
    ):
        factors.smallest(subject(claim), {"gamma": Fr(1, 2)})
    with pytest.raises(
        Exception, match=r"not read|fixed point|leaves|beside|twice|again|remembers|calls|differ|whatever"
    ):
        potentials.best(claim, {"gamma": Fr(1, 2)}, float("inf"), lambda text: None)


def test_of_a_strict_claim_it_is_told_that_the_best_number_is_one_of_the_other_relation():
    claim = mine("strict", descent)
    strict = replace(claim, statement=replace(claim.statement, strict=True))
    found = factors.smallest(subject(strict), {"gamma": Fr(1, 2)})
    of_strict, of_other = (words.report_lines(record.Record(one, "", (found,))) for one in (strict, claim))
    assert of_strict[:-1] == of_other and "the claim says <" in of_strict[-1]


@pytest.mark.parametrize(
    ("sort", "said"),
    [("negative right side", ""), ("negative left side", "no number"), ("negative number", "at none of")],
)
def test_of_what_may_be_negative_no_number_is_the_best_and_steps_may_be(sort, said):
    """-V <= V/2 holds with every number from -2 on, and of -V' <= V/2 the program's value is 0."""
    claim = mine("signs", descent)
    method, (mu, _, gamma) = claim.statement.algorithm, ft.letters("mu L gamma")
    V, later = (ft.Quantity(name, ft.distance, after=name == "V'") for name in ("V", "V'"))
    statement = {
        "negative right side": ft.one_step(method, ft.E(later) - V <= -gamma * mu * V),
        "negative left side": ft.one_step(method, -ft.E(later) <= V / 2),
        "negative number": ft.inequality(-V <= -2 * V),
    }[sort]
    signed = replace(claim, statement=statement)
    with pytest.raises(ValueError, match="no number"):
        factors.smallest(subject(signed), {"gamma": Fr(1, 2)})
    if said:
        with pytest.raises(ValueError, match=said):
            thresholds.threshold(signed, "gamma", {}, True, float("inf"), lambda text: None)
    else:
        holds, fails = thresholds.threshold(signed, "gamma", {}, True, float("inf"), lambda text: None)
        # Of mu = 1/10 and L = 1 it is the largest step at which (1 - gamma L)^2 <= 1 - gamma mu.
        assert Fr(holds.letters["gamma"]) <= Fr(19, 10) < Fr(fails.letters["gamma"]) < 2


def test_a_number_below_zero_is_no_end_unless_a_state_has_it():
    """E V' - V <= c V holds from c = -19/100 on, where the program, in which V may be 0, has the value 0."""
    claim = mine("difference", descent)
    V, later = (ft.Quantity(name, ft.distance, after=name == "V'") for name in ("V", "V'"))
    claim = replace(claim, statement=ft.one_step(claim.statement.algorithm, ft.E(later) - V <= V))
    found = factors.smallest(subject(claim), {"gamma": Fr(1)})
    assert found.lower == Fr(-19, 100) and found.upper > 0


def test_of_a_bound_it_is_told_that_the_rate_is_one_of_its_potential():
    claim = mine("half", descent)
    rate, V_0, V_T = (
        claim.statement.factor,
        ft.Quantity("V_0", ft.distance),
        ft.Quantity("V_T", ft.distance, after=True),
    )
    halved = replace(claim, statement=ft.bound(claim.statement.algorithm, ft.E(V_T) <= rate**ft.T * V_0 / 2))
    found = factors.smallest(subject(halved), {"gamma": Fr(1, 2)})
    (line,) = (line for line in words.report_lines(record.Record(halved, "", (found,))) if "stated" in line)
    assert line.endswith("which is the best possible of its potential")


def test_an_end_without_what_shows_it_does_not_replay():
    claim = claims.get("gradient-descent/step")
    found = factors.smallest(subject(claim), {"gamma": Fr(1)})
    for bare in (replace(found, witness=None), replace(found, lower=None, witness=None, upper=None, steps={})):
        with pytest.raises(DoesNotHold):
            record.Record(claim, "", (bare,)).check()


def test_distances_from_a_point_that_a_step_leaves_do_not_contract():
    claim = mine("elsewhere", descent, fixed_point=elsewhere)
    with pytest.raises(ValueError, match="contracts"):
        potentials.best(claim, {"gamma": Fr(1, 2)}, float("inf"), lambda text: None)


def test_usual_values_leave_nothing_of_a_claim_out():
    at = places.shown(places.case(claim := claims.get("baseline/diana/one-step"), places.recipe(claim, {})))
    assert (at["n"], at["omega"]) == ("2", "1")
    at = places.shown(places.case(claim := claims.get("baseline/scaffnew/one-step"), places.recipe(claim, {})))
    assert (at["n"], at["p"]) == ("2", "1/2")
    # What is given is taken, also where it leaves something out.
    given = {"n": Fr(1), "omega": Fr(0)}
    at = places.shown(places.case(claim := claims.get("baseline/diana/one-step"), places.recipe(claim, given)))
    assert (at["n"], at["omega"]) == ("1", "0")


# The command


def best(capsys, *words):
    code = main(["best", *map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_tells_both_ends_and_keeps_them(capsys, tmp_path):
    path = tmp_path / "best.json"
    asked = ("gradient-descent/step", "--own", GD, "--at", "gamma=1", "--out", path)
    code, out, err = best(capsys, *asked)
    assert code == 0 and "exactly 81/100" in out and "which is the best possible" in out and "certified?" in err
    code, again, err = best(capsys, *asked)
    assert code == 0 and again == out and "certified?" not in err
    assert main(["replay", str(path), "--own", str(GD)]) == 0
    assert "holds: each end" in capsys.readouterr().out
    data = json.loads(path.read_text())
    data["found"][0]["lower"] = "9/10"
    path.write_text(json.dumps(data))
    assert main(["replay", str(path), "--own", str(GD)]) == 1
    assert "does NOT hold" in capsys.readouterr().out
    for name, wrong in (("recipe", {"n": 2}), ("witness", {"recipe": {}, "point": [], "rounds": 1}), ("letters", {})):
        bad = {**data, "found": [{**data["found"][0], name: wrong}]}
        path.write_text(json.dumps(bad))
        assert main(["replay", str(path), "--own", str(GD)]) in (1, 2)
    for name, wrong in (("upper", "1/0"), ("steps", 3), ("over", ["L"]), ("weights", {"x": "1"}), ("found", [])):
        path.write_text(json.dumps({**data, **({name: wrong} if name in data else {"found": [{name: wrong}]})}))
        assert main(["replay", str(path), "--own", str(GD)]) in (1, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at", "gama=1"), "has no letter 'gama'"),
        (("--at", "gamma=x"), "LETTER=NUMBER was expected"),
        (("--at", "gamma=100"), "do not meet the hypothesis"),
        (("--at", "mu=2"), "mu must be at most L"),
        (("--at", "n=1/2"), "n must be an integer"),
        (("--at", "n=41"), "take fewer"),
        (("--at", "n=41", "--potential"), "take fewer"),
        (("--largest", "mu"), "a parameter of the method was expected"),
        (("--over", "gama"), "has no letter 'gama'"),
        (("--potential", "--every-n"), "--every-n is of the smallest rate"),
    ],
)
def test_bad_input_is_one_sentence(capsys, words, said):
    code, out, err = best(capsys, "gradient-descent/step", "--own", GD, *words)
    assert code == 2 and not out and said in err and len(err.splitlines()) == 1


def test_a_file_with_another_record_is_not_overwritten(capsys, tmp_path):
    path = tmp_path / "best.json"
    path.write_text("{}")
    code, _, err = best(capsys, "gradient-descent/step", "--own", GD, "--out", path)
    assert code == 2 and "holds something else" in err and path.read_text() == "{}"


def test_records_are_of_their_format(tmp_path):
    _, found = smallest("gradient-descent/step", "gamma=1")
    one = record.Record(claims.get("gradient-descent/step"), "", (found,))
    assert record.from_json(json.loads(record.text(one))) == one


def test_all_constants_of_a_class_are_as_they_are_given():
    one, other = ft.letters("L_1 L_2")

    def along(problem, params, state, draw):
        slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
        return {"x": state.x - params.gamma * problem.part(slope, 0)}

    method = ft.method("one-block", along, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.BlockSmoothConvex((one, other)), clients=(1,))
    claim = ft.Claim("mine/blocks", setting=setting, statement=ft.contracts(method, ft.gap, 1))
    given = places.recipe(claim, {"L_1": Fr(9), "L_2": Fr(4)})
    told = places.shown(places.case(claim, given))
    assert told["L_1"] == "9" and told["L_2"] == "4"


def test_usual_letters_that_break_a_hypothesis_give_way_to_others():
    mu, L, s = ft.letters("mu L s")
    method = ft.method("split", lambda problem, params, state, draw: state, ["s"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    statement = ft.contracts(method, ft.distance, 1 - sympy.sqrt(mu / L))
    claim = ft.Claim(
        "split/rate", setting=setting, statement=statement, requires=(sympy.Eq(s, 1 / sympy.sqrt(mu * L)),)
    )
    found = places.others(claim, {})
    assert found == {"mu": Fr(1, 9), "s": 3}
    assert places.shown(places.case(claim, places.recipe(claim, found)))["L"] == "1"
    # What is given stays, and what holds needs nothing.
    assert places.others(claim, found) == {}
    given = {"mu": Fr(1, 25), "L": Fr(1)}
    assert places.others(claim, given) == {} and places.shown(Case(claim, places.recipe(claim, given)))["s"] == "5"
    assert places.others(claim, {"mu": Fr(1, 10), "L": Fr(1)}) == {}
    free = replace(claim, requires=())
    assert places.others(free, {}) == {}
