"""The least change that makes a refuted claim true: what is tried, in which order, and what is told of what stands."""

import json
from dataclasses import replace

import numpy as np
import pytest
import sympy
from places import EXAMPLES

import fedtheory as ft
from fedtheory import claims
from fedtheory.numbers.symbols import T
from fedtheory.papers.fedadmm.runs import of_client
from fedtheory.papers.fedadmm.transition import TRANSITION
from verify.base import own
from verify.base.evaluate import meeting
from verify.checking import check
from verify.cli import main, repairing
from verify.methods import identities
from verify.repair import starts
from verify.repair.changes import families, noises
from verify.repair.families import COSTS, _unusual, has_unusual_power, no_longer_contracts
from verify.repair.lines import altered
from verify.repair.numbers import between, named
from verify.repair.restating import restated
from verify.repair.searching import LONG, Found, Repair, Search
from verify.repair.solving import solved
from verify.repair.trials import Bench, Searched, Verdict, collapsed
from verify.repair.units import Units
from verify.report.statement import expression

x, y = ft.letters("x y")


def changes(claim, sort):
    """The words of the first change of each family of a sort."""
    made = (f.change(claim, f.amounts[0]) for f in families(claim) if f.sort == sort)
    return [change.text for change in made if change is not None]


def test_the_simplest_number_between_two():
    assert between(sympy.Integer(1), sympy.Integer(2)) == sympy.Rational(3, 2)
    assert between(sympy.Rational(1, 2), sympy.Integer(1)) == sympy.Rational(2, 3)
    assert between(sympy.Integer(3), sympy.Integer(8)) == 4
    assert between(sympy.Rational(100, 99), sympy.Integer(1)) is None
    # No end is found again, so that halving ends.
    assert between(sympy.Rational(3, 7), sympy.Rational(1, 2)) not in (None, sympy.Rational(3, 7))
    low, high = sympy.Rational(1, 3), sympy.Rational(1, 2)
    for _ in range(20):
        low = between(low, high) or high
    assert low == high
    assert 4 / sympy.E in list(named(sympy.Rational(7, 5), sympy.Rational(3, 2)))


def test_a_chain_of_constants_is_solved_in_turn():
    rule = claims.get("fedadmm/theorem-4.3/proof-constants").statement
    least = next(iter(solved(rule)))
    assert dict(least) == dict(claims.get("fedadmm/theorem-4.3/proof-constants/repaired").statement.assignments)


@pytest.mark.parametrize(
    ("id", "sort", "text"),
    [
        ("fedadmm/eq-45/use", "assignment", "theta = 1/3"),
        ("fedadmm/eq-51/display", "sign", "-29 for 29"),
        ("feddcd/appendix-F/bound-step", "operator", "Max(4, s) for Min(4, s)"),
        ("feddcd/lemma-B.8/rate", "grouping", "(1 - mu_min/L_max)*(h(x) - h(x*)) for h(x)*(1 - mu_min/L_max) - h(x*)"),
        ("fedadmm/eq-55/tolerances", "reversed", "the two sides exchanged"),
        ("fedopt/fsvrg/single-node", "quantity exchanged", "grad f(w) for grad f(w^t)"),
        ("feddcd/appendix-F/class", "hypothesis of the paper", "required: alpha < beta/N"),
        ("fedadmm/remark-4.3/k0-and-rounds", "equality", "== for <"),
        ("fedadmm/eq-55", "sign", "1/k_0 for -1/k_0"),
        ("fedadmm/eq-57", "inequality", ">= for ==, the left side times m"),
    ],
)
def test_the_sorts_of_change(id, sort, text):
    assert text in changes(claims.get(id), sort)


@pytest.mark.parametrize(
    ("of", "alone"),
    [
        (lambda v, k: v.away(k + 1), True),
        (lambda v, k: v.move(k) * v.fed.sigma, True),
        (lambda v, k: v.away(0), False),
        (lambda v, k: v.away(-1), False),
        (lambda v, k: v.away(k - 1), False),
        (lambda v, k: v.move(k + 1), False),
        (lambda v, k: k * v.away(k), False),
        (lambda v, k: v.away(k) if k < 3 else 2 * v.away(k), False),
        (lambda v, k: v.away(k) * v.fed.k0, False),
        (lambda v, k: v.away(k) * len(v.history.w), False),
        (lambda v, k: v.away(k) * v.run.masks[0], False),
        (lambda v, k: v.history.W[: k + 1].sum(axis=0)[..., 0], False),
    ],
)
def test_what_looks_at_one_iteration_of_runs_is_said_of_any(of, alone):
    claim = claims.get("fedadmm/lemma-C.2/b/signs")
    square = claim.statement.quantities[3]
    (seen,) = [replace(square, of=of_client(square.expression.name, of).of)]
    said = claim.variant(left=-square.expression, right=square.expression, also=(), quantities=(seen,))
    assert [c.setting is TRANSITION for c in restated(said)] == [True] * alone


