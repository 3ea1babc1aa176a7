"""The common vocabulary of the papers, as sympy symbols with their assumptions.

Each paper keeps its own letters; its ``glossary`` maps them to these.
"""

from functools import partial
from typing import Any

import sympy

#: Strong convexity and smoothness constants of the clients' functions.
mu, L = sympy.symbols("mu L", positive=True)
#: Condition number L/mu.
kappa = sympy.Symbol("kappa", positive=True)
#: Number of clients and dimension of the model.
n, d = sympy.symbols("n d", integer=True, positive=True)
#: Coordinates that a compressor keeps.
k = sympy.Symbol("k", integer=True, positive=True)
#: The index of a round: of the first one 0.
round_index = sympy.Symbol("k", integer=True, nonnegative=True)
#: Clients that take part in a round.
m = sympy.Symbol("m", integer=True, positive=True)
#: Variance of one compressor, and joint variance of all.
omega, omega_av = sympy.symbols("omega omega_av", nonnegative=True)
#: Target accuracy, relative to the initial error.
epsilon = sympy.Symbol("epsilon", positive=True)
#: Heterogeneity: a bound on |grad f_i(x*)|.
zeta = sympy.Symbol("zeta", positive=True)
#: Rounds.
T = sympy.Symbol("T", integer=True, nonnegative=True)


def letters(names: str) -> Any:
    """Positive real letters, from their names: ``mu, L, gamma = letters("mu L gamma")``. Of one name one symbol, as
    ``sympy.symbols`` gives; ``ValueError`` for none."""
    return sympy.symbols(names, positive=True)


def integers(names: str) -> Any:
    """Positive integer letters, as :func:`letters`: ``n, tau = integers("n tau")``."""
    return sympy.symbols(names, integer=True, positive=True)


# Of arguments of which none is always the largest all stay, and looking for it takes as long as loading all else.
Max, Min = partial(sympy.Max, evaluate=False), partial(sympy.Min, evaluate=False)
