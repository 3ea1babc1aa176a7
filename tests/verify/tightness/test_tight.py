"""How tight claims are: known worst cases, planted errors, what is unknown is said, and the command with its figure."""

from __future__ import annotations

from fractions import Fraction as Fr

import pytest
import sympy

from fedtheory import claims
from verify.base import own
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold
from verify.base.verdict import Verdict
from verify.cli import main
from verify.pep import posing
from verify.report import tight
from verify.tightness import emptiness, grids, sweep
from verify.tightness.comparison import Point, Subject

FEDDCD = claims.get("feddcd/theorem-4.1/eq-3")
LOCODL = claims.get("locodl/theorem-3.1/one-step")


def at(**letters):
    return {name: Fr(value) for name, value in letters.items()}


def only(points, subject=Subject.FACTOR):
    (point,) = (p for p in points if p.subject == subject)
    return point


def point(lower, upper, printed="1/2", subject=Subject.FACTOR, verdict=Verdict.CERTIFIED, note="", **letters):
    ends = (None if end is None else Fr(end) for end in (lower, upper))
    return Point(subject, tuple(at(**(letters or {"n": 2})).items()), Fr(printed), *ends, verdict, "", note)


# The numbers


@pytest.mark.parametrize("kappa", [2, 10])
def test_feddcd_with_all_clients_has_the_rate_of_gradient_descent(kappa):
    found = only(sweep.measure(FEDDCD, at(kappa=kappa, N=2, tau=2)))
    exact = (1 - Fr(1, kappa)) ** 2
    assert found.verdict is Verdict.CERTIFIED and found.printed == 1 - Fr(1, kappa)
    assert found.lower <= exact <= found.upper and found.upper - found.lower < Fr(1, 10**6)
    # 1 - (1 - 1/kappa)^2 is 2 - 1/kappa times 1/kappa.
    least, most = found.slack
    assert least <= 2 - 1 / kappa <= most and most - least < 1e-4
    assert found.iterations[0] <= 2 + 1e-12 and found.iterations[1] == pytest.approx(2, abs=1e-4)


def test_locodl_without_compression_is_attained():
    found = only(sweep.measure(LOCODL, at(kappa=10, omega=0, n=2, gamma=1)))
    assert found.verdict is Verdict.CERTIFIED and found.upper == found.printed == Fr(81, 100)
    assert found.slack == pytest.approx((1, 1), abs=1e-6)


def test_the_rate_of_locodl_with_compression_is_nearly_the_best():
    found = only(sweep.measure(LOCODL, at(kappa=2, omega=1, n=2, gamma=1)))
    assert found.verdict is Verdict.CERTIFIED
    assert 1.05 < found.slack[0] <= found.slack[1] < 1.06


def test_comparisons_with_one_quantity_are_ratios_and_those_of_two_sides_are_two():
    (found,) = sweep.measure(claims.get("locodl/eq-18"), at(n=3))
    assert (found.subject, found.part) == (Subject.RATIO, "") and found.slack == pytest.approx((1, 1), abs=1e-6)
    below, above = sweep.measure(claims.get("feddcd/lemma-B.6/weighted"), at(kappa=2, n=2, tau=2, spread=1))
    assert (below.part, above.part) == ("lower bound", "upper bound")
    assert {p.verdict for p in (below, above)} == {Verdict.CERTIFIED}


@pytest.mark.parametrize("id", ["locodl/proof/dual-step", "locodl/proof/primal-step"])
def test_differences_are_compared_by_the_decrease_they_guarantee(id):
    (found,) = sweep.measure(claims.get(id), at(kappa=10, omega=1, n=2, gamma=1))
    assert found.subject == Subject.DECREASE and found.verdict is Verdict.CERTIFIED
    # The proof of Theorem 3.1 loses nothing here.
    assert found.slack == pytest.approx((1, 1), abs=1e-5)


