"""LoCoDL's rivals: reference algorithms in exact arithmetic, their theorems, and planted errors."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import sympy
from first_found import at_few, first_found
from in_turn import in_turn, of_kind

from fedtheory import compressors
from fedtheory.algorithms import (
    adiana,
    compressed_scaffnew,
    diana,
    ef21,
    fedcomgate,
    fivegcs_cc,
    gradskip,
    run,
    scaffnew,
)
from fedtheory.compressors import Family, contractive
from fedtheory.learning.logistic import logistic_with_condition
from fedtheory.numbers.rational import evaluate, exact, to_float
from fedtheory.papers.baseline import rival_settings
from fedtheory.papers.baseline import rivals as baseline
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import with_spectra
from fedtheory.randomness import expectation
from fedtheory.randomness.masks import Pattern
from fedtheory.settings.hypotheses import Hypothesis
from verify import Verdict
from verify.base.case import Case
from verify.base.evaluate import sides
from verify.comparisons.exact import parts
from verify.evidence.parsing import number
from verify.methods.second_moments import moment_radius
from verify.search import spectral

MODULES = (diana, ef21, adiana, scaffnew, gradskip, compressed_scaffnew, fivegcs_cc, fedcomgate)
NAMES = [module.algorithm.name for module in MODULES]
CLAIMS = {claim.id: claim for claim in baseline.CLAIMS}
Q = Fraction


def _algorithm(name):
    return MODULES[NAMES.index(name)].algorithm


def _claim(name):
    """A claim that runs the algorithm."""
    return next(c for c in baseline.CLAIMS if c.setting.algorithm is _algorithm(name))


def _recipes(name, count, seed=0):
    """The first recipes of the algorithm's setting that have an instance."""
    claim, found = _claim(name), []
    for recipe in claim.instances.recipes(np.random.default_rng(seed)):
        try:
            _build(name, recipe, True)
        except ValueError:
            continue
        if len(recipe["clients"]) > 4:
            # Draws of twelve clients are too many to enumerate.
            continue
        found.append(recipe)
        if len(found) == count:
            return found


def _build(name, recipe, is_exact):
    return _claim(name).instances.build(recipe, is_exact)


def _after(algorithm, instance, state, is_exact=True):
    """All states after one step, and their probabilities."""
    draws, p = algorithm.draws(instance.problem, instance.params, state).support(is_exact)
    return algorithm.step(instance.problem, instance.params, state, draws), p


# Reference algorithms


@pytest.mark.parametrize("name", NAMES)
def test_optimum_is_a_fixed_point(name):
    algorithm = _algorithm(name)
    for recipe in _recipes(name, 12):
        instance = _build(name, recipe, True)
        state = algorithm.fixed_point(instance.problem, instance.params)
        later, _ = _after(algorithm, instance, state)
        for field, new in zip(state, later, strict=True):
            assert (new == field).all()


