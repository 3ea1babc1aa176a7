"""FedADMM, Figures 1 to 5, Table 1 and the times of Section 5.4.4: what the text says of them, and what
``benchmarks/fedadmm_experiments.py`` measured.

The results are in ``figures.json``, which the benchmark's ``--record`` writes; they are read, not computed, when a
claim is checked.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from fedtheory.claims import Claim
from fedtheory.kinds.experiment import Experiment, Sighting
from fedtheory.settings import Setting

RESULTS = Path(__file__).with_name("figures.json")
_SEEN = "seen or not on the data named; not seen refutes nothing, and is then not tested"
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
        reading=_SEEN,
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

_SIZES = (
    Sighting("qot has n = 1024 and d = 8992", True, "8992 rows, features up to the 1024th"),
    Sighting("rls has n = 20958 and d = 72309", None, "the file was not at hand"),
)
TABLE_1 = Claim(
    id="fedadmm/table-1",
    where="Table 1",
    kind="experiment",
    gist="sizes of the two real data sets (qot and rls)",
    setting=_ALL,
    statement=Experiment(
        "qot has 8992 rows of 1024 features, rls has 72309 of 20958",
        "the QSAR oral toxicity data of UCI in LIBSVM's format, counted once; real-sim was not at hand",
        lambda seed: _SIZES,
    ),
    reading=_SEEN,
)


def _times(seed: int) -> tuple[Sighting, ...]:
    """What was measured of times, for Figure 5."""
    return tuple(one for one in orderings("figure-5") if "times" in one.text or "fastest" in one.text)


TIMES = Claim(
    id="fedadmm/section-5.4.4/times",
    where="Section 5.4.4",
    kind="experiment",
    gist="computing times of the methods",
    setting=_ALL,
    statement=Experiment(
        "times rise with m, and FedADMM is the fastest by far: at m = 4000 it takes 73 seconds on rls, the others "
        "475 to "
        "4711",
        "; ".join(entry["data"] for entry in results()["figure-5"]),
        _times,
    ),
    reading=f"{_SEEN}; the seconds are those of the authors' computer",
)
