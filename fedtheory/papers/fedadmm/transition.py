"""One iteration of Algorithm 1 from any state that meets (37), on any functions with r_i-Lipschitz gradients.

The points w_i^{k+1} with which (6) is met are part of the state: they are any points whose residual is small enough. So
are the accuracies eps_i^{k+1} of the active, which (5) only bounds. An accuracy is the square of a vector, so that it
is a form as all other scalars are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import fedadmm
from fedtheory.algorithms.base import Algorithm, no_step
from fedtheory.algorithms.selections import Fixed
from fedtheory.classes import SmoothOwn
from fedtheory.instances import Recipe, number, numbers, pick
from fedtheory.learning.subproblems import Task
from fedtheory.meanings import Lipschitz
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedadmm.iterates import steepest
from fedtheory.papers.fedadmm.letters import alpha_i, m, nu_i, q, r_i, sigma, sigma_bar, sigma_i
from fedtheory.problems.base import Problem, StateFunction, weighted_gradient
from fedtheory.problems.oracles import Answer
from fedtheory.randomness import Constant, Distribution, Draw
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Iteration, Overall
from fedtheory.settings.relations import Quantity


@dataclass(frozen=True)
class Given:
    """The answers are the draw."""

    def draws(self, problem: Problem, iterations: int) -> Distribution:
        """Nothing is drawn here."""
        return Constant()

    def answer(self, problem: Problem, task: Task, draw: Draw, iteration: int) -> Answer:
        """Return the drawn answer, at no cost."""
        return Answer(draw, np.zeros(np.shape(draw)[:-1], dtype=int))


class Params(NamedTuple):
    """``alpha``, ``sigma``, ``nu``, ``r (m,)``; ``active (m,)``: Omega^{tau_{k+1}}; ``ratio``: the
    largest alpha_i r_i/sigma_i; ``begins``: whether k is in K; ``i``: of which client a statement speaks."""

    alpha: Array
    sigma: Array
    nu: Array
    r: Array
    active: tuple[bool, ...]
    ratio: Scalar
    begins: int
    i: int

    @property
    def fed(self) -> fedadmm.Params:
        """Those of Algorithm 1, whose update is given who takes part."""
        everybody = Fixed(np.ones((1, len(self.r)), dtype=bool))
        return fedadmm.Params(self.alpha, self.sigma, self.nu, 0 * self.nu, 1, everybody, Given())


class State(NamedTuple):
    """``w (..., d)``, ``W (..., m, d)`` as in Algorithm 1; ``Phi``: the residuals phi_i^k of (37); ``D``: what the
    active add to w_i^k; ``E``, ``F``: vectors of accuracy, before and after; ``Pi (..., m, d)``, ``eps (..., m)`` as in
    Algorithm 1; ``fallen (..., m)``: the eps_i^{k+1} of the active."""

    w: Array
    W: Array
    Phi: Array
    D: Array
    E: Array
    F: Array
    Pi: Array
    eps: Array
    fallen: Array


#: The parts of a state, and the effect of an iteration on them.
PARTS = {
    "w": "w^{tau_{k+1}} is (sum of all sigma_i w_i + pi_i)/(sum of all sigma_i) if begins = 1, and w if begins = 0",
    "W": "w_i^{k+1} = w_i + D_i for participants (active = 1)",
    "Phi": "phi_i = pi_i + alpha_i grad f_i(w_i)",
    "E": "E_i, F_i: any vectors that make eps_i^k, eps_i^{k+1} large enough",
    "Pi": "pi_i^{k+1} = pi_i + sigma_i (w_i^{k+1} - w^{tau_{k+1}}) for participants",
    "fallen": "fallen: the eps_i^{k+1} of participants",
}


def largest(first: Array, *others: Array) -> Array:
    """The largest. Forms do not compare: of them the first, which by the setting is at least as large as the others."""
    try:
        return reduce(lambda a, b: np.where(b > a, b, a), others, first)
    except ValueError:
        return first


def init(problem: Problem, params: Params, w: Array, W: Array, Phi: Array, D: Array, E: Array, F: Array) -> State:
    """pi_i = phi_i - g_i, and eps_i^k = |E_i|^2, eps_i^{k+1} = |F_i|^2, or as much as (37), (5) and (6) ask for."""
    Pi = Phi - params.alpha[:, None] * problem.f.gradient(W)
    state = State(w, W, Phi, D, E, F, Pi, square(E), square(F))
    now, then = _residuals(problem, params, state)
    fallen = largest(state.fallen, then)
    least = np.where(np.array(params.active), fallen / params.nu, now)
    return state._replace(eps=largest(state.eps, now, least), fallen=fallen)


def _residuals(problem: Problem, params: Params, state: State) -> tuple[Array, Array]:
    """|phi_i^k|^2 and |phi_i^{k+1}|^2."""
    after = later(problem, params, state)
    return square(residuals(problem, params, state)), square(residuals(problem, params, after))


def residuals(problem: Problem, params: object, at: Any) -> Array:
    """phi_i of (37), of a state of Algorithm 1 or of this setting, ``(..., m, d)``."""
    return at.Pi - steepest(problem, params, at.W)


def server(params: Params, state: State) -> Array:
    """w^{tau_{k+1}}."""
    return fedadmm.average(params, params.sigma[:, None] * state.W + state.Pi) if params.begins else state.w


def later(problem: Problem, params: Params, state: State) -> fedadmm.State:
    """The state after the iteration, by Algorithm 1's own update."""
    Z = params.sigma[:, None] * state.W + state.Pi
    begun = fedadmm.State(server(params, state), state.W, state.Pi, Z, state.eps)
    active = np.array(params.active)
    after = fedadmm.local_update(problem, params.fed, begun, active, state.W + state.D, 0)
    return after._replace(eps=np.where(active, state.fallen, state.eps))


