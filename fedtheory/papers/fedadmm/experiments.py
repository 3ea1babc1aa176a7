"""FedADMM, what its algorithms leave open and what its experiments take: Algorithms 1 and 2, Section 5, Remark 4.2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import fedadmm, fedavg_stale
from fedtheory.algorithms.parts import zeros
from fedtheory.algorithms.selections import Fixed
from fedtheory.claims import Claim
from fedtheory.classes import OneStronglyConvex, SmoothStronglyConvex
from fedtheory.instances import Instance, Instances, Recipe, check_shape, number, numbers, pick, small
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.kinds.readings import Readings
from fedtheory.learning.least_squares import from_rows
from fedtheory.learning.subproblems import Exact
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.numbers.symbols import L, mu, n
from fedtheory.papers.fedadmm.descent import DESCENT_OF_ANY
from fedtheory.papers.fedadmm.letters import alpha_i, k0, m, parts, q, r_i, section, sigma_i
from fedtheory.papers.fedadmm.transition import SMOOTH, STEP, TRANSITION
from fedtheory.problems.base import Problem, weighted_gradient, weighted_value
from fedtheory.problems.quadratic import diagonal
from fedtheory.randomness import Constant, Draw
from fedtheory.settings import Drawing, Hints, Setting, points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

# The state that Algorithm 1 starts from


class Start(NamedTuple):
    """``w (..., 1)``: the common w_i^0."""

    w: Array


def _start_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        positive = tuple(Fraction(v) for v in (1, 2, 3, "1/2"))
        yield {
            "clients": tuple(
                {
                    "weight": pick(rng, positive),
                    "h": pick(rng, positive),
                    "c": small(rng, 1)[0],
                    "factor": pick(rng, (Fraction(3), Fraction(4))),
                }
                for _ in range(int(pick(rng, (1, 2, 3))))
            )
        }


def _start_build(recipe: Recipe, exact: bool) -> Instance:
    clients = recipe["clients"]
    if not clients:
        raise ValueError("there must be at least one client")
    check_shape(1, *(c[name] for c in clients for name in ("weight", "h", "factor")))
    weight, h, c, factor = (numbers([v[name] for v in clients], exact) for name in ("weight", "h", "c", "factor"))
    alpha, ones = weight / weight.sum(), 1 + 0 * h
    everyone = Fixed(np.ones((1, len(h)), dtype=bool))
    params = fedadmm.Params(alpha, factor * alpha * h, ones / 2, ones, 1, everyone, Exact())
    problem = Problem(diagonal(h[:, None], c[:, None]))
    text = "; ".join(", ".join(f"{name}={v[name]}" for name in v) for v in clients)
    return Instance(problem, params, 1, lambda theta: (problem, Start(theta[:, None])), text=f"m={len(h)}: {text}")


def _first_lagrangian(averaged: bool) -> Any:
    """L^0 with w^{tau_0} the average of round 1, or the common start of the clients."""

    def of(problem: Problem, params: fedadmm.Params, state: Start) -> Array:
        W = state.w[..., None, :] + 0 * params.sigma[:, None]
        begun = fedadmm.init(problem, params, W, w=state.w)
        w = fedadmm.average(params, begun.Z) if averaged else state.w
        gap = W - w[..., None, :]
        terms = params.alpha * problem.f.value(W) + (gap * begun.Pi).sum(axis=-1)
        return (terms + params.sigma * (gap**2).sum(axis=-1) / 2).sum(axis=-1)

    return of


def _first_value(problem: Problem, params: fedadmm.Params, state: Start) -> Array:
    """F(W^0)."""
    W = state.w[..., None, :] + 0 * params.sigma[:, None]
    return (params.alpha * problem.f.value(W)).sum(axis=-1)


_L_0, _F_0 = parts("L^0 F(W^0)")
_STARTS = Setting(
    "quadratic f_i, w_1^0 = ... = w_m^0 any, pi_i^0 and z_i^0 as in Algorithm 1",
    drawing=Drawing(special=Instances(_start_recipes, _start_build)),
    hints=Hints(complete=True),
)


initial_state = section("Algorithm 1", _STARTS)


def _reading(name: str, averaged: bool) -> Claim:
    where = "the average of the z_i^0, as in round 1" if averaged else "the common w_i^0"
    statement = Identity(_L_0, _F_0, (Quantity(_L_0, _first_lagrangian(averaged)), Quantity(_F_0, _first_value)))
    gist = f"L^0 = F(W^0), with w^(tau_0) {where}"
    return initial_state(f"initial-state#{name}", statement, gist, kind="parameter-rule", origin="")


INITIAL_STATE = (
    initial_state(
        "initial-state",
        Readings(
            "w^{tau_0}, of which L^0 is a function, is not defined",
            (_reading("average", True), _reading("common", False)),
        ),
        "every quantity that Lemma 4.1 uses at k = 0 is defined by the algorithm",
        kind="parameter-rule",
        origin="implied",
        reading="distinguished by a test of our own, printed nowhere: L^0 = F(W^0) where all w_i^0 are equal. Of the "
        "paper's results only the number c of Theorem 4.3 depends on w^{tau_0}. Its hints are the initial point (w^0, "
        "W^0, Pi^0) of (13), and w^0 = w_i^0 = 0 in Section 5.3",
        flaw="Algorithm 1 computes w^{tau_1} first. w^{tau_0}, on which L^0 depends, is used by Lemma 4.1 and Theorem "
        "4.3 and nowhere defined.",
    ),
    initial_state(
        "initial-state/repaired",
        DESCENT_OF_ANY,
        "with any w^{tau_0} given, Lemma 4.1 holds at k = 0",
        kind="parameter-rule",
        setting=TRANSITION,
        requires=(SMOOTH, STEP),
        reading="w^{tau_k} is any, and of W^k and Pi^k it asks for (37) alone, which pi_i^0 = -alpha_i grad f_i(w_i^0) "
        "meets (lemma-C.1/b/start)",
        repairs="algorithm-1/initial-state",
    ),
)

# Algorithm 2


def _fedavg_params(recipe: Recipe, problem: Problem, exact: bool) -> fedavg_stale.Params:
    if recipe["gamma"] <= 0 or recipe["k0"] < 1:
        raise ValueError("gamma must be positive and k_0 at least 1")
    everyone = Fixed(np.ones((1, problem.n), dtype=bool))
    return fedavg_stale.Params(number(recipe["gamma"], exact), int(recipe["k0"]), everyone)


def _next_average(problem: Problem, params: object, state: Any) -> Array:
    """|w - w*|^2 for the average w of the W, the server's next model."""
    away = state.W.sum(axis=-2) / problem.n - problem.x_star
    return (away**2).sum(axis=-1)


