"""Bounds after T rounds: known worst cases are found exactly at both ends, and what is false is certified nowhere."""

from __future__ import annotations

from fractions import Fraction as Fr

import pytest
import sympy
from places import EXAMPLES

import fedtheory as ft
from fedtheory import claims
from verify.base.own import load
from verify.base.verdict import Verdict
from verify.cli import main
from verify.tightness import grids, rounds, sweep
from verify.tightness.comparison import Point, Subject

mu, L, gamma, c = ft.letters("mu L gamma c")
D_0, F_0 = ft.Quantity("D_0", ft.distance), ft.Quantity("F_0", ft.gap)
D_T, F_T = ft.Quantity("D_T", ft.distance, after=True), ft.Quantity("F_T", ft.gap, after=True)
UNIT = (sympy.Eq(gamma * L, 1),)


def descend(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


GD = ft.method("gd", descend, ["gamma"], {"x": "point"})


def claim(relation, functions=None, method=GD, requires=UNIT, clients=(1,)):
    setting = ft.Setting(algorithm=method, functions=functions or ft.SmoothConvex(L), clients=clients)
    return ft.Claim("own/bound", setting=setting, statement=ft.bound(method, relation), requires=requires)


def after(of, T, choice=0):
    (point,) = rounds.after_rounds(of, grids.choices(of, {})[choice], T)
    return point


def gallery(name):
    return load(EXAMPLES / "gallery" / f"{name}.py")


# Known worst cases


@pytest.mark.parametrize("T", [1, 3])
def test_gradient_descent_attains_its_rate(T):
    found = after(gallery("gradient_descent_rate")[0], T)
    assert found.lower == found.upper == found.printed == Fr(1, 4 * T + 2)
    assert found.verdict is Verdict.CERTIFIED and "1 dimension, replayed" in found.note


@pytest.mark.parametrize("T", [2, *(pytest.param(T, marks=pytest.mark.slow) for T in (1, 3, 4, 5, 10))])
def test_the_exact_constant_of_nesterovs_method(T):
    true, false = gallery("nesterov_rate")
    found = after(true, T)
    assert found.lower == found.upper == Fr(2, (T + 2) * (T + 3)) and found.verdict is Verdict.CERTIFIED
    if T > 2:
        assert after(false, T).verdict is Verdict.REFUTED


def test_heavy_ball_leaves_its_rate_on_quadratics_after_two_steps():
    quadratics, everything = gallery("heavy_ball_rate")
    assert after(everything, 1).verdict is Verdict.CERTIFIED
    found = after(everything, 2)
    assert found.verdict is Verdict.REFUTED and found.printed == Fr(52, 27) ** 2
    assert found.lower <= Fr(76, 27) ** 2 <= found.upper and found.upper - found.lower < Fr(1, 10**4)
    later = after(everything, 3)
    assert later.verdict is Verdict.REFUTED and later.lower > 10
    # Quadratics alone are no class that is posed.
    assert after(quadratics, 2).verdict is Verdict.OPEN


def test_schedules_are_those_of_their_rounds():
    k = ft.round_index
    method = ft.method("decreasing", descend, ["c"], {"x": "point"}, schedules={"gamma": c / (k + 1)})
    shrinks = sympy.Product(1 - c / (k + 1) * mu, (k, 0, ft.T - 1))
    of = claim(ft.E(D_T) <= shrinks * D_0, ft.SmoothStronglyConvex(mu, L), method, (c * (mu + L) <= 2,))
    choice = next(i for i, found in enumerate(grids.choices(of, {})) if dict(found.letters)["mu"] != 1)
    found = after(of, 2, choice)
    assert found.verdict is Verdict.CERTIFIED
    # Both rounds attain their contraction, of which the square root is stated.
    assert found.lower == pytest.approx(found.printed**2, rel=1e-6) and found.lower <= found.printed**2 <= found.upper


def test_the_proximal_point_method_attains_its_rate():
    def step(problem, params, state, draw):
        target = state.x[..., None, :] / params.gamma
        return {"x": problem.f.resolvent(1 / params.gamma, target)[..., 0, :]}

    prox = ft.method("prox", step, ["gamma"], {"x": "point"})
    four, five = (claim(ft.E(F_T) * ft.T <= D_0 / (k * gamma), ft.Convex(), prox, ()) for k in (4, 5))
    found = after(four, 2)
    assert found.verdict is Verdict.CERTIFIED and found.lower == found.upper == found.printed
    assert after(five, 2).verdict is Verdict.REFUTED


# What is false, or not posed


@pytest.mark.parametrize(
    "right",
    [
        L * D_0 / (4 * ft.T + 2) * (1 - sympy.Rational(1, 10**6)),
        L * D_0 / sympy.sqrt(16 * ft.T**2 + 16 * ft.T + 5),
        sympy.Max(0, 1 - ft.T) * L * D_0,
        -L * D_0 / (ft.T + 1),
        L * D_0 / (8 * ft.T + 4) + F_0 / 4,
    ],
)
def test_what_is_false_is_never_certified(right):
    found = after(claim(ft.E(F_T) <= right), 1)
    assert found.verdict is not Verdict.CERTIFIED
    assert found.verdict is Verdict.REFUTED or found.printed == 0


def test_an_irrational_bound_that_holds_is_certified():
    assert after(claim(ft.E(F_T) <= L * D_0 / sympy.sqrt(16 * ft.T**2 + 16 * ft.T)), 1).verdict is Verdict.CERTIFIED


def test_what_is_not_negative_somewhere_only_is_no_right_side():
    def indefinite(problem, params, state):
        return 2 * ((state.x - problem.x_star) ** 2).sum(axis=-1) - 5 * ft.gap(problem, params, state)

    found = after(claim(ft.E(F_T) <= L * ft.Quantity("I_0", indefinite)), 1)
    assert found.verdict is Verdict.OPEN


def late(problem, params, state, draw):
    x = descend(problem, params, state, draw)["x"]
    return {"x": x if params.round < 2 else 0 * x + x.sum(axis=-1, keepdims=True)}


def test_what_code_does_in_some_round_only_is_not_certified():
    method = ft.method("late", late, ["c"], {"x": "point"}, schedules={"gamma": c / (ft.round_index + 1)})
    of = claim(ft.E(D_T) <= D_0, None, method, (c * L <= 1,))
    assert {after(of, T).verdict for T in (1, 2, 3)} == {Verdict.OPEN}


def test_a_class_of_which_more_is_known_than_is_posed_refutes_nothing():
    of = claim(ft.E(F_T) <= (1 - gamma * mu) ** (9 * ft.T) * F_0, ft.PolyakLojasiewicz(mu, L))
    choice = next(i for i, found in enumerate(grids.choices(of, {})) if dict(found.letters)["mu"] != 1)
    found = after(of, 1, choice)
    assert found.verdict is Verdict.OPEN and found.lower is None


def test_a_bound_that_speaks_of_the_dimension_is_not_certified():
    assert after(claim(ft.E(F_T) <= ft.d * L * D_0 / (4 * ft.T + 2)), 1).verdict is Verdict.OPEN


def test_a_run_that_leaves_a_domain_is_not_certified():
    # Finite where x = x* alone, which a step does not reach.
    F = ft.Quantity("F_T", ft.gap, after=True, domain=lambda problem, params, state: state.x - problem.x_star)
    assert after(claim(ft.E(F) <= L * D_0 / (4 * ft.T + 2)), 1).verdict is Verdict.OPEN


# Words and the command


def test_the_words_name_what_is_exact_and_what_is_not_shown():
    def point(T):
        worst = Fr(2, (T + 2) * (T + 3))
        letters = (("T", Fr(T)), ("L", Fr(1)))
        return Point(Subject.CONSTANT, letters, 2 * worst, worst, worst, Verdict.CERTIFIED, "of D_0 after T rounds")

    exact, held = rounds.words([point(T) for T in range(1, 6)])
    assert exact.startswith("exact worst case at L=1, by T: 1: 1/6, 2: 1/10, 3: 1/15, 4: 1/21, 5: 1/28; that is 1/(")
    assert held == "certified at T = 1, 2, 3, 4, 5, each by itself, which shows nothing of other T"
    # Four points on a parabola are no law.
    assert "that is" not in rounds.words([point(T) for T in range(1, 5)])[0]
    assert rounds.words([Point(Subject.RATIO, (), Fr(1), None, None, Verdict.OPEN)]) == []


def test_steps_are_asked_of_bounds_alone():
    with pytest.raises(ValueError, match="says nothing of several steps"):
        sweep.tasks(claims.get("locodl/theorem-3.1/one-step"), None, 2)


@pytest.mark.slow
def test_the_command_tells_the_exact_worst_cases(tmp_path, capsys):
    own = str(EXAMPLES / "gallery" / "gradient_descent_rate.py")
    out = tmp_path / "tight.png"
    arguments = ["tight", "gradient-descent-rate/bound", "--own", own, "--at", "L=1", "--steps", "2", "--out", str(out)]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "by T: 1: 1/6, 2: 1/10" in said and out.stat().st_size > 1000
