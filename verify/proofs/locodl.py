"""Proofs for LoCoDL: Theorem 3.1's one-step inequality (19) and the two steps of its proof, for every n.

The multipliers follow the paper's Appendix A, except that the last inequality, the contraction of a gradient step, is
proved from interpolation, and that what the paper drops is kept as squares.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.instances.base import Recipe
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.one_step import OneStep, contraction
from fedtheory.papers.locodl import method
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import rollout
from verify.pep import posing
from verify.pep.gram import Form
from verify.pep.symmetry import Exchangeable, Explicit
from verify.proofs import identity
from verify.proofs import locodl_model as model
from verify.proofs.identity import (
    Posed,
    Unprovable,
    Weights,
    coefficients,
    require,
    require_at_least,
    require_nonnegative,
)
from verify.proofs.locodl_model import LoCoDLConstants, Step

Letters = dict[str, sympy.Symbol]

#: The factor, L - mu, and slack symbols: by how much the factor exceeds what it must, and rho is damped.
_F, _ell = sympy.symbols("F ell", positive=True, cls=sympy.Dummy)
_s_mu, _s_L, _s_p, _s_rho = sympy.symbols("s_mu s_L s_p s_rho", nonnegative=True, cls=sympy.Dummy)

#: The settings that these proofs speak of.
SETTINGS = (method.SETTING,)
#: Hypotheses given as code on which these proofs rest, besides memberships of classes.
GROUNDS: tuple[Hypothesis, ...] = ()


def pose(claim: Claim) -> Iterator[tuple[Posed, Weights]]:
    """What is to be shown, and its proof. ``Unprovable`` if the claim is of another form.

    The contraction is shown for mu < L and for mu = L; the two steps before it use nothing of the gradients, and so
    hold for all functions. Forms are divided by n, and so independent of it.
    """
    statement = _one_step(claim)
    k = _letters(claim)
    kind, named = str(statement.left), [q.expression for q in statement.quantities]
    contracts = kind == "Psi_next" and statement.factor is not None
    slack = _slack(claim, statement.factor, k) if contracts and statement.factor is not None else {}
    cases = {"mu < L": k["mu"] + _ell, "mu = L": k["mu"]} if contracts else {"any gradients": k["mu"] + _ell}
    for name, L in cases.items():
        letters = {**k, "L": L}
        step = model.locodl(Exchangeable(k["n"]), LoCoDLConstants(*(letters[f] for f in LoCoDLConstants._fields)))
        if contracts:
            right = coefficients(statement.right.subs(statement.factor, _F), named)
            weights = _contraction(step, letters)
        elif kind in ("|u_next-u*|^2", "|x_next-x*|^2"):
            right = {q: c.subs(k["L"], L) for q, c in coefficients(statement.right, named).items()}
            weights = (_dual if kind.startswith("|u") else _primal)(claim, step, letters, right)
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


def _letters(claim: Claim) -> Letters:
    """The paper's letters by name, from the setting."""
    instance = next(instances(claim))
    return {str(s): s for s in claim.setting.bind(instance.problem, instance.params)}


def _slack(claim: Claim, factor: sympy.Expr, k: Letters) -> dict[sympy.Symbol, sympy.Expr]:
    """The factor is at least each of the three terms of tau, and rho is damped as Theorem 3.1 asks."""
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


def _dual_step(k: Letters) -> sympy.Expr:
    return k["p"] * k["chi"] / (k["gamma"] * (1 + 2 * k["omega"]))


def _contraction(step: Step, k: Letters) -> Weights:
    """F Psi - E Psi_next >= 0."""
    gamma, p, rho = k["gamma"], k["p"], k["rho"]
    weight = gamma * (1 + 2 * k["omega"]) / (p**2 * k["chi"])
    noise = p * weight * _dual_step(k) ** 2
    dual = _noise_in_dual(step, k, noise)
    primal = _noise_in_primal(step, k, p * rho**2 / gamma)
    squares = [*dual.squares, *primal.squares]
    squares += [(p / gamma * _s_rho, v) for v in (step.vectors["W_x"], step.vectors["W_y"])]
    squares += [(weight * _s_p, v) for v in (step.vectors["u"], step.vectors["v"])]
    multipliers = {"variance": dual.multipliers["variance"], "joint variance": primal.multipliers["joint variance"]}
    for function, sample in (("f", step.vectors["at_x"]), ("g", step.vectors["at_y"])):
        x, gradient = sample.point, sample.gradient
        if k["L"] == k["mu"]:
            squares.append((_s_mu / gamma, x))
            continue
        # F |x|^2 - |x - gamma g|^2 from <g - mu x, L x - g> >= 0, which two interpolation inequalities add up to.
        multiplier = (_s_mu + _s_L + gamma**2 * _ell**2) / (gamma * _ell)
        multipliers |= {f"{function}[0,1]": multiplier, f"{function}[1,0]": multiplier}
        squares.append((_s_L / (gamma * _ell**2), gradient - k["mu"] * x))
        squares.append((_s_mu / (gamma * _ell**2), k["L"] * x - gradient))
    return Weights(multipliers, tuple(squares))


