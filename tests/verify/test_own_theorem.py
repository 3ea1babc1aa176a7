"""Theorems of one's own: the examples, what is told of files that are no theorems, and what is derived for both."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy
from first_found import first_found
from places import EXAMPLES

import fedtheory as ft
from fedtheory import claims
from fedtheory.settings.hypotheses import Hypothesis
from verify import Verdict, check
from verify.base.faults import placed
from verify.base.own import load
from verify.checking import assumptions
from verify.cli import main
from verify.methods import long_runs, search, second_moments
from verify.methods.base import Inquiry
from verify.mutation import selftest

FILES = {"proximal_point": "proved", "own_compressor": "supported"}


@pytest.mark.parametrize("name", FILES)
def test_an_example_holds_and_its_neighbour_claims_too_much(name):
    true, false = load(EXAMPLES / f"{name}.py")
    assert check(true).verdict == FILES[name]
    found = first_found(false)
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample.text


@pytest.mark.slow
def test_a_paper_by_sections_is_decided_as_any_theorem():
    printed, repaired, corollary, factor = load(EXAMPLES / "a-paper" / "sketch" / "method.py")
    assert first_found(printed).verdict is Verdict.REFUTED
    assert [check(claim).verdict for claim in (repaired, corollary, factor)] == [Verdict.PROVED] * 3


def written(path, text):
    file = path / "mine.py"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CLAIMS = (", "line 1"),
        ("x = 1\ny = x.z\n", "line 2: AttributeError"),
        ("x = 1\n", "has no CLAIMS"),
        ("CLAIMS = (3,)\n", r"CLAIMS\[0\] is not a claim"),
        ("from fedtheory import Claim\n\nCLAIMS = (Claim('mine/one'),)\n", "line 3: ValueError: the claim mine/one "),
        ("from fedtheory import Nothing\n", "line 1: "),
        (
            "import fedtheory as ft, sympy\nD = ft.Quantity('D', ft.distance)\nM = sympy.Max(D, 2 * D)\n",
            "line 3: a function of sympy takes letters and numbers, and is given a quantity: write a quantity",
        ),
        ("import fedtheory as ft, sympy\nD = sympy.sqrt(ft.Quantity('D', ft.distance))\n", "line 2: a function of"),
    ],
)
def test_a_file_that_is_no_theorem_gets_a_sentence_with_its_line(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        load(written(tmp_path, text))


def test_the_line_is_told_of_a_file_next_to_which_one_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "x = 1\ny = x.z\n")
    with pytest.raises(ValueError, match=r"^mine\.py, line 2: AttributeError"):
        load(Path("mine.py"))


METHOD = """\
import fedtheory as ft
mu, L, gamma = ft.letters("mu L gamma")
def step(problem, params, state, draw):
    x = problem.f.resolvent(1 / params.gamma, state.x[..., None, :] / params.gamma)[..., 0, :]
    return {step}
def mine(problem, params, state):
    return {quantity}