def test_the_same_is_said_in_another_setting():
    claim = claims.get("fedadmm/eq-51/display")
    said = [c for c in restated(claim) if c.setting is claims.get("fedadmm/lemma-4.1/with-step-condition").setting]
    (there,) = said
    assert there.statement.comparisons == claim.statement.comparisons
    # Scheme 4.1 and where runs begin are nothing that a single iteration could meet; the step condition is kept.
    asked = [h.text for h in there.requires]
    assert asked == ["Assumption 4.1: grad f_i is r_i-Lipschitz", "sigma_i >= 3 alpha_i r_i for every i"]


def test_what_says_nothing_is_left_out():
    for id in ("fedadmm/eq-64", "fedadmm/eq-67"):
        claim = claims.get(id)
        changed = [c for f in families(claim) if (c := f.change(claim, f.amounts[0])) is not None]
        assert changed and all(k.left != k.right for c in changed for k in c.claim.statement.comparisons)
    # A left side that was positive made negative.
    claim = claims.get("feddcd/theorem-7.1/eq-14")
    told = [c.text for f in families(claim) if (c := f.change(claim, f.amounts[0])) is not None]
    assert not {"-1/4 for 1/4", "-sqrt(kappa) - (tau - 1)/(N - 1) for sqrt(kappa) + (tau - 1)/(N - 1)"} & set(told)


def test_nothing_is_compared_with_its_multiple():
    # |w_K-w*|^2 <= delta |w_0-w*|^2, with one of the two for the other; and as a second change.
    claim = claims.get("feddcd/oracle/newton")
    assert not changes(claim, "quantity exchanged")
    (turned,) = (f.change(claim, f.amounts[0]).claim for f in families(claim) if f.sort == "reversed")
    assert not changes(turned, "quantity exchanged")
    # Of lines that hold with a quantity on both sides, as E h <= h - c |g|^2 does, nothing is left out.
    assert changes(claims.get("fedopt/fsvrg/single-node"), "quantity exchanged")


def test_what_is_no_statement_is_left_out():
    # A minimum with the root of a negative number, which sympy does not build.
    assert families(claims.get("feddcd/appendix-F/case-2"))


def test_numbers_are_added_to_counts_only():
    assert not changes(claims.get("feddcd/appendix-F/class"), "offset")
    assert "s_0 + 1 for s_0" in changes(claims.get("fedadmm/eq-21"), "offset")


def _noisy(noise):
    mu, gamma, S = ft.letters("mu gamma S")
    sgd = ft.method("sgd", lambda problem, params, state, draw: {"x": state.x}, ["gamma"], {"x": "point"})
    D, S = ft.Quantity("D", ft.distance), ft.Quantity("S", ft.heterogeneity)
    statement = ft.one_step(sgd, ft.E(D.next) <= (D + noise(gamma, mu, S)) / (1 + gamma * mu) ** 2)
    return ft.Claim("noisy/step", setting=ft.Setting(sgd, functions=ft.StronglyConvex(mu)), statement=statement)


def test_noise_is_tried_with_another_power_of_the_stepsize():
    assert "S*gamma^2 for S*gamma" in changes(_noisy(lambda gamma, mu, S: gamma * S), "factor")
    assert "S*gamma for S*gamma^2" in changes(_noisy(lambda gamma, mu, S: gamma**2 * S), "factor")


def test_noise_is_tried_without_a_divisor():
    divided = _noisy(lambda gamma, mu, S: gamma**2 * S / (1 + gamma * mu))
    assert "S*gamma^2 for S*gamma^2/(gamma*mu + 1)" in changes(divided, "factor")


def test_a_file_is_named_as_check_takes_it(capsys, tmp_path):
    assert main(["repair", str(EXAMPLES / "proximal_point.py")]) == 2
    assert "has several claims, name one: " in capsys.readouterr().err
    assert main(["repair", str(tmp_path / "missing.py")]) == 2
    assert "unknown claim" not in capsys.readouterr().err


def test_families_come_with_growing_cost():
    found = families(claims.get("fedadmm/eq-51/display"))
    assert [f.cost for f in found] == sorted(f.cost for f in found)


