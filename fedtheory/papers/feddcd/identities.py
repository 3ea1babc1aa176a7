"""FedDCD: weights of the identities that prove its theorems for all parameters.

The vectors and the letters besides alpha, beta and delta are those of the models of steps in :mod:`verify.step_models`.
"""

from __future__ import annotations

import sympy

from fedtheory.settings import SumOfSquares

alpha, beta, delta = sympy.symbols("alpha beta delta", positive=True)
#: r and tau/N; by how much a number exceeds what it must.
r, q = sympy.symbols("r q", nonnegative=True)
s_F, s_D, s_r, s_q, s_1, s_x = sympy.symbols("s_F s_D s_r s_q s_1 s_x", nonnegative=True)

_kappa, _A = r * alpha / (32 * beta), 3 * alpha / 16
#: Lemma C.2, Lemma E.1 with an inexact oracle and Theorem 5.2, whose potential is gap + 3 alpha/16 (squared errors).
INEXACT = {
    "next error": SumOfSquares({"oracle": 1}, ((delta / 2, {"e": 1, "m": 1}),)),
    "next distance": SumOfSquares(
        {"oracle": sympy.Rational(4, 3), "smooth below": 8 / alpha * (1 + delta)},
        ((sympy.Rational(1, 3), {"b": 3, "p": -1}), (delta / 3, {"a": 1, "b": 2}), (2 * delta, {"b": 1})),
    ),
    "first distance": SumOfSquares({"smooth below": 8 / alpha}, ((3, {"b": 1}),)),
    "contraction": SumOfSquares(
        {
            "strong convexity": _kappa,
            "sum zero": _kappa,
            "least at the optimum": s_F,
            "means": r * alpha / 4,
            "mean error": 4 * _A,
            "oracle": 4 * _A,
            "square": _A * (s_D + s_F),
        },
        (
            (_kappa / (2 * beta), {"z": 1, "Pg": -beta}),
            (23 * r * alpha / 128, {"Pg": 1, "Pe": sympy.Rational(9, 23)}),
            (sympy.Rational(431, 1472) * r * alpha, {"Pe": 1}),
            (2 * _A * s_r, {"Pe": 1}),
            (2 * _A, {"mean e": 1}),
        ),
    ),
    "primal distance": SumOfSquares(
        {
            "smooth below": 4 / alpha,
            "least at the optimum": sympy.Rational(28, 3) / alpha,
            "oracle": 2,
            "square": 2 + s_D,
        },
        ((1, {"g": 1, "e": -1}),),
    ),
    "start": SumOfSquares({"smooth above": 1}),
}

_theta = 8 * _kappa
#: tau/N - theta and tau/N - 2 theta, which are positive.
_calls, _errors = s_q + r * (3 + s_x) / 4, s_q + r * (1 + s_x) / 2
#: Theorem 5.2 with the memory as printed.
MEMORY = {
    "contraction": SumOfSquares(
        {
            "strong convexity": _theta,
            "sum zero": _theta,
            "least at the optimum": s_F,
            "means": r * alpha / 4,
            "mean error": 4 * _A * _errors,
            "oracle": 4 * _A * _calls,
        },
        (
            (_theta / (2 * beta), {"z": 1, "Pg": -beta}),
            (9 * r * alpha / 128, {"Pg": 1, "Pe": 1}),
            (r * alpha / 16 + 2 * _A * (s_q + r * s_x / 2), {"Pe": 1}),
            (2 * _A * _errors, {"mean e": 1}),
            (_A * (_calls * _kappa + s_F), {"h": 1}),
        ),
    ),
    "primal distance": SumOfSquares(
        {"smooth below": 4 / alpha, "least at the optimum": sympy.Rational(20, 3) / alpha, "oracle": 2 * q},
        ((q, {"g": 1, "e": -1}), (s_1, {"g": 1, "h": -1}), (3 * q / 2, {"h": 1})),
    ),
    "start": SumOfSquares({"smooth above": 1}),
}
