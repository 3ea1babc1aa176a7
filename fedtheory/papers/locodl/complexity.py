"""LoCoDL, Section 3: complexities, derived from the theorems and compared as orders; what Section 1.2 says of them.

Factors log(1/epsilon) are left out on both sides, as in the tables.
"""

from __future__ import annotations

from typing import Any

import sympy

from fedtheory.kinds.order import Order
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.kinds.readings import Readings
from fedtheory.numbers.symbols import Max, Min
from fedtheory.papers.locodl.setting import (
    CONSTANTS,
    ORDERED,
    L,
    chi,
    d,
    gamma,
    k,
    kappa,
    mu,
    n,
    omega,
    omega_av,
    p,
    section,
    tau,
)
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis

sqrt = sympy.sqrt
CONDITION = Hypothesis("kappa >= 1", sympy.Ge(kappa, 1, evaluate=False))
FEWER_COORDINATES = sympy.Le(k, d, evaluate=False)
_JOINT = sympy.Le(omega_av, omega, evaluate=False)

#: Rounds of each method, first column of Table 1, as printed.
TABLE_1: dict[str, sympy.Expr] = {
    "diana": (1 + omega / n) * kappa + omega,
    "ef21": (1 + omega) * kappa,
    "5gcs-cc": (1 + sqrt(omega) + omega / sqrt(n)) * sqrt(kappa) + omega,
    "adiana-original": (1 + omega ** sympy.Rational(3, 4) / n ** sympy.Rational(1, 4) + omega / sqrt(n)) * sqrt(kappa)
    + omega,
    "adiana-refined": (1 + omega / sqrt(n)) * sqrt(kappa) + omega,
    "lower-bound": (1 + omega / sqrt(n)) * sqrt(kappa) + omega,
    "locodl": (1 + sqrt(omega) + omega / sqrt(n)) * sqrt(kappa) + omega * (1 + omega / n),
}
_three_quarters = omega ** sympy.Rational(3, 4) / n ** sympy.Rational(1, 4)
#: The columns for omega = O(n) and for omega = Theta(n), as printed.
TABLE_1_REGIMES: dict[str, tuple[sympy.Expr, sympy.Expr]] = {
    "diana": (kappa + omega, kappa + omega),
    "ef21": ((1 + omega) * kappa, (1 + omega) * kappa),
    "5gcs-cc": ((1 + sqrt(omega)) * sqrt(kappa) + omega,) * 2,
    "adiana-original": ((1 + _three_quarters) * sqrt(kappa) + omega, (1 + sqrt(omega)) * sqrt(kappa) + omega),
    "adiana-refined": (TABLE_1["adiana-refined"], (1 + sqrt(omega)) * sqrt(kappa) + omega),
    "lower-bound": (TABLE_1["lower-bound"], (1 + sqrt(omega)) * sqrt(kappa) + omega),
    "locodl": ((1 + sqrt(omega)) * sqrt(kappa) + omega,) * 2,
}
_double = (sqrt(d) + d / sqrt(n)) * sqrt(kappa) + d
#: Uplink reals of each method, first column of Table 2, and the column n = O(d), as printed.
TABLE_2: dict[str, tuple[sympy.Expr, sympy.Expr]] = {
    "diana": ((1 + d / n) * kappa + d, d / n * kappa + d),
    "ef21": (d * kappa, d * kappa),
    "5gcs-cc": (_double, d / sqrt(n) * sqrt(kappa) + d),
    "adiana-refined": ((1 + d / sqrt(n)) * sqrt(kappa) + d, d / sqrt(n) * sqrt(kappa) + d),
    "compressedscaffnew": (_double, d / sqrt(n) * sqrt(kappa) + d),
    "fedcomgate": (d * kappa, d * kappa),
    "locodl": (_double, d / sqrt(n) * sqrt(kappa) + d),
}
#: k of rand-k that is best for each method, up to constants.
BEST_K: dict[str, Any] = {"diana": 1, "ef21": 1, "5gcs-cc": 1, "adiana-refined": 1, "locodl": sympy.ceiling(d / n)}


