"""Condat, Maranjyan, Richtárik: LoCoDL (2024). Letters as in the paper."""

from fedtheory.claims import with_origins, with_proofs
from fedtheory.papers.locodl import complexity, method, origins, problem, remarks
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
from fedtheory.plugins import Paper

_CLAIMS = (
    *complexity.UPLINK,
    *method.COMPRESSORS,
    problem.OPTIMALITY,
    *method.FEASIBILITY,
    *remarks.REMARKS,
    *method.THEOREM_31,
    complexity.NO_HARM,
    *complexity.SECTION_3,
    complexity.CONSTANTS_31,
    problem.EQUIVALENCE,
    *method.APPENDIX_A,
    *complexity.TABLES,
    *complexity.EXPERIMENTS,
    *complexity.SENTENCES,
    *remarks.NOT_SCAFFNEW,
    problem.STEP_5,
    *complexity.MORE_EXPERIMENTS,
)
PAPER = Paper(
    "locodl",
    "Condat, Maranjyan, Richtárik: LoCoDL (2024)",
    with_origins(
        "locodl",
        with_proofs("locodl", _CLAIMS, origins.PROOFS),
        origins.PRINTED,
        origins.IMPLIED,
        origins.OBSERVED,
    ),
    glossary,
    tables={
        "locodl/table-1": f"{__name__}.tables",
        "locodl/table-2": f"{__name__}.tables",
    },
    measured={"locodl/theorem-3.1/eq-5": ("Lyapunov function", r"$\Psi^t$")},
    run=f"{__name__}.measured",
    experiments=f"{__name__}.reruns",
    order=3,
)

__all__ = [
    "DAMPING",
    "ORDERED",
    "PAPER",
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
