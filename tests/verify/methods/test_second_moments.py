import random
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory.numbers.intervals import Interval, Undecided
from fedtheory.numbers.rational import exact, to_float
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.comparisons import second_moments
from verify.search import hunting


def drawn(size, draws, seed=0):
    """(A, p, Q): maps, their probabilities and a symmetric form, in fractions."""
    rng = np.random.default_rng(seed)
    A = exact(rng.integers(-9, 10, (draws, size, size))) / 20
    Q = exact(rng.integers(-9, 10, (size, size))) / 7
    return A, exact(np.arange(1, draws + 1)) * Fraction(2, draws * (draws + 1)), Q + Q.T


def pulled_back(A, p, Q, rounds):
    """The form before so many rounds, in fractions."""
    for _ in range(rounds):
        Q = sum(p_k * A_k.T @ Q @ A_k for p_k, A_k in zip(p, A, strict=True))
    return Q


# Up to a hundred rounds one by one, then by squaring; thirteen coordinates are too many to square.
@pytest.mark.parametrize(("size", "rounds"), [(1, 1), (2, 7), (3, 101), (4, 130), (13, 3)])
def test_forms_that_are_pulled_back_are_enclosed(size, rounds):
    for seed in range(3):
        A, p, Q = drawn(size, 3, seed)
        true = pulled_back(A, p, Q, rounds)
        found = second_moments.pulled_back(A, p, Q, rounds)
        assert all(
            enclosure.low <= value <= enclosure.high for value, enclosure in zip(true.flat, found.flat, strict=True)
        )
        largest = max(map(abs, true.flat))
        assert max(enclosure.high - enclosure.low for enclosure in found.flat) < largest / 10**40
        in_floats = second_moments.pulled_back(to_float(A), to_float(p), to_float(Q), rounds)
        np.testing.assert_allclose(in_floats, to_float(true), atol=1e-9 * float(largest))


def test_maps_with_roots_are_followed_by_intervals():
    root = np.array([[[Interval(2, 2).sqrt()]]], dtype=object)
    (found,) = second_moments.pulled_back(root, exact([1]), exact([[3]]), 10).flat
    assert found.low <= 3 * 2**10 <= found.high < found.low + Fraction(1, 10**40)
    with pytest.raises(Undecided):
        second_moments.pulled_back(root, exact([1]), exact([[3]]), 100)


def test_bounds_are_looked_at_beyond_the_numbers_that_stand_in_them():
    mu, L = ft.letters("mu L")

    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :])[..., 0, :]}

    method = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
    left, right = ft.Quantity("V_T", ft.distance, after=True), ft.Quantity("V_0", ft.distance)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
    late = ft.bound(method, ft.E(left) <= sympy.Max(0, 300 - ft.T) * right)
    claim = ft.Claim("own/late", setting=setting, statement=late)
    ((_, instance),) = islice(meeting(claim, claim.instances.recipes(np.random.default_rng(0))), 1)
    assert set(second_moments.rounds(Case.of(claim, instance))) == {*second_moments.LONG, 301, 600}


def test_errors_of_long_integers_are_bounded_from_above_and_nearly_so():
    rng = random.Random(0)

    def integers(*shape):
        of = np.vectorize(lambda _: rng.getrandbits(rng.choice((0, 1, 60, 520))), otypes=[object])
        return of(np.zeros(shape))

    for more in (1, 2**600):
        # Beyond the floats they are multiplied as they are.
        one, other = integers(7, 9), integers(9, 4) * more
        found, exactly = second_moments._bound(one, other), one @ other
        assert (found >= exactly).all() and (found - exactly <= exactly // 2**38 + 2).all()


def bounded(step, constant, requires, functions, clients, draws=None):
    """The claim that the squared distance stays below a multiple of what it was at the start."""
    given = {} if draws is None else {"draws": draws}
    method = ft.method("slow", step, ["gamma"], {"x": "point"}, **given)
    first, last = ft.Quantity("D_0", ft.distance), ft.Quantity("D_T", ft.distance, after=True)
    statement = ft.bound(method, ft.E(last) <= constant * first)
    setting = ft.Setting(algorithm=method, functions=functions, clients=clients)
    return ft.Claim("mine/slow", setting=setting, statement=statement, requires=requires)


def one_client(problem, params, state, draw):
    change = problem.f.gradient(state.x[..., None, :]) - problem.y_star
    drawn = np.where(np.asarray(draw)[..., None], change, 0 * change).sum(axis=-2)
    return {"x": state.x - params.gamma * drawn}


def all_clients(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


def client(problem, params, state):
    return ft.UniformSubset(problem.n, 1)


mu, L, gamma = ft.letters("mu L gamma")
UNEVEN, STRONG = ft.PolyakLojasiewicz(mu, L), ft.SmoothStronglyConvex(mu, L)
TENTH, SLOWER = sympy.Rational(1, 10), 1 + gamma**3 * L**3
#: A step, the multiple, what is required, the class, the draws, and whether the bound holds.
SLOW = {
    "clients that are not convex": (one_client, 5, 10 * gamma * L <= 1, UNEVEN, client, False),
    "the same with shorter steps": (one_client, 5, 100 * gamma * L <= 1, UNEVEN, client, False),
    "the same with a large multiple": (one_client, 10**6, 10 * gamma * L <= 1, UNEVEN, client, False),
    "a power that grows more slowly": (one_client, 5 * SLOWER**ft.T, 10 * gamma * L <= 1, UNEVEN, client, False),
    "steps that are a little too long": (all_clients, 10, gamma * L <= 2 + TENTH**4, STRONG, None, False),
    "convex clients": (one_client, 1, gamma * L <= 2, STRONG, client, True),
    "steps as long as may be": (all_clients, 1, gamma * L <= 2, STRONG, None, True),
    "steps as long as may be, without strong convexity": (
        all_clients,
        1,
        gamma * L <= 2,
        ft.SmoothConvex(L),
        None,
        True,
    ),
    "a power that grows": (all_clients, (1 + gamma * L) ** ft.T, gamma * L <= 2, STRONG, None, True),
}


@pytest.mark.parametrize("name", SLOW)
def test_what_grows_slowly_passes_any_constant(name):
    step, constant, required, functions, draws, holds = SLOW[name]
    claim = bounded(step, constant, (required,), functions, (1,) if draws is None else (2,), draws)
    found = hunting.hunt(claim, np.random.default_rng(0), 20 if holds else 60, 1).refutations
    assert not found if holds else found[0].rounds >= 1000