def test_no_change_says_nothing_of_what_it_proves():
    # What is only supported is so in the first line, and what it rests on below.
    claim = claims.get("fedadmm/eq-21")
    search = Search(Bench(claim))
    family = next(f for f in families(claim) if f.sort == "prefactor")
    change = family.change(claim, sympy.Integer(2))
    search.found.repairs.append(Repair(change, Verdict("supported", "no violation", 0.1, 134, ()), 3))
    first, *rest = repairing.report_lines(search)
    assert first.startswith("supported, which is not a proof: fedadmm/eq-21 with")
    assert any("134 instances" in line for line in rest) and any("3 further seeds" in line for line in rest)


@pytest.mark.slow
def test_a_constant_is_found_and_proved(capsys, tmp_path):
    out = tmp_path / "repair.json"
    status = main(["repair", "fedadmm/eq-45/use", "--out", str(out)])
    told = capsys.readouterr().out
    assert status == 0 and told.startswith("proved: fedadmm/eq-45/use with theta = 1/3")
    stored = json.loads(out.read_text())
    assert stored["repairs"][0]["verdict"] == "proved" and stored["complete"]
    # What a file says fell is not tried again; what it says stands is examined again.
    assert stored["tried"]["theta = 1/3"] is True
    stored["tried"]["theta = 1/3"] = False
    out.write_text(json.dumps(stored))
    assert main(["repair", "fedadmm/eq-45/use", "--out", str(out)]) == 0
    assert capsys.readouterr().out.startswith("proved: fedadmm/eq-45/use with theta = 1/3, and ")


def test_a_number_is_refined_to_the_least_that_is_proved():
    statement = ft.inequality(x * y <= (x**2 + y**2) / 3)
    claim = ft.Claim("means/product", setting=ft.Setting(letters=(x, y)), statement=statement)
    search = Search(Bench(claim))
    search.agenda = [f for f in families(claim) if f.sort == "constant" and f.amounts[0] > 1]
    found = search.run()
    assert (found.proven.word, found.proven.change.text) == ("proved", "1/2 for 1/3")
    # No smaller number was left standing.
    assert all(not stands for text, stands in search.known.items() if text.startswith(("2/5", "3/7")))


def test_of_a_family_that_is_shown_the_one_that_asserts_most_is_first():
    statement = ft.inequality(x * y <= (x**2 + y**2) / 3)
    claim = ft.Claim("means/product", setting=ft.Setting(letters=(x, y)), statement=statement)
    of = next(f for f in families(claim) if f.sort == "prefactor")
    other = next(f for f in families(claim) if f.sort == "term")
    shown = Verdict("proved", "", None, 0, ())
    twice, less, odd, open_ = (of.change(claim, sympy.Rational(*a)) for a in ((2,), (3, 2), (29, 20), (4, 3)))
    assert twice.cost < less.cost and odd.remark and not less.remark
    repairs = [Repair(c, shown) for c in (twice, less, odd, replace(other.change(claim, other.amounts[0]), cost=9.0))]
    found = Found([*repairs, Repair(open_, shown._replace(word="supported"))])
    assert found.proven is repairs[0] and found.first is repairs[1]
    # A member that reads unnaturally is first only if all do, and what is not shown only if nothing is.
    assert Found(repairs[2:3]).first is repairs[2] and Found(found.repairs[4:]).first is found.repairs[4]
    assert Found().first is None


@pytest.mark.parametrize(
    ("before", "now", "unusual"),
    [
        (100, 200, True),
        (100, 99, False),
        (2, 3, True),
        (3, 2, False),
        (1, 2, False),
        (4, 3, False),
        (3, sympy.Rational(3, 2), True),
        (1, sympy.S.Half, False),
        (-2, -4, True),
        (-3, -2, False),
    ],
)
def test_powers_of_sums_that_read_as_no_theorem_does(before, now, unusual):
    (k,) = (ft.letters("k"),)
    of = (ft.inequality(x <= (1 - 2 / (k + 1)) ** power * y) for power in (before, now))
    assert has_unusual_power(*of) == unusual
    # Of a letter they are usual.
    assert not has_unusual_power(*(ft.inequality(x <= y**power) for power in (2, 6)))


def test_a_repair_with_an_unusual_power_comes_last_and_says_so():
    statement = ft.inequality(x * y <= x * (1 + y) ** 2 / 3)
    claim = ft.Claim("powers/sum", setting=ft.Setting(letters=(x, y)), statement=statement)
    made = [f.change(claim, f.amounts[0]) for f in families(claim) if f.sort == "exponent"]
    by_text = {change.text: change for change in made if change is not None}
    assert by_text["(y + 1)^3 for (y + 1)^2"].remark == "an unusual exponent"
    assert not by_text["y + 1 for (y + 1)^2"].remark
    assert by_text["(y + 1)^3 for (y + 1)^2"].cost > by_text["y + 1 for (y + 1)^2"].cost + 2


