"""Monotone, Lipschitz and cocoercive operators: what holds of gradients alone is neither proved nor left standing.

Every attack is false of operators: that they are gradients, that they have values, or more of two points than is known.
"""

import pytest
import sympy
from first_found import first_found
from own_step import LITTLE, proves, stated

import fedtheory as ft
from verify import Verdict
from verify.base.faults import Unrunnable
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

mu, L, gamma, eta = ft.letters("mu L gamma eta")
E, R = ft.E, sympy.Rational
MONOTONE, STRONGLY = ft.Monotone(), ft.StronglyMonotone(mu)
LIPSCHITZ, BOTH, COCOERCIVE = ft.MonotoneLipschitz(L), ft.StronglyMonotoneLipschitz(mu, L), ft.Cocoercive(L)


def square(v):
    return (v**2).sum(axis=-1)


def operator(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def resolvent(problem, params, x):
    return problem.f.resolvent(1 / params.gamma, x[..., None, :] / params.gamma)[..., 0, :]


def length(problem, params, state):
    return square(operator(problem, state.x))


def product(problem, params, state):
    return (operator(problem, state.x) * (state.x - problem.x_star)).sum(axis=-1)


def of_each(problem, params, state):
    return square(problem.f.gradient(state.x[..., None, :])).mean(axis=-1)


def at_optimum(problem, params, state):
    return square(operator(problem, problem.x_star + 0 * state.x))


def moved(problem, params, state):
    return square(resolvent(problem, params, state.x) - state.x)


def cycle(problem, params, state):
    """What is nonnegative of gradients of convex functions, for three points."""
    x, y, z = state.x, state.y, state.z
    return (operator(problem, x) * (x - y) + operator(problem, y) * (y - z) + operator(problem, z) * (z - x)).sum(
        axis=-1
    )


def apart(problem, params, state):
    return square(state.x - state.y)


def still(problem, params, state, draw):
    return state._asdict()


def forward(problem, params, state, draw):
    return {"x": state.x - params.gamma * operator(problem, state.x)}


def backward(problem, params, state, draw):
    return {"x": resolvent(problem, params, state.x)}


def reflected(problem, params, state, draw):
    return {"x": 2 * resolvent(problem, params, state.x) - state.x}


def extragradient(problem, params, state, draw):
    return {"x": state.x - params.gamma * operator(problem, state.x - params.gamma * operator(problem, state.x))}


def locally(problem, params, state, draw):
    """Two steps of each client's own operator, then the mean."""
    x = state.x[..., None, :]
    y = x - params.gamma * problem.f.gradient(x)
    return {"x": (y - params.gamma * problem.f.gradient(y)).mean(axis=-2)}


def two_forward(problem, params, state, draw):
    x, y = state.x, state.y
    return {"x": x - params.gamma * operator(problem, x), "y": y - params.gamma * operator(problem, y)}


def quantities(name, of):
    return ft.Quantity(name, of), ft.Quantity(f"{name}_next", of, after=True)


(D, D_next), (S, _), (P, _) = quantities("D", ft.distance), quantities("S", length), quantities("P", product)
(H, _), (O, _), (M, _) = quantities("H", of_each), quantities("O", at_optimum), quantities("M", moved)
(C, _), (A, A_next), (F, _) = quantities("C", cycle), quantities("A", apart), quantities("F", ft.gap)
ONE, TWO = {"x": "point"}, {"x": "point", "y": "point"}
ALONE = {"clients": (1,)}
short, long = (gamma * L <= 1,), (5 * gamma * L <= 6,)


#: True statements: a class, a step, a relation, hypotheses, and what else.
TRUE = {
    "Lipschitz": (LIPSCHITZ, forward, E(D_next) <= (1 + gamma**2 * L**2) * D, (), {}),
    "the length of values": (LIPSCHITZ, still, S <= L**2 * D, (), {}),
    "monotone": (MONOTONE, still, 0 * D <= P, (), ALONE),
    "strongly monotone": (STRONGLY, still, mu * D <= P, (), {}),
    "no shorter than": (STRONGLY, still, mu**2 * D <= S, (), {}),
    "forward": (BOTH, forward, E(D_next) <= (1 - 2 * gamma * mu + gamma**2 * L**2) * D, (), {}),
    "two points": (BOTH, two_forward, E(A_next) <= (1 - 2 * gamma * mu + gamma**2 * L**2) * A, (), {"state": TWO}),
    "cocoercive": (COCOERCIVE, still, S <= L * P, (), {}),
    "cocoercive, so Lipschitz": (COCOERCIVE, still, S <= L**2 * D, (), {}),
    "forward, cocoercive": (COCOERCIVE, forward, E(D_next) <= D, (gamma * L <= 2,), {}),
    "firmly nonexpansive": (MONOTONE, backward, E(D_next) + M <= D, (), ALONE),
    "reflected": (MONOTONE, reflected, E(D_next) <= D, (), ALONE),
    "extragradient": (LIPSCHITZ, extragradient, E(D_next) <= D, short, {}),
}
#: False ones, and why somebody might let them through.
FALSE = {
    "as of gradients": (BOTH, forward, E(D_next) <= (1 - gamma * mu) ** 2 * D, (gamma * (mu + L) <= 2,), {}),
    "as if cocoercive": (LIPSCHITZ, still, S <= L * P, (), {}),
    "as if cocoercive, forward": (LIPSCHITZ, forward, E(D_next) <= D, short, {}),
    "as if smooth and strongly convex": (BOTH, still, mu * L * D + S <= (mu + L) * P, (), {}),
    "cyclically monotone": (MONOTONE, still, 0 * D <= C, (), {**ALONE, "state": {**TWO, "z": "point"}}),
    "cyclically monotone, Lipschitz": (LIPSCHITZ, still, 0 * D <= C, (), {"state": {**TWO, "z": "point"}}),
    "longer": (LIPSCHITZ, still, S <= L**2 * D / 2, (), {}),
    "strongly, without mu": (LIPSCHITZ, still, L * D <= 10**3 * P, (), {}),
    "Lipschitz, without L": (MONOTONE, still, gamma**2 * S <= 10**6 * D, (), ALONE),
    "one value at x*": (MONOTONE, still, O <= 0 * D, (), ALONE),
    "each balances": (LIPSCHITZ, still, H <= L**2 * D, (), {}),
    "faster than reflected": (MONOTONE, reflected, E(D_next) + gamma**2 * S / 10**3 <= D, (), ALONE),
    "cocoercive, too long": (COCOERCIVE, forward, E(D_next) <= D, (gamma * L <= R(21, 10),), {}),
    "cocoercive, contracting": (COCOERCIVE, forward, E(D_next) <= (1 - gamma * L / 10**3) * D, short, {}),
    "extragradient, too long": (LIPSCHITZ, extragradient, E(D_next) <= D, long, {}),
    "extragradient, contracting": (LIPSCHITZ, extragradient, E(D_next) <= (1 - gamma * L / 10**3) * D, short, {}),
    "local steps": (BOTH, locally, E(D_next) <= (1 - gamma * mu) * D, (gamma * L**2 <= mu / 4,), {}),
    "a pair that contracts": (COCOERCIVE, two_forward, E(A_next) <= (1 - gamma * L / 100) * A, short, {"state": TWO}),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_known_of_two_points_is_proved(name):
    functions, step, relation, requires, more = TRUE[name]
    assert proves(stated(functions, step, relation, requires, **more), STEP)


@pytest.mark.parametrize("name", FALSE)
def test_what_holds_of_gradients_alone_or_of_none_is_refuted(name):
    functions, step, relation, requires, more = FALSE[name]
    of = stated(functions, step, relation, requires, **more)
    assert not proves(of)
    assert first_found(of).verdict is Verdict.REFUTED


def test_operators_have_no_values():
    with pytest.raises(ValueError, match="which have no values"):
        stated(LIPSCHITZ, forward, E(D_next) + F <= D, short)

    def height(problem, params, state):
        return problem.f.value(state.x[..., None, :]).mean(axis=-1)

    of = stated(LIPSCHITZ, forward, E(D_next) + 0 * ft.Quantity("V", height) <= D + ft.Quantity("V", height), short)
    assert "an operator has no values" in prove(of, LITTLE)
    with pytest.raises(Unrunnable):
        first_found(of)


def test_nor_conjugates():
    def inverted(problem, params, state, draw):
        return {"x": problem.f.conjugate_gradient(problem.f.gradient(state.x[..., None, :])).mean(axis=-2)}

    of = stated(BOTH, inverted, E(D_next) <= D)
    assert isinstance(prove(of, LITTLE), str)
    with pytest.raises(Unrunnable):
        first_found(of)


def test_that_operators_are_of_the_class_is_a_hypothesis():
    drawing = ft.Drawing(classes_stated=True)
    for name in ("forward", "extragradient", "firmly nonexpansive", "cocoercive"):
        functions, step, relation, requires, more = TRUE[name]
        of = stated(functions, step, relation, (*requires, gamma <= 1), drawing=drawing, **more)
        assert isinstance(prove(of, LITTLE), str)


@pytest.mark.parametrize("functions", [BOTH, COCOERCIVE])
def test_no_certificate_takes_operators_for_gradients(functions):
    fixed = (sympy.Eq(gamma, R(1, 2)), sympy.Eq(L, 1), *((sympy.Eq(mu, R(1, 2)),) if functions is BOTH else ()))
    relation = E(D_next) <= (R(9, 16) if functions is BOTH else R(99, 100)) * D
    found = first_found(stated(functions, forward, relation, fixed, clients=(1,)))
    assert found.verdict is Verdict.REFUTED
    assert all("bounded over the whole class" not in outcome.note for outcome in found.outcomes)


def test_resolvents_are_asked_with_a_positive_shift():
    def wrong(problem, params, state, draw):
        return {"x": problem.f.resolvent(-1 / params.gamma, -state.x[..., None, :] / params.gamma)[..., 0, :]}

    of = stated(STRONGLY, wrong, E(D_next) <= D, **ALONE)
    assert "not shown to be positive" in prove(of, LITTLE)
