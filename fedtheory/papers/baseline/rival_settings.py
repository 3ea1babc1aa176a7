"""The rivals of LoCoDL: letters, settings and hypotheses of their theorems. Letters as in each method's paper."""

from __future__ import annotations

import sympy

from fedtheory.algorithms import adiana, compressed_scaffnew, diana, ef21, fedcomgate, fivegcs_cc, gradskip, scaffnew
from fedtheory.classes import (
    ContractiveCompressors,
    PolyakLojasiewicz,
    SmoothEach,
    SmoothStronglyConvex,
    UnbiasedCompressors,
)
from fedtheory.instances import Source
from fedtheory.numbers import symbols
from fedtheory.numbers.symbols import Max, Min
from fedtheory.papers.baseline import parametrisations
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis, of_each

mu, L, kappa, n, d, omega = symbols.mu, symbols.L, symbols.kappa, symbols.n, symbols.d, symbols.omega

#: Clients sampled a round (C in the paper of 5GCS-CC, which calls the number of all clients M).
m = symbols.m

gamma, alpha, beta, eta, tau, p = sympy.symbols("gamma alpha beta eta tau p", positive=True)

#: The largest of the q_i, which may all be 0.
q_max = sympy.Symbol("q_max", nonnegative=True)

theta_1, theta_2 = sympy.symbols("theta_1 theta_2", positive=True)

#: EF21: the mean square of the L_i.
L_tilde_2 = sympy.Symbol("L~^2", positive=True)

#: GradSkip: one client's condition number and probability, which may be 0, and the largest condition number.
kappa_i, kappa_max = sympy.symbols("kappa_i kappa_max", positive=True)
q_i = sympy.Symbol("q_i", nonnegative=True)

s = sympy.Symbol("s", integer=True, positive=True)

K = sympy.Symbol("K", integer=True, positive=True)

#: The papers' letters in the common vocabulary, where they have one there.
glossary = {symbol: symbol for symbol in (mu, L, kappa, n, d, omega, m)}

_CLASS = "f_1, ..., f_n mu-strongly convex and L-smooth"

_COMPRESSED = _CLASS + "; independent compressors in U(omega)"

_COIN = (sympy.Le(p, 1, evaluate=False),)

_FUNCTIONS = SmoothStronglyConvex(mu, L)

_COMPRESSORS = UnbiasedCompressors(independent=True)

_CONTRACTIONS = ContractiveCompressors()

_OF_PROBLEM = {letter: str(letter) for letter in (mu, L, n, d)}


def _letters(*letters: sympy.Symbol) -> dict[sympy.Expr, Source]:
    """The constants of the problem, and letters that name a field of the parameters."""
    return {**_OF_PROBLEM, **{x: str(x) for x in letters}}


DIANA = Setting(
    _COMPRESSED,
    letters=_letters(gamma, alpha, omega),
    algorithm=diana.algorithm,
    functions=_FUNCTIONS,
    adversaries=(_COMPRESSORS,),
    drawing=Drawing(classes_stated=True, sweep={"kappa": (2, 5, 10, 30, 100), "omega": (0, 1, 10), "n": (1, 2, 4)}),
)

_LOJASIEWICZ = PolyakLojasiewicz(mu, L, own=True)

EF21 = Setting(
    "f mu-Polyak-Lojasiewicz and L-smooth, f_i L_i-smooth; contractive compressors",
    letters={
        **_letters(gamma, alpha),
        L_tilde_2: _LOJASIEWICZ.mean_square,
    },
    algorithm=ef21.algorithm,
    functions=_LOJASIEWICZ,
    adversaries=(_CONTRACTIONS,),
    drawing=Drawing(classes_stated=True, draw=parametrisations.ef21_stepsize),
)

ADIANA = Setting(
    _COMPRESSED + "; omega > 0",
    letters={
        **_letters(omega),
        **{x: parametrisations.of_params(str(x)) for x in (alpha, p, eta, theta_1, theta_2, gamma, beta)},
    },
    algorithm=adiana.algorithm,
    functions=_FUNCTIONS,
    adversaries=(_COMPRESSORS,),
    drawing=Drawing(
        classes_stated=True, draw=parametrisations.adiana_constants, parameters=parametrisations.adiana_parameters
    ),
    domain=(sympy.Gt(omega, 0, evaluate=False),),
    clients=(1, 2, 3),
)

SCAFFNEW = Setting(
    _CLASS + "; 0 < p <= 1",
    letters=_letters(gamma, p),
    algorithm=scaffnew.algorithm,
    functions=_FUNCTIONS,
    drawing=Drawing(classes_stated=True, sweep={"kappa": (2, 5, 10, 30, 100), "p": (1, "1/2", "1/4"), "n": (2, 3)}),
    domain=_COIN,
)

GRADSKIP = Setting(
    "f_i mu-strongly convex and L_i-smooth; 0 < p <= 1, 0 <= q_i <= 1",
    letters={**_letters(gamma, p), q_max: lambda problem, params: max(params.q)},
    algorithm=gradskip.algorithm,
    functions=SmoothEach(mu, L),
    drawing=Drawing(
        classes_stated=True,
        draw=parametrisations.gradskip_probabilities,
        parameters=parametrisations.gradskip_parameters,
    ),
    domain=_COIN,
    clients=(1, 2, 3),
    hints=Hints(signs=((lambda problem, params: params.q, False), (lambda problem, params: 1 - params.q, False))),
)

