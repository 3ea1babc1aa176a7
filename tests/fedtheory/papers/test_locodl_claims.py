"""The statements of LoCoDL on the problem in other words and on idle clients: verdicts, and planted errors found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest
import sympy
from first_found import first_found

from fedtheory import claims
from fedtheory.algorithms import fedcomgate
from fedtheory.claims import Claim
from fedtheory.numbers.rational import exact
from fedtheory.papers.locodl import problem, remarks, setting
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal
from verify import Verdict, check


def of(id: str) -> Claim:
    return claims.get(f"locodl/{id}")


@pytest.mark.parametrize("id", ["section-3.1/equivalence", "proof/step-5", "remark-2.2", "remark-2.2/resynchronised"])
def test_what_is_read_is_proved(id):
    assert check(of(id)).verdict is Verdict.PROVED


@pytest.mark.parametrize("id", ["eq-3/default", "eq-3/independent"])
def test_omega_av_is_not_proved_by_itself(id):
    """Proved without the hypothesis (3), of which these claims say with what constant it holds."""
    claim = of(id)
    assert not any(adversary.average for adversary in claim.setting.adversaries)
    assert check(claim).verdict is Verdict.PROVED


def test_fedcomgate_without_compression_is_gradient_descent():
    of_two = diagonal(exact([[1, 3], [2, 1]]), exact([[3, -2], [0, 1]]))
    given = Problem(of_two)
    compressors = SimpleNamespace(apply=lambda draw, x: x)
    state = fedcomgate.State(exact([1, 2]), exact([[1, -1], [-1, 1]]))
    after = fedcomgate.step(given, fedcomgate.Params(Fraction(1, 7), 1, 1, compressors), state, None)
    assert (after.w == state.w - Fraction(1, 7) * of_two.gradient(state.w + 0 * state.delta).sum(axis=0) / 2).all()
    assert check(of("table-2/fedcomgate")).verdict is Verdict.PROVED


@pytest.mark.slow
def test_the_optimality_conditions_hold_over_the_class():
    found = check(of("optimality"))
    assert found.verdict is Verdict.PROVED or "bounded over the whole class" in found.note


def _with(claim, index, value):
    quantities = list(claim.statement.quantities)
    quantities[index] = replace(quantities[index], of=value)
    return replace(claim, id="mine", statement=replace(claim.statement, quantities=tuple(quantities)))


def _mixed(at, params, state):
    """The models of idle clients with 1/100 of what they were."""
    after = remarks._own(at, params, state)
    return after + remarks.np.concatenate([state.x, 0 * state.u], axis=-2) / 100


def _twice_shared(at, params, state):
    return problem._split_average(at, params, state) + problem._quarter(at, state.x)


def _steeper(at, params, state):
    """As for (1 - gamma mu) y."""
    return problem._by_slope(at, params, state) + at.mu / 2 * (state.x * (state.w - state.x)).sum(axis=-1)


def _planted() -> dict[str, Claim]:
    conditions, split = of("optimality"), of("section-3.1/equivalence")
    shared, own = of("eq-3/default"), of("eq-3/independent")
    return {
        "eq. (3): half of omega": shared.variant(right=shared.statement.right / 2),
        "eq. (3): omega/n of any compressors": own.variant(requires=()),
        "eq. (3): omega/n^2": own.variant(right=own.statement.right / setting.n),
        "optimality: twice the curvature": conditions.variant(left=2 * conditions.statement.left),
        "optimality: half as smooth": conditions.variant(right=conditions.statement.right / 2),
        "split: more curvature is left": split.variant(left=split.statement.left * sympy.Rational(11, 10)),
        "split: L~ less a tenth of mu": split.variant(
            right=split.statement.right.subs(setting.L, setting.L - setting.mu / 10)
        ),
        "split: with the share twice": _with(split, 3, _twice_shared),
        "step 5: a longer step": _with(of("proof/step-5"), 1, _steeper),
        "convex combination: of any rho": replace(
            of("section-2.2/convex-combination/repaired"),
            id="mine",
            statement=replace(
                of("section-2.2/convex-combination/repaired").statement,
                assignments={setting.rho: (1 + setting.omega_av) / (2 * setting.omega_av + 1) + sympy.Rational(1, 9)},
            ),
        ),
        "idle: its model is mixed in": _with(of("remark-2.2/resynchronised"), 0, _mixed),
    }


PLANTED = _planted()


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_refuted(name):
    evidence = first_found(PLANTED[name])
    assert evidence.verdict is Verdict.REFUTED, evidence.note
