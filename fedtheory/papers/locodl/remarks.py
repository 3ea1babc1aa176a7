"""LoCoDL: optimality conditions, the assumption on independence over time, partial participation, the case g = 0."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import locodl as algorithm_1
from fedtheory.algorithms import scaffnew
from fedtheory.algorithms.base import Algorithm, zeros
from fedtheory.algorithms.locodl_variants import share, split
from fedtheory.claims import Claim
from fedtheory.instances import Recipe, number
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.bound import bound
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.identity import identity
from fedtheory.numbers.rational import Array
from fedtheory.numbers.symbols import T
from fedtheory.papers.locodl import method
from fedtheory.problems.base import Problem
from fedtheory.problems.optimum import solve
from fedtheory.randomness import Bernoulli, support_of
from fedtheory.settings import Drawing, Setting, points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

_NEEDS_G = "the remarks of LoCoDL are about problems with a function g"


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
    drawing=Drawing(classes_stated=True, parameters=_inside),
)


class Idle(NamedTuple):
    """As in Algorithm 1, with ``sent (..., n, d)``: the messages of a communication; ``away (..., d)``: a change of
    x_1."""

    x: Array
    y: Array
    u: Array
    v: Array
    sent: Array
    away: Array


class IdleParams(NamedTuple):
    """``gamma``, ``chi``, ``p``, ``omega``: as in Algorithm 1; rho is 1."""

    gamma: Any
    chi: Any
    p: Any
    omega: Any


class _Sent(NamedTuple):
    """In the place of compressors: what the clients send, but for the first, which sends 0."""

    messages: Array

    def apply(self, draw: Any, x: Array) -> Array:
        silent = np.arange(self.messages.shape[-2])[:, None] == 0
        return np.where(silent, 0 * self.messages, self.messages)


def _centre(problem: Problem, params: IdleParams) -> Idle:
    x, zero = problem.x_star, np.zeros((problem.n, problem.d), dtype=int)
    everywhere = x + zero
    return Idle(everywhere, x, everywhere, x, zero, zero[0])


IDLE = Setting(
    "f_1, ..., f_n and g mu-strongly convex and L-smooth; any x, y, u and v, any messages but that of an idle client; "
    "rho = 1",
    letters={
        method.mu: "mu",
        method.L: "L",
        method.n: "n",
        method.gamma: "gamma",
        method.chi: "chi",
        method.p: "p",
        method.omega: "omega",
    },
    algorithm=points(Idle, IdleParams, _centre),
    functions=method.FUNCTIONS,
    drawing=Drawing(g=(True,), classes_stated=True),
    domain=(sympy.Le(method.p, 1, evaluate=False),),
)
PAIRWISE = replace(
    method.SETTING,
    text="as in Theorem 3.1; the compressors of iterations 3k, 3k + 1 and 3k + 2 are pairwise independent, not jointly",
    algorithm=pairwise,
    functions=_QUADRATICS,
    drawing=replace(method.SETTING.drawing, compressors=((0, 1, Fraction(1)),)),
)


def _conditions(problem: Problem, params: Any, state: Any) -> Array:
    """Residuals of the optimality conditions at the minimiser x of (1/n) sum f_i + g, with u_i and v the gradients."""
    if problem.g is None:
        raise ValueError(_NEEDS_G)
    x = solve(Problem(problem.f, problem.g)).x
    u = problem.f.gradient(x + 0 * problem.y_star)
    return np.stack([u.sum(axis=0) + problem.n * problem.g.gradient(x[None])[0], x - problem.x_star])


def _zero(problem: Any, params: Any, state: Any) -> Array:
    return np.zeros((), dtype=int)


def _idle(moved: bool) -> Any:
    """x, y, u and v after a communication in which the first client sends 0, x_1 moved or not."""

    def value(problem: Problem, params: IdleParams, state: Idle) -> Array:
        one: Any = np.ones((), dtype=int)
        gamma, chi, p, omega = params
        compressors: Any = _Sent(state.sent)
        of_method = algorithm_1.Params(gamma, chi, one.item(), p, omega, compressors)
        first = np.eye(problem.n, dtype=int)[:, :1]
        x = state.x + first * state.away[..., None, :] if moved else state.x
        draw = algorithm_1.Coins(np.ones((1, 1), dtype=bool), None)
        after = algorithm_1.step(problem, of_method, algorithm_1.State(x, state.y, state.u, state.v), draw)
        return np.concatenate([after.x, after.y[..., None, :], after.u, after.v[..., None, :]], axis=-2)

    return value


def _after_silence(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> algorithm_1.State:
    """The states after a communication in which the first client's message is 0."""
    draws, _ = support_of(algorithm_1.draws(problem, params, state))
    coins = draws.compression.shape == (len(draws.theta), problem.n)
    silent = draws.theta & (~draws.compression[:, 0] if coins else False)
    return algorithm_1.step(problem, params, state, algorithm_1.Coins(draws.theta[silent], draws.compression[silent]))


