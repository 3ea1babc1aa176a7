"""LoCoDL, Section 3 and Tables 1 and 2: complexities, derived from the theorems and compared as orders.

Factors log(1/epsilon) are left out on both sides, as in the tables.
"""

from __future__ import annotations

from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.experiment import Experiment
from fedtheory.kinds.order import Order
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.kinds.readings import Readings
from fedtheory.kinds.untested import Untested
from fedtheory.numbers.symbols import Max, Min
from fedtheory.papers.locodl.method import L, chi, d, gamma, k, kappa, mu, n, omega, omega_av, p, tau
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis

sqrt = sympy.sqrt
ORDERS = Setting("all values of the constants")
CONSTANTS = Setting("all values of the constants")

_KAPPA = sympy.Ge(kappa, 1, evaluate=False)
_K = sympy.Le(k, d, evaluate=False)
_JOINT = sympy.Le(omega_av, omega, evaluate=False)
_CONDITION = Hypothesis("kappa >= 1", _KAPPA)

#: Rounds of each method, first column of Table 1, as printed.
TABLE_1: dict[str, Any] = {
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
TABLE_1_REGIMES: dict[str, tuple[Any, Any]] = {
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
TABLE_2: dict[str, tuple[Any, Any]] = {
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


def _iterations(factor: Any) -> Any:
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
_rounds_theorem = P_8 * _iterations(RATE.subs(p, P_8))
_rounds_reals = (k * _rounds_general).subs(omega_av, omega / n).subs(omega, d / k - 1)
_uplink = sqrt(d) * sqrt(kappa) + d * sqrt(kappa) / sqrt(n) + d


def _order(
    id: str, where: str, gist: str, statement: Any, reading: str = "", kind: str = "order", **more: Any
) -> Claim:
    return Claim(
        id=f"locodl/{id}",
        where=where,
        kind=kind,
        gist=gist,
        setting=ORDERS,
        statement=statement,
        requires=(_CONDITION,),
        reading=reading,
        **more,
    )


_READING_UPLINK = "eq. (10), to which the sentence refers, for n >= d^2, where its second term is at most its first"
UPLINK = (
    _order(
        "uplink",
        "Section 1.2",
        "uplink complexity when n is large: sqrt(d) sqrt(kappa), and the term d that does not depend on kappa",
        Order(_uplink, sqrt(d) * sqrt(kappa) + d, when=(sympy.Ge(n, d**2, evaluate=False),)),
        f"{_READING_UPLINK}. The sentence leaves out the term d, which Section 3 has where it says the same",
    ),
    _order(
        "uplink/literal",
        "Section 1.2",
        "uplink complexity when n is large, without the term d of eq. (10)",
        Order(_uplink, sqrt(d) * sqrt(kappa), when=(sympy.Ge(n, d**2, evaluate=False),)),
        f"{_READING_UPLINK}. Where d exceeds kappa the term d is not negligible",
        literal_of="locodl/uplink",
    ),
)

_WHOLE_MODELS = _order(
    "downlink#whole-models",
    "Section 1.2",
    "of first-order methods whose server sends a model of d reals in each round",
    Order(d * sqrt(kappa), d / sympy.log((sqrt(kappa) + 1) / (sqrt(kappa) - 1)), large=kappa),
    "after t rounds |x^t - x*|^2 is at least ((sqrt(kappa) - 1)/(sqrt(kappa) + 1))^(2t) |x^0 - x*|^2 for some f "
    "(Nesterov 2004, Theorem 2.1.13), n = 1",
)
_ALL_THAT_IS_KNOWN = _order(
    "downlink#all-that-is-known",
    "Section 1.2",
    "of any method, whatever its clients send",
    Order(d * sqrt(kappa), d),
    "clients send the data of which their f_i are made, and the server x*, in d reals: d sqrt(kappa) is not O(d)",
)

_large, _few = sympy.Ge(n, d, evaluate=False), sympy.Le(n, 2, evaluate=False)
_in_k = (sqrt(k * d) + d / sqrt(n)) * sqrt(kappa) + d * (1 + d / (k * n))
_gd = Max(1 - gamma * mu, gamma * L - 1) ** 2
NO_HARM = Claim(
    id="locodl/no-harm",
    where="Section 3",
    kind="property",
    gist="same rate as gradient descent while p^2 chi/(1+2 omega) is large enough",
    setting=CONSTANTS,
    statement=ParameterRule({}, (sympy.Eq(tau, _gd, evaluate=False),)),
    requires=(
        Hypothesis("mu <= L", sympy.Le(mu, L, evaluate=False)),
        Hypothesis("communication is no bottleneck", sympy.Le(1 - p**2 * chi / (1 + 2 * omega), _gd, evaluate=False)),
    ),
)

_READING_C = "gamma = c/L with 1/10 <= c <= 19/10; other ends, between 0 and 2, change the constant of the order alone"
SECTION_3 = (
    _order(
        "eq-7",
        "eq. (7)",
        "iteration complexity from (5) and (6)",
        Order(
            _iterations(RATE_OF_C),
            kappa + (1 + omega_av) * (1 + omega) / p**2,
            when=(_JOINT, sympy.Le(p, 1, evaluate=False), *_THETA),
        ),
        _READING_C,
    ),
    _order(
        "eq-8",
        "eq. (8)",
        "choice of p, and the complexity in rounds",
        Order(
            _iterations(RATE_OF_C.subs(p, P_8)),
            kappa + omega * (1 + omega_av),
            when=(_JOINT, *_THETA),
            also=(Order(P_8 * _iterations(RATE_OF_C.subs(p, P_8)), _rounds_general, when=(_JOINT, *_THETA)),),
        ),
        f"{_READING_C}; omega_av <= omega, which is always valid",
        "parameter-rule",
    ),
    _order(
        "rounds-independent",
        "Section 3",
        "rounds with independent compressors",
        Order(_rounds_general.subs(omega_av, omega / n), TABLE_1["locodl"], both=True),
    ),
    Claim(
        id="locodl/corollary-3.2/eq-9",
        where="Corollary 3.2",
        kind="identity",
        gist="p for independent rand-k",
        setting=Setting("all n, d and k <= d", domain=(_K,)),
        statement=ParameterRule(
            {omega: d / k - 1},
            (
                sympy.Eq((1 + omega / n) * (1 + omega), (d * k * (n - 1) + d**2) / (n * k**2), evaluate=False),
                sympy.Eq(1 / (1 + omega / n), n / (n - 1 + d / k), evaluate=False),
            ),
        ),
        reading="the square of p times kappa, where it is below 1; with it chi = rho of eq. (6)",
    ),
    _order(
        "corollary-3.2/eq-10",
        "Corollary 3.2",
        "uplink reals with k = ceil(d/n)",
        Order(_rounds_reals.subs(k, sympy.ceiling(d / n)), _uplink),
    ),
    _order(
        "regimes",
        "Section 3",
        "the two regimes, and ADIANA when n is of order d^2",
        Order(
            _uplink,
            d * sqrt(kappa) / sqrt(n) + d,
            when=(sympy.Le(n, d, evaluate=False),),
            also=(
                Order(_uplink, sqrt(d) * sqrt(kappa) + d, when=(sympy.Ge(n, d, evaluate=False),)),
                Order(TABLE_2["adiana-refined"][0], sqrt(kappa) + d, when=(sympy.Ge(n, d**2, evaluate=False),)),
            ),
        ),
    ),
)

_mu_split, _L_split = mu / 2, L - mu / 2
CONSTANTS_31 = Claim(
    id="locodl/section-3.1/constants",
    where="Section 3.1",
    kind="identity",
    gist="L~ = L - mu/2, mu~ = mu/2 and kappa <= kappa~ <= 2 kappa",
    setting=CONSTANTS,
    statement=ParameterRule(
        {},
        (
            sympy.Le(L / mu, _L_split / _mu_split, evaluate=False),
            sympy.Le(_L_split / _mu_split, 2 * L / mu, evaluate=False),
            # f_i loses the curvature mu/2 that g gets; g's own lies between the two constants.
            sympy.Eq(mu - mu / 2, _mu_split, evaluate=False),
            sympy.Le(mu / 2, _L_split, evaluate=False),
        ),
    ),
    requires=(Hypothesis("mu <= L", sympy.Le(mu, L, evaluate=False)),),
)

# Table 1: iterations that the theorems of the methods grant (see the claims baseline/...).
_step_diana = 1 / (kappa * (1 + 6 * omega / n))
_theta = 1 - sqrt(1 - 1 / (1 + omega))
_ratio_ef21 = sqrt(2 * (1 - 1 / (1 + omega))) / _theta
_gamma_5gcs = 1 / sqrt(kappa * (1 + omega) * (1 + omega / n))
_p_adiana = Min(1, Max(1, sqrt(n / (32 * omega)) - 1) / (2 * (1 + omega)))
_eta_adiana = Min(sympy.Rational(1, 2), n / (64 * omega * (2 * _p_adiana * (omega + 1) + 1) ** 2)) / kappa
_theta_adiana = Min(sympy.Rational(1, 4), sqrt(_eta_adiana / _p_adiana))
#: Iterations (for LoCoDL rounds) that the theorem of each method grants, in units of log(1/epsilon).
FROM_THEOREMS: dict[str, Any] = {
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
CHOICE_SCAFFNEW: dict[sympy.Symbol, Any] = {
    p: Min(1, sqrt(n / (s * kappa))),
    s: Max(2, sympy.floor(n / d)),
}
_SOURCES = {
    "adiana-refined": "He et al. (2023): no theorem here implies it, as the parameters of theirs were not at hand",
    "lower-bound": "He et al. (2023): no theorem here implies it; that no method here beats it is "
    "table-1/lower-bound/consistency",
}
_POSITIVE = sympy.Gt(omega, 0, evaluate=False)


def _row(name: str, gist: str) -> Claim:
    if name in _SOURCES:
        statement: Any = Untested(str(TABLE_1[name]), f"cited from {_SOURCES[name]}")
    else:
        statement = Order(FROM_THEOREMS[name], TABLE_1[name], when=(_POSITIVE,))
    reading = "" if name in _SOURCES else "1/(1 - rate) of the method's own theorem with its best parameters"
    return _order(f"table-1/{name}", "Table 1", gist, statement, reading)


def _all_of(orders: list[Order]) -> Order:
    first, *rest = orders
    return Order(first.left, first.right, both=first.both, when=first.when, also=tuple(rest))


_small = (_POSITIVE, sympy.Le(omega, n, evaluate=False))
_equal = (_POSITIVE, sympy.Le(omega, 2 * n, evaluate=False), sympy.Ge(2 * omega, n, evaluate=False))
TABLES = (
    _row("diana", "rounds of DIANA"),
    _row("ef21", "rounds of EF21"),
    _row("5gcs-cc", "rounds of 5GCS-CC"),
    _row("adiana-original", "rounds of ADIANA, Li et al."),
    _row("adiana-refined", "rounds of ADIANA, He et al."),
    _row("lower-bound", "rounds of the lower bound"),
    _order(
        "table-1/lower-bound/consistency",
        "Table 1",
        "no row of a method of the table is below that of the lower bound",
        _all_of(
            [
                Order(TABLE_1["lower-bound"], TABLE_1[name])
                for name in ("diana", "ef21", "5gcs-cc", "adiana-original", "locodl")
            ]
        ),
        "no lower bound: the row is compared with five others, which follow from theorems (table-1/diana and so on)",
    ),
    _row("locodl", "rounds of LoCoDL"),
    _order(
        "table-1/regimes",
        "Table 1",
        "the columns omega = O(n) and omega = Theta(n) follow from the first",
        _all_of(
            [
                Order(TABLE_1[name], column, both=True, when=regime)
                for name, columns in TABLE_1_REGIMES.items()
                for column, regime in zip(columns, (_small, _equal), strict=True)
            ]
        ),
    ),
    _order(
        "table-2/from-table-1",
        "Table 2",
        "each row that has one in Table 1 follows from it by rand-k with the best k",
        _all_of(
            [
                order
                for name, best in BEST_K.items()
                for order in (
                    Order((k * TABLE_1[name]).subs(omega, d / k - 1).subs(k, best), TABLE_2[name][0]),
                    Order(TABLE_2[name][0], (k * TABLE_1[name]).subs(omega, d / k - 1), when=(_K,)),
                )
            ]
        ),
        "the printed entry is reached with k = 1, for LoCoDL k = ceil(d/n), and no k does better than a constant",
    ),
    _order(
        "table-2/compressedscaffnew",
        "Table 2",
        "reals that CompressedScaffnew sends",
        Order(
            (REALS_SCAFFNEW * p * ITERATIONS_SCAFFNEW).subs(p, CHOICE_SCAFFNEW[p]).subs(s, CHOICE_SCAFFNEW[s]),
            TABLE_2["compressedscaffnew"][0],
            when=(sympy.Ge(n, 2, evaluate=False),),
        ),
        "ceil(s d/n) reals a round and the iterations of its theorem, with s = max(2, floor(n/d)) and "
        "p = min(1, sqrt(n/(s kappa)))",
    ),
    _order(
        "table-2/fedcomgate",
        "Table 2",
        "reals that FedCOMGATE sends",
        Order(d * _iterations((1 - 1 / kappa) ** 2), TABLE_2["fedcomgate"][0]),
        "with k = d, messages sent as they are, and one local step FedCOMGATE is gradient descent, as the sum of the "
        "corrections is 0: d reals in each of the rounds of baseline/gradient-descent/one-step. That fewer reals a "
        "round lead to the same is not said: with the stepsizes that belong to the row FedCOMGATE does not converge "
        "for every omega (baseline/fedcomgate/limit), nor so for k = 1",
    ),
    _order(
        "table-2/regime",
        "Table 2",
        "the column n = O(d) follows",
        _all_of(
            [
                Order(first, column, both=True, when=(sympy.Le(n, d, evaluate=False),))
                for first, column in TABLE_2.values()
            ]
        ),
    ),
)


SENTENCES = (
    _order(
        "diana-large-n",
        "Section 1.2",
        "DIANA: from d kappa to kappa + d for large n",
        Order(
            FROM_THEOREMS["diana"].subs(omega, d - 1),
            kappa + d,
            when=(_large,),
            also=(Order(TABLE_2["diana"][0], kappa + d, both=True, when=(_large,)), Order(kappa + d, d * kappa)),
        ),
        "for n >= d: from DIANA's own theorem with rand-1, omega = d - 1, and from Table 2; it is no more than the d "
        "kappa "
        "of gradient descent",
    ),
    _order(
        "uplink/small-n",
        "Section 1.2",
        "the half about small n",
        Order(_uplink, d * sqrt(kappa), also=(Order(d * sqrt(kappa), _uplink, when=(_few,)),)),
        "d sqrt(kappa), of eq. (10): for every n it is enough, and for n <= 2 no less is granted",
    ),
    _order(
        "downlink",
        "Section 1.2",
        "downlink of at least d sqrt(kappa)",
        Readings(
            "of which methods it is that the downlink cannot be reduced further is not said",
            (_WHOLE_MODELS, _ALL_THAT_IS_KNOWN),
        ),
        "true of first-order methods whose server sends whole models, as there is one round for each of them, and not "
        "where nothing limits what clients may send. The rate that Tyurin and Richtarik (2023b), whom the sentence "
        "cites, state of 2Direction, sqrt((omega + 1) kappa/alpha) + sqrt(omega^2 kappa/n) + 1/alpha + omega rounds, "
        "lies between: where clients send all (omega = 0) and the server one coordinate (alpha = 1/d), sqrt(d kappa) + "
        "d reals; it is not tested here",
    ),
    _order(
        "before-corollary-3.2",
        "Section 3, before Corollary 3.2",
        "the display in k",
        Order(
            (k * TABLE_1["locodl"]).subs(omega, d / k - 1),
            _in_k,
            both=True,
            when=(_K,),
            also=(Order(_in_k.subs(k, sympy.ceiling(d / n)), _in_k, when=(_K,)),),
        ),
        "k times the rounds with omega = d/k - 1; and no k does better than k = ceil(d/n), but for a constant",
    ),
)


def _experiment(
    name: str, where: str, gist: str, text: str, figures: tuple[str, ...], about: tuple[str, ...] = ()
) -> Claim:
    return Claim(
        id=f"locodl/{name}",
        where=where,
        kind="experiment",
        gist=gist,
        setting=ORDERS,
        statement=Experiment(text, figures=tuple(f"locodl/{figure}" for figure in figures), about=about),
        reading=_TUNED,
    )


_FEWER = "LoCoDL needs fewer bits than all others"
_TUNED = (
    "every method with the parameters of its theorem, as the text says, and ours (tuned): with the best of a grid "
    "about its stepsize, the same grid for all"
)


def _twice(*numbers: int) -> tuple[str, ...]:
    """Figures as printed, and with stepsizes that are tuned."""
    return tuple(f"figure-{number}{tuned}" for number in numbers for tuned in ("", "/tuned"))


EXPERIMENTS = (
    _experiment(
        "figures-1-3",
        "Figures 1-3",
        "bits against accuracy: a5a, diabetes, w1a",
        _FEWER,
        _twice(1, 2, 3),
    ),
    _experiment(
        "figures-4-7",
        "Figures 4-7",
        "australian, covtype, MNIST 7/8, Dirichlet synthetic",
        _FEWER,
        _twice(4, 5, 6, 7),
    ),
)
MORE_EXPERIMENTS = (
    _experiment(
        "section-4/fastest",
        "Section 4",
        "the fastest combination",
        "with rand-k and natural compression together LoCoDL needs fewer bits than with one of them, and than all "
        "others",
        _twice(1, 2, 3),
        ("LoCoDL with rand-k and natural", "LoCoDL needs fewer bits with rand-k and natural"),
    ),
    _experiment(
        "section-4/adiana-k",
        "Section 4",
        "ADIANA with k = 20 against 30",
        "in Figure 1 ADIANA needs somewhat fewer bits with k = 20 than with k = 30",
        ("section-4",),
    ),
)
