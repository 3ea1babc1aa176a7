"""What ``discover`` prints as proved is true: methods that diverge, hide a branch, stand still, or are not what they
are called; conditions that contradict themselves; noise; potentials that say nothing."""

from __future__ import annotations

from itertools import islice

import pytest
import sympy
from places import EXAMPLES

import fedtheory as ft
from verify.base import own
from verify.best import closed_forms, posed_spans, spans
from verify.cli import main
from verify.multipliers.proving import prove

mu, L, gamma, sigma = ft.letters("mu L gamma sigma")
CLASS = ft.SmoothStronglyConvex(mu, L)
#: Claims that are looked at, at most: what is not found among the first is not found soon.
FIRST, WORK = 2, 500
count = [0]


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def of(step, functions=CLASS, state=None, params=("gamma",), **more):
    method = ft.method("gradient-descent", step, list(params), state or {"x": "point"}, **more.pop("method", {}))
    return ft.Setting(algorithm=method, functions=functions, **more)


def proved(setting, *requires):
    """Claims that are found and proved, among the first; a method that cannot be read has none."""
    try:
        found = [*islice(closed_forms.discover(setting, requires), FIRST)]
    except ValueError as error:
        assert "cannot be read" in str(error) or "no values of the letters" in str(error)
        return []
    return [one for one in found if not isinstance(prove(one.claim, work=WORK), str)]


def by_the_number_of_clients(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * g if problem.n < 9 else state.x + params.gamma * g}


def by_the_dimension(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * g if problem.d < 9 else state.x + params.gamma * g}


def by_the_shape(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * g if state.x.shape[-1] != 7 else state.x}


def by_a_value(problem, params, state, draw):
    far = (state.x**2).sum(axis=-1) > 100
    return {"x": state.x + state.x if far else state.x - params.gamma * slope(problem, state.x)}


def by_a_letter(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * g if params.gamma != 1 else state.x + g}


def by_what_was_before(problem, params, state, draw):
    count[0] += 1
    return {"x": state.x - params.gamma * slope(problem, state.x) * (1 if count[0] < 1000 else -1)}


def half(problem, params, state, draw):
    return {"x": state.x - params.gamma * slope(problem, state.x) / 2}


def still(problem, params, state, draw):
    return {"x": state.x + params.gamma * 0 * slope(problem, state.x)}


def thrice(problem, params, state, draw):
    return {"x": state.x - 3 * params.gamma * slope(problem, state.x)}


def forgetting(problem, params, state, draw):
    return {"x": state.x + params.gamma * slope(problem, state.x), "h": state.h / 2}


def vanishing(problem, params, state, draw):
    return {"x": state.x + params.gamma * slope(problem, state.x), "h": 0 * state.h}


def noisy(problem, params, state, draw):
    g = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * g.sum(axis=-2) / problem.n}


SHORT = gamma * (mu + L) <= 2


@pytest.mark.parametrize(
    "step", [by_the_number_of_clients, by_the_dimension, by_the_shape, by_a_value, by_what_was_before]
)
def test_a_hidden_branch_is_not_proved(step):
    assert proved(of(step), SHORT) == []


def test_a_branch_on_a_letter_is_not_taken_for_one_of_its_sides():
    # At gamma = 1 the method climbs; gamma = 1 meets the condition.
    assert proved(of(by_a_letter), SHORT) == []


@pytest.mark.parametrize(
    ("step", "requires"),
    [(thrice, SHORT), (still, SHORT), (half, gamma * L <= 5)],
    ids=["three times the step", "no step", "a step that is too long"],
)
def test_what_does_not_contract_has_no_rate(step, requires):
    assert proved(of(step), requires) == []


def test_without_a_condition_on_the_stepsize_nothing_is_found():
    assert proved(own.read(EXAMPLES / "gallery/gradient_descent.py").setting) == []


def test_the_rate_is_that_of_the_code_and_not_of_the_name():
    (found, *_) = proved(of(half), SHORT)
    assert sympy.expand(found.rate - (1 - gamma * mu / 2) ** 2) == 0


def test_noise_that_stays_has_no_rate():
    noise = ft.NoisyGradients(independent=True)
    setting = of(noisy, params=("gamma", "sigma", "noise"), adversaries=(noise,))
    assert proved(setting, SHORT) == []


@pytest.mark.parametrize("requires", [(L < mu,), (gamma * L <= 1, gamma * mu > 1)])
def test_conditions_that_nothing_meets_prove_nothing(requires):
    assert proved(of(half), *requires) == []


def test_a_compressor_that_cannot_be_proves_nothing():
    """With alpha > 1 no compressor is contractive: all that is measured vanishes, and any rate is one."""
    setting = own.read(EXAMPLES / "gallery/ef21.py").setting
    assert proved(setting, ft.letters("alpha") >= 2) == []


def test_a_potential_that_says_nothing_of_the_iterate_says_so(tmp_path, capsys):
    (found, *_) = proved(of(forgetting, state={"x": "point", "h": "clients"}), SHORT)
    assert found.weights.keys() == {"mean |h_i|^2"} and found.silent == ("x",)
    path = tmp_path / "forgetting.py"
    path.write_text(
        "import fedtheory as ft\n"
        "mu, L, gamma = ft.letters('mu L gamma')\n"
        "def step(problem, params, state, draw):\n"
        "    g = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n\n"
        "    return {'x': state.x + params.gamma * g, 'h': state.h / 2}\n"
        "method = ft.method('m', step, ['gamma'], {'x': 'point', 'h': 'clients'})\n"
        "setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))\n"
    )
    assert main(["discover", str(path), "--where", "gamma*(mu + L) <= 2"]) == 0
    assert "V says nothing of x" in capsys.readouterr().out


def test_a_part_that_is_always_zero_is_no_potential():
    assert proved(of(vanishing, state={"x": "point", "h": "clients"}), SHORT) == []


def test_a_potential_is_nowhere_negative():
    """The floor is proved of what is a potential, and of no difference of two measures."""
    setting, at = posed_spans.with_letters(own.read(EXAMPLES / "gallery/nesterov.py").setting, ())
    every = {m.words: m for m in spans.measures(setting.algorithm, setting.functions, at)}
    span = posed_spans.Span(setting, (), tuple(every.values()), None)
    D, F, rate = every["|z - x*|^2"], every["f(x) - f*"], sympy.S.Half
    good = closed_forms._found(span, {D: sympy.S.One, F: sympy.S(2)}, rate, None)
    bad = closed_forms._found(span, {D: sympy.S.One, F: sympy.S(-2)}, rate, None)
    assert not isinstance(prove(good.floor, work=WORK), str)
    assert isinstance(prove(bad.floor, work=WORK), str)
