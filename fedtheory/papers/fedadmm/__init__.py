"""Zhou and Li: FedADMM (2022). Letters as in the paper."""

from fedtheory.papers.fedadmm import descent, method, rate, selecting

CLAIMS = (
    method.EQ_13,
    method.EQ_15,
    method.CONTRACTION,
    *method.EQ_16,
    method.SECTION_35,
    method.DEFINITION_41,
    *selecting.GAP,
    *selecting.REMARK_41,
    *descent.LEMMA_41,
    rate.THEOREM_43,
    *rate.CONSTANTS,
    *rate.REMARK_43,
    *method.APPENDIX_A,
    *descent.LEMMA_C1,
    *descent.EQ_45,
    *descent.EQ_51,
    *descent.LEMMA_C2,
    *rate.CHAIN,
    *rate.BOUNDS,
)
