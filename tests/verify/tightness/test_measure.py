"""Measured runs on real data: the bounds are evaluated from the claims and hold on average; the figures are drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy
from matplotlib.image import imread

from fedtheory import claims
from fedtheory.data import Dataset, bundled
from fedtheory.learning.logistic import Logistic
from fedtheory.numbers.rational import evaluate
from fedtheory.papers import locodl as paper
from verify.report import figures
from verify.tightness import measure
from verify.tightness.measure import MeasuredCurve, MeasuredRun, Measurement

CLIENTS = 4


@pytest.fixture(scope="module")
def experiments() -> tuple[MeasuredRun, ...]:
    return measure.experiments(bundled(), CLIENTS, 0, measure.measured())


@pytest.fixture(scope="module")
def short(experiments) -> tuple[MeasuredRun, ...]:
    return tuple(replace(e, rounds=25 if e.paper == "feddcd" else 300, seeds=8) for e in experiments)


@pytest.fixture(scope="module")
def measurements(short) -> tuple[Measurement, ...]:
    return tuple(measure.measure(e, 0) for e in short)


def test_one_experiment_an_algorithm_with_the_theorems_parameters(experiments):
    feddcd, locodl = experiments
    assert [c.id for c in feddcd.bounds] == ["feddcd/theorem-4.1/eq-3", "feddcd/theorem-4.1/eq-4"]
    assert [c.id for c in locodl.bounds] == ["locodl/theorem-3.1/eq-5"]
    for e in experiments:
        values = e.bounds[0].setting.bind(e.problem, e.params)
        for claim in e.bounds:
            failing = {h.text for h in claim.requires if not h.holds(e.problem, e.params, values)}
            # (1/alpha) alpha need not be 1 in floats: the scaling is compared below.
            assert failing <= {"Lambda = I/alpha"}
    assert feddcd.params.tau == 2
    np.testing.assert_allclose(feddcd.params.Lambda * feddcd.problem.mu, 1, rtol=1e-15)
    assert locodl.params.compressors.compressor.name == "rand-8"
    assert feddcd.problem.L / feddcd.problem.mu == pytest.approx(50)
    assert locodl.problem.L / locodl.problem.mu == pytest.approx(1000)


def test_only_the_bounds_asked_for():
    (only,) = measure.experiments(bundled(), CLIENTS, 0, {"feddcd/theorem-4.1/eq-4"})
    assert [c.id for c in only.bounds] == ["feddcd/theorem-4.1/eq-4"]
    assert measure.experiments(bundled(), CLIENTS, 0, ()) == ()


def test_bounds_are_those_of_the_claims(measurements):
    feddcd, locodl = measurements
    problem, params = feddcd.experiment.problem, feddcd.experiment.params
    T = np.arange(26)
    rate = 1 - (params.tau - 1) / (CLIENTS - 1) * problem.mu / problem.L
    gap, distance = feddcd.curves
    assert gap.bound == pytest.approx(gap.measured[0, 0] * rate**T, rel=1e-12)
    scale = (problem.y_star**2).sum() / (CLIENTS * problem.mu**2)
    assert distance.bound == pytest.approx(scale * rate**T, rel=1e-12)
    e = locodl.experiment
    tau = evaluate(paper.tau, paper.SETTING.bind(e.problem, e.params))
    psi = locodl.curves[0]
    assert psi.bound == pytest.approx(psi.measured[0, 0] * tau ** np.arange(301), rel=1e-12)


def test_the_bounds_hold_on_average_and_the_quantities_fall(measurements):
    for measurement in measurements:
        e = measurement.experiment
        for curve in measurement.curves:
            assert curve.measured.shape == (e.rounds + 1, e.seeds) == (len(curve.bound), 8)
            assert (curve.measured > 0).all()
            assert (curve.ratio <= 1 + 1e-12).all()
            assert curve.measured[-1].mean() < 0.2 * curve.measured[0].mean()
            assert np.ptp(curve.measured[0]) == 0 < np.ptp(curve.measured[-1])


def test_a_bound_that_is_too_small_is_seen(short):
    e = short[1]
    # The rate of a problem 300 times better conditioned, and half of the initial value.
    rate = evaluate(paper.tau, paper.SETTING.bind(e.problem, e.params))
    false = e.bounds[0].variant(factor=sympy.Rational(str(float(rate) ** 300)))
    (curve,) = measure.measure(e, 0).curves
    wrong = replace(curve, bound=measure.bound_values(false, e.problem, e.params, e.rounds))
    assert wrong.ratio[wrong.worst] > 1


def test_the_sentence_names_the_worst_ratio_after_the_start():
    claim = claims.get("feddcd/theorem-4.1/eq-3")
    curve = MeasuredCurve(
        claim, "dual gap", "$G$", "round", np.array([[4.0, 4], [1, 2], [3, 3], [0, 1]]), np.array([4.0, 3, 2, 1])
    )
    assert curve.worst == 2 and curve.ratio.tolist() == [1, 0.5, 1.5, 0.5]
    assert curve.sentence == (
        "dual gap: the mean of 2 seeds is at most 1.5 of the bound feddcd/theorem-4.1/eq-3 "
        "(round 2, standard error 0), 0.5 at round 3"
    )


def test_the_seed_fixes_everything(short, measurements):
    e = replace(short[0], rounds=5)
    again = measure.measure(e, 0).curves[0].measured
    assert np.array_equal(again, measurements[0].curves[0].measured[:6])
    assert not np.array_equal(again, measure.measure(e, 1).curves[0].measured)
    other = measure.experiments(bundled(), CLIENTS, 1, measure.measured())[0]
    assert not np.array_equal(other.problem.f.A, e.problem.f.A)


def test_ticks_count_the_rounds(short):
    ticks = []
    measure.measure(replace(short[0], rounds=3, seeds=2), 0, lambda: ticks.append(1))
    assert len(ticks) == 4


def test_remembered_conjugate_gradients_are_those_of_the_losses(short):
    f = short[0].problem.f
    plain = Logistic(f.A, f.b, f.mu)
    rng = np.random.default_rng(0)
    points = [0.1 * rng.standard_normal((3, f.n, f.d)) for _ in range(5)]
    for y in (*points, *points, points[0], points[0].copy()):
        assert np.array_equal(f.conjugate_gradient(y), plain.conjugate_gradient(y))
    assert f.conjugate_gradient(points[0]) is f.conjugate_gradient(points[0])


def test_runs_are_shorter_on_larger_data():
    rng = np.random.default_rng(0)
    large = Dataset("large", rng.standard_normal((6000, 122)), np.where(rng.random(6000) < 0.5, 1.0, -1.0))
    small = measure.experiments(bundled(), 10, 0, measure.measured())
    for clients in (20, 87):
        for e, s in zip(measure.experiments(large, clients, 0, measure.measured()), small, strict=True):
            assert 4 <= e.seeds < s.seeds == 20
            assert e.rounds >= 40


@pytest.mark.parametrize(
    ("clients", "message"),
    [(1, "at least 2 clients, got 1"), (570, "569 rows of breast-cancer cannot be split over 570")],
)
def test_bad_numbers_of_clients(clients, message):
    with pytest.raises(ValueError, match=message):
        measure.experiments(bundled(), clients, 0, measure.measured())


def test_figures_are_drawn_alike_every_time(measurements, tmp_path):
    for measurement in measurements:
        first, second = tmp_path / "a.png", tmp_path / "b.png"
        figures.draw(measurement, first)
        figures.draw(measurement, second)
        assert first.read_bytes() == second.read_bytes()
        pixels = imread(first)
        assert pixels.shape[0] > 500 and pixels.shape[1] > 1000
        # White margins: nothing is cut off.
        for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
            assert (edge[..., :3] == 1).all()


def test_figures_stop_where_rounding_begins(measurements, tmp_path):
    measurement = measurements[1]
    (curve,) = measurement.curves
    falling = curve.measured[:1] * 10.0 ** -np.arange(len(curve.bound))[:, None]
    falling[200:] = 0
    figures.draw(replace(measurement, curves=(replace(curve, measured=falling),)), tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000