class Step(NamedTuple):
    """``gamma`` as in Algorithm 2."""

    gamma: Scalar


def _step_params(recipe: Recipe, problem: Problem, exact: bool) -> Step:
    if recipe["gamma"] <= 0:
        raise ValueError("gamma must be positive")
    return Step(number(recipe["gamma"], exact))


def _no_draws(problem: Problem, params: Step, state: fedavg_stale.State) -> Constant:
    return Constant()


def _stepped(problem: Problem, params: Step, w: Array) -> Array:
    """The clients' models after one local step from that of the server."""
    V = w[..., None, :] + zeros(problem.n, problem.d)
    return V - params.gamma * problem.f.gradient(V) / problem.n


def _round_of_all(problem: Problem, params: Step, state: fedavg_stale.State, draw: Draw) -> fedavg_stale.State:
    """A round of Algorithm 2 in which everybody takes one local step, k_0 = 1."""
    w = state.W.sum(axis=-2) / problem.n
    return fedavg_stale.State(w, _stepped(problem, params, w))


def _optimum(problem: Problem, params: Step) -> fedavg_stale.State:
    """The optimum, and the clients' models after a step from it."""
    return fedavg_stale.State(problem.x_star, _stepped(problem, params, problem.x_star))


gamma = sympy.Symbol("gamma", positive=True)
_STRONGLY = SmoothStronglyConvex(mu, L, quadratics=True)
_OF_CLASS = Hypothesis("f_i mu-strongly convex and L-smooth", met=_STRONGLY.contains)
FEDAVG = Setting(
    "f_i strongly convex quadratics, equal weights, all clients in every round, any W^0",
    letters={mu: "mu", L: "L", n: "n", gamma: "gamma", k0: "k0"},
    algorithm=fedavg_stale.algorithm,
    functions=_STRONGLY,
    drawing=Drawing(classes_stated=True, start=("W",), parameters=_fedavg_params),
    clients=(2, 2, 3),
)
_stale: Any = fedavg_stale.algorithm
_one_step_each = replace(
    _stale,
    name="fedavg-stale with one local step of all clients",
    Params=Step,
    draws=_no_draws,
    step=_round_of_all,
    fixed_point=_optimum,
)
_ONE_STEP = replace(
    FEDAVG,
    text=f"{FEDAVG.text}; k_0 = 1",
    letters={letter: source for letter, source in FEDAVG.sources.items() if letter != k0},
    algorithm=_one_step_each,
    drawing=replace(FEDAVG.drawing, parameters=_step_params),
)
_SMALL = Hypothesis("gamma/m <= 1/L", sympy.Le(gamma, n / L))
_ALGORITHM_2 = Limit(
    fedavg_stale.algorithm, Quantity(q("|w^{tau_{k+1}}-w*|^2"), _next_average), "the server's model reaches the optimum"
)


