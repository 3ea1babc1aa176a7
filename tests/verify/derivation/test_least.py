"""The last display of the proof of FedADMM's Theorem 4.3: minima over some iterations of a run and over others, and
bounds of them; and that nothing is derived of minima over too few iterations, or of bounds that are smaller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy
from first_found import first_found

from fedtheory import claims
from fedtheory.papers.fedadmm import ages, rounds, runs
from fedtheory.papers.fedadmm.letters import k, k0, m, s0, sigma_bar
from fedtheory.papers.fedadmm.rate import CONSTANT, _above, _eps_all
from fedtheory.papers.fedadmm.rounds import _least, _least_late, _t
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Least
from fedtheory.settings.relations import Comparison
from verify import Verdict
from verify.base.case import Case
from verify.derivation import descent
from verify.derivation import runs as compared
from verify.methods import METHODS, derivation
from verify.methods.base import Inquiry

LAST = claims.get("fedadmm/appendix-C.6/last")
WITHIN, LATE, END = LAST.statement.comparisons
_Q = sympy.Rational
#: The constants of the function of the state that falls, which are less than the printed ones.
_C = _Q(88, 15) * (2 * s0 - 1) * (6 * s0 - 4) * m * sigma_bar * _above + 169 * m * s0 * _eps_all


def _added(claim):
    _, premises = derivation._premises(claim)
    return descent.added(claim, premises)


def _of(*comparisons, **changed):
    """The display with other comparisons, and with other minima for those of the same name."""
    first, *others = comparisons
    names = {"least": _least, "late": _least_late}
    of = {names[name]: rounds._least_of(names[name], *index) for name, index in changed.items()}
    quantities = tuple(of.get(q.expression, q) for q in LAST.statement.quantities)
    return LAST.variant(left=first.left, right=first.right, also=tuple(others), quantities=quantities)


def _at_most(left, right):
    return Comparison(left, "<=", right)


def test_the_display_follows():
    found = _added(LAST)
    assert {claim.id for claim in found.used} == set(LAST.follows)
    assert [claim.id for claim in found.own] == ["what-is-nonnegative"] * 3 + ["what-is-kept"]


@pytest.mark.parametrize(
    "claim",
    [
        _of(_at_most(_least_late, _C / (_t - s0 + 1))),
        _of(_at_most(_C / (_t - s0 + 1), _C * k0 / (k - s0 * k0 + k0))),
        _of(LATE, late=(0, 1)),
        _of(LATE, late=(0, k0)),
        _of(WITHIN, END, least=(0, k0)),
    ],
)
def test_what_is_as_large_follows_too(claim):
    assert _added(claim)


@pytest.mark.parametrize(
    "claim",
    [
        # Bounds that are less: by a round, by 2 percent, by a term.
        _of(_at_most(_least_late, _C / (_t - s0 + 2))),
        _of(_at_most(_least_late, _Q(98, 100) * _C / (_t - s0 + 1))),
        _of(_at_most(_least_late, (_C - m * _eps_all) / (_t - s0 + 1))),
        _of(_at_most(_least_late, _C / _t)),
        _of(_at_most(_least, _C / k)),
        # A minimum over one iteration fewer, over one round fewer, over every second one, over other iterations.
        _of(LATE, late=(s0 * k0 + 1, 1)),
        _of(LATE, late=((s0 + 1) * k0, k0)),
        _of(LATE, late=(s0 * k0, 2 * k0)),
        _of(LATE, late=(s0 * k0, 2)),
        _of(LATE, late=(s0 * k0 - 1, k0)),
        _of(LATE, late=(1, k0)),
        # Of two minima the one over fewer iterations is the larger.
        _of(_at_most(_least_late, _least), END),
        _of(WITHIN, END, least=(s0 * k0 + 1, 1)),
        _of(WITHIN, END, least=(1, 2)),
        _of(WITHIN, END, least=(1, k0)),
        _of(WITHIN, END, late=(2 * s0 * k0, 1)),
        _of(WITHIN, END, late=(0, k0)),
        # Bounds of each other.
        _of(_at_most(CONSTANT * k0 / (k - s0 * k0), CONSTANT / (_t - s0 + 1))),
        _of(_at_most(CONSTANT / (_t - s0 + 1), CONSTANT * k0 / (k - s0 * k0 + k0 + 1))),
        _of(_at_most(CONSTANT / (_t - s0 + 1), _Q(98, 100) * CONSTANT * k0 / (k - s0 * k0 + k0))),
        _of(_at_most(CONSTANT, CONSTANT / (_t - s0 + 1))),
        _of(_at_most(-CONSTANT, -2 * CONSTANT)),
        _of(_at_most(CONSTANT / (_t - s0 + 1), _least)),
        _of(END, Comparison(_least, "==", _least_late)),
        _of(END, Comparison(_least, "<", _least_late)),
        _of(_at_most(2 * _least, _least_late), END),
    ],
)
def test_what_is_less_does_not_follow(claim):
    with pytest.raises(ValueError):
        _added(claim)


def test_the_letter_is_not_derived_but_refuted():
    literal = claims.get("fedadmm/appendix-C.6/last/literal")
    with pytest.raises(ValueError):
        _added(replace(literal, follows=LAST.follows))
    assert first_found(literal).verdict is Verdict.REFUTED


_REAL = sympy.Symbol("t", positive=True)


def _when(relation):
    """The display under another hypothesis on k."""
    others = tuple(h for h in LAST.requires if h.relation is None)
    return replace(LAST, requires=(*others, Hypothesis("k is late", relation)))


@pytest.mark.parametrize(
    "claim",
    [
        _when(sympy.Gt(k, s0 * k0, evaluate=False)),
        _when(sympy.Gt(_t, s0, evaluate=False)),
        _when(sympy.Eq(k, _t * k0, evaluate=False)),
        _when(sympy.And(sympy.Ge(k, _t * k0, evaluate=False), sympy.Gt(_t, s0, evaluate=False))),
        _when(sympy.And(sympy.Eq(k, _t * k0 / 2, evaluate=False), sympy.Gt(_t, 2 * s0, evaluate=False))),
        _when(sympy.And(sympy.Eq(k, _t, evaluate=False), sympy.Gt(_t, s0 * k0, evaluate=False))),
    ],
)
def test_of_other_iterations_k_nothing_follows(claim):
    with pytest.raises(ValueError):
        _added(claim)


def test_a_number_of_rounds_that_is_no_integer_is_seen():
    """A letter that is said to be an integer, and is k/k_0 for all k."""
    setting = replace(
        LAST.setting,
        letters={**LAST.setting.sources, _t: lambda problem, run: sympy.Rational(run.k, run.fed.k0)},
        drawing=runs.RUN.drawing,
    )
    claim = replace(LAST, setting=setting)
    with pytest.raises(ValueError, match="not an integer"):
        compared.compared(claim, descent.read(claim), [], 0, 200)


def test_runs_of_the_display_consist_of_the_iterations():
    assert compared.compared(LAST, descent.read(LAST), list(map(claims.get, LAST.follows)), 0, 20) == 20


def test_a_minimum_is_over_the_iterations_that_it_names():
    recipe = next(r for r in LAST.instances.recipes(np.random.default_rng(3)) if r["k0"] == 2 and r["k"] >= 4)
    case = Case(LAST, recipe)
    problem, history = case.floats.instance.at(
        np.random.default_rng(0).standard_normal((2, case.floats.instance.dimension))
    )
    run = case.floats.params
    of = At(ages.ITERATION, ages.SLOPE, later=True)
    every = [of(problem, *point) for point in ages.ALONG.points(problem, run, history)]
    found = Least(ages.ALONG, of, k0, 2, ((k0, LAST.setting.sources[k0]),))(problem, run, history)
    assert np.array_equal(found, np.min(every[2 : run.k + 1 : 2], axis=0))
    with pytest.raises(ValueError, match="which has no value"):
        Least(ages.ALONG, of, k0)
    with pytest.raises(ValueError, match="none of the index"):
        Least(ages.ALONG, of, 99)(problem, run, history)


@pytest.mark.slow
def test_the_display_is_proved():
    outcome = derivation.METHOD.run(derivation.METHOD, Inquiry(LAST, seed=0, size=200, methods=METHODS))
    assert outcome.verdict is Verdict.PROVED and "added falls" in outcome.note
