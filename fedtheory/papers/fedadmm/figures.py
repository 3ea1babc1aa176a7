"""FedADMM, Figures 1 to 5, Table 1 and the times of Section 5.4.4: what the text says of them."""

from __future__ import annotations

from fedtheory.claims import Claim
from fedtheory.kinds.experiment import Experiment
from fedtheory.papers.fedadmm.letters import section
from fedtheory.settings import Setting

_ALL = Setting("FedADMM, FedAvg, FedProx, FedAlt and FedSim with the parameters of Section 5.2")
_GRADIENTS = "gradients that participants compute stand for the computing time"


def _figure(number: int, gist: str, text: str) -> Claim:
    figure = section(f"Figure {number}", _ALL)
    return figure("", Experiment(text, figures=(f"fedadmm/figure-{number}",)), gist, tex="", reading=_GRADIENTS)


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

TABLE_1 = section("Table 1", _ALL)(
    "",
    Experiment("qot has 8992 rows of 1024 features, rls has 72309 of 20958", figures=("fedadmm/table-1",)),
    "sizes of the two real data sets (qot and rls)",
    tex="",
    reading="counted in the files",
)
TIMES = section("Section 5.4.4", _ALL)(
    "times",
    Experiment(
        "times rise with m, and FedADMM is the fastest by far: at m = 4000 (the data are not named) it takes 73 "
        "seconds, the others 475 to 4711",
        figures=("fedadmm/figure-5",),
        about=("computing times", "FedADMM is the fastest"),
    ),
    "computing times of the methods",
    tex="",
    reading=f"{_GRADIENTS}; the seconds are those of the authors' computer",
)
