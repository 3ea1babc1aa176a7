"""Functions whose gradients are piecewise linear: every oracle against the definition, in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fedtheory.instances import members
from fedtheory.numbers.rational import exact
from fedtheory.problems.piecewise import PiecewiseQuadratic


def _functions(count, rng):
    slopes = tuple(exact(rng.integers(1, 9, (2, 3))) for _ in range(count))
    kinks = [exact(rng.integers(-3, 3, (2, 3)))]
    for _ in range(count - 2):
        kinks.append(kinks[-1] + exact(rng.integers(0, 3, (2, 3))))
    return PiecewiseQuadratic(slopes, tuple(kinks), exact(rng.integers(-3, 3, (2, 3))))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_oracles_agree_with_one_another(count):
    rng = np.random.default_rng(count)
    f = _functions(count, rng)
    # Kinks are among the points.
    x = exact(rng.integers(-20, 20, (50, 2, 3))) / 3
    gradient = f.gradient(x)
    assert (f.conjugate_gradient(gradient) == x).all()
    for shift in (Fraction(3, 2), np.array([Fraction(3, 2), Fraction(1)])):
        assert (f.resolvent(shift, gradient + np.asarray(shift)[..., None] * x) == x).all()
    assert (f.conjugate(gradient) == (gradient * x).sum(axis=-1) - f.value(x)).all()
    step = Fraction(1, 10**9)
    for j in range(3):
        unit = np.eye(3, dtype=int)[j] * step
        assert ((f.gradient(x + unit) - gradient)[..., j] == step * f.hessian(x)[..., j, j]).all()
        # The trapezium is exact where no kink is between.
        rise = f.value(x + unit) - f.value(x)
        assert (rise == step * (f.gradient(x + unit) + gradient)[..., j] / 2).all()
    assert (f.mu == np.min(f.slopes, axis=0).min(axis=-1)).all() and (
        f.L == np.max(f.slopes, axis=0).max(axis=-1)
    ).all()


def test_what_is_no_such_function_is_refused():
    one = exact([[1]])
    for slopes, kinks, why in (
        ((one,), (), "two slopes"),
        ((one, one, one), (one,), "a kink between"),
        ((one, 0 * one), (one,), "positive"),
        ((one, one, one), (2 * one, one), "ascending"),
        ((one, exact([[1, 2]])), (one,), "one shape"),
    ):
        with pytest.raises(ValueError, match=why):
            PiecewiseQuadratic(slopes, kinks, one)


def test_recipes_place_three_slopes_at_the_optimum():
    two, half = (Fraction(2),), (Fraction(1, 2),)
    client = {"h": two, "h_above": half, "kink": (Fraction(1),), "h_beyond": two, "kink_beyond": (Fraction(2),)}
    plain = {"h": half}
    x, y = exact([3]), exact([[5], [-5]])
    f = members.functions([client, plain], x, y, True)
    assert (f.gradient(x[None, :]) == y).all()
    # Past both kinks: 2 to the first, 1/2 between them, 2 beyond.
    assert f.gradient(exact([[6], [6]]))[:, 0].tolist() == [5 + 2 + Fraction(1, 2) + 2, -5 + Fraction(3, 2)]
    assert members.slopes_of(client) == (*two, *half, *two)
    simpler = [r["clients"][0] for r in members.simpler({"d": 1, "clients": (client,)}, None)]
    assert {"h": two, "h_above": half, "kink": (Fraction(1),)} in simpler
    assert {"h": half, "h_above": two, "kink": (Fraction(2),)} in simpler
    with pytest.raises(ValueError, match="ascending"):
        members.functions([{**client, "kink": (Fraction(3),)}], x, y[:1], True)
