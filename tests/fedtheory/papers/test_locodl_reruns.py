"""The runs of LoCoDL's figures: the problem, the bits that are counted, stepsizes, and what a panel measures."""

import numpy as np
import pytest

from fedtheory import data
from fedtheory.papers.locodl.reruns import FIGURES, methods, panels
from fedtheory.papers.locodl.reruns.names import BOTH, COMPRESSED, FEW, MANY, MORE, PLAIN
from fedtheory.problems.logistic import Logistic


def small(sparse=False, n=5):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(n, 4, 6))
    A = np.where(rng.random(A.shape) < 0.2, A, 0.0) if sparse else A
    return methods.pose(A, np.where(rng.random((n, 4)) < 0.5, -1.0, 1.0), "noise", 50.0)


TASK = small()
PLANS = [p for m in (*COMPRESSED, *PLAIN) for p in methods.plans(TASK, m, COMPRESSED.get(m, ()))]


@pytest.mark.parametrize("sparse", [False, True])
def test_losses_are_logistic_losses(sparse):
    f = small(sparse).losses
    assert (f._rows is not None) == sparse
    x = np.random.default_rng(0).normal(size=(3, 5, 6))
    np.testing.assert_allclose(f.gradient(x), Logistic(f.A, f.b, f.mu).gradient(x), atol=1e-14)
    np.testing.assert_allclose(f.average(x[:, 0]), f.value(x[:, :1]).mean(axis=-1))


def test_both_forms_are_the_same_problem_with_the_stated_condition():
    f, g, x = TASK.split.f, TASK.split.g, np.random.default_rng(0).normal(size=6)
    assert f.value(x[None]).mean() + g.value(x[None])[0] == pytest.approx(TASK.plain.f.value(x[None]).mean())
    assert TASK.split.L / TASK.split.mu == pytest.approx(50)
    assert TASK.error(np.stack([0 * x, TASK.plain.x_star])) == pytest.approx([1, 0], abs=1e-12)


def test_bits_are_those_of_the_messages():
    for plan in PLANS:
        if plan.method in COMPRESSED:
            bits = methods._made(plan.compressor, 6, plan.k).bits
            assert plan.bits == bits * (2 if plan.method == "ADIANA" else 1)
    bits = {plan.method: plan.bits for plan in PLANS}
    # s = 2: ceil(2 * 6/5) entries.
    assert (bits["GradSkip"], bits["SCAFFOLD"], bits["CompressedScaffnew"]) == (6 * 32, 2 * 6 * 32, 3 * 32)
    assert {plan.k for plan in PLANS if plan.method == "LoCoDL" and plan.compressor == BOTH} == {2}


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.label)
def test_the_optimum_stays_where_it_is_at_any_stepsize(plan):
    for factor in (1, 0.5):
        scaled = plan.scaled(factor)
        state = plan.algorithm.fixed_point(plan.problem, scaled.params)
        draw = plan.algorithm.draws(plan.problem, scaled.params, state).sample(np.random.default_rng(0), (1,))
        after = plan.algorithm.step(plan.problem, scaled.params, state, draw)
        np.testing.assert_allclose(plan.model(after).reshape(-1, 6)[0], TASK.plain.x_star, atol=1e-9)


def test_regimes_are_those_of_the_text():
    assert panels.numbers(6414, 122) == {FEW: 87, MORE: 284}
    assert list(panels.numbers(768, 8)) == [FEW, MORE, MANY]
    with pytest.raises(ValueError, match="too few"):
        panels.tasks(data.Dataset("two", np.eye(2), np.array([1, -1])), (6,), ("LoCoDL",), False, (0,))


def test_a_panel_measures_what_the_statements_compare(monkeypatch):
    monkeypatch.setattr(panels, "_ITERATIONS", 100)
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 4))
    rows = data.Dataset("noise", A, np.sign(A[:, 0] + rng.normal(size=60)))
    tasks = panels.tasks(rows, (2, 9, 18), ("LoCoDL", "DIANA"), True, (0, 1))
    assert list(tasks) == ["n = 2", "n = 9", "n = 18"]
    found = tasks["n = 9"]()
    assert all(len(spans) == 2 for spans in found.numbers.values())
    assert all(span.low <= span.high for spans in found.numbers.values() for span in spans)
    assert len(found.notes) == len(found.curves) == 5
    stated = {key for figure in FIGURES[:8] for s in figure.statements for part in s.parts for key in part.keys}
    assert set(found.numbers) <= stated


@pytest.mark.parametrize("plan", [plan for plan in PLANS if plan.lazy], ids=lambda plan: plan.label)
def test_only_replicas_that_communicate_draw_what_they_send(plan):
    rng, coin = np.random.default_rng(1), plan.algorithm.draws(plan.problem, plan.params, None).parts[0]
    state = plan.algorithm.init(plan.problem, plan.params)
    state = type(state)(*(rng.normal(size=(8, *field.shape)) for field in state))
    seed = next(s for s in range(100) if 0 < coin.sample(np.random.default_rng(s), (8,)).sum() < 8)
    after, talks = plan.advance(np.random.default_rng(seed), state, 8)
    # A replica that is silent does what it does alone, whatever would have been drawn.
    draws = plan.algorithm.draws(plan.problem, plan.params, state).sample(rng, (8,))
    silent = plan.algorithm.step(plan.problem, plan.params, state, draws._replace(theta=np.zeros(8, dtype=bool)))
    for found, field, before in zip(after, silent, state, strict=True):
        np.testing.assert_allclose(found[~talks], field[~talks])
        assert not np.isclose(found[talks], field[talks]).all() and found.shape == before.shape


def test_a_model_is_known_when_there_was_a_communication():
    (plan, *_) = methods.plans(TASK, "LoCoDL", (BOTH,))
    found = methods.run(plan, TASK, methods.Limits(1e-9, np.inf, 200), 3, np.random.default_rng(0))
    # Where nothing was sent the error is that of the start, and it changes only with the bits.
    assert (found.errors[found.bits == 0] == 1).all()
    same = np.diff(found.bits, axis=0) == 0
    assert (np.diff(found.errors, axis=0)[same] == 0).all()


def test_local_problems_are_solved_where_preconditioners_fail(monkeypatch):
    (plan,) = methods.plans(TASK, "5GCS-CC", (BOTH,))
    limits = methods.Limits(1e-3, np.inf, 300)
    quick = methods.run(plan, TASK, limits, 2, np.random.default_rng(0))
    monkeypatch.setattr(methods, "_PROX_STEPS", 0)
    exact = methods.run(plan, TASK, limits, 2, np.random.default_rng(0))
    assert not quick.costs(1e-3)[2].any()
    np.testing.assert_allclose(quick.costs(1e-3)[0], exact.costs(1e-3)[0], rtol=0.2)
