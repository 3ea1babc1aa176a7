"""Runs of Algorithm 1 in few dimensions, each iteration by the algorithm's own code, in floats or fractions.

A recipe says the clients' functions, who takes part in each round, and the residuals with which eq. (6) is met; the
coordinates are w_i^0 and w^{tau_0}. A statement about a run concerns iteration ``k`` and client ``i``, which
are any, and of the whole history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import fedadmm
from fedtheory.algorithms.selections import Fixed, covers, gaps
from fedtheory.instances import Instance, Instances, Recipe, number, numbers, pick
from fedtheory.learning.subproblems import Adversary
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedadmm import iterates
from fedtheory.papers.fedadmm.letters import alpha_i, k, k0, m, nu_i, q, r_i, s0, sigma_bar, sigma_i
from fedtheory.problems.base import Problem, weighted_gradient, weighted_value
from fedtheory.problems.nonconvex import LessHuber
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

#: Iterations of a run, at most.
LONGEST = 14


class ScheduledRun(NamedTuple):
    """``fed``: the parameters of Algorithm 1; ``masks (rounds, m)``: who takes part; ``r (m,)``: declared Lipschitz
    constants; ``s0``: the windows of Scheme 4.1; ``k``, ``i``: of which iteration and client a statement speaks;
    ``zero``: whether the multipliers start at 0, as in the experiments."""

    fed: fedadmm.Params
    masks: Array
    r: Array
    s0: int
    k: int
    i: int
    zero: bool

    @property
    def round(self) -> int:
        """tau_{k+1}, from 1."""
        return self.k // self.fed.k0 + 1

    @property
    def idle(self) -> Array:
        """Who does not take part in round tau_{k+1}, ``(m,)``."""
        return ~self.masks[self.round - 1]

    @property
    def last(self) -> list[int]:
        """k_i of Appendix C for every client: the last iteration up to k at which it is active, -1 if there is none."""
        active = np.repeat(self.masks, self.fed.k0, axis=0)[: self.k + 1]
        return [int(np.flatnonzero(column).max(initial=-1)) for column in active.T]


class History(NamedTuple):
    """All states of a run, with the iteration as the first axis: as :class:`fedadmm.State`."""

    w: Array
    W: Array
    Pi: Array
    Z: Array
    eps: Array

    def states(self) -> list[fedadmm.State]:
        """The states one by one, the initial one first; of ``eps`` one row for all replicas."""
        each = zip(*(part if part.ndim > 2 else part[:, None, None, :] for part in self), strict=True)
        return [fedadmm.State(*parts) for parts in each]


#: As in Algorithm 1, with the points that meet eq. (6).
PARTS = {
    "W": "w_i <- the point with alpha_i grad f_i(w_i) + pi_i + sigma_i (w_i - w) = its residual (0, or as given), for "
    "participants",
}


@dataclass(frozen=True)
class RunView:
    """The quantities of one run; ``j`` counts iterations. Vectors are ``(..., m, d)``, squares ``(..., m)``."""

    problem: Problem
    run: ScheduledRun
    history: History

    @cached_property
    def fed(self) -> fedadmm.Params:
        """The parameters of the run."""
        return self.run.fed

    def state(self, j: int) -> fedadmm.State:
        """The state after j iterations."""
        return fedadmm.State(*(part[j] for part in self.history))

    def g(self, j: int) -> Array:
        """alpha_i grad f_i(w_i^j)."""
        return self.fed.alpha[:, None] * self.problem.f.gradient(self.history.W[j])

    def phi(self, j: int) -> Array:
        """Eq. (37): g_i^j + pi_i^j."""
        return self.g(j) + self.history.Pi[j]

    def move(self, j: int) -> Array:
        """|w_i^{j+1} - w_i^j|^2."""
        return square(self.history.W[j + 1] - self.history.W[j])

    def away(self, j: int) -> Array:
        """|w_i^j - w^{tau_j}|^2."""
        return square(self.history.W[j] - self.history.w[j][..., None, :])

    def server(self, j: int) -> Array:
        """|w^{tau_{j+1}} - w^{tau_j}|^2, ``(...)``."""
        return square(self.history.w[j + 1] - self.history.w[j])

    def rounds(self, first: int, last: int) -> Array:
        """Sum of |w^{t+1} - w^t|^2 for first <= t < last, where w^t is the server's model of round t."""
        k0 = self.fed.k0
        models = [self.history.w[0], *self.history.w[1::k0]]
        return sum((square(models[t + 1] - models[t]) for t in range(first, last)), 0 * self.server(0))

    def lagrangian(self, j: int) -> Array:
        """Eqs. (12) and (22): the augmented Lagrangian at iteration j, ``(...)``."""
        return iterates.lagrangian(self.problem, self.fed, self.state(j))

    def tolerances(self, j: int) -> Array:
        """sum_i eps_i^j/((1 - nu_i) sigma_i), ``(...)``."""
        return iterates.tolerance(self.problem, self.fed, self.state(j)).sum(axis=-1)

    def lyapunov(self, j: int) -> Array:
        """Eq. (22)."""
        return self.lagrangian(j) + 29 * self.tolerances(j)

    def value(self, j: int) -> Array:
        """f(w^{tau_j})."""
        return iterates.objective(self.problem, self.fed, self.state(j))

    def slope(self, j: int) -> Array:
        """|grad f(w^{tau_j})|^2."""
        return square(weighted_gradient(self.problem, self.fed.alpha, self.history.w[j]))