@pytest.mark.slow
def test_a_number_is_lessened_by_a_letter():
    claim = claims.get("feddcd/appendix-E/chain/oracles")
    search = Search(Bench(claim))
    search.agenda = [f for f in families(claim) if f.sort == "constant" and f.unit == sympy.Rational(5, 3)]
    told = {r.change.text: r.word for r in search.run().repairs}
    assert told["3 - kappa for 5/3"] == "proved" and "3 - v for 5/3" not in told


def test_a_number_that_is_shown_has_one_with_a_name_below_it(monkeypatch):
    # What the searches and checks of FedDCD's (10) say, where 4/e is the least: below that a search falls only if it is
    # long, and only 2 is shown.
    claim = claims.get("feddcd/theorem-6.1/eq-10")
    monkeypatch.setattr(Bench, "fails_at_once", lambda bench, changed: False)
    monkeypatch.setattr(
        Bench, "search", lambda bench, changed, *more: _searched(changed.statement.constant > sympy.Rational(29, 20))
    )
    monkeypatch.setattr(Bench, "check", lambda bench, changed: Verdict(_word(changed), "", None, 100, ()))
    search = Search(Bench(claim))
    search.agenda = [f for f in families(claim) if f.sort == "prefactor"]
    found = search.run()
    assert found.proven.change.text == "the right side times 2"
    assert [(r.word, r.change.text) for r in found.repairs[1:]] == [("supported", "the right side times 4*exp(-1)")]


def test_a_number_that_is_only_supported_is_refined_at_once(monkeypatch):
    # As above, but nothing is shown, and a check refutes what a short search leaves standing below 4/e.
    claim, checked = claims.get("feddcd/theorem-6.1/eq-10"), []

    def check(bench, changed):
        checked.append(changed.statement.constant)
        return Verdict("supported" if checked[-1] >= 4 / sympy.E else "refuted", "", None, 100, ())

    monkeypatch.setattr(Bench, "fails_at_once", lambda bench, changed: False)
    monkeypatch.setattr(
        Bench, "search", lambda bench, changed, *more: _searched(changed.statement.constant > sympy.Rational(29, 20))
    )
    monkeypatch.setattr(Bench, "check", check)
    search = Search(Bench(claim))
    search.agenda = [f for f in families(claim) if f.sort == "prefactor"]
    told = [r.change.text for r in search.run().repairs]
    assert told[:2] == ["the right side times 2", "the right side times 4*exp(-1)"]
    assert checked[0] == 2 and max(checked[1:-1]) < 4 / sympy.E and checked.count(4 / sympy.E) == 1


def _searched(stands):
    return Searched(() if stands else (None,), 100, 1.0, "")


def _word(claim):
    constant = claim.statement.constant
    return "certified" if constant >= 2 else "supported" if constant >= 4 / sympy.E else "refuted"


def test_what_is_shown_in_another_setting_is_told_so():
    claim = claims.get("fedadmm/eq-51/display")
    made = (f.change(claim, sympy.S.One) for f in families(claim) if f.sort == "sign")
    change = next(c for c in made if c is not None and c.text == "-29 for 29")
    there = replace(change, claim=next(restated(change.claim)))
    search = Search(Bench(claim))
    search.found.repairs.append(Repair(there, Verdict("proved", "12 multipliers", 0.1, 134, ())))
    first, *rest = repairing.report_lines(search)
    assert first == "proved, in another setting of the paper: fedadmm/eq-51/display with -29 for 29"
    assert f"  of {there.claim.setting.text}" in rest
    assert not any("further hypothesis" in line for line in rest)


def test_what_no_certificate_names_is_looked_at():
    # Of N clients that share one function alpha is the N-th part, and s is near 1: no multiple of alpha will do.
    claim = claims.get("feddcd/appendix-F/class")
    (alpha,) = (s for s in claim.setting.sources if str(s) == "alpha")
    for by in (4, 64):
        changed = claim.variant(left=claim.statement.left.xreplace({alpha: alpha / by}))
        assert Bench(claim).search(changed, LONG).places


def test_a_change_that_fails_where_another_failed_is_not_searched(monkeypatch):
    claim = claims.get("fedadmm/eq-21")
    bench = Bench(claim)
    assert bench.search(claim).places and bench.pool
    monkeypatch.setattr(bench, "search", None)
    family = next(f for f in families(claim) if f.sort == "offset")
    assert not Search(bench)._stands(family.change(claim, sympy.Integer(-1)))


