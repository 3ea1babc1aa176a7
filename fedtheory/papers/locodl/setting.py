"""LoCoDL: letters, the setting of Theorem 3.1 and its hypotheses.

The problem is min_x (1/n) sum_i f_i(x) + g(x).
"""

from __future__ import annotations

from functools import partial

import sympy

from fedtheory.algorithms import locodl as algorithm_1
from fedtheory.classes import SmoothStronglyConvex, UnbiasedCompressors
from fedtheory.numbers import symbols
from fedtheory.numbers.symbols import Max
from fedtheory.sections import section as section_of
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis

#: A section of the paper, by its place, its setting and its hypotheses.
section = partial(section_of, "locodl")

mu, L, kappa, n, d, omega, omega_av = (
    symbols.mu,
    symbols.L,
    symbols.kappa,
    symbols.n,
    symbols.d,
    symbols.omega,
    symbols.omega_av,
)
gamma, chi, rho = sympy.symbols("gamma chi rho", positive=True)
p = sympy.Symbol("p", positive=True)
k = symbols.k

#: The paper's letters in the common vocabulary: LoCoDL's are the common ones.
glossary = {s: s for s in (mu, L, kappa, n, d, omega, omega_av)}

#: The dual stepsize of Algorithm 1, lines 12 and 14.
lam = p * chi / (gamma * (1 + 2 * omega))
#: The rate of Theorem 3.1, eq. (5).
tau = Max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2, 1 - p**2 * chi / (1 + 2 * omega))


FUNCTIONS = SmoothStronglyConvex(mu, L)
COMPRESSORS = UnbiasedCompressors(average=True)
SETTING = Setting(
    "f_1, ..., f_n and g mu-strongly convex and L-smooth; compressors in U(omega) with joint constant omega_av; "
    "0 < p <= 1",
    letters=(mu, L, n, d, gamma, rho, chi, p, omega, omega_av),
    algorithm=algorithm_1.algorithm,
    functions=FUNCTIONS,
    drawing=Drawing(
        g=(True,),
        classes_stated=True,
        start=("x", "y", "u"),
        typical={rho: 1 / (1 + omega_av), chi: 2 * rho - rho**2 * (1 + omega_av), p: sympy.Rational(1, 2)},
        sweep={"kappa": (2, 5, 10, 30, 100), "omega": (0, 1, 10), "n": (2, 4), "gamma": (1, "3/2")},
    ),
    adversaries=(COMPRESSORS,),
    domain=(sympy.Le(p, 1, evaluate=False),),
)
CONSTANTS = Setting("all values of the constants")

CONVEX = Hypothesis("Assumption 1.1: the f_i and g are mu-strongly convex and L-smooth", met=FUNCTIONS.contains)
VARIANCE = Hypothesis("Assumption 2.1: the compressors are in U(omega)", met=COMPRESSORS.contains)
STEP = Hypothesis("0 < gamma < 2/L", sympy.Lt(gamma, 2 / L, evaluate=False))
DAMPING = Hypothesis(
    "2 rho - rho^2 (1 + omega_av) - chi >= 0", sympy.Ge(2 * rho - rho**2 * (1 + omega_av) - chi, 0, evaluate=False)
)
PROBABILITY = Hypothesis("0 < p <= 1", sympy.Le(p, 1, evaluate=False))
ORDERED = Hypothesis("mu <= L", sympy.Le(mu, L, evaluate=False))
