"""Convex sets: what proofs assume of projections, linear minimisation and x* holds of members, in fractions."""

from fractions import Fraction as Fr
from itertools import islice

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.sampling import building, drawing

mu, L, M, D = ft.letters("mu L M D")
CLASSES = {
    "smooth and strongly convex": ft.Constrained(ft.SmoothStronglyConvex(mu, L)),
    "smooth, bounded": ft.Constrained(ft.SmoothConvex(L), D),
    "Lipschitz": ft.Constrained(ft.ConvexLipschitz(M)),
    "convex, bounded": ft.Constrained(ft.Convex(), D),
}


def step(problem, params, state, draw):
    return {"x": state.x}


STILL = ft.method("still", step, ["gamma"], {"x": "point"})


def problems(functions, **more):
    setting, rng = ft.Setting(algorithm=STILL, functions=functions, **more), np.random.default_rng(0)
    while True:
        yield building.problem_of(setting, drawing.drawn(setting, rng), True), rng


def points(rng, problem, scale=8):
    return np.array([[Fr(int(v), 2) for v in row] for row in rng.integers(-scale, scale + 1, (6, problem.d))])


@pytest.mark.parametrize("name", CLASSES)
def test_projections_minimisers_and_the_optimum_are_what_proofs_take_them_for(name):
    functions, active, turned = CLASSES[name], 0, 0
    for problem, rng in islice(problems(functions), 60):
        assert functions.contains(problem, None)
        some, x_star = points(rng, problem) + problem.x_star, problem.x_star
        near = problem.project(some)
        assert (problem.project(near) == near).all() and all(isinstance(v, Fr) for v in near.flat)
        inside = [*near, x_star]
        if functions.D is not None:
            inside += list(problem.lmo(some))
            least = (problem.lmo(some) * some).sum(axis=-1)
            assert all((some @ s >= least).all() for s in inside)
            assert all(((a - b) ** 2).sum() <= problem.D**2 for a in inside for b in inside)
        normal = -problem.y_star.sum(axis=0) / problem.n
        for s in inside:
            assert (((some - near) * (s - near)).sum(axis=-1) <= 0).all()
            assert (normal * (s - x_star)).sum() <= 0
        active += bool(normal.any())
        turned += bool((problem.g.axes != np.eye(problem.d, dtype=int)).any())
    assert active > 10 and turned > 2


def test_common_points_of_sets():
    functions = ft.ConvexSet()
    for problem, rng in islice(problems(functions), 40):
        assert functions.contains(problem, None) and not problem.y_star.any()
        some = points(rng, problem)
        near = problem.f.project(some[:, None, :] + 0 * problem.y_star)
        assert (((some[:, None, :] - near) * (problem.x_star - near)).sum(axis=-1) <= 0).all()


def test_what_is_no_constraint_is_refused():
    problem = next(problems(ft.SmoothConvex(L)))[0]
    for ask in (problem.project, problem.lmo):
        with pytest.raises(ValueError, match="no constraint"):
            ask(problem.x_star)
    free = next(problems(CLASSES["Lipschitz"]))[0]
    with pytest.raises(ValueError, match="no diameter"):
        free.lmo(free.x_star)
    with pytest.raises(ValueError, match="beside a constraint"):
        ft.Constrained(ft.Smooth(L))
    with pytest.raises(ValueError, match="are both L"):
        ft.Constrained(ft.SmoothConvex(L), L)
    with pytest.raises(ValueError, match="a named function is of one of"):
        ft.Named((ft.ConvexSet(), ft.Convex()))