def _noise_in_dual(step: Step, k: Letters, weight: sympy.Expr) -> Weights:
    """What the noise adds to weight * |u_next|^2 is at most weight * 2 omega |W x_hat|^2; its mean helps."""
    squares = ((weight / 2, step.vectors["mean noise"]), (weight * k["omega"], step.vectors["x_hat deviation"]))
    return Weights({"variance": weight}, squares)


def _noise_in_primal(step: Step, k: Letters, weight: sympy.Expr) -> Weights:
    """What the noise adds to weight * |x_next|^2 is at most weight * omega_av |W x_hat|^2: only its mean enters."""
    squares = ((weight * k["omega_av"] / 2, step.vectors["x_hat deviation"]),)
    return Weights({"joint variance": weight / 2}, squares)


def _dual(claim: Claim, step: Step, k: Letters, right: dict[str, sympy.Expr]) -> Weights:
    """E|u_next - u*|^2 <= |u - u*|^2 + p lam^2 (1 + 2 omega) |W x_hat|^2 - 2 p lam <u - u*, x_hat>."""
    p, lam = k["p"], _dual_step(k)
    least = {"|u-u*|^2": sympy.S.One, "|W x_hat|^2": p * lam**2 * (1 + 2 * k["omega"])}
    base = _noise_in_dual(step, k, p * lam**2)
    return _with_excess(claim, step, base, right, least, {"<u-u*,x_hat>": -2 * p * lam})


def _primal(claim: Claim, step: Step, k: Letters, right: dict[str, sympy.Expr]) -> Weights:
    """E|x_next - x*|^2 <= |x_hat - x*|^2 - p (2 rho - rho^2 (1 + omega_av)) |W x_hat|^2."""
    p, rho = k["p"], k["rho"]
    least = {"|x_hat-x*|^2": sympy.S.One, "|W x_hat|^2": -p * (2 * rho - rho**2 * (1 + k["omega_av"]))}
    return _with_excess(claim, step, _noise_in_primal(step, k, p * rho**2), right, least, {})


_SQUARES = {"|u-u*|^2": ("u", "v"), "|W x_hat|^2": ("W_x", "W_y"), "|x_hat-x*|^2": ("x_hat", "y_hat")}


def _with_excess(
    claim: Claim,
    step: Step,
    base: Weights,
    right: dict[str, sympy.Expr],
    least: dict[str, sympy.Expr],
    exactly: dict[str, sympy.Expr],
) -> Weights:
    """The proof of the sharp right side, plus squares for what the claim's coefficients exceed it by."""
    if set(right) - set(least) - set(exactly):
        raise Unprovable(f"{claim.id} bounds by other quantities than {', '.join([*least, *exactly])}")
    squares = list(base.squares)
    for quantity, coefficient in least.items():
        excess = sympy.simplify(right.get(quantity, sympy.S.Zero) - coefficient)
        require_nonnegative(claim, excess)
        squares += [(excess, step.vectors[v]) for v in _SQUARES[quantity] if excess != 0]
    return Weights(base.multipliers, tuple(squares))


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
    k = LoCoDLConstants(
        problem.mu,
        problem.L,
        params.gamma,
        params.chi,
        params.rho,
        params.p,
        params.omega,
        params.compressors.omega_av,
    )
    step = model.locodl(Explicit(n), k)
    for quantity in statement.quantities:
        name = str(quantity.expression)
        values = quantity.of(problem, params, later if quantity.after else state)
        value = (values[0] * (probabilities if quantity.after else 1)).sum()
        if name not in step.quantities or not (value - n * step.quantities[name]).is_zero:
            return name
    return None
