"""Zhou and Li: FedADMM (2022). Letters as in the paper."""

from fedtheory.papers.fedadmm import descent, rate

CLAIMS = (
    *descent.LEMMA_41,
    rate.THEOREM_43,
    *rate.CONSTANTS,
    *rate.REMARK_43,
    *descent.LEMMA_C1,
    *descent.EQ_45,
    *descent.EQ_51,
    *descent.LEMMA_C2,
    *rate.CHAIN,
    *rate.BOUNDS,
)
