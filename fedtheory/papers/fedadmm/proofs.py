"""FedADMM: on what its printed proofs rest, and where they go wrong. From Sections 3 to 5 and Appendices A to C."""

from __future__ import annotations

from fedtheory.claims import Proof

#: By the ids after the paper's name, in the paper's order.
PROOFS = {
    "theorem-3.1/contraction": Proof(("eq-32", "eq-33")),
    "theorem-3.1/eq-16": Proof(
        ("theorem-3.1/contraction", "eq-33"),
        "X/rho^(kappa+1) <= 1 is solved with the ceiling inside the logarithm, log_rho(ceil(X)) - 1, which is no "
        "integer, and negative for small X; a number of steps is its ceiling, outside.",
    ),
    "eq-21": Proof(
        flaw="No proof is printed. A client that is selected in the first round of a window and in the last one of "
        "the next waits for 2 s_0 - 1 rounds: Scheme 4.1 speaks of windows that begin at multiples of s_0 "
        "only."
    ),
    "remark-4.1/scheme": Proof(
        ("remark-4.1",),
        "The probability is that of one client in one window. Scheme 4.1 asks for all clients in all windows: the "
        "probability of T windows is a power T of that of one, and where a window may miss a client it tends to 0.",
    ),
    "lemma-4.1": Proof(
        ("lemma-C.1/a", "lemma-C.1/b", "lemma-C.1/c", "eq-31", "eq-33", "eq-45/use", "eq-51/display"),
        "The proof begins with sigma_i >= 3 alpha_i r_i, which the lemma does not assume.",
    ),
    "lemma-4.1/with-step-condition": Proof(
        ("lemma-C.1/a", "lemma-C.1/b", "lemma-C.1/c", "eq-31", "eq-33", "eq-45/use", "eq-51/display")
    ),
    "theorem-4.1/a": Proof(("lemma-C.2/b", "lemma-C.2/c", "lemma-C.1/b")),
    "theorem-4.1/b": Proof(("lemma-C.2/a", "lemma-C.2/b", "lemma-C.2/c", "theorem-4.1/a")),
    "theorem-4.1/c": Proof(("lemma-C.2/c", "lemma-C.1/a", "lemma-C.1/b")),
    "theorem-4.1/c/server": Proof(("theorem-4.1/c", "lemma-C.2/c")),
    "theorem-4.1/c/literal": Proof(
        ("lemma-C.2/c", "lemma-C.1/a", "lemma-C.1/b"),
        "Eq. (11) makes F a function of m blocks, whose gradient is (g_1, ..., g_m). Eq. (57) of the proof writes "
        "grad F for the sum of the g_i: the sum vanishes, the blocks do not.",
    ),
    "theorem-4.2/a": Proof(("lemma-C.1/b", "lemma-C.1/c", "lemma-C.2/c", "theorem-4.1/c/server", "definition-4.1")),
    "theorem-4.2/b": Proof(("theorem-4.2/a", "lemma-C.2/c", "lemma-C.1/b", "lemma-C.1/c")),
    "corollary-4.1/a": Proof(("theorem-4.1/a", "theorem-4.1/b", "theorem-4.1/c/server")),
    "corollary-4.1/b": Proof(("theorem-4.2/a", "definition-4.1")),
    "corollary-4.1/c": Proof(("corollary-4.1/a", "lemma-C.1/b", "lemma-C.2/c", "definition-4.1")),
    "theorem-4.3": Proof(("eq-67", "eq-69", "lemma-C.2/a", "lemma-C.2/b", "theorem-4.3/proof-constants")),
    "theorem-4.3/proof-constants": Proof(
        ("eq-59", "eq-65", "eq-66"),
        "Eq. (59) and three times eq. (66) add up to the coefficient 1/3 + 3 * 3 = 28/3. The printed 10/3 = 1/3 + 3 "
        "takes eq. (66) once; every later constant follows from it.",
    ),
    "remark-4.3/eq-28": Proof(("theorem-4.3",)),
    "remark-4.3/eq-29": Proof(("remark-4.3/eq-28",)),
    "remark-4.3/eq-29/literal": Proof(
        ("remark-4.3/eq-28",),
        "The k of eq. (28) is a ceiling itself, which the second expression drops; and a factor 2 goes into a "
        "ceiling, though 2 ceil(x) is not ceil(2x).",
    ),
    "lemma-C.1/a": Proof(("lemma-C.1/a/intermediate", "section-3.5")),
    "lemma-C.1/a/intermediate": Proof(
        flaw="z_i is sigma_i w_i + pi_i by eq. (8), so that the sum is one of z_i - sigma_i w. The printed sigma_i "
        "(z_i - w) multiplies z_i by sigma_i once more."
    ),
    "lemma-C.1/c": Proof(("lemma-C.1/b", "eq-33")),
    "lemma-C.1/d": Proof(("eq-21",)),
    "eq-45/use": Proof(
        ("eq-45",),
        "sigma_i/2 is printed where sigma_i/3 follows and is used: with sigma_i/2 the constants -1/3, 4/30, "
        "1/6 and 1/3, which the later steps take from this line, do not come out.",
    ),
    "eq-51/display": Proof(
        ("lemma-C.1/a", "lemma-C.1/b", "lemma-C.1/c", "eq-31", "eq-33", "eq-45/use"),
        "In the sum of eqs. (47), (50) and (51) the minus before the change of the tolerances is put behind the "
        "minus of the whole sum, and so becomes a plus.",
    ),
    "lemma-C.2/a": Proof(("lemma-4.1",)),
    "lemma-C.2/b": Proof(("lemma-C.2/b/signs", "lemma-C.1/b", "eq-33", "eq-45/use")),
    "lemma-C.2/b/signs": Proof(
        ("eq-31",),
        "Eq. (31) at w_i has <w - w_i, g_i> = -<Dbar_i, g_i>, printed without the minus; and g_i is phi_i - pi_i, "
        "printed as pi_i + phi_i. In the last line the two errors cancel.",
    ),
    "lemma-C.2/c": Proof(("lemma-4.1", "lemma-C.2/a", "lemma-C.2/b", "lemma-C.1/c", "lemma-C.1/d", "eq-21")),
    "eq-59": Proof(("eq-33", "eq-45/use")),
    "eq-62": Proof(
        ("lemma-C.1/c", "eq-21", "eq-33", "eq-45/use"),
        "Eq. (63) takes the sum over the rounds in which a client waits as one of at most s_0 terms; under Scheme "
        "4.1 there may be 2 s_0 - 2.",
    ),
    "eq-64": Proof(
        ("eq-21", "lemma-C.2/a"),
        "What an idle client keeps by eq. (9) is what its last active iteration left: eps at k_i + 1, after that "
        "iteration, and not at k_i, before it.",
    ),
    "eq-65": Proof(("eq-62", "eq-64")),
    "eq-66": Proof(("lemma-C.1/a", "lemma-C.1/b", "eq-33")),
    "eq-67/first-line": Proof(("eq-59", "eq-66", "theorem-4.3/proof-constants")),
    "eq-67": Proof(
        (
            "eq-67/first-line",
            "eq-59",
            "eq-66",
            "eq-65",
            "eq-64",
            "lemma-4.1",
            "lemma-C.2/a",
            "theorem-4.3/proof-constants",
        )
    ),
    "algorithm-1/initial-state": Proof(
        flaw="Algorithm 1 computes w^{tau_1} first. w^{tau_0}, on which L^0 depends, is used by Lemma 4.1 and "
        "Theorem 4.3 and nowhere defined."
    ),
    "algorithm-2": Proof(
        flaw="No proof is printed. After k_0 >= 2 local steps the clients have moved towards their own minimisers "
        "by amounts that do not add up to the gradient at the common point: the fixed point is biased."
    ),
    "experiments/step-condition": Proof(
        flaw="With alpha_i = 1/m the theorems' 3 alpha_i r_i is 3 r_i/m, fifteen times the 0.2 r_i/m of the "
        "experiments."
    ),
    "experiments/initial-point": Proof(
        flaw="pi_i^0 = -alpha_i grad f_i(w_i^0) is 0 at w_i^0 = 0 only where the gradient of f_i vanishes there."
    ),
    "example-5.1": Proof(
        flaw="The samples of the three laws are shuffled before they are dealt out, so that every client's are "
        "drawn from the same mixture; only their numbers differ."
    ),
    "theorem-3.1/proof": Proof(
        ("eq-31", "eq-32", "eq-33"),
        "The terms alpha_i r_i/2 (|v^{l+1} - v*|^2 + |v^{l+1} - v^l|^2) of Young's inequality, printed with the "
        "first of "
        "the two squares twice, leave + alpha_i r_i/2 |v^l - v*|^2, printed with a minus.",
    ),
    "eq-34": Proof(flaw="w_i^k is printed for pi_i^k: eq. (7) and Lemma C.1 c use the change of the multipliers."),
    "eq-47": Proof(("eq-46", "lemma-C.1/a")),
    "eq-50": Proof(("eq-49", "eq-31", "eq-33", "eq-45/use", "lemma-C.1/b")),
    "eq-53": Proof(
        ("eq-21",),
        "The sum over the rounds in which a client waits is taken as one of at most s_0 terms; under Scheme 4.1 "
        "there may "
        "be 2 s_0 - 2.",
    ),
    "eq-54": Proof(("lemma-C.2/c", "theorem-4.1/a")),
    "eq-55": Proof(
        flaw="(l + 1)/k_0 is tau_{k+1} - 1 + 1/k_0: the sign of 1/k_0 is printed as a minus, with which the ceiling is "
        "tau_{k+1} - 1 or, for k_0 = 1, tau_{k+1} - 2."
    ),
    "eq-55/tolerances": Proof(
        ("eq-55",), "By eq. (55) l <= k, and the tolerances do not increase: the one at l + 1 is the larger."
    ),
    "eq-56": Proof(("lemma-C.1/a", "lemma-C.1/b", "lemma-C.2/c", "eq-55/tolerances")),
    "eq-57": Proof(
        ("eq-56", "lemma-C.1/b", "lemma-C.1/d"),
        "Eq. (11) makes F a function of m blocks, whose gradient is (g_1, ..., g_m) and not their sum.",
    ),
    "appendix-C.5/multipliers": Proof(
        ("lemma-C.1/b", "eq-33"),
        "pi_i is phi_i - g_i by eq. (37), so that pi_i - pi_i* is phi_i - (g_i - alpha_i grad f_i(w*)), printed with a "
        "plus; the bound that follows is the same for both.",
    ),
    "eq-60": Proof(("lemma-4.1/with-step-condition",)),
    "eq-68": Proof(("lemma-C.2/a",)),
    "appendix-C.6/last": Proof(("eq-67", "eq-68", "eq-69", "lemma-C.2/b")),
    "appendix-C.6/last/literal": Proof(
        ("eq-67", "eq-68", "eq-69", "lemma-C.2/b"),
        "3 is printed for 2 in the range of s: the even p k_0 of the next line are then missing from it.",
    ),
    "theorem-4.3/any-k": Proof(("appendix-C.6/last",)),
    "theorem-4.2/high-probability": Proof(("theorem-4.1/c/server", "theorem-4.2/a", "remark-4.1/scheme")),
    "remark-4.3/k0-and-rounds": Proof(
        ("remark-4.3/eq-29",),
        "k_0 cancels in eq. (29), and does not occur in c: what the experiments see is not what the theorem grants.",
    ),
    "experiments/s0": Proof(("remark-4.3/eq-29", "theorem-4.3")),
}
