"""Relative smoothness: what proofs assume of h, mirror points and Bregman proximal points holds, in fractions."""

from dataclasses import replace
from fractions import Fraction as Fr
from itertools import islice

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.problems.nonconvex import is_quadratic
from fedtheory.problems.relative import breaks
from fedtheory.sampling import building, drawing

mu, L = ft.letters("mu L")
CLASSES = {
    "smooth and strongly convex": ft.Relative(ft.SmoothStronglyConvex(mu, L)),
    "smooth and convex": ft.Relative(ft.SmoothConvex(L)),
    "smooth": ft.Relative(ft.Smooth(L)),
    "strongly convex": ft.Relative(ft.StronglyConvex(mu)),
    "convex": ft.Relative(ft.Convex()),
}


def step(problem, params, state, draw):
    return {"x": state.x}


STILL = ft.method("still", step, ["gamma"], {"x": "point"})


def problems(functions, exact=True):
    setting, rng = ft.Setting(algorithm=STILL, functions=functions), np.random.default_rng(0)
    while True:
        yield building.problem_of(setting, drawing.drawn(setting, rng), exact), rng


def points(rng, problem):
    own = [at[0, j] for at in breaks(problem.h) for j in range(problem.d)][: problem.d]
    some = [[Fr(int(v), 2) for v in row] for row in rng.integers(-8, 9, (5, problem.d))]
    return np.array([*some, problem.x_star, *([own] if len(own) == problem.d else [])])


def values(problem, x):
    return problem.f.value(np.broadcast_to(x[..., None, :], (*x.shape[:-1], problem.n, problem.d)))


def slopes(problem, x):
    return problem.f.gradient(np.broadcast_to(x[..., None, :], (*x.shape[:-1], problem.n, problem.d)))


def excess(problem, x, y):
    """The divergence of each f_i."""
    return values(problem, x) - values(problem, y) - (slopes(problem, y) * (x - y)[..., None, :]).sum(axis=-1)


@pytest.mark.parametrize("name", CLASSES)
def test_divergences_are_what_proofs_take_them_for(name):
    functions, bent, uneven = CLASSES[name], 0, 0
    for problem, rng in islice(problems(functions), 30):
        assert functions.contains(problem, None)
        some = points(rng, problem)
        x, y = some[:, None, :] + 0 * some, some[None, :, :] + 0 * some[:, None, :]
        D = problem.divergence(x, y)
        assert all(type(v) is type(D.flat[0]) and not isinstance(v, float) for v in D.flat)
        assert ((D > 0) == (x != y).any(axis=-1)).all()
        own, by = excess(problem, x, y), D[..., None]
        least = {"smooth": -problem.L, "smooth and convex": 0, "convex": 0}.get(name, problem.mu)
        assert (own >= least * by).all()
        if "smooth" in name:
            assert (own <= problem.L * by).all()
        bent += not is_quadratic(problem.h)
        uneven += bool((D != D.T).any())
    assert bent > 10 and uneven > 10


@pytest.mark.parametrize("name", CLASSES)
def test_mirror_and_proximal_points(name):
    for problem, rng in islice(problems(CLASSES[name]), 20):
        x = points(rng, problem)
        z = problem.h.gradient(x[..., None, :])[..., 0, :]
        assert (problem.mirror(z) == x).all()
        if name == "smooth":
            continue
        gamma = Fr(int(rng.integers(1, 9)), 4)
        least = problem.bregman_prox(gamma, 3 * z)

        def cost(u, problem=problem, gamma=gamma, z=z):
            h = problem.h.value(u[..., None, :])[..., 0]
            return gamma * values(problem, u).mean(axis=-1) + h - (3 * z * u).sum(axis=-1)

        for j in range(problem.d):
            for size in (Fr(1, 1000), Fr(-1, 1000), Fr(2)):
                assert (cost(least + size * np.eye(problem.d, dtype=int)[j]) > cost(least)).all()


def test_floats_agree_with_fractions():
    functions = CLASSES["convex"]
    for (exact, _), (floats, _) in islice(zip(problems(functions), problems(functions, False), strict=True), 10):
        x = points(np.random.default_rng(1), exact)
        z = exact.h.gradient(x[..., None, :])[..., 0, :]
        for of in (lambda p, v: p.mirror(v), lambda p, v: p.bregman_prox(2, v)):
            assert np.allclose(of(exact, 2 * z).astype(float), of(floats, (2 * z).astype(float)))


def test_other_members_are_outside():
    tight, loose = CLASSES["smooth and convex"], CLASSES["convex"]
    found = [p for p, _ in islice(problems(tight), 30) if tight.contains(replace(p, declared=(p.mu, p.L / 2)), None)]
    assert len(found) < 20
    assert not any(
        tight.contains(replace(p, declared=(p.mu, Fr(1))), None)
        for p, _ in islice(problems(loose), 20)
        if p.f.jump.any()
    )
    assert not tight.contains(replace(next(problems(tight))[0], reference=None), None)


def test_what_is_no_class_of_curvatures_is_refused():
    with pytest.raises(ValueError, match="relative to h functions are of one of"):
        ft.Relative(ft.ConvexLipschitz(L))
    plain = next(problems(ft.SmoothConvex(L)))[0]
    x = plain.x_star
    for ask in (lambda: plain.divergence(x, x), lambda: plain.mirror(x), lambda: plain.bregman_prox(1, x)):
        with pytest.raises(ValueError, match="no reference function"):
            ask()
