"""Fan, Fang, Friedlander: A dual approach for federated learning (2022). Letters as in the paper."""

from fedtheory.claims import with_origins, with_proofs
from fedtheory.papers.feddcd import (
    accelerated,
    appendix_b,
    exact,
    inexact,
    lower_bound,
    memory,
    origins,
    projection,
    proofs,
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

_CLAIMS = (
    *exact.SECTION_3,
    *projection.SECTION_3_1,
    *exact.SECTION_4,
    *rounds.TABLE_1,
    *rounds.ORACLES,
    *memory.SECTION_5,
    *accelerated.SECTION_6,
    *lower_bound.SECTION_7,
    *projection.LEMMA_B2,
    *appendix_b.CLAIMS,
    *inexact.APPENDIX_C,
    *accelerated.APPENDIX_D,
    *exact.LEMMA_E1,
    *inexact.APPENDIX_E,
    *exact.LEMMA_E2,
    *lower_bound.APPENDIX_F,
    *rounds.SECTION_8,
)
CLAIMS = with_origins(
    "feddcd",
    with_proofs("feddcd", _CLAIMS, proofs.PROOFS),
    origins.PRINTED,
    origins.IMPLIED,
    origins.OBSERVED,
)

__all__ = [
    "CLAIMS",
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
