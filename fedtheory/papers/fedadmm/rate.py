"""FedADMM, Theorem 4.3 and its proof: eqs. (59) to (69), the chain of constants, and Remark 4.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import ages, along, iterates, transition, waiting
from fedtheory.papers.fedadmm.letters import c, k, k0, m, nu_i, parts, q, s0, sigma_bar, sigma_i, varepsilon
from fedtheory.papers.fedadmm.runs import (
    IDLE,
    LATE,
    LETTERS,
    ROUND,
    RUN,
    SCHEME,
    SMOOTH,
    START,
    STEP,
    Run,
    View,
    lowest,
    of_client,
    quantity,
)
from fedtheory.papers.fedadmm.transition import BEFORE_IT_FALLS
from fedtheory.problems.base import Problem
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Infimum, Least, Start
from fedtheory.settings.quantities import Total
from fedtheory.settings.relations import Comparison, Quantity

_Q = sympy.Rational


def last_of(of: Any) -> Any:
    """``of(view, k_i)[..., i]`` for every client i, ``(..., m)``: what a client did last."""

    def value(v: View, k: int) -> Array:
        # A client that was never active is left out by hypothesis: any iteration stands in.
        return np.stack([of(v, max(j, 0))[..., i] for i, j in enumerate(v.run.last)], axis=-1)

    return value


def waited(v: View, k: int) -> Array:
    """sum of |w^{t+1} - w^t|^2 over tau_{k_i+1} <= t < tau_{k+1}, for every client i, ``(..., m)``."""
    first = [max(j, 0) // v.run.fed.k0 + 1 for j in v.run.last]
    return np.stack([v.rounds(t, v.run.round) for t in first], axis=-1)


def _summed(of: Any) -> Any:
    """sum_i sigma_i^2 of(view, k)_i."""
    return lambda v, k: (v.fed.sigma**2 * of(v, k)).sum(axis=-1)


# Equations (59) to (66)

_slope, _all, _bars, _moves = parts(
    "|grad_f(w^{tau_{k+1}})|^2 |sum_i(g_i^k)|^2 sum_i(sigma_i^2|Dbar_i^{k+1}|^2) sum_i(sigma_i^2|Dw_i^{k+1}|^2)"
)
_eps = q("sum_i(eps_i^k)")
_SQUARES = (
    quantity(_slope.name, lambda v, k: v.slope(k + 1)),
    quantity(_all.name, lambda v, k: square(v.g(k).sum(axis=-2))),
    quantity(_bars.name, _summed(lambda v, k: v.away(k + 1))),
    quantity(_moves.name, _summed(lambda v, k: v.move(k))),
    quantity(_eps.name, lambda v, k: v.history.eps[k].sum(axis=-1)),
)
_OF_ANY = (
    transition.quantity(_slope.name, lambda v: v.slope()),
    transition.quantity(_all.name, lambda v: square(v.g().sum(axis=-2))),
    transition.quantity(_bars.name, lambda v: (v.params.sigma**2 * v.away()).sum(axis=-1)),
    transition.quantity(_moves.name, lambda v: (v.params.sigma**2 * v.move()).sum(axis=-1)),
    transition.quantity(_eps.name, lambda v: v.state.eps.sum(axis=-1)),
)
_Dpi, _bar_last, _bar, _move, _eps_last, _rounds = parts(
    "|Dpi_i^{k_i+1}|^2 |w_i^{k_i+1}-w^{tau_{k_i+1}}|^2 |Dbar_i^{k+1}|^2 |Dw_i^{k_i+1}|^2 eps_i^{k_i} "
    "sum_{tau_{k_i+1}<=t<tau_{k+1}}|w^{t+1}-w^t|^2"
)
_OF_LAST = (
    of_client(_Dpi.name, last_of(lambda v, j: square(v.history.Pi[j + 1] - v.history.Pi[j]))),
    of_client(_bar_last.name, last_of(lambda v, j: v.away(j + 1))),
    of_client(_bar.name, lambda v, k: v.away(k + 1)),
    of_client(_move.name, last_of(lambda v, j: v.move(j))),
    of_client(_eps_last.name, last_of(lambda v, j: v.history.eps[j])),
    of_client(_rounds.name, waited),
)
SELECTED = Hypothesis("i was selected, k_i >= 0", met=lambda problem, run: run.last[run.i] >= 0)
_61 = _Q(2, 15) * sigma_i**2 * _move + 24 * _eps_last


_63 = _Q(4, 15) * sigma_i**2 * _move + 48 * _eps_last + 2 * s0 * sigma_i**2 * _rounds


_eps_now, _eps_then, _eps_after = parts("eps_i^k eps_i^{k_i} eps_i^{k_i+1}")
_V_now, _V_last, _V_early, _V_earlier = parts("Lt^k Lt^{k_i} Lt^{max(k-s_0k_0,0)} Lt^{max(k-(2s_0-3)k_0-1,0)}")
_k_i = sympy.Symbol("k_i", integer=True)


def _since(rounds: Callable[[int], int], more: int) -> Callable[[View, int], Array]:
    """Lt at max(k - rounds(s_0) k_0 - more, 0)."""
    return lambda v, k: v.lyapunov(max(k - rounds(v.run.s0) * v.fed.k0 - more, 0))


_WAITING = replace(ROUND, letters={**LETTERS, _k_i: lambda problem, run: run.last[run.i]})
_OF_64 = (
    of_client(_eps_now.name, lambda v, k: v.history.eps[k]),
    of_client(_eps_then.name, last_of(lambda v, j: v.history.eps[j])),
    of_client(_eps_after.name, last_of(lambda v, j: v.history.eps[j + 1])),
    quantity(_V_now.name, lambda v, k: v.lyapunov(k)),
    quantity(_V_last.name, lambda v, k: v.lyapunov(max(v.run.last[v.run.i], 0))),
    quantity(_V_early.name, _since(lambda s: s, 0)),
    quantity(_V_earlier.name, _since(lambda s: 2 * s - 3, 1)),
)


def _eq_64(kept: Any, early: Any, least: Any) -> Inequality:
    """eps_i^k = kept, as two inequalities; Lt^k <= Lt^{k_i} <= early; least <= k_i <= k."""
    return Inequality(
        _eps_now,
        kept,
        _OF_64,
        also=(
            Comparison(kept, "<=", _eps_now),
            Comparison(_V_now, "<=", _V_last),
            Comparison(_V_last, "<=", early),
            Comparison(least, "<=", _k_i),
            Comparison(_k_i, "<=", k),
        ),
    )


_moves_last, _waits, _eps_lasts = parts(
    "sum_i(sigma_i^2|Dw_i^{k_i+1}|^2) sum_i(sigma_i^2sum_t|w^{t+1}-w^t|^2) sum_i(eps_i^{k_i}+eps_i^{k_i+1})"
)
_OF_ALL = (
    *_SQUARES,
    quantity(_moves_last.name, _summed(last_of(lambda v, j: v.move(j)))),
    quantity(_waits.name, _summed(waited)),
    quantity(
        _eps_lasts.name, lambda v, k: last_of(lambda v, j: v.history.eps[j] + v.history.eps[j + 1])(v, k).sum(axis=-1)
    ),
)
_ROUNDS = "sum_t is over tau_{k_i+1} <= t < tau_{k+1}"

CHAIN = (
    Claim(
        id="fedadmm/eq-59",
        where="eq. (59)",
        gist="splitting of the squared gradient norm",
        setting=BEFORE_IT_FALLS,
        statement=Inequality(_slope, m * (_bars + _moves) / 3 + 3 * _all, _OF_ANY),
        requires=(transition.SMOOTH, transition.STEP),
    ),
    Claim(
        id="fedadmm/eq-62",
        where="eqs. (61)-(63)",
        kind="inequality",
        gist="bounds on sigma_i (w_i - w)",
        setting=ROUND,
        statement=Inequality(
            _Dpi,
            _61,
            _OF_LAST,
            also=(Comparison(sigma_i**2 * _bar_last, "<=", _61), Comparison(sigma_i**2 * _bar, "<=", _63)),
        ),
        requires=(SMOOTH, START, STEP, SCHEME, SELECTED),
        reading="all at k_i, the last iteration at which i is active, which is k for the selected: then no round is "
        "waited for",
    ),
    *waiting.EQ_62,
    Claim(
        id="fedadmm/eq-64",
        where="eq. (64)",
        gist="epsilon of an idle client at k and at k_i, as printed",
        kind="identity",
        setting=_WAITING,
        statement=_eq_64(_eps_then, _V_early, k - (s0 - 1) * k0 - 1),
        requires=(SMOOTH, START, STEP, SCHEME, IDLE),
        reading="with what it says of Lt, and the line before it on k_i; Lt^{k-s_0k_0} is Lt^0 where k < s_0 k_0. "
        "Under Scheme 4.1 the equality, as the text at hand prints it, the lower bound of k_i and the upper one of "
        "Lt^{k_i} fail",
    ),
    Claim(
        id="fedadmm/eq-64/repaired",
        where="eq. (64)",
        gist="epsilon of an idle client at k and at k_i + 1, and k_i >= k - (2 s_0 - 3) k_0 - 1",
        kind="identity",
        setting=_WAITING,
        statement=_eq_64(_eps_after, _V_earlier, k - (2 * s0 - 3) * k0 - 1),
        requires=(SMOOTH, START, STEP, SCHEME, IDLE),
        repairs="fedadmm/eq-64",
    ),
    Claim(
        id="fedadmm/eq-65",
        where="eq. (65)",
        gist="sum of the squared sigma_i (w_i - w), as printed",
        setting=ROUND,
        statement=Inequality(
            _bars, _Q(2, 15) * _moves + _Q(4, 15) * _moves_last + 2 * s0 * _waits + 48 * _eps, _OF_ALL
        ),
        requires=(SMOOTH, START, STEP, SCHEME, LATE),
        reading=f"{_ROUNDS}, as in the line before and in (63); the last line prints tau_{{k+1}} - 1 as its lower end, "
        "taken for a misprint: with one term the right side is smaller still",
    ),
    Claim(
        id="fedadmm/eq-65/repaired",
        where="eq. (65)",
        gist="with 2(2 s_0 - 2) in place of 2 s_0, and the tolerances at k_i and k_i + 1",
        setting=ROUND,
        statement=Inequality(
            _bars,
            _Q(2, 15) * _moves + _Q(4, 15) * _moves_last + 2 * (2 * s0 - 2) * _waits + 24 * _eps_lasts,
            _OF_ALL,
        ),
        requires=(SMOOTH, START, STEP, SCHEME, LATE),
        reading=_ROUNDS,
        repairs="fedadmm/eq-65",
    ),
    Claim(
        id="fedadmm/eq-66",
        where="eq. (66)",
        gist="bound on the squared norm of the sum of the g_i",
        setting=BEFORE_IT_FALLS,
        statement=Inequality(_all, 3 * m * (_eps + _bars + _moves), _OF_ANY),
        requires=(transition.BEGINS,),
    ),
)

# Equation (67)

_V_before, _V_longer, _V_after, _eps_kept = parts(
    "Lt^{k-s_0k_0} Lt^{max(k-(2s_0-2)k_0-1,0)} Lt^{k+1} sum_i(eps_i^{k_i})"
)
_OF_67 = (
    _SQUARES[0],
    _SQUARES[-1],
    quantity(_V_before.name, lambda v, k: v.lyapunov(max(k - v.run.s0 * v.fed.k0, 0))),
    quantity(_V_longer.name, lambda v, k: v.lyapunov(max(k - (2 * v.run.s0 - 2) * v.fed.k0 - 1, 0))),
    quantity(_V_after.name, lambda v, k: v.lyapunov(k + 1)),
    quantity(_eps_kept.name, lambda v, k: last_of(lambda v, j: v.history.eps[j])(v, k).sum(axis=-1)),
)


def _eq_67(before: Any, eps: Any) -> Inequality:
    return Inequality(_slope, _Q(940, 9) * m * s0 * sigma_bar * (before - _V_after) + 169 * m * eps, _OF_67)


_blocks = sympy.Symbol("ceil(t/s_0)", integer=True, positive=True)
_eps_sum, _eps_windows, _eps_window, _eps_0 = parts(
    "sum_{p=s_0}^t(eps_i^{pk_0}) sum_{a=1}^{ceil(t/s_0)}(s_0*eps_i^{as_0k_0}) eps_i^{s_0k_0} eps_i^0"
)


def _windows(run: Run) -> int:
    """ceil(t/s_0) for t = k/k_0 >= 1."""
    return -(-max(run.k // run.fed.k0, 1) // run.s0)


def _at_windows(v: View, k: int) -> Array:
    """s_0 eps_i^{a s_0 k_0} for 1 <= a <= ceil(t/s_0), added up: ``(m,)``."""
    long = v.run.s0 * v.fed.k0
    found: Array = v.run.s0 * v.history.eps[long : _windows(v.run) * long + 1 : long].sum(axis=0)
    return found


_OF_69 = (
    of_client(_eps_windows.name, _at_windows),
    of_client(_eps_sum.name, lambda v, k: v.history.eps[v.run.s0 * v.fed.k0 : k + 1 : v.fed.k0].sum(axis=0)),
    of_client(_eps_window.name, lambda v, k: v.history.eps[min(v.run.s0 * v.fed.k0, k)]),
    of_client(_eps_0.name, lambda v, k: v.history.eps[0]),
)
#: The first sum reaches into rounds after k.
WHOLE = Hypothesis(
    "the run goes on to iteration ceil(t/s_0) s_0 k_0",
    met=lambda problem, run: _windows(run) * run.s0 <= len(run.masks),
)
_window = s0 * _eps_window * (1 - nu_i**_blocks) / (1 - nu_i)

BOUNDS = (
    Claim(
        id="fedadmm/eq-67",
        where="eq. (67)",
        kind="inequality",
        gist="the final bound of one step",
        setting=ROUND,
        statement=_eq_67(_V_before, _eps),
        requires=(SMOOTH, START, STEP, SCHEME, LATE),
        reading="its last line",
    ),
    Claim(
        id="fedadmm/eq-67/repaired",
        where="eq. (67)",
        kind="inequality",
        gist="the same constants with Lt at max(k - (2 s_0 - 2) k_0 - 1, 0) and eps_i at k_i",
        setting=ROUND,
        statement=_eq_67(_V_longer, _eps_kept),
        requires=(SMOOTH, START, STEP, SCHEME, LATE),
        repairs="fedadmm/eq-67",
    ),
    Claim(
        id="fedadmm/eq-67/first-line",
        where="eq. (67)",
        gist="the squared gradient norm by the moves of one round, as printed",
        setting=BEFORE_IT_FALLS,
        statement=Inequality(_slope, _Q(10, 3) * m * (_bars + _moves) + 9 * m * _eps, _OF_ANY),
        requires=(transition.SMOOTH, transition.STEP, transition.BEGINS),
        reading="(59) and (66) give 28/3 for 10/3. It holds by (36) alone: grad f(w) is the sum over i of alpha_i grad "
        "f_i(w) - g_i^{k+1} + phi_i - sigma_i Dw_i^{k+1} of the active, and of alpha_i grad f_i(w) - g_i^k + phi_i + "
        "sigma_i Dbar_i of the idle; 2 suffices for 10/3",
    ),
    Claim(
        id="fedadmm/eq-69",
        where="eq. (69)",
        gist="sum of the epsilons",
        setting=replace(ROUND, letters={**LETTERS, _blocks: lambda problem, run: _windows(run)}),
        statement=Inequality(
            _eps_sum,
            _eps_windows,
            _OF_69,
            also=(
                Comparison(_eps_windows, "<=", _window),
                Comparison(_window, "<=", s0 * _eps_0 / (1 - nu_i)),
            ),
        ),
        requires=(SCHEME, LATE, WHOLE),
        reading="t = k/k_0; eps_i, which is not defined, is eps_i^0",
    ),
)

# Theorem 4.3

_least, _L_0, _E_0, _f_star, _eps_all = parts(
    "min_{s<=k}|grad_f(w^{tau_{s+1}})|^2 L^0 sum_i(eps_i^0/((1-nu_i)sigma_i)) f^* sum_i(eps_i^0/(1-nu_i))"
)
AFTER = Hypothesis("k > s_0 k_0", sympy.Gt(k, s0 * k0, evaluate=False))


def _per_client(nu: Array) -> Array:
    """(1 + theta) 128/3 (1 + nu_i) + (1 + 1/theta) nu_i with theta = 1/10, ``(m,)``."""
    found: Array = Fraction(704, 15) * (1 + nu) + 11 * nu
    return found


def smallest(v: View, k: int) -> Array:
    found = [v.slope(s + 1) for s in range(1, k + 1)]
    return np.min(np.stack(found), axis=0) if found else v.slope(k + 1)


def _start(name: sympy.Symbol, function: Any) -> Quantity:
    """A number of the state with which a run begins."""
    return Quantity(name, Start(ages.ALONG, At(ages.ITERATION, function)))


def _infimum(problem: Problem, run: Run) -> Any:
    """f*."""
    return lowest(problem, run.fed.alpha)


#: The c of Theorem 4.3, in which Lt^0 is written out, and the quantities of which it is made.
_above = _L_0 + 29 * _E_0 - _f_star
CONSTANT = _Q(940, 9) * s0 * (s0 + 1) * m * sigma_bar * _above + 169 * m * s0 * _eps_all
OF_CONSTANT = (
    _start(_L_0, iterates.lagrangian),
    _start(_E_0, iterates.tolerances),
    Quantity(_f_star, Infimum(ages.ALONG, At(ages.ITERATION, iterates.objective), _infimum)),
    _start(_eps_all, Total(ages.share)),
)
_LEAST = Quantity(_least, Least(ages.ALONG, At(ages.ITERATION, ages.SLOPE, later=True), 1))
THEOREM_43 = Claim(
    id="fedadmm/theorem-4.3",
    where="Theorem 4.3",
    kind="bound",
    gist="rate of the smallest squared gradient norm, with the printed c",
    setting=along.RUNS,
    statement=Inequality(_least, CONSTANT * k0 / (k - s0 * k0), (_LEAST, *OF_CONSTANT)),
    requires=(transition.SMOOTH, START, transition.STEP, ages.SCHEME, AFTER),
    reading="eps_i in c, which is not defined, is eps_i^0; w^{tau_0} in Lt^0 is any. In the runs that are looked at "
    "the bound is a thousand times too large, so that they could not tell a smaller c from it: it follows by adding "
    "falls, for all functions and without coerciveness. That the gradient vanishes is theorem-4.3/limit",
    follows=tuple(claim.id for claim in ages.ITERATIONS),
)

_eps_sharp = q("sum_i(eps_i^0/(1-nu_i)((1+theta)128/3(1+nu_i)+(1+1/theta)nu_i))")
_theta = _Q(1, 10)
SHARPER = Claim(
    id="fedadmm/theorem-4.3/sharper",
    where="Theorem 4.3",
    kind="bound",
    gist="the rate with the smaller constant c_2",
    setting=RUN,
    statement=Inequality(
        _least,
        ((1 + _theta) * _Q(128, 9) * s0 * (2 * s0 - 1) * m * sigma_bar * _above + m * s0 * _eps_sharp)
        * k0
        / (k - s0 * k0),
        (
            _LEAST,
            *OF_CONSTANT[:3],
            quantity(
                _eps_sharp.name,
                lambda v, k: (v.history.eps[0] / (1 - v.fed.nu) * _per_client(v.fed.nu)).sum(axis=-1),
            ),
        ),
    ),
    requires=(SMOOTH, START, STEP, SCHEME, AFTER),
    reading="theta = 1/10. It follows, for all functions, from theorem-4.3/gradient at every p k_0, eq-53/repaired and "
    "lemma-C.1/c for the distances in it, theorem-4.3/descent, of which every iteration counts for 2 s_0 rounds at "
    "most, "
    "and eq-69; that it gives Theorem 4.3 is theorem-4.3/constants. Coerciveness is not used",
)

_a = sympy.symbols("a_1:10", positive=True)
_NAMES = ("10/3", "34/9", "8/9", "20/3", "169", "340/9", "80/9", "200/3", "940/9")
_PRINTED = dict(zip(_a, map(_Q, _NAMES), strict=True))


def _constants(values: dict[Any, Any]) -> ParameterRule:
    a10, a34, a8, a20, a169, a340, a80, a200, a940 = _a
    from_previous = (
        (a10, _Q(1, 3) + 3 * 3),
        (a34, a10 * (1 + _Q(2, 15))),
        (a8, a10 * _Q(4, 15)),
        (a20, 2 * a10),
        (a169, 48 * a10 + 9),
        (a340, 10 * a34),
        (a80, 10 * a8),
        (a200, 10 * a20),
        (a200, a80),
        (a940, a340 + a200),
    )
    return ParameterRule(values, tuple(sympy.Ge(*pair, evaluate=False) for pair in from_previous))


_THEN = ("28/3", "476/45", "112/45", "56/3", "457", "952/9", "224/9", "560/3", "2632/9")
_LINKS = (
    "a_1, ..., a_9 are 10/3, 34/9, 8/9, 20/3, 169, 340/9, 80/9, 200/3, 940/9, each at least what its step gives: (59) "
    "+ 3 times (66), then (65) twice for each sort of term and for the tolerances, (60), and s_0 >= 1"
)

CONSTANTS = (
    Claim(
        id="fedadmm/theorem-4.3/proof-constants",
        where="eqs. (59)-(67)",
        kind="parameter-rule",
        gist="the chain of constants 10/3, 34/9, 8/9, 20/3, 169, 940/9 follows from its steps",
        setting=Setting("no letters", letters=()),
        statement=_constants(_PRINTED),
        reading=f"{_LINKS}; (65) is taken as printed, which is false itself. The first of the relations that fails is "
        "the link where the error enters",
    ),
    Claim(
        id="fedadmm/theorem-4.3/proof-constants/repaired",
        where="eqs. (59)-(67)",
        kind="parameter-rule",
        gist="the chain that does follow: 28/3, 476/45, 112/45, 56/3, 457, 2632/9",
        setting=Setting("no letters", letters=()),
        statement=_constants(dict(zip(_a, map(_Q, _THEN), strict=True))),
        reading=f"{_LINKS}; from (65) as printed, and from eq-65/repaired with max(2 s_0 - 2, 1) in place of s_0 and "
        "eps_i^{k_i} in place of eps_i^k",
        repairs="fedadmm/theorem-4.3/proof-constants",
    ),
)

# Remark 4.3

_steps = sympy.ceiling((c + varepsilon * s0) * k0 / varepsilon)
_ACCURACY = Setting("all c, varepsilon > 0 and integers k_0, s_0 >= 1", letters=(c, varepsilon, k0, s0))

REMARK_43 = (
    Claim(
        id="fedadmm/remark-4.3/eq-28",
        where="Remark 4.3",
        kind="bound",
        gist="iterations that meet (27)",
        setting=_ACCURACY,
        statement=Inequality(c * k0 / (_steps - s0 * k0), varepsilon),
        reading="after k iterations the bound (26) is at most varepsilon: one of them met (27)",
    ),
    Claim(
        id="fedadmm/remark-4.3/eq-29",
        where="Remark 4.3",
        gist="communication rounds from (28)",
        setting=_ACCURACY,
        statement=identity(2 * sympy.ceiling(_steps / k0), 2 * sympy.ceiling((c + varepsilon * s0) / varepsilon)),
        reading="two communications in each of the ceil(k/k_0) rounds; its letter, in which the factor 2 stands inside "
        "both ceilings, is eq-29/literal",
    ),
    Claim(
        id="fedadmm/remark-4.3/eq-29/literal",
        where="Remark 4.3",
        gist="ceil(2 k/k_0) with the k of (28) is ceil(2 (c + varepsilon s_0)/varepsilon)",
        setting=_ACCURACY,
        statement=identity(sympy.ceiling(2 * _steps / k0), sympy.ceiling(2 * (c + varepsilon * s0) / varepsilon)),
        literal_of="fedadmm/remark-4.3/eq-29",
    ),
)

__all__ = ["BOUNDS", "CHAIN", "CONSTANTS", "REMARK_43", "SELECTED", "SHARPER", "THEOREM_43", "Run"]
