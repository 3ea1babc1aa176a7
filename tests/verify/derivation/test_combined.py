"""Multiples of inequalities that are added up: what they give, and that they give nothing that is less."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy

from fedtheory import claims
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.one_step import one_step
from fedtheory.papers.feddcd.appendix_b import L_max, L_min, r
from fedtheory.papers.feddcd.descent import ERROR, OFF, SLOPE, TRUE, eta
from fedtheory.papers.feddcd.gradient_moves import MOVE_L, TURN, TURN_L
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity
from verify import Verdict
from verify.derivation import combined
from verify.export.found import of_own
from verify.methods import METHODS, derivation
from verify.methods.base import Inquiry

CLAIM = claims.get("feddcd/appendix-C/before-31/repaired")
LINES = tuple(map(claims.get, CLAIM.follows))
KEEPING = CLAIM.statement.algorithm
_SCALE, _LESS = r * L_max**2 * eta**2 / L_min, sympy.Rational(98, 100)
_RIGHT = 2 * _SCALE * TRUE + 2 * _SCALE * L_max / L_min**2 * ERROR


def _added(claim=CLAIM, premises=LINES):
    return combined.added(claim, premises)


def _step(relation, **parts):
    return replace(CLAIM, statement=one_step(KEEPING, relation), **parts)


def test_the_display_is_a_sum_of_its_lines():
    assert {claim.id for claim in _added()} == set(CLAIM.follows)


@pytest.mark.parametrize(
    "claim",
    [
        _step(E(TURN) <= _SCALE * SLOPE),
        _step(E(TURN) <= _SCALE * (2 * TRUE + 2 * OFF)),
        _step(E(TURN) <= L_max**2 / L_min * r * eta**2 * SLOPE),
        _step(E(3 * TURN + TURN_L - TURN / 2) <= (sympy.Rational(5, 2) / L_min + 1) * L_max**2 * r * eta**2 * SLOPE),
        _step(E(TURN - TURN_L / L_min) <= 0),
    ],
)
def test_other_sums_of_them_follow(claim):
    assert _added(claim)


@pytest.mark.parametrize(
    "claim",
    [
        _step(E(TURN) <= _LESS * _RIGHT),
        _step(E(TURN) <= 2 * _SCALE * TRUE + _LESS * 2 * _SCALE * L_max / L_min**2 * ERROR),
        _step(E(TURN) <= _LESS * 2 * _SCALE * TRUE + 2 * _SCALE * L_max / L_min**2 * ERROR),
        _step(E(TURN) <= 2 * _SCALE * TRUE + 2 * _SCALE / L_min * ERROR),
        _step(E(TURN) <= 2 * _SCALE * TRUE),
        _step(E(TURN) <= _RIGHT / r),
        _step(E(TURN) <= _RIGHT - 1),
        _step(E(TURN) <= -1 * _RIGHT),
        _step(E(-1 * TURN) <= _RIGHT),
        _step(E(TURN_L) <= _RIGHT),
        _step(E(MOVE_L) <= _LESS * r * eta**2 * SLOPE),
        _step(E(MOVE_L) >= r * eta**2 * SLOPE),
        _step(E(TURN_L / L_min - TURN) <= 0),
        _step(E(TURN) < _RIGHT),
        # What is true, as squares are not negative, but not said by the lines.
        _step(E(TURN) <= 2 * _RIGHT),
    ],
)
def test_what_is_less_does_not_follow(claim):
    with pytest.raises(ValueError):
        _added(claim)


def _stated(claim, **parts):
    return replace(claim, statement=replace(claim.statement, **parts))


_OTHER = replace(LINES[0], setting=replace(CLAIM.setting))
_STEP = replace(KEEPING)
_MORE = Hypothesis("eta < 1", sympy.Lt(eta, 1))
_CODE = Hypothesis("eta > 0", sympy.Gt(eta + 1, 1, evaluate=False), met=lambda problem, params: True)


@pytest.mark.parametrize(
    "premises",
    [
        LINES[1:],
        (*LINES[:2], LINES[3]),
        LINES[:3],
        (*LINES[:3], _stated(LINES[3], middle=None, right=LINES[3].statement.middle)),
        (_OTHER, *LINES[1:]),
        (_stated(LINES[0], algorithm=_STEP), *LINES[1:]),
        (replace(LINES[0], requires=(*LINES[0].requires, _MORE)), *LINES[1:]),
        (replace(LINES[0], requires=(*LINES[0].requires, _CODE)), *LINES[1:]),
        (_stated(LINES[0], left=-LINES[0].statement.left), *LINES[1:]),
        (_stated(LINES[0], left=LINES[0].statement.left / 2 - 1), *LINES[1:]),
        (*LINES[:3], replace(LINES[3], statement=Identity(SLOPE.expression, TRUE.expression, (SLOPE, TRUE)))),
    ],
)
def test_without_a_line_nothing_follows(premises):
    with pytest.raises(ValueError):
        _added(premises=premises)


def test_an_inequality_of_states_does_not_follow_from_one_of_steps():
    of_states = replace(CLAIM, statement=replace(LINES[3].statement, middle=None, right=LINES[3].statement.middle))
    assert combined.added(of_states, LINES[3:])
    with pytest.raises(ValueError, match="of steps"):
        combined.added(of_states, LINES)


def test_steps_of_another_method_are_no_steps_of_the_setting():
    claim = _stated(CLAIM, algorithm=_STEP)
    with pytest.raises(ValueError, match="of the method"):
        combined.added(claim, [_stated(line, algorithm=_STEP) for line in LINES[:3]] + [LINES[3]])


def test_what_other_functions_are_called_does_not_matter():
    """A quantity of the same name, of another function, cancels nothing."""
    other = Quantity(
        TURN_L.expression, lambda problem, params, state: 0 * TURN_L.of(problem, params, state), after=True
    )
    quantities = tuple(other if q is TURN_L else q for q in LINES[0].statement.quantities)
    with pytest.raises(ValueError):
        _added(premises=(_stated(LINES[0], quantities=quantities), *LINES[1:]))


def _outcome(claim, verdict=Verdict.PROVED):
    known = dict.fromkeys(claim.follows, verdict)
    return derivation.METHOD.run(derivation.METHOD, Inquiry(claim, seed=0, size=20, methods=METHODS, known=known))


def test_from_what_is_proved_it_is_proved():
    found = _outcome(CLAIM)
    assert found.verdict is Verdict.PROVED and combined.RULE in found.note
    for verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED, Verdict.REFUTED, Verdict.NOT_TESTED):
        assert _outcome(CLAIM, verdict).verdict is None
    assert _outcome(_step(E(TURN) <= _LESS * _RIGHT)).verdict is None


def test_of_a_sum_there_is_no_object():
    objects, reasons = of_own(CLAIM)
    assert not objects and reasons