def test_a_loose_decrease_is_seen_as_such():
    claim = claims.get("feddcd/lemma-B.8/descent")
    right = claim.statement.right
    named = {str(q.expression): q.expression for q in claim.statement.quantities}
    norm = named["|G grad h|_L^2"]
    half = claim.variant(right=right - right.coeff(norm) * norm / 2)
    letters = at(kappa=2, n=2, tau=2, spread=1)
    for tested, slack in ((claim, 1), (half, 2)):
        (found,) = sweep.measure(tested, letters)
        assert found.subject == Subject.DECREASE and found.verdict is Verdict.CERTIFIED
        assert found.slack == pytest.approx((slack, slack), abs=1e-5)


def test_the_constant_of_a_bound_is_compared_too():
    points = sweep.measure(claims.get("feddcd/theorem-4.1/eq-4"), at(kappa=5, N=3, tau=2))
    found = only(points, Subject.CONSTANT)
    assert found.verdict is Verdict.CERTIFIED and found.printed == Fr(1, 3)
    assert found.slack == pytest.approx((1, 1), abs=1e-5)
    assert only(points).verdict is Verdict.CERTIFIED


def test_a_statement_that_speaks_of_a_maximum_is_compared_through_what_majorises_it():
    found = only(sweep.measure(claims.get("feddcd/theorem-4.1/eq-5"), at(kappa=5, N=2, tau=2)), Subject.CONSTANT)
    assert found.verdict is Verdict.CERTIFIED and found.upper == found.lower == 1


# Planted errors and false statements


@pytest.mark.parametrize(
    ("claim", "letters"),
    [
        (LOCODL, at(kappa=2, omega=1, n=2, gamma=1)),
        (LOCODL, at(kappa=10, omega=0, n=2, gamma=1)),
        (claims.get("feddcd/lemma-B.8/rate/repaired"), at(kappa=10, n=3, tau=2, spread=1)),
        (claims.get("baseline/scaffnew/one-step"), at(kappa=2, p=1, n=2)),
    ],
    ids=["locodl-compressed", "locodl", "rbcd", "scaffnew"],
)
def test_a_rate_ten_percent_faster_than_the_worst_case_is_exceeded(claim, letters):
    true = only(sweep.measure(claim, letters))
    rate = sympy.Rational(str(1 - true.lower)) * sympy.Rational(11, 10)
    found = only(sweep.measure(claim.variant(factor=1 - rate), letters))
    assert found.verdict is Verdict.REFUTED and found.lower > found.printed
    assert float(found.slack[1]) == pytest.approx(1 / 1.1, abs=1e-4)
    assert "the smallest factor that holds lies in [" in sweep.sentence([found])
    assert sweep.sentence([found]).startswith("what is stated does not hold at every point of the grid")


def test_a_printed_factor_ten_percent_too_small_is_exceeded_where_the_printed_one_is_attained():
    letters = at(omega=0, n=2, gamma=1)
    wrong = LOCODL.variant(factor=LOCODL.statement.factor * sympy.Rational(9, 10))
    found = sweep.measure(wrong, letters)
    assert {p.verdict for p in found} == {Verdict.REFUTED}
    assert all(p.lower <= p.printed / Fr(9, 10) <= p.upper <= p.lower + Fr(1, 10**6) for p in found)


def test_a_constant_below_one_is_exceeded():
    found = only(sweep.measure(FEDDCD.variant(constant=Fr(99, 100)), at(kappa=2, N=2, tau=2)), Subject.CONSTANT)
    assert found.verdict is Verdict.REFUTED and found.lower == found.upper == 1


@pytest.mark.parametrize("id", ["feddcd/theorem-D.1", "feddcd/theorem-6.1/eq-10"])
def test_the_accelerated_bounds_need_a_constant_above_one(id):
    letters = at(kappa=9, tau=2, **{"n" if "D.1" in id else "N": 2})
    found = only(sweep.measure(claims.get(id), letters), Subject.CONSTANT)
    # README: 64/729 after a round where (3/4)/9 is allowed.
    assert found.verdict is Verdict.REFUTED and found.lower >= Fr(64, 729) * 12 - Fr(1, 10**9)
    assert found.lower <= found.upper


