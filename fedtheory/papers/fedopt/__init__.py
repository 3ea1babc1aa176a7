"""Konečný, McMahan, Ramage, Richtárik: Federated Optimization (2016). Letters as in the paper."""

from fedtheory.claims import with_origins, with_proofs, with_roots
from fedtheory.papers.fedopt import (
    averaging,
    cocoa,
    convergence,
    dane,
    dual,
    equivalence,
    fsvrg,
    model,
    origins,
    proposition,
    scaling,
    stability,
    svrg,
)
from fedtheory.papers.fedopt.predictors import (
    K,
    L,
    Theta,
    epsilon,
    gamma,
    glossary,
    h,
    lamda,
    m,
    n,
    n_k,
    sigma,
    smax,
)
from fedtheory.plugins import Paper

_CLAIMS = (
    *model.SECTIONS_1_AND_2,
    *averaging.SECTION_2_3_3,
    *svrg.SECTION_3_2,
    *svrg.SECTION_3_3,
    *dane.SECTION_3_4,
    *stability.FURTHER,
    *proposition.SECTION_3_5,
    *fsvrg.SECTION_3_6_2,
    *scaling.SECTION_3_6_2,
    *fsvrg.PROPERTIES,
    *dual.APPENDIX_A1,
    *dual.APPENDIX_A3,
    *convergence.CONVERGENCE,
    *equivalence.APPENDIX_A4,
    *cocoa.AFTER_THEOREM_5,
    *cocoa.SECTION_2_3_1,
    *model.SECTION_4,
    *model.FIGURE_2,
    *scaling.ABSENT,
    svrg.GENERAL_SMOOTH,
    dane.STATIONARITY,
)
PAPER = Paper(
    "fedopt",
    "Konečný, McMahan, Ramage, Richtárik: Federated Optimization (2016)",
    with_origins(
        "fedopt",
        with_roots("fedopt", with_proofs("fedopt", _CLAIMS, origins.PROOFS), origins.ROOTS),
        origins.PRINTED,
        origins.IMPLIED,
        origins.OBSERVED,
    ),
    glossary,
    tables={
        "fedopt/properties": f"{__name__}.properties",
    },
    experiments=f"{__name__}.reruns",
    order=4,
    version="arXiv 1610.02527, the text of 8 October 2016",
)

__all__ = [
    "PAPER",
    "K",
    "L",
    "Theta",
    "epsilon",
    "gamma",
    "glossary",
    "h",
    "lamda",
    "m",
    "n",
    "n_k",
    "sigma",
    "smax",
]
