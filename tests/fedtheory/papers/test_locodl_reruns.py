"""The runs of LoCoDL's figures: the problem, the bits that are counted, stepsizes, and what a panel measures."""

from dataclasses import replace

import numpy as np
import pytest

from fedtheory import data
from fedtheory.algorithms import diana, fivegcs_cc, locodl
from fedtheory.compressors import SparseNatural, identity, rand_k, rand_k_natural
from fedtheory.learning.logistic import Logistic
from fedtheory.papers.locodl.reruns import FIGURES, kernels, methods, panels
from fedtheory.papers.locodl.reruns.names import BOTH, COMPRESSED, FEW, MANY, MORE, NATURAL, PLAIN, RAND_K


def small(sparse=False, n=5, rows=4, features=6):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(n, rows, features))
    A = np.where(rng.random(A.shape) < 0.2, A, 0.0) if sparse else A
    return methods.pose(A, np.where(rng.random((n, rows)) < 0.5, -1.0, 1.0), "noise", 50.0)


TASK = small()
PLANS = [p for m in (*COMPRESSED, *PLAIN) for p in methods.plans(TASK, m, COMPRESSED.get(m, ()))]


@pytest.mark.parametrize("sparse", [False, True])
def test_losses_are_logistic_losses(sparse):
    f = small(sparse).losses
    assert (f.sparse_rows is not None) == sparse
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


LOCAL = [plan for plan in PLANS if plan.local]


def step_by_step(plan, rng, state, ends, coin=lambda t: {}):
    """The iterations of the library, of which the one that ends a replica's phase communicates."""
    found = [np.empty_like(field) for field in state]
    for t in range(1, ends.max() + 1):
        draw = plan.algorithm.draws(plan.problem, plan.params, state).sample(rng, ends.shape)
        state = plan.algorithm.step(plan.problem, plan.params, state, draw._replace(theta=ends == t, **coin(t)))
        for whole, field in zip(found, state, strict=True):
            whole[ends == t] = field[ends == t]
    return type(state)(*found)


