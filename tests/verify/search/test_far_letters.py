"""Claims that are false only where a letter that no hypothesis bounds is far from where it is drawn."""

from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from verify.search import far_letters, hunting

gamma, mu, L = ft.letters("gamma mu L")
D, S = ft.Quantity("D", ft.distance), ft.Quantity("S", ft.heterogeneity)


def draws(problem: Any, params: Any, state: Any) -> ft.UniformSubset:
    """One client takes part."""
    return ft.UniformSubset(problem.n, 1)


def step(problem: Any, params: Any, state: Any, draw: Any) -> dict[str, Any]:
    """A proximal step of one client."""
    points = problem.f.resolvent(1 / params.gamma, state.x[..., None, :] / params.gamma + 0 * problem.y_star)
    return {"x": np.where(draw[..., None], points, 0 * points).sum(axis=-2)}


METHOD = ft.method("one-proximal-step", step, ["gamma"], {"x": "point"}, draws=draws)
SETTING = ft.Setting(algorithm=METHOD, functions=ft.SmoothStronglyConvex(mu, L))


def claim(factor: Any) -> ft.Claim:
    """The contraction of a step, with a factor for (1 + gamma mu)^2."""
    return ft.Claim(
        "far/letters", setting=SETTING, statement=ft.one_step(METHOD, ft.E(D.next) <= (D + gamma**2 * S) / factor)
    )


#: Factors that are at most (1 + gamma mu)^2 for gamma mu <= 62 and <= 506, and larger beyond.
FALSE = tuple((1 + gamma * mu / share) ** 3 for share in (4, 8))


def found(of: ft.Claim) -> tuple[Any, ...]:
    return hunting.hunt(of, hunting.generator(of, 0), 150, 1).refutations


@pytest.mark.parametrize("factor", FALSE)
def test_violations_at_large_steps_are_found(factor):
    assert found(claim(factor))


def test_the_true_bound_holds_there():
    assert not found(claim((1 + gamma * mu) ** 2))


def test_it_is_this_search_that_finds_them(monkeypatch):
    monkeypatch.setattr(far_letters, "FACTORS", ())
    assert not found(claim(FALSE[1]))