def test_bad_input_is_one_sentence(capsys, tmp_path):
    assert main(["repair", "fedadmm/eq-53/repaired"]) == 2
    assert "only a claim that is refuted can be repaired" in capsys.readouterr().err
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert main(["repair", "fedadmm/eq-21", "--out", str(other)]) == 2
    assert "holds no repair of fedadmm/eq-21" in capsys.readouterr().err


def test_an_option_of_the_method_is_as_other_claims_have_it():
    claim = claims.get("feddcd/theorem-C.1")
    # What most claims of the paper have first; and then with exact estimates at first.
    words = ["the method with idle = refresh", "the method with idle = keep"]
    assert changes(claim, "option") == words
    found = {f.make(f.amounts[0])[0]: f for f in families(claim) if f.sort in ("start", "option")}
    both = found[f"{words[0]}, slope_i starting from grad f_i(x_i)"]
    assert COSTS["start"] < both.cost < COSTS["start"] + COSTS["option"]
    changed = both.change(claim, both.amounts[0]).claim
    _, instance = next(meeting(changed, changed.instances.recipes(np.random.default_rng(0))))
    assert instance.params.idle == "refresh"
    state = changed.statement.algorithm.init(instance.problem, instance.params)
    assert (state.slope == instance.problem.f.gradient(state.x)).all()
    # An option alone changes no line of the statement, and is tried.
    alone = found[words[0]].change(claim, sympy.S.One)
    assert alone.claim.changes == ("setting",) and Search(Bench(claim))._new(alone)
    # A method that has no such option fails at every instance; and most methods have none.
    lemma = claims.get("feddcd/lemma-C.2")
    reset = next(f for f in families(lemma) if f.make(f.amounts[0])[0] == "the method with idle = reset")
    assert "must be 'keep' or 'refresh'" in Bench(lemma).search(reset.change(lemma, sympy.S.One).claim, 2).why
    assert not changes(claims.get("fedadmm/eq-21"), "option")


def test_a_run_begins_elsewhere():
    claim = claims.get("feddcd/lemma-C.2")
    begun = {f.make(f.amounts[0])[0]: f.change(claim, f.amounts[0]) for f in families(claim) if f.sort == "start"}
    # From grad f_i(w_i) for y_i runs would leave the sums that are 0.
    alone = {text for text in begun if not text.startswith("the method with")}
    assert alone == {"w_i starting from grad f_i^*(y_i)", "w_i starting from grad f_i(y_i)"}
    changed = begun["w_i starting from grad f_i^*(y_i)"].claim
    assert changed.setting.algorithm is changed.statement.algorithm
    assert begun["w_i starting from grad f_i^*(y_i)"].text in changed.setting.text
    _, instance = next(meeting(changed, changed.instances.recipes(np.random.default_rng(0))))
    state = changed.statement.algorithm.init(instance.problem, instance.params)
    assert (state.w == instance.problem.f.conjugate_gradient(state.y)).all()
    assert not list(restated(changed))
    # At the fixed point there is nothing to state.
    there = replace(claim.statement.algorithm, init=claim.statement.algorithm.fixed_point)
    assert starts._is_start(changed.statement.algorithm, [instance]) and not starts._is_start(there, [instance])
    said = repairing._repair(
        claim, Repair(begun["w_i starting from grad f_i^*(y_i)"], Verdict("proved", "", None, 0, ()))
    )
    assert said[0].startswith("proved: feddcd/lemma-C.2 with w_i starting from") and said[-2].endswith(
        "with w_i starting from grad f_i^*(y_i)"
    )
    # Where nothing says how a run begins there is nothing to change.
    assert not changes(claims.get("fedadmm/eq-51/display"), "start")


@pytest.mark.slow
def test_what_begins_elsewhere_is_proved():
    claim = claims.get("feddcd/lemma-C.2")
    made = {c.text: c.claim for f in families(claim) if f.sort == "start" and (c := f.change(claim, f.amounts[0]))}
    assert identities.prove(made["w_i starting from grad f_i^*(y_i)"]) is not None and identities.prove(claim) is None


def test_no_contraction_is_made_an_expansion():
    claim = claims.get("feddcd/lemma-B.8/rate")
    told = [c.text for f in families(claim) if (c := f.change(claim, f.amounts[0])) is not None]
    assert "mu_min/L_max for -mu_min/L_max" not in told
    # What is printed with the wrong sign of a constant is no rate.
    assert "q*x^2/(q + 1)^2 for -q*x^2/(q + 1)^2" in changes(claims.get("fedopt/logistic-loss"), "sign")


