"""A single client has one contractive compressor; several that have one draw are not read as if each had its own."""

import pytest

import fedtheory as ft
from verify import Verdict
from verify.methods import METHODS, multipliers
from verify.methods.base import Inquiry

mu, L, gamma, alpha = ft.letters("mu L gamma alpha")
NOW, LATER = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)


def _step(problem, params, state, draw):
    slopes = problem.f.gradient(state.x[..., None, :])
    return {"x": state.x - params.gamma * params.compressor.apply(draw, slopes).sum(axis=-2) / problem.n}


def _one(problem, params, state):
    return ft.Independent(params.compressor.draws, 1)


def outcome(clients, draws=None, times=1):
    method = ft.method("compressed", _step, ["gamma", "compressor", "alpha"], {"x": "point"}, draws=draws)
    setting = ft.Setting(
        algorithm=method,
        functions=ft.SmoothStronglyConvex(mu, L),
        clients=clients,
        adversaries=(ft.ContractiveCompressors(),),
    )
    said = ft.one_step(method, ft.E(LATER) <= (1 - times * gamma * mu * alpha) * NOW)
    claim = ft.Claim("mine/compressed", setting=setting, statement=said, requires=(gamma * L <= 1,))
    return multipliers.METHOD.run(multipliers.METHOD, Inquiry(claim, 0, 12, methods=METHODS))


@pytest.mark.parametrize("draws", [None, _one])
def test_of_a_single_client_it_is_proved(draws):
    assert outcome((1,), draws).verdict is Verdict.PROVED
    assert outcome((1,), draws, times=2).verdict is None


def test_of_several_clients_one_draw_is_not_read():
    found = outcome((2,), _one)
    assert found.verdict is None and "compressed draws once for all clients" in found.note