algorithm_2 = section("Algorithm 2", FEDAVG, _OF_CLASS, _SMALL)
ALGORITHM_2 = (
    algorithm_2(
        "",
        _ALGORITHM_2,
        "FedAvg as defined here, with full participation and a small step, reaches f*",
        kind="limit",
        origin="observed",
        reading="ours, no sentence of the paper: the nearest is what Section 5.4.1 sees in Figure 1, that all methods "
        "come to the optimal value in the end. A round is a function of w alone, so that its limit is a fixed point of "
        "the round",
        flaw="No proof is printed. After k_0 >= 2 local steps the clients have moved towards their own minimisers by "
        "amounts that do not add up to the gradient at the common point: the fixed point is biased.",
    ),
    algorithm_2(
        "repaired",
        replace(_ALGORITHM_2, algorithm=_one_step_each),
        "with one local step, k_0 = 1, FedAvg reaches f*: it is gradient descent",
        kind="limit",
        setting=_ONE_STEP,
        repairs="algorithm-2",
    ),
)

# Section 5.2

_penalties = Setting("all m and r_i", letters=(m, r_i))
_CONDITION = (sympy.Ge(sigma_i, 3 * alpha_i * r_i, evaluate=False),)


class Rows(NamedTuple):
    """The parameters of Algorithm 1 that its start depends on."""

    fed: fedadmm.Params


def _rows_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        lengths = [int(pick(rng, (1, 2, 3))) for _ in range(int(pick(rng, (1, 2, 3))))]
        yield {"clients": tuple({"a": small(rng, length), "b": small(rng, length)} for length in lengths)}


def _rows_build(recipe: Recipe, exact: bool) -> Instance:
    clients = recipe["clients"]
    if not clients or any(len(c["a"]) != len(c["b"]) or not any(c["a"]) for c in clients):
        raise ValueError("every client needs rows that are not all zero, and as many targets")
    f: Any = from_rows([numbers(c["a"], exact)[:, None] for c in clients], [numbers(c["b"], exact) for c in clients])
    one = numbers([1] * len(clients), exact)
    alpha, r = one / len(clients), f.H[:, 0, 0]
    everyone = Fixed(np.ones((1, len(clients)), dtype=bool))
    fed = fedadmm.Params(alpha, 3 * alpha * r, one / 2, one, 1, everyone, Exact())
    text = "; ".join(f"a_{i} = {_row(c['a'])}, b_{i} = {_row(c['b'])}" for i, c in enumerate(clients, 1))
    return Instance(Problem(f), Rows(fed), 0, lambda theta: (Problem(f), theta), text=text)


def _row(values: Any) -> str:
    return "(" + ", ".join(map(str, values)) + ")"


def _taken(problem: Problem, params: Rows, state: Array) -> Array:
    """pi_i^0 = 0, as in the experiments."""
    return 0 * _asked(problem, params, state)


def _asked(problem: Problem, params: Rows, state: object) -> Array:
    """-alpha_i grad f_i(0)."""
    return -params.fed.alpha[:, None] * problem.f.gradient(np.zeros((problem.n, 1), dtype=int))


def _begun(problem: Problem, params: Rows, state: object) -> Array:
    """pi_i^0 as Algorithm 1 computes it from w_i^0 = 0."""
    return fedadmm.init(problem, params.fed).Pi


_pi, _slope = parts("pi_i^0 -alpha_i*grad_f_i(w_i^0)")
_LEAST_SQUARES = Setting(
    "least squares as in Example 5.1, one feature, w_i^0 = 0",
    drawing=Drawing(special=Instances(_rows_recipes, _rows_build)),
)

