"""Named functions: what follows of each one's own class is proved for all letters, and nothing of another's.

Every attack is false of functions of these classes: that one has what another has, or that they are one function.
"""

import pytest
import sympy
from first_found import first_found
from own_step import LITTLE, proves, stated

import fedtheory as ft
from verify import Verdict
from verify.base.faults import Unrunnable
from verify.methods import worst_cases
from verify.methods.base import Inquiry
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

mu, L, gamma = ft.letters("mu L gamma")
E, R = ft.E, sympy.Rational
STRONG = ft.Named((ft.SmoothStronglyConvex(mu, L), ft.Convex()))
SMOOTH = ft.Named((ft.SmoothConvex(L), ft.Convex()))
CONVEX = ft.Named((ft.Convex(), ft.Convex()))
CURVED = ft.Named((ft.Smooth(L), ft.Convex()))
THREE = ft.Named((ft.SmoothConvex(L), ft.Convex(), ft.Convex()))
HALF = ft.Named((ft.StronglyConvex(mu), ft.Convex()))


def square(v):
    return (v**2).sum(axis=-1)


def slope(problem, k, x):
    return problem.f.gradient(x[..., None, :])[..., k, :]


def prox(problem, params, k, x):
    return problem.f.resolvent(1 / params.gamma, x[..., None, :] / params.gamma)[..., k, :]


def of_first(problem, params, state):
    return square(slope(problem, 0, state.x))


def of_second(problem, params, state):
    return square(slope(problem, 1, state.x))


def apart(problem, params, state):
    return square(slope(problem, 0, state.x) - slope(problem, 1, state.x))


def at_optimum(problem, params, state):
    return square(problem.y_star[..., 0, :] + 0 * state.x)


def both_at_optimum(problem, params, state):
    return square(problem.y_star[..., 0, :] + problem.y_star[..., 1, :] + 0 * state.x)


def asked_again(problem, params, state):
    """The subgradient at a proximal point of f_2, less the one that it is known by."""
    y = prox(problem, params, 1, state.x)
    return square(slope(problem, 1, y) - (state.x - y) / params.gamma)


def asked_of_smooth(problem, params, state):
    y = prox(problem, params, 0, state.x)
    return square(slope(problem, 0, y) - (state.x - y) / params.gamma)


def residual(problem, params, state):
    return square(state.x - proximal_gradient(problem, params, state, None)["x"])


def proximal_gradient(problem, params, state, draw):
    return {"x": prox(problem, params, 1, state.x - params.gamma * slope(problem, 0, state.x))}


def wrong_way(problem, params, state, draw):
    """The gradient of the function that is not smooth, the proximal point of the one that is."""
    return {"x": prox(problem, params, 0, state.x - params.gamma * slope(problem, 1, state.x))}


def mean_step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}


def proximal_point(problem, params, state, draw):
    return {"x": prox(problem, params, 0, state.x)}


def second_point(problem, params, state, draw):
    return {"x": prox(problem, params, 1, state.x)}


def two_points(problem, params, state, draw):
    return {"x": prox(problem, params, 1, state.x), "y": prox(problem, params, 1, state.y)}


def two_smooth(problem, params, state, draw):
    return {"x": prox(problem, params, 0, state.x), "y": prox(problem, params, 0, state.y)}


def alternating(problem, params, state, draw):
    return {"x": prox(problem, params, 1, prox(problem, params, 0, state.x))}


def from_the_end(problem, params, state, draw):
    return {"x": prox(problem, params, -1, state.x - params.gamma * slope(problem, -2, state.x))}


def still(problem, params, state, draw):
    return state._asdict()


def between(problem, params, state):
    return square(state.x - state.y)


def quantities(name, of):
    return ft.Quantity(name, of), ft.Quantity(f"{name}_next", of, after=True)


(D, D_next), (F, F_next), (A, A_next) = (quantities(*of) for of in (("D", ft.distance), ("F", ft.gap), ("A", between)))
G, H, P = ft.Quantity("G", of_first), ft.Quantity("H", of_second), ft.Quantity("P", apart)
Y, Z, Q = ft.Quantity("Y", at_optimum), ft.Quantity("Z", both_at_optimum), ft.Quantity("Q", asked_again)
S, M = ft.Quantity("S", asked_of_smooth), ft.Quantity("M", residual)
ONE, TWO = {"x": "point"}, {"x": "point", "y": "point"}
short, long = (gamma * L <= 1,), (gamma * L <= 3,)
fast = (gamma * (mu + L) <= 2,)


