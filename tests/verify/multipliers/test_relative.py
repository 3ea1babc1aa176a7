"""Relative smoothness: what divergences, mirror and Bregman proximal points give is proved, and no more.

Every attack is true of h = |x|^2/2, or of one order of arguments, and false of some other h.
"""

import pytest
import sympy
from first_found import first_found
from own_step import LITTLE, proves, stated

import fedtheory as ft
from verify import Verdict
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

mu, L, gamma = ft.letters("mu L gamma")
E, R = ft.E, sympy.Rational
SMOOTH, STRONG = ft.Relative(ft.SmoothConvex(L)), ft.Relative(ft.SmoothStronglyConvex(mu, L))
CONVEX, ANY = ft.Relative(ft.Convex()), ft.Relative(ft.Smooth(L))
TWO = {"x": "point", "y": "point"}
SHORT, LONG = (gamma * L <= 1,), (gamma * L <= 2,)


def square(v):
    return (v**2).sum(axis=-1)


def dual(problem, x):
    return problem.h.gradient(x[..., None, :])[..., 0, :]


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def mirror(problem, params, state, draw):
    """The step, and in y the point that it was made from."""
    x = state.x
    return {"x": problem.mirror(dual(problem, x) - params.gamma * slope(problem, x)), "y": x}


def proximal(problem, params, state, draw):
    return {"x": problem.bregman_prox(params.gamma, dual(problem, state.x)), "y": state.x}


def both(problem, params, state, draw):
    return {name: problem.bregman_prox(params.gamma, dual(problem, v)) for name, v in state._asdict().items()}


def halfway(problem, params, state, draw):
    return {"x": problem.mirror((dual(problem, state.x) + dual(problem, state.y)) / 2), "y": (state.x + state.y) / 2}


def from_zero(problem, params, state, draw):
    return {"x": problem.mirror(0 * state.x), "y": state.y}


def still(problem, params, state, draw):
    return state._asdict()


def divergence(one, other):
    """D_h between two of x, y, x* and the point halfway between x and y."""

    def quantity(problem, params, state):
        points = {"x": state.x, "y": state.y, "m": (state.x + state.y) / 2, "*": problem.x_star + 0 * state.x}
        return problem.divergence(points[one], points[other])

    return quantity


def to_x(problem, params, state):
    return problem.divergence(problem.x_star, state.x)


def to_y(problem, params, state):
    return problem.divergence(problem.x_star, state.y)


def to_middle(problem, params, state):
    return problem.divergence(problem.x_star, (state.x + state.y) / 2)


def of_x(problem, params, state):
    return problem.divergence(state.x, problem.x_star)


def of_y(problem, params, state):
    return problem.divergence(state.y, problem.x_star)


def of_middle(problem, params, state):
    return problem.divergence((state.x + state.y) / 2, problem.x_star)


def x_from_y(problem, params, state):
    return problem.divergence(state.x, state.y)


def y_from_x(problem, params, state):
    return problem.divergence(state.y, state.x)


def along(problem, params, state):
    """<grad h(y) - grad h(x), x* - y>."""
    return ((dual(problem, state.y) - dual(problem, state.x)) * (problem.x_star - state.y)).sum(axis=-1)


def bent(problem, params, state):
    """<grad h(x) - grad h(y), x - y>."""
    return ((dual(problem, state.x) - dual(problem, state.y)) * (state.x - state.y)).sum(axis=-1)


def apart(problem, params, state):
    return square(state.x - state.y)


def pair(name, of):
    return ft.Quantity(name, of), ft.Quantity(f"{name}_next", of, after=True)


(X, X_next), (F, F_next), (A, A_next) = pair("X", ft.distance), pair("F", ft.gap), pair("A", apart)
(D, D_next), (U, U_next), (V, V_next) = pair("D", to_x), pair("U", of_x), pair("V", x_from_y)
(W, W_next), (Y, M) = pair("W", y_from_x), (ft.Quantity("Y", to_y), ft.Quantity("M", to_middle))
OF_Y, OF_M, P, B = (ft.Quantity(f"Q{k}", of) for k, of in enumerate((of_y, of_middle, along, bent)))


def claim(functions, step, relation, requires=(), state=TWO):
    return stated(functions, step, relation, requires, state, ("gamma",))