COMPRESSED_SCAFFNEW = Setting(
    _CLASS + "; 2 <= s <= n, 0 < p <= 1",
    letters=_letters(gamma, eta, p, s),
    algorithm=compressed_scaffnew.algorithm,
    functions=_FUNCTIONS,
    drawing=Drawing(classes_stated=True, draw=parametrisations.compressed_shape),
    domain=(sympy.Ge(n, 2, evaluate=False), sympy.Ge(s, 2, evaluate=False), sympy.Le(s, n, evaluate=False), *_COIN),
    hints=Hints(coordinates=True),
)

FIVEGCS_CC = Setting(
    _COMPRESSED + ", m of n clients sampled",
    letters={**_letters(gamma, tau, omega), m: "C"},
    algorithm=fivegcs_cc.algorithm,
    functions=_FUNCTIONS,
    adversaries=(_COMPRESSORS,),
    drawing=Drawing(classes_stated=True),
    domain=(sympy.Le(m, n, evaluate=False),),
    clients=(1, 2, 3, 3),
)

FEDCOMGATE = Setting(
    _COMPRESSED,
    letters=_letters(eta, gamma, K, omega),
    algorithm=fedcomgate.algorithm,
    functions=_FUNCTIONS,
    adversaries=(_COMPRESSORS,),
    drawing=Drawing(classes_stated=True, kinks=False),
    clients=(1, 2, 3),
)

CONSTANTS = Setting("all values of the constants")

# Hypotheses

CONVEX = Hypothesis(_CLASS, met=_FUNCTIONS.contains)

OF_EACH = Hypothesis("f_i mu-strongly convex and L_i-smooth, L_i <= L", met=GRADSKIP.functions.contains)  # type: ignore[union-attr]

INDEPENDENT = Hypothesis("the compressors are mutually independent", met=_COMPRESSORS.mutually_independent)

VARIANCE = Hypothesis("the compressors are in U(omega)", met=UnbiasedCompressors().contains)

LOJASIEWICZ = Hypothesis(
    "f mu-Polyak-Lojasiewicz and L-smooth, f_i L_i-smooth",
    met=EF21.functions.contains,  # type: ignore[union-attr]
)

CONTRACTIVE = Hypothesis("the compressors contract by 1 - alpha, 0 < alpha <= 1", met=_CONTRACTIONS.contains)

PROBABILITY = Hypothesis("0 < p <= 1", sympy.Le(p, 1, evaluate=False))

SMALL_STEP = Hypothesis("0 < gamma <= 1/L", sympy.Le(gamma, 1 / L, evaluate=False))

GRADSKIP_STEP = Hypothesis(
    "gamma <= min_i (1/L_i) p^2/(1 - q_i (1 - p^2))",
    met=of_each(lambda problem, params: params.p**2 - params.gamma * problem.f.L * (1 - params.q * (1 - params.p**2))),
)


def at_most(left: sympy.Expr, right: object, text: str) -> Hypothesis:
    """The hypothesis left <= right."""
    return Hypothesis(text, sympy.Le(left, right, evaluate=False))


def _equal(left: sympy.Expr, right: sympy.Expr, text: str) -> Hypothesis:
    return Hypothesis(text, sympy.Eq(left, right, evaluate=False))


# EF21: theta = 1 - sqrt(1 - alpha), beta = (1 - alpha)/theta, so sqrt(beta/theta) = sqrt(1 - alpha)/theta.
theta_ef21 = 1 - sympy.sqrt(1 - alpha)

ratio_ef21 = sympy.sqrt(1 - alpha) / theta_ef21


def ef21_step(factor: int) -> Hypothesis:
    """gamma (L + L~ sqrt(factor beta/theta)) <= 1, squared so that it is decided without roots."""
    root = "sqrt(beta/theta)" if factor == 1 else "sqrt(2 beta/theta)"
    squared = sympy.Le(
        factor * (1 - alpha) * L_tilde_2 * gamma**2, theta_ef21**2 * (1 - gamma * L) ** 2, evaluate=False
    )
    relation = sympy.And(squared, sympy.Le(gamma, 1 / L, evaluate=False))
    return Hypothesis(f"gamma <= 1/(L + L~ {root})", relation)


def _root(radicand: sympy.Expr) -> sympy.Expr:
    """A square root kept whole: sympy would split it into roots of factors, irrational where the whole is not."""
    return sympy.Pow(radicand, sympy.Rational(1, 2), evaluate=False)


_printed_p = Max(1, _root(n / (32 * omega)) - 1) / (2 * (1 + omega))

_printed_eta = n / (64 * omega * (2 * p * (omega + 1) + 1) ** 2 * L)

ADIANA_PARAMETERS = (
    Hypothesis("omega > 0", sympy.Gt(omega, 0, evaluate=False)),
    _equal(alpha, 1 / (1 + omega), "alpha = 1/(1 + omega)"),
    _equal(p, Min(1, _printed_p), "p = min{1, max{1, sqrt(n/(32 omega)) - 1}/(2 (1 + omega))}"),
    _equal(eta, Min(1 / (2 * L), _printed_eta), "eta = min{1/(2L), n/(64 omega (2p(omega+1)+1)^2 L)}"),
    _equal(theta_1, Min(sympy.Rational(1, 4), _root(eta * mu / p)), "theta_1 = min{1/4, sqrt(eta mu/p)}"),
    _equal(theta_2, sympy.Rational(1, 2), "theta_2 = 1/2"),
    _equal(gamma, eta / (2 * (theta_1 + eta * mu)), "gamma = eta/(2 (theta_1 + eta mu))"),
    _equal(beta, 1 - gamma * mu, "beta = 1 - gamma mu"),
)

#: 5GCS-CC: smoothness of the F_m, and the inflation (n/m)(1 + omega) of the dual noise.
L_F = (L - mu) / n

inflation = n / m * (1 + omega)