#: True statements: the class, the step, the relation, hypotheses, and the parts of the state.
TRUE = {
    "proximal gradient": (STRONG, proximal_gradient, E(D_next) <= (1 - gamma * mu) ** 2 * D, fast, ONE),
    "proximal gradient, convex": (SMOOTH, proximal_gradient, E(D_next) <= D, (gamma * L <= 2,), ONE),
    "it descends": (SMOOTH, proximal_gradient, E(F_next) <= F - M / (4 * gamma), short, ONE),
    "it descends without convexity": (CURVED, proximal_gradient, E(F_next) <= F, short, ONE),
    "from the end": (STRONG, from_the_end, E(D_next) <= (1 - gamma * mu) ** 2 * D, fast, ONE),
    "two points of the second": (STRONG, two_points, E(A_next) <= A, (), TWO),
    "two points of the first": (STRONG, two_smooth, E(A_next) <= A / (1 + gamma * mu) ** 2, (), TWO),
    "two points of a strongly convex one": (HALF, two_smooth, E(A_next) <= A / (1 + gamma * mu) ** 2, (), TWO),
    "they balance": (CONVEX, still, Z <= 0 * D, (), ONE),
    "a smooth one has one gradient": (SMOOTH, still, S <= 0 * D, (), ONE),
    "a gap is no less than 0": (CONVEX, still, 0 * D <= F, (), ONE),
    "three": (THREE, still, 0 * D <= F, (), ONE),
    "the first is smooth": (SMOOTH, still, G <= 2 * L**2 * D + 2 * Y, (), ONE),
}
#: False ones.
FALSE = {
    "too fast": (STRONG, proximal_gradient, E(D_next) <= (1 - gamma * mu) ** 3 * D, fast, ONE),
    "too long": (SMOOTH, proximal_gradient, E(D_next) <= D, long, ONE),
    "as if the second were smooth": (SMOOTH, wrong_way, E(D_next) <= D, short, ONE),
    "as if the mean were smooth": (STRONG, mean_step, E(D_next) <= D, short, ONE),
    "as if the second were strongly convex": (STRONG, two_points, E(A_next) <= A / (1 + gamma * mu) ** 2, (), TWO),
    "as if both had a minimiser in common": (STRONG, proximal_point, E(D_next) <= D, (), ONE),
    "the second too": (CONVEX, second_point, E(D_next) <= D, (), ONE),
    "one after the other, to the optimum": (CONVEX, alternating, E(D_next) <= D, (), ONE),
    "as if they were one function": (SMOOTH, still, P <= 4 * L**2 * D, (), ONE),
    "no gradients at the optimum": (CONVEX, still, Y <= 0 * D, (), ONE),
    "a kinked one has one gradient": (CONVEX, still, Q <= 0 * D, (), ONE),
    "the second grows like the first": (STRONG, still, H <= 4 * L**2 * D + 2 * Y, (), ONE),
    "the sum is strongly smooth": (SMOOTH, still, F <= L * D, (), ONE),
    "as if the first were convex": (CURVED, proximal_gradient, E(D_next) <= D, short, ONE),
    "the sum, not the mean": (STRONG, still, mu * D <= F, (), ONE),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_the_class_of_each_gives_is_proved(name):
    assert proves(stated(*TRUE[name]), STEP)


@pytest.mark.parametrize("name", FALSE)
def test_what_only_the_class_of_another_would_give_is_refuted(name):
    of = stated(*FALSE[name])
    assert not proves(of)
    assert first_found(of).verdict is Verdict.REFUTED


def of_none(problem, params, state, draw):
    return {"x": prox(problem, params, 2, state.x)}


def of_a_part(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :])[..., 0, :1]}


def over_coordinates(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-1)[..., :1]}


@pytest.mark.parametrize("step", [of_none, of_a_part, over_coordinates])
def test_parts_that_are_no_function_are_not_read(step):
    assert isinstance(prove(stated(CONVEX, step, E(D_next) <= D), LITTLE), str)


def test_a_number_that_no_function_has_is_an_error_of_the_claim():
    with pytest.raises(Unrunnable):
        first_found(stated(CONVEX, of_none, E(D_next) <= D))


def test_vectors_of_each_client_are_not_read():
    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * problem.f.gradient(state.x)}

    def size(problem, params, state):
        return (state.x**2).sum(axis=(-1, -2))

    V, V_next = quantities("V", size)
    of = stated(STRONG, step, E(V_next) <= V, short, {"x": "clients"})
    assert "write points" in prove(of, LITTLE)


@pytest.mark.parametrize("adversary", [ft.Adversary(), ft.BoundedNoise(), ft.UnbiasedCompressors()])
def test_nothing_is_proved_beside_adversaries(adversary):
    of = stated(
        STRONG, proximal_gradient, E(D_next) <= D, fast, params=("gamma", adversary.field), adversaries=(adversary,)
    )
    assert isinstance(prove(of, LITTLE), str)


def test_that_each_is_of_its_class_is_a_hypothesis():
    for name in ("proximal gradient", "two points of the second", "a gap is no less than 0"):
        of = stated(*TRUE[name], drawing=ft.Drawing(classes_stated=True))
        assert isinstance(prove(of, LITTLE), str)


def test_certificates_take_each_function_for_one_of_its_class():
    fixed = (sympy.Eq(gamma, R(1, 2)), sympy.Eq(L, 1), sympy.Eq(mu, R(1, 2)))
    for relation, step, state, verdict in (
        (E(D_next) <= R(9, 16) * D, proximal_gradient, ONE, Verdict.CERTIFIED),
        (E(D_next) <= R(8, 16) * D, proximal_gradient, ONE, None),
        (E(A_next) <= R(16, 25) * A, two_smooth, TWO, Verdict.CERTIFIED),
        (E(A_next) <= R(16, 25) * A, two_points, TWO, None),
    ):
        found = worst_cases.METHOD.run(worst_cases.METHOD, Inquiry(stated(STRONG, step, relation, fixed, state), 0, 40))
        assert found.verdict is verdict, found.note
