"""The linear maps of a step, read off the code; and that nothing is refuted at states, or on problems, of no run."""

from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy
from sympy import Eq, Rational

import fedtheory as ft
from fedtheory.instances import Instance, Instances
from fedtheory.numbers.polynomials import NotPolynomial, unknowns
from fedtheory.numbers.rational import exact as fractions
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.comparisons import dynamics, exact, limits, second_moments
from verify.comparisons.starts import begun
from verify.search import cycling, states

mu, L, gamma = ft.letters("mu L gamma")
D, D_0, D_T = (ft.Quantity(name, ft.distance, after=name == "D_T") for name in ("D", "D_0", "D_T"))
GAMMA = (gamma * L <= 1,)


def gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def descent(problem, params, state, draw):
    return {"x": state.x - params.gamma * gradient(problem, state.x)}


def coin(problem, params, state):
    return ft.Bernoulli(Fraction(1, 2))


def claim(step, statement, requires=GAMMA, parts=("x",), clients=(1,), start=(), **more):
    method = ft.method("own", step, ["gamma"], dict.fromkeys(parts, "point"), **more)
    setting = ft.Setting(
        algorithm=method,
        functions=ft.SmoothStronglyConvex(mu, L),
        clients=clients,
        drawing=ft.Drawing(start=start),
    )
    return ft.Claim("own/claim", setting=setting, statement=statement(method), requires=requires)


def tends(method):
    return ft.Limit(method, D, "x to x*")


def bounded(factor, constant=1):
    return lambda method: ft.bound(method, ft.E(D_T) <= constant * factor**ft.T * D_0)


def simple(own):
    """The first instance of one variable that is a quadratic."""
    met = islice(meeting(own, own.instances.recipes(np.random.default_rng(0))), 40)
    return next(i for _, i in met if i.quadratic and i.problem.d == 1)


def test_unknown_numbers_are_computed_with_and_not_seen():
    x, y = unknowns(0, 2)
    assert ((x + y) * (x - y) + y**2 - x * x).key == () and (x - x < 1) and not x - x
    assert np.array([x, y]).sum() / 2 - y / 2 == x / 2
    for look in (lambda: x > 0, lambda: x == y, lambda: bool(x), lambda: abs(x), lambda: 1 / x, lambda: x * x * y):
        with pytest.raises(NotPolynomial):
            look()


def test_the_map_of_a_step_and_of_where_runs_begin():
    def momentum(problem, params, state, draw):
        return {"x": state.x - params.gamma * gradient(problem, state.x) + (state.x - state.h) / 2, "h": state.x}

    rest = {"fixed_point": lambda problem, params: {"x": problem.x_star, "h": problem.x_star}}
    own = claim(momentum, tends, parts=("x", "h"), **rest)
    instance = simple(own)
    (h,) = instance.problem.f.H.ravel()
    found = dynamics.read(Case.of(own, instance))
    step = instance.params.gamma * h
    assert (found.A == [[[Fraction(3, 2) - step, Fraction(-1, 2)], [1, 0]]]).all() and (found.p == 1).all()
    # Both parts begin at 0, which is -x* from the optimum.
    assert (found.S == [[-1], [-1]]).all()


def test_a_step_that_is_not_linear_is_not_extrapolated():
    """Far states contract faster, near ones end: 200 (7/10)^T holds, and a linear map would not meet it."""

    def step(problem, params, state, draw):
        z = state.x - problem.x_star
        z = np.where(abs(z) > 10, z / 2, np.where(abs(2 * z) < 1, 0 * z, 9 * z / 10))
        return {"x": problem.x_star + z + 0 * draw[..., None]}

    own = claim(step, bounded(Rational(7, 10), 200), draws=coin)
    with pytest.raises(NotPolynomial, match="not a linear map"):
        list(exact.parts(Case.of(own, simple(own)), (Fraction(1),), 100))
    ((_, left, right, *_),) = exact.parts(Case.of(own, simple(own)), (Fraction(1),), 3)
    assert left < right


