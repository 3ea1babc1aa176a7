"""PEPit, written by others, as the oracle: the same worst cases, posed anew from the methods' definitions."""

import operator
from fractions import Fraction as Fr
from functools import reduce

import numpy as np
import pytest
import sympy
from models import Constants, Exchangeable, Explicit, gradient_descent, locodl_iteration, nonconvex_descent, saga, svrg
from PEPit import PEP, Point
from PEPit.examples.stochastic_and_randomized_convex_minimization import wc_saga
from PEPit.functions import (
    BlockSmoothConvexFunctionCheap,
    ConvexQGFunction,
    RsiEbFunction,
    SmoothFunction,
    SmoothStronglyConvexFunction,
)

import fedtheory as ft
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.pep.programs import Program, equilibrated, ratio, solve
from verify.pep.worst_case import certify

#: Both solvers stop at about 1e-8 relative.
TOLERANCE = 2e-6


def worst_case(problem: PEP) -> float:
    value = problem.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0)
    assert value is not None
    return float(value)


def total(terms):
    """The sum of points or expressions, to which PEPit adds no 0."""
    return reduce(operator.add, terms)


def ours(program: Program) -> float:
    value = solve(equilibrated(program)).value
    assert value is not None
    return float(value)


@pytest.mark.parametrize("potential", ["distance", "value", "gradient"])
@pytest.mark.parametrize("gamma", [Fr(1, 2), Fr(20, 11), Fr(19, 10)])
def test_gradient_descent(potential, gamma):
    problem = PEP()
    f = problem.declare_function(SmoothStronglyConvexFunction, mu=0.1, L=1.0)
    optimum = f.stationary_point()
    x = problem.set_initial_point()
    after = x - float(gamma) * f.gradient(x)

    def measure(point):
        square = (point - optimum) ** 2 if potential == "distance" else f.gradient(point) ** 2
        return f(point) - f(optimum) if potential == "value" else square

    problem.set_initial_condition(measure(x) <= 1)
    problem.set_performance_metric(measure(after))
    assert ours(gradient_descent(Fr(1, 10), Fr(1), gamma, potential)) == pytest.approx(
        worst_case(problem), rel=TOLERANCE
    )


@pytest.mark.parametrize("steps", [1, 3])
def test_nonconvex_descent(steps):
    problem = PEP()
    f = problem.declare_function(SmoothFunction, L=1.0)
    x = problem.set_initial_point()
    lowest = f.stationary_point()
    problem.set_initial_condition(f(x) - f(lowest) <= 1)
    for _ in range(steps + 1):
        problem.set_performance_metric(f.gradient(x) ** 2)
        problem.add_constraint(f(x) - f(lowest) >= f.gradient(x) ** 2 / 2)
        x = x - 0.5 * f.gradient(x)
    assert ours(nonconvex_descent(Fr(1), Fr(1, 2), steps)) == pytest.approx(worst_case(problem), rel=TOLERANCE)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_saga(n):
    """PEPit's example has a proximal term, which changes nothing; ours does not grow with n."""
    theirs, _ = wc_saga(L=1.0, mu=0.1, n=n, wrapper="cvxpy", solver="CLARABEL", verbose=-1)
    gamma = 1 / (2 * (Fr(1, 10) * n + 1))
    step = saga(Exchangeable(n), Fr(1, 10), Fr(1), gamma, 1 / (2 * gamma * (1 - gamma / 10) * n))
    program = ratio(step.quantities["Phi_next"], step.quantities["Phi"], step.constraints)
    assert ours(program) == pytest.approx(theirs, rel=TOLERANCE)


def test_svrg():
    h, n, gain = 0.25, 2, 0.3
    problem = PEP()
    # mu = 0 declares the class of our recursion: convex and smooth.
    clients = [problem.declare_function(SmoothStronglyConvexFunction, mu=0.0, L=1.0) for _ in range(n)]
    f = total(clients) / n
    optimum = f.stationary_point()
    w, reference = problem.set_initial_point(), problem.set_initial_point()
    full = f.gradient(reference)
    after = [w - h * (c.gradient(w) - c.gradient(reference) + full) for c in clients]
    problem.set_initial_condition((w - optimum) ** 2 + 4 * h**2 * (f(reference) - f(optimum)) <= 1)
    distance = total((point - optimum) ** 2 for point in after) / n
    problem.set_performance_metric(distance + gain * (f(w) - f(optimum)))
    q = svrg(Exchangeable(n), Fr(1), Fr(1, 4)).quantities
    program = ratio(
        q["|w_next-w*|^2"] + Fr(3, 10) * q["f(w)-f*"],
        q["|w-w*|^2"] + 4 * Fr(1, 16) * q["f(w~)-f*"],
        svrg(Exchangeable(n), Fr(1), Fr(1, 4)).constraints,
    )
    assert ours(program) == pytest.approx(worst_case(problem), rel=TOLERANCE)