@pytest.mark.parametrize("name", [n for n in NAMES if _algorithm(n).invariant])
def test_invariant_holds_exactly_along_runs(name):
    algorithm, rng = _algorithm(name), np.random.default_rng(1)
    for recipe in _recipes(name, 8):
        instance = _build(name, recipe, True)
        problem, params = instance.problem, instance.params
        state = algorithm.init(problem, params)
        for _ in range(4):
            state = algorithm.step(problem, params, state, algorithm.draws(problem, params, state).sample(rng))
            assert (algorithm.invariant(problem, params, state) == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_exact_and_float_steps_agree(name):
    algorithm, rng = _algorithm(name), np.random.default_rng(2)
    for recipe in _recipes(name, 12):
        precise, rounded = (_build(name, recipe, is_exact) for is_exact in (True, False))
        theta = rng.integers(-3, 4, (1, precise.dimension))
        results = []
        for instance, start in ((precise, exact(theta)), (rounded, theta.astype(float))):
            _, state = instance.at(start)
            assert np.allclose(to_float(instance.coordinates(state))[0], theta)
            state = type(state)(*(field[0, 0] for field in state))
            results.append(_after(algorithm, instance, state, instance is precise))
        (exact_states, p), (float_states, p_float) = results
        assert p.sum() == 1
        assert all(isinstance(v, Fraction) for field in exact_states for v in np.ravel(field))
        for a, b in zip((*exact_states, p), (*float_states, p_float), strict=True):
            np.testing.assert_allclose(to_float(a), b, rtol=1e-9, atol=1e-9 * (1 + abs(b).max()))


def _heterogeneous(n=4, d=3, kappa=10.0):
    return Problem(with_spectra([np.geomspace(1.0, kappa, d)] * n, np.random.default_rng(3)))


def _theories(problem):
    one = compressors.rand_k(problem.d, 2)
    family, mild = Family(one, problem.n), Family(compressors.natural(problem.d), problem.n)
    return {
        "diana": diana.theory(problem, family),
        "ef21": ef21.theory(problem, contractive.top_k(problem.d, 1)),
        "adiana": adiana.theory(problem, family),
        "scaffnew": scaffnew.theory(problem),
        "gradskip": gradskip.theory(problem),
        "compressed-scaffnew": compressed_scaffnew.theory(problem),
        "5gcs-cc": fivegcs_cc.theory(problem, family, C=3),
        "fedcomgate": fedcomgate.theory(problem, mild, K=2),
    }


@pytest.mark.parametrize("name", NAMES)
def test_parameters_of_the_theorem_converge_to_the_optimum(name):
    problem = _heterogeneous()
    algorithm, params = _algorithm(name), _theories(problem)[name]
    fixed = algorithm.fixed_point(problem, params)

    def error(state):
        return sum(((a - b) ** 2).reshape(2, -1).sum(axis=-1) for a, b in zip(state, fixed, strict=True))

    errors = run(algorithm, problem, params, 3000, np.random.default_rng(4), error, replicas=2)
    assert (errors[-1] < 1e-16 * errors[0]).all()


def test_parameters_of_the_theorem_meet_its_hypotheses():
    problem = _heterogeneous()
    for name, params in _theories(problem).items():
        # A hair less, for what rounding adds to a stepsize at its bound.
        bounded = {"diana": {"gamma", "alpha"}, "adiana": set(), "fedcomgate": {"eta"}}.get(name, {"gamma", "eta"})
        stepsizes = bounded & set(params._fields)
        params = params._replace(**{key: getattr(params, key) * (1 - 1e-8) for key in stepsizes})
        claim = CLAIMS.get(f"baseline/{name}/one-step", CLAIMS["baseline/fedcomgate/limit/repaired"])
        values = claim.setting.bind(problem, params)
        for hypothesis in claim.requires:
            relation = hypothesis.relation
            if isinstance(relation, sympy.Eq):
                assert float(evaluate(relation.lhs - relation.rhs, values)) == pytest.approx(0, abs=1e-14)
            elif hypothesis is not rival_settings.CONVEX:
                assert hypothesis.holds(problem, params, values), (name, hypothesis.text)


def test_5gcs_prox_solves_its_problem_beyond_quadratics():
    rng = np.random.default_rng(5)
    labels = np.where(rng.random((3, 8)) < 0.5, -1.0, 1.0)
    problem = Problem(logistic_with_condition(rng.standard_normal((3, 8, 2)), labels, 50.0))
    tau, x_hat, u = 0.01, rng.standard_normal((4, 2)), rng.standard_normal((4, 3, 2))
    y = fivegcs_cc.local_prox(problem, tau, x_hat, u)
    slope = (problem.f.gradient(y) - problem.mu * y) / 3 + tau * (y - x_hat[:, None] - u / tau)
    assert abs(slope).max() < 1e-12
    params = fivegcs_cc.theory(problem, Family(compressors.identity(2), 3))
    fixed = fivegcs_cc.fixed_point(problem, params)
    later = fivegcs_cc.step(problem, params, fixed, fivegcs_cc.draws(problem, params, fixed).sample(rng))
    assert abs(later.x - fixed.x).max() < 1e-9


# Draws and compressors


@pytest.mark.parametrize("n, d, s", [(2, 3, 2), (3, 2, 2), (4, 3, 3), (5, 2, 2), (6, 2, 2), (7, 2, 3)])
def test_pattern_covers_every_coordinate_s_times(n, d, s):
    pattern = Pattern(n, d, s)
    masks, p = pattern.support(True)
    assert len(masks) == pattern.count == len(np.unique(masks.reshape(len(masks), -1), axis=0))
    assert (masks.sum(axis=1) == s).all()
    sent = masks.sum(axis=2)
    assert sent.max() == compressed_scaffnew.reals(n, d, s) and sent.min() == s * d // n
    # Any two clients send a coordinate together equally often: all that the theorem needs.
    share = expectation(np.moveaxis(masks[:, :, None, :] & masks[:, None, :, :], 0, -1) * Q(1), p)
    same = np.eye(n, dtype=bool)
    assert (share[same] == Q(s, n)).all() and (share[~same] == Q(s * (s - 1), n * (n - 1))).all()
    drawn = pattern.sample(np.random.default_rng(6), (3, 50))
    known = {mask.tobytes() for mask in masks}
    assert drawn.shape == (3, 50, n, d) and {m.tobytes() for m in drawn.reshape(-1, n, d)} <= known


def test_pattern_rejects_bad_s_and_large_supports():
    with pytest.raises(ValueError, match="between 2"):
        Pattern(4, 2, 1)
    with pytest.raises(ValueError, match="sample it"):
        Pattern(30, 30, 2).support()
    few, many = _heterogeneous(n=4, d=3), _heterogeneous(n=8, d=2)
    assert compressed_scaffnew.theory(few).s == 2 and compressed_scaffnew.theory(many).s == 4


@pytest.mark.parametrize(
    "one",
    [
        contractive.top_k(3, 1),
        contractive.top_k(3, 2),
        contractive.scaled(compressors.rand_k(3, 1)),
        contractive.scaled(compressors.bernoulli(3, Q(3, 2))),
    ],
    ids=lambda one: one.name,
)
def test_contraction_factor_holds_and_is_attained(one):
    for x in (exact([1, -1, 1]), exact([3, 0, -4]), exact([0, 0, 0]), exact([Q(1, 3), 5, 5])):
        draws, p = one.draws.support(True)
        error = expectation(((one.apply(draws, x) - x) ** 2).sum(axis=-1), p)
        assert error <= (1 - one.alpha) * (x**2).sum()
        if abs(x[0]) == abs(x[1]) == abs(x[2]):
            assert error == (1 - one.alpha) * (x**2).sum()


def test_top_k_keeps_the_largest_entries():
    one = contractive.top_k(4, 2)
    x = np.array([[1.0, -5.0, 2.0, 2.0], [0.0, 0.0, 0.0, -1.0]])
    assert (one.apply(one.draws.sample(np.random.default_rng(0), (2,)), x) == [[0, -5, 2, 0], [0, 0, 0, -1]]).all()
    assert one.bits == 2 * (32 + 2)
    with pytest.raises(ValueError, match="top-k keeps"):
        contractive.top_k(3, 4)


# Theorems

_BASE = {"d": 1, "x": (Q(0),), "mu": Q(1), "k": 0, "joint": "independent"}


def _clients(*curvatures, q=()):
    return tuple({"h": (Q(h),), "y": (Q(0),), **({"q": Q(q[i])} if q else {})} for i, h in enumerate(curvatures))


ATTAINED = {
    "diana": (
        {"L": Q(1), "clients": _clients(1, 1), "omega": Q(1), "gamma": Q(1, 4), "alpha": Q(1, 2)},
        (1, -1, -1),
    ),
    "scaffnew": ({"L": Q(4), "clients": _clients(1, 4), "gamma": Q(1, 4), "p": Q(1, 2)}, (0, 0, 1)),
    "gradskip": ({"L": Q(4), "clients": _clients(1, 4, q=(0, 1)), "gamma": Q(1, 4), "p": Q(1, 2)}, (0, 0, 0, 1)),
    "compressed-scaffnew": (
        {"L": Q(4), "clients": _clients(1, 1, 4), "gamma": Q(2, 5), "eta": Q(3, 4), "p": Q(1, 2), "s": 2},
        (0, 0, 0, 1, -1),
    ),
    "5gcs-cc": (
        {"L": Q(2), "clients": _clients(2, 2), "omega": Q(3), "gamma": Q(10), "tau": Q(1, 80), "C": 1},
        (0, 1, -1),
    ),
}


@pytest.mark.parametrize("name", ATTAINED)
def test_bound_is_attained(name):
    recipe, point = ATTAINED[name]
    claim, instance = CLAIMS[f"baseline/{name}/one-step"], _build(name, {**_BASE, **recipe}, True)
    values = claim.setting.bind(instance.problem, instance.params)
    assert all(h.holds(instance.problem, instance.params, values) for h in claim.requires)
    (part,) = parts(Case.of(claim, instance), tuple(map(Q, point)), 1)
    assert part.left[0] == part.right[0] > 0


def test_six_in_diana_cannot_be_lowered():
    recipe, _ = ATTAINED["diana"]
    larger = {**_BASE, **recipe, "gamma": 1 / (1 + Q(599, 100) / 2)}
    theta = spectral.worst(*_forms(CLAIMS["baseline/diana/one-step"], _build("diana", larger, False))).theta
    rational = tuple(Q(v).limit_denominator(10**6) for v in theta.tolist())
    (part,) = parts(Case.of(CLAIMS["baseline/diana/one-step"], _build("diana", larger, True)), rational, 1)
    assert part.left[0] > part.right[0]


def _forms(claim, instance):
    return spectral.forms(lambda theta: sides(Case.of(claim, instance), theta)[0], instance.dimension)


@pytest.mark.parametrize("n, omega, stable", [(2, 1, True), (2, 3, False), (3, 1, True), (3, 2, False), (4, 2, False)])
def test_fedcomgate_diverges_with_strong_compression(n, omega, stable):
    """With tiny steps the corrections' second moment is multiplied by omega (n-1)/n a round, whatever the steps."""
    recipe = {**_BASE, "L": Q(1), "clients": _clients(*[1] * n), "omega": Q(omega)}
    tiny = {**recipe, "eta": Q(1, 10**6), "gamma": Q(1), "K": 2}
    radius = moment_radius(Case.of(CLAIMS["baseline/fedcomgate/limit"], _build("fedcomgate", tiny, False)))
    assert radius < 1 if stable else radius == pytest.approx(omega * (n - 1) / n, rel=1e-4)


# Planted errors


def _change(name, factors, **params_factors):
    """The algorithm with the change of some fields multiplied by a factor, or run with wrong parameters."""
    algorithm = _algorithm(name)

    def step(problem, params, state, draw):
        wrong = params._replace(**{key: getattr(params, key) * factor for key, factor in params_factors.items()})
        new = algorithm.step(problem, wrong, state, draw)
        factor = {key: value(params) if callable(value) else value for key, value in factors.items()}
        return new._replace(
            **{k: getattr(state, k) + f * (getattr(new, k) - getattr(state, k)) for k, f in factor.items()}
        )

    return dataclasses.replace(algorithm, step=step)


def _with_step(name, step):
    return dataclasses.replace(_algorithm(name), step=step)


def _compress_gradients(problem, params, state, draw):
    """DIANA with C(grad f_i) in place of h_i + C(grad f_i - h_i)."""
    plain = diana.step(problem, params, state._replace(h=0 * state.h, h_bar=0 * state.h_bar), draw)
    return diana.step(problem, params, state, draw)._replace(x=plain.x)


def _send_whole_gradients(problem, params, state, draw):
    """EF21 that adds C(grad f_i) to g_i."""
    x = ef21.step(problem, params, state, draw).x
    c = params.compressor.apply(draw, problem.f.gradient(x[..., None, :]))
    return state._replace(x=x, g=state.g + c)


def _stale_gradients(problem, params, state, draw):
    """EF21 that compresses the difference to the gradient at the old x."""
    new = ef21.step(problem, params, state, draw)
    c = params.compressor.apply(draw, problem.f.gradient(state.x[..., None, :]) - state.g)
    return new._replace(g=state.g + c)


def _learn_at_x(problem, params, state, draw):
    """ADIANA whose anchor never moves."""
    return adiana.step(problem, params, state, draw)._replace(w=state.w + 0 * draw.theta[..., None])


def _swapped_coins(problem, params, state, draw):
    return gradskip.step(problem, params, state, draw._replace(eta=~draw.eta))


def _mean_over_all(problem, params, state, draw):
    """CompressedScaffnew that divides the sum of the s entries by n."""
    return compressed_scaffnew.step(problem, params._replace(s=problem.n), state, draw)


def _sum_for_mean(problem, params, state, draw):
    """The server adds the clients' messages instead of averaging them."""
    new = diana.step(problem, params, state, draw)
    return new._replace(h_bar=state.h_bar + problem.n * (new.h_bar - state.h_bar))


def _without_mean(problem, params, state, draw):
    """FedCOMGATE whose corrections do not lose the mean of the messages."""
    new = fedcomgate.step(problem, params, state, draw)
    mean = (state.w - new.w) / (params.eta * params.gamma)
    return new._replace(delta=new.delta + mean[..., None, :] / params.K)


def _step_rule(claim, text, relation):
    kept = tuple(h for h in claim.requires if text not in h.text)
    assert len(kept) < len(claim.requires)
    return claim.variant(requires=(*kept, *(() if relation is None else (Hypothesis("planted", relation),))))


def _planted():
    b = baseline
    one = {name: CLAIMS.get(f"baseline/{name}/one-step") for name in NAMES}
    steps = {
        ("diana", "control variate, sign"): _change("diana", {"h": -1}),
        ("diana", "control variate not updated"): _change("diana", {"h": 0}),
        ("diana", "control variate, 2 alpha"): _change("diana", {}, alpha=2),
        ("diana", "gradients compressed"): _with_step("diana", _compress_gradients),
        ("ef21", "estimate, sign"): _change("ef21", {"g": -1}),
        ("ef21", "estimate not updated"): _change("ef21", {"g": 0}),
        ("ef21", "whole gradient sent"): _with_step("ef21", _send_whole_gradients),
        ("ef21", "stale gradient"): _with_step("ef21", _stale_gradients),
        ("adiana", "control variate, sign"): _change("adiana", {"h": -1}),
        ("adiana", "control variate not updated"): _change("adiana", {"h": 0}),
        ("adiana", "anchor does not move"): _with_step("adiana", _learn_at_x),
        ("adiana", "momentum too long"): _change("adiana", {}, gamma=8),
        ("scaffnew", "control variate, sign"): _change("scaffnew", {"h": -1}),
        ("scaffnew", "control variate not updated (FedAvg)"): _change("scaffnew", {"h": 0}),
        ("scaffnew", "control variate without p"): _change("scaffnew", {"h": lambda params: 1 / params.p}),
        ("scaffnew", "control variate, p^2"): _change("scaffnew", {"h": lambda params: params.p}),
        ("gradskip", "coins swapped"): _with_step("gradskip", _swapped_coins),
        ("gradskip", "control variate, sign"): _change("gradskip", {"h": -1}),
        ("gradskip", "control variate not updated"): _change("gradskip", {"h": 0}),
        ("compressed-scaffnew", "mean over all"): _with_step("compressed-scaffnew", _mean_over_all),
        ("compressed-scaffnew", "control variate, sign"): _change("compressed-scaffnew", {"h": -1}),
        ("compressed-scaffnew", "control variate not updated"): _change("compressed-scaffnew", {"h": 0}),
        ("5gcs-cc", "dual step without 1/(1+omega)"): _change("5gcs-cc", {"u": lambda params: 1 + params.omega}),
        ("5gcs-cc", "dual step not updated"): _change("5gcs-cc", {"u": 0}),
        ("5gcs-cc", "divided by all for sampled"): _change("5gcs-cc", {}, C=Q(2)),
    }
    found = {f"{name}: {error}": one[name].variant(algorithm=wrong) for (name, error), wrong in steps.items()}
    invariants = {
        ("diana", "sum for mean"): _with_step("diana", _sum_for_mean),
        ("fedcomgate", "mean not subtracted"): _with_step("fedcomgate", _without_mean),
        ("compressed-scaffnew", "mean over all"): _with_step("compressed-scaffnew", _mean_over_all),
    }
    for (name, error), wrong in invariants.items():
        found[f"{name} invariant: {error}"] = CLAIMS[f"baseline/{name}/invariant"].variant(algorithm=wrong)
    le, omega, n, gamma, mu, L, p = sympy.Le, b.omega, b.n, b.gamma, b.mu, b.L, b.p
    found |= {
        "diana: 1 + 4 omega/n": _step_rule(one["diana"], "6 omega", le(gamma * L * (1 + 4 * omega / n), 1)),
        "diana: shared randomness": one["diana"].variant(
            requires=one["diana"].requires[:1] + one["diana"].requires[2:]
        ),
        "diana: alpha free": _step_rule(one["diana"], "alpha <=", None),
        "ef21: no theta/(2 mu)": _step_rule(one["ef21"], "theta/(2 mu)", None),
        "ef21: gamma free": CLAIMS["baseline/ef21/descent"].variant(requires=(rival_settings.CONTRACTIVE,)),
        "scaffnew: gamma free": _step_rule(one["scaffnew"], "1/L", None),
        "scaffnew: p for p^2": one["scaffnew"].variant(factor=1 - sympy.Min(gamma * mu, p)),
        "gradskip: gamma <= 1/L": _step_rule(one["gradskip"], "min_i", le(gamma * L, 1)),
        "compressed-scaffnew: eta free": _step_rule(one["compressed-scaffnew"], "eta", None),
        "5gcs-cc: tau free": _step_rule(one["5gcs-cc"], "gamma tau", None),
        "adiana: squared rate": one["adiana"].variant(factor=one["adiana"].statement.factor ** 2),
        "diana: rate without 2": CLAIMS["baseline/diana/rate"].variant(
            right=1 - 1 / ((1 + 6 * omega / n) * L / mu + (1 + omega) / 2)
        ),
        "ef21: 1/alpha": CLAIMS["baseline/ef21/stepsize"].variant(right=1 / b.alpha),
    }
    return found


PLANTED = _planted()


@pytest.mark.parametrize("name", in_turn(PLANTED, lambda name: PLANTED[name].id, lambda name: of_kind(PLANTED[name])))
def test_planted_error_is_refuted(name):
    evidence = first_found(PLANTED[name])
    assert evidence.verdict is Verdict.REFUTED
    example = evidence.counterexample
    assert [number(v) for v in example.replay()] == [number(example.left), number(example.right)]


@pytest.mark.parametrize("factor", [-1, 0, 4])
def test_fedcomgate_with_wrong_corrections_does_not_contract(factor):
    claim = CLAIMS["baseline/fedcomgate/limit/repaired"]
    evidence = at_few(claim.variant(algorithm=_change("fedcomgate", {"delta": factor})), 40)
    assert evidence.verdict in (Verdict.NOT_TESTED, Verdict.REFUTED) and evidence.instances > 0


def test_user_errors_are_one_sentence():
    with pytest.raises(ValueError, match="at least one client"):
        _build("diana", {**_recipes("diana", 1)[0], "clients": ()}, True)
