"""FedADMM, Scheme 4.1: the gap (21) between two selections, and the probabilities of Remark 4.1."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb
from typing import NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms.selections import covers, gaps
from fedtheory.instances import Instance, Instances, Recipe, pick
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array
from fedtheory.papers.fedadmm.letters import LONG_WAIT, m, parts, s0, section
from fedtheory.papers.fedadmm.runs import filled, plan
from fedtheory.randomness import UniformSubset
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison, Quantity


class Selection(NamedTuple):
    """``masks (rounds, m)``: who takes part; ``s0``: rounds of a window."""

    masks: Array
    s0: int


class Sizes(NamedTuple):
    """``m``: clients; ``sizes``: of the subsets of one window; ``windows``: how many there are."""

    m: int
    sizes: tuple[int, ...]
    windows: int


def _plans(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        clients, s0 = int(pick(rng, (1, 2, 3))), int(pick(rng, (1, 2, 3, 4)))
        masks = plan(rng, clients, s0, 3)
        if rng.random() < 0.3:
            masks = filled(rng, rng.random(masks.shape) < 0.4)
        columns = tuple({"rounds": tuple(int(v) for v in column)} for column in masks.T)
        yield {"s0": s0, "clients": columns}


def _plan_build(recipe: Recipe, exact: bool) -> Instance:
    columns = [c["rounds"] for c in recipe["clients"]]
    if not columns or len({len(column) for column in columns}) != 1 or not columns[0] or recipe["s0"] < 1:
        raise ValueError("a plan needs clients, rounds and s_0 >= 1")
    masks = np.array(columns, dtype=bool).T
    if not masks.any(axis=1).all():
        raise ValueError("somebody takes part in every round")
    sets = ", ".join("{" + ",".join(str(i + 1) for i in np.flatnonzero(row)) + "}" for row in masks)
    return Instance(
        None,
        Selection(masks, recipe["s0"]),
        0,
        lambda theta: (None, theta),
        text=f"m={len(columns)}, s_0={recipe['s0']}, Omega: {sets}",
    )


def _fewer_rounds(recipe: Recipe) -> Iterator[Recipe]:
    clients, s0 = recipe["clients"], recipe["s0"]
    for length in range(s0, len(clients[0]["rounds"]), s0):
        yield {**recipe, "clients": tuple({"rounds": c["rounds"][:length]} for c in clients)}


def _longest(problem: object, params: Selection, state: object) -> Array:
    """The most rounds between two selections of a client, u > v, with none between."""
    return np.array([[int(gaps(params.masks).max())]])


_gap = parts("max{u-v}")[0]
PLANS = Setting(
    "any subsets of m clients; windows are the rounds (a - 1) s_0 + 1 to a s_0",
    letters={s0: "s0", m: lambda problem, params: params.masks.shape[1]},
    drawing=Drawing(special=Instances(_plans, _plan_build, _fewer_rounds)),
)
_SCHEME = Hypothesis("Scheme 4.1", met=lambda problem, params: covers(params.masks, params.s0))

GAP_Q = Quantity(_gap, _longest)

eq_21 = section("eq. (21)", PLANS, _SCHEME)
GAP = (
    eq_21(
        "",
        GAP_Q <= s0,
        "gap between two selections of a client under Scheme 4.1",
        tex=r"\max\left\{u-v:i\in\Omega^v,i\in\Omega^u,i\notin\Omega^\tau,\tau=v+1,\cdots,u-1\right\}\le s_0",
        reading="the windows are the rounds tau + 1 to tau + s_0 for tau = 0, s_0, 2 s_0, ..., as printed, not for "
        "every tau",
        flaw="No proof is printed. A client that is selected in the first round of a window and in the last one of "
        "the next has a gap of 2 s_0 - 1, with 2 s_0 - 2 rounds between: Scheme 4.1 considers windows that begin at "
        "multiples of s_0 only.",
        root=LONG_WAIT,
    ),
    eq_21(
        "repaired",
        GAP_Q <= 2 * s0 - 1,
        "the gap is at most 2 s_0 - 1",
        repairs="eq-21",
    ),
)

# Remark 4.3: Scheme 4.1 with a larger s_0


def _left_out(problem: object, params: Selection, state: object) -> Array:
    """The number of clients that all whole windows of s_0 + 1 rounds leave out."""
    length = params.s0 + 1
    whole = len(params.masks) // length
    windows = params.masks[: whole * length].reshape(whole, length, -1)
    return np.array([[int((~windows.any(axis=1)).sum())]])


_size, _more = sympy.symbols("a q", integer=True, positive=True)
_missing = parts("clients_that_windows_of_s_0+1_rounds_leave_out")[0]
section_4 = section(
    "Section 4",
    Setting("all integers m, s_0, a, q >= 1", letters=(m, s0, _size, _more)),
    Hypothesis("m <= s_0 a", sympy.Le(m, s0 * _size, evaluate=False)),
    id="scheme-4.1/larger-s0",
)
LARGER = (
    section_4(
        "",
        Inequality(m, (s0 + _more) * _size),
        "that Scheme 4.1 can be satisfied with a larger s_0",
        kind="property",
        tex=r"\Omega^{\tau+1}\cup\Omega^{\tau+2}\cup\cdots\cup\Omega^{\tau+s_0}=[m], \quad \forall\tau=0,s_0,2s_0,"
        r"\cdots",
        reading="with no more clients in each subset, as the sentence after it says: there are subsets of a clients "
        "that satisfy the scheme if and only if m <= s_0 a, and then there are for s_0 + q. That subsets which satisfy "
        "it with s_0 do so with a larger one is -/literal",
    ),
    section_4(
        "literal",
        Quantity(_missing, _left_out) <= sympy.S.Zero,
        "subsets that satisfy Scheme 4.1 with s_0 satisfy it with s_0 + 1",
        kind="property",
        setting=PLANS,
        requires=(_SCHEME,),
        tex=r"\Omega^{\tau+1}\cup\Omega^{\tau+2}\cup\cdots\cup\Omega^{\tau+s_0}=[m], \quad \forall\tau=0,s_0,2s_0,"
        r"\cdots",
        reading="the same subsets: windows begin at multiples of s_0 + 1 then, and one of them may contain no window "
        "of s_0 rounds. From 2 s_0 - 1 on it contains one",
        literal_of="scheme-4.1/larger-s0",
        flaw="No proof is printed. Windows of s_0 + 1 rounds begin elsewhere than those of s_0, and one of them may "
        "contain none of those.",
    ),
)

# Remark 4.1


def _sizes(rng: np.random.Generator) -> Iterator[Recipe]:
    # The example of the remark.
    yield {"m": 10, "windows": 1, "sizes": (9,) * 5}
    while True:
        clients = int(pick(rng, (2, 3, 4, 5, 10)))
        length = int(pick(rng, (1, 2, 3, 5)))
        one = int(rng.integers(1, clients + 1))
        equal = rng.random() < 0.6
        sizes = [one] * length if equal else [int(v) for v in rng.integers(1, clients + 1, length)]
        yield {"m": clients, "windows": int(pick(rng, (1, 2, 10, 30, 100))), "sizes": tuple(sizes)}


def _sizes_build(recipe: Recipe, exact: bool) -> Instance:
    clients, sizes = recipe["m"], recipe["sizes"]
    if clients < 1 or not sizes or recipe["windows"] < 1 or not all(1 <= a <= clients for a in sizes):
        raise ValueError("subsets have between 1 and m clients")
    params = Sizes(clients, tuple(sizes), recipe["windows"])
    text = f"m={clients}, |Omega| = {', '.join(map(str, sizes))}, windows: {recipe['windows']}"
    return Instance(None, params, 0, lambda theta: (None, theta), text=text)


def _one(value: object) -> Array:
    found = np.empty((1, 1), dtype=object)
    found[0, 0] = value
    return found


def _met(problem: object, params: Sizes, state: object) -> Array:
    """P(the first client is in one of the subsets), each enumerated."""
    missed = Fraction(1)
    for size in params.sizes:
        masks, p = UniformSubset(params.m, size).support(True)
        missed *= sum(q for mask, q in zip(masks, p, strict=True) if not mask[0])
    return _one(1 - missed)


def _formula(problem: object, params: Sizes, state: object) -> Array:
    missed = Fraction(1)
    for size in params.sizes:
        missed *= 1 - Fraction(size, params.m)
    return _one(1 - missed)


def window(m: int, sizes: tuple[int, ...]) -> Fraction:
    """P(all m clients are in one of the subsets), by inclusion and exclusion over who is in none."""
    total = Fraction(0)
    for left in range(m + 1):
        missed = Fraction((-1) ** left * comb(m, left))
        for size in sizes:
            missed *= Fraction(comb(m - left, size), comb(m, size))
        total += missed
    return total


def _all_windows(problem: object, params: Sizes, state: object) -> Array:
    """P(every window covers all clients)."""
    return _one(window(params.m, params.sizes) ** params.windows)


def _covered(problem: object, params: Sizes, state: object) -> Array:
    """P(a window covers all clients)."""
    return _one(window(params.m, params.sizes))


def _missed(problem: object, params: Sizes, state: Array) -> Array:
    """P(a client is in none of the subsets of a window)."""
    return _one(1 - _formula(problem, params, state)[0, 0])


_p, _printed, _scheme, _none = parts(
    "P(i_selected) 1-prod_j(1-|Omega^{tau+j}|/m) P(every_window_covers_all) prod_j(1-|Omega^{tau+j}|/m)"
)
_one_window = parts("P(a_window_covers_all)")[0]
T = sympy.Symbol("T", integer=True, positive=True)
SUBSETS = Setting(
    "independent uniformly random subsets of given sizes in each window, the same sizes in all of them",
    letters={m: "m", s0: lambda problem, params: len(params.sizes), T: "windows"},
    drawing=Drawing(special=Instances(_sizes, _sizes_build)),
)

P = Quantity(_p, _met)
PRINTED = Quantity(_printed, _formula)
SCHEME = Quantity(_scheme, _all_windows)
NONE = Quantity(_none, _missed)
#: The least value that counts as "a high probability": of all windows, and of a single one.
_HIGH, _HIGHER = Fraction(1, 2), Fraction(9, 10)
_LIKELY = Hypothesis(
    f"one window covers all clients with probability {_HIGHER} at least",
    met=lambda problem, params: window(params.m, params.sizes) >= _HIGHER,
)

remark_41 = section("Remark 4.1", SUBSETS)
REMARK_41 = (
    remark_41(
        "",
        Identity(_p, _printed, (P, PRINTED), also=(Comparison(1 - _p, "<=", (1 - 1 / m) ** s0),)),
        "probability that a client is selected in s_0 rounds, and its example",
        tex=r"p_i=1-(1-\frac{|\Omega^{\tau+1}|}{m})(1-\frac{|\Omega^{\tau+2}|}{m})\cdots(1-\frac{|\Omega^{"
        r"\tau+s_0}|}{m})",
        reading="every subset enumerated; the example is m = 10, |Omega| = 9, s_0 = 5; it tends to 1 with s_0, as no "
        "subset is empty: the second comparison",
    ),
    remark_41(
        "scheme",
        Inequality(sympy.Rational(_HIGH), _scheme, (SCHEME,)),
        "Scheme 4.1 holds with high probability under independent uniform subsets, for all clients and windows",
        kind="property",
        requires=(_LIKELY,),
        tex=r"\Omega^{\tau+1}\cup\Omega^{\tau+2}\cup\cdots\cup\Omega^{\tau+s_0}=[m], \quad \forall\tau=0,s_0,2s_0,"
        r"\cdots",
        uses=("remark-4.1",),
        reading="the remark computes the probability of one client in one window, and says that Scheme 4.1, which asks "
        "for all clients in all windows, has a high one, as Section 5.2 says again. Read as "
        f"{_HIGH} at least, in however many windows T, where it is {_HIGHER} in one: whatever is called high falls, as "
        "the probability is that of one window to the power T, which tends to 0",
        flaw="The probability is that of one client in one window. Scheme 4.1 asks for all clients in all windows: "
        "the probability of T windows is a power T of that of one, and where a window may miss a client it tends "
        "to 0.",
    ),
    remark_41(
        "scheme/repaired",
        Inequality(1 - T * m * _none, (1 - _none) ** (m * T), (SCHEME, NONE), middle=_scheme),
        "T windows cover all clients with probability 1 - T m q at least and (1 - q)^(m T) at most, where a "
        "window misses a client with probability q = prod_j (1 - |Omega^{tau+j}|/m)",
        kind="property",
        reading="it is high where q is small beside 1/(m T), and only there: where q is 1/(m T) or more it is below "
        "1/e. Above, as that one client was selected makes it no likelier that others were",
        repairs="remark-4.1/scheme",
    ),
    remark_41(
        "scheme/window",
        Inequality(1 - m * _none, _one_window, (Quantity(_one_window, _covered), NONE)),
        "one window covers all clients with probability 1 - m prod_j (1 - |Omega^{tau+j}|/m) at least",
        kind="property",
        origin="implied",
        reading="what the probability of one client, which the remark computes, gives for all of them; it is high "
        "where "
        "the product is small beside 1/m",
    ),
)

__all__ = ["GAP", "LARGER", "REMARK_41", "window"]