@pytest.mark.parametrize("start", [(), ("x",)])
def test_a_limit_is_not_refuted_from_a_state_that_no_run_begins_at(start):
    """Where h is the gradient at x the run descends, elsewhere every state stays; it begins where it is."""

    def init(problem, params, x=None, h=None):
        x = np.zeros(problem.d, dtype=int) if x is None else x
        return {"x": x, "h": gradient(problem, x) if h is None else h}

    def step(problem, params, state, draw):
        e = state.h - gradient(problem, state.x)
        x = np.where(e == 0, state.x - params.gamma * gradient(problem, state.x), state.x)
        return {"x": x, "h": np.where(e == 0, gradient(problem, x), state.h)}

    rest = {"fixed_point": lambda problem, params: {"x": problem.x_star, "h": 0 * problem.x_star}}
    own = claim(step, tends, parts=("x", "h"), start=start, init=init, **rest)
    with pytest.raises(ValueError, match="no run of own/claim begins there"):
        limits.sides_of_cycle(Case.of(own, simple(own)), (1, 100), 1, 0)
    everywhere = claim(step, tends, parts=("x", "h"), start=("x", "h"), init=init, **rest)
    assert limits.sides_of_cycle(Case.of(everywhere, simple(everywhere)), (1, 100), 1, 0) == (1, 1)


def test_a_limit_is_not_refuted_from_a_run_on_another_problem():
    """Anywhere but at a = 0, where runs begin, nothing moves."""

    def step(problem, params, state, draw):
        far = abs(state.a) > 0
        return {"x": np.where(far, state.x, (state.x + problem.x_star) / 2), "a": state.a}

    rest = {"fixed_point": lambda problem, params: {"x": problem.x_star, "a": 0 * problem.x_star}}
    own = claim(step, tends, parts=("x", "a"), **rest)
    with pytest.raises(ValueError, match=r"do not lead back|no run"):
        limits.sides_of_cycle(Case.of(own, simple(own)), (1, 1), 1, 0)
    everywhere = claim(step, tends, parts=("x", "a"), start=("x", "a"), **rest)
    assert limits.sides_of_cycle(Case.of(everywhere, simple(everywhere)), (1, 1), 1, 0) == (1, 1)


def test_a_run_that_leaves_the_span_of_its_starts_is_judged_where_it_gets():
    def momentum(problem, params, state, draw):
        x = state.x - params.gamma * gradient(problem, state.x) + (state.x - state.h) * Fraction(9, 10)
        return {"x": x, "h": state.x}

    rest = {"fixed_point": lambda problem, params: {"x": problem.x_star, "h": problem.x_star}}
    own = claim(momentum, tends, (Eq(gamma * L, 4), Eq(mu, L)), ("x", "h"), **rest)
    size, one = limits.stages(Case.of(own, simple(own)))
    assert size >= one


def sampled(problem, params, state, draw):
    of = problem.f.gradient(state.x[..., None, :])
    return {"x": state.x - params.gamma * (of * draw[..., None]).sum(axis=-2)}


def interpolates(problem, params):
    return bool((np.asarray(problem.y_star) == 0).all())


def test_a_hypothesis_on_the_optimum_holds_where_runs_begin():
    """Stochastic gradients converge linearly where all f_i have one minimiser, which is a hypothesis given as code."""
    for requires, fixed in (((ft.Hypothesis("every f_i is least at x*", met=interpolates),), True), ((), False)):
        own = claim(
            sampled,
            bounded(1 - gamma * mu),
            (Eq(gamma * L, 1), *requires),
            clients=(2,),
            draws=lambda problem, params, state: ft.UniformSubset(problem.n, 1),
        )
        instance = simple(own)
        point = (Fraction(1),) * instance.initial_dimension
        ((_, left, right, *_),) = exact.parts(Case.of(own, instance), point, 3)
        assert (instance.initial_dimension == 0, bool(left <= right)) == (fixed, fixed)


# Instances of one's own


class Sizes(NamedTuple):
    n: int
    d: int


class Pair(NamedTuple):
    x: Any
    h: Any


