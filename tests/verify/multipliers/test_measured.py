"""Numbers that a step computes of a state: lengths, Polyak's steps, clipped ones. What holds is proved, and no more.

Every attack is a false statement that only the new letters could let through.
"""

import numpy as np
import pytest
import sympy
from first_found import first_found

import fedtheory as ft
from verify import Verdict
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

mu, L, gamma, c, p, alpha = ft.letters("mu L gamma c p alpha")
LITTLE = STEP // 20


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def length(problem, params, state):
    return np.linalg.norm(slope(problem, state.x), axis=-1)


def polyak(problem, params, state, draw):
    g = slope(problem, state.x)
    step = ft.gap(problem, params, state) / (g**2).sum(axis=-1)
    return {"x": state.x - step[..., None] * g}


def normalized(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * g / np.linalg.norm(g, axis=-1, keepdims=True)}


def by_a_power(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * g / (((g**2).sum(axis=-1)) ** 0.5)[..., None]}


def adagrad(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * g / (params.c + np.sqrt((g**2).sum(axis=-1)))[..., None]}


def clipped(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * np.minimum(1, params.c / np.linalg.norm(g, axis=-1, keepdims=True)) * g}


def huber(problem, params, state):
    s = length(problem, params, state)
    return np.minimum(s**2, params.c * s)


D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G, H = ft.Quantity("G", length), ft.Quantity("H", huber)
half = sympy.Rational(1, 2)
CASES = {
    "Polyak": (polyak, ft.SmoothConvex(L), lambda k: ft.E(D_next) <= D - k * F / L, (half, 3 * half), 2, ()),
    "normalized": (normalized, ft.Smooth(L), lambda k: ft.E(F_next) <= F - gamma * G + L * gamma**2 / k, (2, 1), 3, ()),
    "by a power": (by_a_power, ft.Smooth(L), lambda k: ft.E(F_next) <= F - gamma * G + L * gamma**2 / k, (2, 1), 3, ()),
    "AdaGrad's": (adagrad, ft.Smooth(L), lambda k: ft.E(F_next) <= F, (1,), 1, (gamma * L <= 2 * c,)),
    "clipped": (
        clipped,
        ft.Smooth(L),
        lambda k: ft.E(F_next) <= F - gamma * (1 - gamma * L / k) * H,
        (2, 1),
        3,
        (gamma * L <= 1,),
    ),
}


def claim(step, of, relation, requires=(), params=("gamma", "c"), state=None, **more):
    method = ft.method("m", step, list(params), state or {"x": "point"}, **more)
    setting = ft.Setting(algorithm=method, functions=of)
    return ft.Claim("mine/step", setting=setting, statement=ft.one_step(method, relation), requires=requires)


def proves(of, work=LITTLE):
    return not isinstance(prove(of, work), str)


@pytest.mark.parametrize("name", CASES)
def test_steps_that_depend_on_the_state(name):
    step, of, relation, true, false, requires = CASES[name]
    for k in true:
        assert proves(claim(step, of, relation(k), requires), STEP)
    wrong = claim(step, of, relation(false), (gamma * L <= 3 * c,) if name == "AdaGrad's" else requires)
    assert not proves(wrong)
    assert first_found(wrong).verdict is Verdict.REFUTED


# Attacks


def halves(problem, params, state, draw):
    return {"x": state.x / 2}


def stays(problem, params, state, draw):
    return {"x": state.x}


def distance_itself(problem, params, state):
    return np.sqrt(ft.distance(problem, params, state))


R, R_next = ft.Quantity("R", distance_itself), ft.Quantity("R_next", distance_itself, after=True)


def test_a_length_after_a_step_is_not_the_length_before():
    def doubled(problem, params, state, draw):
        return {"x": 2 * state.x - problem.x_star}

    of = ft.SmoothConvex(L)
    assert not proves(claim(doubled, of, ft.E(R_next) <= R))
    assert not proves(claim(doubled, of, ft.E(R_next) <= 3 * half * R))
    assert not proves(claim(stays, of, ft.E(R_next) <= R / 2))
    assert not proves(claim(stays, of, ft.E(D_next) <= R))


def test_a_length_is_not_its_square():
    of = ft.SmoothConvex(L)
    square = ft.Quantity("S", lambda problem, params, state: ft.distance(problem, params, state))
    for relation in (ft.E(D_next) <= R, ft.E(R_next) <= square, ft.E(R_next) <= 0 * R, ft.E(D_next) <= D - R):
        assert not proves(claim(stays, of, relation))


