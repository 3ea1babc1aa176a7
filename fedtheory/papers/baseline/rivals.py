"""The rivals of LoCoDL, each with the theorem from which its parameters come. Letters as in each method's paper.

The problem is min_x (1/n) sum_i f_i(x); there is no g. The statements were gathered from several papers: ``where``
names the paper of each. They are conjectures like all other claims, tested by the same machinery.
"""

from __future__ import annotations

from typing import Any

import sympy

from fedtheory.algorithms import adiana, compressed_scaffnew, diana, ef21, fedcomgate, fivegcs_cc, gradskip, scaffnew
from fedtheory.algorithms.base import Algorithm
from fedtheory.claims import Claim
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.one_step import one_step
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.symbols import Max, Min
from fedtheory.papers.baseline.potentials import (
    Phi_ef21,
    Psi_5gcs,
    Psi_adiana,
    Psi_compressed,
    Psi_diana,
    Psi_ef21,
    Psi_scaffnew,
    error_fedcomgate,
    slope,
)
from fedtheory.papers.baseline.rival_settings import (
    ADIANA,
    ADIANA_PARAMETERS,
    COMPRESSED_SCAFFNEW,
    CONSTANTS,
    CONTRACTIVE,
    CONVEX,
    DIANA,
    EF21,
    FEDCOMGATE,
    FIVEGCS_CC,
    GRADSKIP,
    GRADSKIP_STEP,
    INDEPENDENT,
    L_F,
    LOJASIEWICZ,
    OF_EACH,
    PROBABILITY,
    SCAFFNEW,
    SMALL_STEP,
    VARIANCE,
    K,
    L,
    alpha,
    at_most,
    ef21_step,
    eta,
    gamma,
    inflation,
    kappa_i,
    kappa_max,
    m,
    mu,
    n,
    omega,
    p,
    q_i,
    q_max,
    ratio_ef21,
    s,
    tau,
    theta_1,
    theta_ef21,
)
from fedtheory.problems.base import StateFunction
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

_left, _right, _norm = sympy.Symbol("Psi_next"), sympy.Symbol("Psi"), sympy.Symbol("|grad f(x)|^2")

_Phi_next, _Phi = sympy.Symbol("Phi_next"), sympy.Symbol("Phi")


def _one_step(
    setting: Setting,
    where: str,
    algorithm: Algorithm,
    potential: StateFunction,
    rate: sympy.Expr,
    requires: tuple[Hypothesis, ...],
    reading: str = "",
    origin: str = "implied",
) -> Claim:
    gist = f"expected contraction of {algorithm.name}'s Lyapunov function"
    statement = one_step(algorithm, E(Quantity(_left, potential, after=True)) <= rate * Quantity(_right, potential))
    return Claim(
        id=f"baseline/{algorithm.name}/one-step",
        where=where,
        gist=gist,
        origin=origin,
        setting=setting,
        statement=statement,
        requires=requires,
        reading=reading,
    )


def _invariant(
    setting: Setting, where: str, algorithm: Algorithm, text: str, requires: tuple[Hypothesis, ...] = ()
) -> Claim:
    assert algorithm.invariant is not None
    statement = Invariant(algorithm, algorithm.invariant, text)
    return Claim(
        id=f"baseline/{algorithm.name}/invariant",
        where=where,
        kind="invariant",
        gist=text,
        origin="implied",
        setting=setting,
        statement=statement,
        requires=requires,
    )


_SERVER = "the server's control variate is the mean of the clients'"

_SUM = "the control variates sum to 0"

_DIANA_WHERE = "Mishchenko et al. 2019; Horvath et al. 2019"

_EF21_WHERE = "Richtarik, Sokolov, Fatkhullin 2021"

_ADIANA_WHERE = "Li, Kovalev, Qian, Richtarik 2020"

_SCAFFNEW_WHERE = "Mishchenko, Malinovsky, Stich, Richtarik 2022"

_GRADSKIP_WHERE = "Maranjyan, Safaryan, Richtarik 2022"

