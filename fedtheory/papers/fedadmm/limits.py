"""FedADMM, Theorems 4.1 and 4.2 and Corollary 4.1: limits, by long runs of Algorithm 1 on functions of the plane."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import fedadmm
from fedtheory.algorithms.base import Algorithm
from fedtheory.claims import Claim, Hypothesis
from fedtheory.classes import SmoothStronglyConvex
from fedtheory.instances.base import Instance, Instances, Recipe, numbers, pick
from fedtheory.iterations import BoundedBelow, Recurs
from fedtheory.papers.fedadmm.letters import q
from fedtheory.papers.fedadmm.runs import square
from fedtheory.papers.fedadmm.transition import SELECTED, SMOOTH, STEP, lagrangian, objective, ratio
from fedtheory.problems.base import Problem
from fedtheory.problems.bent import Bent, bent
from fedtheory.problems.receding import Receding, receding
from fedtheory.problems.weighted import weighted_gradient, weighted_value
from fedtheory.rational import Array, to_float
from fedtheory.selections import Covering, Fixed
from fedtheory.settings import Setting
from fedtheory.statements import Eventually, Limit, Quantity, Readings
from fedtheory.subproblems import Adversary, Exact
from fedtheory.symbols import L, mu


class Params(NamedTuple):
    """As :class:`fedadmm.Params`, and ``r (m,)``: declared Lipschitz constants; ``ratio``: the alpha_i r_i/sigma_i of
    all clients, a fraction; ``convex``: a bound on the curvature of f from below; ``w (d,)``: a stationary point, the
    minimiser where f is convex; ``zero``: whether the multipliers start at 0."""

    alpha: Array
    sigma: Array
    nu: Array
    eps: Array
    k0: int
    selection: Any
    solver: Any
    r: Array
    ratio: Fraction
    convex: float
    w: Array
    zero: bool


#: The largest sigma_i/(alpha_i r_i): a run takes in proportion to it.
_LARGEST = 10
_KINDS = ("bent", "bent", "convex", "strong", "receding", "tail")


def _recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        m = int(pick(rng, (2, 3, 4)))
        yield {
            "m": m,
            "d": 2,
            "kind": pick(rng, _KINDS),
            "functions": int(rng.integers(1000)),
            "k0": int(pick(rng, (1, 1, 2))),
            "s0": int(pick(rng, (2, 3))),
            "size": max(1, m // 2),
            "scheme": int(rng.random() < 0.9),
            "zero": int(rng.random() < 0.1),
            "residual": pick(rng, tuple(Fraction(v) for v in (0, "1/2", 1))),
            "factor": pick(rng, (Fraction(3),) * 8 + (Fraction(4), Fraction(2))),
            "declared": pick(rng, (Fraction(1),) * 9 + (Fraction(1, 2),)),
            "nu": pick(rng, (Fraction(1, 2), Fraction(3, 4))),
            "eps": pick(rng, (Fraction(1), Fraction(1, 100))),
        }


def _functions(recipe: Recipe, alpha: Array, rng: np.random.Generator) -> tuple[Any, float, Array]:
    """The f_i, a lower bound of the curvature of f, and a stationary point of f."""
    m, d = recipe["m"], recipe["d"]
    if recipe["kind"] == "receding":
        return receding(m, d, rng, to_float), -np.inf, np.full(d, np.nan)
    if recipe["kind"] == "tail":
        # Convex, and not coercive.
        flat = receding(m, d, rng, to_float)
        return Receding(flat.a, 0 * flat.b, flat.c, flat.e), 0.0, np.full(d, np.nan)
    f: Any = bent(m, d, rng, to_float)
    if recipe["kind"] in ("convex", "strong"):
        # The other functions make up for the bend of the first.
        wanted = 0.5 if recipe["kind"] == "strong" else 0.0
        missing = max(0.0, wanted - float((alpha * f.mu).sum()))
        more = np.where(np.arange(m) > 0, missing / alpha[1:].sum(), 0.0)
        f = Bent(f.h + more[:, None], f.c, f.u, f.b, f.t, f.width)
    w: Any = rng.standard_normal(d)
    return f.stationary_at(w, alpha), float((alpha * f.mu).sum()), w


def _build(recipe: Recipe, exact: bool) -> Instance:
    m, d = recipe["m"], recipe["d"]
    if m < 2 or d < 1 or not 1 <= recipe["size"] <= m or min(recipe["k0"], recipe["s0"]) < 1:
        raise ValueError("a long run needs two clients or more and subsets of them")
    if min(recipe["factor"], recipe["declared"], recipe["eps"]) <= 0 or not Fraction(1, 2) <= recipe["nu"] < 1:
        raise ValueError("penalties and accuracies must be positive, 1/2 <= nu_i < 1")
    if recipe["factor"] > _LARGEST:
        raise ValueError(f"with penalties above {_LARGEST} alpha_i r_i runs take too long")
    if not 0 <= recipe["residual"] <= 1:
        raise ValueError("residuals lie in [0, 1]")
    rng = np.random.default_rng(recipe["functions"])
    alpha = rng.dirichlet(np.full(m, 3.0))
    f, convex, w = _functions(recipe, alpha, rng)
    r = to_float(recipe["declared"]) * to_float(f.L)
    direction = rng.standard_normal((m, d))
    direction *= float(recipe["residual"]) * (1 - 1e-12) / np.sqrt(square(direction))[:, None]
    size, s0 = recipe["size"], max(recipe["s0"], -(-m // recipe["size"]))
    selection: Any = Covering(m, size, s0) if recipe["scheme"] else Fixed(np.arange(m)[None] < size)
    sigma = float(recipe["factor"]) * alpha * r
    nu, eps = np.full(m, float(recipe["nu"])), np.full(m, float(recipe["eps"]))
    params = Params(
        alpha,
        sigma,
        nu,
        eps,
        recipe["k0"],
        selection,
        Adversary(direction),
        r,
        1 / recipe["factor"],
        convex,
        w,
        bool(recipe["zero"]),
    )
    problem = Problem(f)

    def at(theta: Array) -> tuple[Problem, fedadmm.State]:
        blocks = 3 * to_float(theta).reshape(len(theta), 1, m + 1, d)
        W, start = blocks[..., 1:, :], blocks[..., 0, :]
        state = fedadmm.init(problem, params, W, 0 * W if params.zero else None, start)  # type: ignore[arg-type]
        return problem, state._replace(eps=np.broadcast_to(eps, (len(theta), 1, m)))

    text = ", ".join(f"{name}={recipe[name]}" for name in recipe)
    return Instance(problem, params, (m + 1) * d, at, quadratic=False, text=text)


LONG_RUNS = Instances(_recipes, _build)
LONG = Setting(
    "Algorithm 1 on f_i convex or not, two coordinates; random subsets, residuals as large as (6) allows; any start; "
    f"sigma_i <= {_LARGEST} alpha_i r_i, beyond which runs take too long. What is looked at are runs of some hundred "
    "steps that approach their limit at a geometric rate: such runs support a limit, and refute none",
    letters={ratio: "ratio"},
    special=LONG_RUNS,
)

COERCIVE = Hypothesis(
    "Assumption 4.2: f is coercive",
    met=lambda problem, params: not isinstance(problem.f, Receding),
    says=BoundedBelow(objective),
)
SCHEME = Hypothesis(
    "Scheme 4.1", met=lambda problem, params: isinstance(params.selection, Covering), says=Recurs(SELECTED)
)
START = Hypothesis(
    "pi_i^0 = -alpha_i grad f_i(w_i^0), as Algorithm 1 says", met=lambda problem, params: not params.zero
)
CONVEX = Hypothesis("f is convex", met=lambda problem, params: params.convex >= 0)
STRONG = Hypothesis("f is strongly convex", met=lambda problem, params: params.convex > 1e-3)
ASSUMED = (SMOOTH, COERCIVE, STEP, SCHEME)


# Quantities


def _g(problem: Problem, params: Any, state: Any) -> Array:
    slope: Array = params.alpha[:, None] * problem.f.gradient(state.W)
    return slope


def values(problem: Problem, params: Any, state: Any) -> Array:
    """F(W^k)."""
    total: Array = (params.alpha * problem.f.value(state.W)).sum(axis=-1)
    return total


def _least(params: Any, problem: Problem) -> Any:
    return weighted_value(problem, params.alpha, params.w)


def _above(of: Any) -> Any:
    return lambda problem, params, state: of(problem, params, state) - _least(params, problem)


def _lagrangian_from_values(problem: Problem, params: Any, state: Any) -> Array:
    return lagrangian(problem, params, state) - values(problem, params, state)


def _values_from_value(problem: Problem, params: Any, state: Any) -> Array:
    return values(problem, params, state) - objective(problem, params, state)


def _gradient(problem: Problem, params: Any, state: Any) -> Array:
    return weighted_gradient(problem, params.alpha, state.w)


def _sum_of_gradients(problem: Problem, params: Any, state: Any) -> Array:
    total: Array = _g(problem, params, state).sum(axis=-2)
    return total


def _squared_blocks(problem: Problem, params: Any, state: Any) -> Array:
    """sum_i |g_i|^2, the squared gradient of F as a function of m blocks."""
    total: Array = (_g(problem, params, state) ** 2).sum(axis=(-1, -2))
    return total


def _stationary(problem: Problem, params: Any, state: Any) -> Array:
    return _g(problem, params, state) + state.Pi


def _agreement(problem: Problem, params: Any, state: Any) -> Array:
    gap: Array = state.W - state.w[..., None, :]
    return gap


def _multipliers(problem: Problem, params: Any, state: Any) -> Array:
    total: Array = state.Pi.sum(axis=-2)
    return total


def part(name: str) -> Any:
    """The part of a state that has the name."""
    return lambda problem, params, state: getattr(state, name)


def _from_optimum(name: str) -> Any:
    def of(problem: Problem, params: Any, state: Any) -> Array:
        W = params.w + 0 * state.W
        goal = {"w": params.w, "W": W, "Pi": -params.alpha[:, None] * problem.f.gradient(W)}
        away: Array = getattr(state, name) - goal[name]
        return away

    return of


def _long(**said: tuple[Quantity, ...]) -> Eventually:
    return Eventually(_OWN, **said)  # type: ignore[arg-type]


#: Algorithm 1, whose parameters may carry more than it asks for.
_OWN: Algorithm = fedadmm.algorithm
_STATE = tuple(Quantity(q(name), part(field)) for name, field in (("w^{tau_k}", "w"), ("W^k", "W"), ("Pi^k", "Pi")))
_SHARED = (
    Quantity(q("L^k-F(W^k)"), _lagrangian_from_values),
    Quantity(q("F(W^k)-f(w^{tau_k})"), _values_from_value),
)
_OPTIMAL = tuple(
    Quantity(q(name), _above(of))
    for name, of in (("L^k-f*", lagrangian), ("F(W^k)-f*", values), ("f(w)-f*", objective))
)
_STATIONARY = (
    Quantity(q("alpha_i*grad_f_i(w_i^k)+pi_i^k"), _stationary),
    Quantity(q("w_i^k-w^{tau_k}"), _agreement),
    Quantity(q("sum_i(pi_i^k)"), _multipliers),
)
_GRADIENT = Quantity(q("grad_f(w^{tau_k})"), _gradient)
_SUM = Quantity(q("sum_i(g_i^k)"), _sum_of_gradients)

# The literal reading of grad F, at a stationary point, which Algorithm 1 does not leave


def _exact_params(recipe: Recipe, problem: Problem, exact: bool) -> fedadmm.Params:
    m = problem.n
    alpha = numbers([Fraction(1, m)] * m, exact)
    half, accuracy = (numbers([v] * m, exact) for v in (Fraction(1, 2), Fraction(1)))
    return fedadmm.theory(problem, alpha, Fixed(np.ones((1, m), dtype=bool)), Exact(), 1, half, accuracy)


_QUADRATIC = Setting(
    "Algorithm 1 with full participation, exact answers and sigma_i = 3 alpha_i r_i on quadratic functions",
    letters={mu: "mu", L: "L"},
    algorithm=fedadmm.algorithm,
    functions=SmoothStronglyConvex(mu, L, quadratics=True),
    parameters=_exact_params,
    clients=(2, 3),
)
_LITERAL = Claim(
    id="fedadmm/theorem-4.1/c#blocks",
    where="Theorem 4.1",
    gist="grad F(W) has the m blocks g_i, as (11) makes F a function of m blocks",
    setting=_QUADRATIC,
    statement=Limit(
        fedadmm.algorithm, Quantity(q("|(g_1,...,g_m)|^2"), _squared_blocks), "the m blocks of grad F vanish"
    ),
)
_SUMMED = Claim(
    id="fedadmm/theorem-4.1/c#sum",
    where="Theorem 4.1",
    kind="limit",
    gist="grad F(W) is sum_i g_i, as (57) has it",
    setting=LONG,
    statement=_long(vanishing=(_SUM, _GRADIENT)),
    requires=ASSUMED,
)

THEOREM_41 = (
    Claim(
        id="fedadmm/theorem-4.1/a",
        where="Theorem 4.1",
        kind="property",
        gist="bounded sequences",
        setting=LONG,
        statement=_long(bounded=_STATE),
        requires=ASSUMED,
    ),
    Claim(
        id="fedadmm/theorem-4.1/b",
        where="Theorem 4.1",
        kind="limit",
        gist="three sequences share a limit",
        setting=LONG,
        statement=_long(vanishing=_SHARED, converging=(Quantity(q("f(w^{tau_k})"), objective),)),
        requires=ASSUMED,
    ),
    Claim(
        id="fedadmm/theorem-4.1/c",
        where="Theorem 4.1",
        kind="limit",
        gist="gradients vanish",
        setting=LONG,
        statement=Readings(
            "grad F(W) of (24) is defined by (11), which gives F m blocks, and used as sum_i g_i by (57): "
            "the two disagree",
            (_LITERAL, _SUMMED),
        ),
    ),
    Claim(
        id="fedadmm/theorem-4.1/c/repaired",
        where="Theorem 4.1",
        kind="limit",
        gist="sum_i alpha_i grad f_i(w_i^k) and grad f(w^{tau_k}) vanish",
        setting=LONG,
        statement=_long(vanishing=(_SUM, _GRADIENT)),
        requires=ASSUMED,
        repairs="fedadmm/theorem-4.1/c",
    ),
)
THEOREM_42 = (
    Claim(
        id="fedadmm/theorem-4.2/a",
        where="Theorem 4.2",
        kind="limit",
        gist="accumulation points are stationary",
        setting=LONG,
        statement=_long(vanishing=(*_STATIONARY, _GRADIENT)),
        requires=ASSUMED,
        reading="the residuals of (19) vanish along the whole sequence, and are continuous",
    ),
    Claim(
        id="fedadmm/theorem-4.2/b",
        where="Theorem 4.2",
        kind="limit",
        gist="isolated accumulation point: the whole sequence converges",
        setting=LONG,
        statement=_long(converging=_STATE),
        requires=ASSUMED,
        reading="the stationary points of these functions are isolated for almost all of them",
    ),
)
COROLLARY_41 = (
    Claim(
        id="fedadmm/corollary-4.1/a",
        where="Corollary 4.1",
        kind="limit",
        gist="convex f: values converge to f*",
        setting=LONG,
        statement=_long(vanishing=_OPTIMAL),
        requires=(*ASSUMED, CONVEX),
    ),
    Claim(
        id="fedadmm/corollary-4.1/b",
        where="Corollary 4.1",
        kind="limit",
        gist="convex f: accumulation points are optimal",
        setting=LONG,
        statement=_long(vanishing=(*_STATIONARY, _OPTIMAL[-1])),
        requires=(*ASSUMED, CONVEX),
        reading="a limit w with f(w) = f* is optimal, and W, Pi with the residuals of (19) zero go with it",
    ),
    Claim(
        id="fedadmm/corollary-4.1/c",
        where="Corollary 4.1",
        kind="limit",
        gist="strongly convex f: the sequence converges",
        setting=LONG,
        statement=_long(
            vanishing=tuple(
                Quantity(q(name), _from_optimum(part))
                for name, part in (("w^{tau_k}-w*", "w"), ("W^k-W*", "W"), ("Pi^k-Pi*", "Pi"))
            )
        ),
        requires=(SMOOTH, STEP, SCHEME, STRONG),
        reading="strong convexity implies Assumption 4.2",
    ),
)

__all__ = ["ASSUMED", "COROLLARY_41", "LONG", "LONG_RUNS", "THEOREM_41", "THEOREM_42", "part"]
