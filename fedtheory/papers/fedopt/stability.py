"""Federated Optimization, Section 3.4: the limit of the perturbations of DANE, larger mu, and the rounds it needs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import dane
from fedtheory.classes import Smooth
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.order import Order
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt import any_functions
from fedtheory.papers.fedopt.data import RidgeInstances, few, one_of, value
from fedtheory.papers.fedopt.predictors import (
    CONSTANTS,
    K,
    L,
    Model,
    epsilon,
    eta,
    lamda,
    letters,
    models,
    section,
    setting,
)
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.settings import Setting, points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

# The limit of the a_k


class Eta(NamedTuple):
    """``eta``: DANE's parameter."""

    eta: Scalar


def _from_limit(problem: Problem, params: Eta, state: Model) -> Array:
    """sum_k |a_k - grad F_k(w*)|^2, a_k = grad F_k(w) - eta grad f(w)."""
    own = problem.f.gradient(state.w[..., None, :] + 0 * problem.y_star)
    a = own - params.eta * own.sum(axis=-2, keepdims=True) / problem.n
    return ((a - problem.y_star) ** 2).sum(axis=(-1, -2))


def _distance(problem: Problem, params: object, state: Model) -> Array:
    """|w - w*|^2."""
    return ((state.w - problem.x_star) ** 2).sum(axis=-1)


SMOOTH = Setting(
    "F_1, ..., F_K L-smooth, convex or not, f their mean with grad f(w*) = 0; any eta > 0 and any w",
    letters={L: "L", K: "n", eta: "eta"},
    algorithm=points(Model, Eta, lambda problem, params: Model(problem.x_star)),
    functions=Smooth(L, optimum="stationary"),
)

# Larger mu, on ridge regression


class Larger(NamedTuple):
    """``mu``, ``more``: two local regularisers, mu and mu + more; ``eta``: the weight of the full gradient."""

    mu: Scalar
    more: Scalar
    eta: Scalar


def _larger(recipe: Any, problem: LinearProblem, exact: bool) -> Larger:
    if recipe["mu"] < 0 or recipe["more"] < 0 or recipe["eta"] <= 0:
        raise ValueError("mu >= 0, more >= 0 and eta > 0 are due")
    return Larger(*(value(recipe, name, exact) for name in Larger._fields))


def _progress(more: bool) -> Any:
    """<grad f(w), w - w_next> of a round of DANE with mu, or with mu + more."""

    def of(problem: Problem, params: any_functions.Larger, state: any_functions.Moved) -> Array:
        on, (w, g) = any_functions.quadratics_of(problem, params), state
        mu = params.mu + params.more if more else params.mu
        a = on.f.gradient(w[..., None, :]) - params.eta * g[..., None, :]
        after = dane.perturbed_minimisers(on, w, a, mu).sum(axis=-2) / problem.n
        return (g * (w - after)).sum(axis=-1)

    of.__doc__ = f"<grad f(w), w - w_next> of a round of DANE with {'mu + more' if more else 'mu'}"
    return of


def _factor(more: bool) -> Any:
    """The size of the number by which a round multiplies w - w*, in one dimension."""

    def of(problem: LinearProblem, params: Larger, state: object) -> Array:
        mu = params.mu + params.more if more else params.mu
        after = dane.step(problem, dane.Params(mu, params.eta), dane.State(problem.x_star + 1), None).w
        return abs(after - problem.x_star)

    larger = " + more" * more
    of.__doc__ = f"|w_next - w*|/|w - w*| of DANE in one dimension, |1 - (eta/K) sum_k f''/(F_k'' + mu{larger})|"
    return of


_MU = {"mu": one_of(0, 0, "1/3", 1, 20), "more": one_of("1/3", 1, 5, 100), "eta": one_of(1, 1, "1/2", 3)}


def _stable(recipe: object, f: LinearModels) -> bool:
    """One feature, on which DANE with mu converges."""
    if f.d != 1:
        return False
    problem = LinearProblem(f)
    params = _larger(recipe, problem, True)
    return bool(_factor(False)(problem, params, None)[0] < 1)