@pytest.mark.parametrize("kind", ["coin", "compressors", "compressor", "noise"])
def test_a_length_of_what_is_drawn_is_not_a_letter(kind):
    """E|v| is not the root of E|v|^2."""

    def step(problem, params, state, draw):
        g = problem.f.gradient(state.x[..., None, :])
        if kind == "coin":
            return {"x": np.where(draw[..., None], state.x, problem.x_star)}
        return {"x": state.x - params.gamma * getattr(params, kind).apply(draw, g).mean(axis=-2)}

    given = {
        "coin": (["p"], ()),
        "compressors": (["gamma", "compressors"], (ft.UnbiasedCompressors(),)),
        "compressor": (["gamma", "alpha", "compressor"], (ft.ContractiveCompressors(),)),
        "noise": (["gamma", "noise", "sigma"], (ft.NoisyGradients(),)),
    }
    params, adversaries = given[kind]
    draws = (lambda problem, params, state: ft.Bernoulli(params.p)) if kind == "coin" else None
    method = ft.method("m", step, params, {"x": "point"}, draws=draws)
    domain = (p <= 1,) if kind == "coin" else ()
    setting = ft.Setting(algorithm=method, functions=ft.SmoothConvex(L), adversaries=adversaries, domain=domain)
    statement = ft.one_step(method, -ft.E(R_next) <= -R)
    found = prove(ft.Claim("mine/drawn", setting=setting, statement=statement), LITTLE)
    assert isinstance(found, str) and "drawn" in found


def test_the_root_of_what_may_be_negative_is_not_read():
    def odd(problem, params, state):
        return np.sqrt(ft.distance(problem, params, state) - 1)

    O, O_next = ft.Quantity("O", odd), ft.Quantity("O_next", odd, after=True)
    found = prove(claim(stays, ft.SmoothConvex(L), ft.E(O_next) <= O + 1), LITTLE)
    assert "not a sum of squares" in found


def test_a_quotient_whose_sign_is_not_known_is_not_read():
    def step(problem, params, state, draw):
        g = slope(problem, state.x)
        along = (g * (state.x - problem.x_star)).sum(axis=-1)
        return {"x": state.x - (along / (g**2).sum(axis=-1))[..., None] * g}

    found = prove(claim(step, ft.Smooth(L), ft.E(D_next) <= D), LITTLE)
    assert "the sign of a quotient by a number of the state is not known" in found


def test_a_gap_of_functions_that_are_not_convex_at_points_of_the_clients_has_no_sign():
    def apart(problem, params, state):
        return np.sqrt((problem.f.value(state.y) - problem.f.value(problem.x_star[..., None, :])).mean(axis=-1))

    def step(problem, params, state, draw):
        return {"y": state.y}

    A, A_next = ft.Quantity("A", apart), ft.Quantity("A_next", apart, after=True)
    relation = ft.E(A_next) <= A
    found = prove(claim(step, ft.Smooth(L), relation, state={"y": "clients"}), LITTLE)
    assert isinstance(found, str)


def test_a_number_of_each_client_is_no_number_of_all():
    def step(problem, params, state, draw):
        g = problem.f.gradient(state.x[..., None, :])
        sizes = np.linalg.norm(g, axis=-1, keepdims=True)
        return {"x": state.x - params.gamma * (g / sizes).mean(axis=-2)}

    found = prove(claim(step, ft.SmoothConvex(L), ft.E(D_next) <= D), LITTLE)
    assert isinstance(found, str)


def test_lengths_of_two_vectors_are_two_numbers():
    def other(problem, params, state):
        return np.sqrt(((state.y - problem.x_star) ** 2).sum(axis=-1))

    def step(problem, params, state, draw):
        return {"x": state.x, "y": state.y}

    O = ft.Quantity("O", other)
    both = {"x": "point", "y": "point"}
    assert not proves(claim(step, ft.SmoothConvex(L), ft.E(R_next) <= O, state=both))
    assert proves(claim(step, ft.SmoothConvex(L), ft.E(R_next) <= R + O, state=both))