def iterations(factor: object) -> Any:
    """Iterations an accuracy digit: 1/log(1/factor)."""
    return -1 / sympy.log(factor)


#: gamma L, which the paper says to be of the order of 1, and how far it is followed.
c = sympy.Symbol("c", positive=True)
_THETA = (sympy.Ge(c, sympy.Rational(1, 10), evaluate=False), sympy.Le(c, sympy.Rational(19, 10), evaluate=False))
#: The rate of Theorem 3.1 with eq. (6), for gamma = c/L and 1/L, and the probability of communication of eq. (8).
RATE_OF_C = Max((1 - c / kappa) ** 2, (1 - c) ** 2, 1 - p**2 / ((1 + omega_av) * (1 + 2 * omega)))
RATE = Max((1 - 1 / kappa) ** 2, 1 - p**2 / ((1 + omega_av) * (1 + 2 * omega)))
P_8 = Min(sqrt((1 + omega_av) * (1 + omega) / kappa), 1)
_rounds_general = sqrt(kappa * (1 + omega_av) * (1 + omega)) + omega * (1 + omega_av)
_rounds_theorem = P_8 * iterations(RATE.subs(p, P_8))
_rounds_reals = (k * _rounds_general).subs(omega_av, omega / n).subs(omega, d / k - 1)
_uplink = sqrt(d) * sqrt(kappa) + d * sqrt(kappa) / sqrt(n) + d


# Table 1: iterations that the theorems of the methods grant (see the claims baseline/...).
_step_diana = 1 / (kappa * (1 + 6 * omega / n))
_theta = 1 - sqrt(1 - 1 / (1 + omega))
_ratio_ef21 = sqrt(2 * (1 - 1 / (1 + omega))) / _theta
_gamma_5gcs = 1 / sqrt(kappa * (1 + omega) * (1 + omega / n))
_p_adiana = Min(1, Max(1, sqrt(n / (32 * omega)) - 1) / (2 * (1 + omega)))
_eta_adiana = Min(sympy.Rational(1, 2), n / (64 * omega * (2 * _p_adiana * (omega + 1) + 1) ** 2)) / kappa
_theta_adiana = Min(sympy.Rational(1, 4), sqrt(_eta_adiana / _p_adiana))
#: Iterations (for LoCoDL rounds) that the theorem of each method grants, in units of log(1/epsilon).
FROM_THEOREMS: dict[str, sympy.Expr] = {
    "diana": Max(1 / _step_diana, 2 * (1 + omega)),
    "ef21": Max(kappa * (1 + _ratio_ef21), 2 / _theta),
    "5gcs-cc": Max(1 + 1 / _gamma_5gcs, (1 + omega) * (1 + kappa * _gamma_5gcs * (1 + omega / n) / 2)),
    "adiana-original": Max(
        2 * (_theta_adiana + _eta_adiana) / _eta_adiana,
        2 / _theta_adiana,
        (1 + _theta_adiana) / (_p_adiana * _theta_adiana),
        2 * (1 + omega),
    ),
    "locodl": _rounds_theorem.subs(omega_av, omega / n),
}
#: CompressedScaffnew: clients that send each coordinate.
s = sympy.Symbol("s", integer=True, positive=True)
#: Iterations that its theorem grants, reals that a client sends a round, and its choice of p and s (in that order).
ITERATIONS_SCAFFNEW = Max(kappa, (n - 1) ** 2 * s / (p**2 * n * (s - 1) ** 2))
REALS_SCAFFNEW = sympy.ceiling(s * d / n)
CHOICE_SCAFFNEW: dict[sympy.Symbol, sympy.Expr] = {p: Min(1, sqrt(n / (s * kappa))), s: Max(2, sympy.floor(n / d))}

