"""Named functions: each is a member of its own class, and of no other's; what is outside is outside."""

import math
from fractions import Fraction as Fr
from itertools import islice

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.sampling import building, drawing
from fedtheory.sampling.outside import outside
from verify.reading.declarations import declarations

mu, L, gamma = ft.letters("mu L gamma")
CLASSES = {
    "smooth and strongly convex, convex": ft.Named((ft.SmoothStronglyConvex(mu, L), ft.Convex())),
    "convex, smooth": ft.Named((ft.Convex(), ft.Smooth(L))),
    "two convex": ft.Named((ft.Convex(), ft.Convex())),
    "three": ft.Named((ft.SmoothConvex(L), ft.Convex(), ft.Convex())),
    "strongly convex, convex": ft.Named((ft.StronglyConvex(mu), ft.Convex())),
}
#: The ends of the curvatures of each function, in mu and L.
ENDS = {
    "smooth and strongly convex, convex": ((mu, L), (0, math.inf)),
    "convex, smooth": ((0, math.inf), (-L, L)),
    "two convex": ((0, math.inf), (0, math.inf)),
    "three": ((0, L), (0, math.inf), (0, math.inf)),
    "strongly convex, convex": ((mu, math.inf), (0, math.inf)),
}


def step(problem, params, state, draw):
    return {"x": state.x}


STILL = ft.method("still", step, ["gamma"], {"x": "point"})


def problems(functions):
    setting = ft.Setting(algorithm=STILL, functions=functions, clients=(functions.named,))
    rng, tried = np.random.default_rng(0), 0
    while True:
        recipe, tried = drawing.drawn(setting, rng), tried + 1
        assert tried < 1000
        try:
            yield building.problem_of(setting, recipe, True), rng
        except ValueError:
            # Of a strip of another curvature and kinks there are no functions.
            continue


def value(end, problem):
    known = {mu: problem.mu, L: problem.L, -L: -problem.L}
    return known.get(end, end)


@pytest.mark.parametrize("name", CLASSES)
def test_each_function_belongs_to_its_class_and_is_often_at_its_end(name):
    functions, beyond, kinks = CLASSES[name], np.zeros(CLASSES[name].named, int), 0
    for problem, rng in islice(problems(functions), 60):
        assert functions.contains(problem, None) and problem.named and problem.n == functions.named
        low, high = functions.curvatures(problem, None)
        assert list(zip(low, high, strict=True)) == [tuple(value(end, problem) for end in of) for of in ENDS[name]]
        x, y = (
            problem.x_star + np.array([Fr(int(v), 4) for v in rng.integers(-40, 41, problem.d)], dtype=object)
            for _ in "xy"
        )
        each = np.zeros((problem.n, 1), dtype=int)
        slopes = [problem.f.gradient(z + each) for z in (x, y)]
        product, square = ((slopes[0] - slopes[1]) * (x - y)).sum(axis=-1), ((x - y) ** 2).sum()
        for i in range(problem.n):
            assert low[i] * square <= product[i]
            assert high[i] == math.inf or product[i] <= high[i] * square
        least = problem.f.value(problem.x_star + each).sum()
        assert (problem.y_star.sum(axis=0) == 0).all() and problem.f.value(x + each).sum() >= least
        tangents = problem.f.value(problem.x_star + each) + (problem.y_star * (x - problem.x_star)).sum(axis=-1)
        assert all(v >= t for v, t, least in zip(problem.f.value(x + each), tangents, low, strict=True) if least >= 0)
        for i, of in enumerate(ENDS[name]):
            others = [other for other in ENDS[name] if other != of]
            fits = (
                problem.f.mu[i] >= value(other[0], problem) and problem.f.L[i] <= value(other[1], problem)
                for other in others
            )
            beyond[i] += not all(fits)
        kinks += bool(np.isinf(problem.f.L.astype(float)).any())
    # Where the classes differ, one of the functions is not of the other class.
    assert len(set(ENDS[name])) == 1 or beyond.max() > 5
    assert kinks > 20


@pytest.mark.parametrize("name", CLASSES)
def test_what_is_just_outside_is_outside(name):
    functions, names = CLASSES[name], set()
    for problem, _ in islice(problems(functions), 10):
        for which, worse, _ in outside(functions, problem, None, problem):
            assert not functions.contains(worse, None)
            names.add(which)
    smooth = any(of[1] != math.inf for of in ENDS[name])
    assert names == {"less convex functions"} | ({"less smooth functions"} if smooth else set())


def test_the_proximal_point_of_each_is_its_own():
    functions = CLASSES["smooth and strongly convex, convex"]
    for problem, rng in islice(problems(functions), 30):
        target = np.array([Fr(int(v), 4) for v in rng.integers(-40, 41, problem.d)], dtype=object)
        one, both = problem.f.resolvent(2, target[None]), problem.f.resolvent(2, np.stack([target, target]))
        assert (one == both).all() and one.shape == (2, problem.d)
        assert (problem.f.gradient(one)[0] + 2 * one[0] == target).all()


def test_what_is_declared_is_of_each_alone():
    declared = declarations(CLASSES["smooth and strongly convex, convex"])
    assert declared.bounds is declared.average is declared.client is None and not declared.differentiable
    assert [part.bounds[:2] for part in declared.named] == [
        declarations(of).bounds[:2] for of in (ft.SmoothStronglyConvex(mu, L), ft.Convex())
    ]

    class Mine(ft.Convex):
        pass

    with pytest.raises(ValueError, match="one of the classes"):
        ft.Named((Mine(), ft.Convex()))


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ((ft.Convex(),), "2 to 4"),
        ([ft.Convex(), ft.Convex()], "2 to 4"),
        ((ft.Convex(),) * 5, "2 to 4"),
        ((ft.SmoothConvex(L), ft.StronglyConvex(mu)), "letters"),
        ((ft.PolyakLojasiewicz(mu, L), ft.Convex()), "one of the classes"),
        ((ft.ConvexLipschitz(L), ft.Convex()), "one of the classes"),
        ((ft.Composite(ft.SmoothConvex(L)), ft.Convex()), "one of the classes"),
        ((ft.MonotoneLipschitz(L), ft.Convex()), "one of the classes"),
        ((ft.Convex(optimum="stationary"), ft.Convex()), "one of the classes"),
    ],
)
def test_functions_of_other_classes_get_no_names(of, words):
    with pytest.raises(ValueError, match=words):
        ft.Named(of)


def test_there_are_as_many_clients_as_names():
    for clients in ((1,), (3,), (2, 3), (1, 2, 2, 3, 3, 4)):
        with pytest.raises(ValueError, match=r"clients=\(2,\)"):
            ft.Setting(algorithm=STILL, functions=CLASSES["two convex"], clients=clients)