def test_the_larger_of_two_is_neither():
    def capped(problem, params, state, draw):
        return {"x": state.x - np.maximum(params.gamma, params.c) * slope(problem, state.x)}

    of, relation = ft.SmoothStronglyConvex(mu, L), ft.E(D_next) <= D
    assert proves(claim(capped, of, relation, (gamma * L <= 1, c * L <= 2)), STEP)
    for requires in ((gamma * L <= 2,), (c * L <= 2,), (gamma * L <= 2, c * L <= 3)):
        assert not proves(claim(capped, of, relation, requires))


def test_the_less_of_two_is_neither():
    def capped(problem, params, state, draw):
        return {"x": state.x - np.minimum(params.gamma, 1 / problem.L) * slope(problem, state.x)}

    of = ft.SmoothStronglyConvex(mu, L)
    assert proves(claim(capped, of, ft.E(D_next) <= D, params=("gamma",)), STEP)
    for factor in (1 - gamma * mu, 1 - mu / L):
        assert not proves(claim(capped, of, ft.E(D_next) <= factor * D, params=("gamma",)))


def test_a_size_has_the_sign_of_neither():
    def moved(problem, params, state, draw):
        return {"x": state.x - abs(params.gamma - params.c) * slope(problem, state.x)}

    of, relation = ft.SmoothStronglyConvex(mu, L), ft.E(D_next) <= D
    assert proves(claim(moved, of, relation, (gamma * L <= 1, c * L <= 1)), STEP)
    assert not proves(claim(moved, of, relation, (gamma * L <= 1,)))
    assert not proves(claim(moved, of, relation, ((gamma - c) * L <= 1,)))


def test_a_constant_is_no_multiple_of_a_length():
    of = ft.SmoothStronglyConvex(mu, L)
    one = ft.Quantity("One", lambda problem, params, state: 1 + 0 * ft.distance(problem, params, state))
    assert not proves(claim(halves, of, ft.E(D_next) <= D - c * one + c * R))
    assert not proves(claim(halves, of, ft.E(R_next) <= R - c * one))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: np.roll(x, 1, axis=-1), "np.roll, which no proof reads"),
        (lambda x: np.sort(x, axis=-1), "np.sort, which no proof reads"),
        (lambda x: np.median(x, axis=-1), "np.median, which no proof reads"),
        (lambda x: x * np.dot(x, x), r"np.dot, which no proof reads: write \(u \* v\).sum\(axis=-1\)"),
        (lambda x: np.maximum(x, 0), "the larger of a vector of coordinates and zero is taken, where numbers are"),
        (lambda x: abs(x), "after a step a product of vectors of coordinates"),
        (lambda x: np.linalg.norm(x), "write axis=-1"),
        (lambda x: sorted(x), "sorted, which no proof reads"),
    ],
)
def test_what_is_not_read_is_told_in_words(function, said):
    import re

    def step(problem, params, state, draw):
        return {"x": function(state.x)}

    assert re.search(said, prove(claim(step, ft.SmoothConvex(L), ft.E(D_next) <= D)))


# The larger of numbers of a state


def square(problem, params, state):
    return (slope(problem, state.x) ** 2).sum(axis=-1)


def larger(problem, params, state):
    return np.maximum(ft.distance(problem, params, state), square(problem, params, state))


def smaller(problem, params, state):
    return np.minimum(ft.distance(problem, params, state), square(problem, params, state))


def turned(problem, params, state):
    return np.linalg.norm(slope(problem, state.x) - slope(problem, state.y), axis=-1)


def apart(problem, params, state):
    return np.linalg.norm(state.x - state.y, axis=-1)


def capped(problem, params, state, draw):
    """The step min(gamma, c |x - x*|/|g|), which is gamma where g = 0."""
    g = slope(problem, state.x)
    far, long = np.linalg.norm(state.x - problem.x_star, axis=-1), np.linalg.norm(g, axis=-1)
    size = params.gamma * params.c * far / np.maximum(params.c * far, params.gamma * long)
    return {"x": state.x - size[..., None] * g}