@pytest.mark.parametrize("p", [Fr(1), Fr(1, 3)])
@pytest.mark.parametrize("omega", [Fr(1), Fr(4)])
def test_locodl(p, omega):
    """LoCoDL's iteration with two clients; compression errors are vectors orthogonal to all others, and not to each
    other, with the second moments that eqs. (2) and (3) allow."""
    n, mu, L = 2, 0.1, 1.0
    k = Constants(Fr(1, 10), Fr(1), Fr(3, 2), Fr(1, 2), Fr(2, 3), p, omega, omega / 2)
    gamma, chi, rho, coin, variance, joint = (float(v) for v in k[2:])
    problem = PEP()
    functions = [problem.declare_function(SmoothStronglyConvexFunction, mu=mu, L=L) for _ in range(n)]
    g = problem.declare_function(SmoothStronglyConvexFunction, mu=mu, L=L)
    optimum = problem.set_initial_point()
    u_star = [f.gradient(optimum) for f in functions]
    v_star = -total(u_star) / n
    g.add_point((optimum, v_star, problem.set_initial_point() ** 2))
    x, u = ([problem.set_initial_point() for _ in range(n)] for _ in range(2))
    y, v = problem.set_initial_point(), -total(u) / n
    x_hat = [a - gamma * f.gradient(a) + gamma * b for a, f, b in zip(x, functions, u, strict=True)]
    y_hat = y - gamma * g.gradient(y) + gamma * v
    errors = [Point() for _ in range(n)]
    basis = [*x, *u, y, optimum, *u_star, *(f.gradient(a) for f, a in zip(functions, x, strict=True)), g.gradient(y)]
    for error in errors:
        for vector in basis:
            problem.add_constraint(error * vector == 0)
    differences = [a - y_hat for a in x_hat]
    for error, difference in zip(errors, differences, strict=True):
        problem.add_constraint(error**2 <= variance * difference**2)
    problem.add_constraint((total(errors) / n) ** 2 <= joint * total(d**2 for d in differences) / n)
    sent = [d + e for d, e in zip(differences, errors, strict=True)]
    d_bar = total(sent) / (2 * n)
    step = coin * chi / (gamma * (1 + 2 * variance))

    def potential(x, y, u, v):
        primal = total((a - optimum) ** 2 for a in x) / n + (y - optimum) ** 2
        dual = total((a - b) ** 2 for a, b in zip(u, u_star, strict=True)) / n + (v - v_star) ** 2
        return primal / gamma + gamma * (1 + 2 * variance) / (coin**2 * chi) * dual

    silent = potential(x_hat, y_hat, u, v)
    talked = potential(
        [(1 - rho) * a + rho * (y_hat + d_bar) for a in x_hat],
        y_hat + rho * d_bar,
        [a + step * (d_bar - s) for a, s in zip(u, sent, strict=True)],
        v + step * d_bar,
    )
    problem.set_initial_condition(potential(x, y, u, v) <= 1)
    problem.set_performance_metric(coin * talked + (1 - coin) * silent)
    theirs = worst_case(problem)
    for clients in (Explicit(n), Exchangeable(n)):
        q = locodl_iteration(clients, k)
        program = ratio(q.quantities["Psi_next"], q.quantities["Psi"], q.constraints)
        assert ours(program) == pytest.approx(theirs, rel=TOLERANCE)


mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


#: Classes that a claim names, each with what PEPit calls it.
CONDITIONS = {
    "quadratic growth": (ft.ConvexQuadraticGrowth(L), ConvexQGFunction, ("L",)),
    "restricted secant": (ft.RestrictedSecant(mu, L), RsiEbFunction, ("mu", "L")),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_step_on_classes_of_which_a_claim_is_posed(name):
    """The distance after a step of gradient descent, at the parameters of instances that are drawn."""
    functions, theirs, constants = CONDITIONS[name]
    method = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=functions, clients=(1,))
    claim = ft.Claim("mine/step", setting=setting, statement=ft.contracts(method, ft.distance, 100))
    compared = 0
    for recipe in claim.instances.recipes(np.random.default_rng(1)):
        instance = claim.instances.build(recipe, True)
        values = {c: getattr(instance.problem, c) for c in constants}
        size = instance.params.gamma * values["L"]
        if (
            not functions.contains(instance.problem, None)
            or not Fr(1, 20) < size < 3
            or values.get("mu") == values["L"]
        ):
            continue
        problem = PEP()
        f = problem.declare_function(theirs, **{c: float(v) for c, v in values.items()})
        optimum, x = f.stationary_point(), problem.set_initial_point()
        problem.set_initial_condition((x - optimum) ** 2 <= 1)
        problem.set_performance_metric((x - float(instance.params.gamma) * f.gradient(x) - optimum) ** 2)
        found = certify(Case.of(claim, instance), tight=True)
        assert float(found.upper) == pytest.approx(worst_case(problem), rel=TOLERANCE)
        compared += 1
        if compared == 2:
            break


def test_a_cycle_over_two_blocks():
    """f - f* after a step along each block, from a squared distance of 1."""
    one, other = ft.letters("L_1 L_2")

    def cycle(problem, params, state, draw):
        def along(x, block, size):
            slope = problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n
            return x - size * problem.part(slope, block)

        return {"x": along(along(state.x, 0, params.gamma), 1, params.gamma / 3)}

    method = ft.method("cyclic", cycle, ["gamma"], {"x": "point"})
    after, before = ft.Quantity("F_next", ft.gap, after=True), ft.Quantity("D", ft.distance)
    claim = ft.Claim(
        "mine/cycle",
        setting=ft.Setting(algorithm=method, functions=ft.BlockSmoothConvex((one, other)), clients=(1,)),
        statement=ft.one_step(method, ft.E(after) <= 100 * before),
        requires=(sympy.Eq(one, 1), sympy.Eq(other, 3), sympy.Eq(gamma, 1)),
    )
    recipe, _ = next(meeting(claim, claim.instances.recipes(np.random.default_rng(0))))
    found = certify(Case(claim, recipe), tight=True)

    problem = PEP()
    partition = problem.declare_block_partition(d=2)
    f = problem.declare_function(BlockSmoothConvexFunctionCheap, partition=partition, L=[1, 3])
    optimum, x = f.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((x - optimum) ** 2 <= 1)
    for j, L in enumerate((1, 3)):
        x = x - partition.get_block(f.gradient(x), j) / L
    problem.set_performance_metric(f(x) - f(optimum))
    assert float(found.upper) == pytest.approx(worst_case(problem), rel=TOLERANCE)