introduction = section("Section 1.2", CONSTANTS, CONDITION, id="")
_READING_UPLINK = "eq. (10), to which the sentence refers, for n >= d^2, where its second term is at most its first"
UPLINK = (
    introduction(
        "uplink",
        Order(_uplink, sqrt(d) * sqrt(kappa) + d, when=(sympy.Ge(n, d**2, evaluate=False),)),
        "uplink complexity when n is large: sqrt(d) sqrt(kappa), and the term d that does not depend on kappa",
        tex=r"\mathcal{O}\left(d\sqrt{\kappa}\log\epsilon^{-1}\right), "
        r"\mathcal{O}\left(\sqrt{d}\sqrt{\kappa}\log\epsilon^{-1}\right)",
        uses=("corollary-3.2/eq-10",),
        reading=f"{_READING_UPLINK}. The sentence leaves out the term d, which Section 3 has where it says the same",
    ),
    introduction(
        "uplink/literal",
        Order(_uplink, sqrt(d) * sqrt(kappa), when=(sympy.Ge(n, d**2, evaluate=False),)),
        "uplink complexity when n is large, without the term d of eq. (10)",
        tex=r"\mathcal{O}\left(\sqrt{d}\sqrt{\kappa}\log\epsilon^{-1}\right)",
        uses=("corollary-3.2/eq-10",),
        reading=f"{_READING_UPLINK}. Where d exceeds kappa the term d is not negligible",
        literal_of="uplink",
        flaw="For n >= d^2 eq. (10) is sqrt(d) sqrt(kappa) + d. The introduction keeps the first of the two, which is "
        "the smaller one where d exceeds kappa.",
    ),
)

_WHOLE_MODELS = introduction(
    "downlink#whole-models",
    Order(d * sqrt(kappa), d / sympy.log((sqrt(kappa) + 1) / (sqrt(kappa) - 1)), large=kappa),
    "of first-order methods whose server sends a model of d reals in each round",
    origin="",
    reading="after t rounds |x^t - x*|^2 is at least ((sqrt(kappa) - 1)/(sqrt(kappa) + 1))^(2t) |x^0 - x*|^2 for some "
    "f (Nesterov 2004, Theorem 2.1.13), n = 1",
)
_ALL_THAT_IS_KNOWN = introduction(
    "downlink#all-that-is-known",
    Order(d * sqrt(kappa), d),
    "of any method, whatever its clients send",
    origin="",
    reading="clients send the data of which their f_i are made, and the server x*, in d reals: d sqrt(kappa) is not "
    "O(d)",
)
_large, _few = sympy.Ge(n, d, evaluate=False), sympy.Le(n, 2, evaluate=False)
SENTENCES = (
    introduction(
        "diana-large-n",
        Order(
            FROM_THEOREMS["diana"].subs(omega, d - 1),
            kappa + d,
            when=(_large,),
            also=(Order(TABLE_2["diana"][0], kappa + d, both=True, when=(_large,)), Order(kappa + d, d * kappa)),
        ),
        "DIANA: from d kappa to kappa + d for large n",
        tex=r"\mathcal{O}\big((\kappa+d)\log\epsilon^{-1}\big)",
        uses=("table-1/diana", "table-2/from-table-1"),
        reading="for n >= d: from DIANA's own theorem with rand-1, omega = d - 1, and from Table 2; it is no more than "
        "the d kappa of gradient descent",
    ),
    introduction(
        "uplink/small-n",
        Order(_uplink, d * sqrt(kappa), also=(Order(d * sqrt(kappa), _uplink, when=(_few,)),)),
        "the half about small n",
        tex=r"\mathcal{O}\left(d\sqrt{\kappa}\log\epsilon^{-1}\right)",
        uses=("corollary-3.2/eq-10",),
        reading="d sqrt(kappa), of eq. (10): for every n it is enough, and for n <= 2 no less is granted",
    ),
    introduction(
        "downlink",
        Readings(
            "of which methods it is that the downlink cannot be reduced further is not said",
            (_WHOLE_MODELS, _ALL_THAT_IS_KNOWN),
        ),
        "downlink of at least d sqrt(kappa)",
        kind="order",
        tex=r"\mathcal{O}\left(d\sqrt{\kappa}\log\epsilon^{-1}\right)",
        reading="true of first-order methods whose server sends whole models, as there is one round for each of them, "
        "and not where nothing limits what clients may send. The rate that Tyurin and Richtarik (2023b), whom the "
        "sentence cites, state of 2Direction, sqrt((omega + 1) kappa/alpha) + sqrt(omega^2 kappa/n) + 1/alpha + omega "
        "rounds, lies between: where clients send all (omega = 0) and the server one coordinate (alpha = 1/d), "
        "sqrt(d kappa) + d reals; it is not tested here",
        flaw="No proof is printed, and no class of methods named: that all clients receive the same message says how "
        "many reals are due only where each round takes a whole model.",
    ),
)

