"""Potentials in closed form: known ones are found from the method alone, and what is not true is not proved."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from places import EXAMPLES

import fedtheory as ft
from verify.base import own
from verify.best import closed_forms, posed_spans, rates, spans
from verify.cli import discovering, main
from verify.multipliers.proving import prove

GALLERY = EXAMPLES / "gallery"
mu, L, gamma, p, a, theta = ft.letters("mu L gamma p a theta")


def setting_of(file):
    return own.read(GALLERY / f"{file}.py").setting


def first(setting, *requires):
    """The first potential that multipliers prove, and how many were tried."""
    for count, found in enumerate(closed_forms.discover(setting, requires), 1):
        if not isinstance(prove(found.claim), str):
            return found, count
    return None, 0


def test_the_rate_of_gradient_descent_is_found_from_the_method_alone():
    found, count = first(setting_of("gradient_descent"), gamma * (mu + L) <= 2)
    assert found.weights == {"|x - x*|^2": 1} and found.gain is None and count == 1
    assert sympy.expand(found.rate - (1 - gamma * mu) ** 2) == 0
    # A rate that is a little better is not proved.
    statement = found.claim.statement.changed({"factor": sympy.Rational(99, 100) * found.rate})
    assert isinstance(prove(replace(found.claim, statement=statement), work=300), str)


@pytest.mark.slow
def test_where_two_rates_meet_the_larger_one_is_found():
    found, _ = first(setting_of("gradient_descent"), gamma * L < 2)
    assert found.rate == sympy.Max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "requires", "weights", "gain"),
    [
        ("nesterov", a * L >= 1, {"|z - x*|^2": 1, "f(x) - f*": 2 * (L * a**2 - a)}, ("f(x) - f*", 2 * a)),
        (
            "optimized_gradient",
            theta >= 1,
            {"|z - x*|^2": 1, "f(y) - f* - |grad f(y)|^2/(2 L)": 4 * (theta**2 - theta) / L},
            ("f(y) - f* - |grad f(y)|^2/(2 L)", 4 * theta / L),
        ),
    ],
)
def test_potentials_whose_weights_grow(file, requires, weights, gain):
    found, _ = first(setting_of(file), requires)
    assert found.weights.keys() == weights.keys() and found.gain[0] == gain[0] and found.rate is None
    pairs = [(found.gain[1], gain[1]), *((found.weights[k], w) for k, w in weights.items())]
    assert all(sympy.simplify(one - other) == 0 for one, other in pairs)


@pytest.mark.slow
def test_scaffnew_is_faster_than_printed():
    found, _ = first(setting_of("scaffnew"), gamma * L <= 1)
    assert found.weights == {"mean |x_i - x*|^2": 1, "mean |h_i - grad f_i(x*)|^2": gamma**2 / p**2}
    assert found.rate == sympy.Max(1 - p**2, (1 - gamma * mu) ** 2)


@pytest.mark.slow
def test_the_rate_of_saga_is_found():
    n = ft.n
    found, _ = first(setting_of("saga_strongly_convex"), 2 * gamma * (mu * n + L) <= 1)
    excess = "mean (f_i(phi_i) - f_i(x*) - <grad f_i(x*), phi_i - x*>)"
    assert found.weights.keys() == {"|x - x*|^2", excess} and found.rate == 1 - gamma * mu
    assert found.silent == () and not isinstance(prove(found.floor), str)


@pytest.mark.slow
def test_the_rate_of_diana_is_found():
    alpha, omega, n = ft.letters("alpha"), ft.omega, ft.n
    found, _ = first(setting_of("diana"), alpha * (1 + omega) <= 1, gamma * L * (1 + 6 * omega / n) <= 1)
    assert found.weights.keys() == {"|x - x*|^2", "mean |h_i - grad f_i(x*)|^2"} and found.silent == ()
    assert found.rate == sympy.Max(1 - gamma * mu, 1 - alpha / 2)


@pytest.mark.slow
def test_the_tight_rate_of_ef21_is_found():
    best = own.read(GALLERY / "ef21_tight.py").best
    s, u, alpha = ft.letters("s u alpha")
    found, _ = first(setting_of("ef21_tight"), sympy.Eq(alpha, 1 - s**2), *best[1:])
    assert found.weights == {"|grad f(x)|^2": 1, "mean |g_i - grad f_i(x)|^2": 1 / s} and found.rate == u**2
    assert not isinstance(prove(found.floor), str)


def ascent(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x + params.gamma * slope}


def test_a_method_that_climbs_has_no_potential():
    method = ft.method("ascent", ascent, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    assert list(closed_forms.discover(setting, ())) == []


def test_a_setting_without_functions_is_refused():
    with pytest.raises(ValueError, match="a method and a class of functions are expected"):
        next(closed_forms.discover(ft.Setting(letters=(mu,)), ()))


def products_at(**at):
    letters = {x: np.array(v, float) for x, v in zip((mu, L, gamma), at.values(), strict=True)}
    # Of the unit of a gradient: L, mu and 1/gamma have one.
    degrees = {mu: np.array([1.0]), L: np.array([1.0]), gamma: np.array([-1.0])}
    return letters, degrees


def test_simple_functions_beyond_numbers_are_named():
    at, degrees = products_at(mu=[0.1, 0.3, 0.9, 0.5], L=[1, 2, 1, 3], gamma=[0.9, 0.5, 1.6, 0.6])
    of = rates.products(at, degrees, np.zeros(1))
    slow, fast = (1 - at[gamma] * at[mu]) ** 2, (1 - at[gamma] * at[L]) ** 2
    assert rates.rates(of, slow)[0].expression == (1 - gamma * mu) ** 2
    both = rates.rates(of, np.maximum(slow, fast))[0]
    assert both.expression == sympy.Max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2)
    # No rate is named that is below a number.
    for one in rates.rates(of, slow):
        assert (one.values >= slow - 1e-3 * (1 - slow)).all()
    gain = rates.products(at, degrees, np.array([-1.0]))
    assert rates.gains(gain, 2 * at[gamma])[0].expression == 2 * gamma
    assert all((one.values <= 2.001 * at[gamma]).all() for one in rates.gains(gain, 2 * at[gamma]))
    assert of.expression(0) == Fraction(1)


def test_measures_are_what_their_words_say():
    setting, at = posed_spans.with_letters(setting_of("saga_strongly_convex"), ())
    found = {m.words: m for m in spans.measures(setting.algorithm, setting.functions, at)}
    problem, params = at.problem, at.params
    rest = setting.algorithm.fixed_point(problem, params)
    for words, m in found.items():
        value = m.of(problem, params, rest)
        # At rest nothing is left of what is measured from there.
        assert value == 0 or words.startswith("mean |phi_i - grad"), words
    moved = rest._replace(x=rest.x + 1, phi=rest.phi + 1)
    assert all(m.of(problem, params, moved) >= 0 for m in found.values())
    assert found["|x - x*|^2"].of(problem, params, moved) == problem.d
    assert found["mean |phi_i - x*|^2"].of(problem, params, moved) == problem.d


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--where", "gamma*L"), "takes a comparison such as"),
        (("--where", "delta <= 1"), "delta is none of the letters gamma, mu, L"),
        (("--where", "sqrt(gamma) <= 1"), "takes quotients of polynomials in the letters"),
        (("--where", "gamma/0 <= 1"), "divides by 0"),
        (("--where", "1 <= 2"), "says nothing of the letters"),
        (("--where", "gamma <= 1 <= L"), "takes a comparison such as"),
        (("--setting", "other"), "has no setting 'other': it has setting"),
    ],
)
def test_bad_input_is_one_sentence(capsys, arguments, why):
    assert main(["discover", str(GALLERY / "gradient_descent.py"), *arguments]) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1


def test_a_file_needs_one_setting(tmp_path):
    none, two = tmp_path / "none.py", tmp_path / "two.py"
    none.write_text("x = 1\n")
    two.write_text("import fedtheory as ft\na, b = (ft.Setting(letters=ft.letters('x y')) for _ in range(2))\n")
    with pytest.raises(ValueError, match="has no setting: write"):
        discovering.setting_of(none, None)
    with pytest.raises(ValueError, match="several settings, name one by --setting: a, b"):
        discovering.setting_of(two, None)
    assert discovering.setting_of(two, "a").letters


@pytest.mark.slow
def test_the_command_prints_what_check_proves(capsys):
    path, where = str(GALLERY / "gradient_descent.py"), "gamma*(mu + L) <= 2"
    assert main(["discover", path, "--where", where, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["potential"]
    assert found["weights"] == {"|x - x*|^2": "1"} and found["verdict"] == "proved"
    assert found["rate"] == "(1 - gamma*mu)^2" and found["hypotheses"] == [where]


def test_functions_with_constants_of_their_own_are_taken_for_members_of_the_larger_class():
    setting = setting_of("gradient_descent")
    each = replace(setting, functions=ft.SmoothEach(mu, L, optimum="stationary"))
    larger, said = discovering._posed(each)
    assert larger.functions == ft.SmoothStronglyConvex(mu, L, optimum="stationary")
    assert said == "each mu-strongly convex and L-smooth" and larger.algorithm is setting.algorithm
    # Only a class of which that is known is replaced.
    for of in (ft.SmoothStronglyConvex(mu, L), ft.SmoothConvex(L), ft.QuasiStronglyConvex(mu, L)):
        other = replace(setting, functions=of)
        assert discovering._posed(other) == (other, None)


@pytest.mark.slow
def test_a_potential_for_functions_with_constants_of_their_own(capsys, tmp_path):
    text = (GALLERY / "gradient_descent.py").read_text(encoding="utf-8")
    assert "ft.SmoothStronglyConvex(" in text
    (tmp_path / "each.py").write_text(text.replace("ft.SmoothStronglyConvex(", "ft.SmoothEach("))
    assert main(["discover", str(tmp_path / "each.py"), "--where", "gamma*(mu + L) <= 2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["potential"]["rate"] == "(1 - gamma*mu)^2"
    assert answer["lines"][-1] == "of a larger class of functions: each mu-strongly convex and L-smooth"
