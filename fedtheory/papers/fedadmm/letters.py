"""FedADMM: the paper's letters, as sympy symbols. Those with an index i are of one client, which is any of them."""

from __future__ import annotations

from functools import partial

import sympy

from fedtheory.numbers import symbols
from fedtheory.sections import section as section_of

#: A section of the paper, by its place, its setting and its hypotheses.
section = partial(section_of, "fedadmm")

#: The faults that make several claims fail: each is one, whatever it makes fail.
LONG_WAIT = "a client may wait for 2 s_0 - 2 rounds under Scheme 4.1"
BLOCKS = "the blocks of grad F for their sum"
SIGN = "the sign of 1/k_0 in eq. (55)"

#: Clients, iterations of a round, rounds of a window of Scheme 4.1, and an iteration.
m, k0, s0 = sympy.symbols("m k_0 s_0", integer=True, positive=True)
k = sympy.Symbol("k", integer=True, nonnegative=True)
#: A client's weight, Lipschitz constant of the gradient, bound on its negative curvature, penalty, factor of eq. (5).
alpha_i, r_i, sigma_i = sympy.symbols("alpha_i r_i sigma_i", positive=True)
s_i = sympy.Symbol("s_i", nonnegative=True)
nu_i = sympy.Symbol("nu_i", positive=True)
#: The sum of all sigma_i.
sigma = sympy.Symbol("sigma", positive=True)
#: The contraction of the inner steps, the largest penalty, the constant of Theorem 4.3, and its accuracy.
rho, sigma_bar, c, varepsilon = sympy.symbols("rho sigma_bar c varepsilon", positive=True)

#: The paper's letters in the common vocabulary.
glossary = {m: symbols.n, r_i: symbols.L, varepsilon: symbols.epsilon}

#: The paper's names of numbers and vectors of iteration k, which are those of the claims.
notation = {
    "L^k": "sum_i (alpha_i f_i(w_i^k) + <pi_i^k, w_i^k - w^{tau_k}> + (sigma_i/2) |w_i^k - w^{tau_k}|^2), eq. (12)",
    "Lt^k": "L^k + 29 sum_i eps_i^k/((1 - nu_i) sigma_i), eq. (22)",
    "g_i^k": "alpha_i grad f_i(w_i^k)",
    "phi_i^k": "pi_i^k + g_i^k, eq. (37)",
    "z_i^k": "sigma_i w_i^k + pi_i^k",
    "Dbar_i^{k+1}": "w_i^{k+1} - w^{tau_{k+1}}",
    "Dw_i^{k+1}": "w_i^{k+1} - w_i^k",
    "Dpi_i^{k+1}": "pi_i^{k+1} - pi_i^k",
    "v^{l+1}": "v^l - (alpha_i grad f_i(v^l) + pi_i + sigma_i (v^l - w))/(alpha_i r_i + sigma_i), eq. (15)",
    "grad_f(w^{tau_k})": "sum_i alpha_i grad f_i(w^{tau_k})",
    "k_i": "the last iteration up to k in which client i takes part",
    "tau_{k+1}": "floor(k/k_0) + 1, the round of iteration k; w^{tau_k} is the w after k iterations, w^t of round t",
}


def q(text: str) -> sympy.Symbol:
    """The symbol of a quantity, in the paper's words."""
    return sympy.Symbol(text, real=True)


def parts(text: str) -> tuple[sympy.Symbol, ...]:
    """Symbols of several quantities, separated by blanks."""
    return tuple(q(name) for name in text.split())
