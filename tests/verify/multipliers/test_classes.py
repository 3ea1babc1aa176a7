"""What classes, proximal points, noise, square roots and a single client come to in a program."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import sympy
from places import EXAMPLES

import fedtheory as ft
from fedtheory import claims
from fedtheory.classes.base import ELL, MU, Declared
from fedtheory.numbers.rational import square_root
from fedtheory.numbers.symbols import n, omega
from fedtheory.papers.baseline.rival_settings import alpha, eta, p, theta_1, theta_2
from fedtheory.papers.fedadmm import inner
from fedtheory.papers.fedadmm.letters import alpha_i, r_i, rho, s_i, sigma_i
from fedtheory.settings.hypotheses import Hypothesis
from verify.base.own import load
from verify.multipliers.cases import cases
from verify.multipliers.posing import pose
from verify.multipliers.proofs import Wrong, checked
from verify.multipliers.proving import prove, stored
from verify.multipliers.work import STEP
from verify.reading.declarations import declarations
from verify.reading.source import Unread

mu, L, M, gamma, q = ft.letters("mu L M gamma q")


def shown(claim, work=STEP):
    return not isinstance(prove(claim, work), str)


@pytest.mark.parametrize(
    "name",
    (
        *("fedprox", "proximal_point", "polyak_lojasiewicz", "sgd", "subgradient", "point_saga", "optimized_gradient"),
        # Entries of their matrices cancel at some points: floats alone refuse the multipliers that are right.
        *("gradient_norm", "ef_tight"),
        *("restricted_secant", "quadratic_growth", "sgd_nonconvex", "coordinate_descent"),
        *("saga_strongly_convex", "scaffold"),
    ),
)
def test_theorems_of_the_gallery_are_proved_and_more_is_not(name):
    true, false = load(EXAMPLES / "gallery" / f"{name}.py")
    assert shown(true) and not shown(false)


def test_what_classes_declare():
    assert declarations(ft.SmoothConvex(L)).bounds == (0, ELL, None, False)
    assert declarations(ft.Convex()).bounds[:2] == (0, None)
    assert declarations(ft.ConvexLipschitz(M)).bounds.steepest == ELL**2
    composite = declarations(ft.Composite(ft.SmoothStronglyConvex(mu, L)))
    assert composite.bounds[:2] == (MU, ELL) and composite.of_g[:2] == (0, None) and not composite.convex
    assert declarations(ft.SmoothEach(mu, L)).bounds is None and declarations(None) == Declared()
    assert declarations(ft.PolyakLojasiewicz(mu, L, own=True)).bounds.own


@dataclass(frozen=True)
class Mine(ft.SmoothConvex):
    """A class of somebody's own that inherits a declaration, of members that are others."""

    def contains(self, problem, params):
        return True


@dataclass(frozen=True)
class Told(ft.SmoothConvex):
    """A class of somebody's own that declares more than holds."""

    @property
    def declares(self):
        return ft.SmoothStronglyConvex(mu, L).declares


@dataclass(frozen=True)
class Named(ft.SmoothConvex):
    """A class of somebody's own under the name of one of ours."""

    __module__ = "fedtheory.classes.smooth"
    __qualname__ = "SmoothConvex"

    @property
    def declares(self):
        return ft.SmoothConvex(self.L).declares


OTHERS = (Mine, Told, Named)


@pytest.mark.parametrize("of", (*(of(L) for of in OTHERS), *(ft.Composite(of(L)) for of in OTHERS)))
def test_nothing_is_assumed_of_classes_that_are_not_ours(of):
    assert declarations(of) == Declared()
    assert not shown(_claim(_descent, of, sympy.Integer(1), (gamma * L <= 1,)))


