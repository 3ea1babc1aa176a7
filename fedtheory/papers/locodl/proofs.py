"""LoCoDL: on what its printed proofs rest, and where they go wrong. Read from Sections 1 to 3 and Appendix A."""

from __future__ import annotations

from fedtheory.claims import Proof

#: By the ids after the paper's name, in the paper's order.
PROOFS = {
    "uplink": Proof(("corollary-3.2/eq-10",)),
    "uplink/literal": Proof(
        ("corollary-3.2/eq-10",),
        "For n >= d^2 eq. (10) is sqrt(d) sqrt(kappa) + d. The introduction keeps the first of the two, which is "
        "the smaller one where d exceeds kappa.",
    ),
    "assumption-2.1": Proof(("theorem-3.1/one-step",)),
    "assumption-2.1/literal": Proof(
        ("theorem-3.1/one-step",),
        "The proof of eq. (19) takes the compressors of an iteration as unbiased given the whole past. From every "
        "single earlier one they are independent by the assumption, from all earlier ones together they need not "
        "be.",
    ),
    "theorem-3.1/one-step": Proof(("proof/primal-step", "proof/dual-step")),
    "theorem-3.1/eq-5": Proof(("theorem-3.1/one-step", "theorem-3.1/tau")),
    "theorem-3.1/limits": Proof(("theorem-3.1/eq-5",)),
    "eq-7": Proof(("theorem-3.1/eq-5", "eq-6")),
    "eq-8": Proof(("eq-7",)),
    "rounds-independent": Proof(("eq-8", "eq-3/independent")),
    "corollary-3.2/eq-9": Proof(("eq-8", "eq-2/rand-k", "eq-3/independent")),
    "corollary-3.2/eq-10": Proof(("rounds-independent", "eq-2/rand-k")),
    "regimes": Proof(("corollary-3.2/eq-10",)),
    "eq-15": Proof(("eq-13",)),
    "eq-18": Proof(("eq-13",)),
    "proof/dual-step": Proof(("proof/compressed-norm", "eq-18", "eq-13")),
    "proof/primal-step": Proof(("eq-18", "eq-13")),
    "table-1/locodl": Proof(("rounds-independent",)),
    "diana-large-n": Proof(("table-1/diana", "table-2/from-table-1")),
    "uplink/small-n": Proof(("corollary-3.2/eq-10",)),
    "before-corollary-3.2": Proof(("rounds-independent", "eq-2/rand-k")),
}
