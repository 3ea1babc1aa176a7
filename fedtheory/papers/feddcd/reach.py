"""FedDCD, Appendix F: which coordinates a black-box procedure under random participation can have reached.

The procedure is the one with the largest memories that Section 7 allows: after every round each client has what the
server had, and all that its own function makes of it; so no procedure reaches a coordinate before it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.instances import Instance, Instances, Recipe, check_shape, number, pick
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.learning import lower_bounds
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.numbers.symbols import Min
from fedtheory.papers.feddcd.dual import N, section, tau
from fedtheory.randomness import UniformSubset, expectation
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

m, t = sympy.symbols("m t", integer=True, positive=True)
s = sympy.Symbol("s", positive=True)


class Reach(NamedTuple):
    """``N`` clients, ``tau`` of them in a round; ``m`` functions, ``owners (N,)``: which of them, from 0, each client
    has a share of; ``k``: coordinates that the server has reached; ``s``: sqrt(beta/(m alpha)); ``t``: rounds."""

    N: int
    tau: int
    m: int
    owners: tuple[int, ...]
    k: int
    s: Scalar
    t: int


class At(NamedTuple):
    """No state: numbers are all."""


def reached(function: int, m: int, k: int) -> int:
    """The last coordinate that may be other than 0 in what M^(function), and e_1 where it is the first, make of vectors
    whose first ``k`` coordinates may be; ``function`` from 1."""
    size = k + m + 2
    links = lower_bounds.chain(function, m, size) != 0
    found = np.arange(size) < k
    # f_1 has the linear term in w_1.
    found[0] |= function == 1
    while (more := found | links[:, found].any(axis=1)).sum() > found.sum():
        found = more
    return int(found.nonzero()[0].max()) + 1 if found.any() else 0


def _after(params: Reach, k: int) -> tuple[Array, Array]:
    """Return the index that the server has reached after a round from k, for each set of participants, ``(K,)``, and
    the probabilities.
    """
    masks, chances = UniformSubset(params.N, params.tau).support(True)
    own = np.array([reached(function + 1, params.m, k) for function in params.owners])
    return np.where(masks, own, k).max(axis=-1, initial=k), chances


def _rise(problem: object, params: Reach, state: At) -> Any:
    """P(K_t > K_(t-1) = k): w_1 to w_k are reached, B_j leads from w_l to w_(l+1) where m divides l - j."""
    ends, chances = _after(params, params.k)
    return expectation((ends > params.k).astype(int), chances) + 0 * params.s


def _longest(problem: object, params: Reach, state: At) -> Any:
    """The largest K_t - K_(t-1) = K_t - k: f_1 leads to w_1, B_j from w_l to w_(l+1) where m divides l - j."""
    return int((_after(params, params.k)[0] - params.k).max()) + 0 * params.s


def _one(problem: object, params: Reach, state: At) -> Any:
    """1."""
    return 1 + 0 * params.s


def _left(problem: object, params: Reach, state: At) -> Any:
    """E delta^(K_t) from K_0 = 0, delta = ((s - 1)/(s + 1))^2, on the functions of Appendix F where s > 4; else the
    probability that the client of the only f_i that is not minimised at 0 is in none of t rounds."""
    if params.s <= 4:
        masks, chances = UniformSubset(params.N, params.tau).support(True)
        return expectation(1 - masks[:, 0].astype(int), chances) ** params.t + 0 * params.s
    chances_of: dict[int, Any] = {0: 1}
    for _ in range(params.t):
        after: dict[int, Any] = {}
        for k, chance in chances_of.items():
            for end, p in zip(*_after(params, k), strict=True):
                after[int(end)] = after.get(int(end), 0) + chance * p
        chances_of = after
    delta = ((params.s - 1) / (params.s + 1)) ** 2
    return sum(chance * delta**k for k, chance in chances_of.items())


def balanced(N: int, m: int) -> list[int]:
    """As :func:`hard.blocks`, but for the sizes of the blocks, which differ by one at most."""
    return [i * m // N for i in range(N)]


def _recipes(alone: bool, rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        clients = int(rng.integers(2, 8 if alone else 10))
        functions = clients if alone else int(rng.integers(1, clients + 1))
        yield {
            "N": clients,
            "m": functions,
            "tau": int(pick(rng, (2, 2, rng.integers(2, clients + 1)))),
            # The next coordinate is that of the last function, or of any.
            "k": int(pick(rng, (functions, 2 * functions, rng.integers(0, 9)))),
            # At least 1/sqrt(m): alpha <= beta.
            "s": pick(rng, (Fraction(1, 1 + (functions > 3)), Fraction(3, 2), Fraction(4), Fraction(5), Fraction(20))),
            "t": int(rng.integers(1, 5)),
        }


def _build(owners: Any, alone: bool, recipe: Recipe, exact: bool) -> Instance:
    clients, functions = recipe["N"], recipe["m"]
    if not 1 <= functions <= clients or recipe["k"] < 0 or (alone and functions < clients):
        raise ValueError("the hard functions take 1 <= m <= N, m = N in the first case, and k >= 0")
    if not 2 <= recipe["tau"] <= clients:
        raise ValueError("2 <= tau <= N is due")
    # alpha <= beta.
    if recipe["s"] ** 2 * functions < 1:
        raise ValueError("s is sqrt(beta/(m alpha)), and alpha <= beta")
    check_shape(recipe["t"], recipe["s"])
    held = tuple(owners(clients, functions))
    s, k, t = number(recipe["s"], exact), recipe["k"], recipe["t"]
    params = Reach(clients, recipe["tau"], functions, held, k, s, t)
    text = ", ".join(f"{name} = {value}" for name, value in recipe.items())
    return Instance(None, params, 0, lambda theta: (None, At()), text=text)


def _setting(text: str, owners: object = lower_bounds.blocks, alone: bool = False) -> Setting:
    instances = Instances(partial(_recipes, alone), partial(_build, owners, alone))
    letters = {letter: str(letter) for letter in (N, tau, m, s, t)}
    return Setting(text, letters=letters, drawing=Drawing(special=instances), hints=Hints(complete=True))


_ANY = "2 <= tau <= N participants, drawn uniformly; the server has reached any number of coordinates"
PRINTED = _setting(f"{_ANY}; m functions in the blocks B_1, ..., B_m of Appendix F, m = N in its first case")
BALANCED = _setting(f"{_ANY}; m functions in blocks whose sizes differ by one at most", balanced)
ALONE = _setting("alpha <= beta, s = sqrt(beta/(N alpha)); t rounds from w^(0) = 0", alone=True)

_p = sympy.Symbol("P(K_t rises)")
_RISE = Inequality(tau / N, tau * sympy.ceiling(N / m) / N, (Quantity(_p, _rise),), middle=_p)
_READING = (
    "of the procedure whose memories are the largest, which no other is ahead of; with m = N, the first case, both "
    "sides are tau/N"
)


appendix_f = section("Appendix F", BALANCED)
RISE = (
    appendix_f(
        "rise",
        _RISE,
        "P(K_t rises): = tau/N in case 1, <= tau ceil(N/m)/N in case 2",
        kind="inequality",
        tex=r"\Pr[K_t=K_{t-1}+1]=\frac{\tau}{N}, \quad \frac{\tau\lceil N/m\rceil}{N}",
        reading=f"{_READING}; in blocks of ceil(N/m) clients at most, as the bound takes them",
    ),
    appendix_f(
        "rise/literal",
        _RISE,
        "the same with the blocks B_1, ..., B_m as they are printed",
        kind="inequality",
        setting=PRINTED,
        tex=r"\mathcal{B}_m=\{(m-1)\lfloor n/m\rfloor+1,\ldots,n\}",
        flaw="The blocks B_1, ..., B_(m-1) have floor(N/m) clients each and the last has all that are left, which may "
        "be more than ceil(N/m): of 5 clients and m = 3 it has three. With blocks of sizes that differ by one it "
        "holds.",
        reading=f"{_READING}; of the last block, which has all clients that the others, of floor(N/m) each, leave",
        literal_of="appendix-F/rise",
    ),
    appendix_f(
        "rise/by-one",
        identity(Quantity("K_t-K_(t-1)", _longest), Quantity("1", _one)),
        "K_t = K_(t-1) + 1 where it rises",
        kind="identity",
        setting=ALONE,
        requires=(Hypothesis("alpha < beta/N", sympy.Gt(s, 1)),),
        tex="K_t=K_{t-1}+1",
        reading="from K_0 = 0 the first client goes to 2: its function couples w_1, which its linear term moves, to "
        "w_2. That costs the bound a factor delta",
        literal_of="appendix-F/rise",
        flaw="The first client finds w_1 by its linear term and, by M^(1), which couples w_1 to w_2, goes to w_2 in "
        "the same round, since local steps are free.",
    ),
)

LOWER_BOUND = section("Theorem 7.1", ALONE, Hypothesis("2 <= tau <= N", sympy.And(sympy.Ge(tau, 2), sympy.Le(tau, N))))(
    "eq-14/repaired",
    sympy.Rational(9, 25) * (1 - tau / N * Min(4 / s, 1)) ** t <= Quantity("E|w^t-w*|^2/|w^0-w*|^2", _left),
    "for all alpha <= beta no procedure leaves less than 9/25 (1 - (tau/N) min{4 sqrt(N)/sqrt(beta/alpha), 1})^t "
    "of |w^(0) - w*|^2",
    kind="lower-bound",
    reading="the first of the three terms, for the procedure with the largest memories. Where s = sqrt(beta/(N "
    "alpha)) > 4, the f_i are those of Appendix F, of which E|w^t - w*|^2 >= E[sum_{i > K_t} (w_i*)^2] = "
    "E[delta^(K_t)] |w*|^2, delta = ((s - 1)/(s + 1))^2 > 9/25. Else f_1(w) = alpha |w|^2/2 - w_1 and the others alpha "
    "|w|^2/2: all models are 0 until the first client takes part. f(w^t) - f(w*) is at least N alpha/2 times "
    "|w^t - w*|^2, and alpha/2 where f is the mean. For any numbers of rounds by appendix-F/rise, as K_t is at most 1 "
    "more than a binomial variable",
    repairs="theorem-7.1/eq-14",
)
