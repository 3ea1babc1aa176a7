"""A restriction to one client, or to one compressor, loses no proof, and shows nothing that is false."""

from dataclasses import replace

import pytest
from places import EXAMPLES

import fedtheory as ft
from verify.base.own import load
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

GALLERY = ("diana", "dist_ef_sgd", "ef21_tight", "error_feedback", "l_svrg", "marina", "point_saga", "saga", "sgd")

#: Work for proofs that there are none of.
LITTLE = STEP // 50


def of_one(claim, independent=None):
    """The claim of a single client, whose compressors are said to be independent or not."""
    adversaries = claim.setting.adversaries
    if independent is not None:
        adversaries = tuple(replace(a, independent=independent) for a in adversaries)
    relations = tuple(h for h in claim.requires if h.relation is not None)
    setting = replace(claim.setting, clients=(1,), adversaries=adversaries)
    return ft.Claim(f"{claim.id}/one", setting=setting, statement=claim.statement, requires=relations)


@pytest.mark.parametrize("name", GALLERY)
def test_a_theorem_of_the_gallery_is_proved_of_one_client(name):
    true, false = load(EXAMPLES / "gallery" / f"{name}.py")[:2]
    assert not isinstance(prove(of_one(true)), str)
    # Of one client too a round is no faster.
    assert isinstance(prove(of_one(false), LITTLE), str)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ef21", "ef_tight", "fedexprox_guarantee", "saga_strongly_convex", "scaffold"])
def test_another_theorem_of_the_gallery_is_proved_of_one_client(name):
    assert not isinstance(prove(of_one(load(EXAMPLES / "gallery" / f"{name}.py")[0])), str)


@pytest.mark.parametrize("independent", [True, False])
@pytest.mark.parametrize("name", ["diana", "marina", "sgd"])
def test_one_compressor_is_independent_of_others_or_not(name, independent):
    true, false = load(EXAMPLES / "gallery" / f"{name}.py")[:2]
    assert not isinstance(prove(of_one(true, independent)), str)
    assert isinstance(prove(of_one(false, independent), LITTLE), str)


mu, L, gamma = ft.letters("mu L gamma")


def _first(problem, params, state, draw):
    """What the only client sends, looked up in place of a sum."""
    sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent[..., 0, :]}


@pytest.mark.parametrize("independent", [True, False])
def test_what_the_only_client_sends_may_be_looked_up(independent):
    method = ft.method("dcgd", _first, ["gamma", "compressors"], {"x": "point"})
    family = ft.UnbiasedCompressors(independent=independent)
    setting = ft.Setting(
        algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(family,), clients=(1,)
    )
    short = (gamma * L * (1 + ft.omega) <= 1,)
    for factor, verdict in ((1 - gamma * mu, True), (1 - 2 * gamma * mu, False)):
        statement = ft.contracts(method, ft.distance, factor)
        claim = ft.Claim("mine/dcgd", setting=setting, statement=statement, requires=short)
        assert (not isinstance(prove(claim), str)) is verdict


def test_what_one_of_several_sends_may_not():
    method = ft.method("dcgd", _first, ["gamma", "compressors"], {"x": "point"})
    setting = ft.Setting(
        algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(ft.UnbiasedCompressors(),)
    )
    statement = ft.contracts(method, ft.distance, 1 - gamma * mu)
    claim = ft.Claim("mine/dcgd", setting=setting, statement=statement, requires=(gamma * L * (1 + ft.omega) <= 1,))
    assert "a part of the clients is taken" in prove(claim)