_COMPRESSED_WHERE = "Condat, Agarsky, Richtarik 2022"

_5GCS_WHERE = "Grudzien, Malinovsky, Richtarik 2023, as RandProx (Condat, Richtarik 2022)"

_FEDCOMGATE_WHERE = "Haddadpour, Kamani, Mokhtari, Mahdavi 2021"

_x_5gcs = sympy.sqrt((1 + omega) * (1 + omega / n) * (L / mu - 1) / 2)

_gamma_5gcs = sympy.sqrt(2 / ((1 + omega) * (n + omega) * L_F * mu))

_tau_5gcs = 1 / (_gamma_5gcs * (n + omega))


def _rate(
    algorithm: Algorithm,
    where: str,
    gist: str,
    statement: Any,
    requires: Any = (),
    reading: str = "",
    origin: str = "implied",
) -> Claim:
    kind = statement.kind
    return Claim(
        id=f"baseline/{algorithm.name}/rate",
        where=where,
        kind=kind,
        gist=gist,
        origin=origin,
        setting=CONSTANTS,
        statement=statement,
        requires=tuple(requires),
        reading=reading,
    )


_ORDERED = at_most(mu, L, "mu <= L")

_FROM_TABLE = "the O() of LoCoDL's Table 1 with the theorem's constants"

_LINEAR = (
    CONVEX,
    INDEPENDENT,
    Hypothesis("gamma >= 1", sympy.Ge(gamma, 1, evaluate=False)),
    at_most(eta * gamma * K, 1 / (2 * L * (1 + omega)), "eta gamma K <= 1/(2 L (1 + omega))"),
)

PHI_NEXT = Quantity(_Phi_next, Phi_ef21, after=True)

PHI = Quantity(_Phi, Phi_ef21)

NORM = Quantity(_norm, slope)