def quantity(name: str, of: Callable[[RunView, int], Array]) -> Quantity:
    """Return the quantity ``of(view, k)`` at iteration k of a run, ``(...)`` or, one per client, ``(..., m)`` at client
    i.
    """

    def value(problem: Problem, run: ScheduledRun, history: History) -> Array:
        # A number of the run alone is the same for all starts.
        return np.atleast_2d(of(RunView(problem, run, history), run.k))

    return Quantity(q(name), value)


def of_client(name: str, of: Callable[[RunView, int], Array]) -> Quantity:
    """Return the quantity ``of(view, k)``, ``(..., m)``, of client i at iteration k of a run."""

    def value(problem: Problem, run: ScheduledRun, history: History) -> Array:
        return np.atleast_2d(np.asarray(of(RunView(problem, run, history), run.k))[..., run.i])

    return Quantity(q(name), value)


# Instances


def lowest(problem: Problem, alpha: Array) -> Scalar:
    """f*, the infimum of sum_i alpha_i f_i for functions that are bent along the first coordinate: exact on fractions.

    The slope is linear between bends, so that the minimiser is a root of it or lies at a bend.
    """
    f: Any = problem.f
    line: Any = LessHuber(f.h[:, :1], f.c[:, :1], f.u[:, :1], f.b, f.t, f.width)
    weights = alpha[:, None] * f.h[:, 1:]
    mean = (weights * f.c[:, 1:]).sum(axis=0) / weights.sum(axis=0)
    least: Any = _lowest_on_a_line(Problem(line), alpha)
    return least + (weights * (f.c[:, 1:] - mean) ** 2 / 2).sum()


def _lowest_on_a_line(problem: Problem, alpha: Array) -> Scalar:
    f: Any = problem.f
    bends = {(f.t[i] + side * f.width[i]) / f.u[i, 0] for i in range(f.n) if f.u[i, 0] != 0 for side in (-1, 1)}
    # Beyond it every f_i bends back to its parabola, whose vertex lies within.
    reach = max(abs(f.c[:, 0]) + abs(f.t) + (f.b * abs(f.u[:, 0]) / f.h[:, 0] + 1) * f.width) + 1
    knots = sorted({-reach, *(v for v in bends if abs(v) < reach), reach})
    found = list(knots)
    for left, right in pairwise(knots):
        a, b = (weighted_gradient(problem, alpha, np.array([v]))[0] for v in (left, right))
        if a < 0 < b:
            found.append(left - a * (right - left) / (b - a))
    return min(weighted_value(problem, alpha, np.array([v])) for v in found)


