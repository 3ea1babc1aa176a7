"""LoCoDL: weights of the identities that prove Theorem 3.1 and the two steps of its proof for all parameters.

They follow the paper's Appendix A, except that the last inequality, the contraction of a gradient step, is proved from
interpolation, and that what the paper drops is kept as squares. The vectors and the letters besides the paper's own
are those of the model of a step in :mod:`verify.proofs.compressed`.
"""

from __future__ import annotations

import sympy

from fedtheory.settings import SumOfSquares

mu, L, gamma, chi, rho, p = sympy.symbols("mu L gamma chi rho p", positive=True)
omega, omega_av = sympy.symbols("omega omega_av", nonnegative=True)
#: By how much the factor exceeds each of the three terms of tau, and 2 rho - rho^2 (1 + omega_av) exceeds chi.
s_mu, s_L, s_p, s_rho = sympy.symbols("s_mu s_L s_p s_rho", nonnegative=True)

#: The stepsize of the dual step, and the weight of |u - u*|^2 in Psi.
_step = p * chi / (gamma * (1 + 2 * omega))
_weight = gamma * (1 + 2 * omega) / (p**2 * chi)


def _excess(quantity: str) -> sympy.Symbol:
    """By how much the coefficient of a quantity on a claim's right side exceeds what it must."""
    return sympy.Symbol(f"excess of {quantity}", nonnegative=True)


def _noise_in_dual(weight: sympy.Expr) -> SumOfSquares:
    """What the noise adds to weight * |u_next|^2 is at most weight * 2 omega |W x_hat|^2; its mean helps."""
    squares = ((weight / 2, {"mean noise": 1}), (weight * omega, {"x_hat deviation": 1}))
    return SumOfSquares({"variance": weight}, squares)


def _noise_in_primal(weight: sympy.Expr) -> SumOfSquares:
    """What the noise adds to weight * |x_next|^2 is at most weight * omega_av |W x_hat|^2: only its mean enters."""
    return SumOfSquares({"joint variance": weight / 2}, ((weight * omega_av / 2, {"x_hat deviation": 1}),))


def _with(*parts: SumOfSquares) -> SumOfSquares:
    multipliers = {name: weight for part in parts for name, weight in part.multipliers.items()}
    return SumOfSquares(multipliers, tuple(square for part in parts for square in part.squares))


def _squared(weight: sympy.Expr, *vectors: str) -> SumOfSquares:
    return SumOfSquares({}, tuple((weight, {vector: 1}) for vector in vectors))


def _gradient_step(function: str, x: str, gradient: str) -> SumOfSquares:
    """F |x|^2 - |x - gamma g|^2 from <g - mu x, L x - g> >= 0, which two interpolation inequalities add up to."""
    multiplier = (s_mu + s_L + gamma**2 * (L - mu) ** 2) / (gamma * (L - mu))
    return SumOfSquares(
        {f"{function}[0,1]": multiplier, f"{function}[1,0]": multiplier},
        (
            (s_L / (gamma * (L - mu) ** 2), {gradient: 1, x: -mu}),
            (s_mu / (gamma * (L - mu) ** 2), {x: L, gradient: -1}),
        ),
    )


_contraction = _with(
    _noise_in_dual(p * _weight * _step**2),
    _noise_in_primal(p * rho**2 / gamma),
    _squared(p / gamma * s_rho, "W_x", "W_y"),
    _squared(_weight * s_p, "u", "v"),
)
WEIGHTS = {
    "mu < L": _with(_contraction, _gradient_step("f", "x", "grad f"), _gradient_step("g", "y", "grad g")),
    "mu = L": _with(_contraction, _squared(s_mu / gamma, "x", "y")),
    "dual step": _with(
        _noise_in_dual(p * _step**2),
        _squared(_excess("|u-u*|^2"), "u", "v"),
        _squared(_excess("|W x_hat|^2"), "W_x", "W_y"),
    ),
    "primal step": _with(
        _noise_in_primal(p * rho**2),
        _squared(_excess("|x_hat-x*|^2"), "x_hat", "y_hat"),
        _squared(_excess("|W x_hat|^2"), "W_x", "W_y"),
    ),
}