def _pairs(**more):
    """Instances of one's own, and a limit: x <- x/2 + h, where runs begin at h = 0."""
    zeros = Pair(np.zeros(1, dtype=int), np.zeros(1, dtype=int))

    def at(theta):
        return Sizes(1, 1), Pair(theta[:, None, :1], theta[:, None, 1:])

    def initial(theta):
        return Sizes(1, 1), Pair(theta[:, None, :1], 0 * theta[:, None, :1])

    def coordinates(state):
        return np.concatenate([state.x, state.h], axis=-1)

    method = ft.Algorithm(
        "pairs",
        Sizes,
        Pair,
        lambda problem, params, x=0: Pair(x + zeros.x, zeros.h),
        lambda problem, params, state: ft.Constant(),
        lambda problem, params, state, draw: Pair(state.x / 2 + state.h, state.h),
        lambda problem, params: zeros,
    )
    instance = Instance(Sizes(1, 1), Sizes(1, 1), 2, at, initial=initial, initial_dimension=1, **more)
    drawn = Instances(lambda rng: iter(()), lambda recipe, exact: replace(instance, coordinates=coordinates))
    setting = ft.Setting("pairs", (), method, drawing=ft.Drawing(special=drawn))
    quantity = ft.Quantity("x", lambda problem, params, state: (state.x**2).sum(axis=-1))
    return ft.Claim("mine/pairs", setting=setting, statement=ft.Limit(method, quantity, "x tends to 0")), instance


def test_no_run_begins_where_instances_of_ones_own_do_not_begin_one():
    claim, _ = _pairs()
    instance = claim.instances.build({}, True)
    _, state = begun(Case.of(claim, instance), fractions([[3, 0]]))
    assert state.x == 3
    with pytest.raises(ValueError, match="no run of mine/pairs begins there"):
        begun(Case.of(claim, instance), fractions([[2, 1]]))


def test_where_states_have_no_coordinates_no_cycle_is_looked_for():
    claim, instance = _pairs()
    assert cycling.candidates(Case.of(claim, instance), np.array([[2.0, 1.0]])) == []
    with pytest.raises(ValueError, match="at which coordinates"):
        begun(Case.of(claim, instance), fractions([[2, 1]]))


# What code may not see of a state, and what it may do instead


def _tried(problem, params, state, draw):
    try:
        past = 1 / state.u
    except Exception:
        past = 2
    return {"x": problem.x_star + (state.x - problem.x_star) * past, "u": state.u / 2}


def _asked(problem, params, state, draw):
    known = hasattr(state.u.flat[0], "denominator") or state.u.dtype != object
    return {"x": problem.x_star + (state.x - problem.x_star) * (state.u if known else 2), "u": state.u / 2}


@pytest.mark.parametrize("step", [_tried, _asked])
def test_code_that_goes_another_way_with_what_is_not_known_is_no_linear_map(step):
    method = ft.method(
        "remembering",
        step,
        ["gamma"],
        {"x": "point", "u": "point"},
        init=lambda problem, params, x=None: {"x": 0 * problem.x_star if x is None else x, "u": 1 + 0 * problem.x_star},
        fixed_point=lambda problem, params: {"x": problem.x_star, "u": 0 * problem.x_star},
    )
    assert not dynamics.is_linear(Case.of(*_at(ft.Limit(method, ft.Quantity("X", ft.distance), "x tends to x*"))))


def test_what_only_fractions_do_not_do_is_looked_for_and_not_found():
    """Floats, and numbers that are not known, are doubled; fractions are halved, as their runs show."""

    def step(problem, params, state, draw):
        exact = isinstance(np.asarray(state.x).flat[0], int | Fraction)
        z = state.x - problem.x_star
        return {"x": problem.x_star + (z / 2 if exact else 2 * z) + 0 * draw[..., None]}

    own = claim(step, bounded(1), draws=coin)
    recipe, instance = next(
        (r, i) for r, i in meeting(own, own.instances.recipes(np.random.default_rng(0))) if i.quadratic
    )
    assert dynamics.traced(Case.of(own, instance), 100) and not dynamics.is_linear(Case.of(own, instance), 100)
    found = states.examine(Case(own, recipe), np.random.default_rng(0))
    assert max(f.ratio for f in found) > 1 and max(f.rounds for f in found) <= 3
    assert states.first_confirmed(Case(own, recipe), found) is None
    with pytest.raises(NotPolynomial, match="mapped otherwise"):
        list(exact.parts(Case.of(own, instance), (Fraction(1),) * instance.size_of_start, 100))


