"""LoCoDL: what the paper prints, with the formula as it stands there, what it does not, and on what its proofs rest.

By ids after its name.
"""

from __future__ import annotations

from fedtheory.claims import PrintedProof

#: Formulas; "" where a sentence has none.
PRINTED = {
    "uplink": r"\mathcal{O}\left(d\sqrt{\kappa}\log\epsilon^{-1}\right), "
    r"\mathcal{O}\left(\sqrt{d}\sqrt{\kappa}\log\epsilon^{-1}\right)",
    "uplink/literal": r"\mathcal{O}\left(\sqrt{d}\sqrt{\kappa}\log\epsilon^{-1}\right)",
    "eq-2/rand-k": r"\omega=\frac{d}{k}-1, \quad 32k+k\lceil\log_{2}(d)\rceil",
    "eq-2/natural": r"\omega=\frac{1}{8}",
    "eq-2/rand-k-natural": r"\omega=\frac{9d}{8k}-1, \quad 9k+k\lceil\log_{2}(d)\rceil",
    "eq-2/l1-selection": r"\omega=d-1, \quad 32+\lceil\log_{2}(d)\rceil",
    "eq-3/default": r"\omega_{\mathrm{av}}=\omega",
    "eq-3/independent": r"\omega_{\mathrm{av}}=\frac{\omega}{n}",
    "optimality": r"x_{1}=\cdots=x_{n}=y, \quad 0=\nabla f_{i}(x_{i})-u_{i}, \quad 0=\nabla g(y)-v, \quad "
    r"0=u_{1}+\cdots+u_{n}+nv",
    "algorithm-1/feasibility": r"\frac{1}{n}\sum_{i=1}^{n}u_{i}^{0}+v^{0}=0",
    "assumption-2.1": r"t\neq t^{\prime}",
    "assumption-2.1/literal": r"\mathcal{C}_{i}^{t}, \ \mathcal{C}_{i^{\prime}}^{t^{\prime}}, \quad t\neq t^{\prime}",
    "remark-2.2": r"\rho=1",
    "theorem-3.1/one-step": r"\mathbb{E}\left[\Psi^{t+1}\;|\;\mathcal{F}^{t}\right]\leq\max\left((1-\gamma\mu)^{2},"
    r"(1-\gamma L)^{2},1-\frac{p^{2}\chi}{1+2\omega}\right)\Psi^{t}",
    "theorem-3.1/eq-5": r"\mathbb{E}\left[\Psi^{t}\right]\leq\tau^{t}\Psi^{0}, \quad \tau\coloneqq\max\left("
    r"(1-\gamma\mu)^{2},(1-\gamma L)^{2},1-\frac{p^{2}\chi}{1+2\omega}\right)",
    "theorem-3.1/tau": r"\tau<1",
    "theorem-3.1/limits": "",
    "eq-6": r"\chi=\rho=\frac{1}{1+\omega_{\mathrm{av}}}",
    "no-harm": r"1-\frac{p^{2}\chi}{1+2\omega}\leq\max(1-\gamma\mu,\gamma L-1)^{2}",
    "eq-7": r"\mathcal{O}\left(\left(\kappa+\frac{(1+\omega_{\mathrm{av}})(1+\omega)}{p^{2}}\right)\log\epsilon^{-1}"
    r"\right)",
    "eq-8": r"p=\min\left(\sqrt{\frac{(1+\omega_{\mathrm{av}})(1+\omega)}{\kappa}},1\right)",
    "rounds-independent": r"\mathcal{O}\left(\left(\left(1+\sqrt{\omega}+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}"
    r"+\omega\left(1+\frac{\omega}{n}\right)\right)\log\epsilon^{-1}\right)",
    "corollary-3.2/eq-9": r"p=\min\left(\sqrt{\frac{dk(n-1)+d^{2}}{nk^{2}\kappa}},1\right)",
    "corollary-3.2/eq-10": r"\mathcal{O}\left(\left(\sqrt{d}\sqrt{\kappa}+\frac{d\sqrt{\kappa}}{\sqrt{n}}+d\right)"
    r"\log\epsilon^{-1}\right)",
    "regimes": r"\mathcal{O}\left(\left(\frac{d\sqrt{\kappa}}{\sqrt{n}}+d\right)\log\epsilon^{-1}\right), \quad "
    r"\mathcal{O}\left(\left(\sqrt{d}\sqrt{\kappa}+d\right)\log\epsilon^{-1}\right), \quad "
    r"\mathcal{O}\left(\left(\sqrt{\kappa}+d\right)\log\epsilon^{-1}\right)",
    "section-3.1/constants": r"\kappa\leq\tilde{\kappa}\coloneqq\frac{\tilde{L}}{\tilde{\mu}}\leq 2\kappa",
    "section-3.1/equivalence": r"\frac{1}{n}\sum_{i=1}^{n}f_{i}, \quad \frac{1}{n}\sum_{i=1}^{n}\tilde{f}_{i}+"
    r"\tilde{g}",
    "eq-13": r"S:\mathbf{x}\mapsto\mathbf{1}\bar{x}, \quad \bar{x}=\frac{1}{2n}\left(\sum_{i=1}^{n}x_{i}+ny\right)",
    "eq-15": r"W:\mathbf{x}\mapsto\left(d_{1}-\bar{d},\ldots,d_{n}-\bar{d},-\bar{d}\right)",
    "proof/compressed-norm": r"\mathbb{E}\left[\left\|\mathbf{d}^{t}\right\|^{2}\;|\;\mathcal{F}^{t},\theta^{t}=1"
    r"\right]"
    r"\leq(1+\omega)\left\|\mathbf{\hat{x}}^{t}-\mathbf{1}\hat{y}^{t}\right\|^{2}",
    "eq-18": r"\left\|\mathbf{\hat{x}}^{t}-\mathbf{1}\hat{y}^{t}\right\|^{2}\leq 2\left\|W\mathbf{\hat{x}}^{t}\right"
    r"\|^{2}",
    "proof/dual-step": r"\mathbb{E}\left[\left\|\mathbf{u}^{t+1}-\mathbf{u}^{\star}\right\|^{2}\;|\;\mathcal{F}^{t}"
    r"\right]"
    r"\leq\left\|\mathbf{u}^{t}-\mathbf{u}^{\star}\right\|^{2}+p\lambda^{2}(1+2\omega)\left\|W\mathbf{\hat{x}}^{t}"
    r"\right\|^{2}-2p\lambda\langle\mathbf{u}^{t}-\mathbf{u}^{\star},\mathbf{\hat{x}}^{t}\rangle",
    "proof/primal-step": r"\mathbb{E}\left[\left\|\mathbf{x}^{t+1}-\mathbf{x}^{\star}\right\|^{2}\;|\;\mathcal{F}^{t}"
    r"\right]\leq\left\|\mathbf{\hat{x}}^{t}-\mathbf{x}^{\star}\right\|^{2}-p\left(2\rho-\rho^{2}(1+\omega_{"
    r"\mathrm{av}})"
    r"\right)\left\|W\mathbf{\hat{x}}^{t}\right\|^{2}",
    "table-1/diana": r"(1+\frac{\omega}{n})\kappa+\omega",
    "table-1/ef21": r"(1+\omega)\kappa",
    "table-1/5gcs-cc": r"\left(1+\sqrt{\omega}+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+\omega",
    "table-1/adiana-original": r"\left(1+\frac{\omega^{3/4}}{n^{1/4}}+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+"
    r"\omega",
    "table-1/adiana-refined": r"\left(1+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+\omega",
    "table-1/lower-bound": r"\left(1+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+\omega",
    "table-1/locodl": r"\left(1+\sqrt{\omega}+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+\omega(1+\frac{\omega}{n})",
    "table-1/regimes": r"\omega=\mathcal{O}(n), \quad \omega=\Theta(n)",
    "table-2/compressedscaffnew": r"\left(\sqrt{d}+\frac{d}{\sqrt{n}}\right)\sqrt{\kappa}+d",
    "table-2/fedcomgate": r"d\kappa",
    "table-2/regime": r"n=\mathcal{O}(d)",
    "figures-1-3": "",
    "figures-4-7": "",
    "diana-large-n": r"\mathcal{O}\big((\kappa+d)\log\epsilon^{-1}\big)",
    "uplink/small-n": r"\mathcal{O}\left(d\sqrt{\kappa}\log\epsilon^{-1}\right)",
    "downlink": r"\mathcal{O}\left(d\sqrt{\kappa}\log\epsilon^{-1}\right)",
    "not-scaffnew": "",
    "before-corollary-3.2": r"\mathcal{O}\left(\left(\left(\sqrt{kd}+\frac{d}{\sqrt{n}}\right)\sqrt{\kappa}+d\left(1+"
    r"\frac{d}{kn}\right)\right)\log\epsilon^{-1}\right)",
    "proof/step-5": r"y^{t}-\gamma\nabla\tilde{g}(y^{t})=(1-\frac{\gamma\mu}{2})y^{t}",
    "section-2.2/convex-combination": r"x_{i}^{t+1}\coloneqq(1-\rho)\hat{x}_{i}^{t}+\rho(\hat{y}^{t}+\bar{d}^{t}), "
    r"\quad \rho>0",
    "theorem-3.1/limits-of-all": "",
    "section-4/fastest": "",
    "section-4/adiana-k": "",
}
#: How the rows of Table 2 follow from those of Table 1 is stated for LoCoDL alone.
IMPLIED = ("table-2/from-table-1", "remark-2.2/resynchronised")
#: What LoCoDL is without compression the paper does not say, but what it is not.
OBSERVED = ("not-scaffnew/lifted", "table-1/lower-bound/consistency")

