"""Proofs of what an iteration of local steps with compressed exchanges does, for every n.

The iteration is a step on vectors that are known by their inner products. Points are relative to the optimum, and every
function has its tangent there subtracted: the method only uses differences in which those tangents cancel. Potentials
are divided by the number of clients.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.one_step import OneStep, contraction
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import rollout
from verify.pep import posing
from verify.pep.gram import Form, Number, Vector, interpolate
from verify.pep.programs import Constraint
from verify.pep.symmetry import OPTIMUM, Clients, Exchangeable, Explicit, Vectors, sample, shared_sample
from verify.proofs import identity
from verify.proofs.identity import (
    Posed,
    Unprovable,
    Weights,
    coefficients,
    require,
    require_at_least,
    require_nonnegative,
)

Letters = Mapping[str, sympy.Expr]

#: The factor, L - mu, and slack symbols: by how much the factor exceeds what it must, and rho is damped.
_F, _ell = sympy.symbols("F ell", positive=True, cls=sympy.Dummy)
_s_mu, _s_L, _s_p, _s_rho = sympy.symbols("s_mu s_L s_p s_rho", nonnegative=True, cls=sympy.Dummy)

_LETTERS = {"s_mu": _s_mu, "s_L": _s_L, "s_p": _s_p, "s_rho": _s_rho}


class Step(NamedTuple):
    """A step of a method: scalars by the symbols that claims use, what holds of them, and vectors that proofs use."""

    quantities: Mapping[str, Form]
    constraints: list[Constraint]
    vectors: Mapping[str, Any] = {}


class Constants(NamedTuple):
    """The class, the stepsizes and the compressors' two constants."""

    mu: Number
    L: Number
    gamma: Number
    chi: Number
    rho: Number
    p: Number
    omega: Number
    omega_av: Number


def iteration(c: Clients, k: Constants) -> Step:
    """One iteration; u and v are relative to u* and v*.

    The compressors enter through the errors C_i(d_i) - d_i of the differences d_i = x_hat_i - y_hat: their mean is 0,
    omega bounds their second moments and omega_av that of their mean. Norms are of clients and server, divided by n.
    """
    x, y, u = c.vector("x"), c.shared("y_0"), c.vector("u")
    v = -c.mean(u)
    at_x, at_y = sample(c, "f(0)", x, k.mu, k.L), shared_sample(c, "g(0)_0", y, k.mu, k.L)
    x_hat = x - k.gamma * at_x.gradient + k.gamma * u
    y_hat = y - k.gamma * at_y.gradient + k.gamma * v
    differences = x_hat - y_hat
    # Without compression there is no noise: rows that must vanish would leave the program no interior.
    exact = bool(k.omega == 0)
    noise = (0 if exact else 1) * c.vector("noise", "noise")
    dual_step = k.p * k.chi / (k.gamma * (1 + 2 * k.omega))

    def norm(of_clients: Vectors, of_server: Vector) -> Form:
        return c.average(of_clients**2) + of_server**2

    message = differences + noise
    d_bar = c.mean(message) / 2
    centre = (c.mean(x_hat) + y_hat) / 2

    def expected(with_message: Form, without: Form) -> Form:
        return k.p * with_message + (1 - k.p) * without

    primal, dual = norm(x, y), norm(u, v)
    primal_next = expected(
        norm((1 - k.rho) * x_hat + k.rho * (y_hat + d_bar), y_hat + k.rho * d_bar), norm(x_hat, y_hat)
    )
    dual_next = expected(norm(u + dual_step * (d_bar - message), v + dual_step * d_bar), dual)
    weight = k.gamma * (1 + 2 * k.omega) / (k.p**2 * k.chi)
    constraints = [
        *c.interpolate("f", [OPTIMUM, at_x], k.mu, k.L),
        *(Constraint(*g) for g in interpolate("g", [OPTIMUM, at_y], k.mu, k.L)),
    ]
    if not exact:
        constraints += c.each("variance", noise**2 - k.omega * differences**2)
        joint = c.mean(noise) ** 2 - k.omega_av * c.average(differences**2)
        constraints.append(Constraint("joint variance", joint))
    vectors = {
        "u": u,
        "v": v,
        "x": x,
        "y": y,
        "grad f": at_x.gradient,
        "grad g": at_y.gradient,
        "x_hat": x_hat,
        "y_hat": y_hat,
        "x_hat deviation": x_hat - c.mean(x_hat),
        "W_x": x_hat - centre,
        "W_y": y_hat - centre,
        "mean noise": c.mean(noise),
    }
    quantities = {
        "Psi": primal / k.gamma + weight * dual,
        "Psi_next": primal_next / k.gamma + weight * dual_next,
        "|x-x*|^2": primal,
        "|u-u*|^2": dual,
        "|x_next-x*|^2": primal_next,
        "|u_next-u*|^2": dual_next,
        "|x_hat-x*|^2": norm(x_hat, y_hat),
        "|W x_hat|^2": norm(x_hat - centre, y_hat - centre),
        "<u-u*,x_hat>": c.average(u * x_hat) + v * y_hat,
    }
    return Step(quantities, constraints, vectors)


