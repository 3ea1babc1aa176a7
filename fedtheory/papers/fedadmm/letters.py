"""FedADMM: the paper's letters, as sympy symbols. Those with an index i are of one client, which is any of them."""

from __future__ import annotations

import sympy

from fedtheory.numbers import symbols

#: Clients, iterations of a round, rounds of a window of Scheme 4.1, and an iteration.
m, k0, s0 = sympy.symbols("m k_0 s_0", integer=True, positive=True)
k = sympy.Symbol("k", integer=True, nonnegative=True)
#: Of a client: weight, Lipschitz constant of the gradient, bound on its negative curvature, penalty, factor of eq. (5).
alpha_i, r_i, sigma_i = sympy.symbols("alpha_i r_i sigma_i", positive=True)
s_i = sympy.Symbol("s_i", nonnegative=True)
nu_i = sympy.Symbol("nu_i", positive=True)
#: The sum of all sigma_i.
sigma = sympy.Symbol("sigma", positive=True)
#: The contraction of the inner steps, the largest penalty, the constant of Theorem 4.3, and its accuracy.
rho, sigma_bar, c, varepsilon = sympy.symbols("rho sigma_bar c varepsilon", positive=True)

#: The paper's letters in the common vocabulary.
glossary = {m: symbols.n, r_i: symbols.L, varepsilon: symbols.epsilon}


def q(text: str) -> sympy.Symbol:
    """The symbol of a quantity, in the paper's words."""
    return sympy.Symbol(text, real=True)


def parts(text: str) -> tuple[sympy.Symbol, ...]:
    """Symbols of several quantities, separated by blanks."""
    return tuple(q(name) for name in text.split())