section_52 = section("Section 5.2", _penalties, id="experiments")
SECTION_52 = (
    section_52(
        "step-condition",
        ParameterRule({sigma_i: sympy.Rational(1, 5) * r_i / m, alpha_i: 1 / m}, _CONDITION),
        "the experiments' sigma_i = 0.2 r_i/m satisfies the theorems' condition",
        origin="observed",
        reading="ours, no sentence of the paper, whose Section 5.2 sets sigma_i and does not mention the condition",
        flaw="With alpha_i = 1/m the theorems' 3 alpha_i r_i is 3 r_i/m, fifteen times the 0.2 r_i/m of the "
        "experiments.",
    ),
    section_52(
        "step-condition/repaired",
        ParameterRule({sigma_i: 3 * r_i / m, alpha_i: 1 / m}, _CONDITION),
        "sigma_i = 3 r_i/m, 15 times as much, satisfies it",
        repairs="experiments/step-condition",
    ),
    section_52(
        "initial-point",
        Identity(_pi, _slope, (Quantity(_pi, _taken), Quantity(_slope, _asked))),
        "the experiments' w_i = pi_i = 0 satisfies the algorithm's initialisation",
        kind="parameter-rule",
        setting=_LEAST_SQUARES,
        origin="observed",
        reading="ours, no sentence of the paper, whose Section 5.2 sets w_i^0 and pi_i^0 and does not mention those "
        "of Algorithm 1",
        flaw="pi_i^0 = -alpha_i grad f_i(w_i^0) is 0 at w_i^0 = 0 only where the gradient of f_i vanishes there.",
    ),
    section_52(
        "initial-point/repaired",
        Identity(_pi, _slope, (Quantity(_pi, _begun), Quantity(_slope, _asked))),
        "w_i^0 = 0 with pi_i^0 = -alpha_i grad f_i(0) satisfies it",
        kind="parameter-rule",
        setting=_LEAST_SQUARES,
        repairs="experiments/initial-point",
    ),
)

# Example 5.1


class Deal(NamedTuple):
    """``laws``: the law of each sample, in the order in which they are generated; ``sizes``: samples of each client."""

    laws: tuple[int, ...]
    sizes: tuple[int, ...]


def _deal_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        yield {"sizes": tuple(int(v) for v in rng.integers(1, 4, int(pick(rng, (2, 2, 3)))))}


