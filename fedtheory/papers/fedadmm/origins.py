"""FedADMM: what the paper prints, with the formula as it stands there, what it does not, and on what its proofs rest.

By ids after its name.
"""

from __future__ import annotations

from fedtheory.claims import PrintedProof

_DESCENT = (
    r"\widetilde{\mathcal{L}}^k-\widetilde{\mathcal{L}}^{k+1}\geq\sum_{i=1}^m\frac{\sigma_i}{10}"
    r"(\|\mathbf{w}^{\tau_{k+1}}-\mathbf{w}^{\tau_k}\|^2+\|\mathbf{w}_i^{k+1}-\mathbf{w}_i^k\|^2)"
)
#: Scheme 4.1.
_SCHEME = r"\Omega^{\tau+1}\cup\Omega^{\tau+2}\cup\cdots\cup\Omega^{\tau+s_0}=[m], \quad \forall\tau=0,s_0,2s_0,\cdots"

#: Formulas; "" where a sentence has none.
PRINTED = {
    "eq-13": r"\mathbf{w}^{k+1}=\operatorname{argmin}_{\mathbf{w}}\mathcal{L}(\mathbf{w},W^k,\Pi^k)=\frac{1}{\sum_{i"
    r"=1}^m"
    r"\sigma_i}\sum_{i=1}^m(\sigma_i\mathbf{w}_i^k+\boldsymbol{\pi}_i^k)",
    "eq-15": r"\mathbf{v}_i^{\ell+1}=\frac{1}{\alpha_ir_i+\sigma_i}(\alpha_ir_i\mathbf{v}_i^\ell+\sigma_i"
    r"\mathbf{w}^{\tau_{k+1}}-(\alpha_i\nabla f_i(\mathbf{v}_i^\ell)+\boldsymbol{\pi}_i^k))",
    "theorem-3.1/contraction": r"\|\mathbf{v}_i^{\ell+1}-\mathbf{v}_i^*\|^2\le\varrho^{-1}\|\mathbf{v}_i^{\ell}-"
    r"\mathbf{v}_i^*\|^2",
    "theorem-3.1/eq-16": r"\kappa=\log_{\varrho}\left\lceil\frac{2(\alpha_i^2r_i^2+\sigma_i^2)\|\mathbf{w}^{\tau_{k"
    r"+1}}-"
    r"\mathbf{v}_i^*\|^2}{\epsilon_i^{k+1}}\right\rceil-1",
    "section-3.5": r"\mathbf{w}^{\tau_{k+1}}=\frac{1}{\sigma}(\sum_{i\in\Omega^{\tau_k}}\mathbf{z}_i^k+"
    r"\sum_{i\notin\Omega^{\tau_k}}\mathbf{z}_i^{k_i})=\frac{1}{\sigma}\sum_{i=1}^m\mathbf{z}_i^k",
    "section-3.5/literal": r"\Omega^{\tau_k}, \quad k,k+1,\cdots,k+k_0-1",
    "definition-4.1": r"\nabla f(\mathbf{w}^*)=\sum_{i=1}^m\alpha_i\nabla f_i(\mathbf{w}^*)=-\sum_{i=1}^m\pi_i^*=0",
    "eq-21": r"\max\left\{u-v:i\in\Omega^v,i\in\Omega^u,i\notin\Omega^\tau,\tau=v+1,\cdots,u-1\right\}\le s_0",
    "definition-4.1/local": "",
    "definition-4.1/convex": "",
    "remark-4.1": r"p_i=1-(1-\frac{|\Omega^{\tau+1}|}{m})(1-\frac{|\Omega^{\tau+2}|}{m})\cdots"
    r"(1-\frac{|\Omega^{\tau+s_0}|}{m})",
    # And again in Section 5.2.
    "remark-4.1/scheme": _SCHEME,
    "lemma-4.1": _DESCENT,
    # Under the sigma_i >= 3 alpha_i r_i of the proof's first line.
    "lemma-4.1/with-step-condition": _DESCENT + r", \quad \sigma_i\geq 3\alpha_ir_i",
    "theorem-4.1/a": r"\{(\mathbf{w}^{\tau_k},W^k,\Pi^k)\}",
    "theorem-4.1/b": r"\lim_{k\to\infty}\mathcal{L}^k=\lim_{k\to\infty}F(W^k)=\lim_{k\to\infty}f(\mathbf{w}^{\tau_k})",
    "theorem-4.1/c": r"\lim_{k\to\infty}\nabla F(W^k)=0, \quad \nabla F(W^{k+1})=\sum_i\boldsymbol{g}_i^{k+1}",
    "theorem-4.1/c/server": r"\lim_{k\to\infty}\nabla f(\mathbf{w}^{\tau_k})=0",
    "theorem-4.1/c/literal": r"\lim_{k\to\infty}\nabla F(W^k)=0, \quad F(W):=\sum_{i=1}^m\alpha_if_i(\mathbf{w}_i)",
    "theorem-4.2/a": r"(\mathbf{w}^\infty,W^\infty,\Pi^\infty)",
    "theorem-4.2/b": r"(\mathbf{w}^\infty,W^\infty,\Pi^\infty)",
    "corollary-4.1/a": r"\lim_{k\to\infty}\mathcal{L}^k=\lim_{k\to\infty}F(W^k)=\lim_{k\to\infty}f(\mathbf{w}^{"
    r"\tau_k})=f^*",
    "corollary-4.1/b": r"(\mathbf{w}^\infty,W^\infty,\Pi^\infty)",
    "corollary-4.1/c": r"(\mathbf{w}^*,W^*,\Pi^*)",
    "remark-4.2/coercive": "",
    "remark-4.2": r"f=\sum_{i=1}^m\alpha_if_i",
    "theorem-4.3": r"\min_{s=1,2,\cdots,k}\|\nabla f(\mathbf{w}^{\tau_{s+1}})\|^2\le\frac{ck_0}{k-s_0k_0}",
    "theorem-4.3/proof-constants": r"\frac{10m\sigma_i^2}{3}, \quad \frac{34m}{9}, \quad \frac{8m}{9}, \quad 169m, "
    r"\quad "
    r"\frac{20ms_0}{3}, \quad \frac{940ms_0\overline{\sigma}}{9}",
    "remark-4.3/eq-28": r"k=\left\lceil\frac{(c+\varepsilon s_0)k_0}{\varepsilon}\right\rceil",
    "remark-4.3/eq-29": r"CR:=\left\lceil\frac{2k}{k_0}\right\rceil=\left\lceil\frac{2(c+\epsilon s_0)}{\varepsilon}"
    r"\right\rceil",
    "remark-4.3/eq-29/literal": r"CR:=\left\lceil\frac{2k}{k_0}\right\rceil=\left\lceil\frac{2(c+\epsilon s_0)}"
    r"{\varepsilon}\right\rceil",
    "eq-31": r"f(\mathbf{w}_1)-f(\mathbf{w}_2)-\langle\nabla f(\mathbf{w}_i),\mathbf{w}_1-\mathbf{w}_2\rangle\leq"
    r"\frac{r}{2}\|\mathbf{w}_1-\mathbf{w}_2\|^2",
    "eq-32": r"\langle\nabla f(\mathbf{w}_1)-\nabla f(\mathbf{w}_2),\mathbf{w}_1-\mathbf{w}_2\rangle\geq"
    r"-s\|\mathbf{w}_1-\mathbf{w}_2\|^2",
    "eq-33": r"2\langle\mathbf{w}_1,\mathbf{w}_2\rangle\leq t\|\mathbf{w}_1\|^2+(1/t)\|\mathbf{w}_2\|^2, \quad "
    r"\|\mathbf{w}_1+\mathbf{w}_2\|^2\leq(1+t)\|\mathbf{w}_1\|^2+(1+1/t)\|\mathbf{w}_2\|^2, \quad "
    r"\|\sum_{i=1}^m\mathbf{w}_i\|^2\leq m\sum_{i=1}^m\|\mathbf{w}_i\|^2",
    "lemma-C.1/a": r"\sum_i(\sigma_i(\mathbf{w}_i^k-\mathbf{w}^{\tau_{k+1}})+\boldsymbol{\pi}_i^k)=0",
    "lemma-C.1/a/intermediate": r"\sum_i(\sigma_i(\mathbf{w}_i^k-\mathbf{w}^{\tau_{k+1}})+\boldsymbol{\pi}_i^k)="
    r"\sum_i\sigma_i(\mathbf{z}_i^k-\mathbf{w}^{\tau_{k+1}})=0",
    "lemma-C.1/b": r"\|\varphi_i^{k+1}\|^2\le\epsilon_i^{k+1}, \quad \varphi_i^{k+1}:=g_i^{k+1}+\pi_i^{k+1}",
    "lemma-C.1/c": r"\|\Delta\boldsymbol{\pi}_i^{k+1}\|^2\le\frac{6\alpha_i^2r_i^2}{5}\|\Delta\mathbf{w}_i^{k+1}\|^2-"
    r"\frac{24}{1-\nu_i}\Delta\epsilon_i^{k+1}",
    "lemma-C.1/d": r"\epsilon_i^{k+1}\to 0",
    "eq-45": r"0<\alpha_ir_i\le\frac{\sigma_i}{2}, \quad \forall i\in[m]",
    "eq-51/display": r"\mathcal{L}^{k+1}-\mathcal{L}^k\leq-\sum_i\left(\frac{\sigma_i}{10}(\|\triangle\mathbf{w}^{"
    r"\tau_{k+1}}"
    r"\|^2+\|\triangle\mathbf{w}_i^{k+1}\|^2)-\frac{29\triangle\epsilon_i^{k+1}}{(1-\nu_i)\sigma_i}\right)",
    "lemma-C.2/a": r"\{\widetilde{\mathcal{L}}^k\}",
    "lemma-C.2/b": r"\widetilde{\mathcal{L}}^k\geq f(\mathbf{w}^{\tau_k})\geq f^*>-\infty",
    "lemma-C.2/b/signs": r"\alpha_if_i(\mathbf{w}^{\tau_k})-\alpha_if_i(\mathbf{w}^k_i)\leq\langle\triangle"
    r"\overline{\mathbf{w}}_i^k,\boldsymbol{g}_i^k\rangle+\frac{r_i\alpha_i}{2}\|\triangle\overline{\mathbf{w}}_i^k"
    r"\|^2, "
    r"\quad \langle\triangle\overline{\mathbf{w}}_i^k,\boldsymbol{\pi}_i^k+\varphi_i^k\rangle",
    "lemma-C.2/c": r"(\epsilon_i^{k+1},\triangle\mathbf{w}^{\tau_{k+1}},\triangle\overline{\mathbf{w}}_i^{k+1},"
    r"\triangle"
    r"\mathbf{w}_i^{k+1},\triangle\boldsymbol{\pi}_i^{k+1})\to 0",
    "eq-59": r"\|\nabla f(\mathbf{w}^{\tau_{k+1}})\|^2\leq m\sum_i\frac{\sigma_i^2}{3}(\|\triangle\overline{"
    r"\mathbf{w}}_i^{k+1}"
    r"\|^2+\|\triangle\mathbf{w}_i^{k+1}\|^2)+3\|\sum_i\mathbf{g}_i^k\|^2",
    "eq-62/selected": r"\|\sigma_i\triangle\overline{\mathbf{w}}_i^{k+1}\|^2\leq\frac{2\sigma_i^2}{15}\|\triangle"
    r"\mathbf{w}_i^{k+1}\|^2+24\epsilon_i^k",
    "eq-62": r"\|\sigma_i\triangle\overline{\mathbf{w}}_i^{k+1}\|^2\leq\frac{4\sigma_i^2}{15}\|\triangle"
    r"\mathbf{w}_i^{k_i+1}"
    r"\|^2+48\epsilon_i^{k_i}+2s_0\sigma_i^2\sum_{t=\tau_{k_i+1}}^{\tau_{k+1}-1}\|\mathbf{w}^{t+1}-\mathbf{w}^t\|^2",
    "eq-64": r"\widetilde{\mathcal{L}}^k\le\widetilde{\mathcal{L}}^{k_i}\le\widetilde{\mathcal{L}}^{k-s_0k_0}, \quad "
    r"\epsilon_i^k=\epsilon_i^{k_i}, \quad i\notin\Omega^{\tau_{k+1}}",
    "eq-65": r"\sum_i\|\sigma_i\triangle\overline{\mathbf{w}}_i^{k+1}\|^2\leq\sum_i\left(\frac{2\sigma_i^2}{15}\|"
    r"\triangle"
    r"\mathbf{w}_i^{k+1}\|^2+\frac{4\sigma_i^2}{15}\|\triangle\mathbf{w}_i^{k_i+1}\|^2\right)+\sum_i\left(2s_0"
    r"\sigma_i^2"
    r"\sum_{t=\tau_{k+1}-1}^{\tau_{k+1}-1}\|\mathbf{w}^{t+1}-\mathbf{w}^t\|^2+48\epsilon_i^k\right)",
    "eq-66": r"\|\sum_i\boldsymbol{g}_i^k\|^2\leq 3m\sum_i\epsilon_i^k+3m\sum_i\sigma_i^2\|\triangle\overline{"
    r"\mathbf{w}}_i"
    r"^{k+1}\|^2+3m\sum_i\sigma_i^2\|\triangle\mathbf{w}_i^{k+1}\|^2",
    "eq-67": r"\|\nabla f(\mathbf{w}^{\tau_{k+1}})\|^2\leq\frac{940ms_0\overline{\sigma}}{9}(\widetilde{"
    r"\mathcal{L}}^{k-s_0k_0}"
    r"-\widetilde{\mathcal{L}}^{k+1})+169m\sum_i\epsilon_i^k",
    "eq-67/first-line": r"\|\nabla f(\mathbf{w}^{\tau_{k+1}})\|^2\leq\sum_i\frac{10m\sigma_i^2}{3}(\|\triangle"
    r"\overline{\mathbf{w}}_i^{k+1}\|^2+\|\triangle\mathbf{w}_i^{k+1}\|^2)+9m\sum_i\epsilon_i^k",
    "eq-69": r"\sum_{p=s_0}^t\epsilon_i^{pk_0}\le\sum_{a=1}^{\lceil t/s_0\rceil}s_0\epsilon_i^{as_0k_0}\le"
    r"\frac{s_0\epsilon_i^{s_0k_0}(1-\nu_i^{\lceil t/s_0\rceil})}{1-\nu_i}\le\frac{s_0\epsilon_i}{1-\nu_i}",
    "figure-1": "",
    "figure-2": "",
    "figure-3": "",
    "figure-4": "",
    "figure-5": "",
    "eq-14": r"\alpha_i\nabla f_i(\mathbf{v}_i^*)+\boldsymbol{\pi}_i^k+\sigma_i(\mathbf{v}_i^*-\mathbf{w}^{\tau_{k+1}"
    r"})=0",
    "theorem-3.1/proof": r"-\alpha_is_i\|\mathbf{v}_i^{\ell+1}-\mathbf{v}_i^*\|^2\leq\cdots\leq-(\alpha_is_i+"
    r"\frac{\varrho\alpha_ir_i}{2})\|\mathbf{v}_i^{\ell+1}-\mathbf{v}_i^*\|^2-\frac{\alpha_ir_i}{2}"
    r"\|\mathbf{v}_i^{\ell}-\mathbf{v}_i^*\|^2",
    "eq-34": r"\triangle\boldsymbol{\pi}_i^{k+1}:=\boldsymbol{\pi}_i^{k+1}-\mathbf{w}_i^k",
    "eq-46": r"\frac{\sigma_i}{2}\|\mathbf{w}_i^k-\mathbf{w}^{\tau_{k+1}}\|^2-\frac{\sigma_i}{2}\|\triangle"
    r"\overline{\mathbf{w}}_i^k\|^2=\langle\triangle\mathbf{w}^{\tau_{k+1}},-\sigma_i(\mathbf{w}_i^k-\mathbf{w}^{"
    r"\tau_{k+1}})\rangle-\frac{\sigma_i}{2}\|\triangle\mathbf{w}^{\tau_{k+1}}\|^2",
    "eq-47": r"p_1^k=-\sum_i\frac{\sigma_i}{2}\|\triangle\mathbf{w}^{\tau_{k+1}}\|^2\leq-\sum_i\frac{\sigma_i}{10}"
    r"\|\triangle\mathbf{w}^{\tau_{k+1}}\|^2",
    "eq-47/equality": r"p_1^k=-\sum_i\frac{\sigma_i}{2}\|\triangle\mathbf{w}^{\tau_{k+1}}\|^2",
    "eq-48": r"p_1^k=0=-\sum_i\frac{\sigma_i}{10}\|\triangle\mathbf{w}^{\tau_{k+1}}\|^2",
    "eq-49": r"\frac{\sigma_i}{2}\|\triangle\overline{\mathbf{w}}_i^{k+1}\|^2-\frac{\sigma_i}{2}\|\mathbf{w}_i^k-"
    r"\mathbf{w}^{\tau_{k+1}}\|^2=\langle\triangle\mathbf{w}_i^{k+1},\sigma_i\triangle\overline{\mathbf{w}}_i^{k+1}"
    r"\rangle-\frac{\sigma_i}{2}\|\triangle\mathbf{w}_i^{k+1}\|^2",
    "eq-50": r"p_2^k=\sum_iu_i^k\le\sum_i(-\frac{7\sigma_i}{30}\|\triangle\mathbf{w}_i^{k+1}\|^2-\frac{5\triangle"
    r"\epsilon_i^{k+1}}{(1-\nu_i)\sigma_i})",
    "eq-53": r"\|\triangle\overline{\mathbf{w}}_i^{k+1}\|^2\leq\frac{2}{\sigma_i^2}\|\triangle\boldsymbol{\pi}_i^{k_i"
    r"+1}"
    r"\|^2+2s_0\sum_{t=\tau_{k_i+1}}^{\tau_{k+1}-1}\|\mathbf{w}^{t+1}-\mathbf{w}^t\|^2",
    "eq-54": r"\mathcal{L}^{k+1}-F(W^{k+1})=\sum_i(\langle\triangle\overline{\mathbf{w}}_i^{k+1},\boldsymbol{\pi}_i^{"
    r"k+1}"
    r"\rangle+\frac{\sigma_i}{2}\|\triangle\overline{\mathbf{w}}_i^{k+1}\|^2)\to 0",
    "eq-55": r"\tau_{\ell+1}=\lceil(\ell+1)/k_0\rceil=\lceil\tau_{k+1}-1-1/k_0\rceil=\tau_{k+1}",
    "eq-55/tolerances": r"\epsilon_i^{\ell+1}\leq\epsilon_i^{k+1}",
    "eq-56": r"\sum_i\boldsymbol{\pi}_i^{k+1}\to 0",
    "eq-57": r"\nabla F(W^{k+1})=\sum_i\boldsymbol{g}_i^{k+1}",
    "appendix-C.5/multipliers": r"\|\boldsymbol{\pi}_i^k-\boldsymbol{\pi}_i^*\|^2=\|\boldsymbol{\varphi}_i^k+"
    r"\boldsymbol{g}_i^k-\alpha_i\nabla f_i(\mathbf{w}^*)\|^2\leq 2\alpha_i^2r_i^2\|\mathbf{w}_i^k-\mathbf{w}^*"
    r"\|^2+2\epsilon_i^k",
    "eq-68": r"\widetilde{\mathcal{L}}^{(p+1)k_0}-\widetilde{\mathcal{L}}^{pk_0+1}\le 0, \quad \forall p\geq 0",
    "appendix-C.6/last": r"\min_{p=s_0,s_0+1,\cdots,t}\|\nabla f(\mathbf{w}^{\tau_{pk_0+1}})\|^2\leq\frac{c}{t-s_0+1}"
    r"\leq\frac{ck_0}{k-s_0k_0}",
    "appendix-C.6/last/literal": r"\min_{s=1,3,\cdots,k}\|\nabla f(\mathbf{w}^{\tau_{s+1}})\|^2\leq\min_{p=s_0,s_0+1,"
    r"\cdots,t}\|\nabla f(\mathbf{w}^{\tau_{pk_0+1}})\|^2",
    "theorem-4.2/high-probability": "",
    "theorem-4.2/high-probability/isolated": "",
    "experiments/s0": "",
    "table-1": "",
    "section-5.4.4/times": "",
    "appendix-C.5/multipliers-of-two-iterations": r"\|\boldsymbol{\pi}_i^{k+1}-\boldsymbol{\pi}_i^{\ell+1}\|^2\leq "
    r"6\epsilon_i^{k+1}+6\alpha_i^2r_i^2(\|\triangle\overline{\mathbf{w}}_i^{k+1}\|^2+\|\triangle\overline{"
    r"\mathbf{w}}_i^{\ell+1}\|^2)",
    "eq-58": r"f(\mathbf{w}^{\tau_k})\geq f(\mathbf{w}^*)\geq f(\mathbf{w}^{\tau_k})+\langle\nabla "
    r"f(\mathbf{w}^{\tau_k}),\mathbf{w}^*-\mathbf{w}^{\tau_k}\rangle",
    "appendix-C.5/strong-convexity": r"f(\mathbf{w}^{\tau_k})-f(\mathbf{w}^*)\geq\langle\nabla f(\mathbf{w}^*),"
    r"\mathbf{w}^{\tau_k}-\mathbf{w}^*\rangle+\frac{\nu}{2}\|\mathbf{w}^{\tau_k}-\mathbf{w}^*\|^2="
    r"\frac{\nu}{2}\|\mathbf{w}^{\tau_k}-\mathbf{w}^*\|^2",
    "scheme-4.1/larger-s0": _SCHEME,
    "scheme-4.1/larger-s0/literal": _SCHEME,
    "eq-60": r"\max\{\sum_i\|\sigma_i\triangle\mathbf{w}^{\tau_{k+1}}\|^2,\sum_i\|\sigma_i\triangle"
    r"\mathbf{w}_i^{k+1}\|^2\}\leq 10\overline{\sigma}(\widetilde{\mathcal{L}}^k-\widetilde{\mathcal{L}}^{k+1})",
}
#: What the theorems on limits are derived from, step by step, and what their proofs take for granted.
IMPLIED = (
    *(f"theorem-4.1/a/{part}" for part in ("models", "origin", "multipliers", "gradients")),
    *(f"theorem-4.1/b/{part}" for part in ("coupling", "couplings", "excess", "excesses", "difference", "tolerance")),
    *(f"theorem-4.1/c/{part}" for part in ("spread", "begins", "continues", "gradients", "gradient", "turn")),
    "theorem-4.2/a/residual",
    "lemma-C.1/b/start",
    "eq-45/use",
    *(
        f"lemma-C.2/c/{part}"
        for part in ("below", "share", "share-server", "accuracy", "accuracy-idle", "selected", "idle")
    ),
    "algorithm-1/initial-state",
    "remark-4.1/scheme/window",
    "theorem-4.3/any-k",
    # What Example 5.1 prints is that each client has non-i.i.d. data, and this is how it is read.
    "example-5.1",
    *(f"theorem-4.3/{part}" for part in ("gradient", "descent", "constants", "iteration", "monotone", "ends")),
)
OBSERVED = (
    # FedAvg has no theorem in the paper.
    "algorithm-2",
    # The paper sets these values, and says nothing of the conditions.
    "experiments/step-condition",
    "experiments/initial-point",
    # Sections 1.2 and 5.4.1 see it in Figure 2, and do not speak of (29).
    "remark-4.3/k0-and-rounds",
    "theorem-4.3/sharper",
    # Without Assumption 4.2, which Theorem 4.1 has.
    "theorem-4.3/limit",
)