def known(problem: Problem, params: Params, state: State) -> Array:
    """|phi_i^k|^2 - eps_i^k, and of the active |phi_i^{k+1}|^2 - eps_i^{k+1} and eps_i^{k+1} - nu_i eps_i^k."""
    now, then = _residuals(problem, params, state)
    kept, active = now - state.eps, np.array(params.active)
    met, fallen = then - state.fallen, state.fallen - params.nu * state.eps
    return np.stack([kept, np.where(active, met, kept), np.where(active, fallen, kept)], axis=-2)


def _kept_at_most(problem: Problem, params: Params, w: Array, W: Array, Phi: Array, D: Array, E: Array) -> State:
    """As ``init``, with eps_i^{k+1} = nu_i eps_i^k: of the rest of the state that asks for nothing more."""
    Pi = Phi - params.alpha[:, None] * problem.f.gradient(W)
    state = State(w, W, Phi, D, E, 0 * E, Pi, square(E), square(E))
    now, then = _residuals(problem, params, state)
    eps = largest(state.eps, now, np.where(np.array(params.active), then / params.nu, now))
    return state._replace(eps=eps, fallen=params.nu * eps)


def _known_at_most(problem: Problem, params: Params, state: State) -> Array:
    """|phi_i^k|^2 - eps_i^k, and |phi_i^{k+1}|^2/nu_i - eps_i^k of the active."""
    now, then = _residuals(problem, params, state)
    return np.stack([now - state.eps, np.where(np.array(params.active), then / params.nu, now) - state.eps], axis=-2)


def _of_state(problem: Problem, params: Params, w: Array, W: Array, Phi: Array, D: Array, E: Array, F: Array) -> State:
    """As ``init``, with (37) alone: nothing is asked of the answers."""
    Pi = Phi - params.alpha[:, None] * problem.f.gradient(W)
    return State(w, W, Phi, D, E, F, Pi, largest(square(E), square(Phi)), square(F))


def _known_of_state(problem: Problem, params: Params, state: State) -> Array:
    """|phi_i^k|^2 - eps_i^k."""
    return square(residuals(problem, params, state)) - state.eps


def _centre(problem: Problem, params: Params) -> State:
    point, each = np.zeros(problem.d, dtype=int), np.zeros((problem.n, problem.d), dtype=int)
    none = np.zeros(problem.n, dtype=int)
    return State(point, each, each, each, each, each, each, none, none)


algorithm = Algorithm("fedadmm, one iteration", Params, State, init, no_step, no_step, _centre)


_NU = tuple(Fraction(v) for v in ("99980001/100000000",) * 3 + ("9801/10000", "1/2"))