CLAIMS: tuple[Claim, ...] = (
    _invariant(DIANA, _DIANA_WHERE, diana.algorithm, _SERVER),
    _one_step(
        DIANA,
        _DIANA_WHERE,
        diana.algorithm,
        Psi_diana,
        Max(1 - gamma * mu, 1 - alpha / 2),
        (
            CONVEX,
            INDEPENDENT,
            at_most(alpha, 1 / (1 + omega), "alpha <= 1/(1 + omega)"),
            at_most(gamma, 1 / (L * (1 + 6 * omega / n)), "gamma <= 1/(L (1 + 6 omega/n))"),
        ),
    ),
    _rate(
        diana.algorithm,
        _DIANA_WHERE,
        "at the largest stepsizes 1/(1 - rate) <= (1 + 6 omega/n) kappa + 2 (1 + omega)",
        Inequality(
            Max(1 - mu / (L * (1 + 6 * omega / n)), 1 - 1 / (2 * (1 + omega))),
            1 - 1 / ((1 + 6 * omega / n) * L / mu + 2 * (1 + omega)),
        ),
        reading=_FROM_TABLE,
    ),
    _invariant(EF21, _EF21_WHERE, ef21.algorithm, "the server's gradient estimate is the mean of the clients'"),
    _one_step(
        EF21,
        _EF21_WHERE,
        ef21.algorithm,
        Psi_ef21,
        1 - gamma * mu,
        (LOJASIEWICZ, CONTRACTIVE, ef21_step(2), at_most(gamma, theta_ef21 / (2 * mu), "gamma <= theta/(2 mu)")),
        "L is the mean of the L_i",
    ),
    Claim(
        id="baseline/ef21/descent",
        where=_EF21_WHERE,
        gist="expected decrease of f - f* + (gamma/(2 theta)) G by gamma/2 |grad f(x)|^2, any smooth f_i",
        origin="implied",
        setting=EF21,
        statement=one_step(ef21.algorithm, E(PHI_NEXT) <= PHI - gamma / 2 * NORM),
        requires=(LOJASIEWICZ, CONTRACTIVE, ef21_step(1)),
        reading="summed over T steps it is the bound of the nonconvex theorem; tested where f has a mu",
    ),
    Claim(
        id="baseline/ef21/stepsize",
        where=_EF21_WHERE,
        gist="sqrt(beta/theta) <= 2/alpha - 1",
        origin="implied",
        setting=CONSTANTS,
        statement=Inequality(ratio_ef21, 2 / alpha - 1),
        requires=(at_most(alpha, 1, "alpha <= 1"),),
    ),
    _invariant(ADIANA, _ADIANA_WHERE, adiana.algorithm, _SERVER, (PROBABILITY,)),
    _one_step(
        ADIANA,
        _ADIANA_WHERE,
        adiana.algorithm,
        Psi_adiana,
        Max(1 - gamma * mu, 1 - theta_1 / 2, 1 - p * theta_1 / (1 + theta_1), 1 - alpha / 2),
        (CONVEX, INDEPENDENT, *ADIANA_PARAMETERS),
        "the rate is the slowest of the four terms of the Lyapunov function",
    ),
    _invariant(SCAFFNEW, _SCAFFNEW_WHERE, scaffnew.algorithm, _SUM),
    _one_step(
        SCAFFNEW,
        _SCAFFNEW_WHERE,
        scaffnew.algorithm,
        Psi_scaffnew,
        1 - Min(gamma * mu, p**2),
        (CONVEX, SMALL_STEP, PROBABILITY),
    ),
    _rate(
        scaffnew.algorithm,
        _SCAFFNEW_WHERE,
        "gamma = 1/L and p = 1/sqrt(kappa) give kappa iterations, sqrt(kappa) of them with communication",
        ParameterRule(
            {gamma: 1 / L, p: sympy.sqrt(mu / L)},
            (
                sympy.Eq(Min(gamma * mu, p**2), mu / L, evaluate=False),
                sympy.Eq(p / (gamma * mu), sympy.sqrt(L / mu), evaluate=False),
            ),
        ),
    ),
    _one_step(
        GRADSKIP,
        _GRADSKIP_WHERE,
        gradskip.algorithm,
        Psi_scaffnew,
        1 - Min(gamma * mu, 1 - q_max * (1 - p**2)),
        (OF_EACH, GRADSKIP_STEP, PROBABILITY),
        origin="observed",
    ),
    _rate(
        gradskip.algorithm,
        _GRADSKIP_WHERE,
        "the printed q_i and p admit gamma = 1/L_max for every client and give kappa_max iterations",
        ParameterRule(
            {q_i: (1 - 1 / kappa_i) / (1 - 1 / kappa_max), p: 1 / sympy.sqrt(kappa_max)},
            (
                sympy.Eq(p**2 / (mu * kappa_i * (1 - q_i * (1 - p**2))), 1 / (mu * kappa_max), evaluate=False),
                sympy.Eq(1 - (1 - p**2), 1 / kappa_max, evaluate=False),
            ),
        ),
        (
            Hypothesis(
                "1 <= kappa_i <= kappa_max, kappa_max > 1",
                sympy.And(sympy.Ge(kappa_i, 1), kappa_i <= kappa_max, kappa_max > 1),
            ),
        ),
        "L_i = kappa_i mu; q_max = 1, that of the worst conditioned client",
        origin="observed",
    ),
    _invariant(COMPRESSED_SCAFFNEW, _COMPRESSED_WHERE, compressed_scaffnew.algorithm, _SUM),
    _one_step(
        COMPRESSED_SCAFFNEW,
        _COMPRESSED_WHERE,
        compressed_scaffnew.algorithm,
        Psi_compressed,
        Max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2, 1 - p**2 * eta * (s - 1) / (n - 1)),
        (
            CONVEX,
            Hypothesis("0 < gamma < 2/L", sympy.Lt(gamma, 2 / L, evaluate=False)),
            at_most(eta, n * (s - 1) / (s * (n - 1)), "0 < eta <= n (s-1)/(s (n-1))"),
            PROBABILITY,
        ),
    ),
    _rate(
        compressed_scaffnew.algorithm,
        _COMPRESSED_WHERE,
        "gamma = 2/(L + mu), the largest eta and p^2 = n/(s kappa) <= 1 give at most 4 kappa iterations",
        Inequality(
            Max(((L - mu) / (L + mu)) ** 2, 1 - n**2 * (s - 1) ** 2 * mu / (L * s**2 * (n - 1) ** 2)),
            1 - mu / (4 * L),
        ),
        (_ORDERED, Hypothesis("2 <= s <= n, n <= s kappa", sympy.And(s >= 2, s <= n, n * mu <= s * L))),
    ),
    _one_step(
        FIVEGCS_CC,
        _5GCS_WHERE,
        fivegcs_cc.algorithm,
        Psi_5gcs,
        Max(1 / (1 + gamma * mu), 1 - 2 * tau / (inflation * (L_F + 2 * tau))),
        (
            CONVEX,
            INDEPENDENT,
            VARIANCE,
            Hypothesis("mu < L", sympy.Lt(mu, L, evaluate=False)),
            at_most(gamma * tau * (n + n / m * omega), 1, "gamma tau (n + (n/m) omega) <= 1"),
        ),
        "exact local prox; the published method takes K inexact local steps",
    ),
    _rate(
        fivegcs_cc.algorithm,
        _5GCS_WHERE,
        "with all clients and balanced stepsizes 1/(1 - rate) <= 1 + omega + sqrt((1+omega)(1+omega/n)(kappa-1)/2)",
        Inequality(
            Max(1 / (1 + _gamma_5gcs * mu), 1 - 2 * _tau_5gcs / ((1 + omega) * (L_F + 2 * _tau_5gcs))),
            1 - 1 / (1 + omega + _x_5gcs),
        ),
        (Hypothesis("mu < L", sympy.Lt(mu, L, evaluate=False)),),
        _FROM_TABLE,
    ),
    _invariant(FEDCOMGATE, _FEDCOMGATE_WHERE, fedcomgate.algorithm, _SUM),
    Claim(
        # LoCoDL says of FedCOMGATE that it converges linearly; that no variance is too large for it is our question.
        id="baseline/fedcomgate/limit",
        where="LoCoDL, Section 1.2, of " + _FEDCOMGATE_WHERE,
        gist="linear convergence with unbiased compressors of any variance",
        origin="observed",
        setting=FEDCOMGATE,
        statement=Limit(
            fedcomgate.algorithm,
            Quantity(_right, error_fedcomgate),
            "w -> w*, delta_j -> grad f_j(w*) almost surely",
        ),
        requires=_LINEAR,
        reading="LoCoDL prints no stepsizes; eta gamma K <= 1/(2 L (1 + omega)) belongs to the complexity (1 + "
        "omega) kappa. LoCoDL says it of unbiased compressors; Haddadpour et al. may assume more (their text "
        "was not at hand), so that their theorem is not assessed",
        flaw="No proof is printed: it is cited. With omega of 5/2 or more and eta L = 1/(2 (1 + omega)) two clients "
        "that compress independently are thrown farther apart by some draws than others bring them together.",
    ),
    Claim(
        id="baseline/fedcomgate/limit/repaired",
        where="LoCoDL, Section 1.2, of " + _FEDCOMGATE_WHERE,
        gist="linear convergence when omega (n-1)/n is at most 1/2",
        origin="observed",
        setting=FEDCOMGATE,
        statement=Limit(
            fedcomgate.algorithm,
            Quantity(_right, error_fedcomgate),
            "w -> w*, delta_j -> grad f_j(w*) almost surely",
        ),
        requires=(*_LINEAR, at_most(omega * (n - 1) / n, sympy.Rational(1, 2), "omega (n-1)/n <= 1/2")),
        reading="however small the steps, a round multiplies E sum_j |delta_j - grad f_j(w*)|^2 by omega (n-1)/n at "
        "w = w*",
        repairs="baseline/fedcomgate/limit",
    ),
)
