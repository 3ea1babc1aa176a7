"""FedADMM, Figures 1 to 5: what the text says of them, and what ``benchmarks/fedadmm_experiments.py`` measured.

The results are in ``figures.json``, which the benchmark's ``--record`` writes; they are read, not computed, when a
claim is checked.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from fedtheory.claims import Claim
from fedtheory.settings import Setting
from fedtheory.statements import Experiment, Sighting

RESULTS = Path(__file__).with_name("figures.json")
_ALL = Setting("FedADMM, FedAvg, FedProx, FedAlt and FedSim with the parameters of Section 5.2")


@cache
def results() -> dict[str, list[dict[str, Any]]]:
    """By figure, for each data: its ``name``, ``data`` in words, ``orderings`` with ``text``, ``seen``, ``numbers``."""
    found: dict[str, list[dict[str, Any]]] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return found


def orderings(figure: str) -> tuple[Sighting, ...]:
    """What was measured of each statement on a figure."""
    return tuple(
        Sighting(f"{entry['name']}: {one['text']}", one["seen"], one["numbers"])
        for entry in results()[figure]
        for one in entry["orderings"]
    )


def _figure(number: int, gist: str, text: str) -> Claim:
    name = f"figure-{number}"
    data = "; ".join(entry["data"] for entry in results()[name])
    return Claim(
        id=f"fedadmm/{name}",
        where=f"Figure {number}",
        kind="experiment",
        gist=gist,
        setting=_ALL,
        statement=Experiment(text, data, lambda seed: orderings(name)),
        reading="seen or not on the data named; not seen refutes nothing, and is then not tested",
    )


FIGURES = (
    _figure(
        1,
        "objective against communication rounds, Example 5.1, k_0 in {1,10,30,50}",
        "all reach the same value; FedADMM is slow first at k_0 = 1, and needs the fewest rounds for k_0 > 1",
    ),
    _figure(
        2,
        "effect of k_0, 20 instances, both examples",
        "FedADMM's rounds fall with k_0, the others' rise or fall, times rise; FedADMM needs the fewest and is fastest",
    ),
    _figure(
        3,
        "effect of the participation rate",
        "rounds and times fall with rho in Example 5.1; in Example 5.2 rounds stay level and times rise; FedADMM does "
        "best in most cases",
    ),
    _figure(
        4,
        "effect of m",
        "in Example 5.1 rounds fall with m and times rise; in Example 5.2 FedADMM's rounds fall, the others' fall up "
        "to m = 100 and then rise; FedADMM needs the fewest rounds and the least time at almost all m",
    ),
    _figure(
        5,
        "larger sizes",
        "in Example 5.1 rounds fall with m and times rise, in Example 5.2 both rise; FedADMM is the fastest at all m",
    ),
)
