"""The benchmark of LoCoDL's experiments: the problem, the bits it counts, what it concludes, and the command."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from fedtheory import compressors, data
from fedtheory.algorithms import fivegcs_cc, locodl
from fedtheory.compressors import Family
from fedtheory.problems.logistic import Logistic

experiments = importlib.import_module("locodl_experiments")
runs = importlib.import_module("locodl_runs")


def small(sparse: bool = False, n: int = 5, kappa: float = 50.0):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(n, 4, 6))
    if sparse:
        A = np.where(rng.random(A.shape) < 0.2, A, 0.0)
    return runs.pose(A, np.where(rng.random((n, 4)) < 0.5, -1.0, 1.0), "noise", kappa)


TASK = small()
PLANS = list(runs.plans(TASK, runs.METHODS, runs.COMPRESSORS))


@pytest.mark.parametrize("sparse", [False, True])
def test_losses_are_logistic_losses(sparse):
    f = small(sparse).losses
    assert (f._rows is not None) == sparse
    plain = Logistic(f.A, f.b, f.mu)
    rng = np.random.default_rng(0)
    for x in (rng.normal(size=(2, 5, 6)), rng.normal(size=(3, 1, 6))):
        np.testing.assert_allclose(f.gradient(x), plain.gradient(x), atol=1e-14)
    x = rng.normal(size=(3, 6))
    np.testing.assert_allclose(f.average(x), plain.value(x[:, None, :]).mean(axis=-1))


def test_both_forms_are_the_same_problem_with_the_stated_condition():
    f, g, x = TASK.split.f, TASK.split.g, np.random.default_rng(0).normal(size=6)
    whole = TASK.plain.f.value(x[None]).mean()
    assert f.value(x[None]).mean() + g.value(x[None])[0] == pytest.approx(whole)
    assert TASK.split.L / TASK.split.mu == pytest.approx(50)
    assert TASK.plain.mu == pytest.approx(2 * TASK.split.mu)
    assert TASK.split.optimum.kkt < 1e-10
    target = f.gradient(TASK.split.x_star[None])
    np.testing.assert_allclose(TASK.split.y_star, target, atol=1e-12)
    for how in ("gap", "distance"):
        assert TASK.error(np.stack([0 * x, TASK.plain.x_star]), how) == pytest.approx([1, 0], abs=1e-12)


def test_there_is_a_plan_for_every_method_and_compressor_that_apply():
    assert len(PLANS) == 6 * 4 + 4
    assert {p.method for p in PLANS} == set(runs.METHODS)


def test_bits_are_those_of_the_compressors():
    for plan in PLANS:
        if plan.method in runs.UNCOMPRESSED:
            continue
        made = runs._made(plan.compressor, 6, plan.k)
        assert plan.bits == made.bits * (2 if plan.method == "ADIANA" else 1)
        if plan.method == "LoCoDL":
            assert plan.k == 2, "ceil(d/n), Corollary 3.2"
    by_method = {p.method: p.bits for p in PLANS}
    assert by_method["Scaffnew"] == by_method["GradSkip"] == 6 * 32
    assert by_method["SCAFFOLD"] == 2 * 6 * 32
    # s = 2: ceil(2 * 6/5) entries.
    assert by_method["CompressedScaffnew"] == 3 * 32
    many = small(n=14)
    (plan,) = runs.plans(many, ["CompressedScaffnew"], [])
    assert (plan.params.s, plan.bits) == (2, 32), "n > 2d: two clients a coordinate, one entry each"


@pytest.mark.parametrize("plan", PLANS, ids=lambda p: p.label)
def test_plans_stay_at_the_optimum_and_count_their_messages(plan):
    """5GCS-CC too, whose prox is inexact; and bits grow by one message each time that all communicate."""
    rng = np.random.default_rng(0)
    state = plan.algorithm.fixed_point(plan.problem, plan.params)
    state = type(state)(*(np.broadcast_to(v, (2, *v.shape)) for v in state))
    for _ in range(5):
        draw = plan.sample(rng, state, 2)
        after = plan.algorithm.step(plan.problem, plan.params, state, draw)
        talks = plan.talks(draw, 2)
        assert talks.shape == (2,) and talks.dtype == bool
        for old, new in zip(state, after, strict=True):
            np.testing.assert_allclose(new, old, atol=1e-9)
    assert TASK.error(plan.model(state), "gap") == pytest.approx([0, 0], abs=1e-12)


def test_an_iteration_without_communication_needs_no_compression():
    plan = next(p for p in PLANS if p.method == "LoCoDL")
    rng = np.random.default_rng(0)
    state = locodl.init(TASK.split, plan.params, x=rng.normal(size=(1, 5, 6)), y=rng.normal(size=(1, 6)))
    full = Family(plan.params.compressors.compressor, 5)
    real = locodl.Coins(np.array([False]), full.draws.sample(rng, (1,)))
    expected = locodl.step(TASK.split, plan.params._replace(compressors=full), state, real)
    found = locodl.step(TASK.split, plan.params, state, real._replace(compression=runs._IDLE))
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)
    talking = real._replace(theta=np.array([True]))
    before, after = (
        locodl.step(TASK.split, plan.params._replace(compressors=c), state, talking)
        for c in (full, plan.params.compressors)
    )
    np.testing.assert_array_equal(before.x, after.x)


def test_the_inexact_prox_is_near_the_exact_one():
    params = fivegcs_cc.theory(TASK.plain, Family(compressors.identity(6), 5))
    prox, rng = runs._Prox(TASK, params.tau), np.random.default_rng(0)
    for _ in range(60):
        x_hat, u = rng.normal(size=(2, 6)), rng.normal(size=(2, 5, 6)) / 5
        exact = fivegcs_cc.local_prox(TASK.plain, params.tau, x_hat, u)
        scale = np.linalg.norm(exact - x_hat[..., None, :])
        assert np.linalg.norm(prox(x_hat, u) - exact) < 0.02 * scale


@pytest.mark.parametrize("method", ["LoCoDL", "5GCS-CC", "DIANA", "Scaffnew", "CompressedScaffnew"])
def test_runs_converge_and_report_the_bits_that_they_took(method):
    plan = next(p for p in PLANS if p.method == method)
    limits = runs.Limits(1e-5, np.inf, 6000)
    curve = runs.run(plan, TASK, limits, "gap", 2, np.random.default_rng(0))
    assert curve.errors[-1].max() <= 1e-5
    assert (np.diff(curve.bits, axis=0) >= 0).all() and (curve.bits % plan.bits == 0).all()
    assert 0 < curve.bits_to(1e-2) < curve.bits_to(1e-5) <= curve.bits[-1].max()
    assert curve.bits_to(1e-9) == np.inf
    if method == "DIANA":
        assert curve.spent == plan.bits * curve.iterations
    short = runs.run(plan, TASK, limits._replace(bits=10 * plan.bits), "gap", 2, np.random.default_rng(0))
    assert short.bits[-1].min() == 10 * plan.bits


def curve(method: str, kind: str, reached: float, spent: float = 1000.0):
    """A run that reached every target at ``reached`` bits, or (infinite) none until ``spent``."""
    plan = next(p for p in PLANS if p.method == method and p.compressor in (kind, runs.PATTERN, runs.FLOATS))
    last = reached if np.isfinite(reached) else spent
    errors = np.array([[1.0], [0.0 if np.isfinite(reached) else 0.9]])
    return runs.Curve(plan, np.array([[0.0], [last]]), errors, 1)


def test_orderings_are_held_broken_or_left_open():
    scale = experiments.Scale((1e-3,), 1, 1)

    def best(*rivals):
        curves = [curve("LoCoDL", runs.BOTH, 100), *rivals]
        return next(iter(experiments.orderings({5: curves}, scale)))

    assert "held (1 of 1" in best(curve("DIANA", runs.BOTH, 101))
    assert "held (1 of 1" in best(curve("DIANA", runs.BOTH, np.inf, 101))
    broken = best(curve("DIANA", runs.BOTH, 500), curve("5GCS-CC", runs.L1, 99))
    assert "did not hold (1 of 2" in broken and "5GCS-CC at n = 5, error 0.001" in broken
    # Stopped at 50 bits: it might have got there at 60.
    assert "not decided" in best(curve("DIANA", runs.BOTH, np.inf, 50))
    assert "not decided" in best(curve("DIANA", runs.L1, 200), curve("DIANA", runs.BOTH, np.inf, 50))
    assert "did not hold" in best(curve("DIANA", runs.BOTH, 100))


def test_regimes():
    assert runs.regimes(6414, 122) == (87, 284)
    assert runs.regimes(768, 8) == (5, 18, 72)
    assert runs.regimes(3, 10) == (1,)


def test_dirichlet_rows_are_points_of_the_simplex():
    rows = runs.dirichlet(10.0, np.random.default_rng(0))
    assert (rows.rows, rows.d) == (100, 10)
    np.testing.assert_allclose(rows.A.sum(axis=1), 1)


def test_the_command_writes_a_table_and_a_figure(tmp_path, capsys):
    arguments = ["--dirichlet", "1", "--kappa", "30", "--quick", "--methods", "LoCoDL", "ADIANA", "Scaffnew"]
    assert experiments.main([*arguments, "--compressors", runs.BOTH, "--seeds", "2", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "bits.md").read_text()
    assert text.splitlines()[0].startswith("| n | method | compressor")
    assert "| 100 | LoCoDL | rand-1 natural | 13 |" in text
    sentence = next(line for line in text.splitlines() if line.startswith("- LoCoDL with rand-k natural needs fewer"))
    assert "comparisons" in sentence and sentence in capsys.readouterr().out
    assert (tmp_path / "bits.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "/nowhere"], "there is no file"),
        (["--dirichlet", "0"], "must be positive"),
        (["--clients", "1"], "at least two clients"),
        (["--clients", "10000"], "cannot be split over 10000"),
        (["--kappa", "1"], "above 1"),
        (["--seeds", "0"], "at least one run"),
        (["--budget", "0"], "budget must be positive"),
    ],
)
def test_bad_arguments(arguments, message, tmp_path, capsys):
    assert experiments.main([*arguments, "--out", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_the_bundled_data_have_the_regimes_of_the_quick_run():
    rows = data.bundled()
    assert runs.regimes(rows.rows, rows.d)[0] < rows.d