def _claim(step, functions, factor, requires=(), of=ft.distance, params=("gamma",), **more):
    method = ft.method("mine", step, list(params), {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=functions, **more)
    return ft.Claim("mine/step", setting=setting, statement=ft.contracts(method, of, factor), requires=requires)


def _mean_of_gradients(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def _descent(problem, params, state, draw):
    return {"x": state.x - params.gamma * _mean_of_gradients(problem, state.x)}


def _gradients(problem, params, state):
    return (problem.f.gradient(state.x[..., None, :]) ** 2).sum(axis=(-1, -2))


@pytest.mark.parametrize("clients", ((1,), (1, 2, 3)))
def test_what_is_true_of_a_single_client_is_not_taken_for_all(clients):
    # At x* the gradients of several clients are not zero, and stay as they are.
    claim = _claim(_descent, ft.SmoothConvex(L), sympy.Integer(1), (gamma * L <= 1,), _gradients, clients=clients)
    assert shown(claim) is (clients == (1,))


def _corrected(problem, params, state, draw):
    # A proximal point, and from there the difference of two subgradients, which is zero where there is only one.
    target = state.x[..., None, :] / params.gamma
    point = problem.f.resolvent(1 / params.gamma, target)
    change = problem.f.gradient(point) - (target - point / params.gamma)
    return {"x": (point + params.gamma * change)[..., 0, :]}


@pytest.mark.parametrize("functions", (ft.Convex(), ft.SmoothConvex(L)))
def test_of_kinks_a_subgradient_is_not_that_of_the_proximal_point(functions):
    claim = _claim(_corrected, functions, sympy.Integer(1), clients=(1,))
    assert shown(claim) is isinstance(functions, ft.SmoothConvex)


def _if_there_are_resolvents(problem, params, state, draw):
    longer = 3 if hasattr(problem.f, "resolvent") else 1
    return {"x": state.x - longer * params.gamma * _mean_of_gradients(problem, state.x)}


def test_code_that_asks_for_resolvents_is_read_as_it_runs():
    assert shown(_claim(_descent, ft.SmoothStronglyConvex(mu, L), 1 - gamma * mu, (gamma * L <= 1,)))
    claim = _claim(_if_there_are_resolvents, ft.SmoothStronglyConvex(mu, L), 1 - gamma * mu, (gamma * L <= 1,))
    assert not shown(claim)


def _rooted(problem, params, state, draw):
    return {"x": square_root(1 - params.q) * state.x + (1 - square_root(1 - params.q)) * problem.x_star}


@pytest.mark.parametrize(("factor", "right"), ((1 - q, True), ((1 - q) ** 2, False), (sympy.sqrt(1 - q), True)))
def test_square_roots_are_those_that_are_positive(factor, right):
    claim = _claim(_rooted, ft.Convex(), factor, (q <= 1,), params=("q",))
    assert shown(claim) is right


def test_a_square_root_in_the_code_is_of_what_is_nonnegative():
    # Without q <= 1 there is no step at some q.
    assert not shown(_claim(_rooted, ft.Convex(), 1 - q, params=("q",)))


FIVEGCS = "baseline/5gcs-cc/one-step"


@pytest.mark.parametrize("old", ("gamma tau (n + (n/m) omega) <= 1", "m <= n"))
def test_each_hypothesis_on_sampled_clients_is_needed(old):
    claim = claims.get(FIVEGCS)
    requires = tuple(h for h in claim.requires if h.text != old)
    setting = replace(claim.setting, domain=()) if old == "m <= n" else claim.setting
    assert not shown(replace(claim, id="mine/other", setting=setting, requires=requires))


def test_a_mean_square_is_known_of_the_function_alone_that_the_class_has():
    claim = claims.get("baseline/ef21/descent")
    (square,) = (letter for letter, source in claim.setting.letters.items() if callable(source))
    half = {**claim.setting.letters, square: lambda problem, params: (problem.f.L**2).mean() / 2}
    assert not shown(replace(claim, setting=replace(claim.setting, letters=half)), 0)


def test_equations_leave_no_letter_free():
    # Where mu = L the equation mu = q^2 L says that q = 1.
    setting = {"functions": ft.SmoothStronglyConvex(mu, L), "requires": (sympy.Eq(mu, q**2 * L),), "params": ("q",)}
    claim = _claim(
        lambda problem, params, state, draw: {"x": params.q * state.x + 0 * problem.x_star}, factor=1, **setting
    )
    equal = next(case for case in cases(claim) if case.equal)
    posed = pose(claim, equal)
    assert not posed.target.of


CONTRACTION = "fedadmm/theorem-3.1/contraction"


@pytest.mark.parametrize("share", ((sympy.Rational(99, 100), 1), (1, sympy.Rational(99, 100)), None))
def test_a_penalty_that_is_a_little_smaller_lets_inner_steps_contract_less(share):
    claim = claims.get(CONTRACTION)
    old = next(h for h in claim.requires if h is inner.PENALTY)
    least, most = (of * at for of, at in zip((s_i, rho * r_i / 2), share or (0, 0), strict=True))
    new = () if share is None else (Hypothesis("a smaller one", sympy.Ge(sigma_i, alpha_i * (least + most))),)
    others = tuple(h for h in claim.requires if h is not old)
    assert not shown(replace(claim, id="mine/contraction", requires=others + new))


def test_gradient_steps_on_weakly_convex_functions_expand_by_their_modulus():
    s, r = sympy.Symbol("s", nonnegative=True), sympy.Symbol("r", positive=True)
    functions = ft.WeaklyConvex(s, r, optimum="stationary")

    def claim(factor):
        return _claim(_descent, functions, factor, (gamma * r <= 1,), clients=(1,))

    assert shown(claim((1 + gamma * s) ** 2)) and not shown(claim(1 + gamma * s))


def test_of_weakly_convex_functions_the_modulus_is_at_most_the_lipschitz_constant():
    s, r = sympy.Symbol("s", nonnegative=True), sympy.Symbol("r", positive=True)
    assert shown(_claim(_descent, ft.WeaklyConvex(s, r), (1 + gamma * r) ** 2, clients=(1,)))


@pytest.mark.parametrize(("by", "right"), ((sympy.Min, True), (sympy.Max, False)))
def test_what_is_the_least_of_several_is_at_most_each(by, right):
    hypothesis = sympy.Eq(gamma, by(1 / L, q / (1 + sympy.sqrt(q))), evaluate=False)
    functions, params = ft.SmoothStronglyConvex(mu, L), ("gamma", "q")
    assert shown(_claim(_descent, functions, 1 - gamma * mu, (hypothesis,), params=params)) is right


ADIANA = "baseline/adiana/one-step"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    (
        ("eta = min", sympy.Eq(eta, sympy.Min(2 / L, n / (64 * omega * (2 * p * (omega + 1) + 1) ** 2 * L)))),
        ("eta = min", sympy.Eq(eta, 1 / (2 * L), evaluate=False)),
        ("theta_1 = min", sympy.Eq(theta_1, sympy.Rational(1, 2), evaluate=False)),
        ("theta_2 = 1/2", sympy.Eq(theta_2, sympy.Rational(1, 4), evaluate=False)),
        ("alpha = 1/(1 + omega)", sympy.Eq(alpha, 2 / (1 + omega), evaluate=False)),
        ("the compressors are mutually independent", None),
    ),
)
def test_what_is_stored_of_adiana_shows_nothing_with_other_parameters(old, new):
    claim = claims.get(ADIANA)
    (left_out,) = (h for h in claim.requires if h.text.startswith(old))
    others = tuple(h for h in claim.requires if h is not left_out)
    requires = others if new is None else (*others, Hypothesis("another", new))
    case = cases(claim)[1]
    with pytest.raises((Wrong, Unread)):
        checked(pose(replace(claim, requires=requires), case), stored()[ADIANA][case.name])