S, S_next = ft.Quantity("S", square), ft.Quantity("S_next", square, after=True)
More, More_next = ft.Quantity("More", larger), ft.Quantity("More_next", larger, after=True)
Less, Less_next = ft.Quantity("Less", smaller), ft.Quantity("Less_next", smaller, after=True)
H_next = ft.Quantity("H_next", huber, after=True)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (ft.E(H_next) <= S, ft.E(S_next) <= H),
        (ft.E(H_next) <= c * G, -ft.E(H_next) <= -c * G),
        (ft.E(More_next) <= D + S, ft.E(More_next) <= D),
        (-ft.E(More_next) <= -D / 2 - S / 2, ft.E(More_next) <= D / 2 + S / 2),
        (ft.E(Less_next) <= D / 2 + S / 2, -ft.E(Less_next) <= -D / 2 - S / 2),
        (ft.E(Less_next) <= D / 3 + 2 * S / 3, ft.E(D_next) <= Less),
        (ft.E(More_next) + Less <= D + S, ft.E(More_next) + Less <= D + S / 2),
    ],
)
def test_the_larger_of_two_numbers_of_a_state(true, false):
    of = ft.Smooth(L)
    assert proves(claim(stays, of, true), STEP)
    assert not proves(claim(stays, of, false))


@pytest.mark.slow
def test_the_length_of_a_difference():
    A, A_next = ft.Quantity("A", turned), ft.Quantity("A_next", turned, after=True)
    B = ft.Quantity("B", apart)

    def step(problem, params, state, draw):
        return {"x": state.x, "y": state.y}

    both = {"x": "point", "y": "point"}
    assert proves(claim(step, ft.SmoothConvex(L), ft.E(A_next) <= A, state=both), STEP)
    for relation in (ft.E(A_next) <= L * B / 2, ft.E(A_next) <= G, -ft.E(A_next) <= -L * B):
        assert not proves(claim(step, ft.SmoothConvex(L), relation, state=both))


@pytest.mark.slow
def test_a_step_is_the_less_of_two_of_which_one_has_no_value_everywhere():
    of = ft.SmoothConvex(L)
    assert proves(claim(capped, of, ft.E(D_next) <= D, (gamma * L <= 2,)), STEP)
    assert not proves(claim(capped, of, ft.E(D_next) <= D, (gamma * L <= 3,)))
    # |x+ - x*| <= |x - x*| + |x+ - x|, and |x+ - x| <= c |x - x*|
    assert not proves(claim(capped, of, ft.E(D_next) <= (1 - c / 9) * D, (gamma * L <= 1, c <= 1)))


def test_the_larger_of_what_has_any_sign_is_not_read():
    def along(problem, params, state):
        return np.maximum((slope(problem, state.x) * state.x).sum(axis=-1), ft.distance(problem, params, state))

    A_next = ft.Quantity("A_next", along, after=True)
    found = prove(claim(stays, ft.SmoothConvex(L), ft.E(A_next) <= D), LITTLE)
    assert "one of them has any sign" in found


def test_the_larger_of_what_is_drawn_is_not_read():
    """E max(a, b) is not max(E a, E b)."""

    def step(problem, params, state, draw):
        return {"x": np.where(draw[..., None], state.x, problem.x_star)}

    method = ft.method("m", step, ["p"], {"x": "point"}, draws=lambda problem, params, state: ft.Bernoulli(params.p))
    setting = ft.Setting(algorithm=method, functions=ft.SmoothConvex(L), domain=(p <= 1,))
    statement = ft.one_step(method, ft.E(More_next) <= p * D + p * S)
    found = prove(ft.Claim("mine/drawn", setting=setting, statement=statement), LITTLE)
    assert "depends on what is drawn" in found


def test_the_larger_of_numbers_of_each_client_is_not_read():
    def each(problem, params, state):
        sizes = (problem.f.gradient(state.x[..., None, :]) ** 2).sum(axis=-1)
        return np.maximum(sizes, params.c).mean(axis=-1)

    A, A_next = ft.Quantity("A", each), ft.Quantity("A_next", each, after=True)
    found = prove(claim(stays, ft.SmoothConvex(L), ft.E(A_next) <= A / 2), LITTLE)
    assert isinstance(found, str)


def test_letters_stand_for_the_same_in_all_cases():
    """With other letters in one case than in the other, states of neither case would be left."""
    from verify.multipliers.cases import cases
    from verify.multipliers.posing import OfTwoParts, pose

    of = claim(stays, ft.Smooth(L), ft.E(More_next) + H <= D + 2 * S)
    (case,) = cases(of)
    waiting, named = [case], set()
    while waiting:
        try:
            pose(of, at := waiting.pop())
        except OfTwoParts as two:
            waiting += two.of(at)
            assert set(at.numbers.items()) <= set(two.numbers.items())
            named |= set(two.numbers.items())
    assert len({name for _, name in named}) == len({key for key, _ in named}) == len(named)
