"""LoCoDL: optimality conditions, the assumption on independence over time, partial participation, the case g = 0."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import locodl as algorithm_1
from fedtheory.algorithms.base import Algorithm, zeros
from fedtheory.algorithms.locodl_variants import split
from fedtheory.claims import Claim
from fedtheory.classes import UnbiasedCompressors
from fedtheory.hypotheses import Hypothesis
from fedtheory.instances.base import Recipe
from fedtheory.optimum import solve
from fedtheory.papers.locodl import method
from fedtheory.problems.base import Problem
from fedtheory.randomness import support_of
from fedtheory.rational import Array
from fedtheory.relations import E
from fedtheory.settings import Setting, points
from fedtheory.statements import Quantity, bound, identity
from fedtheory.symbols import T


class Remembering(NamedTuple):
    """A state of LoCoDL with ``t (...)``, the iteration, and ``first``, ``second (..., n)``: the coins of the last two
    fresh iterations."""

    x: Array
    y: Array
    u: Array
    v: Array
    t: Array
    first: Array
    second: Array


def _start(
    problem: Problem, params: algorithm_1.Params, x: Array | None = None, y: Array | None = None, u: Array | None = None
) -> Remembering:
    state = algorithm_1.init(problem, params, x, y, u)
    return Remembering(*state, zeros(), np.zeros(problem.n, dtype=bool), np.zeros(problem.n, dtype=bool))


def _draws(problem: Problem, params: algorithm_1.Params, state: Remembering) -> Any:
    return algorithm_1.draws(problem, params, algorithm_1.State(*state[:4]))


def _step(problem: Problem, params: algorithm_1.Params, state: Remembering, draw: algorithm_1.Coins) -> Remembering:
    """A step whose third compression is decided by the two before it: kept where exactly one of them kept.

    With fair coins any two of the three are independent.
    """
    phase = state.t % 3
    coins = np.where((phase == 2)[..., None], state.first ^ state.second, draw.compression)
    after = algorithm_1.step(problem, params, algorithm_1.State(*state[:4]), draw._replace(compression=coins))
    first = np.where((phase == 0)[..., None], coins, state.first)
    second = np.where((phase == 1)[..., None], coins, state.second)
    return Remembering(*after, state.t + 1, first, second)


def _fixed_point(problem: Problem, params: algorithm_1.Params) -> Remembering:
    state = algorithm_1.fixed_point(problem, params)
    return Remembering(*state, zeros(), np.zeros(problem.n, dtype=bool), np.zeros(problem.n, dtype=bool))


#: LoCoDL whose Bernoulli compressors are pairwise independent over the iterations.
pairwise = Algorithm("locodl, pairwise", algorithm_1.Params, Remembering, _start, _draws, _step, _fixed_point)


class Anywhere(NamedTuple):
    """A point ``x (..., d)``."""

    x: Array


class Nothing(NamedTuple):
    """No parameters."""


def _inside(recipe: Recipe, problem: Problem, exact: bool) -> Nothing:
    # What is left of f_i without its share of the quadratic part would not be convex otherwise.
    if not method.FUNCTIONS.contains(problem, None):
        raise ValueError("the f_i must be mu-strongly convex and L-smooth")
    return Nothing()


_QUADRATICS = replace(method.FUNCTIONS, quadratics=True)
QUADRATIC = replace(method.SETTING, text="f_1, ..., f_n and g quadratic; 0 < p <= 1", functions=_QUADRATICS)
SPLIT = Setting(
    "f_1, ..., f_n mu-strongly convex and L-smooth, no g; any x",
    algorithm=points(Anywhere, Nothing, lambda problem, params: Anywhere(problem.x_star)),
    functions=_QUADRATICS,
    classes_stated=True,
    parameters=_inside,
)
PAIRWISE = replace(
    method.SETTING,
    text="as in Theorem 3.1; the compressors of iterations 3k, 3k + 1 and 3k + 2 are pairwise independent, not jointly",
    algorithm=pairwise,
    functions=_QUADRATICS,
    adversaries=(UnbiasedCompressors(average=True, only=((0, 1, Fraction(1)),)),),
)


def _conditions(problem: Problem, params: Any, state: Any) -> Array:
    """Residuals of the optimality conditions at the minimiser x of (1/n) sum f_i + g, with u_i and v the gradients."""
    assert problem.g is not None
    x = solve(Problem(problem.f, problem.g)).x
    u = problem.f.gradient(x + 0 * problem.y_star)
    return np.stack([u.sum(axis=0) + problem.n * problem.g.gradient(x[None])[0], x - problem.x_star])


def _zero(problem: Any, params: Any, state: Any) -> Array:
    return np.zeros((), dtype=int)


def _idle(moved: int) -> Any:
    """The states after a communication in which the first client's message is 0, its own x_1 moved by ``moved``."""

    def value(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
        draws, _ = support_of(algorithm_1.draws(problem, params, state))
        # Coins, one for each client: other compressors never send 0.
        coins = draws.compression.shape == (len(draws.theta), problem.n)
        silent = draws.theta & (~draws.compression[:, 0] if coins else False)
        chosen = algorithm_1.Coins(draws.theta[silent], draws.compression[silent])
        x = state.x + moved * np.eye(problem.n, dtype=int)[:, :1]
        after = algorithm_1.step(problem, params, state._replace(x=x), chosen)
        return np.concatenate([np.asarray(field).reshape(len(x), 1, -1) for field in after], axis=-1)

    return value


def _average(problem: Problem, params: Any, state: Any) -> Array:
    """(1/n) sum_i f_i(x)."""
    return problem.f.value(state.x[..., None, :] + 0 * problem.y_star).sum(axis=-1) / problem.n


def _split_average(problem: Problem, params: Any, state: Any) -> Array:
    """(1/n) sum_i f~_i(x) + g~(x), the problem of Section 3.1."""
    lifted = split(problem)
    assert lifted.g is not None
    x = state.x[..., None, :]
    return lifted.f.value(x + 0 * problem.y_star).sum(axis=-1) / problem.n + lifted.g.value(x)[..., 0]


OPTIMALITY = Claim(
    id="locodl/optimality",
    where="Section 2.1",
    gist="primal-dual optimality conditions",
    setting=QUADRATIC,
    statement=identity(Quantity("(sum_i(u_i)+n v, x-x*)", _conditions), Quantity("0", _zero)),
    reading="the minimiser, from its normal equations, and the gradients there satisfy the conditions; on quadratics",
)


REMARKS = (
    Claim(
        id="locodl/assumption-2.1",
        where="Assumption 2.1",
        kind="parameter-rule",
        gist="independence over iterations is enough for (5): of the compressors of an iteration from all earlier ones "
        "together",
        setting=method.SETTING,
        statement=bound(algorithm_1.algorithm, E(method.PSI_T) <= method.tau**T * method.PSI_0),
        requires=(method.CONVEX, method.VARIANCE, method.STEP, method.DAMPING, method.PROBABILITY),
        reading="meant is what the proof uses, which conditions on all the past; the letter asks for the independence "
        "of any two compressors of different iterations",
    ),
    Claim(
        id="locodl/assumption-2.1/literal",
        where="Assumption 2.1",
        kind="parameter-rule",
        gist="pairwise independence over iterations is enough for (5)",
        setting=PAIRWISE,
        statement=bound(pairwise, E(method.PSI_T) <= method.tau**T * method.PSI_0),
        requires=(method.CONVEX, method.VARIANCE, method.STEP, method.DAMPING, method.PROBABILITY),
        reading="the assumption asks for independence of any two compressors of different iterations; the proof "
        "conditions on all the past",
        literal_of="locodl/assumption-2.1",
    ),
    Claim(
        id="locodl/remark-2.2",
        where="Remark 2.2",
        kind="equivalence",
        gist="rho = 1: the local variables of an idle client are not used",
        setting=QUADRATIC,
        statement=identity(Quantity("next(x_1)", _idle(0)), Quantity("next(x_1+7)", _idle(7))),
        requires=(Hypothesis("rho = 1", sympy.Eq(method.rho, 1, evaluate=False)),),
        reading="an idle client is one whose message is 0: its x_i is moved, nothing changes; it still updates u_i "
        "with d_bar, while the paper says completely idle",
    ),
)

EQUIVALENCE = Claim(
    id="locodl/section-3.1/equivalence",
    where="Section 3.1",
    gist="the split problem is the same problem",
    setting=SPLIT,
    statement=identity(
        Quantity("(1/n) sum_i(f_i(x))", _average), Quantity("(1/n) sum_i(f~_i(x))+g~(x)", _split_average)
    ),
)