CONVERGING = setting(
    "ridge regression on one feature, on which DANE with mu converges; a larger mu",
    RidgeInstances(_larger, letters=_MU, clients=few, holds=_stable),
)

# More nodes


def _ladder(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    nodes = int(rng.integers(1, 25))
    return 1, tuple({"examples": ({"x": (Fraction(k),), "y": Fraction(0)},)} for k in range(1, nodes + 1))


def _is_ladder(recipe: object, f: LinearModels) -> bool:
    return f.d == 1 and f.n == f.examples and bool((f.X[:, 0] == np.arange(1, f.n + 1)).all())


def _speed(problem: LinearProblem, params: dane.Params, state: object) -> Array:
    """c, where a round of DANE multiplies w - w* by 1 - c."""
    after = dane.step(problem, params, dane.State(problem.x_star + 1), None).w
    return 1 - (after - problem.x_star)[..., None]


LADDER = setting(
    "K nodes with one example each, x = 1, ..., K of one feature, lambda = 0; mu = 0, eta = 1",
    RidgeInstances(
        lambda recipe, problem, exact: dane.Params(Fraction(0) if exact else 0.0, Fraction(1) if exact else 1.0),
        lam=lambda rng: Fraction(0),
        plain=True,
        holds=_is_ladder,
        clients=_ladder,
    ),
    letters(K),
)

_c = sympy.Symbol("c", real=True)

# The number of rounds


class Similar(NamedTuple):
    """``mu``, ``eta``: those of DANE; ``rho2``: rho^2 >= |hess F_k - hess f|^2 for all k."""

    mu: Scalar
    eta: Scalar
    rho2: Scalar


def _spread(f: LinearModels) -> Scalar:
    """max_k |hess F_k - hess f|^2 in the norm of Frobenius, which no eigenvalue exceeds; of one feature it is one."""
    H = f.hessian(np.zeros((1, f.d), dtype=int))
    mean = (f.weights[:, None, None] * H).sum(axis=0)
    return ((H - mean) ** 2).sum(axis=(-1, -2)).max()


def _similar(recipe: object, problem: LinearProblem, exact: bool) -> Similar:
    rho2, lam = _spread(problem.f), problem.f.lam
    return Similar(max(8 * rho2 / lam - lam, 0 * lam), Fraction(1) if exact else 1.0, rho2)


def _next_distance(problem: LinearProblem, params: Similar, state: Model) -> Array:
    """|w_next - w*|^2 after a round of DANE."""
    after = dane.step(problem, dane.Params(params.mu, params.eta), dane.State(state.w), None).w
    return ((after - problem.x_star) ** 2).sum(axis=-1)


_rho2 = sympy.Symbol("rho2", positive=True)
SIMILAR = setting(
    "linear regression on any data and nodes, the F_k of eq. (12), f lambda-strongly convex; eta = 1, "
    "mu = max{0, 8 rho^2/lambda - lambda}",
    RidgeInstances(_similar, models(Model), share="equal", clients=few),
    {**letters(lamda), _rho2: "rho2"},
)
FAR = Hypothesis("8 rho^2 >= lambda^2", sympy.Ge(8 * _rho2, lamda**2, evaluate=False))
_after, _before = sympy.symbols("|w^(t+1)-w*|^2 |w^t-w*|^2")
#: rho^2 = K/n and lambda = 1/sqrt(n), with the constants 1.
_iid = 1 - 1 / (16 * K)

_34 = "Section 3.4"

section_34 = section("Section 3.4", SMOOTH, id="dane")
FURTHER = (
    section_34(
        "perturbation-limit",
        Quantity("sum_k(|a_k-grad F_k(w*)|^2)", _from_limit)
        <= K * L**2 * (1 + eta) ** 2 * Quantity("|w-w*|^2", _distance),
        "a_k tends to grad F_k(w*), if w^t tends to w*",
        kind="limit",
        tex=r"a_k^t\to\nabla F_k(w^*)",
        uses=("dane/perturbation",),
        reading="of smooth F_k more is true than the limit, how far a_k = grad F_k(w^t) - eta grad f(w^t) is from it; "
        "for any continuous gradients the limit is their continuity. For every mu, which a_k does not depend on",
    ),
    section_34(
        "larger-mu",
        Quantity("<grad f(w), w-w_(mu+more)>", _progress(True)) <= Quantity("<grad f(w), w-w_mu>", _progress(False)),
        "larger mu is stabler and slower",
        kind="property",
        setting=any_functions.LARGER,
        requires=(any_functions.QUADRATIC,),
        tex="",
        reading="on least squares a round is w - w* -> (I - eta H~ H)(w - w*), with real eigenvalues of at most 1, "
        "which all rise with mu, since <g, eta H~ g> falls for g = grad f(w), and any w: those below -1, by which DANE "
        "diverges, come nearer, and of the others those above 0 are slower",
    ),
    section_34(
        "larger-mu/literal",
        Quantity(sympy.Symbol("factor(mu)"), _factor(False))
        <= Quantity(sympy.Symbol("factor(mu+more)"), _factor(True)),
        "wherever DANE converges, it is slower with a larger mu",
        kind="property",
        setting=CONVERGING,
        tex=r"\frac{\mu}{2}\|w-w^t\|^2",
        reading="by the letter the cost is paid by every larger mu; where a round with mu goes beyond the optimum a "
        "larger one is stabler and faster",
        literal_of="dane/larger-mu",
        flaw="No proof is printed. A larger mu shortens every move of DANE. That is slower where the move was too "
        "short, and faster where it went beyond the optimum.",
    ),
    section_34(
        "diverges",
        Inequality(
            (K + 1) * (2 * K + 1) / (6 * K),
            (K + 1) * (2 * K + 1) * (2 * K - 1) / (6 * K**2),
            (Quantity(_c, _speed),),
            middle=_c,
        ),
        "can diverge with mu = 0 as K grows",
        kind="property",
        setting=LADDER,
        tex=r"\mu=0",
        reading="a round multiplies w - w* by 1 - c, with c = mean(x_k^2) mean(1/x_k^2). For K = 1 and 2 the right "
        "side is below 2, and DANE converges; from K = 5 on the left side is above 2, and DANE diverges, the faster "
        "the larger K is",
    ),
    section_34(
        "rounds",
        Order(sympy.log(1 / epsilon) / -sympy.log(_iid), K * sympy.log(1 / epsilon), small=epsilon),
        "DANE needs O(K log 1/eps) rounds for lambda = O(1/sqrt(n))",
        kind="bound",
        setting=CONSTANTS,
        tex=r"\mathcal{O}(K\log(1/\epsilon)), \quad \lambda=\mathcal{O}(1/\sqrt{n})",
        given=("dane/rounds/contraction",),
        reading="cited from Shamir et al. (2014): the rounds until the rate of dane/rounds/contraction leaves epsilon, "
        "at lambda = 1/sqrt(n), and rho^2 = K/n, which i.i.d. data have up to logarithms of d and K that are left out "
        "here as they are there. That such data have it, with high probability, is not claimed here",
    ),
    section_34(
        "rounds/contraction",
        Quantity(_after, _next_distance) <= (1 - lamda**2 / (16 * _rho2)) ** 2 * Quantity(_before, _distance),
        "linear regression: |w^(t+1) - w*| <= (1 - lambda^2/(16 rho^2)) |w^t - w*| for |hess F_k - hess f| <= rho",
        kind="bound",
        setting=SIMILAR,
        requires=(FAR,),
        # The cited theorem from which the rounds of DANE follow.
        origin="implied",
        reading="Lemma 2 of Shamir et al. (2014), with its mu, of the case that is not 8 rho^2 <= lambda^2",
    ),
)