def pose(claim: Claim) -> Iterator[tuple[Posed, Weights]]:
    """What is to be shown, and its proof. ``Unprovable`` if the claim is of another form.

    The contraction is shown for mu < L and for mu = L; the two steps before it use nothing of the gradients, and so
    hold for all functions. Forms are divided by n, and so independent of it.
    """
    statement = _one_step(claim)
    k = identity.told(claim).letters
    kind, named = str(statement.left), [q.expression for q in statement.quantities]
    contracts = kind == "Psi_next" and statement.factor is not None
    slack = _slack(claim, statement.factor, k) if contracts and statement.factor is not None else {}
    cases = {"mu < L": k["mu"] + _ell, "mu = L": k["mu"]} if contracts else {"any gradients": k["mu"] + _ell}
    for name, L in cases.items():
        letters = {**k, "L": L}
        step = iteration(Exchangeable(k["n"]), Constants(*(letters[f] for f in Constants._fields)))
        if contracts:
            right = coefficients(statement.right.subs(statement.factor, _F), named)
            weights = _stated(claim, name, step, letters)
        elif kind in ("|u_next-u*|^2", "|x_next-x*|^2"):
            right = {q: c.subs(k["L"], L) for q, c in coefficients(statement.right, named).items()}
            which = "dual step" if kind.startswith("|u") else "primal step"
            weights = _stated(claim, which, step, {**letters, **_excess(claim, letters, which, right)})
        else:
            raise Unprovable(f"{claim.id} bounds {kind}")
        total = sum((c * step.quantities[q] for q, c in right.items()), Form({}, {}))
        known = {c.name: c.form for c in step.constraints}
        yield (
            Posed(name, total - step.quantities[kind], known, {s: e.subs(k["L"], L) for s, e in slack.items()}),
            weights,
        )


def _one_step(claim: Claim) -> OneStep:
    """The statement, or the contraction that gives a bound for every T. ``Unprovable`` for anything else."""
    statement = claim.statement
    if isinstance(statement, OneStep):
        return statement
    if not isinstance(statement, Bound) or statement.override is not None:
        raise Unprovable(f"{claim.id} is not about one step")
    named = {q.expression: q for q in statement.quantities}
    left, initial = (named.get(e) for e in (statement.left, statement.initial))
    if left is None or initial is None or left.of is not initial.of:
        raise Unprovable(f"the two sides of {claim.id} speak of different potentials")
    require_nonnegative(claim, statement.constant - 1)
    after, before = Quantity(sympy.Symbol("Psi_next"), left.of, True), Quantity(sympy.Symbol("Psi"), left.of)
    return contraction(statement.algorithm, after, statement.factor, before)


def _stated(claim: Claim, name: str, step: Step, letters: Mapping[str, sympy.Expr]) -> Weights:
    return identity.stated(claim, name, {**letters, **_LETTERS}, step.vectors)


def _slack(claim: Claim, factor: sympy.Expr, k: Letters) -> dict[sympy.Symbol, sympy.Expr]:
    """The factor is at least each of the three terms of tau, and rho is damped enough."""
    least = {
        _s_mu: (1 - k["gamma"] * k["mu"]) ** 2,
        _s_L: (1 - k["gamma"] * k["L"]) ** 2,
        _s_p: 1 - k["p"] ** 2 * k["chi"] / (1 + 2 * k["omega"]),
    }
    for bound in least.values():
        require_at_least(claim, factor, bound)
    damping = 2 * k["rho"] - k["rho"] ** 2 * (1 + k["omega_av"]) - k["chi"]
    require(claim, damping)
    return {**{s: _F - bound for s, bound in least.items()}, _s_rho: damping}