@pytest.mark.parametrize("few_rows", [False, True])
@pytest.mark.parametrize("method", ["LoCoDL", "CompressedScaffnew", "GradSkip"])
def test_clients_that_descend_alone_are_where_the_steps_of_the_library_take_them(method, few_rows, monkeypatch):
    task = small(rows=3 if few_rows else 9)
    # Without compression LoCoDL's messages have no randomness; every client of CompressedScaffnew sends all.
    monkeypatch.setattr(methods, "_made", lambda kind, d, k: identity(d))
    plan = next(methods.plans(task, method, (NATURAL,) if method == "LoCoDL" else ()))
    if method == "CompressedScaffnew":
        plan = replace(plan, params=plan.params._replace(s=task.n))
    rng, replicas = np.random.default_rng(1), 4
    state = plan.algorithm.init(plan.problem, plan.params)
    state = type(state)(*(rng.normal(size=(replicas, *field.shape)) for field in state))
    ends, stops = np.array([7, 1, 12, 3]), np.full((replicas, task.n), 20)
    stops[0, :3], stops[2, 1], stops[3, 0] = (1, 4, 7), 12, 1
    if method == "GradSkip":
        plan = replace(plan, params=plan.params._replace(q=np.array([0.5] * (task.n - 1) + [1.0])))
        stops[:, -1] = 20

    class Coins:
        def geometric(self, p, size):
            return ends if np.ndim(p) == 0 else stops

        def random(self, size):
            return np.full(size, 0.5)

    found, taken = plan.advance(Coins(), state, replicas)
    coin = (lambda t: {"eta": stops != t}) if method == "GradSkip" else lambda t: {}
    for one, other in zip(found, step_by_step(plan, rng, state, ends, coin), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    assert taken == ends.mean()


def test_communications_come_as_often_as_their_coin_says():
    for plan in LOCAL:
        state = plan.algorithm.init(plan.problem, plan.params)
        state = type(state)(*(np.zeros((400, *field.shape)) for field in state))
        _, taken = plan.advance(np.random.default_rng(0), state, 400)
        assert taken == pytest.approx(1 / plan.params.p, rel=0.2)


@pytest.mark.parametrize("rounded", [False, True])
def test_few_coordinates_are_compressed_as_the_library_does(rounded):
    d, k, rng = 7, 3, np.random.default_rng(0)
    whole = rand_k_natural(d, k) if rounded else rand_k(d, k)
    short = kernels.few(d, k, rounded)
    x = rng.normal(size=(5, 4, d))
    draw = short.draws.sample(rng, (5, 4))
    kept = draw.kept if rounded else draw
    mask = (kept[..., None] == np.arange(d)).any(axis=-2)
    assert (mask.sum(axis=-1) == k).all()
    if rounded:
        rounding = np.zeros(x.shape)
        np.put_along_axis(rounding, kept, draw.rounding, axis=-1)
        whole_draw = SparseNatural(mask, rounding)
    else:
        whole_draw = mask
    np.testing.assert_allclose(short.apply(draw, x), whole.apply(whole_draw, x), rtol=1e-15)
    assert (short.bits, short.omega) == (whole.bits, whole.omega)
    # All subsets are equally likely.
    places = np.sort(kernels.Places(5, 2).sample(rng, (20_000,)), axis=-1)
    _, counts = np.unique(places, axis=0, return_counts=True)
    assert len(counts) == kernels.Places(5, 2).count and abs(counts / 20_000 - 0.1).max() < 0.01


@pytest.mark.parametrize("kind", [BOTH, RAND_K])
def test_a_communication_of_locodl_with_few_coordinates_is_that_of_the_library(kind):
    task = small(features=12)
    plan = methods.with_k(task, "LoCoDL", kind, 3)
    assert plan.few
    rng = np.random.default_rng(2)
    shapes = ((task.n, 12), (12,), (task.n, 12), (12,))
    state = locodl.State(*(rng.normal(size=(3, *shape)) for shape in shapes))
    draw = plan.algorithm.draws(plan.problem, plan.params, state).sample(rng, (3,))
    wanted = plan.algorithm.step(plan.problem, plan.params, state, draw._replace(theta=np.ones(3, dtype=bool)))
    f, g, gamma = plan.problem.f, plan.problem.g, plan.params.gamma
    x_hat = state.x - gamma * (f.gradient(state.x) - state.u)
    y_hat = state.y - gamma * (g.gradient(state.y[:, None])[:, 0] - state.v)
    found = kernels.locodl_talk(plan.params, state._replace(x=x_hat, y=y_hat), draw.compression)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_budgets_settle_what_the_text_compares():
    budget, allowed, ends = panels._budget, panels._allowed, {}
    assert budget("LoCoDL", ends) == allowed("LoCoDL", ends) == np.inf
    ends["LoCoDL", BOTH] = 100.0
    # Whatever has not come to the target by then is behind all that it is compared with. Tuning is allowed more: what
    # is best by then need not be best where it comes to the target.
    assert (budget("LoCoDL", ends), allowed("LoCoDL", ends)) == (120, 20_000)
    ends["LoCoDL", NATURAL] = 50.0
    assert budget("ADIANA", ends) == 200 * 50
    ends["ADIANA", BOTH] = 900.0
    assert budget("ADIANA", ends) == pytest.approx(1.2 * 900)
    ends["ADIANA", NATURAL] = 600.0
    assert budget("DIANA", ends) == pytest.approx(1.2 * 600)
    assert allowed("DIANA", ends) == 200 * 50
    assert budget("GradSkip", ends) == allowed("GradSkip", ends) == 20 * 50
    # Where ADIANA did not come there, nothing is settled by its budget.
    ends |= {("ADIANA", kind): np.inf for kind in (BOTH, NATURAL)}
    assert budget("DIANA", ends) == 200 * 50


@pytest.mark.parametrize("sparse", [False, True])
def test_a_step_of_diana_with_few_coordinates_is_that_of_the_library(sparse):
    task = small(sparse, features=12)
    plan = next(p for p in methods.plans(task, "DIANA", (BOTH,)))
    plan = plan if plan.few else methods.with_k(task, "DIANA", BOTH, 3)
    assert plan.few
    rng = np.random.default_rng(2)
    state = diana.State(*(rng.normal(size=(3, *shape)) for shape in ((12,), (task.n, 12), (12,))))
    draw = plan.algorithm.draws(plan.problem, plan.params, state).sample(rng, (3,))
    wanted = plan.algorithm.step(plan.problem, plan.params, state, draw)
    found = kernels.diana_step(plan.problem, plan.params, state, draw)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_a_model_is_known_when_there_was_a_communication():
    (plan, *_) = methods.plans(TASK, "LoCoDL", (BOTH,))
    found = methods.run(plan, TASK, methods.Limits(1e-9, np.inf, 200), 3, np.random.default_rng(0))
    # Where nothing was sent the error is that of the start, and it changes only with the bits.
    assert (found.errors[found.bits == 0] == 1).all()
    same = np.diff(found.bits, axis=0) == 0
    assert (np.diff(found.errors, axis=0)[same] == 0).all()


@pytest.mark.parametrize("rows", [3, 9])
def test_local_problems_are_solved_with_any_preconditioner(rows, monkeypatch):
    task = small(rows=rows)
    (plan,) = methods.plans(task, "5GCS-CC", (BOTH,))
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=(2, 6)), rng.normal(size=(2, task.n, 6))
    exact = fivegcs_cc.local_prox(plan.problem, plan.params.tau, x, u)
    monkeypatch.setattr(kernels, "_TOLERANCE", 1e-11)
    prox = kernels.Prox(plan.problem, plan.params.tau)
    np.testing.assert_allclose(prox(x, u), exact, rtol=1e-8, atol=1e-8)
    prox.renew(20 * x[0])
    np.testing.assert_allclose(prox(x, u), exact, rtol=1e-8, atol=1e-8)
    monkeypatch.setattr(kernels, "_STEPS", 1)
    with pytest.raises(kernels.Unsolved):
        prox(x, u)


def test_inexact_local_problems_cost_no_bits():
    (plan,) = methods.plans(TASK, "5GCS-CC", (BOTH,))
    quick = methods.run(plan, TASK, methods.Limits(1e-3, np.inf, 300), 2, np.random.default_rng(0))
    assert not quick.costs(1e-3)[2].any()
    state = plan.algorithm.init(plan.problem, plan.params)
    state = type(state)(*(np.zeros((2, *field.shape)) for field in state))
    rng, rounds = np.random.default_rng(0), 0
    while TASK.error(plan.model(state)).max() > 1e-3:
        state, _ = plan.advance(rng, state, 2)
        rounds += 1
    assert quick.costs(1e-3)[0].max() == pytest.approx(rounds * plan.bits, rel=0.2)
