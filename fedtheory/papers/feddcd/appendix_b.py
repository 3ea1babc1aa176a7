"""FedDCD, Appendix B: lemmas on random block coordinate descent for min sum_i h_i(x_i) subject to sum_i x_i = 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms import rbcd
from fedtheory.algorithms.feddcd import project
from fedtheory.algorithms.parts import zeros
from fedtheory.classes import SmoothBlocks
from fedtheory.instances import Recipe, check_shape, numbers
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import one_step
from fedtheory.numbers.rational import Array, is_exact
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.feddcd import exceptions, three_points
from fedtheory.papers.feddcd.dual import section
from fedtheory.papers.feddcd.exceptions import Pair
from fedtheory.problems.base import Problem
from fedtheory.randomness import WeightedSubset, expectation
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

n, tau = sympy.symbols("n tau", integer=True, positive=True)
mu, mu_min, L_min, L_max = sympy.symbols("mu mu_min L_min L_max", positive=True)

#: (tau - 1)/(n - 1), the factor of Lemma B.3.
r = (tau - 1) / (n - 1)


_OF_SETS = {
    n: lambda problem, params: len(params.L),
    tau: "tau",
    L_min: lambda problem, params: min(params.L),
    L_max: lambda problem, params: max(params.L),
}


def _least(problem: Problem, params: rbcd.Params) -> Scalar:
    return min(problem.f.mu)


LETTERS = {**_OF_SETS, n: "n", mu: _least, mu_min: _least}


#: What sampling by weights needs, and how settings say so.
BLOCKS = (sympy.Gt(tau, 1), sympy.Le(tau, n))
_FUNCTIONS = "h_1, ..., h_n, each mu_i-strongly convex and L_i-smooth; 1 < tau <= n"
_SETS = "L_1, ..., L_n > 0, every I of size tau, 1 < tau <= n"


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> rbcd.Params:
    check_shape(recipe["d"], *(c["L"] for c in recipe["clients"]))
    return rbcd.Params(recipe["tau"], numbers([c["L"] for c in recipe["clients"]], exact))


def _origin(problem: Problem, params: object) -> rbcd.State:
    return rbcd.State(zeros(problem.n, problem.d))


BLOCK_FUNCTIONS = SmoothBlocks(mu, L_max)
SETTING = Setting(
    f"{_FUNCTIONS}; x in C",
    letters=LETTERS,
    algorithm=rbcd.algorithm,
    functions=BLOCK_FUNCTIONS,
    drawing=Drawing(
        classes_stated=True,
        parameters=_parameters,
        sweep={"kappa": (2, 10, 30, 100), "n": (2, 3, 4), "tau": (2, 3, 4), "spread": (1, 2)},
    ),
    domain=BLOCKS,
    clients=(2, 3, 3, 4),
)
ANYWHERE = replace(
    SETTING,
    text=f"{_FUNCTIONS}; any x",
    algorithm=replace(rbcd.algorithm, invariant=None, fixed_point=_origin),
    functions=replace(BLOCK_FUNCTIONS, optimum="none"),
)

OPERATORS = Setting(
    f"{_SETS}; x and y in R^n",
    letters=_OF_SETS,
    domain=BLOCKS,
    drawing=Drawing(special=exceptions.OPERATORS),
    hints=Hints(complete=True),
)

STRUCTURE = Hypothesis(
    "Assumption B.1: h_i is mu_i-strongly convex and L_i-smooth",
    met=BLOCK_FUNCTIONS.contains,
)
SIZE = Hypothesis("1 < tau <= n", sympy.And(*BLOCKS))


def _everyone(params: rbcd.Params) -> Array:
    return np.ones(len(params.L), dtype=bool)


def P(params: rbcd.Params, mask: Array, x: Array) -> Array:
    """P_I x for P_I = proj_{C_I}^L o I_I, of a number for each client: ``mask``, ``x (..., n)``."""
    return project(params.L, mask, np.where(mask, x, 0 * x)[..., None])[..., 0]


def G(params: rbcd.Params, mask: Array, x: Array) -> Array:
    """G_I x for G_I = P_I L^{-1}."""
    return P(params, mask, x / params.L)


def _support(params: rbcd.Params) -> tuple[Array, Array]:
    return WeightedSubset(1 / params.L, params.tau).support(is_exact(params.L))


def _expected_P(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """E[P_I] x over the sets I: ``(..., n)``."""
    masks, probabilities = _support(params)
    return expectation(P(params, masks, state.x[..., None, :]), probabilities, axis=-2)


def _expected_G(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """E[G_I] x over the sets I: ``(..., n)``."""
    masks, probabilities = _support(params)
    return expectation(G(params, masks, state.x[..., None, :]), probabilities, axis=-2)


def _of_all(operator: Any) -> Any:
    return lambda problem, params, state: operator(params, _everyone(params), state.x)


def of_every_set(operator: Any) -> Any:
    """The operator of every set I, applied to x: ``(..., K, n)``."""
    return lambda problem, params, state: operator(params, _support(params)[0], state.x[..., None, :])


def _form(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """y' G_I x for every set I: ``(..., K)``."""
    return (state.y[..., None, :] * G(params, _support(params)[0], state.x[..., None, :])).sum(axis=-1)