prox = ft.method("proximal-point", step, ["gamma"], {{"x": "point"}})
setting = ft.Setting(algorithm=prox, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
CLAIMS = (ft.Claim("mine/step", setting=setting, statement=ft.contracts(prox, mine, 1 / (1 + gamma * mu) ** 2)),)
"""
SQUARE = "((state.x - problem.x_star) ** 2).sum(axis=-1)"


@pytest.mark.parametrize(
    "step",
    [
        "x.sum(-1)",
        "x[..., None]",
        "x[..., :1]",
        "0",
        "'no'",
        "state.x[..., None, :]",
        "x + x.sum(-1)",
        "None",
        "(x, x)",
    ],
)
def test_a_step_of_a_wrong_shape_gets_its_file_and_line(tmp_path, capsys, step):
    given = step if step in ("None", "(x, x)") else f'{{"x": {step}}}'
    status = main(["check", str(written(tmp_path, METHOD.format(step=given, quantity=SQUARE)))])
    err = capsys.readouterr().err
    assert status == 2 and err.count("\n") == 1
    assert "step (mine.py, line 3) " in err or "step (mine.py, line 5)" in err


@pytest.mark.parametrize("name", ["test", "queue", "numpy", "fedtheory"])
def test_a_file_may_be_called_as_any_module(tmp_path, capsys, name):
    file = tmp_path / f"{name}.py"
    file.write_text(METHOD.format(step='{"x": x + params.nothing}', quantity=SQUARE))
    assert main(["check", str(file)]) == 2
    assert f"its own code fails in step ({name}.py, line 5): AttributeError" in capsys.readouterr().err


def test_a_division_by_zero_that_nothing_expected_gets_its_file_and_line():
    (claim, _) = load(EXAMPLES / "proximal_point.py")
    with pytest.raises(ValueError, match=r"fails in .* \(test_own_theorem\.py, .*: ZeroDivisionError"), placed(claim):
        Fraction(1, 0)


def test_draws_that_are_no_distribution_get_their_file_and_line():
    method = ft.method(
        "m", lambda problem, params, state, draw: state, ["p"], {"x": "point"}, draws=lambda *of: of[1].p
    )
    with pytest.raises(
        ValueError, match=r"test_own_theorem.py, line \d+\) gives an object of type float, where a distribution"
    ):
        method.draws(None, method.Params(0.5), None)


def test_a_step_that_gives_other_parts_gets_its_file_and_line(tmp_path, capsys):
    assert main(["check", str(written(tmp_path, METHOD.format(step='{"y": x}', quantity=SQUARE)))]) == 2
    assert "step (mine.py, line 3) gives the parts y, where " in capsys.readouterr().err


@pytest.mark.parametrize("quantity", [SQUARE.removesuffix(".sum(axis=-1)"), "1", "None", "'no'", f"{SQUARE}.sum()"])
def test_a_quantity_of_a_wrong_shape_gets_its_file_and_line(tmp_path, capsys, quantity):
    status = main(["check", str(written(tmp_path, METHOD.format(step='{"x": x}', quantity=quantity)))])
    err = capsys.readouterr().err
    assert status == 2 and err.count("\n") == 1
    assert "mine (mine.py, line 6) gives " in err and "one number a state is due" in err


def test_a_quantity_of_the_right_shape_does_not(tmp_path, capsys):
    assert main(["check", str(written(tmp_path, METHOD.format(step='{"x": x}', quantity=SQUARE))), "--details"]) == 0
    out = capsys.readouterr().out
    # There is neither a place nor a gist.
    assert out.startswith("mine/step  (one-step)\n  for: ")


def test_a_file_that_is_not_there_gets_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        load(tmp_path / "none.py")
    with pytest.raises(ValueError, match=r"must end in \.py"):
        load(tmp_path / "none.txt")


def test_a_file_read_again_replaces_its_claims_and_papers_keep_theirs(tmp_path):
    file = EXAMPLES / "proximal_point.py"
    before = claims.all()
    load(file)
    (again, _) = load(file)
    assert claims.get(again.id) is again and claims.all() == before
    with pytest.raises(ValueError, match="registered twice"):
        claims.register([again, again])
    with pytest.raises(ValueError, match="registered twice"):
        claims.register([before[0]])


def test_the_command_tells_verdicts_and_writes_what_an_audit_writes(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "mine.json"
    assert main(["check", str(EXAMPLES / "proximal_point.py"), "--json", str(out)]) == 0
    told = capsys.readouterr().out
    assert "prox/step" in told and "proved" in told and "refuted" in told
    stored = json.loads(out.read_text())
    assert [c["verdict"] for c in stored["claims"]] == ["proved", "refuted"]


def test_the_command_says_what_is_wrong_with_a_file(tmp_path, capsys):
    assert main(["check", str(written(tmp_path, "CLAIMS = (\n"))]) == 2
    assert "line 1" in capsys.readouterr().err


def test_what_was_stored_of_it_is_checked_again_from_its_files(tmp_path, capsys):
    file, out = str(EXAMPLES / "gallery" / "block_coordinate_descent.py"), tmp_path / "results"
    assert main(["check", file, "--out", str(out)]) == 0
    assert {c["verdict"] for c in json.loads((out / "audit.json").read_text())["claims"]} == {"certified", "refuted"}
    stored = [*sorted((out / "counterexamples").iterdir()), *sorted((out / "certificates").iterdir())[:1]]
    assert len(stored) == 2
    for path in stored:
        assert main(["replay", str(path), "--own", file]) == 0
    assert "the certificate holds" in capsys.readouterr().out


def test_a_theorem_of_ones_own_is_measured_and_its_code_is_mutated(tmp_path, capsys):
    file = str(EXAMPLES / "proximal_point.py")
    assert main(["tight", "prox/step", "--own", file, "--out", str(tmp_path / "t.png")]) == 0
    assert "% of the best possible" in capsys.readouterr().out
    mutants = selftest.bank(selftest.holding(load(EXAMPLES / "proximal_point.py")))
    changed = [m for m in mutants if m.place == "proximal_point.step"]
    assert len(changed) > 5
    tried = list(selftest.trials(changed[:4]))
    assert all(t.label is selftest.Label.FALSE and t.budget == "quick" for t in tried)
    assert main(["show", "prox/never", "--own", file]) == 2
    assert "unknown claim" in capsys.readouterr().err


def test_parameters_that_an_author_makes_are_told_as_assumed():
    def made(recipe, problem, exact):
        return gd.Params(1 / (2 * problem.L))

    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}

    mu, L, gamma = ft.letters("mu L gamma")
    gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
    for parameters in (None, made):
        drawing = ft.Drawing(parameters=parameters)
        functions = ft.SmoothStronglyConvex(mu, L)
        setting = ft.Setting(algorithm=gd, functions=functions, letters=(mu, L, gamma), drawing=drawing)
        claim = ft.Claim("mine/gd", setting=setting, statement=ft.contracts(gd, ft.distance, 1 - gamma * mu))
        said = " ".join(assumptions(claim, Verdict.CERTIFIED, ("sdp",)))
        assert ("the parameters that the setting makes" in said) == (parameters is not None)


# What stands in the way is told as what it is

mu, L, gamma, a = ft.letters("mu L gamma a")
F = ft.SmoothStronglyConvex(mu, L)


def descent(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :])[..., 0, :]}


def in_sympy(problem, params, state):
    return sympy.Rational(1, 3) * ft.distance(problem, params, state)


def partly(problem, params):
    return {"x": problem.part(problem.x_star, 0)}


def whole(problem, params):
    return {"x": 0 * problem.x_star}


def set_to(statement, functions=F, start=(), **of):
    gd = ft.method("descent", descent, ["gamma", "a"], {"x": "point"}, **of)
    setting = ft.Setting(algorithm=gd, functions=functions, clients=(1,), drawing=ft.Drawing(start=start))
    return ft.Claim("mine/told", setting=setting, statement=statement(gd), requires=(gamma * L <= 1,))


def tends(gd):
    return ft.Limit(gd, ft.Quantity("D", ft.distance), "x -> x*")


def test_numbers_of_sympy_in_code_are_told():
    claim = set_to(lambda gd: ft.contracts(gd, in_sympy, 1))
    with pytest.raises(ValueError, match=r"in_sympy .* computes with numbers of sympy: write 1 / 3 or Fraction"):
        check(claim)


def test_a_fixed_point_that_depends_on_blocks_is_told():
    blocks = ft.BlockSmoothConvex(ft.letters("L b"))
    claim = set_to(lambda gd: ft.contracts(gd, ft.distance, 1), blocks, fixed_point=partly)
    with pytest.raises(ValueError, match=r"problem\.part is for steps and quantities, and not for fixed_point"):
        claim.instances.build(next(claim.instances.recipes(np.random.default_rng(0))), True)


def test_a_limit_from_a_single_start_is_told():
    found = second_moments.METHOD.run(second_moments.METHOD, Inquiry(set_to(tends, init=whole), 0, 6))
    assert found.verdict is Verdict.NOT_TESTED and found.note.startswith("init makes every part of a state")
    claim = set_to(tends, init=whole, start=("x",))
    with pytest.raises(ValueError, match="init of descent takes no part 'x' to start from: it takes none"):
        claim.instances.build(next(claim.instances.recipes(np.random.default_rng(0))), True)


def test_a_rule_does_not_assign_what_is_given_with_the_class():
    with pytest.raises(ValueError, match="a rule assigns parameters, and mu is given with the class"):
        set_to(lambda gd: ft.ParameterRule({mu: L + a}, (mu >= L,)))


def test_what_is_assigned_is_a_number_where_it_cancels_too():
    y = sympy.Symbol("y", real=True)
    claim = set_to(lambda gd: ft.ParameterRule({y: 1 / (L - mu)}, (y * (L - mu) <= 1,)))
    assert search.METHOD.run(search.METHOD, Inquiry(claim, 0, 40)).verdict is Verdict.ILL_POSED
    without = set_to(lambda gd: ft.ParameterRule({y: L - mu}, (y <= L,)))
    assert len(without.statement.comparisons) == 1


def test_that_something_grows_is_told_to_refute_no_bound():
    claim = set_to(lambda gd: ft.Eventually(gd, bounded=(ft.Quantity("D", ft.distance),)))
    claim = replace(claim, requires=(Hypothesis("3 <= gamma L", 3 <= gamma * L), Hypothesis("", gamma * L <= 4)))
    found = long_runs.METHOD.run(long_runs.METHOD, Inquiry(claim, 0, 40))
    assert found.verdict is Verdict.NOT_TESTED and "runs in floats refute no bound: claim one of a step" in found.note
    assert "Fraction" not in found.note
