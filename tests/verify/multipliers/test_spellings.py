"""How a theorem is written does not decide: roots, letters that hypotheses define, inequalities of states."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy
from first_found import first_found

import fedtheory as ft
from fedtheory import definitions
from fedtheory.settings.hypotheses import Hypothesis
from verify import Verdict
from verify.multipliers.proving import prove

mu, L, gamma, p, alpha, lam = ft.letters("mu L gamma p alpha lam")
theta, beta, r = ft.letters("theta beta r")


def gradients(problem, x):
    return problem.f.gradient(x[..., None, :])


def square_of_gradient(problem, params, state):
    return (gradients(problem, state.x).mean(axis=-2) ** 2).sum(axis=-1)


def proves(claim):
    return not isinstance(prove(claim), str)


def descent(name, method, error, weight, adversary, requires, c=1):
    F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
    R, R_next = ft.Quantity("R", error), ft.Quantity("R_next", error, after=True)
    G = ft.Quantity("G", square_of_gradient)
    statement = ft.one_step(method, ft.E(F_next + weight * R_next) <= F + weight * R - c * gamma / 2 * G)
    domain = (p <= 1,) if "p" in method.Params._fields else ()
    setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), adversaries=(adversary,), domain=domain)
    return ft.Claim(f"mine/{name}", setting=setting, statement=statement, requires=requires)


# MARINA, with the stepsize as it is printed


class Draw(NamedTuple):
    whole: Any
    sent: Any


def _marina(problem, params, state, draw):
    x = state.x - params.gamma * state.g
    new, old = gradients(problem, x), gradients(problem, state.x)
    sent = params.compressors.apply(draw.sent, new - old).mean(axis=-2)
    return {"x": x, "g": np.where(draw.whole[..., None], new.mean(axis=-2), state.g + sent)}


def _error(problem, params, state):
    return ((state.g - gradients(problem, state.x).mean(axis=-2)) ** 2).sum(axis=-1)


marina = ft.method(
    "marina",
    _marina,
    ["gamma", "p", "compressors"],
    {"x": "point", "g": "point"},
    draws=lambda problem, params, state: ft.Product(Draw, (ft.Bernoulli(params.p), params.compressors.draws)),
)
A = (1 - p) * ft.omega / (p * ft.n)
STEPS = {
    "a product": (gamma * L * (1 + sympy.sqrt(A)) <= 1,),
    "a quotient": (gamma <= 1 / (L * (1 + sympy.sqrt(A))),),
    "the step itself": (sympy.Eq(gamma, 1 / (L * (1 + sympy.sqrt(A)))),),
    "roots apart": (gamma * L * (1 + sympy.sqrt(1 - p) * sympy.sqrt(ft.omega / ft.n) / sympy.sqrt(p)) <= 1,),
    "a letter": (sympy.Eq(r, sympy.sqrt(A)), gamma * L * (1 + r) <= 1),
}


def of_marina(requires, c=1):
    weight = gamma / (2 * p)
    return descent("marina", marina, _error, weight, ft.UnbiasedCompressors(independent=True), requires, c)


@pytest.mark.parametrize("name", ["a letter", *(pytest.param(n, marks=pytest.mark.slow) for n in STEPS)])
def test_marina_with_the_step_as_it_is_printed(name):
    assert proves(of_marina(STEPS[name]))


@pytest.mark.parametrize("name", STEPS)
def test_marina_with_too_much_descent_is_not_proved(name):
    assert not proves(of_marina(STEPS[name], 2))


@pytest.mark.slow
def test_marina_with_too_long_steps_is_refuted():
    longer = (gamma * L * (1 + sympy.sqrt(A) / 4) <= 1,)
    assert not proves(of_marina(longer))
    assert first_found(of_marina(longer)).verdict is Verdict.REFUTED


# EF21, with theta and beta


def _ef21(problem, params, state, draw):
    x = state.x - params.gamma * state.g.mean(axis=-2)
    return {"x": x, "g": state.g + params.compressor.apply(draw, gradients(problem, x) - state.g)}


def _errors(problem, params, state):
    return ((state.g - gradients(problem, state.x)) ** 2).sum(axis=-1).mean(axis=-1)


ef21 = ft.method("ef21", _ef21, ["gamma", "alpha", "compressor"], {"x": "point", "g": "clients"})
root = sympy.sqrt(1 - alpha)
short = gamma * (L + L * sympy.sqrt(beta / theta)) <= 1
GIVEN = {
    "in alpha": (gamma * (L + L * sympy.sqrt((1 - alpha) / (1 - root) ** 2)) <= 1,),
    "theta and beta": (sympy.Eq(theta, 1 - root), sympy.Eq(beta, (1 - alpha) / (1 - root)), short),
    "beta by theta": (sympy.Eq(theta, 1 - root), sympy.Eq(beta, (1 - alpha) / theta), short),
    "the other way round": (short, sympy.Eq((1 - alpha) / theta, beta), sympy.Eq(1 - root, theta)),
}


def of_ef21(requires, c=1):
    weight = gamma / (2 * theta) if len(requires) > 1 else gamma / (2 * (1 - root))
    return descent("ef21", ef21, _errors, weight, ft.ContractiveCompressors(), requires, c)


@pytest.mark.parametrize("name", GIVEN)
def test_ef21_with_its_letters_as_they_are_printed(name):
    claim = of_ef21(GIVEN[name])
    assert not {theta, beta} & set(claim.setting.letters)
    assert proves(claim)


@pytest.mark.parametrize("name", GIVEN)
def test_ef21_with_too_much_descent_is_refuted(name):
    assert not proves(of_ef21(GIVEN[name], 2))
    assert first_found(of_ef21(GIVEN[name], 2)).verdict is Verdict.REFUTED


# Letters that a hypothesis defines


def _descend(problem, params, state, draw):
    return {"x": state.x - params.gamma * gradients(problem, state.x).mean(axis=-2)}


plain = ft.method("descent", _descend, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=plain, functions=ft.SmoothStronglyConvex(mu, L))


def contraction(factor, *requires):
    statement = ft.contracts(plain, ft.distance, factor)
    return ft.Claim("mine/step", setting=setting, statement=statement, requires=requires)


def test_that_a_defined_letter_is_positive_is_a_hypothesis():
    # It holds where 1 - 2 gamma L is positive, and not up to gamma L = 2.
    true = contraction((1 - gamma * mu) ** 2, sympy.Eq(theta, 1 - 2 * gamma * L))
    assert proves(true) and true.requires[0].relation == sympy.Gt(1 - 2 * gamma * L, 0)
    q = sympy.Symbol("q", real=True)
    anything = contraction((1 - gamma * mu) ** 2, sympy.Eq(q, 1 - 2 * gamma * L))
    assert not proves(anything)
    assert first_found(anything).verdict is Verdict.REFUTED


def test_a_defined_letter_stands_for_what_it_is():
    for power, verdict in ((2, True), (3, False)):
        claim = contraction(theta**power, sympy.Eq(theta, 1 - gamma * mu), gamma * L <= 1)
        assert proves(claim) is verdict and claim.statement.factor == (1 - gamma * mu) ** power
    assert first_found(claim).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    "requires",
    [
        # A parameter, a constant of the class, and an integer have values.
        (sympy.Eq(gamma, 1 / L),),
        (sympy.Eq(mu, L / 2),),
        (sympy.Eq(ft.integers("k_0"), gamma * L),),
        # In a circle, or by itself, nothing is defined.
        (sympy.Eq(theta, gamma * theta + 1),),
    ],
)
def test_what_has_a_value_is_not_defined(requires):
    known = {"gamma", "mu", "L", "n", "d"}
    given = [Hypothesis(str(h), h) for h in requires]
    statement = ft.contracts(plain, ft.distance, theta)
    assert definitions.put_in(statement, given, known) == (statement, tuple(given))


def test_letters_defined_in_a_circle_are_told():
    with pytest.raises(ValueError, match="have a value for"):
        prove(contraction(1, sympy.Eq(theta, gamma * beta), sympy.Eq(beta, gamma * theta + 1), theta * beta <= 2))


# Roots of squares are absolute values


def test_the_root_of_a_square_has_the_sign_of_neither():
    size = sympy.sqrt((L - 3 * mu) ** 2)
    for sign in (1, -1):
        # Smaller than what is attained where L - 3 mu has the other sign.
        factor = (1 - gamma * mu) ** 2 + sign * gamma * (L - 3 * mu) - gamma * size
        claim = contraction(factor, gamma * L <= sympy.Rational(1, 2))
        assert not proves(claim)
        assert first_found(claim).verdict is Verdict.REFUTED


def test_the_root_of_a_square_of_known_sign_is_no_root():
    assert proves(
        contraction(1 - sympy.sqrt(gamma**2 * mu**2 * (1 + gamma * mu) ** 2 / (1 + gamma * mu) ** 2), gamma * L <= 1)
    )
    assert proves(contraction(1 - gamma * sympy.sqrt((L - mu) ** 2) * mu / L, gamma * L <= 1))


# Inequalities of states: of an operator, of a single client


def _of_pairs(step):
    return lambda problem, params, state, draw: {
        "z": step(problem, params, state.z),
        "w": step(problem, params, state.w),
    }


def _splitting(problem, params, z):
    shift = 1 / params.gamma
    x = problem.f.resolvent(shift, shift * z[..., None, :])
    y = problem.g.resolvent(shift, shift * (2 * x - z[..., None, :]))
    return z + (y - x)[..., 0, :]


def _rest(problem, params):
    z = problem.x_star + params.gamma * problem.y_star[..., 0, :]
    return {"z": z, "w": z}


drs = ft.method("drs", _of_pairs(_splitting), ["gamma"], {"z": "point", "w": "point"}, fixed_point=_rest)


def _apart(problem, params, state):
    return ((state.z - state.w) ** 2).sum(axis=-1)


def _apart_after(problem, params, state):
    T = [_splitting(problem, params, z) for z in (state.z, state.w)]
    return ((T[0] - T[1]) ** 2).sum(axis=-1)


def _inner(problem, params, state):
    T = [_splitting(problem, params, z) for z in (state.z, state.w)]
    return ((T[0] - T[1]) * (state.z - state.w)).sum(axis=-1)


FAMILIES = [
    ft.Convex(),
    *(pytest.param(of, marks=pytest.mark.slow) for of in (ft.SmoothConvex(L), ft.SmoothStronglyConvex(mu, L))),
]


@pytest.mark.parametrize("of", FAMILIES, ids=lambda of: type(of).__name__)
def test_douglas_rachford_is_firm_written_as_an_inequality(of):
    space = ft.Setting(algorithm=drs, functions=ft.Composite(of), clients=(1,))
    Q, D = ft.Quantity("Q", _apart_after), ft.Quantity("D", _inner)
    claim = ft.Claim("mine/firm", setting=space, statement=ft.inequality(Q <= D))
    assert proves(claim)
    for wrong in (ft.inequality(sympy.Rational(11, 10) * Q <= D), ft.inequality(D <= Q)):
        assert not proves(replace(claim, statement=wrong))


def _moved(problem, params, state):
    T = [_splitting(problem, params, z) for z in (state.z, state.w)]
    return (((state.z - T[0]) - (state.w - T[1])) ** 2).sum(axis=-1)


def test_douglas_rachford_is_firm_written_as_a_step():
    space = ft.Setting(algorithm=drs, functions=ft.Composite(ft.Convex()), clients=(1,))
    V, V_next = ft.Quantity("V", _apart), ft.Quantity("V_next", _apart, after=True)
    M = ft.Quantity("M", _moved)
    for c, verdict in ((1, True), (sympy.Rational(6, 5), False)):
        statement = ft.one_step(drs, ft.E(V_next) + c * M <= V)
        assert proves(ft.Claim("mine/firm", setting=space, statement=statement)) is verdict


def _slopes(problem, params, state):
    g = (gradients(problem, state.z) - gradients(problem, state.w)).mean(axis=-2)
    return (g**2).sum(axis=-1)


def _along(problem, params, state):
    g = (gradients(problem, state.z) - gradients(problem, state.w)).mean(axis=-2)
    return (g * (state.z - state.w)).sum(axis=-1)


@pytest.mark.parametrize("clients", [(1,), (2,), (1, 2, 2, 3, 3, 4)])
def test_cocoercivity_of_one_client_and_of_several(clients):
    step = _of_pairs(lambda problem, params, z: z - params.gamma * gradients(problem, z).mean(axis=-2))
    pair = ft.method("pair", step, ["gamma"], {"z": "point", "w": "point"})
    space = ft.Setting(algorithm=pair, functions=ft.SmoothConvex(L), clients=clients)
    G, C = ft.Quantity("G", _slopes), ft.Quantity("C", _along)
    claim = ft.Claim("mine/co", setting=space, statement=ft.inequality(G <= L * C))
    assert proves(claim)
    assert not proves(replace(claim, statement=ft.inequality(G <= L * C / 2)))


def test_a_statement_of_states_does_not_need_the_step():
    def unread(problem, params, state, draw):
        return {"z": np.sort(state.z), "w": state.w}

    pair = ft.method("pair", unread, ["gamma"], {"z": "point", "w": "point"})
    space = ft.Setting(algorithm=pair, functions=ft.SmoothConvex(L), clients=(1,))
    claim = ft.Claim(
        "mine/co", setting=space, statement=ft.inequality(ft.Quantity("G", _slopes) <= L * ft.Quantity("C", _along))
    )
    assert proves(claim)
