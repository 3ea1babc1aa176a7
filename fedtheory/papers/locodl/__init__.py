"""Condat, Maranjyan, Richtarik: LoCoDL (2024). Letters as in the paper."""

from fedtheory.claims import with_origins, with_proofs
from fedtheory.papers.locodl import complexity, method, origins, proofs, remarks
from fedtheory.papers.locodl.method import (
    DAMPING,
    ORDERED,
    SETTING,
    STEP,
    L,
    Psi,
    chi,
    d,
    gamma,
    glossary,
    k,
    kappa,
    mu,
    n,
    omega,
    omega_av,
    p,
    rho,
    tau,
)

_CLAIMS = (
    *complexity.UPLINK,
    *method.COMPRESSORS,
    remarks.OPTIMALITY,
    *method.FEASIBILITY,
    *remarks.REMARKS,
    *method.THEOREM_31,
    complexity.NO_HARM,
    *complexity.SECTION_3,
    complexity.CONSTANTS_31,
    remarks.EQUIVALENCE,
    *method.APPENDIX_A,
    *complexity.TABLES,
    *complexity.EXPERIMENTS,
)
CLAIMS = with_origins(
    "locodl",
    with_proofs("locodl", _CLAIMS, proofs.PROOFS),
    origins.PRINTED,
    origins.IMPLIED,
    (),
)

__all__ = [
    "CLAIMS",
    "DAMPING",
    "ORDERED",
    "SETTING",
    "STEP",
    "L",
    "Psi",
    "chi",
    "d",
    "gamma",
    "glossary",
    "k",
    "kappa",
    "mu",
    "n",
    "omega",
    "omega_av",
    "p",
    "rho",
    "tau",
]