@pytest.mark.parametrize("id", ["feddcd/theorem-D.1/repaired", "feddcd/theorem-6.1/eq-10/repaired"])
def test_the_repaired_accelerated_bounds_have_room_in_their_constant(id):
    letters = at(kappa=9, tau=2, **{"n" if "D.1" in id else "N": 2})
    found = only(sweep.measure(claims.get(id), letters), Subject.CONSTANT)
    assert found.verdict is Verdict.CERTIFIED
    assert Fr(105, 100) < found.lower <= found.upper <= found.printed < 2


def test_a_statement_that_no_multiple_saves_is_said_to_be_so():
    found = sweep.measure(claims.get("feddcd/lemma-B.8/rate"), at(kappa=2, n=2))
    assert {p.verdict for p in found} == {Verdict.REFUTED} and {p.lower for p in found} == {None}
    assert "by more than any multiple" in sweep.sentence(found)


def test_a_setting_that_is_not_posed_is_searched(monkeypatch):
    def unknown(setting, given):
        raise ValueError("no worst case over a class is known")

    monkeypatch.setattr(posing, "pose", unknown)
    letters = at(kappa=2, omega=0, n=2, gamma=1)
    found = only(sweep.measure(LOCODL, letters))
    assert found.verdict is Verdict.OPEN and found.upper is None and "searched only" in found.note
    # The worst quadratic attains the factor without compression.
    assert float(found.lower) == pytest.approx(float(found.printed), rel=1e-6)
    wrong = LOCODL.variant(factor=LOCODL.statement.factor * sympy.Rational(9, 10))
    assert only(sweep.measure(wrong, letters)).verdict is Verdict.REFUTED


# Sentences


def test_within_is_of_the_rate_and_at_the_worst_point():
    points = [point("0.46", "0.46", kappa=2), point("0.45", "0.451", kappa=10)]
    text = sweep.sentence(points)
    assert "the stated rate 1 - rho is within 10 % of the best possible at every point" in text
    assert "worst at kappa=10" in text and "at most 1.16 times the iterations needed" in text


def test_the_share_is_rounded_up_and_never_said_to_be_nothing():
    shares = {"0": "0.01 %", "8/100": "8 %", "0.123411": "12.35 %", "3/2": "150 %", "12": "1200 %"}
    assert {share: sweep.percent(Fr(share)) for share in shares} == shares
    assert sweep.rounded(Fr(2, 3), up=False) == "0.666666" and sweep.rounded(Fr(2, 3), up=True) == "0.666667"


def test_unknown_points_are_counted_and_missing_ends_told():
    points = [
        point("0.5", "0.5"),
        point(None, "0.5"),
        point(None, None, verdict=Verdict.OPEN, note="the solver says no"),
    ]
    text = sweep.sentence(points)
    assert "at 2 of 3 points" in text and "leaving out 1 where nothing is known from below" in text
    assert "nothing is proved from above at 1 of 3 points of the grid (the solver says no)" in text
    assert tight.words(points)[0] == "factor: 3 points, 2 certified, 1 open"
    assert "nothing known from below" in sweep.sentence([point(None, "0.5")])


def test_factors_of_zero_and_one_have_no_iterations():
    assert point("0", "0", printed="0").iterations == (None, None)
    assert point("1", "1", printed="1").slack == (None, None)
    assert point("0", "0", printed="0").slack == (1, 1)


# Grids


SWEPT = {c.setting: c.id for c in claims.all() if c.setting.drawing.sweep}


def test_there_are_grids():
    assert len(SWEPT) >= 8


@pytest.mark.parametrize("setting", SWEPT, ids=SWEPT.values())
def test_every_grid_has_instances_of_its_setting(setting):
    of_it = [c for c in claims.all() if c.setting is setting and c.kind in ("one-step", "bound", "inequality")]
    for claim in of_it:
        found = grids.choices(claim, {})
        assert len(found) >= 5
        # The instances have the letters that the grid says, wherever the paper has them too.
        instance = claim.instances.build(found[-1].recipes[-1], True)
        assert hypotheses_hold(Case.of(claim, instance))
        values = {str(s): v for s, v in claim.setting.bind(instance.problem, instance.params).items()}
        letters = dict(found[-1].letters)
        assert set(setting.drawing.sweep) <= set(letters)
        assert all(values[name] == value for name, value in letters.items() if name in values)