def _draw(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    clients = tuple(
        {
            **c,
            "weight": pick(rng, tuple(Fraction(v) for v in (1, 1, 2))),
            "more": pick(rng, tuple(Fraction(v) for v in (1, 1, 1, 4))) if index else Fraction(1),
            "nu": pick(rng, _NU),
            "active": int(index == 0 or rng.random() < 0.6),
        }
        for index, c in enumerate(recipe["clients"])
    )
    return {**recipe, "clients": clients, "begins": int(rng.random() < 0.7), "i": int(rng.integers(len(clients)))}


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> Params:
    clients = recipe["clients"]
    weight, more, nu, r = (numbers([c[name] for c in clients], exact) for name in ("weight", "more", "nu", "r"))
    if min(*(c["weight"] for c in clients), recipe["ratio"]) <= 0 or min(c["more"] for c in clients) != 1:
        raise ValueError("weights and penalties are positive")
    if not 0 <= recipe["i"] < len(clients):
        raise ValueError("i must be a client")
    alpha = weight / weight.sum()
    active = tuple(bool(c["active"]) for c in clients)
    if not any(active):
        raise ValueError("somebody takes part in every round")
    ratio = number(recipe["ratio"], exact)
    params = Params(alpha, more * alpha * r / ratio, nu, r, active, ratio, recipe["begins"], recipe["i"])
    if not _admits(problem, params):
        raise ValueError("penalties and Lipschitz constants are positive, and 0 < nu_i < 1")
    return params


def _admits(problem: Problem, params: Params) -> bool:
    """alpha_i, sigma_i, nu_i, r_i > 0, nu_i < 1, and the alpha_i add up to 1, rounding apart."""
    positive = all((values > 0).all() for values in (params.alpha, params.sigma, params.nu, params.r))
    return positive and bool((params.nu < 1).all()) and abs(float(params.alpha.sum()) - 1) < 1e-9


def _of_client(name: str) -> Callable[[Any, Params], Any]:
    return lambda problem, params: getattr(params, name)[params.i]


#: The largest of the alpha_i r_i/sigma_i, of which a step condition is an upper bound.
ratio = sympy.Symbol("max_i(alpha_i*r_i/sigma_i)", positive=True)
FUNCTIONS = SmoothOwn()
#: That all these numbers of the clients are positive, no alpha_i r_i/sigma_i is larger than their bound, and all nu_i
#: are below 1.
_SIGNS = (
    (lambda problem, params: params.alpha, True),
    (lambda problem, params: params.sigma, True),
    (lambda problem, params: params.r, True),
    (lambda problem, params: params.nu, True),
    (lambda problem, params: params.ratio * params.sigma - params.alpha * params.r, False),
    (lambda problem, params: 1 - params.nu, True),
)
_LETTERS: dict[Any, Any] = {
    m: lambda problem, params: len(params.r),
    alpha_i: _of_client("alpha"),
    r_i: _of_client("r"),
    sigma_i: _of_client("sigma"),
    nu_i: _of_client("nu"),
    ratio: "ratio",
    sigma: lambda problem, params: params.sigma.sum(),
}
TRANSITION = Setting(
    "one iteration k >= 0 of Algorithm 1, k in K or not, any Omega^{tau_{k+1}}, any w^{tau_k}, W^k and Pi^k with (37), "
    "any W^{k+1} and eps^{k+1} with (5) and (6); f_i with r_i-Lipschitz gradients, convex or not",
    letters=_LETTERS,
    algorithm=algorithm,
    functions=FUNCTIONS,
    drawing=Drawing(classes_stated=True, draw=_draw, parameters=_parameters),
    hints=Hints(known=known, signs=_SIGNS),
    clients=(1, 1, 1, 1, 2, 2, 3),
)


#: With the letter of the largest sigma_i, too.
WITH_LARGEST = replace(TRANSITION, letters={**_LETTERS, sigma_bar: lambda problem, params: max(params.sigma)})
#: The same iterations, for statements that do not mention eps_i^{k+1}.
BEFORE_IT_FALLS = replace(
    TRANSITION,
    algorithm=replace(algorithm, name="fedadmm, one iteration, (5) with equality", init=_kept_at_most),
    hints=replace(TRANSITION.hints, known=_known_at_most),
)
STATE = replace(
    TRANSITION,
    text="any w^{tau_k}, W^k and Pi^k with (37); f_i with r_i-Lipschitz gradients, convex or not",
    algorithm=replace(algorithm, name="fedadmm, one state", init=_of_state),
    hints=replace(TRANSITION.hints, known=_known_of_state),
)


def step_condition(factor: Scalar) -> Hypothesis:
    """sigma_i >= factor alpha_i r_i for every client."""
    return Hypothesis(f"sigma_i >= {factor} alpha_i r_i for every i", sympy.Le(ratio, 1 / sympy.sympify(factor)))


def _bend(problem: Problem, params: Any) -> Array:
    """alpha_i r_i, ``(m,)``."""
    return params.alpha * params.r


SMOOTH = Hypothesis(
    "Assumption 4.1: grad f_i is r_i-Lipschitz", met=FUNCTIONS.contains, says=(Lipschitz(steepest, _bend),)
)
STEP = step_condition(3)
BEGINS = Hypothesis("k is in K", met=lambda problem, params: bool(params.begins))
CONTINUES = Hypothesis("k is not in K", met=lambda problem, params: not params.begins)


# The iterations of a run


def before(problem: Problem, params: Params, state: State) -> fedadmm.State:
    """The state of Algorithm 1 before the iteration."""
    return fedadmm.State(state.w, state.W, state.Pi, params.sigma[:, None] * state.W + state.Pi, state.eps)


def _kept(problem: Problem, params: object, at: fedadmm.State) -> Array:
    """Eq. (37): |phi_i|^2 - eps_i."""
    return square(residuals(problem, params, at)) - at.eps


def _every(recipe: Recipe) -> Iterator[Recipe]:
    """All subsets of clients with somebody in them, k in K or not, and every client i."""
    clients = recipe["clients"]
    n = len(clients)
    for active, begins, i in product(product((0, 1), repeat=n), (0, 1), range(n)):
        if any(active):
            parts = tuple({**c, "active": a} for c, a in zip(clients, active, strict=True))
            yield {**recipe, "clients": parts, "begins": begins, "i": i}


def _of_step(
    problem: Problem, params: Any, state: fedadmm.State, draw: fedadmm.Draws
) -> Iterator[tuple[Params, State]]:
    """The iterations of the rounds of one plan; ``params`` has also the constants ``r (m,)``."""
    largest = max(params.alpha * params.r / params.sigma)
    states = [state, *fedadmm.iterations(problem, params, state, draw)]
    for k, (old, new) in enumerate(pairwise(states)):
        clients: Any = draw.clients[..., k // params.k0, :]
        begins, constants = int(k % params.k0 == 0), (params.alpha, params.sigma, params.nu, params.r)
        phi = params.alpha[:, None] * problem.f.gradient(old.W) + old.Pi
        nothing = 0 * old.W
        point = State(old.w, old.W, phi, new.W - old.W, nothing, nothing, old.Pi, old.eps, new.eps)
        yield Params(*constants, clients, largest, begins, slice(None)), point  # type: ignore[arg-type]


def _takes_part(params: Params) -> Any:
    return np.asarray(params.active, dtype=bool)[..., params.i]


SELECTED = Hypothesis("i is in Omega^{tau_{k+1}}", met=lambda problem, params: _takes_part(params))
IDLE = Hypothesis("i is not in Omega^{tau_{k+1}}", met=lambda problem, params: ~_takes_part(params))
ITERATION = Iteration(
    TRANSITION,
    before,
    later,
    ("active", "begins", "i"),
    "i",
    _kept,
    SELECTED,
    IDLE,
    _every,
    _of_step,
    _admits,
    ((BEGINS, CONTINUES),),
    (sympy.Lt(nu_i, 1),),
)


# Quantities


@dataclass(frozen=True)
class IterationView:
    """The quantities of one iteration; squares are per client, ``(..., m)``."""

    problem: Problem
    params: Params
    state: State

    @property
    def after(self) -> fedadmm.State:
        """The state after the iteration."""
        return later(self.problem, self.params, self.state)

    def move(self) -> Array:
        """|w_i^{k+1} - w_i^k|^2."""
        return square(self.after.W - self.state.W)

    def away(self) -> Array:
        """|w_i^{k+1} - w^{tau_{k+1}}|^2."""
        at = self.after
        return square(at.W - at.w[..., None, :])

    def gap(self) -> Array:
        """w_i^k - w^{tau_k}."""
        return self.state.W - self.state.w[..., None, :]

    def along(self, other: Array) -> Array:
        """<w_i^k - w^{tau_k}, other_i>."""
        return (self.gap() * other).sum(axis=-1)

    def drop(self) -> Array:
        """alpha_i (f_i(w^{tau_k}) - f_i(w_i^k))."""
        shared = self.state.w[..., None, :] + 0 * self.state.W
        return self.params.alpha * (self.problem.f.value(shared) - self.problem.f.value(self.state.W))

    def g(self) -> Array:
        """g_i^k."""
        return self.params.alpha[:, None] * self.problem.f.gradient(self.state.W)

    def phi(self) -> Array:
        """phi_i^k of (37)."""
        return residuals(self.problem, self.params, self.state)

    def slope(self) -> Array:
        """|grad f(w^{tau_{k+1}})|^2."""
        return square(weighted_gradient(self.problem, self.params.alpha, server(self.params, self.state)))


def quantity(name: str, of: Callable[[IterationView], Array]) -> Quantity:
    """Return the quantity ``of(view)`` of an iteration."""
    return Quantity(
        q(name), Overall(ITERATION, lambda problem, params, state: of(IterationView(problem, params, state)))
    )


def of_client(name: str, of: Callable[[IterationView], Array]) -> Quantity:
    """Return the quantity ``of(view)``, ``(..., m)``, of client i."""
    return Quantity(q(name), lambda problem, params, state: of(IterationView(problem, params, state))[..., params.i])


def at(name: str, function: StateFunction, later: bool = False, each: bool = False) -> Quantity:
    """A function of the state of Algorithm 1, before the iteration or after it; ``each``: of the client i."""
    return Quantity(q(name), At(ITERATION, function, later, each))