#: The faults that make several claims fall: each is one, whatever it makes fall.
ROOTS = {
    "a client may wait for 2 s_0 - 2 rounds under Scheme 4.1": ("eq-21", "eq-53", "eq-62", "eq-65", "eq-67"),
    "the blocks of grad F for their sum": ("theorem-4.1/c/literal", "eq-57"),
    "the sign of 1/k_0 in eq. (55)": ("eq-55", "eq-55/tolerances"),
}

#: On what the printed proofs rest, and where they go wrong, in the paper's order.
PROOFS = {
    "theorem-3.1/contraction": PrintedProof(("eq-32", "eq-33")),
    "theorem-3.1/eq-16": PrintedProof(
        ("theorem-3.1/contraction", "eq-33"),
        "X/rho^(kappa+1) <= 1 is solved with the ceiling inside the logarithm, log_rho(ceil(X)) - 1, which is no "
        "integer, and negative for small X; a number of steps is its ceiling, outside.",
    ),
    "eq-21": PrintedProof(
        flaw="No proof is printed. A client that is selected in the first round of a window and in the last one of "
        "the next waits for 2 s_0 - 1 rounds: Scheme 4.1 speaks of windows that begin at multiples of s_0 "
        "only."
    ),
    "remark-4.1/scheme": PrintedProof(
        ("remark-4.1",),
        "The probability is that of one client in one window. Scheme 4.1 asks for all clients in all windows: the "
        "probability of T windows is a power T of that of one, and where a window may miss a client it tends to 0.",
    ),
    "lemma-4.1": PrintedProof(
        ("lemma-C.1/a", "lemma-C.1/b", "lemma-C.1/c", "eq-31", "eq-33", "eq-45/use", "eq-51/display"),
        "The proof begins with sigma_i >= 3 alpha_i r_i, which the lemma does not assume.",
    ),
    "lemma-4.1/with-step-condition": PrintedProof(
        ("lemma-C.1/a", "lemma-C.1/b", "lemma-C.1/c", "eq-31", "eq-33", "eq-45/use", "eq-51/display")
    ),
    "theorem-4.1/a": PrintedProof(("lemma-C.2/b", "lemma-C.2/c", "lemma-C.1/b")),
    "theorem-4.1/b": PrintedProof(("lemma-C.2/a", "lemma-C.2/b", "lemma-C.2/c", "theorem-4.1/a")),
    "theorem-4.1/c": PrintedProof(("lemma-C.2/c", "lemma-C.1/a", "lemma-C.1/b")),
    "theorem-4.1/c/server": PrintedProof(("theorem-4.1/c", "lemma-C.2/c")),
    "theorem-4.1/c/literal": PrintedProof(
        ("lemma-C.2/c", "lemma-C.1/a", "lemma-C.1/b"),
        "Eq. (11) makes F a function of m blocks, whose gradient is (g_1, ..., g_m). Eq. (57) of the proof writes "
        "grad F for the sum of the g_i: the sum vanishes, the blocks do not.",
    ),
    "theorem-4.2/a": PrintedProof(
        ("lemma-C.1/b", "lemma-C.1/c", "lemma-C.2/c", "theorem-4.1/c/server", "definition-4.1")
    ),
    "theorem-4.2/b": PrintedProof(("theorem-4.2/a", "lemma-C.2/c", "lemma-C.1/b", "lemma-C.1/c")),
    "corollary-4.1/a": PrintedProof(("theorem-4.1/a", "theorem-4.1/b", "theorem-4.1/c/server")),
    "corollary-4.1/b": PrintedProof(("theorem-4.2/a", "definition-4.1")),
    "corollary-4.1/c": PrintedProof(("corollary-4.1/a", "lemma-C.1/b", "lemma-C.2/c", "definition-4.1")),
    "theorem-4.3": PrintedProof(("eq-67", "eq-69", "lemma-C.2/a", "lemma-C.2/b", "theorem-4.3/proof-constants")),
    "theorem-4.3/proof-constants": PrintedProof(
        ("eq-59", "eq-65", "eq-66"),
        "Eq. (59) and three times eq. (66) add up to the coefficient 1/3 + 3 * 3 = 28/3. The printed 10/3 = 1/3 + 3 "
        "takes eq. (66) once; every later constant follows from it.",
    ),
    "remark-4.3/eq-28": PrintedProof(("theorem-4.3",)),
    "remark-4.3/eq-29": PrintedProof(("remark-4.3/eq-28",)),
    "remark-4.3/eq-29/literal": PrintedProof(
        ("remark-4.3/eq-28",),
        "The k of eq. (28) is a ceiling itself, which the second expression drops; and a factor 2 goes into a "
        "ceiling, though 2 ceil(x) is not ceil(2x).",
    ),
    "lemma-C.1/a": PrintedProof(("lemma-C.1/a/intermediate", "section-3.5")),
    "lemma-C.1/a/intermediate": PrintedProof(
        flaw="z_i is sigma_i w_i + pi_i by eq. (8), so that the sum is one of z_i - sigma_i w. The printed sigma_i "
        "(z_i - w) multiplies z_i by sigma_i once more."
    ),
    "lemma-C.1/c": PrintedProof(("lemma-C.1/b", "eq-33")),
    "lemma-C.1/d": PrintedProof(("eq-21",)),
    "eq-45/use": PrintedProof(
        ("eq-45",),
        "sigma_i/2 is printed where sigma_i/3 follows and is used: with sigma_i/2 the constants -1/3, 4/30, "
        "1/6 and 1/3, which the later steps take from this line, do not come out.",
    ),
    "eq-51/display": PrintedProof(
        ("lemma-C.1/a", "lemma-C.1/b", "lemma-C.1/c", "eq-31", "eq-33", "eq-45/use"),
        "In the sum of eqs. (47), (50) and (51) the minus before the change of the tolerances is put behind the "
        "minus of the whole sum, and so becomes a plus.",
    ),
    "lemma-C.2/a": PrintedProof(("lemma-4.1",)),
    "lemma-C.2/b": PrintedProof(("lemma-C.2/b/signs", "lemma-C.1/b", "eq-33", "eq-45/use")),
    "lemma-C.2/b/signs": PrintedProof(
        ("eq-31",),
        "Eq. (31) at w_i has <w - w_i, g_i> = -<Dbar_i, g_i>, printed without the minus; and g_i is phi_i - pi_i, "
        "printed as pi_i + phi_i. In the last line the two errors cancel.",
    ),
    "lemma-C.2/c": PrintedProof(("lemma-4.1", "lemma-C.2/a", "lemma-C.2/b", "lemma-C.1/c", "lemma-C.1/d", "eq-21")),
    "eq-59": PrintedProof(("eq-33", "eq-45/use")),
    "eq-62": PrintedProof(
        ("lemma-C.1/c", "eq-21", "eq-33", "eq-45/use"),
        "Eq. (63) takes the sum over the rounds in which a client waits as one of at most s_0 terms; under Scheme "
        "4.1 there may be 2 s_0 - 2. Under eq. (21) there are s_0 - 1 at most.",
    ),
    "eq-64": PrintedProof(
        ("eq-21", "lemma-C.2/a"),
        "What an idle client keeps by eq. (9) is what its last active iteration left: eps at k_i + 1, after that "
        "iteration, and not at k_i, before it.",
    ),
    "eq-65": PrintedProof(("eq-62", "eq-64")),
    "eq-66": PrintedProof(("lemma-C.1/a", "lemma-C.1/b", "eq-33")),
    "eq-67/first-line": PrintedProof(("eq-59", "eq-66", "theorem-4.3/proof-constants")),
    "eq-67": PrintedProof(
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
    "algorithm-1/initial-state": PrintedProof(
        flaw="Algorithm 1 computes w^{tau_1} first. w^{tau_0}, on which L^0 depends, is used by Lemma 4.1 and "
        "Theorem 4.3 and nowhere defined."
    ),
    "algorithm-2": PrintedProof(
        flaw="No proof is printed. After k_0 >= 2 local steps the clients have moved towards their own minimisers "
        "by amounts that do not add up to the gradient at the common point: the fixed point is biased."
    ),
    "experiments/step-condition": PrintedProof(
        flaw="With alpha_i = 1/m the theorems' 3 alpha_i r_i is 3 r_i/m, fifteen times the 0.2 r_i/m of the "
        "experiments."
    ),
    "experiments/initial-point": PrintedProof(
        flaw="pi_i^0 = -alpha_i grad f_i(w_i^0) is 0 at w_i^0 = 0 only where the gradient of f_i vanishes there."
    ),
    "example-5.1": PrintedProof(
        flaw="The samples of the three laws are shuffled before they are dealt out, so that every client's are "
        "drawn from the same mixture; only their numbers differ."
    ),
    "theorem-3.1/proof": PrintedProof(
        ("eq-31", "eq-32", "eq-33"),
        "The terms alpha_i r_i/2 (|v^{l+1} - v*|^2 + |v^{l+1} - v^l|^2) of Young's inequality, printed with the "
        "first of "
        "the two squares twice, leave + alpha_i r_i/2 |v^l - v*|^2, printed with a minus.",
    ),
    "eq-34": PrintedProof(
        flaw="w_i^k is printed for pi_i^k: eq. (7) and Lemma C.1 c use the change of the multipliers."
    ),
    "eq-47": PrintedProof(("eq-46", "lemma-C.1/a")),
    "eq-50": PrintedProof(("eq-49", "eq-31", "eq-33", "eq-45/use", "lemma-C.1/b")),
    "eq-53": PrintedProof(
        ("eq-21",),
        "The sum over the rounds in which a client waits is taken as one of at most s_0 terms; under Scheme 4.1 "
        "there may "
        "be 2 s_0 - 2.",
    ),
    "eq-54": PrintedProof(("lemma-C.2/c", "theorem-4.1/a")),
    "eq-55": PrintedProof(
        flaw="(l + 1)/k_0 is tau_{k+1} - 1 + 1/k_0: the sign of 1/k_0 is printed as a minus, with which the ceiling is "
        "tau_{k+1} - 1 or, for k_0 = 1, tau_{k+1} - 2."
    ),
    "eq-55/tolerances": PrintedProof(
        ("eq-55",), "By eq. (55) l <= k, and the tolerances do not increase: the one at l + 1 is the larger."
    ),
    "appendix-C.5/multipliers-of-two-iterations": PrintedProof(("eq-55/tolerances", "lemma-C.1/b", "eq-33")),
    "appendix-C.5/strong-convexity": PrintedProof(("definition-4.1",)),
    "section-3.5/literal": PrintedProof(
        flaw="Omega^{tau_k} is printed for Omega^{tau_{k+1}}: at a step k in K those of the next round are selected."
    ),
    "scheme-4.1/larger-s0/literal": PrintedProof(
        flaw="No proof is printed. Windows of s_0 + 1 rounds begin elsewhere than those of s_0, and one of them may "
        "contain none of those."
    ),
    "eq-56": PrintedProof(("lemma-C.1/a", "lemma-C.1/b", "lemma-C.2/c", "eq-55/tolerances")),
    "eq-57": PrintedProof(
        ("eq-56", "lemma-C.1/b", "lemma-C.1/d"),
        "Eq. (11) makes F a function of m blocks, whose gradient is (g_1, ..., g_m) and not their sum.",
    ),
    "appendix-C.5/multipliers": PrintedProof(
        ("lemma-C.1/b", "eq-33"),
        "pi_i is phi_i - g_i by eq. (37), so that pi_i - pi_i* is phi_i - (g_i - alpha_i grad f_i(w*)), printed with a "
        "plus; the bound that follows is the same for both.",
    ),
    "eq-60": PrintedProof(("lemma-4.1/with-step-condition",)),
    "eq-68": PrintedProof(("lemma-C.2/a",)),
    "appendix-C.6/last": PrintedProof(("eq-67", "eq-68", "eq-69", "lemma-C.2/b")),
    "appendix-C.6/last/literal": PrintedProof(
        ("eq-67", "eq-68", "eq-69", "lemma-C.2/b"),
        "3 is printed for 2 in the range of s: the even p k_0 of the next line are then missing from it.",
    ),
    "theorem-4.3/any-k": PrintedProof(("appendix-C.6/last",)),
    "theorem-4.2/high-probability/isolated": PrintedProof(("theorem-4.2/b", "remark-4.1/scheme")),
    "theorem-4.2/high-probability": PrintedProof(("theorem-4.1/c/server", "theorem-4.2/a", "remark-4.1/scheme")),
    "remark-4.3/k0-and-rounds": PrintedProof(
        ("remark-4.3/eq-29",),
        "k_0 cancels in eq. (29), and does not occur in c: what the experiments see is not what the theorem grants.",
    ),
    "experiments/s0": PrintedProof(("remark-4.3/eq-29", "theorem-4.3")),
}