#: On what the printed proofs rest, and where they go wrong, in the paper's order.
PROOFS = {
    "downlink": PrintedProof(
        flaw="No proof is printed, and no class of methods named: that all clients receive the same message "
        "says how many reals are due only where each round takes a whole model."
    ),
    "uplink": PrintedProof(("corollary-3.2/eq-10",)),
    "uplink/literal": PrintedProof(
        ("corollary-3.2/eq-10",),
        "For n >= d^2 eq. (10) is sqrt(d) sqrt(kappa) + d. The introduction keeps the first of the two, which is "
        "the smaller one where d exceeds kappa.",
    ),
    "assumption-2.1": PrintedProof(("theorem-3.1/one-step",)),
    "assumption-2.1/literal": PrintedProof(
        ("theorem-3.1/one-step",),
        "The proof of eq. (19) takes the compressors of an iteration as unbiased given the whole past. From every "
        "single earlier one they are independent by the assumption, from all earlier ones together they need not "
        "be.",
    ),
    "theorem-3.1/one-step": PrintedProof(("proof/primal-step", "proof/dual-step")),
    "theorem-3.1/eq-5": PrintedProof(("theorem-3.1/one-step", "theorem-3.1/tau")),
    "theorem-3.1/limits": PrintedProof(("theorem-3.1/eq-5",)),
    "theorem-3.1/limits-of-all": PrintedProof(("theorem-3.1/limits", "proof/compressed-norm")),
    "section-2.2/convex-combination": PrintedProof(
        flaw="Algorithm 1 asks for rho > 0 only, and Theorem 3.1 for a chi > 0 of at most 2 rho - rho^2 (1 + "
        "omega_av): with omega_av = 0 any rho below 2 has one."
    ),
    "eq-7": PrintedProof(("theorem-3.1/eq-5", "eq-6")),
    "eq-8": PrintedProof(("eq-7",)),
    "rounds-independent": PrintedProof(("eq-8", "eq-3/independent")),
    "corollary-3.2/eq-9": PrintedProof(("eq-8", "eq-2/rand-k", "eq-3/independent")),
    "corollary-3.2/eq-10": PrintedProof(("rounds-independent", "eq-2/rand-k")),
    "regimes": PrintedProof(("corollary-3.2/eq-10",)),
    "eq-15": PrintedProof(("eq-13",)),
    "eq-18": PrintedProof(("eq-13",)),
    "proof/dual-step": PrintedProof(("proof/compressed-norm", "eq-18", "eq-13")),
    "proof/primal-step": PrintedProof(("eq-18", "eq-13")),
    "table-1/locodl": PrintedProof(("rounds-independent",)),
    "diana-large-n": PrintedProof(("table-1/diana", "table-2/from-table-1")),
    "uplink/small-n": PrintedProof(("corollary-3.2/eq-10",)),
    "before-corollary-3.2": PrintedProof(("rounds-independent", "eq-2/rand-k")),
}
