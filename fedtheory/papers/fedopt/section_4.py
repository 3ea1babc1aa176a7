"""Federated Optimization, Section 4: what its text says of its figures, and of naive predictors."""

from __future__ import annotations

from fedtheory.claims import Claim
from fedtheory.kinds.experiment import Experiment
from fedtheory.papers.fedopt.predictors import CONSTANTS

_NOT_THERE = "the paper's posts are not to be had: what the text says of them is looked for on speeches of plays"

SECTION_4 = (
    Claim(
        id="fedopt/figure-1",
        where="Figure 1",
        kind="experiment",
        gist="how features are spread over nodes",
        setting=CONSTANTS,
        statement=Experiment(
            "some features are on every node, most on few, and some on almost every node and in few examples",
            figures=("fedopt/figure-1",),
        ),
        reading=_NOT_THERE,
    ),
    Claim(
        id="fedopt/figure-2/naive-errors",
        where="Section 4.1",
        kind="experiment",
        gist="the three errors of naive predictors",
        setting=CONSTANTS,
        statement=Experiment(
            "33.16 % for -1, 26.27 % for the optimum, 17.14 % for the majority of each author; lambda = 1/n is best",
            figures=("fedopt/section-4.1",),
        ),
        reading=f"{_NOT_THERE}: the order of the three errors, not their values",
    ),
)

FIGURE_2 = (
    Claim(
        id="fedopt/figure-2",
        where="Figure 2",
        kind="experiment",
        gist="GD, CoCoA+, FSVRG, FSVRGR on sparse, unbalanced, non-i.i.d. data",
        setting=CONSTANTS,
        statement=Experiment(
            "CoCoA+ is worse than GD; FSVRG is better than both, reaches the optimum's test error, and hardly loses by "
            "data that are not reshuffled",
            figures=("fedopt/figure-2",),
        ),
        reading=_NOT_THERE,
    ),
)
