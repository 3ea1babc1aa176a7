"""FedADMM, the proof of Theorem 4.3: eqs. (59) to (69)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import along, histories, iterates, transition, waiting
from fedtheory.papers.fedadmm.letters import LONG_WAIT, k, k0, m, nu_i, parts, q, s0, section, sigma_bar, sigma_i
from fedtheory.papers.fedadmm.runs import (
    CONSECUTIVE,
    IDLE,
    LATE,
    LETTERS,
    ROUND,
    SCHEME,
    SMOOTH,
    START,
    STEP,
    RunView,
    ScheduledRun,
    of_client,
    quantity,
)
from fedtheory.papers.fedadmm.transition import BEFORE_IT_FALLS
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison, Composed


def last_of(of: Any) -> Any:
    """``of(view, k_i)[..., i]`` for every client i, ``(..., m)``: what a client did last."""

    def value(v: RunView, k: int) -> Array:
        # A client that was never active is left out by hypothesis: any iteration stands in.
        return np.stack([of(v, max(j, 0))[..., i] for i, j in enumerate(v.run.last)], axis=-1)

    return value


def waited(v: RunView, k: int) -> Array:
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
_61 = sympy.Rational(2, 15) * sigma_i**2 * _move + 24 * _eps_last


_63 = sympy.Rational(4, 15) * sigma_i**2 * _move + 48 * _eps_last + 2 * s0 * sigma_i**2 * _rounds


_eps_now, _eps_then, _eps_after = parts("eps_i^k eps_i^{k_i} eps_i^{k_i+1}")
_V_now, _V_last, _V_early, _V_earlier = parts("Lt^k Lt^{k_i} Lt^{max(k-s_0k_0,0)} Lt^{max(k-(2s_0-3)k_0-1,0)}")
_k_i = along.k_i


def _since(rounds: Callable[[int], int], more: int) -> Callable[[RunView, int], Array]:
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


def _eq_64(kept: sympy.Expr, early: sympy.Expr, least: sympy.Expr) -> Inequality:
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


def _along(at: str, index: sympy.Expr) -> Composed:
    """Lt before the iteration of an index."""
    lagrange, tolerances = (
        along.then(name, of, index)
        for name, of in (
            (f"L^{at}", iterates.lagrangian),
            (f"sum_i(eps_i^{at}/((1-nu_i)sigma_i))", iterates.tolerances),
        )
    )
    return lagrange + 29 * tolerances


def _eq_64_repaired() -> Inequality:
    eps, eps_after = (
        along.then(symbol.name, iterates.accuracy, index, each=True)
        for symbol, index in ((_eps_now, k), (_eps_after, _k_i + 1))
    )
    earliest = k - (2 * s0 - 3) * k0 - 1
    now, last = _along("k", k), _along("{k_i}", _k_i)
    early = _along("{max(k-(2s_0-3)k_0-1,0)}", sympy.Max(earliest, 0))
    return Inequality(
        eps.expression,
        eps_after.expression,
        (eps, eps_after, *now.quantities, *last.quantities, *early.quantities),
        also=(
            Comparison(eps_after.expression, "<=", eps.expression),
            Comparison(now.expression, "<=", last.expression),
            Comparison(last.expression, "<=", early.expression),
            Comparison(earliest, "<=", _k_i),
            Comparison(_k_i, "<=", k),
        ),
    )


eq_64 = section("eq. (64)", _WAITING, SMOOTH, START, STEP, SCHEME, IDLE)
eq_65 = section("eq. (65)", ROUND, SMOOTH, START, STEP, SCHEME, LATE)
_64_REPAIRED = eq_64(
    "repaired",
    _eq_64_repaired(),
    "epsilon of an idle client at k and at k_i + 1, and k_i >= k - (2 s_0 - 3) k_0 - 1",
    kind="identity",
    setting=along.AT_ROUNDS,
    requires=(
        transition.SMOOTH,
        START,
        transition.STEP,
        along.SCHEME,
        along.IDLE,
        Hypothesis("k is in K: k = t k_0", sympy.Eq(k, along.t * k0, evaluate=False)),
    ),
    reading="Lt is written out",
    follows=("lemma-C.2/c/accuracy-idle", "lemma-C.2/a"),
    repairs="eq-64",
)
CHAIN = (
    section("eq. (59)", BEFORE_IT_FALLS, transition.SMOOTH, transition.STEP)(
        "",
        Inequality(_slope, m * (_bars + _moves) / 3 + 3 * _all, _OF_ANY),
        "splitting of the squared gradient norm",
        tex=r"\|\nabla f(\mathbf{w}^{\tau_{k+1}})\|^2\leq m\sum_i\frac{\sigma_i^2}{3}(\|\triangle\overline{"
        r"\mathbf{w}}_i^{k+1}\|^2+\|\triangle\mathbf{w}_i^{k+1}\|^2)+3\|\sum_i\mathbf{g}_i^k\|^2",
        uses=("eq-33", "eq-45/use"),
    ),
    section("eqs. (61)-(63)", ROUND, SMOOTH, START, STEP, SCHEME, SELECTED, id="")(
        "eq-62",
        Inequality(
            _Dpi,
            _61,
            _OF_LAST,
            also=(Comparison(sigma_i**2 * _bar_last, "<=", _61), Comparison(sigma_i**2 * _bar, "<=", _63)),
        ),
        "bounds on sigma_i (w_i - w)",
        kind="inequality",
        tex=r"\|\sigma_i\triangle\overline{\mathbf{w}}_i^{k+1}\|^2\leq\frac{4\sigma_i^2}{15}\|\triangle"
        r"\mathbf{w}_i^{k_i+1}\|^2+48\epsilon_i^{k_i}+2s_0\sigma_i^2\sum_{t=\tau_{k_i+1}}^{\tau_{k+1}-1}\|"
        r"\mathbf{w}^{t+1}-\mathbf{w}^t\|^2",
        uses=("lemma-C.1/c", "eq-21", "eq-33", "eq-45/use"),
        reading="all at k_i, the last iteration at which i is active, which is k for the selected: then no round is "
        "waited for",
        flaw="Eq. (63) takes the sum over the rounds in which a client waits as one of at most s_0 terms; under "
        "Scheme 4.1 there may be 2 s_0 - 2. Under eq. (21) there are s_0 - 1 at most.",
        root=LONG_WAIT,
    ),
    *waiting.EQ_62,
    eq_64(
        "",
        _eq_64(_eps_then, _V_early, k - (s0 - 1) * k0 - 1),
        "epsilon of an idle client at k and at k_i, as printed",
        kind="identity",
        tex=r"\widetilde{\mathcal{L}}^k\le\widetilde{\mathcal{L}}^{k_i}\le\widetilde{\mathcal{L}}^{k-s_0k_0}, \quad "
        r"\epsilon_i^k=\epsilon_i^{k_i}, \quad i\notin\Omega^{\tau_{k+1}}",
        uses=("eq-21", "lemma-C.2/a"),
        reading="with what it says of Lt, and the line before it on k_i; Lt^{k-s_0k_0} is Lt^0 where k < s_0 k_0. "
        "Under Scheme 4.1 the equality, as the text at hand prints it, the lower bound of k_i and the upper one of "
        "Lt^{k_i} fail",
        flaw="What an idle client keeps by eq. (9) is what its last active iteration left: eps at k_i + 1, after that "
        "iteration, and not at k_i, before it.",
    ),
    _64_REPAIRED,
    eq_65(
        "",
        Inequality(
            _bars,
            sympy.Rational(2, 15) * _moves + sympy.Rational(4, 15) * _moves_last + 2 * s0 * _waits + 48 * _eps,
            _OF_ALL,
        ),
        "sum of the squared sigma_i (w_i - w), as printed",
        tex=r"\sum_i\|\sigma_i\triangle\overline{\mathbf{w}}_i^{k+1}\|^2\leq\sum_i\left(\frac{2\sigma_i^2}{15}\|"
        r"\triangle\mathbf{w}_i^{k+1}\|^2+\frac{4\sigma_i^2}{15}\|\triangle\mathbf{w}_i^{k_i+1}\|^2\right)+\sum_i"
        r"\left(2s_0\sigma_i^2\sum_{t=\tau_{k+1}-1}^{\tau_{k+1}-1}\|\mathbf{w}^{t+1}-\mathbf{w}^t\|^2+48"
        r"\epsilon_i^k\right)",
        uses=("eq-62", "eq-64"),
        reading=f"{_ROUNDS}, as in the line before and in (63); the last line prints tau_{{k+1}} - 1 as its lower end, "
        "taken for a misprint: with one term the right side is smaller still",
        root=LONG_WAIT,
    ),
    histories.EQ_65,
    section("eq. (66)", BEFORE_IT_FALLS, transition.BEGINS)(
        "",
        Inequality(_all, 3 * m * (_eps + _bars + _moves), _OF_ANY),
        "bound on the squared norm of the sum of the g_i",
        tex=r"\|\sum_i\boldsymbol{g}_i^k\|^2\leq 3m\sum_i\epsilon_i^k+3m\sum_i\sigma_i^2\|\triangle\overline{"
        r"\mathbf{w}}_i^{k+1}\|^2+3m\sum_i\sigma_i^2\|\triangle\mathbf{w}_i^{k+1}\|^2",
        uses=("lemma-C.1/a", "lemma-C.1/b", "eq-33"),
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


def _eq_67(before: sympy.Expr, eps: sympy.Expr) -> Inequality:
    return Inequality(_slope, sympy.Rational(940, 9) * m * s0 * sigma_bar * (before - _V_after) + 169 * m * eps, _OF_67)


_blocks = sympy.Symbol("ceil(t/s_0)", integer=True, positive=True)
_eps_sum, _eps_windows, _eps_window, _eps_0 = parts(
    "sum_{p=s_0}^t(eps_i^{pk_0}) sum_{a=1}^{ceil(t/s_0)}(s_0*eps_i^{as_0k_0}) eps_i^{s_0k_0} eps_i^0"
)


def _windows(run: ScheduledRun) -> int:
    """ceil(t/s_0) for t = k/k_0 >= 1."""
    return -(-max(run.k // run.fed.k0, 1) // run.s0)


def _at_windows(v: RunView, k: int) -> Array:
    """s_0 eps_i^{a s_0 k_0} for 1 <= a <= ceil(t/s_0), added up: ``(m,)``."""
    long = v.run.s0 * v.fed.k0
    return v.run.s0 * v.history.eps[long : _windows(v.run) * long + 1 : long].sum(axis=0)


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

eq_67 = section("eq. (67)", ROUND, SMOOTH, START, STEP, SCHEME, LATE)
BOUNDS = (
    eq_67(
        "",
        _eq_67(_V_before, _eps),
        "the final bound of one step",
        kind="inequality",
        tex=r"\|\nabla f(\mathbf{w}^{\tau_{k+1}})\|^2\leq\frac{940ms_0\overline{\sigma}}{9}(\widetilde{"
        r"\mathcal{L}}^{k-s_0k_0}-\widetilde{\mathcal{L}}^{k+1})+169m\sum_i\epsilon_i^k",
        uses=(
            "eq-67/first-line",
            "eq-59",
            "eq-66",
            "eq-65",
            "eq-64",
            "lemma-4.1",
            "lemma-C.2/a",
            "theorem-4.3/proof-constants",
        ),
        reading="its last line",
        root=LONG_WAIT,
    ),
    eq_67(
        "repaired",
        _eq_67(_V_longer, _eps_kept),
        "the same constants with Lt at max(k - (2 s_0 - 2) k_0 - 1, 0) and eps_i at k_i",
        kind="inequality",
        repairs="eq-67",
    ),
    eq_67(
        "repaired-under-21",
        _eq_67(_V_before, _eps),
        "as printed, under eq. (21) besides Scheme 4.1",
        kind="inequality",
        requires=(SMOOTH, START, STEP, SCHEME, CONSECUTIVE, LATE),
        reading="its last line",
        repairs="eq-67",
    ),
    eq_67(
        "first-line",
        Inequality(_slope, sympy.Rational(10, 3) * m * (_bars + _moves) + 9 * m * _eps, _OF_ANY),
        "the squared gradient norm by the moves of one round, as printed",
        setting=BEFORE_IT_FALLS,
        requires=(transition.SMOOTH, transition.STEP, transition.BEGINS),
        tex=r"\|\nabla f(\mathbf{w}^{\tau_{k+1}})\|^2\leq\sum_i\frac{10m\sigma_i^2}{3}(\|\triangle\overline{"
        r"\mathbf{w}}_i^{k+1}\|^2+\|\triangle\mathbf{w}_i^{k+1}\|^2)+9m\sum_i\epsilon_i^k",
        uses=("eq-59", "eq-66", "theorem-4.3/proof-constants"),
        reading="(59) and (66) give 28/3 for 10/3. It holds by (36) alone: grad f(w) is the sum over i of alpha_i grad "
        "f_i(w) - g_i^{k+1} + phi_i - sigma_i Dw_i^{k+1} of the active, and of alpha_i grad f_i(w) - g_i^k + phi_i + "
        "sigma_i Dbar_i of the idle; 2 suffices for 10/3",
    ),
    section(
        "eq. (69)",
        replace(ROUND, letters={**LETTERS, _blocks: lambda problem, run: _windows(run)}),
        SCHEME,
        LATE,
        WHOLE,
    )(
        "",
        Inequality(
            _eps_sum,
            _eps_windows,
            _OF_69,
            also=(
                Comparison(_eps_windows, "<=", _window),
                Comparison(_window, "<=", s0 * _eps_0 / (1 - nu_i)),
            ),
        ),
        "sum of the epsilons",
        tex=r"\sum_{p=s_0}^t\epsilon_i^{pk_0}\le\sum_{a=1}^{\lceil t/s_0\rceil}s_0\epsilon_i^{as_0k_0}\le\frac{s_0"
        r"\epsilon_i^{s_0k_0}(1-\nu_i^{\lceil t/s_0\rceil})}{1-\nu_i}\le\frac{s_0\epsilon_i}{1-\nu_i}",
        reading="t = k/k_0; eps_i, which is not defined, is eps_i^0",
    ),
)

__all__ = ["BOUNDS", "CHAIN", "SELECTED"]
