"""One round with inexact oracles after any number of rounds: what is proved where the first answers are exact, and
planted errors that must stay open."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms.next_round import NextRound
from fedtheory.algorithms.starts import GradientStart
from fedtheory.papers.feddcd import inexact
from verify.base.case import Case
from verify.methods import identities
from verify.methods.identities import prove
from verify.reading import whole
from verify.step_models import one_round

NUMBERS = ("29", "31", "36")
EXACT = replace(inexact.tracked, init=GradientStart(inexact.tracked.init, "w", "conjugate_gradient", "y"))


def started(number, algorithm=EXACT):
    """A display of the proof of Theorem C.1, where the method starts with exact guesses."""
    printed = claims.get(f"feddcd/eq-{number}")
    setting = replace(printed.setting, text=f"{printed.setting.text}; exact guesses at first", algorithm=algorithm)
    return replace(printed.variant(algorithm=algorithm), setting=setting)


def term(claim, name, by):
    """The claim with ``by`` times a quantity in its right side."""
    quantity = next(q.expression for q in claim.statement.quantities if str(q.expression) == name)
    return claim.variant(bound=claim.statement.override.subs(quantity, by * quantity))


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_rounds_after_exact_guesses_are_proved(number):
    found = prove(started(number))
    assert found is not None
    assert found.check()
    assert set(found.weights) == {"next error", "one round"}
    # No other claim's weights prove it.
    other = started({"29": "31", "31": "36", "36": "29"}[number])
    assert not replace(found, claim=other).check()


def test_a_start_at_zero_is_not_proved():
    printed = claims.get("feddcd/eq-29")
    assert identities.pose(printed)
    assert prove(printed) is None


def wrong():
    yield "a fifth of the drifts", term(started("29"), "sum_of_drifts", sympy.Rational(1, 5))
    yield "five times the spread", term(started("29"), "sum_i|w_i-w_bar|^2", 5)
    yield "less than the gap", term(started("29"), "G(y^t)-G*", sympy.Rational(1, 2))
    claim = started("36")
    yield "sixteen times the move", claim.variant(left=16 * claim.statement.left - 15 * sympy.Symbol("G(y^(t+1))-G*"))
    yield "twice the next gap", started("29").variant(left=2 * started("29").statement.left)


@pytest.mark.parametrize(("name", "claim"), list(wrong()), ids=[name for name, _ in wrong()])
def test_planted_weights_are_not_proved(name, claim):
    assert prove(claim) is None


# The oracles' (1 - kappa)/4 is no matter in one round: there delta is any.
@pytest.mark.parametrize("needed", [h for h in inexact.THEOREM if h is not inexact.INEXACT], ids=lambda h: h.text[:20])
def test_hypotheses_are_needed(needed):
    claim = started("36")
    assert needed in claim.requires
    assert prove(claim.variant(requires=[h for h in claim.requires if h is not needed])) is None


def long_step(problem, params, state, draw):
    after = inexact.tracked.step(problem, params, state, draw)
    return after._replace(y=state.y + 2 * (after.y - state.y))


def stale(problem, params, state, draw):
    return inexact.tracked.step(problem, params, state, draw)._replace(w=state.w)


def forgets(problem, params, state, draw):
    after = inexact.tracked.step(problem, params, state, draw)
    return after._replace(drift=after.drift - params.delta * state.drift / 2)


def nearly(problem, params, y=None, w=None):
    """Guesses that are exact but for the first client's."""
    state = EXACT.init(problem, params, **({} if y is None else {"y": y}), **({} if w is None else {"w": w}))
    first = np.arange(problem.n) == 0
    return state._replace(w=np.where(first[:, None], 2 * state.w, state.w))


@pytest.mark.parametrize("changed", [{"step": s} for s in (long_step, stale, forgets)] + [{"init": nearly}])
def test_other_code_is_not_proved(changed):
    claim = started("29", replace(EXACT, **changed))
    # That it is no code of this package's theory is another matter.
    instance = next(one_round.instances(claim))
    assert one_round.differs(claim, instance) is not None
    assert one_round.differs(started("29"), instance) is None


def of_next(of, step=inexact.tracked.step):
    """(29) with another quantity for the next gap."""
    claim = started("29")
    other = NextRound(inexact.tracked.draws, step, of, "drift")
    quantities = [
        replace(q, of=other) if str(q.expression) == "G(y^(t+1))-G*" else q for q in claim.statement.quantities
    ]
    return replace(claim, statement=replace(claim.statement, quantities=tuple(quantities)))


def gap(problem, params, state, after):
    return inexact.dual.dual_gap(problem, params, after)


def test_the_next_round_is_that_of_the_method():
    instance = next(one_round.instances(started("29")))
    assert one_round.differs(of_next(gap), instance) is None
    assert one_round.differs(of_next(gap, long_step), instance) == "a quantity"
    assert one_round.differs(of_next(lambda *of: gap(*of) / 2), instance) == "a quantity"


@pytest.mark.parametrize(
    "looks",
    [
        lambda problem, params, state, after: problem.d * gap(problem, params, state, after),
        lambda problem, params, state, after: (after.y[..., :1] ** 2).sum(axis=(-1, -2)),
        lambda problem, params, state, after: abs(gap(problem, params, state, after)),
    ],
)
def test_what_the_next_round_says_is_read(looks):
    instance = next(one_round.instances(started("29")))
    assert not whole.unread(Case.of(of_next(gap), instance))
    assert whole.unread(Case.of(of_next(looks), instance))
