"""LoCoDL, Section 4: what the text reads off its figures."""

from __future__ import annotations

from fedtheory.kinds.experiment import Experiment
from fedtheory.papers.locodl.setting import CONSTANTS, section

_FEWER = "LoCoDL needs fewer bits than all others"
_TUNED = (
    "every method with the parameters of its theorem, as the text says, and ours (tuned): with the best of a grid "
    "about its stepsize, the same grid for all"
)
section_4 = section("Section 4", CONSTANTS)


def _twice(*numbers: int) -> tuple[str, ...]:
    """Figures as printed, and with stepsizes that are tuned."""
    return tuple(f"locodl/figure-{number}{tuned}" for number in numbers for tuned in ("", "/tuned"))


EXPERIMENTS = (
    section("Figures 1-3", CONSTANTS)(
        "",
        Experiment(_FEWER, figures=_twice(1, 2, 3)),
        "bits against accuracy: a5a, diabetes, w1a",
        tex="",
        reading=_TUNED,
    ),
    section("Figures 4-7", CONSTANTS)(
        "",
        Experiment(_FEWER, figures=_twice(4, 5, 6, 7)),
        "australian, covtype, MNIST 7/8, Dirichlet synthetic",
        tex="",
        reading=_TUNED,
    ),
)
MORE_EXPERIMENTS = (
    section_4(
        "fastest",
        Experiment(
            "with rand-k and natural compression together LoCoDL needs fewer bits than with one of them, and than all "
            "others",
            figures=_twice(1, 2, 3),
            about=("LoCoDL with rand-k and natural", "LoCoDL needs fewer bits with rand-k and natural"),
        ),
        "the fastest combination",
        tex="",
        reading=_TUNED,
    ),
    section_4(
        "adiana-k",
        Experiment(
            "in Figure 1 ADIANA needs somewhat fewer bits with k = 20 than with k = 30", figures=("locodl/section-4",)
        ),
        "ADIANA with k = 20 against 30",
        tex="",
        reading=_TUNED,
    ),
)
