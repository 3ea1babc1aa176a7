"""Linear operators: what a norm, the adjoint and least singular values give is proved, and no more.

Every attack is false of some operator, and only what is not known of K, or of the saddle point, could let it through.
"""

import numpy as np
import pytest
import sympy
from first_found import first_found
from own_step import LITTLE, proves, stated

import fedtheory as ft
from verify import Verdict
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

mu, L, k, s, gamma, p = ft.letters("mu L k s gamma p")
E, R = ft.E, sympy.Rational
ANY, SMOOTH = ft.Coupled(ft.Convex(), k), ft.Coupled(ft.SmoothConvex(L), k)
BELOW, ONTO = ft.Coupled(ft.Convex(), k, least=s), ft.Coupled(ft.Convex(), k, adjoint_least=s)
WITH_G = ft.Coupled(ft.Composite(ft.SmoothConvex(L)), k)
STATE = {"x": "point", "z": "point", "y": "dual", "v": "dual"}


def square(v):
    return (v**2).sum(axis=-1)


def row(x):
    return x[..., None, :]


def slope(problem, x):
    return problem.f.gradient(row(x)).mean(axis=-2)


def prox(function, x):
    return function.resolvent(1, row(x))[..., 0, :]


def away(problem, state):
    return state.x - problem.x_star, state.y - problem.u_star


# Steps


def still(problem, params, state, draw):
    return state._asdict()


def mapped(problem, params, state, draw):
    """There and back."""
    return {"x": problem.K.T(problem.K(state.x)), "z": state.x, "y": problem.K(state.x), "v": state.y}


def descent(problem, params, state, draw):
    return {**state._asdict(), "x": state.x - params.gamma * slope(problem, state.x)}


def swapped(problem, params, state, draw):
    """A dual part that is a vector of the other space."""
    return {**state._asdict(), "y": state.x}


def chosen(problem, params, state, draw):
    """The image of x by chance, else the image of z."""
    return {**state._asdict(), "y": problem.K(np.where(draw[..., None], state.x, state.z))}


def coin(problem, params, state):
    return ft.Bernoulli(params.p)


# Quantities


def image(problem, params, state):
    return square(problem.K(away(problem, state)[0]))


def pull(problem, params, state):
    return square(problem.K.T(away(problem, state)[1]))


def length(problem, params, state):
    return square(state.x)


def image_length(problem, params, state):
    return square(problem.K(state.x))


def dual_length(problem, params, state):
    return square(state.y)


def pull_length(problem, params, state):
    return square(problem.K.T(state.y))


def images_apart(problem, params, state):
    return square(problem.K(state.x) - problem.K(state.z))


def apart(problem, params, state):
    return square(state.x - state.z)


def products_apart(problem, params, state):
    """<K x, y> - <x, K' y>."""
    return (problem.K(state.x) * state.y).sum(axis=-1) - (state.x * problem.K.T(state.y)).sum(axis=-1)


def as_if_symmetric(problem, params, state):
    """<K x, y> - <x, K y>."""
    return (problem.K(state.x) * state.y).sum(axis=-1) - (state.x * problem.K(state.y)).sum(axis=-1)


def operators_apart(problem, params, state):
    return square(problem.K(state.x) - problem.K.T(state.x))


def bend(problem, params, state):
    """K(2 x - 3 z) - 2 K x + 3 K z."""
    return square(problem.K(2 * state.x - 3 * state.z) - 2 * problem.K(state.x) + 3 * problem.K(state.z))


def there_and_back(problem, params, state):
    return square(problem.K.T(problem.K(state.x)))


def along(problem, params, state):
    """<x, K x>."""
    return (state.x * problem.K(state.x)).sum(axis=-1)


def both(problem, params, state):
    x, y = away(problem, state)
    return 2 * (problem.K(x) * y).sum(axis=-1)


def sizes(problem, params, state):
    x, y = away(problem, state)
    return square(x) + square(y)


def distance_of_y(problem, params, state):
    return square(away(problem, state)[1])


def balance(problem, params, state):
    return square(problem.y_star.mean(axis=-2) + problem.K.T(problem.u_star) + 0 * state.x)


def slope_at_optimum(problem, params, state):
    return square(problem.y_star.mean(axis=-2) + 0 * state.x)


def pull_at_optimum(problem, params, state):
    return square(problem.K.T(problem.u_star) + 0 * state.x)


def whole_gap(problem, params, state):
    """f(x) + h(K x) less the same at x*."""
    here, there = (problem.h.value(row(problem.K(x)))[..., 0] for x in (state.x, problem.x_star))
    return ft.gap(problem, params, state) + here - there