def test_factors_of_the_paper_are_multiplied():
    claim = claims.get("feddcd/lemma-B.8/rate")
    assert "-mu_min*(tau - 1)/(L_max*(n - 1)) for -mu_min/L_max" in changes(claim, "letter")


def test_a_factor_is_not_replaced_in_a_second_change(monkeypatch):
    claim = claims.get("fedadmm/example-5.1")
    search, tried = Search(Bench(claim)), []
    search.agenda = [f for f in families(claim) if f.sort == "prefactor"]
    monkeypatch.setattr(Bench, "share", lambda self, changed: 1.0)
    monkeypatch.setattr(Search, "_stands", lambda self, change: tried.append(change))
    search._pairs(search.agenda)
    assert tried and not any(change.text.endswith(" for 2") for change in tried)


def test_a_right_side_that_grows_with_the_clients_costs_more_than_a_hypothesis():
    claim = claims.get("feddcd/eq-29")
    costs = {f.make(f.amounts[0])[0]: f.cost for f in families(claim) if f.sort == "letter"}
    assert costs["the right side times N"] > max(COSTS["hypothesis"], costs["the right side times 1/N"])


def test_a_hypothesis_that_leaves_only_its_boundary_is_no_repair():
    claim = claims.get("fedadmm/algorithm-2")
    made = {f.make(f.amounts[0])[0]: f for f in families(claim) if "hypothesis" in f.sort}

    def leaves_little(text):
        return collapsed(made[text].change(claim, made[text].amounts[0]).claim, claim)

    # Of functions with mu <= L.
    assert leaves_little("required: L <= mu") and not leaves_little("required: mu <= L")
    # A count may be 1, and no smaller.
    assert not leaves_little("required: k_0 <= 1") and made["required: k_0 <= 1"].amounts == (1,)
    # Of one client little would be left, by whatever name.
    assert "required: n <= 1" not in made
    several = claims.get("fedadmm/eq-57")
    alone = {f.make(f.amounts[0])[0]: f for f in families(several) if f.sort == "hypothesis"}["required: m <= 1"]
    assert collapsed(alone.change(several, alone.amounts[0]).claim, several)


def test_the_number_e_is_no_expectation():
    assert expression(3 * sympy.E / 4) == "3*exp(1)/4" and expression(4 / sympy.E) == "4*exp(-1)"


def test_pairs_begin_with_one_change_of_each_sort_that_does_not_hold_by_itself(monkeypatch):
    claim = claims.get("feddcd/lemma-B.8/rate")
    search, tried = Search(Bench(claim)), []
    search.agenda = [
        f for f in families(claim) if f.sort in ("left out", "maximum", "grouping", "reversed", "hypothesis")
    ]
    made = [c for f in search.agenda if (c := f.change(claim, f.amounts[0])) is not None]
    held = next(c for c in made if c.text == "1 for 1 - mu_min/L_max")
    search.found.repairs.append(Repair(held, Verdict("proved", "", None, 0, ())))
    monkeypatch.setattr(Bench, "share", lambda self, changed: 1.0)
    monkeypatch.setattr(Search, "_stands", lambda self, change: tried.append(change))
    search._pairs(search.agenda)
    # A further hypothesis comes second.
    assert "grouping" in {change.sort.split(", ")[0] for change in tried} <= {"left out", "grouping", "maximum"}
    assert not any(held.text in change.text.split(", and ") for change in tried)
    assert any(change.sort == "grouping, letter" for change in tried)
    assert not any("reversed" in change.sort for change in tried)
    # 3/2 for 1/2, and 3/4 for 3/2, is one change.
    parts = [change.text.split(", and ") for change in tried]
    assert not any(second.endswith(" for " + first.split(" for ")[0]) for first, second in parts)


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "holds"), [(-1, True), (1, False)])
def test_what_runs_say_of_an_iteration_is_proved_of_any(sign, holds):
    printed = claims.get("fedadmm/lemma-C.2/b/signs")
    along = printed.statement.quantities[1].expression
    said = printed.variant(right=printed.statement.right.subs(along, sign * along), also=())
    (there,) = restated(said)
    assert (str(check(there).verdict) == "proved") is holds


def test_quantities_of_a_claim_are_those_that_it_speaks_of():
    # The printed claim holds the quantities of the one that repairs it, which are to be found.
    claim = claims.get("fedadmm/eq-67")
    assert any("2s_0-2" in str(q.expression) for q in claim.statement.quantities)
    assert not [text for text in changes(claim, "quantity exchanged") if "2s_0-2" in text]


