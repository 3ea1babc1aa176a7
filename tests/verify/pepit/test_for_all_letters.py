"""Models for PEPit for all values of their letters: what is stated is proved if it is so, and nothing is taken for a
function of the letters that is none."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from verify.cli import main
from verify.pepit import for_all
from verify.pepit.numbers_in_letters import NumberInLetters, Run, shown

PEPit = pytest.importorskip("PEPit")

EXAMPLE = "examples/pepit/gradient_descent.py"
STEP = """
import math
from math import sqrt
import numpy as np
from PEPit import PEP
from PEPit.functions import {cls}

def wc_step(L, gamma{more}):
    problem = PEP()
    f = problem.declare_function({cls}, {parameters})
    minimiser, x = f.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 {condition})
    y = x - {step} * f.gradient(x)
    problem.set_performance_metric({metric})
    return problem.solve(verbose=0), {stated}
"""
CONVEX = {
    "cls": "SmoothConvexFunction",
    "parameters": "L=L",
    "more": "",
    "condition": "<= 1",
    "step": "gamma",
    "metric": "f(y) - f(minimiser)",
    "stated": "L / (4 * gamma * L + 2)",
}
SHORT = ["gamma*L <= 1"]


@pytest.fixture
def proved(tmp_path):
    def run(letters=("L", "gamma"), where=SHORT, at=None, **changes):
        path = tmp_path / "step.py"
        text = STEP.format(**{**CONVEX, **changes})
        path.write_text(text.replace("def wc_step(", changes["before"]) if "before" in changes else text)
        return for_all.prove(path, letters, where, None, at)

    return run


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"condition": "== 1"},
        {"stated": "L / 4 / (gamma * L + 0.5)"},
        {"step": "np.float64(0.5) * gamma * np.float64(2)"},
        {"step": "np.mean([gamma, gamma])", "letters": ("L",), "at": {"gamma": Fraction(1, 9)}, "where": ["9 >= L"]},
        {"step": "sqrt(gamma**2)"},
        {"metric": "f.gradient(x) ** 2", "stated": "L**2"},
        {"at": {"gamma": "1/(2*L)"}, "letters": ("L",), "where": [], "stated": "L / 4"},
    ],
    ids=[
        "as printed",
        "an equality",
        "written otherwise",
        "numpy's numbers",
        "a number",
        "a root",
        "a gradient",
        "a formula",
    ],
)
def test_what_is_so_for_all_letters_is_proved(proved, changes):
    found = proved(**changes)
    assert found.why == "" and found.multipliers


def test_a_contraction_is_proved_where_curvatures_differ(proved):
    changes = {
        "cls": "SmoothStronglyConvexFunction",
        "parameters": "L=L, mu=mu",
        "more": ", mu",
        "metric": "(y - minimiser) ** 2",
        "stated": "(1 - gamma * mu) ** 2",
        "letters": ("L", "gamma", "mu"),
    }
    assert proved(**changes, where=["gamma*L <= 1", "mu < L"]).why == ""
    assert "may be 0" in proved(**changes, where=["gamma*L <= 1", "mu <= L"]).why


@pytest.mark.parametrize(
    "changes",
    [
        {"where": []},
        {"where": ["gamma*L <= 2"]},
        {"stated": "L / (4 * gamma * L + 2.001)"},
        {"stated": "L / (5 * gamma * L + 2)"},
        {"step": "0.99 * gamma"},
        {"condition": "<= 1.001"},
        {"metric": "f(y) - f(minimiser) + (x - minimiser)**2 / 1000"},
        {"stated": "1 / 6"},
        {"stated": "(L / 6 if gamma > 1 / L else L / (4 * gamma * L + 3))"},
    ],
)
def test_what_is_not_so_for_some_letters_is_not_proved(proved, changes):
    assert proved(**changes).why != ""


def test_what_a_file_compares_is_assumed(proved):
    found = proved(
        stated="(L / (4 * gamma * L + 2) if gamma * L <= 1 else L / 2)", where=[], at={"gamma": Fraction(1, 9)}
    )
    assert found.why == "" and found.conditions == ("-L*gamma + 1 >= 0",)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"step": "float(gamma)"}, "gamma is turned into a plain number"),
        ({"step": "np.array([gamma], dtype=float)[0]"}, "gamma is turned into a plain number"),
        ({"step": "np.exp(gamma)"}, "TypeError"),
        ({"step": "math.exp(gamma)"}, "gamma is turned into a plain number"),
        ({"step": "round(gamma, 3)"}, "gamma is turned into a plain number"),
        ({"step": "(gamma if float(gamma) < 1e9 else 2 * gamma)"}, "gamma is turned into a plain number"),
        ({"step": "(gamma if math.floor(gamma) < 9 else 2 * gamma)"}, "gamma is turned into a plain number"),
        ({"step": "(gamma if gamma // 1 < 9 else 2 * gamma)"}, "gamma is turned into a plain number"),
        ({"step": "float(str(gamma))"}, "could not convert"),
        ({"step": "float(f'{gamma:.3f}')"}, "could not convert"),
        ({"step": "(0 * gamma if hasattr(gamma, 'is_integer') and gamma.is_integer() else gamma)"}, "plain number"),
        ({"step": "gamma.real"}, "gamma is turned into a plain number"),
        ({"step": "{1 / L: 0}.get(gamma, gamma)"}, "1/L is a key of a dict or in a set"),
        ({"step": "{0.5: 0}.get(gamma, gamma)"}, "gamma is a key of a dict or in a set"),
        ({"step": "gamma * (len({gamma, 1 / L}) - 1)"}, "gamma is a key of a dict or in a set"),
        ({"step": "gamma ** 0.3"}, "a power is not a quotient of polynomials"),
        ({"stated": "'a third'"}, "is not a function of its letters"),
        ({"stated": "problem.solve(verbose=0)"}, "one problem is taken with letters"),
        ({"stated": "float(L)"}, "L is turned into a plain number"),
        ({"stated": "2.0 ** 0.5"}, "is not a function of its letters"),
        ({"step": "sqrt(gamma)"}, "the square root of gamma is not a quotient"),
        ({"step": "2**0.5 * gamma"}, "not a simple fraction, with its letters"),
        ({"step": "gamma**L"}, "an exponent depends on the letters"),
        ({"where": ["gamma*L"]}, "--where takes a comparison"),
        ({"where": ["gamma*mu <= 1"]}, "mu is none of the letters"),
        ({"where": ["abs(gamma) <= 1"]}, "--where takes"),
        ({"where": ["gamma <= -1"]}, "no values of the letters were found"),
        ({"at": {"gamma": "1/K"}, "letters": ("L",), "where": []}, "a formula in the letters L"),
    ],
)
def test_what_is_no_function_of_the_letters_is_said(proved, changes, sentence):
    with pytest.raises(ValueError, match=sentence.replace("*", ".").replace("(", ".")):
        proved(**changes)


def test_what_is_refused_is_refused_where_the_file_catches_it(proved):
    caught = """
