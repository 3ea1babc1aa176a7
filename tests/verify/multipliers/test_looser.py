"""Statements looser than they have to be are proved with the tight ones; attacks on how they are."""

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import flint
import pytest

import fedtheory as ft
from fedtheory import E
from verify.multipliers.cases import cases
from verify.multipliers.looser import _loosened, _summands, search_further
from verify.multipliers.posing import Posed, pose
from verify.multipliers.proofs import CaseProof
from verify.multipliers.proving import prove
from verify.multipliers.search import search
from verify.multipliers.work import LATE, Work

L, gamma, sigma = ft.letters("L gamma sigma")
NEXT = ft.Quantity("D_next", ft.distance, after=True)
D, F, H = ft.Quantity("D", ft.distance), ft.Quantity("F", ft.gap), ft.Quantity("H", ft.heterogeneity)
NOISY = (ft.NoisyGradients(independent=True),)
BUDGET = 3_000


class Steps(NamedTuple):
    """What the two local steps draw."""

    first: object
    second: object


def _local(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    x = state.x[..., None, :]
    y = x - params.gamma * params.noise.apply(draw.first, problem.f.gradient(x))
    y = y - params.gamma * params.noise.apply(draw.second, problem.f.gradient(y))
    return {"x": y.sum(axis=-2) / problem.n}


def _two(problem: Any, params: Any, state: Any) -> Any:
    return ft.Product(Steps, (params.noise.draws, params.noise.draws))


def _plain(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    noisy = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * noisy.sum(axis=-2) / problem.n}


PARAMS = ["gamma", "sigma", "noise"]
LOCAL = ft.method("local", _local, PARAMS, {"x": "point"}, draws=_two)
PLAIN = ft.method("plain", _plain, PARAMS, {"x": "point"})


def local(noise: Any, spread: Any, drift: Any, short: int = 8) -> ft.Claim:
    """Two noisy local steps: gamma^2 sigma^2 times noise, and gamma^3 L times (spread H + drift sigma^2)."""
    right = D - gamma * F + gamma**2 * sigma**2 * noise + gamma**3 * L * (spread * H + drift * sigma**2)
    setting = ft.Setting(algorithm=LOCAL, functions=ft.SmoothConvex(L), adversaries=NOISY)
    statement = ft.one_step(LOCAL, E(NEXT) <= right)
    return ft.Claim("mine/local", setting=setting, statement=statement, requires=(short * gamma * L <= 1,))


def plain(noise: Any) -> ft.Claim:
    """One noisy step, with gamma^2 sigma^2 times noise."""
    setting = ft.Setting(algorithm=PLAIN, functions=ft.SmoothConvex(L), adversaries=NOISY)
    statement = ft.one_step(PLAIN, E(NEXT) <= D - gamma * F + gamma**2 * sigma**2 * noise)
    return ft.Claim("mine/plain", setting=setting, statement=statement, requires=(gamma * L <= 1,))


def posed(claim: ft.Claim) -> Posed:
    # The second local step asks for gradients at points that are drawn.
    return pose(claim, replace(cases(claim)[0], correlated=claim.setting.algorithm is LOCAL))


def further(claim: ft.Claim, work: int = LATE) -> CaseProof | None:
    return search_further(posed(claim), Work(work))


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim",
    [
        local(4 / ft.n, 8, 8),
        local(8 / ft.n, 32, 32),
        local(16 / ft.n, 8, 32),
        local(400 / ft.n, 8, 800),
        local(4 / ft.n, 8, 8, short=16),
    ],
)
def test_what_is_looser_is_proved_with_what_is_tight(claim):
    assert not isinstance(prove(claim), str)


def test_what_is_looser_than_it_has_to_be_is_proved_with_what_was_taken_off():
    assert further(plain(1 / ft.n)) is not None
    assert further(plain(1000 / ft.n)) is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim",
    [
        # True for n <= 32, where points near 1 are, and for n <= 10,000.
        plain(32 / ft.n**2),
        plain(10_000 / ft.n**2),
        # Too little of one thing, and much too much of the others.
        local(0, 800, 800 / ft.n),
        local(400 / ft.n, 0, 800),
        local(400 / ft.n, 800, 0),
        local(400 / ft.n**2, 800, 0),
        local(-1 / ft.n, 800, 800),
        local(400 / ft.n, 800, -800),
    ],
)
def test_what_is_too_tight_somewhere_is_not_proved(claim):
    assert further(claim, BUDGET) is None


def test_what_is_true_near_one_alone_is_not_proved():
    assert isinstance(prove(plain(32 / ft.n**2), BUDGET), str)


def test_a_proof_of_what_is_looser_does_not_make_what_is_tighter():
    loose, tight = posed(plain(4 / ft.n)), posed(plain(1 / (2 * ft.n)))
    proof = search(loose, Work(BUDGET))
    assert isinstance(proof, CaseProof)
    # Eight times the number of the tight one: what would be taken off is negative.
    shares = {summand: Fraction(8) for summand in _summands(tight) if summand.key == ("value", "1")}
    assert shares and _loosened(tight, proof, shares) is None
    assert _loosened(tight, proof, {}) is None
    # The other way around it is a proof.
    exact = search(posed(plain(1 / ft.n)), Work(BUDGET))
    assert isinstance(exact, CaseProof)
    quarter = {summand: Fraction(1, 4) for summand in _summands(loose) if summand.key == ("value", "1")}
    assert _loosened(loose, exact, quarter) is not None
    assert _loosened(loose, exact, dict.fromkeys(quarter, Fraction(1, 8))) is None


def test_only_what_is_positive_is_made_smaller():
    for claim in (local(400 / ft.n, 8, -8), plain(1 / ft.n)):
        of = posed(claim)
        at = [flint.fmpq(1, 4)] * len(of.names)
        for summand in _summands(of):
            assert summand.value.num(*at) / summand.value.den(*at) > 0
            assert summand.key == ("value", "1") or summand.key[1] == summand.key[2]