def test_only_the_lines_that_a_change_alters_are_searched():
    claim = claims.get("fedadmm/eq-62")
    (doubled,) = (
        c for f in families(claim) if (c := f.change(claim, f.amounts[0])) is not None and c.text == "2*s_0 - 2 for s_0"
    )
    (line,) = altered(doubled.claim, claim).statement.comparisons
    assert line == doubled.claim.statement.comparisons[-1]
    # Of other hypotheses all lines say something else.
    narrower = claim.variant(requires=claim.requires[:-1])
    assert altered(narrower, claim) is narrower


def test_no_rate_is_one_or_above():
    # 1 - a/(b (c + a/b)) with the sign of the sum changed: the factor is 1 + a/(b (c + a/b)) then.
    claim = claims.get("feddcd/theorem-D.1")
    assert changes(claim, "sign")
    assert not [text for text in changes(claim, "sign") if text.startswith("-(n - 1)/(tau - 1) - ")]
    # The larger of 1 and what is negative.
    assert not [text for text in changes(claim, "maximum") if text.startswith("Max(1, -")]


def _half_the_noise():
    claim = claims.get("baseline/dcgd/one-step")
    noise = next(
        part for part in claim.statement.right.args if part.coeff(sympy.Symbol("V")) == 0 and "omega" in str(part)
    )
    return claim.variant(right=claim.statement.right - noise / 2)


def test_more_noise_is_tried_before_what_loses_the_contraction():
    claim = _half_the_noise()
    (noise,) = (f for f in families(claim) if f.sort == "noise")
    twice = noise.change(claim, sympy.Integer(2))
    assert twice.text.startswith("2*gamma^2*") and not twice.remark
    assert twice.claim.statement.right == claims.get("baseline/dcgd/one-step").statement.right
    whole = next(f for f in families(claim) if f.sort == "prefactor").change(claim, sympy.Rational(4, 3))
    tightened = next(f for f in families(claim) if f.sort == "hypothesis tightened").change(claim, sympy.S.Half)
    assert whole.remark == "no contraction any more" and twice.cost < tightened.cost < whole.cost
    # Three halves hold too: what is told first is the simpler number.
    assert twice.cost < noise.change(claim, sympy.Rational(3, 2)).cost


def test_a_constant_before_a_power_keeps_the_contraction():
    claim = claims.get("feddcd/theorem-6.1/eq-10")
    assert families(claim) and not [f for f in families(claim) if f.sort == "noise"]
    (twice,) = (f.change(claim, sympy.Integer(2)) for f in families(claim) if f.sort == "prefactor")
    assert twice.claim.statement.constant == 2 and not twice.remark


def test_a_power_less_is_tried_before_a_smaller_rate():
    mu, L, gamma = ft.letters("mu L gamma")
    D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
    gd = ft.method("gd", lambda problem, params, state, draw: state, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L))
    cubic = ft.one_step(gd, ft.E(D_next) <= (1 - gamma * mu) ** 3 * D)
    claim = ft.Claim("gd/rate", setting=setting, statement=cubic, requires=(gamma * L <= 1,))
    found = [f.change(claim, a) for f in families(claim) if f.sort in ("exponent", "term") for a in f.amounts[:1]]
    cost = {change.claim.statement.right / D.expression: change.cost for change in found if change is not None}
    stronger, weaker = (1 - gamma * mu) ** 2, (1 - gamma * mu / 2) ** 3
    assert cost[stronger] < cost[weaker]
    # It is the stronger one wherever the printed rate is one.
    assert all(stronger.subs(gamma * mu, s) <= weaker.subs(gamma * mu, s) for s in map(sympy.Rational, (0, "1/3", 1)))
    # Nor does the half of a number in the rate come before it.
    double = ft.one_step(gd, ft.E(D_next) <= (1 - 2 * gamma * mu) ** 3 * D)
    twice = ft.Claim("gd/twice", setting=setting, statement=double, requires=(2 * gamma * L <= 1,))
    changes = [c for f in families(twice) for a in f.amounts[:2] if (c := f.change(twice, a)) is not None]

    def least(rate):
        return min(
            c.cost for c in changes if "right" in c.claim.changes and c.claim.statement.right == rate * D.expression
        )

    assert least((1 - 2 * gamma * mu) ** 2) < least((1 - gamma * mu) ** 3)