def _own(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """x_1 and u_1."""
    after = _after_silence(problem, params, state)
    return np.concatenate([after.x[..., 0, :], after.u[..., 0, :]], axis=-1)


def _received(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """y, and the u_1 before with what v has changed by."""
    after = _after_silence(problem, params, state)
    return np.concatenate([after.y, state.u[..., 0, :] + after.v - state.v], axis=-1)


def _average(problem: Problem, params: Any, state: Any) -> Array:
    """(1/n) sum_i f_i(x)."""
    return problem.f.value(state.x[..., None, :] + 0 * problem.y_star).sum(axis=-1) / problem.n


def _split_average(problem: Problem, params: Any, state: Any) -> Array:
    """(1/n) sum_i f~_i(x) + g~(x), the problem of Section 3.1."""
    lifted = split(problem)
    if lifted.g is None:
        raise ValueError(_NEEDS_G)
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
        setting=IDLE,
        statement=identity(Quantity("next(x_1)", _idle(False)), Quantity("next(x_1+a)", _idle(True))),
        reading="an idle client is one whose message is 0: wherever its x_i is, x, y, u and v are the same after the "
        "communication, whatever the others send. It still updates u_i with d_bar, while the paper says completely "
        "idle",
    ),
    Claim(
        id="locodl/remark-2.2/resynchronised",
        where="Remark 2.2",
        kind="equivalence",
        gist="rho = 1: an idle client that receives y and v is as if it had not been idle",
        setting=method.SETTING,
        statement=identity(Quantity("(x_1, u_1) of the next state", _own), Quantity("(y, u_1+v-v^t) of it", _received)),
        requires=(Hypothesis("rho = 1", sympy.Eq(method.rho, 1, evaluate=False)),),
        reading="after a communication in which its message is 0 its model is the common y, and u_1 has changed by as "
        "much as v: so it needs no more than the y and the v that it is sent, and the v that it knew",
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


# Section 3.1, Step 5


class Stepsize(NamedTuple):
    """``gamma``: the stepsize."""

    gamma: Any


def _at_step(recipe: Recipe, problem: Problem, exact: bool) -> Stepsize:
    _inside(recipe, problem, exact)
    return Stepsize(number(recipe["gamma"], exact))


def _descended(problem: Problem, params: Stepsize, state: Anywhere) -> Array:
    """y - gamma grad g~(y), for the g~ of the split problem."""
    g = share(problem.mu, problem.d)
    found: Array = state.x - params.gamma * g.gradient(state.x[..., None, :])[..., 0, :]
    return found


def _shrunk(problem: Problem, params: Stepsize, state: Anywhere) -> Array:
    """(1 - gamma mu/2) y."""
    found: Array = (1 - params.gamma * problem.mu / 2) * state.x
    return found


STEP_5 = Claim(
    id="locodl/proof/step-5",
    where="Section 3.1",
    gist="y - gamma grad g~(y) = (1 - gamma mu/2) y, at Step 5 of Algorithm 1",
    setting=replace(
        SPLIT,
        text="f_1, ..., f_n mu-strongly convex and L-smooth, no g; any y and gamma > 0",
        letters=(method.mu, method.L, method.gamma),
        algorithm=points(Anywhere, Stepsize, lambda problem, params: Anywhere(problem.x_star)),
        functions=method.FUNCTIONS,
        drawing=replace(SPLIT.drawing, parameters=_at_step),
    ),
    statement=identity(Quantity("y-gamma grad g~(y)", _descended), Quantity("(1-gamma mu/2)y", _shrunk)),
)

# Section 1.2: LoCoDL without compression


class Uncompressed(NamedTuple):
    """``gamma``, ``p``: of LoCoDL with omega = omega_av = 0 and the rho = chi = 1 of eq. (6), as of Scaffnew."""

    gamma: Any
    p: Any


class _AsTheyAre:
    """Messages that are sent as they are."""

    def apply(self, draw: Any, x: Array) -> Array:
        """x."""
        return x


_MESSAGES: Any = _AsTheyAre()


def _uncompressed_init(
    problem: Problem, params: Uncompressed, x: Array | None = None, y: Array | None = None, u: Array | None = None
) -> algorithm_1.State:
    return algorithm_1.init(problem, params, x, y, u)  # type: ignore[arg-type]


def _coin(problem: Problem, params: Uncompressed, state: Any) -> Bernoulli:
    return Bernoulli(params.p)


def _uncompressed_step(
    problem: Problem, params: Uncompressed, state: algorithm_1.State, draw: Array
) -> algorithm_1.State:
    """A step of LoCoDL whose messages are sent as they are; ``draw``: whether it communicates."""
    full = algorithm_1.Params(params.gamma, 1, 1, params.p, 0, _MESSAGES)
    return algorithm_1.step(problem, full, state, algorithm_1.Coins(draw, draw))


def _uncompressed_optimum(problem: Problem, params: Uncompressed) -> algorithm_1.State:
    return algorithm_1.fixed_point(problem, params)  # type: ignore[arg-type]


def _feasible(problem: Problem, params: Uncompressed, state: algorithm_1.State) -> Array:
    return algorithm_1.invariant(problem, params, state)  # type: ignore[arg-type]


uncompressed = Algorithm(
    "locodl, uncompressed",
    Uncompressed,
    algorithm_1.State,
    _uncompressed_init,
    _coin,
    _uncompressed_step,
    _uncompressed_optimum,
    _feasible,
)


def _sums_step(problem: Problem, params: Uncompressed, state: scaffnew.State, draw: Array) -> scaffnew.State:
    """A step of Scaffnew on the functions f_i + g."""
    if problem.g is None:
        raise ValueError(_NEEDS_G)
    gradient = problem.f.gradient(state.x) + problem.g.gradient(state.x)
    return scaffnew.communicate(params.gamma, params.p, state.x - params.gamma * (gradient - state.h), state.h, draw)


def _lifted_step(problem: Problem, params: Uncompressed, state: scaffnew.State, draw: Array) -> scaffnew.State:
    """A step of Scaffnew with 2n clients: the f_i, and g n times."""
    if problem.g is None:
        raise ValueError(_NEEDS_G)
    size = problem.n
    own, common = state.x[..., :size, :], state.x[..., size:, :]
    gradient = np.concatenate([problem.f.gradient(own), problem.g.gradient(common)], axis=-2)
    return scaffnew.communicate(params.gamma, params.p, state.x - params.gamma * (gradient - state.h), state.h, draw)


def _copies(problem: Problem, y: Array) -> Array:
    """y for n clients."""
    return np.broadcast_to(y[..., None, :], (*y.shape[:-1], problem.n, y.shape[-1]))


def _as_sums(problem: Problem, params: Uncompressed, state: algorithm_1.State) -> Any:
    """x_i, and h_i = u_i + v, whose sum is 0 too."""
    return params, scaffnew.State(state.x, state.u + state.v[..., None, :])


def _as_lifted(problem: Problem, params: Uncompressed, state: algorithm_1.State) -> Any:
    """The x_i and n times y, with the u_i and n times v."""
    pairs = ((state.x, state.y), (state.u, state.v))
    parts = (np.concatenate([own, _copies(problem, common)], axis=-2) for own, common in pairs)
    return params, scaffnew.State(*parts)


def _models(problem: Problem, params: Any, state: Any) -> Array:
    x: Array = state.x
    return x


def _all_models(problem: Problem, params: Any, state: algorithm_1.State) -> Array:
    """The x_i, y, the u_i and v, as the state of the other shows them."""
    return np.concatenate([state.x, _copies(problem, state.y), state.u, _copies(problem, state.v)], axis=-2)


def _all_parts(problem: Problem, params: Any, state: scaffnew.State) -> Array:
    return np.concatenate([state.x, state.h], axis=-2)


def _of_scaffnew(name: str, step: Any) -> Algorithm:
    return replace(scaffnew.algorithm, name=name, step=step)


_PLAIN = Setting(
    "f_1, ..., f_n and g mu-strongly convex and L-smooth; no compression, rho = chi = 1, 0 < p <= 1, gamma > 0",
    letters=(method.mu, method.L, method.n, method.gamma, method.p),
    algorithm=uncompressed,
    functions=method.FUNCTIONS,
    drawing=Drawing(g=(True,), classes_stated=True, start=("x", "y", "u")),
    domain=(sympy.Le(method.p, 1, evaluate=False),),
)
NOT_SCAFFNEW = (
    Claim(
        id="locodl/not-scaffnew",
        where="Section 1.2",
        kind="equivalence",
        gist="LoCoDL without compression is not Scaffnew",
        setting=_PLAIN,
        statement=Fails(
            Agreement(
                uncompressed,
                _of_scaffnew("scaffnew on f_i + g", _sums_step),
                _as_sums,
                (_models, _models),
                "the x_i are those of Scaffnew on the functions f_i + g",
            ),
            "LoCoDL without compression makes the x_i of Scaffnew on the functions f_i + g",
        ),
        requires=(method.CONVEX,),
        reading="with the rho = chi = 1 of eq. (6), from the same x_i, and with h_i = u_i + v",
    ),
    Claim(
        id="locodl/not-scaffnew/lifted",
        where="Section 1.2",
        kind="equivalence",
        gist="without compression LoCoDL is Scaffnew on 2n clients, f_1, ..., f_n and g n times",
        setting=_PLAIN,
        statement=Agreement(
            uncompressed,
            _of_scaffnew("scaffnew on f_1, ..., f_n, g, ..., g", _lifted_step),
            _as_lifted,
            (_all_models, _all_parts),
            "the x_i, y, u_i and v are those of Scaffnew with g at n clients more",
        ),
        requires=(method.CONVEX,),
    ),
)