def at_most_one(x):
    try:
        return min(float(x), 1) * 0
    except Exception:
        return x

def wc_step("""
    with pytest.raises(ValueError, match="gamma is turned into a plain number"):
        proved(**{"step": "at_most_one(gamma)", "before": caught})


def test_where_letters_are_printed_their_text_is_assumed_to_decide_nothing(proved):
    found = proved(step="(0 * gamma if str(gamma) == str(1 / L) else gamma)")
    assert found.conditions[-1] == "no text of the letters decides what the file does"
    assert "text" not in proved(step="np.array([gamma])[0]").conditions[-1]


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ({}, "L/(2*(2*L*gamma + 1))"),
        ({"condition": "<= 1 / (1 + L)"}, "L/(2*(L + 1)*(2*L*gamma + 1))"),
        ({"metric": "f.gradient(x) ** 2", "letters": ("L",), "at": {"gamma": 1}, "where": ["L <= 1"]}, "L**2"),
    ],
    ids=["as printed", "another condition", "one letter"],
)
def test_a_value_that_is_not_stated_is_found_and_proved(proved, changes, value):
    found = proved(stated="None", **changes)
    assert (found.is_found, found.stated, found.why) == (True, value, "")


@pytest.mark.parametrize("share", [Fraction(999, 1000), Fraction(1, 2), Fraction(-1)])
def test_a_value_that_is_found_wrongly_is_not_proved(proved, monkeypatch, share):
    def wrong(problem, run, conditions):
        L, gamma = (run.letter(name).of for name in ("L", "gamma"))
        return L / (4 * L * gamma + 2) * share

    monkeypatch.setattr(for_all.fitted, "value", wrong)
    found = proved(stated="None")
    assert found.is_found and found.why != ""


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {
                "cls": "ConvexLipschitzFunction",
                "parameters": "M=L",
                "condition": "<= L",
                "metric": "f(x) - f(minimiser)",
            },
            "not a quotient of polynomials",
        ),
        ({"where": ["gamma*L >= 1/3", "gamma*L <= 9"]}, "none with few coefficients"),
    ],
    ids=["a root", "a maximum of two"],
)
def test_where_no_value_is_found_one_sentence_says_so(proved, changes, sentence):
    with pytest.raises(ValueError, match=f"states no value.*{sentence}"):
        proved(stated="None", **changes)


def test_a_value_made_of_pepits_number_is_none_that_is_stated(tmp_path):
    path = tmp_path / "step.py"
    path.write_text(
        STEP.format(**CONVEX).replace(
            "return problem.solve(verbose=0), ", "tau = problem.solve(verbose=0)\n    return tau, 0 * tau + "
        )
    )
    with pytest.raises(ValueError, match="TypeError"):
        for_all.prove(path, ["L", "gamma"], SHORT)


def test_comparisons_are_kept_with_their_answers():
    run = Run({"a": Fraction(2), "b": Fraction(3)})
    a, b = run.letter("a"), run.letter("b")
    assert a < b and not a > b and a <= b and b >= 2.5 and a != b and a == a and abs(a - b) == b - a
    assert type(max(a, b)) is NumberInLetters and max(a, b).of.key == b.of.key
    assert {shown(x.of, run.names) for x in run.answers.values() if not x.apart} >= {"-a + b", "(2*b - 5)/2"}
    with pytest.raises(ValueError, match="alone"):
        assert a + 1 == b


def test_the_command_proves_the_example(capsys, tmp_path):
    command = ["certify", EXAMPLE, "--letters", "L", "gamma", "--at", "n=1", "--json", str(tmp_path / "out.json")]
    assert main([*command, "--where", "gamma*L <= 1", "--multipliers"]) == 0
    shown_text = capsys.readouterr().out
    assert "stated       L/(2*(2*L*gamma + 1))" in shown_text and "proved       " in shown_text
    assert json.loads((tmp_path / "out.json").read_text())["models"][0]["letters"]["proved"] is True
    assert main(command) == 1
    assert main(["certify", EXAMPLE, "--where", "L <= 1"]) == 2