_FACTORS = tuple(Fraction(v) for v in (3, 3, 3, 3, "7/2", 5, 20))
_SMALL = tuple(Fraction(v) for v in ("1/5", 1, "13/5", "14/5"))
#: Curvatures, of the coordinates along which nothing bends.
_CURVATURES = tuple(Fraction(v) for v in (1, 1, 2, "1/2", "1/50"))
#: Squares, so that the residuals are rational.
_SQUARES = tuple(Fraction(v) for v in ("9/16", "9/16", "16/25", "81/100", "9801/10000"))
#: A client beside one of weight 1 with sigma_i = 3 alpha_i r_i, both of the same curvature.
DECIMAL = {"weight": Fraction(3), "factor": Fraction(9)}
#: Curvatures, and penalties in units of alpha_i r_i, of a client that waits and of another, which comes to rest
#: meanwhile or is slow.
_RESTING = (((10, 1), (3, 3)), ((1, 1), (3, 20)))
_SLOW = tuple(((1, h), (3, factor)) for h in (1, 3) for factor in (3, 20, 20))
_ACCURACIES = tuple(Fraction(v) for v in (1, "1/4", "1/100", "1/1000000", 4))
#: The share of nu_i eps_i^k that is eps_i^{k+1}, by (5).
_FALLS = tuple(Fraction(v) for v in (1, 1, 1, "1/2"))


def plan(rng: np.random.Generator, clients: int, s0: int, windows: int) -> Array:
    """Rounds ``(windows * s0, clients)`` of Scheme 4.1; now and then with the longest wait there is."""
    masks = rng.random((windows, s0, clients)) < rng.random()
    for window in range(windows):
        for i in range(clients):
            masks[window, int(rng.integers(s0)), i] |= not masks[window, :, i].any()
    if rng.random() < 0.6:
        waits = np.zeros((windows, s0), dtype=bool)
        waits[0::2, 0] = True
        waits[1::2, -1] = True
        masks[:, :, 0] = waits
        masks[:, :, 1:] |= rng.random() < 0.7
    return filled(rng, masks.reshape(windows * s0, clients))


def filled(rng: np.random.Generator, masks: Array) -> Array:
    """The rounds, with one client in those that had none."""
    someone = np.eye(masks.shape[1], dtype=bool)[rng.integers(masks.shape[1], size=len(masks))]
    return np.where(masks.any(axis=1, keepdims=True), masks, someone)


def _client(rng: np.random.Generator, rounds: tuple[int, ...], k0: int, exact: bool, d: int = 1) -> Recipe:
    bent = rng.random() < 0.4
    return {
        "others": tuple((pick(rng, _CURVATURES), Fraction(int(rng.integers(-4, 5)))) for _ in range(d - 1)),
        "weight": Fraction(int(pick(rng, (1, 1, 1, 2, 3)))),
        "h": pick(rng, tuple(Fraction(v) for v in (1, 1, 2, 3, "1/2", 10, "1/50"))),
        "c": Fraction(int(rng.integers(-4, 5)), 1),
        "b": pick(rng, tuple(Fraction(v) for v in (1, 2, 4))) if bent else Fraction(0),
        "t": Fraction(int(rng.integers(-3, 4)), 2),
        "width": pick(rng, tuple(Fraction(v) for v in ("1/2", 1, 3))),
        "declared": Fraction(1) if rng.random() < 0.97 else Fraction(1, 2),
        "factor": pick(rng, _FACTORS) if rng.random() < 0.93 else pick(rng, _SMALL),
        "nu": pick(rng, _SQUARES),
        "eps": pick(rng, _ACCURACIES),
        "fall": pick(rng, _FALLS),
        "size": Fraction(0) if exact else pick(rng, tuple(Fraction(v) for v in (1, 1, "1/2", 0))),
        "signs": tuple(int(v) for v in rng.integers(0, 2, len(rounds) * k0)),
        "rounds": rounds,
    }


def _waiting(rng: np.random.Generator) -> Recipe:
    """A client that waits for as long as Scheme 4.1 lets it, at the end of its wait, while the other takes part."""
    rest = bool(rng.random() < 0.5)
    s0 = 4 if rest else int(pick(rng, (2, 3, 3)))
    total = 2 * s0
    columns = [tuple(int(t in (0, total - 1)) for t in range(total)), (1,) * total]
    clients = [_client(rng, column, 1, True) for column in columns]
    # Either the other has come to rest by then, or it is slow.
    curved, factors = pick(rng, _RESTING if rest else _SLOW)
    changes = [
        {
            "h": Fraction(h),
            "factor": Fraction(factor),
            "eps": Fraction(1, 10**9),
            **{name: Fraction(0) for name in ("b", "c", "t")},
            **{name: Fraction(1) for name in ("weight", "width", "declared")},
        }
        for h, factor in zip(curved, factors, strict=True)
    ]
    both = tuple({**client, **change} for client, change in zip(clients, changes, strict=True))
    return {"k0": 1, "s0": s0, "k": total - 2, "i": 0, "zero": 0, "clients": both}