def test_what_is_no_form_is_not_followed_through_many_rounds():
    """Fourth powers contract by the fourth power of the factor; a form fitted to them would not."""

    def fourth(problem, params, state):
        return ft.distance(problem, params, state) ** 2

    first, last = (ft.Quantity(name, fourth, after=name == "F_T") for name in ("F_0", "F_T"))
    own = claim(
        lambda problem, params, state, draw: {
            "x": state.x - params.gamma * gradient(problem, state.x) + 0 * draw[..., None]
        },
        lambda method: ft.bound(method, ft.E(last) <= (1 - gamma * mu) ** (4 * ft.T) * first),
        draws=coin,
    )
    recipe, instance = next(
        (r, i) for r, i in meeting(own, own.instances.recipes(np.random.default_rng(0))) if i.quadratic
    )
    assert dynamics.is_linear(Case.of(own, instance), 100) and not second_moments.is_followed(
        Case.of(own, instance), 100
    )
    found = states.examine(Case(own, recipe), np.random.default_rng(0))
    assert max(f.rounds for f in found) <= 3 and states.first_confirmed(Case(own, recipe), found) is None


def test_what_a_round_leaves_undetermined_later_rounds_may_not_look_at():
    """The stepsize is chosen in round 0, and init says another one."""

    def step(problem, params, state, draw):
        chosen = 0 * state.u + params.s if params.round == 0 else state.u
        return {"x": state.x - chosen * draw[..., None] * gradient(problem, state.x), "u": chosen}

    method = ft.method(
        "choosing",
        step,
        [],
        {"x": "point", "u": "point"},
        draws=coin,
        schedules={"s": 1 / (2 + ft.round_index)},
        init=lambda problem, params, x=None: {"x": 0 * problem.x_star if x is None else x, "u": 5 + 0 * problem.x_star},
        fixed_point=lambda problem, params: {"x": problem.x_star, "u": 0 * problem.x_star},
    )
    claim, instance = _at(ft.bound(method, ft.E(D_T) <= D_0))
    assert dynamics.is_linear(Case.of(claim, instance)) and not dynamics.is_linear(Case.of(claim, instance), 2)


def _at(statement):
    setting = ft.Setting(algorithm=statement.algorithm, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
    claim = ft.Claim("mine/remembering", setting=setting, statement=statement)
    recipe = next(iter(claim.instances.recipes(np.random.default_rng(0))))
    return claim, claim.instances.build(recipe, True)


# Letters, and parameters, that are others at another optimum


def _ends_at_zero(problem, params, state, draw):
    return {"x": problem.x_star + (state.x - problem.x_star) / 2}


@pytest.mark.parametrize("of", ["letter", "parameter", "square"])
def test_runs_begin_on_the_problem_at_hand_where_another_has_another_letter(of):
    s = sympy.Symbol("s", nonnegative=True)
    method = ft.method("halving", _ends_at_zero, ["gamma", "s"], {"x": "point"})
    letters = {mu: "mu", L: "L", s: (lambda problem, params: problem.x_star.sum()) if of == "letter" else "s"}

    def parameters(recipe, problem, exact):
        # At x = 0 the square is what it is said to be where nothing is known of x.
        squares = (v * v if of == "square" else v for v in recipe.get("x", ()))
        return method.Params(1, sum(squares, Fraction(of == "parameter")))

    setting = ft.Setting(
        algorithm=method,
        letters=letters,
        functions=ft.SmoothStronglyConvex(mu, L),
        clients=(1,),
        drawing=ft.Drawing(parameters=parameters),
    )
    claim = ft.Claim("mine/halving", setting=setting, statement=ft.bound(method, ft.E(D_T) <= D_0 * (1 + s)))
    recipes = iter(claim.instances.recipes(np.random.default_rng(0)))
    recipe = next(r for r in recipes if sum(r["x"]) > 0)
    if of == "square":
        recipe = {**recipe, "x": tuple(Fraction(0) for _ in recipe["x"])}
    assert claim.instances.build(recipe, True).initial_dimension == 0