def test_kappa_is_the_condition_number():
    for claim, high, low in ((LOCODL, "L", "mu"), (FEDDCD, "beta", "alpha")):
        choice = grids.choices(claim, {})[-1]
        instance = claim.instances.build(choice.recipes[0], True)
        values = {str(s): v for s, v in claim.setting.bind(instance.problem, instance.params).items()}
        assert values[high] / values[low] == dict(choice.letters)["kappa"]


def test_a_setting_without_a_grid_gives_its_own_choices():
    claim = claims.get("baseline/5gcs-cc/one-step")
    found = grids.choices(claim, {})
    assert 5 <= len({c.letters for c in found}) == len(found) <= 12
    n = dict(found[0].letters)["n"]
    assert {dict(c.letters)["n"] for c in grids.choices(claim, {"n": n})} == {n}


def test_letters_are_exact():
    assert sweep.letters(["p=0.1", "kappa=1e4", "gamma=20/11"]) == at(p="1/10", kappa=10_000, gamma="20/11")
    for far in ("1e101", "-1e101", "1e-101"):
        with pytest.raises(ValueError, match="x must be 0 or of a size between"):
            sweep.letters([f"x={far}"])


# The command


def run(capsys, *argv):
    status = main(["tight", *argv])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_command_prints_a_table_a_sentence_and_draws(tmp_path, capsys):
    out = tmp_path / "a.png"
    argv = (LOCODL.id, "--at", "omega=1", "n=2", "gamma=1", "--out", str(out), "--jobs", "1")
    status, text, log = run(capsys, *argv)
    assert status == 0 and out.read_bytes().startswith(b"\x89PNG")
    lines = [line.strip() for line in text.splitlines()]
    assert lines[1].split()[:5] == ["kappa", "omega", "n", "gamma", "printed"]
    assert len([line for line in lines if line.endswith("certified") and line[0].isdigit()]) == 5
    assert lines[-3:-1] == [str(out), "factor: 5 points, 5 certified"]
    assert lines[-1].startswith("the stated rate 1 - rho is within 5.") and "kappa=2" in lines[-1]
    assert log.splitlines()[0].startswith("[1/5] kappa=2, omega=1")


def test_the_number_of_jobs_changes_nothing():
    claim = claims.get("locodl/eq-18")
    one, two = (sweep.measure(claim, jobs=jobs) for jobs in (1, 2))
    assert one == two and [dict(p.letters)["n"] for p in one] == [1, 2, 3, 5, 8]


@pytest.mark.parametrize(
    ("id", "letters"),
    [
        ("feddcd/theorem-D.1", "n=2 kappa=9"),
        ("feddcd/lemma-B.8/rate", "n=2"),
        ("baseline/5gcs-cc/one-step", "m=1"),
        ("locodl/eq-18", "n=2"),
    ],
)
def test_everything_can_be_drawn(tmp_path, capsys, id, letters):
    out = tmp_path / "a.png"
    status, text, _ = run(capsys, id, "--at", *letters.split(), "--out", str(out), "--jobs", "1")
    assert status == 0 and out.stat().st_size > 10_000
    repaired = [c.id for c in claims.all() if c.repairs == id]
    assert all(f"repaired: {other}" in text for other in repaired)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("locodl/eq-13", "not a statement of kind identity"),
        ("locodl/theorem-3.1/tau", "it involves constants only"),
        ("locodl/eq-99", "unknown claim"),
        ("locodl/eq-18 --at q=1", "has no letter 'q': it has n"),
        ("locodl/eq-18 --at n=3/2", "n must be a positive integer"),
        ("locodl/eq-18 --at n=1.5", "n must be a positive integer"),
        ("locodl/eq-18 --at n=inf", "LETTER=NUMBER was expected"),
        ("locodl/theorem-3.1/one-step --at gamma=3", "no point of the grid meets the hypotheses"),
        ("locodl/theorem-3.1/one-step --at kappa=0.5", "kappa must be at least 1"),
        ("feddcd/theorem-D.1 --at kappa=5", "kappa must be the square of a rational"),
        ("feddcd/theorem-4.1/eq-3 --at N=2 tau=3", "2 <= tau <= N"),
        ("baseline/5gcs-cc/one-step --at q=1", "has no letter 'q'"),
        ("locodl/eq-18 --out a.pdf", "ends in .png or .svg"),
        ("locodl/eq-18 --out nowhere/a.png", "cannot write the file"),
        ("locodl/eq-18 --jobs 0", "an integer of at least 1"),
    ],
)
def test_bad_input_is_one_line_and_status_2(tmp_path, monkeypatch, capsys, argv, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *argv.split())
    assert (status, out) == (2, "")
    assert err.startswith("fedtheory: ") and err.count("\n") == 1 and message in err


