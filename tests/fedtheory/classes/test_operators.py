"""Operators: what is drawn belongs to its class; what is declared holds of it, and is attained; few are gradients."""

from fractions import Fraction as Fr
from itertools import islice

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.classes.base import ELL, MU
from fedtheory.problems.operators import TurningOperators
from fedtheory.sampling import building, drawing
from fedtheory.sampling.outside import outside
from verify.reading.declarations import declarations

mu, L, gamma = ft.letters("mu L gamma")
CLASSES = {
    "Monotone": ft.Monotone(),
    "StronglyMonotone": ft.StronglyMonotone(mu),
    "MonotoneLipschitz": ft.MonotoneLipschitz(L),
    "StronglyMonotoneLipschitz": ft.StronglyMonotoneLipschitz(mu, L),
    "Cocoercive": ft.Cocoercive(L),
}


def step(problem, params, state, draw):
    return {"x": state.x}


STILL = ft.method("still", step, ["gamma"], {"x": "point"})


def problems(functions, exact=True):
    setting = ft.Setting(algorithm=STILL, functions=functions)
    rng = np.random.default_rng(0)
    while True:
        yield building.problem_of(setting, drawing.drawn(setting, rng), exact), rng


def known_forms(declared, problem, x, g):
    """What is declared of the differences of two points and of the values there, each at most 0, of each operator."""
    constants = {MU: problem.mu, ELL: problem.L}

    def number(c):
        return 0 if c == 0 else constants[c]

    square, both, length = (x**2).sum(axis=-1), (g * x).sum(axis=-1), (g**2).sum(axis=-1)
    yield "monotone", number(declared.least) * square - both
    if declared.lipschitz is not None:
        yield "Lipschitz", length - number(declared.lipschitz) ** 2 * square
    if declared.cocoercive is not None:
        yield "cocoercive", length - number(declared.cocoercive) * both


@pytest.mark.parametrize("name", CLASSES)
def test_what_is_declared_holds_of_members_and_is_attained_by_operators_that_are_no_gradients(name):
    functions, attained, turning = CLASSES[name], set(), 0
    declared = declarations(functions).operators
    for problem, rng in islice(problems(functions), 120):
        assert functions.contains(problem, None)
        assert (problem.y_star.sum(axis=0) == 0).all()
        points = [problem.x_star + np.array([Fr(int(v), 4) for v in rng.integers(-40, 41, problem.d)]) for _ in "ab"]
        values = [problem.f.gradient(v + np.zeros((problem.n, 1), dtype=int)) for v in points]
        # At x* the balancing values are values too.
        pairs = [
            (points[0] - points[1], values[0] - values[1]),
            (points[0] - problem.x_star, values[0] - problem.y_star),
        ]
        turns = isinstance(problem.f, TurningOperators) and (problem.f.b != 0).any()
        turning += bool(turns)
        for x, g in pairs:
            for which, form in known_forms(declared, problem, x, g):
                assert (form <= 0).all(), which
                attained |= {which} if turns and (form[problem.f.b != 0] == 0).any() and (x != 0).all() else set()
    assert turning > 10
    # What is cocoercive is monotone, and no more where it is not constant.
    assert attained | ({"monotone"} if name == "Cocoercive" else set()) == {
        which for which, _ in known_forms(declared, problem, x, g)
    }


@pytest.mark.parametrize("name", CLASSES)
def test_resolvents_solve_their_equation(name):
    for problem, rng in islice(problems(CLASSES[name]), 30):
        target = np.array([[Fr(int(v), 4) for v in row] for row in rng.integers(-40, 41, (problem.n, problem.d))])
        shift = Fr(int(rng.integers(1, 9)), 4)
        x = problem.f.resolvent(shift, target)
        # A value that solves it is one of several, perhaps, where the operator jumps.
        if isinstance(problem.f, TurningOperators) or problem.f.is_affine:
            assert (problem.f.gradient(x) + shift * x == target).all()


@pytest.mark.parametrize("name", CLASSES)
def test_floats_belong_too_and_what_is_just_outside_does_not(name):
    functions, names = CLASSES[name], set()
    for problem, _ in islice(problems(functions, exact=False), 40):
        assert functions.contains(problem, None)
    for problem, _ in islice(problems(functions), 40):
        for which, worse, _ in outside(functions, problem, None, problem):
            assert not functions.contains(worse, None)
            names.add(which)
    assert "less monotone functions" in names
    assert ("functions that turn too far" in names) is ("Lipschitz" in name or name == "Cocoercive")


def test_membership_is_decided_exactly_where_coordinates_differ():
    x, y = (np.array(v, dtype=object) for v in ([Fr(0)] * 2, [[Fr(0)] * 2]))
    for h, b, L in (((3, 3), 4, 5), ((4, 0), 3, 5), ((1, 0), 1, 2), ((2, 5), 0, 5)):
        f = TurningOperators(np.array([h], dtype=object) * Fr(1), np.array([Fr(b)], dtype=object), x, y)
        A = f.A[0].astype(float)
        norm = np.linalg.norm(A, 2)
        for bound in (Fr(L), Fr(L) * Fr(9, 10), Fr(norm * 1.001), Fr(norm * 0.999)):
            assert f.are_lipschitz(bound) is bool(norm <= float(bound) + 1e-12)
            inverse = np.linalg.eigvalsh(float(bound) * (A + A.T) / 2 - A.T @ A).min() >= -1e-12
            assert f.are_cocoercive(bound) is bool(inverse)
        assert f.are_monotone(min(h)) and not f.are_monotone(min(h) + Fr(1, 100))


@pytest.mark.parametrize(
    ("functions", "words"),
    [(lambda: ft.StronglyMonotone(0), "Monotone()"), (lambda: ft.StronglyMonotoneLipschitz(0, L), "MonotoneLipschitz")],
)
def test_a_class_without_mu_has_a_name(functions, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(").replace(")", r"\)")):
        functions()


@pytest.mark.parametrize("name", CLASSES)
def test_operators_take_no_regulariser_and_have_no_minimiser(name):
    with pytest.raises(ValueError, match="regulariser"):
        ft.Composite(CLASSES[name])
    with pytest.raises(ValueError, match="stationary"):
        type(CLASSES[name])(*CLASSES[name].letters, optimum="consensus")
