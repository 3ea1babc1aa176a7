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

#: What its letters mean, in words.
meanings = {
    "": {
        "w": "the model of the server; w^{tau_k} is that after k iterations",
        "w_i": "the model of client i",
        "L": "the augmented Lagrangian, eq. (12)",
        "W": "W^k is (w_1^k, ..., w_m^k)",
        "Pi": "Pi^k is (pi_1^k, ..., pi_m^k)",
        "pi_i": "the multiplier of client i",
        "Delta": "an increment, Delta w_i^{k+1} = w_i^{k+1} - w_i^k",
        "tau": "a round",
        "p": "the number of a round, of which p k_0 is the first iteration",
        "eps_i": "the tolerance of client i, which bounds |alpha_i grad f_i(w_i) + pi_i + sigma_i (w_i - w)|^2 by (6)",
        "f": "f(w) = sum_i alpha_i f_i(w)",
        "F": "F(W) = sum_i alpha_i f_i(w_i), eq. (11)",
        "v": "an inner step of a client, eq. (15); v* is where these steps tend",
        "Omega": "Omega^t is the set of clients that are selected in round t",
        "K": "the iterations at which a round begins, multiples of k_0",
        "m": "the number of clients",
        "alpha_i": "the weight of client i in f",
        "r_i": "the Lipschitz constant of grad f_i",
        "s_i": "the Hessian of f_i is at least -s_i I",
        "sigma_i": "the penalty parameter of client i",
        "sigma": "the sum of the sigma_i",
        "sigma_bar": "the largest sigma_i",
        "nu_i": "the factor by which the tolerance of client i shrinks, eq. (5)",
        "k_0": "the number of iterations in a round",
        "s_0": "the number of rounds in which Scheme 4.1 selects every client at least once",
        "k": "the iteration",
        "l": "the inner step",
        "c": "the constant of Theorem 4.3",
        "varepsilon": "the accuracy of (27)",
        "rho": "the number by which an inner step divides the squared distance, rho > 1",
        "kappa": "the number of inner steps, eq. (16)",
        "T": "the number of inner steps",
        "f^*": "the infimum of f",
        "w*": "the minimiser of f",
    },
    "remark-4.1": {"T": "the number of windows of s_0 rounds", "p_i": "the probability that client i is selected"},
    "remark-4.3": {"epsilon": "the same as varepsilon"},
    "theorem-4.3/proof-constants": {f"a_{k}": "a coefficient of the chain" for k in range(1, 10)},
    "eq-45": {"theta": "a number with alpha_i r_i <= theta sigma_i"},
    "eq-50": {"p_2^k": "the second part of L^{k+1} - L^k, eq. (43)"},
    "appendix-C.6/last": {"t": "k/k_0, the number of rounds"},
    "eq-69": {"ceil(t/s_0)": "t/s_0 rounded up", "t": "k/k_0, the rounds"},
    "experiments/s0": {"A": "the first number of c = A s_0 (s_0 + 1) + B s_0", "B": "the second number of c"},
    "scheme-4.1/larger-s0": {"a": "the number of clients in each subset", "q": "what s_0 is enlarged by"},
    "remark-4.2": {"alpha_1": "the weight of f_1 in f", "mu_1": "f_1 is mu_1-strongly convex"},
    "definition-4.1": {"t": "any positive number", "sum_i(alpha_i)": "the sum of the weights"},
    "eq-33": {"t": "any positive number", "m": "the number of vectors"},
}


def q(text: str) -> sympy.Symbol:
    """The symbol of a quantity, in the paper's words."""
    return sympy.Symbol(text, real=True)


def parts(text: str) -> tuple[sympy.Symbol, ...]:
    """Symbols of several quantities, separated by blanks."""
    return tuple(q(name) for name in text.split())
