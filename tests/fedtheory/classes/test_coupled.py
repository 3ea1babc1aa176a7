"""Linear operators beside functions: what proofs assume of them, and of a saddle point, holds of members."""

from dataclasses import replace
from fractions import Fraction as Fr
from itertools import islice

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.problems.coupling import LinearOperator
from fedtheory.sampling import building, drawing

mu, L, k, s, t = ft.letters("mu L k s t")
CLASSES = {
    "convex": ft.Coupled(ft.Convex(), k),
    "smooth, bounded below": ft.Coupled(ft.SmoothConvex(L), k, s),
    "strongly convex with a g, adjoint bounded below": ft.Coupled(
        ft.Composite(ft.SmoothStronglyConvex(mu, L)), k, adjoint_least=t
    ),
}


def step(problem, params, state, draw):
    return {"x": state.x, "y": state.y}


STILL = ft.method("still", step, ["gamma"], {"x": "point", "y": "dual"})


def problems(functions, exact=True):
    setting, rng = ft.Setting(algorithm=STILL, functions=functions), np.random.default_rng(0)
    while True:
        yield building.problem_of(setting, drawing.drawn(setting, rng), exact), rng


def vectors(rng, problem):
    return np.array([[Fr(int(v), 2) for v in row] for row in rng.integers(-8, 9, (5, problem.d))])


def square(v):
    return (v**2).sum(axis=-1)


@pytest.mark.parametrize("name", CLASSES)
def test_operators_and_saddle_points_are_what_proofs_take_them_for(name):
    functions, narrow, turned, singular, tight = CLASSES[name], 0, 0, 0, 0
    for problem, rng in islice(problems(functions), 60):
        K, u = problem.K, problem.u_star
        assert functions.contains(problem, None)
        x, y = vectors(rng, problem), problem.coupling.kept(vectors(rng, problem))
        assert (problem.coupling.kept(K(x)) == K(x)).all() and (problem.coupling.kept(u) == u).all()
        assert (K(x + 2 * y) == K(x) + 2 * K(y)).all() and all(isinstance(v, Fr) for v in K(x).flat)
        assert ((K(x) * y).sum(axis=-1) == (x * K.T(y)).sum(axis=-1)).all()
        assert (square(K(x)) <= K.norm**2 * square(x)).all() and (square(K.T(y)) <= K.norm**2 * square(y)).all()
        if functions.least is not None:
            assert (square(K(x)) >= K.least**2 * square(x)).all()
        if functions.adjoint_least is not None:
            assert (square(K.T(y)) >= K.T.least**2 * square(y)).all()
        pull = problem.y_star.mean(axis=0) + K.T(u)
        there = problem.h.resolvent(3, (3 * K(problem.x_star) + u)[None, :])[0]
        assert (there == K(problem.x_star)).all()
        if problem.g is None:
            assert not pull.any()
        else:
            assert (problem.g.resolvent(3, (3 * problem.x_star - pull)[None, :])[0] == problem.x_star).all()
        values = problem.h.value(K(x)[:, None, :]) - problem.h.value(K(problem.x_star)[None, :])
        assert (values[:, 0] >= ((K(x) - K(problem.x_star)) * u).sum(axis=-1)).all()
        narrow += K.rows < problem.d
        turned += bool((K.matrix != K.matrix.T).any())
        singular += bool((K.singular == 0).any())
        tight += max(abs(K.singular)) == K.norm
    assert turned > 2 and tight > 10
    assert (narrow > 3) is (functions.least is None) and (singular > 3) is (functions.least is None)


def test_members_in_floats_are_members():
    for name in CLASSES:
        for problem, _ in islice(problems(CLASSES[name], False), 20):
            assert CLASSES[name].contains(problem, None)


def operator(singular, norm, rows=2, **bounds):
    """An operator that turns by the angle of the triangle (3, 4, 5)."""
    turned = np.array([[Fr(3, 5), Fr(-4, 5)], [Fr(4, 5), Fr(3, 5)]], dtype=object)
    eye = np.array([[Fr(1), Fr(0)], [Fr(0), Fr(1)]], dtype=object)
    return LinearOperator(eye, np.array([Fr(v) for v in singular], dtype=object), turned, rows, Fr(norm), **bounds)


def test_an_operator_that_is_not_as_declared_is_no_member():
    assert operator((2, -1), 2, least=1, adjoint_least=1).is_as_declared()
    assert operator((2, 0), 2, 1, adjoint_least=2).is_as_declared()
    assert not operator((2, -1), "19/10").is_as_declared()
    assert not operator((2, -1), 2, least=Fr(11, 10)).is_as_declared()
    assert not operator((2, -1), 2, adjoint_least=Fr(11, 10)).is_as_declared()
    assert not operator((2, -1), 2, 1).is_as_declared()
    assert not operator((2, 0), 2, 1, least=Fr(1, 10)).is_as_declared()
    longer = operator((2, -1), 2)
    assert not replace(longer, right=2 * longer.right).is_as_declared()


def test_what_has_no_operator_is_refused():
    problem = next(problems(CLASSES["convex"]))[0]
    plain = replace(problem, coupling=None)
    for asked in ("K", "h", "u_star"):
        with pytest.raises(ValueError, match="no linear operator"):
            getattr(plain, asked)
    with pytest.raises(ValueError, match="beside h"):
        ft.Coupled(ft.Smooth(L), k)
    with pytest.raises(ValueError, match="beside h"):
        ft.Coupled(ft.Constrained(ft.SmoothConvex(L)), k)
    with pytest.raises(ValueError, match="must be a letter"):
        ft.Coupled(ft.Convex(), 2)
    with pytest.raises(ValueError, match="are both L"):
        ft.Coupled(ft.SmoothConvex(L), L)