def _transposed_form(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """x' G_I y, which is y' G_I' x, for every set I."""
    return (state.x[..., None, :] * G(params, _support(params)[0], state.y[..., None, :])).sum(axis=-1)


def _form_of_GLG(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """y' G_I' L G_I x for every set I."""
    masks = _support(params)[0]
    left, right = (G(params, masks, vector[..., None, :]) for vector in (state.x, state.y))
    return (params.L * left * right).sum(axis=-1)


def _twice(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """P_I P_I x for every set I."""
    masks = _support(params)[0]
    return P(params, masks, P(params, masks, state.x[..., None, :]))


def _L_norm(L: Array, x: Array) -> Array:
    """|x|_L^2 for ``x (..., n)``."""
    return (L * x**2).sum(axis=-1)


def _expected_norm(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """E of |G_I x|_L^2 over the sets I: ``(...)``."""
    masks, probabilities = _support(params)
    return expectation(_L_norm(params.L, G(params, masks, state.x[..., None, :])), probabilities)


def _full_norm(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """|G_I x|_L^2 for the set I of all: ``(...)``."""
    return _L_norm(params.L, G(params, _everyone(params), state.x))


def _expected_product(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """E of sum_i L_i (G_I x)_i y_i over the sets I, of x and y less their means: ``(...)``."""
    masks, probabilities = _support(params)
    x, y = (_balanced(v)[..., None, :] for v in (state.x, state.y))
    return expectation((params.L * G(params, masks, x) * y).sum(axis=-1), probabilities)


def _product(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """sum_i x_i y_i, of x and y less their means: ``(...)``."""
    return (_balanced(state.x) * _balanced(state.y)).sum(axis=-1)


def _balanced(x: Array) -> Array:
    """x less its mean, which is in C: any vector of C is."""
    return x - x.sum(axis=-1, keepdims=True) / x.shape[-1]


def _rayleigh(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """x' G_[n] x."""
    return (state.x * G(params, _everyone(params), state.x)).sum(axis=-1)


def _shifted(problem: object, params: rbcd.Params, state: Pair) -> Array:
    """(x + s e)' G_[n] (x + s e), s being the sum of the y_i."""
    shifted = state.x + state.y.sum(axis=-1)[..., None]
    return (shifted * G(params, _everyone(params), shifted)).sum(axis=-1)


def _gradient_at_optimum(problem: Problem, params: rbcd.Params, state: object) -> Array:
    """P_[n]' grad h(x*)."""
    gradient = problem.f.gradient(rbcd.constrained_minimiser(problem))
    L = params.L[:, None]
    # P' = L P L^-1, since P L^-1 is symmetric.
    return L * project(params.L, _everyone(params), gradient / L)


def h(problem: Problem, params: object, state: rbcd.State) -> Array:
    """h(x) = sum_i h_i(x_i)."""
    return problem.f.value(state.x).sum(axis=-1)


def h_star(problem: Problem, params: object, state: object) -> Array:
    """h(x*), x* the minimiser of h where the x_i add up to 0."""
    return problem.f.value(rbcd.constrained_minimiser(problem)).sum(axis=-1)


def h_gap(problem: Problem, params: object, state: rbcd.State) -> Array:
    """h(x) - h(x*), h(x) = sum_i h_i(x_i), x* the minimiser of h where the x_i add up to 0."""
    return h(problem, params, state) - h_star(problem, params, state)


def _G_gradient(problem: Problem, params: rbcd.Params, state: rbcd.State) -> Array:
    return rbcd.G(params.L, _everyone(params), problem.f.gradient(state.x))


def gradient_norm(problem: Problem, params: rbcd.Params, state: rbcd.State) -> Array:
    """|G_[n] grad h(x)|^2."""
    return (_G_gradient(problem, params, state) ** 2).sum(axis=(-1, -2))


def gradient_L_norm(problem: Problem, params: rbcd.Params, state: rbcd.State) -> Array:
    """|G_[n] grad h(x)|_L^2."""
    return (params.L[:, None] * _G_gradient(problem, params, state) ** 2).sum(axis=(-1, -2))


def _zero(problem: Problem, params: object, state: Any) -> Array:
    return np.zeros((), dtype=int)


_h, _h_next, _h_star, _gap = (sympy.Symbol(s) for s in ("h(x)", "h(y)", "h(x*)", "h-h*"))
_norm, _norm_L, _gap_next = (sympy.Symbol(s) for s in ("|G grad h|^2", "|G grad h|_L^2", "h(y)-h*"))
_xGx, _xx = (sympy.Symbol(s) for s in ("x'Gx", "x'x"))
GAP = Quantity(_gap, h_gap)

XGX = Quantity(_xGx, _rayleigh)
XX = Quantity(_xx, lambda problem, params, state: (state.x**2).sum(axis=-1))
FORM, ZERO = Quantity("y' G_I x", _form), Quantity("0", _zero)
H_NEXT = Quantity(_h_next, h, after=True)
H = Quantity(_h, h)
NORM_L = Quantity(_norm_L, gradient_L_norm)
H_STAR = Quantity(_h_star, h_star)

lemma_b6 = section("Lemma B.6", SETTING, STRUCTURE)
lemma_b8 = section("Lemma B.8", ANYWHERE, STRUCTURE, SIZE)
lemma_b3 = section("Lemma B.3", OPERATORS, SIZE)
lemma_b4 = section("Lemma B.4", OPERATORS, SIZE)
CLAIMS = (
    lemma_b3(
        "symmetric",
        identity(FORM, Quantity("y' G_I^T x", _transposed_form)),
        "G_I is symmetric",
        kind="identity",
        tex="G_I=G_I^T",
    ),
    lemma_b3(
        "idempotent",
        identity(Quantity("P_I x", of_every_set(P)), Quantity("P_I^2 x", _twice)),
        "P_I is idempotent",
        kind="identity",
        tex="P_I=P_I^2",
    ),
    lemma_b3(
        "eq-17",
        identity(FORM, Quantity("y' G_I^T L G_I x", _form_of_GLG)),
        "G_I = G_I' L G_I",
        kind="identity",
        tex=r"G_I=G_I^T\mathbf{L}G_I",
        uses=("lemma-B.2", "lemma-B.3/symmetric", "lemma-B.3/idempotent"),
    ),
    lemma_b3(
        "eq-18",
        identity(Quantity("E[P_I] x", _expected_P), r * Quantity("P_{[n]} x", _of_all(P))),
        "E[P_I], under the L^-1-weighted sampling",
        kind="identity",
        tex=r"P_\tau:=\mathbb{E}_I[P_I]=\frac{\tau-1}{n-1}P_{[n]}",
        uses=("lemma-B.2",),
    ),
    lemma_b3(
        "eq-19",
        identity(Quantity("E[G_I] x", _expected_G), r * Quantity("G_{[n]} x", _of_all(G))),
        "E[G_I]",
        kind="identity",
        tex=r"G_\tau:=\mathbb{E}_I[G_I]=\frac{\tau-1}{n-1}G_{[n]}",
    ),
    lemma_b3(
        "eq-20",
        identity(Quantity("E|G_I x|_L^2", _expected_norm), r * Quantity("|G_{[n]} x|_L^2", _full_norm)),
        "E of the squared L-norm of G_I x",
        kind="identity",
        tex=r"\mathbb{E}_I\left[\|G_Ix\|_{\mathbf{L}}^2\right]=\frac{\tau-1}{n-1}\|G_{[n]}x\|_{\mathbf{L}}^2",
        uses=("lemma-B.3/eq-17", "lemma-B.3/eq-19"),
    ),
    lemma_b3(
        "eq-21",
        identity(Quantity("E<G_I x, y>_L", _expected_product), r * Quantity("<x, y>", _product)),
        "E<G_I x, y>_L for x, y in C",
        kind="identity",
        tex=r"\mathbb{E}_I\left[\langle G_Ix,y\rangle_{L}\right]=\frac{\tau-1}{n-1}\langle x,y\rangle",
        uses=("lemma-B.3/eq-19",),
    ),
    lemma_b4(
        "eq-22",
        XGX <= XX / L_min,
        "largest eigenvalue of G_[n]",
        tex=r"\lambda_1(G_{[n]})\le 1/L_{\min}",
        reading="lambda_1(G) <= 1/L_min, written as x'Gx <= |x|^2/L_min for all x",
    ),
    lemma_b4(
        "eq-23",
        identity(Quantity("(x+s e)' G_{[n]} (x+s e)", _shifted), Quantity("|G_{[n]} x|_L^2", _full_norm)),
        "smallest eigenvalue of G_[n]",
        kind="identity",
        reading="s is any number: with s = 0 no eigenvalue is negative, and with x = 0 one of them is 0, that of e",
        tex=r"\lambda_n(G_{[n]})=0",
    ),
    section("Lemma B.5", SETTING, SIZE)(
        "",
        identity(Quantity("P_{[n]}^T grad h(x*)", _gradient_at_optimum), ZERO),
        "P' grad h(x*) = 0",
        kind="identity",
        tex=r"P_{[n]}^T\nabla h(x^*)=0",
    ),
    lemma_b6(
        "euclidean",
        Inequality(
            2 * mu / L_max**2 * _gap,
            2 * L_max / L_min**2 * _gap,
            (GAP, Quantity(_norm, gradient_norm)),
            middle=_norm,
        ),
        "two-sided bound on norm(G grad h)^2",
        tex=r"\frac{2\mu}{L_{\max}^2}(h(x^t)-h(x^*))\le\|G_{[n]}\nabla h(x^t)\|^2\le\frac{2L_{\max}}{L_{"
        r"\min}^2}(h(x^t)-h(x^*))",
        reading="mu, which Assumption B.1 does not define, is mu_min",
    ),
    lemma_b6(
        "weighted",
        Inequality(
            2 * mu / L_max * _gap,
            2 * L_max / L_min * _gap,
            (GAP, Quantity(_norm_L, gradient_L_norm)),
            middle=_norm_L,
        ),
        "two-sided bound on the L-norm of G grad h",
        tex=r"\frac{2\mu}{L_{\max}}(h(x^t)-h(x^*))\le\|G_{[n]}\nabla h(x^t)\|_L^2\le\frac{2L_{\max}}{L_{"
        r"\min}}(h(x^t)-h(x^*))",
        reading="mu, which Assumption B.1 does not define, is mu_min",
    ),
    replace(
        three_points.CLAIM, origin="printed", formula=r"u(x)+D_{\Phi}(x,z)\ge u(z^+)+D_{\Phi}(z^+,z)+D_{\Phi}(x,z^+)"
    ),
    lemma_b8(
        "descent",
        one_step(rbcd.algorithm, E(H_NEXT) <= H - r / 2 * NORM_L),
        "expected decrease of h after one block step",
        tex=r"\mathbb{E}[h(y)]\leq h(x)-\frac{1}{2}\frac{\tau-1}{n-1}\|G_{[n]}\nabla h(x)\|_{\mathbf{L}}^2",
        uses=("lemma-B.3/eq-17", "lemma-B.3/eq-19", "lemma-B.3/eq-20"),
    ),
    lemma_b8(
        "rate",
        one_step(rbcd.algorithm, E(H_NEXT - H_STAR) <= (1 - mu_min / L_max) * H - H_STAR),
        "the second inequality, as printed",
        setting=SETTING,
        tex=r"\mathbb{E}[h(y)]-h(x^*)\le\left(1-\frac{\mu_{\min}}{L_{\max}}\right)\mathbb{E}[h(x)]-h(x^*)",
        uses=("lemma-B.8/descent", "lemma-B.6/weighted"),
        reading="x in C, without which h(x) may lie below h(x*)",
        literal_of="lemma-B.8/rate/repaired",
        flaw="The last line of the proof has the factor 1 - (tau-1)/(n-1) mu_min/L_max, on h(x) - h(x*). The "
        "statement drops (tau-1)/(n-1), and puts the factor on E[h(x)] alone.",
    ),
    section("last line of the proof of Lemma B.8", SETTING, STRUCTURE, SIZE, id="lemma-B.8/rate")(
        "repaired",
        one_step(rbcd.algorithm, E(Quantity(_gap_next, h_gap, after=True)) <= (1 - r * mu_min / L_max) * GAP),
        "E[h(y)] - h* <= (1 - (tau-1)/(n-1) mu_min/L_max) (h(x) - h*), for x in C",
        tex=r"\mathbb{E}[h(y)]-h(x^*)\leq\left(1-\frac{\tau-1}{n-1}\frac{\mu_{\min}}{L_{\max}}\right)(h(x)-h(x^*))",
        repairs="lemma-B.8/rate",
    ),
)
