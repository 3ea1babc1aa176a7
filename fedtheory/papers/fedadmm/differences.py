"""FedADMM, Lemma C.2 c: eq. (52) speaks of every iteration; a step of the algorithm has those of several rounds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import fedadmm
from fedtheory.claims import Claim
from fedtheory.instances.base import Family, Instance, Recipe
from fedtheory.papers.fedadmm.letters import q
from fedtheory.papers.fedadmm.limits import ASSUMED, LONG, LONG_RUNS, part
from fedtheory.papers.fedadmm.runs import square
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from fedtheory.statements import Eventually, Quantity


class Watched(NamedTuple):
    """As :class:`fedadmm.State`; of the iterations of the last step ``moved (...)``: the largest |Dw^{tau_{k+1}}|, and
    ``away``, ``local``, ``dual (..., m)``: the largest |w_i^{k+1} - w^{tau_{k+1}}|, |Dw_i^{k+1}|, |Dpi_i^{k+1}|."""

    w: Array
    W: Array
    Pi: Array
    Z: Array
    eps: Array
    moved: Array
    away: Array
    local: Array
    dual: Array


def _watched(states: list[fedadmm.State]) -> Watched:
    """The last state, with the largest changes on the way to it."""

    def largest(vectors: list[Array]) -> Array:
        found: Array = np.sqrt(np.max([square(v) for v in vectors], axis=0))
        return found

    changes = [tuple(new - old for new, old in zip(b[:3], a[:3], strict=True)) for a, b in pairwise(states)]
    away = [at.W - at.w[..., None, :] for at in states[1:]]
    server, local, dual = (largest([change[field] for change in changes]) for field in range(3))
    return Watched(*states[-1], server, largest(away), local, dual)


def _step(problem: Problem, params: Any, state: Watched, draw: fedadmm.Draws) -> Watched:
    begun = fedadmm.State(*state[:5])
    return _watched([begun, *fedadmm.iterations(problem, params, begun, draw)])


def _build(recipe: Recipe, exact: bool) -> Instance:
    instance = LONG_RUNS.build(recipe, exact)

    def at(theta: Array) -> tuple[Problem, Watched]:
        problem, state = instance.at(theta)
        return problem, _watched([state, state])

    return replace(instance, at=at)


_VANISHING = (
    ("eps_i^{k+1}", "eps"),
    ("|w^{tau_{k+1}}-w^{tau_k}|", "moved"),
    ("|w_i^{k+1}-w^{tau_{k+1}}|", "away"),
    ("|w_i^{k+1}-w_i^k|", "local"),
    ("|pi_i^{k+1}-pi_i^k|", "dual"),
)
LEMMA_C2_LIMIT = Claim(
    id="fedadmm/lemma-C.2/c",
    where="Lemma C.2 and eq. (52)",
    kind="limit",
    gist="all differences vanish",
    setting=replace(LONG, special=Family(LONG_RUNS.recipes, _build)),
    statement=Eventually(
        replace(fedadmm.algorithm, State=Watched, step=_step),
        vanishing=tuple(Quantity(q(name), part(field)) for name, field in _VANISHING),
    ),
    requires=ASSUMED,
    reading="of every window of rounds the largest difference is looked at",
)

__all__ = ["LEMMA_C2_LIMIT"]