def lagrangian(problem, params, state):
    """f(x) - f(x*) + <K (x - x*), u*>."""
    moved = problem.K(state.x - problem.x_star)
    return ft.gap(problem, params, state) + (moved * problem.u_star).sum(axis=-1)


def outer_gap(problem, params, state):
    here, there = (problem.h.value(row(problem.K(x)))[..., 0] for x in (state.x, problem.x_star))
    return here - there


def prox_and_image(problem, params, state):
    """The proximal point at K x less K of that at x."""
    return square(prox(problem.h, problem.K(state.x)) - problem.K(prox(problem.f, state.x)))


def prox_apart(problem, params, state):
    return square(prox(problem.h, problem.K(state.x)) - prox(problem.h, problem.K(state.z)))


def prox_of_point(problem, params, state):
    """h asked at a vector of the space of x, and K' of that."""
    return square(problem.K.T(prox(problem.h, state.x) - prox(problem.h, state.z)))


def of_products(problem, params, state):
    return square(problem.K(state.x * state.x) - problem.K(state.x) * problem.K(state.x))


def of_sizes(problem, params, state):
    return square(problem.K(np.abs(state.x))) - square(problem.K(state.x))


def of_clients(problem, params, state):
    """The mean of the |K grad f_i|^2."""
    return square(problem.K(problem.f.gradient(row(state.x)))).sum(axis=-1) / problem.n


def slope_length(problem, params, state):
    return square(slope(problem, state.x))


NAMES = {
    "X": ft.distance,
    "F": ft.gap,
    **{
        of.__name__: of
        for of in (
            *(image, pull, length, image_length, dual_length, pull_length, images_apart, apart, products_apart),
            *(as_if_symmetric, operators_apart, bend, there_and_back, along, both, sizes, distance_of_y, balance),
            *(slope_at_optimum, pull_at_optimum, whole_gap, lagrangian, outer_gap, prox_and_image, prox_apart),
            *(prox_of_point, of_products, of_sizes, of_clients, slope_length),
        )
    },
}
Q = {name: ft.Quantity(name.replace("_", ""), of) for name, of in NAMES.items()}
AFTER = {name: ft.Quantity(f"{name.replace('_', '')}_next", of, after=True) for name, of in NAMES.items()}
ZERO = 0 * Q["X"]


def claim(functions, step, relation, requires=(), **more):
    return stated(functions, step, relation, requires, STATE, ("gamma",), **more)