def _excess(claim: Claim, k: Letters, kind: str, right: dict[str, sympy.Expr]) -> dict[str, sympy.Expr]:
    """By how much the coefficients of a claim about one of the two steps exceed what they must, by their letters.

    E|u_next - u*|^2 <= |u - u*|^2 + p lam^2 (1 + 2 omega) |W x_hat|^2 - 2 p lam <u - u*, x_hat>, lam the stepsize, and
    E|x_next - x*|^2 <= |x_hat - x*|^2 - p (2 rho - rho^2 (1 + omega_av)) |W x_hat|^2.
    """
    p, rho, lam = k["p"], k["rho"], k["p"] * k["chi"] / (k["gamma"] * (1 + 2 * k["omega"]))
    exactly: tuple[str, ...] = ()
    if kind == "dual step":
        least = {"|u-u*|^2": sympy.S.One, "|W x_hat|^2": p * lam**2 * (1 + 2 * k["omega"])}
        exactly = ("<u-u*,x_hat>",)
    else:
        least = {"|x_hat-x*|^2": sympy.S.One, "|W x_hat|^2": -p * (2 * rho - rho**2 * (1 + k["omega_av"]))}
    if set(right) - set(least) - set(exactly):
        raise Unprovable(f"{claim.id} bounds by other quantities than {', '.join([*least, *exactly])}")
    found = {q: sympy.simplify(right.get(q, sympy.S.Zero) - coefficient) for q, coefficient in least.items()}
    for excess in found.values():
        require_nonnegative(claim, excess)
    return {f"excess of {quantity}": excess for quantity, excess in found.items()}


def instances(claim: Claim) -> Iterator[Instance]:
    """Exact instances that meet the hypotheses, with compression, different curvatures, and two or three clients.

    No constant is 1, which would hide that it is lost. ``Unprovable`` when none of the first recipes gives one.
    """
    return identity.instances(claim, _generic)


def _generic(recipe: Recipe, instance: Instance) -> bool:
    curvatures = {h for part in (*recipe["clients"], recipe["g"]) for h in part["h"]}
    constants = {recipe[name] for name in ("mu", "L", "gamma", "chi", "rho", "p", "omega")}
    different = len(curvatures) > 1 and instance.problem.mu != instance.problem.L
    return _possible(recipe, instance) and different and not constants & {0, 1} and instance.problem.n > 1


def special(claim: Claim) -> Iterator[Instance]:
    """Exact instances that meet the hypotheses, with every pair of cases that a step may treat apart."""
    return identity.varied(claim, _possible, _traits)


def _possible(recipe: Recipe, instance: Instance) -> bool:
    problem = instance.problem
    # Where mu = L gradients are known, but only of functions that keep to what is declared of them.
    declared = all(min(part.mu) >= problem.mu and max(part.L) <= problem.L for part in (problem.f, problem.g))
    return bool(problem.n <= 3 and problem.mu <= problem.L and declared)


def _traits(instance: Instance) -> tuple[Hashable, ...]:
    problem, k = instance.problem, instance.params
    largest = 2 * k.rho - k.rho**2 * (1 + k.compressors.omega_av)
    extremes = (k.p == 1, k.omega == 0, k.rho == 1, k.chi == largest, problem.mu == problem.L)
    return (problem.n, k.compressors.joint, *extremes)


def constants(instance: Instance) -> dict[str, Any]:
    """The constants of the model, by the names of its letters."""
    problem, k = instance.problem, instance.params
    curvatures = {"n": problem.n, "mu": problem.mu, "L": problem.L}
    steps = {"gamma": k.gamma, "chi": k.chi, "rho": k.rho, "p": k.p}
    return {**curvatures, **steps, "omega": k.omega, "omega_av": k.compressors.omega_av}


def outside(claim: Claim, instance: Instance) -> Iterator[tuple[str, Instance]]:
    """The instance with one assumption of the proof broken at a time."""
    params = instance.params
    if str(_one_step(claim).left) == "Psi_next":
        yield from identity.redeclared(instance)
    for factor in identity.BROKEN:
        yield (
            "the variance of the compressors",
            replace(instance, params=params._replace(omega=params.compressors.omega / factor)),
        )


def differs(claim: Claim, instance: Instance) -> str | None:
    """The name of a quantity whose model is not what the code computes on formal vectors, or None."""
    statement = _one_step(claim)
    posed = posing.pose(claim.setting, instance)
    problem, state = posed.instance.at(np.zeros((1, 0)))
    later, probabilities = rollout(replace(claim, statement=statement), posed.instance, problem, state, 1)
    n, params = problem.n, posed.instance.params
    found = constants(posed.instance)
    k = Constants(*(found[name] for name in Constants._fields))
    step = iteration(Explicit(n), k)
    for quantity in statement.quantities:
        name = str(quantity.expression)
        values = quantity.of(problem, params, later if quantity.after else state)
        value = (values[0] * (probabilities if quantity.after else 1)).sum()
        if name not in step.quantities or not (value - n * step.quantities[name]).is_zero:
            return name
    return None