@pytest.mark.parametrize(
    ("id", "by", "lost"),
    [
        ("locodl/theorem-3.1/one-step", "2", True),
        ("locodl/theorem-3.1/one-step", "1/2", False),
        ("baseline/diana/one-step", "8/7", True),
        ("baseline/diana/one-step", "1", False),
        ("baseline/ef21/one-step", "3", True),
    ],
)
def test_what_is_no_contraction_any_more(id, by, lost):
    claim = claims.get(id)
    assert no_longer_contracts(claim, claim.variant(right=claim.statement.right * sympy.Rational(by))) is lost


@pytest.mark.parametrize(
    ("unit", "amount", "said"),
    [
        ("1", "2", ""),
        ("1", "3/2", ""),
        ("1", "4/3", ""),
        ("1", "2/3", ""),
        ("1", "1/64", ""),
        ("5/3", "2", ""),
        ("3/7", "3", ""),
        ("1", "7/5", "an unusual constant"),
        ("1", "11/12", "an unusual constant"),
        ("2", "7*exp(-1)/2", "an unusual constant"),
        ("1", "sqrt(2)", "an unusual constant"),
        ("5/3", "9/5 - 3*kappa/5", ""),
    ],
)
def test_numbers_that_nobody_prints_come_last(unit, amount, said):
    cost, remark = _unusual(sympy.Rational(unit), sympy.sympify(amount))
    assert remark == said and 0 <= cost < 0.2


def test_what_comes_last_says_why():
    claim = _half_the_noise()
    search = Search(Bench(claim))
    for sort, amount in (("prefactor", "4/3"), ("noise", "2"), ("noise", "2*sqrt(3)/3")):
        change = next(f for f in families(claim) if f.sort == sort).change(claim, sympy.sympify(amount))
        search.found.repairs.append(Repair(change, Verdict("proved", "a proof", None, 0, ())))
    told = repairing.report_lines(search)
    assert told[0].startswith("proved: baseline/dcgd/one-step* with 2*gamma^2*")
    also = [line for line in told if line.startswith("also proved: ")]
    # Each comes with its whole statement.
    assert all("<=" in told[told.index(line) + 1] for line in also)
    assert sorted(line.rpartition("(")[2] for line in also) == ["an unusual constant)", "no contraction any more)"]
    # Data have it too.
    assert {one["remark"] for one in repairing._repairs(search)} == {
        "",
        "an unusual constant",
        "no contraction any more",
    }


def test_the_noise_of_a_bound_does_not_shrink():
    x, sigma = sympy.symbols("x sigma", positive=True)
    claim = claims.get("feddcd/theorem-4.1/eq-3")
    start = claim.statement.initial
    shrinks, stays = start * (1 - x) ** T, x * sigma**2 / 3
    letters = replace(claim.statement, override=shrinks + stays)
    assert noises(letters) == [stays]
    # Where all of it stays, or all of it shrinks, there is none.
    assert noises(replace(letters, override=shrinks)) == noises(replace(letters, override=start + stays)) == []


def test_powers_of_errors_and_noise_come_before_hypotheses_that_mix_units():
    (claim, _) = own.load(EXAMPLES / "gallery" / "biased_gradient.py")
    letters = {str(s): s for s in claim.statement.right.free_symbols}
    gamma, m, zeta, G = (letters[name] for name in ("gamma", "m", "zeta", "G"))
    printed = claim.variant(right=claim.statement.right - gamma * zeta**2 / 2 + gamma * zeta / 2 + gamma * m * G / 2)
    found = [change for f in families(printed) if (change := f.change(printed, f.amounts[0])) is not None]
    costs = {change.text: change.cost for change in found}
    assert costs["zeta^2 for zeta"] < min(change.cost for change in found if "hypothesis" in change.sort)
    # A relative error has no power of its own here, a curvature no square.
    assert not any(text.startswith(("L^2", "gamma^2 for gamma")) for text in costs)
    assert costs["required: zeta <= L"] > max(c.cost for c in found if c.sort == "letter" and not c.remark)
    printed = claim.variant(right=claim.statement.right.subs(m, m**2))
    assert {"m for m^2", "m^4 for m^2"} <= set(changes(printed, "power"))


def test_units_are_those_that_formulas_imply():
    claim = own.load(EXAMPLES / "gallery" / "biased_gradient.py")[0]
    letters = {str(s): s for s in claim.statement.right.free_symbols}
    units = Units(claim)
    (L,) = claim.setting.functions.letters
    assert units.is_number(letters["m"]) and units.is_number(letters["gamma"] * L)
    assert not units.is_number(L) and not units.alike(letters["zeta"], L) and not units.alike(letters["m"], L)
    # Where what is added contradicts itself, all are numbers.
    mixed = Units(claim.variant(right=claim.statement.right + L + L**2))
    assert mixed.is_number(L)
