"""FedDCD: on what its printed proofs rest, and where they go wrong. Read from Sections 4 to 7 and Appendices B to F."""

from __future__ import annotations

from fedtheory.claims import Proof

#: By the ids after the paper's name, in the paper's order.
PROOFS = {
    "projection": Proof(
        flaw="No proof is printed. u is a vector, and u'y = 0 one equation: that all coordinates of the blocks in I "
        "add up to 0. C_I asks for d of them, one a coordinate. Lemma B.2 proves the case d = 1, where the two "
        "are the same."
    ),
    "theorem-4.1/eq-3": Proof(("lemma-B.8/rate", "theorem-4.1/proof-constants")),
    "theorem-4.1/eq-4": Proof(("lemma-E.1/exact", "theorem-4.1/eq-3", "lemma-E.2")),
    "theorem-4.1/eq-5": Proof(("theorem-4.1/eq-4", "heterogeneity")),
    "theorem-4.1/proof-constants": Proof(
        ("block-smoothness",),
        "L_max is set to 1/beta, a slip for 1/alpha: the conjugate of an alpha-strongly convex function is "
        "1/alpha-smooth. With 1/beta the factor of Lemma B.8 is 1 - (tau-1)/(N-1), without the condition number of "
        "eq. (3).",
    ),
    "participation": Proof(("theorem-4.1/eq-3",)),
    "table-1/feddcd": Proof(("theorem-4.1/eq-5",)),
    "table-1/accfeddcd": Proof(("theorem-6.1/eq-12",)),
    "oracle/newton": Proof(
        flaw="No proof is printed. The work that is cited bounds the steps from a guess near the solution. The warm "
        "start need not be near it: far away Newton's method without line search can jump to and fro for ever."
    ),
    "theorem-5.2/eq-8": Proof(("theorem-C.1", "block-smoothness")),
    "theorem-5.2/eq-9": Proof(("lemma-E.1/inexact", "theorem-5.2/eq-8", "lemma-E.2")),
    "theorem-5.2/zeta": Proof(("theorem-5.2/eq-9", "heterogeneity")),
    "theorem-6.1/eq-10": Proof(("theorem-D.1", "block-smoothness")),
    "theorem-6.1/eq-11": Proof(("lemma-E.1/exact", "theorem-6.1/eq-10", "lemma-E.2")),
    "theorem-6.1/eq-12": Proof(("theorem-6.1/eq-11", "heterogeneity")),
    "non-smooth": Proof(
        flaw="It is said to be shown in the appendix, which has no such theorem in the text at hand: Appendix D asks "
        "for h to be mu-strongly convex, and its a and b are 0 where mu is."
    ),
    "theorem-7.1/eq-14": Proof(
        (
            "appendix-F/class",
            "appendix-F/rise",
            "appendix-F/sum",
            "appendix-F/solution",
            "appendix-F/mgf",
            "appendix-F/bound-step",
            "appendix-F/case-2",
        ),
        "The proof has two cases, alpha < beta/N and alpha >= beta/N, each with a term of its own. The statement "
        "takes the smaller of both terms in either case, and so claims more than is proved: where beta/alpha is "
        "large the term of the second case is far below that of the first.",
    ),
    "theorem-7.1/complexity": Proof(("theorem-7.1/eq-14",)),
    "gap": Proof(("theorem-7.1/complexity", "table-1/accfeddcd")),
    "lemma-B.3/eq-17": Proof(("lemma-B.2", "lemma-B.3/symmetric", "lemma-B.3/idempotent")),
    "lemma-B.3/eq-18": Proof(("lemma-B.2",)),
    "lemma-B.3/eq-20": Proof(("lemma-B.3/eq-17", "lemma-B.3/eq-19")),
    "lemma-B.3/eq-21": Proof(("lemma-B.3/eq-19",)),
    "lemma-B.8/descent": Proof(("lemma-B.3/eq-17", "lemma-B.3/eq-19", "lemma-B.3/eq-20")),
    "lemma-B.8/rate": Proof(
        ("lemma-B.8/descent", "lemma-B.6/weighted"),
        "The last line of the proof has the factor 1 - (tau-1)/(n-1) mu_min/L_max, on h(x) - h(x*). The statement "
        "drops (tau-1)/(n-1), and puts the factor on E[h(x)] alone.",
    ),
    "theorem-C.1": Proof(
        ("lemma-C.2", "lemma-B.4/eq-22", "lemma-B.6/weighted", "lemma-B.3/eq-20", "theorem-C.1/parameters"),
        "Eq. (29) uses Lemma C.2 at t = 0 too, where it says that the first answers of the oracles are exact; and "
        "line 46 of Algorithm 3 sets the estimates of idle blocks to 0, where the proof has them renewed.",
    ),
    "eq-29": Proof(
        ("lemma-C.2", "eq-28"),
        "The error of the estimate is bounded by the sum of Lemma C.2, at t = 0 too, where that sum is empty and the "
        "first answer of the oracle may be wrong.",
    ),
    "eq-30": Proof(("eq-29",)),
    "eq-31": Proof(
        flaw="At t = 0 the sum is empty, and so is A_0, while the first answer of the oracle may be wrong: the error "
        "that Lemma C.2 leaves out is missing."
    ),
    "eq-36": Proof(("eq-30", "eq-31")),
    "lemma-C.2": Proof(
        flaw="The recursion leads down to the error of the first answer, delta^t |~grad h(x^0) - grad h(x^0)|^2, "
        "which is left out. The first guess is 0, so the first answer may be wrong, and at t = 0 the right "
        "side is 0."
    ),
    "theorem-D.1": Proof(
        ("theorem-D.1/lyapunov",),
        "What contracts is h(x) - h(x*) plus (a^2 + b)/(2 r^2) |x* - z|_L^2. In the last step the second part is "
        "dropped on both sides, though it is not 0 at the start: on the right it has to stay.",
    ),
    "theorem-D.1/lyapunov": Proof(
        ("lemma-B.8/descent", "lemma-B.7", "lemma-B.3/eq-21", "lemma-D.2", "lemma-D.3", "lemma-D.4")
    ),
    "lemma-D.3": Proof(("lemma-B.3/eq-19", "lemma-B.3/eq-20")),
    "lemma-E.1/inexact": Proof(("lemma-E.1/exact", "lemma-C.2")),
    "lemma-E.2": Proof(("lemma-B.5",)),
    "appendix-E/chain": Proof(("lemma-E.1/inexact", "lemma-E.2")),
    "appendix-E/chain/literal": Proof(
        flaw="1 + (1 + delta) times the sum from 1 to T is (1 + delta) times the sum from 0 to T less delta: the sign "
        "of equality should be <=."
    ),
    "appendix-E/chain/oracles": Proof(
        flaw="Lemma E.1 speaks of delta/2-inexact oracles, Theorem 5.2 of delta-inexact ones: its delta = (1 - "
        "kappa)/4 is half of that of the lemma."
    ),
    "local-steps-and-accuracy": Proof(
        ("oracle/gradient-descent", "oracle/variance-reduced", "oracle/newton"),
        "Newton's method is one of the methods above: from a warm start that is far from the solution no number of its "
        "steps is enough.",
    ),
    "varying-participation": Proof(("theorem-4.1/eq-3",)),
    "clientwise-constants": Proof(("theorem-4.1/eq-3",)),
    "versus-mb-sgd-and-fedavg": Proof(("table-1/feddcd",)),
    "appendix-F/rise/literal": Proof(
        flaw="The blocks B_1, ..., B_(m-1) have floor(N/m) clients each and the last has all that are left, which may "
        "be more than ceil(N/m): of 5 clients and m = 3 it has three. With blocks of sizes that differ by one it holds."
    ),
    "appendix-F/rise/by-one": Proof(
        flaw="The first client finds w_1 by its linear term and, by M^(1), which couples w_1 to w_2, goes to w_2 in "
        "the same round, since local steps are free."
    ),
    "appendix-F/class": Proof(
        flaw="In the case alpha >= beta/N every f_i is 1/|B_j| times an alpha-strongly convex function, where B_j "
        "is the block of i. With more than one function in the block f_i is only alpha/|B_j|-strongly convex."
    ),
    "appendix-F/bound-step": Proof(
        ("appendix-F/mgf",),
        "min is printed for max: s + 2 + 1/s is at least s and at least 4, so 4/(s + 2 + 1/s) <= 4/max{s, 4}, and "
        "it is 4/max{s, 4} = min{4/s, 1} that the next line has.",
    ),
    "appendix-F/case-2": Proof(
        flaw="tau is lost between the first line and the second: ceiling(N/m)/N <= 2/m makes the first term at most "
        "8 tau/(sqrt(m) sqrt(beta/alpha)), and the second line has 8/(sqrt(m) sqrt(beta/alpha))."
    ),
}