_gd = Max(1 - gamma * mu, gamma * L - 1) ** 2
section_3 = section("Section 3", CONSTANTS, CONDITION, id="")
corollary_32 = section("Corollary 3.2", CONSTANTS, CONDITION)
NO_HARM = section_3(
    "no-harm",
    ParameterRule({}, (sympy.Eq(tau, _gd, evaluate=False),)),
    "same rate as gradient descent while p^2 chi/(1+2 omega) is large enough",
    kind="property",
    tex=r"1-\frac{p^{2}\chi}{1+2\omega}\leq\max(1-\gamma\mu,\gamma L-1)^{2}",
    requires=(
        ORDERED,
        Hypothesis("communication is no bottleneck", sympy.Le(1 - p**2 * chi / (1 + 2 * omega), _gd, evaluate=False)),
    ),
)

_READING_C = "gamma = c/L with 1/10 <= c <= 19/10; other ends, between 0 and 2, change the constant of the order alone"
_in_k = (sqrt(k * d) + d / sqrt(n)) * sqrt(kappa) + d * (1 + d / (k * n))
SECTION_3 = (
    section_3(
        "eq-7",
        Order(
            iterations(RATE_OF_C),
            kappa + (1 + omega_av) * (1 + omega) / p**2,
            when=(_JOINT, sympy.Le(p, 1, evaluate=False), *_THETA),
        ),
        "iteration complexity from (5) and (6)",
        where="eq. (7)",
        tex=r"\mathcal{O}\left(\left(\kappa+\frac{(1+\omega_{\mathrm{av}})(1+\omega)}{p^{2}}\right)\log\epsilon^{-1}"
        r"\right)",
        uses=("theorem-3.1/eq-5", "eq-6"),
        reading=_READING_C,
    ),
    section_3(
        "eq-8",
        Order(
            iterations(RATE_OF_C.subs(p, P_8)),
            kappa + omega * (1 + omega_av),
            when=(_JOINT, *_THETA),
            also=(Order(P_8 * iterations(RATE_OF_C.subs(p, P_8)), _rounds_general, when=(_JOINT, *_THETA)),),
        ),
        "choice of p, and the complexity in rounds",
        where="eq. (8)",
        kind="parameter-rule",
        tex=r"p=\min\left(\sqrt{\frac{(1+\omega_{\mathrm{av}})(1+\omega)}{\kappa}},1\right)",
        uses=("eq-7",),
        reading=f"{_READING_C}; omega_av <= omega, which is always valid",
    ),
    section_3(
        "rounds-independent",
        Order(_rounds_general.subs(omega_av, omega / n), TABLE_1["locodl"], both=True),
        "rounds with independent compressors",
        tex=r"\mathcal{O}\left(\left(\left(1+\sqrt{\omega}+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+\omega\left(1+"
        r"\frac{\omega}{n}\right)\right)\log\epsilon^{-1}\right)",
        uses=("eq-8", "eq-3/independent"),
    ),
    corollary_32(
        "eq-9",
        ParameterRule(
            {omega: d / k - 1},
            (
                sympy.Eq((1 + omega / n) * (1 + omega), (d * k * (n - 1) + d**2) / (n * k**2), evaluate=False),
                sympy.Eq(1 / (1 + omega / n), n / (n - 1 + d / k), evaluate=False),
            ),
        ),
        "p for independent rand-k",
        kind="identity",
        setting=Setting("all n, d and k <= d", domain=(FEWER_COORDINATES,)),
        requires=(),
        tex=r"p=\min\left(\sqrt{\frac{dk(n-1)+d^{2}}{nk^{2}\kappa}},1\right)",
        uses=("eq-8", "eq-2/rand-k", "eq-3/independent"),
        reading="the square of p times kappa, where it is below 1; with it chi = rho of eq. (6)",
    ),
    corollary_32(
        "eq-10",
        Order(_rounds_reals.subs(k, sympy.ceiling(d / n)), _uplink),
        "uplink reals with k = ceil(d/n)",
        tex=r"\mathcal{O}\left(\left(\sqrt{d}\sqrt{\kappa}+\frac{d\sqrt{\kappa}}{\sqrt{n}}+d\right)\log\epsilon^{-1}"
        r"\right)",
        uses=("rounds-independent", "eq-2/rand-k"),
    ),
    section_3(
        "regimes",
        Order(
            _uplink,
            d * sqrt(kappa) / sqrt(n) + d,
            when=(sympy.Le(n, d, evaluate=False),),
            also=(
                Order(_uplink, sqrt(d) * sqrt(kappa) + d, when=(sympy.Ge(n, d, evaluate=False),)),
                Order(TABLE_2["adiana-refined"][0], sqrt(kappa) + d, when=(sympy.Ge(n, d**2, evaluate=False),)),
            ),
        ),
        "the two regimes, and ADIANA when n is of order d^2",
        tex=r"\mathcal{O}\left(\left(\frac{d\sqrt{\kappa}}{\sqrt{n}}+d\right)\log\epsilon^{-1}\right), \quad "
        r"\mathcal{O}\left(\left(\sqrt{d}\sqrt{\kappa}+d\right)\log\epsilon^{-1}\right), \quad "
        r"\mathcal{O}\left(\left(\sqrt{\kappa}+d\right)\log\epsilon^{-1}\right)",
        uses=("corollary-3.2/eq-10",),
    ),
)
BEFORE_COROLLARY_32 = section_3(
    "before-corollary-3.2",
    Order(
        (k * TABLE_1["locodl"]).subs(omega, d / k - 1),
        _in_k,
        both=True,
        when=(FEWER_COORDINATES,),
        also=(Order(_in_k.subs(k, sympy.ceiling(d / n)), _in_k, when=(FEWER_COORDINATES,)),),
    ),
    "the display in k",
    where="Section 3, before Corollary 3.2",
    tex=r"\mathcal{O}\left(\left(\left(\sqrt{kd}+\frac{d}{\sqrt{n}}\right)\sqrt{\kappa}+d\left(1+\frac{d}{kn}\right)"
    r"\right)\log\epsilon^{-1}\right)",
    uses=("rounds-independent", "eq-2/rand-k"),
    reading="k times the rounds with omega = d/k - 1; and no k does better than k = ceil(d/n), but for a constant",
)

_mu_split, _L_split = mu / 2, L - mu / 2
CONSTANTS_31 = section("Section 3.1", CONSTANTS, ORDERED)(
    "constants",
    ParameterRule(
        {},
        (
            sympy.Le(L / mu, _L_split / _mu_split, evaluate=False),
            sympy.Le(_L_split / _mu_split, 2 * L / mu, evaluate=False),
            # f_i loses the curvature mu/2 that g gets; g's own lies between the two constants.
            sympy.Eq(mu - mu / 2, _mu_split, evaluate=False),
            sympy.Le(mu / 2, _L_split, evaluate=False),
        ),
    ),
    "L~ = L - mu/2, mu~ = mu/2 and kappa <= kappa~ <= 2 kappa",
    kind="identity",
    tex=r"\kappa\leq\tilde{\kappa}\coloneqq\frac{\tilde{L}}{\tilde{\mu}}\leq 2\kappa",
)
