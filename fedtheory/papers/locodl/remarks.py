"""LoCoDL: the assumption on independence over time, partial participation, and what is left without compression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import locodl as algorithm_1
from fedtheory.algorithms import scaffnew
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.parts import zeros
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.identity import identity
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.numbers.symbols import T
from fedtheory.papers.locodl.method import PSI
from fedtheory.papers.locodl.setting import (
    CONVEX,
    DAMPING,
    FUNCTIONS,
    PROBABILITY,
    SETTING,
    STEP,
    VARIANCE,
    L,
    chi,
    gamma,
    mu,
    n,
    omega,
    p,
    section,
    tau,
)
from fedtheory.problems.base import Problem, everywhere
from fedtheory.randomness import Bernoulli
from fedtheory.settings import Drawing, Setting, points
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


#: As in Algorithm 1, with what decides the coins.
PARTS = {
    **algorithm_1.LINES,
    "t": "C_i(x) is (1 + omega) x or 0, by a fair coin for omega = 1; in iterations t = 2, 5, ... by none of its "
    "own: it is (1 + omega) x if exactly one of the two iterations before kept its message",
    "first": "first says if C_i kept its message in the last of the iterations t = 0, 3, ..., second in the last of "
    "t = 1, 4, ...",
}


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


class Idle(NamedTuple):
    """As in Algorithm 1, with ``sent (..., n, d)``: the messages of a communication, 0 of those who are idle; ``away
    (..., n, d)``: changes of the x_i."""

    x: Array
    y: Array
    u: Array
    v: Array
    sent: Array
    away: Array


class IdleParams(NamedTuple):
    """``gamma``, ``chi``, ``p``, ``omega``: as in Algorithm 1; rho is 1."""

    gamma: Scalar
    chi: Scalar
    p: Scalar
    omega: Scalar


class _Sent(NamedTuple):
    """In the place of compressors: what the clients send."""

    messages: Array

    def apply(self, draw: object, x: Array) -> Array:
        """The messages."""
        return self.messages


def _centre(problem: Problem, params: IdleParams) -> Idle:
    at = algorithm_1.fixed_point(problem, params)  # type: ignore[arg-type]
    return Idle(*at, 0 * at.u, 0 * at.u)


IDLE = Setting(
    "f_1, ..., f_n and g mu-strongly convex and L-smooth; any x, y, u and v, any messages; rho = 1",
    letters={mu: "mu", L: "L", n: "n", gamma: "gamma", chi: "chi", p: "p", omega: "omega"},
    algorithm=points(Idle, IdleParams, _centre),
    functions=FUNCTIONS,
    drawing=Drawing(g=(True,), classes_stated=True),
    domain=(sympy.Le(p, 1, evaluate=False),),
)
PAIRWISE = replace(
    SETTING,
    text="as in Theorem 3.1; the compressors of iterations 3k, 3k + 1 and 3k + 2 are pairwise independent, not jointly",
    algorithm=pairwise,
    functions=replace(FUNCTIONS, quadratics=True),
    drawing=replace(SETTING.drawing, compressors=((0, 1, Fraction(1)),)),
)


def _communicated(problem: Problem, params: IdleParams, state: Idle, x: Array) -> algorithm_1.State:
    """The state after a communication in which the clients send what they should, from these x_i."""
    gamma, chi, p, omega = params
    compressors: Any = _Sent(state.sent)
    draw = algorithm_1.Coins(np.ones((), dtype=bool), None)
    before = algorithm_1.State(x, state.y, state.u, state.v)
    return algorithm_1.step(problem, algorithm_1.Params(gamma, chi, 1, p, omega, compressors), before, draw)


def _next(moved: bool) -> Any:
    """x, y, u and v after a communication, from the x_i or from others."""

    def value(problem: Problem, params: IdleParams, state: Idle) -> Array:
        after = _communicated(problem, params, state, state.x + state.away if moved else state.x)
        return np.concatenate([after.x, after.y[..., None, :], after.u, after.v[..., None, :]], axis=-2)

    return value


def _own(problem: Problem, params: IdleParams, state: Idle) -> Array:
    """The x_i, and the u_i + (p chi/(gamma (1 + 2 omega))) d_i for the messages d_i."""
    gamma, chi, p, omega = params
    after = _communicated(problem, params, state, state.x)
    return np.concatenate([after.x, after.u + p * chi / (gamma * (1 + 2 * omega)) * state.sent], axis=-2)


def _received(problem: Problem, params: IdleParams, state: Idle) -> Array:
    """y for each client, and the u_i before with what v has changed by."""
    after = _communicated(problem, params, state, state.x)
    return np.concatenate([everywhere(problem, after.y), state.u + (after.v - state.v)[..., None, :]], axis=-2)


assumption_21 = section("Assumption 2.1", SETTING, CONVEX, VARIANCE, STEP, DAMPING, PROBABILITY)
remark_22 = section("Remark 2.2", IDLE)

REMARKS = (
    assumption_21(
        "",
        E(PSI.T) <= tau**T * PSI.zero,
        "independence over iterations is enough for (5): of the compressors of an iteration from all earlier ones "
        "together",
        kind="parameter-rule",
        tex=r"t\neq t^{\prime}",
        uses=("theorem-3.1/one-step",),
        reading="meant is what the proof uses, which conditions on all the past; the letter asks for the independence "
        "of any two compressors of different iterations",
    ),
    assumption_21(
        "literal",
        E(PSI.T) <= tau**T * PSI.zero,
        "pairwise independence over iterations is enough for (5)",
        kind="parameter-rule",
        setting=PAIRWISE,
        tex=r"\mathcal{C}_{i}^{t}, \ \mathcal{C}_{i^{\prime}}^{t^{\prime}}, \quad t\neq t^{\prime}",
        uses=("theorem-3.1/one-step",),
        reading="the assumption asks for independence of any two compressors of different iterations; the proof "
        "conditions on all the past",
        literal_of="assumption-2.1",
        flaw="The proof of eq. (19) takes the compressors of an iteration as unbiased given the whole past. From every "
        "single earlier one they are independent by the assumption, from all earlier ones together they need not be.",
    ),
    remark_22(
        "",
        identity(Quantity("next(x)", _next(False)), Quantity("next(x+a)", _next(True))),
        "rho = 1: the local variables of an idle client are not used",
        kind="equivalence",
        tex=r"\rho=1",
        reading="an idle client is one whose message is 0: wherever its x_i is, x, y, u and v are the same after the "
        "communication, whatever the others send; of x_i that are sent, messages alone tell. It still updates u_i "
        "with d_bar, while the paper says completely idle",
    ),
    remark_22(
        "resynchronised",
        identity(
            Quantity("(x_i, u_i+(p chi/(gamma(1+2 omega)))d_i) of the next state", _own),
            Quantity("(y, u_i+v-v^t) of it", _received),
        ),
        "rho = 1: an idle client that receives y and v is as if it had not been idle",
        kind="equivalence",
        origin="implied",
        reading="of any messages d_i; after a communication in which it is 0 a client's model is the common y, and u_i "
        "has changed by as much as v: so it needs no more than the y and the v that it is sent, and the v that it knew",
    ),
)

# Section 1.2: LoCoDL without compression


class Uncompressed(NamedTuple):
    """``gamma``, ``p``: of LoCoDL with omega = omega_av = 0 and the rho = chi = 1 of eq. (6), as of Scaffnew."""

    gamma: Scalar
    p: Scalar


@dataclass(frozen=True)
class _AsTheyAre:
    """Messages that are sent as they are."""

    def apply(self, draw: object, x: Array) -> Array:
        """x."""
        return x


_MESSAGES: Any = _AsTheyAre()


def _uncompressed_init(
    problem: Problem, params: Uncompressed, x: Array | None = None, y: Array | None = None, u: Array | None = None
) -> algorithm_1.State:
    return algorithm_1.init(problem, params, x, y, u)  # type: ignore[arg-type]


def _coin(problem: Problem, params: Uncompressed, state: object) -> Bernoulli:
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
    parts = [np.concatenate([own, _copies(problem, common)], axis=-2) for own, common in pairs]
    return params, scaffnew.State(*parts)


def _models(problem: Problem, params: object, state: Any) -> Array:
    return state.x


def _all_models(problem: Problem, params: object, state: algorithm_1.State) -> Array:
    """The x_i, y, the u_i and v, as the state of the other shows them."""
    return np.concatenate([state.x, _copies(problem, state.y), state.u, _copies(problem, state.v)], axis=-2)


def _all_parts(problem: Problem, params: object, state: scaffnew.State) -> Array:
    return np.concatenate([state.x, state.h], axis=-2)


def _of_scaffnew(name: str, step: Any) -> Algorithm:
    return replace(scaffnew.algorithm, name=name, step=step)


_PLAIN = Setting(
    "f_1, ..., f_n and g mu-strongly convex and L-smooth; no compression, rho = chi = 1, 0 < p <= 1, gamma > 0",
    letters=(mu, L, n, gamma, p),
    algorithm=uncompressed,
    functions=FUNCTIONS,
    drawing=Drawing(g=(True,), classes_stated=True, start=("x", "y", "u")),
    domain=(sympy.Le(p, 1, evaluate=False),),
)
introduction = section("Section 1.2", _PLAIN, CONVEX, id="")
NOT_SCAFFNEW = (
    introduction(
        "not-scaffnew",
        Fails(
            Agreement(
                uncompressed,
                _of_scaffnew("scaffnew on f_i + g", _sums_step),
                _as_sums,
                (_models, _models),
                "the x_i are those of Scaffnew on the functions f_i + g",
            ),
            "LoCoDL without compression makes the x_i of Scaffnew on the functions f_i + g",
        ),
        "LoCoDL without compression is not Scaffnew",
        kind="equivalence",
        tex="",
        reading="with the rho = chi = 1 of eq. (6), from the same x_i, and with h_i = u_i + v",
    ),
    # What LoCoDL is without compression the paper does not say, but what it is not.
    introduction(
        "not-scaffnew/lifted",
        Agreement(
            uncompressed,
            _of_scaffnew("scaffnew on f_1, ..., f_n, g, ..., g", _lifted_step),
            _as_lifted,
            (_all_models, _all_parts),
            "the x_i, y, u_i and v are those of Scaffnew with g at n clients more",
        ),
        "without compression LoCoDL is Scaffnew on 2n clients, f_1, ..., f_n and g n times",
        kind="equivalence",
        origin="observed",
    ),
)
