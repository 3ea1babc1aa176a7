"""Fan, Fang, Friedlander: A dual approach for federated learning (2022). Letters as in the paper."""

from fedtheory.claims import with_origins, with_proofs
from fedtheory.papers.feddcd import (
    accelerated,
    appendix_b,
    convex,
    descent,
    exact,
    general,
    inexact,
    lower_bound,
    memory,
    origins,
    projection,
    rounds,
)
from fedtheory.papers.feddcd.dual import (
    N,
    T,
    alpha,
    beta,
    d,
    dual_distance,
    dual_gap,
    eta,
    glossary,
    primal_distance,
    r,
    rate,
    tau,
    zeta,
)
from fedtheory.plugins import Paper

_CLAIMS = (
    *exact.SECTION_3,
    *general.SECTION_3,
    *projection.SECTION_3_1,
    *exact.SECTION_4,
    *general.SECTION_4_1,
    *rounds.TABLE_1,
    *rounds.VERSUS,
    *rounds.ORACLES,
    *general.SECTION_5,
    *memory.SECTION_5,
    *accelerated.SECTION_6,
    *convex.NON_SMOOTH,
    *lower_bound.SECTION_7,
    *projection.LEMMA_B2,
    *appendix_b.CLAIMS,
    *inexact.APPENDIX_C,
    *descent.APPENDIX_C,
    *accelerated.APPENDIX_D,
    *exact.LEMMA_E1,
    *inexact.APPENDIX_E,
    *exact.LEMMA_E2,
    *lower_bound.APPENDIX_F,
    *rounds.SECTION_8,
)
PAPER = Paper(
    "feddcd",
    "Fan, Fang, Friedlander: A dual approach for federated learning (2022)",
    with_origins(
        "feddcd",
        with_proofs("feddcd", _CLAIMS, origins.PROOFS),
        origins.PRINTED,
        origins.IMPLIED,
        origins.OBSERVED,
    ),
    glossary,
    tables={
        "feddcd/table-1": f"{__name__}.table",
    },
    measured={
        "feddcd/theorem-4.1/eq-3": ("dual gap", r"$G(y^t) - G(y^\star)$"),
        "feddcd/theorem-4.1/eq-4": ("squared primal distance", r"$\mathbb{E}_i\,\Vert w_i^t - w^\star\Vert^2$"),
    },
    run=f"{__name__}.measured",
    order=1,
)

__all__ = [
    "PAPER",
    "N",
    "T",
    "alpha",
    "beta",
    "d",
    "dual_distance",
    "dual_gap",
    "eta",
    "glossary",
    "primal_distance",
    "r",
    "rate",
    "tau",
    "zeta",
]
