"""Zhou and Li: FedADMM (2022). Letters as in the paper."""

from fedtheory.claims import with_origins, with_proofs
from fedtheory.papers.fedadmm import (
    convergence,
    descent,
    differences,
    experiments,
    figures,
    inner,
    method,
    origins,
    proofs,
    rate,
    selecting,
)
from fedtheory.papers.fedadmm.letters import alpha_i, glossary, k, k0, m, nu_i, r_i, rho, s0, s_i, sigma_bar, sigma_i

_CLAIMS = (
    method.EQ_13,
    method.EQ_15,
    inner.CONTRACTION,
    *inner.EQ_16,
    method.SECTION_35,
    method.DEFINITION_41,
    *selecting.GAP,
    *selecting.REMARK_41,
    *descent.LEMMA_41,
    *convergence.THEOREM_41,
    *convergence.THEOREM_42,
    *convergence.COROLLARY_41,
    experiments.REMARK_42,
    rate.THEOREM_43,
    *rate.CONSTANTS,
    *rate.REMARK_43,
    *method.APPENDIX_A,
    *descent.LEMMA_C1,
    *descent.EQ_45,
    *descent.EQ_51,
    *descent.LEMMA_C2,
    *differences.LEMMA_C2_LIMIT,
    *rate.CHAIN,
    *rate.BOUNDS,
    *experiments.INITIAL_STATE,
    *experiments.ALGORITHM_2,
    *experiments.SECTION_52,
    *experiments.EXAMPLE_51,
    *figures.FIGURES,
)
CLAIMS = with_origins(
    "fedadmm",
    with_proofs("fedadmm", _CLAIMS, proofs.PROOFS),
    origins.PRINTED,
    origins.IMPLIED,
    origins.OBSERVED,
)

__all__ = [
    "CLAIMS",
    "alpha_i",
    "glossary",
    "k",
    "k0",
    "m",
    "nu_i",
    "r_i",
    "rho",
    "s0",
    "s_i",
    "sigma_bar",
    "sigma_i",
]
