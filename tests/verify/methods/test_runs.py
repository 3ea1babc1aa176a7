"""Long runs on functions that are no quadratics: what fails late, or only there, is refuted, and nothing that holds."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import sympy
from first_found import at_few

import fedtheory as ft
from fedtheory import E, T
from fedtheory.numbers.rational import exact
from fedtheory.sampling import drawing
from verify.base.verdict import Verdict
from verify.comparisons import limits
from verify.comparisons import limits as linear_maps
from verify.methods import METHODS, determinants, runs
from verify.methods.base import Inquiry

METHOD = next(m for m in METHODS if m.name == "runs")
mu, L, gamma, beta = ft.letters("mu L gamma beta")
DISTANCE, LATER = ft.Quantity("D", ft.distance), ft.Quantity("D_T", ft.distance, after=True)
RATE = (1 - gamma * mu) ** 2


def _slope(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def _descend(problem, params, state, draw):
    return {"x": state.x - params.gamma * _slope(problem, state.x)}


def _roll(problem, params, state, draw):
    momentum = params.beta * (state.x - state.before)
    return {"x": state.x - params.gamma * _slope(problem, state.x) + momentum, "before": state.x}


DESCENT = ft.method("gradient-descent", _descend, ["gamma"], {"x": "point"})
HEAVY_BALL = ft.method("heavy-ball", _roll, ["gamma", "beta"], {"x": "point", "before": "point"})
#: Runs of it that begin at any two points.
ANYWHERE = ("x", "before")


def _setting(algorithm, kappa=(), clients=(1,), quadratics=False, kinks=True, start=()):
    functions = ft.SmoothStronglyConvex(mu, L, quadratics=quadratics)
    drawing = ft.Drawing(conditions=tuple(map(Fraction, kappa)), kinks=kinks, start=start)
    return ft.Setting(algorithm=algorithm, functions=functions, drawing=drawing, clients=clients)


def _descent(bound, clients=(1,)):
    statement = ft.bound(DESCENT, E(LATER) <= bound * DISTANCE)
    return ft.Claim(
        "own/descent", setting=_setting(DESCENT, (), clients), statement=statement, requires=(gamma * L <= 1,)
    )


def _optimal(kappa):
    root = sympy.sqrt(kappa)
    return (sympy.Eq(gamma * L * (root + 1) ** 2, 4 * kappa), sympy.Eq(beta, ((root - 1) / (root + 1)) ** 2))


def _rolling(kappa, clients=(1,), **more):
    statement = ft.Limit(HEAVY_BALL, DISTANCE, "x -> x*")
    setting = _setting(HEAVY_BALL, (kappa,), clients, start=ANYWHERE, **more)
    return ft.Claim("own/heavy-ball", setting=setting, statement=statement, requires=_optimal(kappa))


def _found(claim, seed=0):
    # Without the search, which is slow and says nothing of late rounds.
    return METHOD.run(METHOD, Inquiry(claim, seed, 0, given=()))


@pytest.mark.parametrize("late", [17, 64])
def test_a_bound_that_fails_at_one_round_only(late):
    claim = _descent(RATE**T * (Fraction(1, 2) + (T - late) ** 2))
    found = _found(claim)
    assert found.verdict is Verdict.REFUTED and found.counterexample.rounds == late
    example = found.counterexample
    assert example.replay() == (example.left, example.right) and example.left > example.right
    assert all(isinstance(side, Fraction) for side in example.replay())


def test_beside_a_proof_few_runs_are_looked_at():
    holds, fails = _descent(RATE**T), _descent(RATE**T * (Fraction(1, 2) + (T - 17) ** 2))
    stored = METHOD.skipped("")
    inquiry = Inquiry(holds, 0, 0, given=())
    found = METHOD.guard(METHOD, inquiry, stored)
    assert found.verdict is None and found.instances == runs.LIMITS.few < METHOD.run(METHOD, inquiry).instances
    # Whatever was stored.
    assert METHOD.guard(METHOD, Inquiry(fails, 0, 0, given=()), stored).verdict is Verdict.REFUTED


def test_a_bound_that_holds_on_quadratics_only():
    # On quadratics the distance is at most (1 + 2 T) beta^(T/2) times what it was, from two equal iterates.
    setting = _setting(HEAVY_BALL, (9,))
    statement = ft.bound(HEAVY_BALL, E(LATER) <= 100 * (T + 1) ** 2 * beta**T * DISTANCE)
    claim = ft.Claim("own/heavy-ball/bound", setting=setting, statement=statement, requires=_optimal(9))
    found = _found(claim)
    assert found.verdict is Verdict.REFUTED and found.counterexample.rounds > 3
    assert "slopes" in found.counterexample.text


def _sublinear(bound):
    statement = ft.bound(DESCENT, E(ft.Quantity("G_T", ft.gap, after=True)) <= bound * L * DISTANCE)
    setting = ft.Setting(algorithm=DESCENT, functions=ft.SmoothConvex(L), clients=(1,))
    return ft.Claim("own/convex", setting=setting, statement=statement, requires=(sympy.Eq(gamma * L, 1),))


def test_a_rate_that_convex_functions_without_strong_convexity_do_not_have():
    # The worst of them, flat beyond a distance, has L |x_0 - x*|^2/(4 T + 2).
    assert _found(_sublinear(1 / (4 * T + 2))).verdict is None
    found = _found(_sublinear(10 / (T + 1) ** 2))
    assert found.verdict is Verdict.REFUTED and "slopes" in found.counterexample.text


def test_no_runs_where_draws_cannot_be_followed():
    def step(problem, params, state, draw):
        share = np.where(np.asarray(draw), 2, 0)[..., None]
        return {"x": state.x - share * params.gamma * _slope(problem, state.x)}

    coin = ft.method(
        "coin", step, ["gamma"], {"x": "point"}, draws=lambda problem, params, state: ft.Bernoulli(Fraction(1, 2))
    )
    claim = ft.Claim("own/coin", setting=_setting(coin), statement=ft.Limit(coin, DISTANCE, "x -> x*"))
    assert _found(claim).verdict is None


@pytest.mark.parametrize("clients", [(1,), (2,)])
def test_the_heavy_ball_that_is_optimal_on_quadratics_has_a_cycle(clients):
    found = _found(_rolling(25, clients))
    example = found.counterexample
    assert found.verdict is Verdict.REFUTED and example.part == limits.CYCLE
    assert example.left == example.right > 0 and example.replay() == (example.left, example.right)
    # A state that is not on the cycle, and a number of rounds that does not lead back, are told.
    for changed in ({"point": tuple(v + 1 for v in example.point)}, {"rounds": example.rounds + 1}):
        with pytest.raises(ValueError, match="do not lead back"):
            dataclasses.replace(example, **changed).replay()


@pytest.mark.parametrize(
    "claim",
    [
        _descent(RATE**T),
        _descent(RATE**T, (2, 3)),
        _rolling(25, quadratics=True),
        _rolling(25, kinks=False),
        _rolling(4),
        ft.Claim(
            "own/descent/limit",
            setting=_setting(DESCENT),
            statement=ft.Limit(DESCENT, DISTANCE, "x -> x*"),
            requires=(gamma * L <= Fraction(199, 100),),
        ),
    ],
    ids=["bound", "bound-clients", "quadratics", "no-kinks", "kappa-4", "limit"],
)
def test_what_holds_is_not_refuted(claim):
    found = _found(claim)
    assert found.verdict is None and found.instances > 0


def _summing(problem, params, state, draw):
    return {**_descend(problem, params, state, draw), "h": state.h + state.x - problem.x_star}


def test_what_stays_at_any_point_of_a_line_does_not_vanish():
    parts = {"x": "point", "h": "point"}

    def fixed(problem, params):
        return method.State(problem.x_star, 0 * problem.x_star)

    method = ft.method("summing", _summing, ["gamma"], parts, fixed_point=fixed)
    for name, verdict in (("h", Verdict.REFUTED), ("x", None)):
        away = ft.distance if name == "x" else lambda problem, params, state: (state.h**2).sum(axis=-1)
        statement = ft.Eventually(method, vanishing=(ft.Quantity("Q", away),))
        claim = ft.Claim(
            "own/sum", setting=_setting(method, start=("x", "h")), statement=statement, requires=(gamma * L <= 1,)
        )
        found = _found(claim)
        assert found.verdict is verdict
        assert verdict is None or found.counterexample.replay()[0] > 0
    # Long runs, which leave open what does not vanish, come after it.
    names = [m.name for m in METHODS]
    assert names.index("runs") < names.index("long runs")


@pytest.mark.parametrize("start", [(), ("x",)])
def test_what_no_run_begins_with_refutes_no_limit(start):
    # By default h starts at 0, and stays there, so that x is that of gradient descent.
    def held(problem, params, state, draw):
        return {
            "x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2) + state.h,
            "h": state.h,
        }

    def fixed(problem, params):
        return method.State(problem.x_star, 0 * problem.x_star)

    method = ft.method("held", held, ["gamma"], {"x": "point", "h": "point"}, fixed_point=fixed)
    setting = _setting(method, start=start)
    for statement in (ft.Limit(method, DISTANCE, "x -> x*"), ft.Eventually(method, vanishing=(DISTANCE,))):
        claim = ft.Claim("own/held", setting=setting, statement=statement, requires=(gamma * L <= 1,))
        assert at_few(claim).verdict is not Verdict.REFUTED
    # Runs that begin at any h are refuted at as few.
    anywhere = dataclasses.replace(claim, setting=_setting(method, start=("x", "h")))
    assert at_few(anywhere).verdict is Verdict.REFUTED


def test_an_eigenvalue_of_size_one_refutes_a_limit():
    method = next(m for m in METHODS if m.name == "determinants")
    statement = ft.Limit(HEAVY_BALL, DISTANCE, "x -> x*")
    longest = 2 * (1 + beta)
    for factor, verdict in ((1, Verdict.REFUTED), (Fraction(99, 100), None)):
        requires = (sympy.Eq(gamma * L, factor * longest), beta <= Fraction(1, 2))
        claim = ft.Claim(
            "own/longest", setting=_setting(HEAVY_BALL, start=ANYWHERE), statement=statement, requires=requires
        )
        found = determinants.run(method, Inquiry(claim, 0, 8))
        assert found.verdict is verdict
        if verdict is not None:
            assert found.counterexample.part == linear_maps.SCHUR_COHN
            assert found.counterexample.replay() == (found.counterexample.left, found.counterexample.right)


def test_schur_cohn_against_eigenvalues():
    rng = np.random.default_rng(0)
    for m in (1, 2, 3, 4):
        for _ in range(40):
            A = rng.integers(-4, 5, (m, m))
            scaled = exact(A) / int(rng.integers(1, 9))
            left, right = linear_maps.stage(linear_maps.characteristic(scaled))
            radius = abs(np.linalg.eigvals(scaled.astype(float))).max()
            if abs(radius - 1) > 1e-9:
                assert (left < right) == (radius < 1)
    # On the unit circle, exactly: a rotation, and a double eigenvalue.
    for A in ([[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]], [[1, 1], [0, 1]]):
        left, right = linear_maps.stage(linear_maps.characteristic(exact(A)))
        assert left >= right


def test_runs_with_draws_are_followed_as_far_as_trees_of_draws_go():
    @dataclasses.dataclass(frozen=True)
    class Half:
        count = 2

        def sample(self, rng, size=()):
            return rng.random(size) < 0.5

        def support(self, exact=False):
            return np.array([True, False]), np.array([Fraction(1, 2)] * 2) if exact else np.ones(2) / 2

    def lazy(problem, params, state, draw):
        moved = state.x - params.gamma * _slope(problem, state.x)
        return {"x": np.where(draw[..., None], moved, state.x)}

    method = ft.method("lazy", lazy, ["gamma"], {"x": "point"}, draws=lambda problem, params, state: Half())
    half = (1 + RATE) / 2
    for bound, verdict in ((half**T, None), (half**T * (Fraction(9, 10) + (T - 5) ** 2), Verdict.REFUTED)):
        statement = ft.bound(method, E(LATER) <= bound * DISTANCE)
        claim = ft.Claim("own/lazy", setting=_setting(method), statement=statement, requires=(gamma * L <= 1,))
        found = _found(claim)
        assert found.verdict is verdict
        assert verdict is None or found.counterexample.rounds == 5
    assert (
        5 <= max(place.rounds for place in runs.places(Inquiry(claim, 0, 0, given=()), np.random.default_rng(0))) < 10
    )


def test_runs_on_functions_that_are_linear_alone():
    # At one recipe all slopes may be 0, of which a bend is to make positive ones.
    setting = ft.Setting(algorithm=DESCENT, functions=ft.SmoothConvex(L), clients=(1,))
    claim = ft.Claim("own/descent", setting=setting, statement=ft.bound(DESCENT, E(LATER) <= DISTANCE))
    recipes = (drawing.line(recipe) for recipe in claim.instances.recipes(np.random.default_rng(0)))
    recipe = next(recipe for recipe in recipes if recipe is not None)
    profiles = drawing.Profiles(np.zeros((2, 1, 3)), np.array([[[0.0, 1.0]], [[-1.0, 0.0]]]))
    problem = drawing.build(setting, recipe, profiles).problem
    assert np.allclose(problem.f.gradient(np.full((2, 1, 1, 1), 3.0)), problem.y_star)