#: The share of runs with more clients than decide most statements.
_OFTEN = 0.08


def recipes(rng: np.random.Generator, schemes: bool = True, k0s: tuple[int, ...] = (1, 1, 2, 3)) -> Iterator[Recipe]:
    """Runs; one of eight breaks Scheme 4.1, and one of eight starts with multipliers 0."""
    while True:
        if rng.random() < 0.2:
            yield _waiting(rng)
        clients, s0 = int(pick(rng, (1, 2, 2, 2, 3))), int(pick(rng, (1, 2, 2, 3, 4)))
        clients = clients if rng.random() > _OFTEN else int(rng.integers(4, 11))
        k0 = int(pick(rng, k0s))
        masks = plan(rng, clients, s0, 2 if s0 > 1 else 3)[: max(LONGEST // k0, 1)]
        if schemes and rng.random() < 1 / 8:
            masks = filled(rng, rng.random(masks.shape) < 1 / 2)
        exact, d = rng.random() < 0.4, int(pick(rng, (1, 1, 2, 3)))
        rounds = [tuple(int(v) for v in column) for column in masks.T]
        # Iterations that begin a round are those of which most statements speak.
        begins = int(rng.integers(len(masks))) * k0
        yield {
            "k0": k0,
            "s0": s0,
            "k": begins if rng.random() < 0.7 else int(rng.integers(len(masks) * k0)),
            "i": int(rng.integers(clients)),
            "zero": int(schemes and rng.random() < 1 / 8),
            "clients": tuple(_client(rng, one, k0, exact, d) for one in rounds),
        }


def build(recipe: Recipe, exact: bool, of_round: bool = False) -> Instance:
    """The run of a recipe; ``of_round``: only where k begins a round, k in K. Raise ``ValueError`` if there is none."""
    clients, k0, s0 = recipe["clients"], recipe["k0"], recipe["s0"]
    columns = [c["rounds"] for c in clients]
    if not clients or len({len(column) for column in columns}) != 1 or k0 < 1 or s0 < 1:
        raise ValueError("a run needs clients, as many rounds of each, and k_0, s_0 >= 1")
    masks = np.array(columns, dtype=bool).T
    total = len(masks) * k0
    if not masks.any(axis=1).all():
        raise ValueError("somebody takes part in every round")
    if not (0 <= recipe["k"] < total <= LONGEST) or not 0 <= recipe["i"] < len(clients):
        raise ValueError("k must be an iteration of the run and i a client")
    if of_round and recipe["k"] % k0:
        raise ValueError("k must begin a round")
    if any(len(c["signs"]) < total or not Fraction(1, 2) <= c["nu"] < 1 for c in clients):
        raise ValueError("a run needs a sign for each iteration and 1/2 <= nu_i < 1")
    if any(min(c["weight"], c["h"], c["width"], c["declared"], c["factor"], c["eps"]) <= 0 for c in clients):
        raise ValueError("weights, curvatures, penalties and accuracies must be positive")
    d = 1 + len(clients[0]["others"])
    if any(len(c["others"]) != d - 1 or any(v <= 0 for v, _ in c["others"]) for c in clients):
        raise ValueError("the functions of all clients have as many coordinates, with positive curvatures")
    if any(c["b"] < 0 or not 0 <= c["size"] <= 1 or not 0 < c.get("fall", 1) <= 1 for c in clients):
        raise ValueError("bends must not be negative, residuals lie in [0, 1], and parts in (0, 1]")
    h, c, b, t, width = (numbers([client[name] for client in clients], exact) for name in ("h", "c", "b", "t", "width"))
    bends = numbers([int(client["b"] > 0) for client in clients], exact)
    others = ([pair[part] for one in clients for pair in one["others"]] for part in (0, 1))
    rest = (numbers(values, exact).reshape(len(clients), d - 1) for values in others)
    h, c = (np.concatenate([first[:, None], more], axis=1) for first, more in zip((h, c), rest, strict=True))
    first = numbers([1] + [0] * (d - 1), exact)
    f: Any = LessHuber(h, c, bends[:, None] * first, np.where(b > 0, b, 1 + 0 * b), t, width)
    weights = numbers([client["weight"] for client in clients], exact)
    alpha = weights / weights.sum()
    r = numbers([client["declared"] for client in clients], exact) * f.L
    nu, eps, factor, size = (numbers([c_[name] for c_ in clients], exact) for name in ("nu", "eps", "factor", "size"))
    fall = numbers([c_.get("fall", 1) for c_ in clients], exact)
    along = numbers([Fraction(3, 5), Fraction(4, 5), 0][:d] if d > 1 else [1], exact)
    solver = Adversary(size[:, None] * along)
    fed = fedadmm.Params(alpha, factor * alpha * r, nu, eps, k0, Fixed(masks), solver)
    falling = fed._replace(nu=fall * nu)
    run = ScheduledRun(fed, masks, r, s0, recipe["k"], recipe["i"], bool(recipe["zero"]))
    problem = Problem(f)
    signs = np.array([client["signs"][:total] for client in clients], dtype=bool).T

    def at(theta: Array) -> tuple[Problem, History]:
        blocks = theta.reshape(len(theta), 1, -1, d)
        W, w = blocks[..., :-1, :], blocks[..., -1, :]
        start = fedadmm.init(problem, falling, W, 0 * W if run.zero else None, w)
        return problem, _stacked([start, *fedadmm.iterations(problem, falling, start, fedadmm.Draws(masks, signs))])

    plain = all(client["b"] == 0 and client["size"] == 0 for client in clients)
    return Instance(problem, run, (len(clients) + 1) * d, at, quadratic=plain, text=_words(recipe, run))


def _stacked(states: list[fedadmm.State]) -> History:
    last = states[-1]
    return History(*(np.stack([np.broadcast_to(s[p], np.shape(last[p])) for s in states]) for p in range(len(last))))


def _words(recipe: Recipe, run: ScheduledRun) -> str:
    head = ", ".join(f"{name}={recipe[name]}" for name in ("k0", "s0", "k"))
    chosen = (", ".join(str(i) for i in np.flatnonzero(row) + 1) for row in run.masks)
    more = ", pi^0 = 0" if recipe["zero"] else ""
    more += ", Omega: " + ", ".join(f"{{{them}}}" for them in chosen)
    for name in ("alpha", "sigma", "nu"):
        values = getattr(run.fed, name)
        more += f", {name} = ({', '.join(map(str, values))})" if (values != values[0]).any() else ""
    clients = []
    for index, c in enumerate(recipe["clients"], 1):
        others = "".join(f", {h} at {x}" for h, x in c["others"])
        bend = f", bend {c['b']} of width {c['width']} at {c['t']}" if c["b"] else ""
        rounds = " ".join(str(t) for t, one in enumerate(c["rounds"], 1) if one)
        part = c.get("fall", 1)
        fall = f", eps_i^{{k+1}} = {part} nu_i eps_i^k" if part != 1 else ""
        clients.append(
            f"f_{index}: curvature {c['h']} at {c['c']}{others}{bend}, weight {c['weight']}, "
            f"r_i = {c['declared']} L_i, "
            f"sigma_i = {c['factor']} alpha_i r_i, nu_i = {c['nu']}{fall}, eps_i^0 = {c['eps']}, "
            f"residual {c['size']}, "
            f"in rounds {rounds}"
        )
    return f"m={len(clients)}, {head}, i={recipe['i'] + 1}{more}; " + "; ".join(clients)


def _shorter_windows(recipe: Recipe) -> Iterator[Recipe]:
    """The run without the second round of each window."""
    k0, s0 = recipe["k0"], recipe["s0"]
    kept = [t for t in range(len(recipe["clients"][0]["rounds"])) if t % s0 != 1]
    at, within = divmod(recipe["k"], k0)
    if at in kept:
        clients = tuple(
            {
                **c,
                "rounds": tuple(c["rounds"][t] for t in kept),
                "signs": tuple(sign for t in kept for sign in c["signs"][t * k0 : (t + 1) * k0]),
            }
            for c in recipe["clients"]
        )
        yield {**recipe, "clients": clients, "s0": s0 - 1, "k": kept.index(at) * k0 + within}


def shorter(recipe: Recipe) -> Iterator[Recipe]:
    """The run with fewer rounds, fewer inner iterations, other functions that are simple, or without a client."""
    clients, k0 = recipe["clients"], recipe["k0"]
    rounds = len(clients[0]["rounds"])

    def cut(length: int, k0: int, k: int) -> Recipe:
        found = tuple({**c, "rounds": c["rounds"][:length], "signs": c["signs"][: length * k0]} for c in clients)
        return {**recipe, "clients": found, "k0": k0, "k": k}

    if recipe["s0"] > 1:
        yield from _shorter_windows(recipe)
    if len(clients) == 2 and recipe["i"] == 0:
        # The server's models are decimals then, of two digits more after every round.
        yield {**recipe, "clients": (clients[0], {**clients[1], **DECIMAL})}
        rounds_of_other = (0, *clients[1]["rounds"][1:])
        yield {**recipe, "clients": (clients[0], {**clients[1], **DECIMAL, "rounds": rounds_of_other})}
    if clients[0]["others"]:
        yield {**recipe, "clients": tuple({**c, "others": ()} for c in clients)}
    for length in range(recipe["k"] // k0 + 1, rounds):
        yield cut(length, k0, recipe["k"])
    if k0 > 1:
        yield cut(rounds, 1, recipe["k"] // k0)
    if recipe["i"] > 0 and len(clients) > 1:
        others = (clients[recipe["i"]], *(c for j, c in enumerate(clients) if j != recipe["i"]))
        yield {**recipe, "clients": others, "i": 0}
    for j, c in enumerate(clients):
        if c["b"] or c["size"] or c.get("fall", 1) != 1:
            plain = {
                **c,
                "fall": Fraction(1),
                "b": Fraction(0),
                "size": Fraction(0),
                "t": Fraction(0),
                "width": Fraction(1),
            }
            yield {**recipe, "clients": (*clients[:j], plain, *clients[j + 1 :])}


RUNS = Instances(recipes, build, shorter)
ROUNDS = Instances(recipes, partial(build, of_round=True), shorter)


# Settings and hypotheses


def _of_client(values: Callable[[ScheduledRun], Array]) -> Callable[[Any, ScheduledRun], Any]:
    return lambda problem, run: values(run)[run.i]


LETTERS: dict[Any, Any] = {
    m: lambda problem, run: len(run.r),
    k0: lambda problem, run: run.fed.k0,
    s0: "s0",
    k: "k",
    alpha_i: _of_client(lambda run: run.fed.alpha),
    r_i: _of_client(lambda run: run.r),
    sigma_i: _of_client(lambda run: run.fed.sigma),
    nu_i: _of_client(lambda run: run.fed.nu),
    sigma_bar: lambda problem, run: max(run.fed.sigma),
}
_TEXT = (
    "Algorithm 1 on functions of one to three variables, convex or bent along the first, coercive; any subsets, any "
    "points that meet (6), any W^0 and w^{tau_0}; "
)
RUN = Setting(_TEXT + "any k >= 0 and any client i", letters=LETTERS, drawing=Drawing(special=RUNS))
ROUND = Setting(_TEXT + "any k in K and any client i", letters=LETTERS, drawing=Drawing(special=ROUNDS))


def step_condition(factor: Scalar) -> Hypothesis:
    """sigma_i >= factor alpha_i r_i for every client."""

    def met(problem: Problem, run: ScheduledRun) -> bool:
        least = number(factor, True) * run.fed.alpha * run.r
        return all(a >= b for a, b in zip(run.fed.sigma, least, strict=True))

    return Hypothesis(f"sigma_i >= {factor} alpha_i r_i for every i", met=met)


SMOOTH = Hypothesis(
    "Assumption 4.1: grad f_i is r_i-Lipschitz",
    met=lambda problem, run: all(a <= b for a, b in zip(problem.f.L, run.r, strict=True)),
)
STEP = step_condition(Fraction(3))
START = Hypothesis("pi_i^0 = -alpha_i grad f_i(w_i^0), as Algorithm 1 says", met=lambda problem, run: not run.zero)
SCHEME = Hypothesis("Scheme 4.1", met=lambda problem, run: covers(run.masks, run.s0))
CONSECUTIVE = Hypothesis(
    "eq. (21): at most s_0 rounds from one selection of a client to its next",
    met=lambda problem, run: bool(gaps(run.masks).max() <= run.s0),
)
IDLE = Hypothesis(
    "i is not in Omega^{tau_{k+1}}, but was selected before",
    met=lambda problem, run: bool(run.idle[run.i]) and run.last[run.i] >= 0,
)
LATE = Hypothesis("k >= s_0 k_0", met=lambda problem, run: run.k >= run.s0 * run.fed.k0)