def _deal_build(recipe: Recipe, exact: bool) -> Instance:
    sizes, total = recipe["sizes"], sum(recipe["sizes"])
    if len(sizes) < 2 or min(sizes) < 1 or total > 7:
        raise ValueError("two clients or more share at most seven samples")
    third = -(-total // 3)
    laws = ((0,) * third + (1,) * third + (2,) * max(0, total - 2 * third))[:total]
    return Instance(None, Deal(laws, sizes), 0, lambda theta: (None, theta), text=f"d_i = {_row(sizes)}, laws {laws}")


def _law_shares(deal: Deal, client: int, shuffled: bool) -> list[Fraction]:
    """The expected share of each law among a client's samples: its distribution is the mixture with these weights."""
    first = sum(deal.sizes[:client])
    places = range(first, first + deal.sizes[client])
    orders = list(permutations(deal.laws)) if shuffled else [deal.laws]
    found = [sum(order[p] == law for order in orders for p in places) for law in range(3)]
    return [Fraction(count, len(orders) * deal.sizes[client]) for count in found]


def _shared(problem: object, params: Deal, state: object, shuffled: bool) -> Array:
    """1 less the distance in variation of the laws of the first client's samples from those of the last's."""
    one, other = (_law_shares(params, client, shuffled) for client in (0, len(params.sizes) - 1))
    found = np.empty((1, 1), dtype=object)
    found[0, 0] = sum(map(min, one, other), Fraction(0))
    return found


_common = q("what_the_clients'_laws_share")
_DEALS = Setting(
    "samples of three laws, dealt out to the clients", drawing=Drawing(special=Instances(_deal_recipes, _deal_build))
)


def _different(shuffled: bool) -> Inequality:
    return Inequality(_common, sympy.S.One, (Quantity(_common, partial(_shared, shuffled=shuffled)),), strict=True)


example_51 = section("Example 5.1", _DEALS)
EXAMPLE_51 = (
    example_51(
        "",
        _different(True),
        "the generator gives clients different distributions",
        kind="property",
        origin="implied",
        reading="a reading of non-i.i.d. data, which is all that is printed: the laws of clients' samples differ. All "
        "orders of the samples are equally likely after the shuffle; enumerated for few samples. That the fixed "
        "numbers of samples of each law make them dependent, and so not i.i.d. by the letter, is another reading",
        flaw="The samples of the three laws are shuffled before they are dealt out, so that every client's are drawn "
        "from the same mixture; only their numbers differ.",
    ),
    example_51(
        "repaired",
        _different(False),
        "dealt out in the order of the laws, without the shuffle, the samples of clients have different laws",
        kind="property",
        repairs="example-5.1",
    ),
)

# Remark 4.2


class Pair(NamedTuple):
    """``x``, ``y (..., d)``."""

    x: Array
    y: Array


class Weights(NamedTuple):
    """``alpha (m,)``: the weights of the f_i, which sum to 1; ``first``: which f_i is f_1, counted from 0."""

    alpha: Array
    first: int


def _draw_weights(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    shares = tuple(int(pick(rng, (1, 1, 2, 7, 40))) for _ in recipe["clients"])
    return {**recipe, "shares": shares}


def _weights(recipe: Recipe, problem: Problem, exact: bool) -> Weights:
    shares = numbers(recipe["shares"], exact)
    check_shape(problem.n, *recipe["shares"])
    if len(shares) != problem.n:
        raise ValueError("every client has a weight")
    alpha = shares / shares.sum()
    return Weights(alpha, 0)


def _between(problem: Problem, params: Weights, state: Pair) -> Array:
    """<grad f(x) - grad f(y), x - y>."""
    slopes = weighted_gradient(problem, params.alpha, state.x) - weighted_gradient(problem, params.alpha, state.y)
    return (slopes * (state.x - state.y)).sum(axis=-1)


def _above_plane(problem: Problem, params: Weights, state: Pair) -> Array:
    """f(x) - f(y) - <grad f(y), x - y>."""
    rise = weighted_value(problem, params.alpha, state.x) - weighted_value(problem, params.alpha, state.y)
    slope: Array = weighted_gradient(problem, params.alpha, state.y)
    return rise - (slope * (state.x - state.y)).sum(axis=-1)


def _apart_squared(problem: Problem, params: Weights, state: Pair) -> Array:
    return ((state.x - state.y) ** 2).sum(axis=-1)


mu_1, alpha_1 = sympy.symbols("mu_1 alpha_1", positive=True)
_CONVEX = OneStronglyConvex(mu_1, L, "first")
_product, _square, _rise = parts("<grad_f(x)-grad_f(y),x-y> |x-y|^2 f(x)-f(y)-<grad_f(y),x-y>")
PRODUCT = Quantity(_product, _between)
SQUARE = Quantity(_square, _apart_squared)

remark_42 = section(
    "Remark 4.2",
    Setting(
        "f_1 strongly convex with mu_1, the others convex; any x and y",
        letters={mu_1: "mu", L: "L", alpha_1: lambda problem, params: params.alpha[params.first]},
        algorithm=points(Pair, Weights, lambda problem, params: Pair(problem.x_star, problem.x_star)),
        functions=_CONVEX,
        drawing=Drawing(classes_stated=True, draw=_draw_weights, parameters=_weights),
        domain=(sympy.Lt(alpha_1, 1, evaluate=False),),
        hints=Hints(signs=((lambda problem, params: params.alpha, True),)),
        clients=(2, 2, 3),
    ),
    Hypothesis("f_1 is mu_1-strongly convex, the others convex", met=_CONVEX.contains),
)
REMARK_42 = remark_42(
    "",
    alpha_1 * mu_1 * SQUARE <= PRODUCT,
    "one strongly convex f_i makes f strongly convex",
    kind="property",
    tex=r"f=\sum_{i=1}^m\alpha_if_i",
    reading="f = sum_i alpha_i f_i, of any weights, is strongly convex with alpha_1 mu_1",
)
COERCIVE = remark_42(
    "coercive",
    alpha_1 * mu_1 / 2 * SQUARE <= Quantity(_rise, _above_plane),
    "it makes f coercive: f lies above a paraboloid",
    kind="property",
    tex="",
    reading="f(x) is at least f(y) + <grad f(y), x - y> + (alpha_1 mu_1/2) |x - y|^2, which tends to infinity with |x|",
)