TRUE = {
    "a norm": (ANY, still, Q["image"] <= k**2 * Q["X"]),
    "of any vector": (ANY, still, Q["image_length"] <= k**2 * Q["length"]),
    "of differences": (ANY, still, Q["images_apart"] <= k**2 * Q["apart"]),
    "of the adjoint": (ANY, still, Q["pull_length"] <= k**2 * Q["dual_length"]),
    "there and back": (ANY, still, Q["there_and_back"] <= k**4 * Q["length"]),
    "the adjoint": (ANY, still, Q["products_apart"] <= ZERO),
    "the adjoint, the other way": (ANY, still, ZERO <= Q["products_apart"]),
    "linear": (ANY, still, Q["bend"] <= ZERO),
    "a product": (ANY, still, Q["both"] <= k * Q["sizes"]),
    "bounded below": (BELOW, still, s**2 * Q["X"] <= Q["image"]),
    "its adjoint bounded below": (ONTO, still, s**2 * Q["distance_of_y"] <= Q["pull"]),
    "the saddle point balances": (SMOOTH, still, Q["balance"] <= ZERO),
    "it is a minimiser": (ANY, still, ZERO <= Q["whole_gap"]),
    "and one of the Lagrangian": (ANY, still, ZERO <= Q["lagrangian"]),
    "proximal points of images": (ANY, still, Q["prox_apart"] <= Q["images_apart"]),
    "after a step": (ANY, mapped, E(AFTER["dual_length"]) <= k**2 * Q["length"]),
    "two steps of it": (ANY, mapped, E(AFTER["image_length"]) <= k**4 * Q["image_length"]),
}
FALSE = {
    "a smaller norm": (ANY, still, Q["image"] <= k**2 * Q["X"] * R(9, 10)),
    "the norm, not its square": (ANY, still, Q["image"] <= k * Q["X"]),
    "the constant of f": (SMOOTH, still, Q["image"] <= L**2 * Q["X"]),
    "as if it were symmetric": (ANY, still, Q["as_if_symmetric"] <= ZERO),
    "as if K' were K": (ANY, still, Q["operators_apart"] <= ZERO),
    "as if K were invertible": (ANY, still, k**2 * Q["X"] <= 100 * Q["image"]),
    "as if K were positive": (ANY, still, ZERO <= Q["along"]),
    "as if a positive norm were a definite operator": (BELOW, still, ZERO <= Q["along"]),
    "onto is not one to one": (ONTO, still, s**2 * Q["X"] <= Q["image"]),
    "more than the least singular value": (BELOW, still, s**2 * Q["X"] * R(11, 10) <= Q["image"]),
    "the adjoint with a sign": (ANY, still, -Q["both"] <= ZERO),
    "K commutes with proximal points": (ANY, still, Q["prox_and_image"] <= ZERO),
    "K of products": (ANY, still, Q["of_products"] <= ZERO),
    "K of absolute values": (ANY, still, Q["of_sizes"] <= ZERO),
    "K of each client's gradient": (SMOOTH, still, Q["of_clients"] <= k**2 * Q["slope_length"]),
    "x* is a minimiser of f": (SMOOTH, still, ZERO <= Q["F"]),
    "x* is a minimiser of h(K x)": (ANY, still, ZERO <= Q["outer_gap"]),
    "gradients vanish at x*": (SMOOTH, still, Q["slope_at_optimum"] <= ZERO),
    "gradients of a single f vanish at x*": (SMOOTH, still, Q["slope_at_optimum"] <= ZERO, (), {"clients": (1,)}),
    "K' u* is 0": (SMOOTH, still, Q["pull_at_optimum"] <= ZERO),
    "with a g the gradients still balance K' u*": (WITH_G, still, Q["balance"] <= ZERO),
    "descent leads to x*": (SMOOTH, descent, E(AFTER["X"]) <= Q["X"], (gamma * L <= 1,)),
    "another operator in the next round": (ANY, mapped, E(AFTER["image_length"]) <= k**2 * Q["image_length"]),
    "an image does not grow": (ANY, mapped, E(AFTER["dual_length"]) <= Q["length"]),
}
#: What is not asked in its own space, where a bound of K or of K' may not hold.
UNREAD = {
    "K of a dual vector": (ANY, still, Q["as_if_symmetric"] <= ZERO),
    "K' of a point": (ANY, still, Q["operators_apart"] <= ZERO),
    "h at a point": (ANY, still, Q["prox_of_point"] <= k**2 * Q["apart"]),
    "a dual part that becomes a point": (ANY, swapped, E(AFTER["dual_length"]) <= Q["length"]),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_operators_give_is_proved(name):
    assert proves(claim(*TRUE[name]), STEP)


@pytest.mark.parametrize("name", FALSE)
def test_what_operators_do_not_give_is_refuted(name):
    functions, step, relation, *rest = FALSE[name]
    requires, more = (*rest, (), {})[:2] if len(rest) != 1 else (rest[0], {})
    of = claim(functions, step, relation, requires, **more)
    assert not proves(of)
    assert first_found(of).verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", UNREAD)
def test_vectors_of_two_spaces_are_not_taken_for_each_other(name):
    assert "the space of K x" in str(prove(claim(*UNREAD[name]), LITTLE))


def test_operators_take_what_is_drawn_apart():
    method = ft.method("m", chosen, ["p"], STATE, draws=coin)
    setting = ft.Setting(algorithm=method, functions=ANY, domain=(p <= 1,))
    other = ft.Quantity("W", lambda problem, params, state: square(state.z))
    bound = k**2 * (p * Q["length"] + (1 - p) * other)
    for statement, true in ((E(AFTER["dual_length"]) <= bound, True), (E(AFTER["dual_length"]) <= bound / 2, False)):
        of = ft.Claim("m/coin", setting=setting, statement=ft.one_step(method, statement))
        assert proves(of, STEP) is true
        if not true:
            assert first_found(of).verdict is Verdict.REFUTED


def test_what_is_known_of_an_operator_is_a_hypothesis():
    for name in ("a norm", "the adjoint", "it is a minimiser"):
        assert "hypotheses" in prove(claim(*TRUE[name], drawing=ft.Drawing(classes_stated=True)), LITTLE)


def test_a_method_and_its_setting_have_the_same_dual_parts():
    method = ft.method("m", still, [], {**STATE, "y": "point"})
    setting = ft.Setting(algorithm=ft.method("m", still, [], STATE), functions=ANY)
    statement = ft.one_step(method, E(AFTER["X"]) <= Q["X"])
    assert isinstance(prove(ft.Claim("m/o", setting=setting, statement=statement), LITTLE), str)