SPPM = """
import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}


gd = ft.method("gd", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L))
D, F = ft.Quantity("D", ft.distance), ft.Quantity("F", ft.gap)
average = ft.bound(gd, ft.E(ft.at_average(F)) <= D.zero / (gamma * ft.T), since=1)
CLAIMS = (
    ft.Claim("own/step", setting=setting, statement=ft.contracts(gd, ft.distance, 1), requires=(gamma * L <= 1,)),
    ft.Claim("own/average", setting=setting, statement=average),
)
"""


def test_letters_of_ones_own_setting_are_fixed_though_none_is_drawn_there(tmp_path):
    file = tmp_path / "own_step.py"
    file.write_text(SPPM)
    step, average = own.load(file)
    (choice,) = grids.choices(step, at(n=2, mu="1/10", L=1, gamma="3/4"))
    assert choice.letters == (("mu", Fr(1, 10)), ("L", 1), ("gamma", Fr(3, 4)), ("n", 2))
    assert len(choice.recipes[0]["clients"]) == 2
    assert all(dict(other.letters)["n"] == 3 for other in grids.choices(step, at(n=3)))
    with pytest.raises(ValueError, match="no point of the grid meets the hypotheses"):
        grids.choices(step, at(mu=1, L=1, gamma=2))
    with pytest.raises(ValueError, match="an average, a sum or the least value over the rounds"):
        sweep.grid(average)


def test_a_changed_claim_is_measured_in_one_process():
    with pytest.raises(ValueError, match="one process only"):
        sweep.measure(LOCODL.variant(factor=sympy.Rational(1, 2)), jobs=2)


def test_sizes_beyond_reason_are_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["tight", "locodl/theorem-3.1/one-step", "--at", "n=1e12"]) == 2
    assert "n must be at most 1000, got 1000000000000" in capsys.readouterr().err


# Rates that promise nothing


def test_a_rate_that_is_empty_is_named():
    found = [
        point("1/2", "1/2", "1", mu=1, L=4),
        point("1/2", "1/2", "4/5", mu=1, L=4),
        point("0", "0", "2/3", mu=1, L=4),
    ]
    assert emptiness.words(found) == [
        "the stated factor is 1 or more at 1 of 3 points (as at mu=1, L=4): it promises nothing there"
    ]
    _, compared = emptiness.words(found, "gradient-descent")
    assert compared.startswith("the stated factor is not better than 1 - mu/L") and "at 2 of 3 points" in compared
    assert compared.endswith("the worst case itself is better at 2 of these")
    # (3/5)^2 is better than all.
    assert "at 3 of 3 points" in emptiness.words(found, "best-gradient-descent")[-1]


def test_what_has_no_factor_or_no_condition_number_is_not_compared():
    ratio = [point("1/2", "1/2", subject=Subject.RATIO)]
    assert emptiness.words(ratio) == []
    (said,) = emptiness.words(ratio, "gradient-descent")
    assert "the letters mu and L, or kappa, are needed" in said
    assert "at 1 of 1 points" in emptiness.words([point("1/2", "1/2", "4/5", kappa=5)], "gradient-descent")[0]