TRUE = {
    "three points": (CONVEX, still, D <= Y + W + P),
    "and the other way round": (CONVEX, still, Y + W + P <= D),
    "two divergences": (CONVEX, still, V + W <= B),
    "convex in the first argument": (CONVEX, still, OF_M <= OF_Y / 2 + U / 2),
    "f grows as h does": (STRONG, still, mu * U <= F),
    "f grows no faster": (SMOOTH, still, F <= L * U),
    "a step": (SMOOTH, mirror, E(D_next + gamma * F_next + (1 - gamma * L) * V_next) <= D, SHORT),
    "a contraction": (STRONG, mirror, E(D_next) <= (1 - gamma * mu) * D, SHORT),
    "proximal": (CONVEX, proximal, E(D_next + gamma * F_next + V_next) <= D),
    "proximal, strongly": (STRONG, proximal, E((1 + gamma * mu) * D_next + gamma * F_next) <= D),
    "descent without convexity": (ANY, mirror, E(F_next) <= F - E(V_next + W_next) / gamma + L * E(V_next), SHORT),
}
FALSE = {
    "symmetric": (CONVEX, still, D <= U),
    "symmetric but for a factor": (CONVEX, still, D <= 3 * U),
    "as the square of a triangle": (CONVEX, still, D <= 2 * Y + 2 * W),
    "three points without the angle": (CONVEX, still, D <= Y + W),
    "convex in the second argument": (CONVEX, still, M <= D / 2 + Y / 2),
    "h is strongly convex": (CONVEX, still, X <= 2 * D),
    "h is smooth": (CONVEX, still, 2 * D <= X),
    "f is smooth": (SMOOTH, still, F <= L / 2 * X),
    "f is smooth relative to less": (SMOOTH, still, F <= L * U * R(9, 10)),
    "f is strongly convex": (STRONG, still, mu / 2 * X <= F),
    "f grows as h from the other side": (STRONG, still, mu * D <= F),
    "the mirror map is affine": (CONVEX, halfway, E(A_next) <= 0 * X),
    "the mirror map begins at x*": (CONVEX, from_zero, E(X_next) <= 0 * X),
    "swapped in the step": (SMOOTH, mirror, E(D_next + gamma * F_next + (1 - gamma * L) * W_next) <= D, SHORT),
    "swapped throughout": (STRONG, mirror, E(U_next) <= (1 - gamma * mu) * U, SHORT),
    "distances contract": (STRONG, mirror, E(X_next) <= (1 - gamma * mu) * X, SHORT),
    "twice the step": (SMOOTH, mirror, E(D_next + gamma * F_next) <= D, LONG),
    "without convexity": (ANY, mirror, E(D_next) <= D, SHORT),
    "descent as if it were symmetric": (ANY, mirror, E(F_next) <= F - (2 / gamma - L) * E(V_next), SHORT),
    "proximal points do not part": (CONVEX, both, E(V_next) <= V),
    "proximal, twice": (CONVEX, proximal, E(D_next + 2 * gamma * F_next) <= D),
}


#: False of functions that are no sums over coordinates, as x^2 + (x - y)^2, and no others are drawn.
UNSEEN = {
    "proximal points come nearer": (CONVEX, proximal, E(X_next) <= X),
    "iterates come nearer": (SMOOTH, mirror, E(X_next) <= X, SHORT),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_is_true_of_sums_over_coordinates_is_not_proved(name):
    assert not proves(claim(*UNSEEN[name]), STEP)


@pytest.mark.parametrize("name", TRUE)
def test_what_a_reference_function_gives_is_proved(name):
    assert proves(claim(*TRUE[name]), STEP)


@pytest.mark.parametrize("name", FALSE)
def test_what_it_does_not_give_is_refuted(name):
    of = claim(*FALSE[name])
    assert not proves(of)
    assert first_found(of).verdict is Verdict.REFUTED


def own_points(problem, params, state, draw):
    at = state.x[..., None, :] + problem.f.gradient(state.x[..., None, :])
    return {"x": problem.h.gradient(at).mean(axis=-2), "y": state.y}


def test_where_there_may_be_no_proximal_point_nothing_is_read():
    found = prove(claim(ANY, proximal, E(D_next) <= D), LITTLE)
    assert "not shown to be positive" in str(found)


def test_h_is_no_function_of_each_client():
    found = prove(claim(SMOOTH, own_points, E(X_next) <= X), LITTLE)
    assert isinstance(found, str)


def test_without_the_class_there_is_no_h():
    assert isinstance(prove(claim(ft.SmoothConvex(L), still, D <= Y), LITTLE), str)
    with pytest.raises(ValueError, match="relative to h functions are of one of"):
        ft.Relative(ft.ConvexLipschitz(L))
