"""FedDCD: what the paper prints, with the formula as it stands there, what it does not, and on what its proofs rest.

By ids after its name.
"""

from __future__ import annotations

from fedtheory.claims import PrintedProof

_RATE = r"1-\frac{\tau-1}{N-1}\frac{\alpha}{\beta}"
_FAST = r"1-\frac{\sqrt{\frac{\alpha}{\beta}}}{\frac{N-1}{\tau-1}+\sqrt{\frac{\alpha}{\beta}}}"
_FEDAVG = (
    r"\mathcal{O}\left(\frac{\sigma^2}{\tau K\alpha\epsilon}+\frac{\sqrt{\beta}(\zeta K+\sigma\sqrt{K})}"
    r"{\alpha\sqrt{\epsilon}}+\frac{\beta}{\alpha}\log\left(\frac{1}{\epsilon}\right)\right)"
)
_DISTANCE = r"\mathbb{E}\left[\|w^{(T)}-w^*\|^2\right]\le"
_MB_SGD = (
    r"\mathcal{O}\left(\frac{\sigma^2}{\tau\alpha\epsilon}+\left(1-\frac{\tau}{n}\right)"
    r"\frac{\zeta^2}{\tau\alpha\epsilon}+\frac{\beta}{\alpha}\log\left(\frac{1}{\epsilon}\right)\right)"
)
_INEXACT = rf"{_DISTANCE}\frac{{20}}{{3\alpha^2}}(1-\kappa)^T\zeta^2"
_GAP = r"\mathbb{E}\left[G(y^{(T)})-G(y^*)\right]\le"
_START = r"(G(y^{(0)})-G(y^*))"

#: Why the rows of Table 1 hold for small epsilon only.
_LOGARITHM = (
    "The bound is zeta^2/alpha^2 times a power of the rate, so that it is epsilon after log(zeta^2/(alpha^2 epsilon)) "
    "over the rate; the row has log(zeta/epsilon), which is smaller without bound where alpha is small."
)

#: Formulas; "" where a sentence has none.
PRINTED = {
    "duality": r"w^*\in\bigcap_{i=1}^{N}\partial f_i^*(y_i^*)",
    "block-smoothness": "",
    "heterogeneity": r"\|y_i^*\|\leq\zeta \quad \forall i\in[N]",
    "projection": r"\operatorname{proj}_{\mathcal{C}_I}^{W}(x)=\left(I-\frac{1}{u^TW^{-1}u}W^{-1}uu^T\right)x, \quad "
    r"u=e_I\otimes e_d",
    "eq-1": r"w_i^{(t)}=\nabla f_i^*(y_i^{(t)})=\operatorname{argmin}_{w\in\mathbb{R}^d}\left\{f_i(w)-"
    r"\langle w,y_i^{(t)}\rangle\right\}",
    "algorithm-1/feasibility": r"\sum_{i=1}^{N}y_i^{(t)}=0",
    "theorem-4.1/eq-3": rf"{_GAP}\left({_RATE}\right)^T{_START}",
    "theorem-4.1/eq-4": rf"{_DISTANCE}\frac{{1}}{{N\alpha^2}}\left({_RATE}\right)^T\|y^*\|^2",
    "theorem-4.1/eq-5": rf"{_DISTANCE}\frac{{1}}{{\alpha^2}}\left({_RATE}\right)^T\zeta^2",
    "theorem-4.1/proof-constants": r"\mu_{\min}=1/\beta, \quad L_{\max}=1/\beta",
    # In the proofs of Theorems 5.2 and 6.1.
    "theorem-4.1/proof-constants/repaired": r"\mu_{\min}=1/\beta, \quad L_{\max}=1/\alpha",
    "identical-clients": r"f_i=f_j \quad \forall i,j\in[N]",
    "participation": "",
    "participation/bound": "",
    "table-1/mb-sgd": _MB_SGD,
    "table-1/fedavg": _FEDAVG,
    "table-1/fedavg/literal": _FEDAVG,
    "table-1/scaffold": r"\mathcal{O}\left(\frac{\sigma^2}{\tau K\alpha\epsilon}+\left(\frac{\beta}{\alpha}+\frac{N}{"
    r"\tau}"
    r"\right)\log\left(\frac{1}{\epsilon}\right)\right)",
    "table-1/feddcd": r"\mathcal{O}\left(\frac{(N-1)\beta}{(\tau-1)\alpha}\log\left(\frac{\zeta}{\epsilon}\right)"
    r"\right)",
    "table-1/accfeddcd": r"\mathcal{O}\left(\frac{(N-1)}{(\tau-1)}\sqrt{\frac{\beta}{\alpha}}\log\left(\frac{\zeta}"
    r"{\epsilon}\right)\right)",
    "table-1/feddcd/literal": r"\mathcal{O}\left(\frac{(N-1)\beta}{(\tau-1)\alpha}\log\left(\frac{\zeta}{\epsilon}"
    r"\right)\right)",
    "table-1/accfeddcd/literal": r"\mathcal{O}\left(\frac{(N-1)}{(\tau-1)}\sqrt{\frac{\beta}{\alpha}}\log\left("
    r"\frac{\zeta}{\epsilon}\right)\right)",
    "oracle/gradient-descent": r"\mathcal{O}\left(\frac{n_i\beta}{\alpha}\log\left(\frac{1}{\delta}\right)\right)",
    "oracle/variance-reduced": r"\mathcal{O}\left(\left(\frac{\beta}{\alpha}+n_i\right)\log\left(\frac{1}{\delta}"
    r"\right)"
    r"\right)",
    "oracle/newton": r"\mathcal{O}\left(\log\left(\frac{1}{\delta}\right)\right)",
    "theorem-5.2/eq-8": rf"{_GAP}(1-\kappa)^T{_START}, \quad \kappa=\frac{{(\tau-1)\alpha}}{{32(N-1)\beta}}",
    "theorem-5.2/eq-9": rf"{_DISTANCE}\frac{{20}}{{3N\alpha^2}}(1-\kappa)^T\|y^*\|^2",
    "theorem-5.2/zeta": _INEXACT,
    "theorem-6.1/eq-10": rf"{_GAP}\left({_FAST}\right)^T{_START}",
    "theorem-6.1/eq-11": rf"{_DISTANCE}\frac{{1}}{{N\alpha^2}}\left({_FAST}\right)^T\|y^*\|^2",
    "theorem-6.1/eq-11/output": rf"{_DISTANCE}\frac{{1}}{{N\alpha^2}}\left({_FAST}\right)^T\|y^*\|^2",
    "theorem-6.1/eq-12": rf"{_DISTANCE}\frac{{1}}{{\alpha^2}}\left({_FAST}\right)^T\zeta^2",
    "non-smooth": r"\mathcal{O}(\epsilon^{-\frac{1}{2}})",
    "theorem-7.1/eq-14": r"\mathbb{E}_{\mathcal{N}_i,i\in[T]}\left[f(w^{(T)})-f(w^*)\right]\geq\Omega\left(\left(1-"
    r"\min\left\{\frac{\tau}{"
    r"\sqrt{N}}"
    r"\frac{4}{\sqrt{\beta/\alpha}},\frac{8\sqrt{2}}{\beta/\alpha},1\right\}\right)^T\right)",
    "theorem-7.1/complexity": r"\Omega\left(\frac{\sqrt{N}}{\tau}\sqrt{\frac{\beta}{\alpha}}\ln\left(\frac{1}{\epsilon}"
    r"\right)\right)",
    "gap": r"\sqrt{N}",
    "lemma-B.2": r"\operatorname{proj}_{\mathcal{C}_I}^{W}(x)=\left(I-\frac{1}{e_I^TW^{-1}e_I}W^{-1}e_Ie_I^T\right)x",
    "lemma-B.2/P-and-G": r"P_I=\mathbb{I}_I-\frac{1}{e_I^T\mathbf{L}^{-1}e_I}\mathbf{L}^{-1}e_Ie_I^T, \quad "
    r"G_I=\mathbb{I}_I\mathbf{L}^{-1}-\frac{1}{e_I^T\mathbf{L}^{-1}e_I}\mathbf{L}^{-1}e_Ie_I^T\mathbf{L}^{-1}",
    "lemma-B.3/symmetric": r"G_I=G_I^T",
    "lemma-B.3/idempotent": r"P_I=P_I^2",
    "lemma-B.3/eq-17": r"G_I=G_I^T\mathbf{L}G_I",
    "lemma-B.3/eq-18": r"P_\tau:=\mathbb{E}_I[P_I]=\frac{\tau-1}{n-1}P_{[n]}",
    "lemma-B.3/eq-19": r"G_\tau:=\mathbb{E}_I[G_I]=\frac{\tau-1}{n-1}G_{[n]}",
    "lemma-B.3/eq-20": r"\mathbb{E}_I\left[\|G_Ix\|_{\mathbf{L}}^2\right]=\frac{\tau-1}{n-1}\|G_{[n]}x\|_{"
    r"\mathbf{L}}^2",
    "lemma-B.3/eq-21": r"\mathbb{E}_I\left[\langle G_Ix,y\rangle_{L}\right]=\frac{\tau-1}{n-1}\langle x,y\rangle",
    "lemma-B.4/eq-22": r"\lambda_1(G_{[n]})\le 1/L_{\min}",
    "lemma-B.4/eq-23": r"\lambda_n(G_{[n]})=0",
    "lemma-B.5": r"P_{[n]}^T\nabla h(x^*)=0",
    "lemma-B.6/euclidean": r"\frac{2\mu}{L_{\max}^2}(h(x^t)-h(x^*))\le\|G_{[n]}\nabla h(x^t)\|^2\le"
    r"\frac{2L_{\max}}{L_{\min}^2}(h(x^t)-h(x^*))",
    "lemma-B.6/weighted": r"\frac{2\mu}{L_{\max}}(h(x^t)-h(x^*))\le\|G_{[n]}\nabla h(x^t)\|_L^2\le"
    r"\frac{2L_{\max}}{L_{\min}}(h(x^t)-h(x^*))",
    "lemma-B.7": r"u(x)+D_{\Phi}(x,z)\ge u(z^+)+D_{\Phi}(z^+,z)+D_{\Phi}(x,z^+)",
    "lemma-B.8/descent": r"\mathbb{E}[h(y)]\leq h(x)-\frac{1}{2}\frac{\tau-1}{n-1}\|G_{[n]}\nabla h(x)\|_{"
    r"\mathbf{L}}^2",
    "lemma-B.8/rate": r"\mathbb{E}[h(y)]-h(x^*)\le\left(1-\frac{\mu_{\min}}{L_{\max}}\right)\mathbb{E}[h(x)]-h(x^*)",
    "lemma-B.8/rate/repaired": r"\mathbb{E}[h(y)]-h(x^*)\leq\left(1-\frac{\tau-1}{n-1}\frac{\mu_{\min}}{L_{\max}}"
    r"\right)"
    r"(h(x)-h(x^*))",
    "theorem-C.1": r"\mathbb{E}\left[h(x^{(T)})\right]-h(x^*)\le(1-\kappa)^T\left[h(x^{(0)})-h(x^*)\right]",
    "theorem-C.1/parameters": r"\alpha\geq M, \quad \kappa\in(0,1), \quad \frac{r\mu}{8L_{\max}}\min\left\{\frac{1}{4},"
    r"\frac{L_{\min}^{\frac{3}{2}}}{4r^{\frac{1}{2}}L_{\max}^{\frac{3}{2}}}\right\}\le\kappa<1",
    "eq-28": r"\mathbb{E}\left[h(x^{(t+1)})\mid x^{(t)}\right]\leq h(x^{(t)})-\langle\nabla h(x^{(t)}),r\eta G_{[n]}"
    r"\widetilde{\nabla}h(x^{(t)})\rangle+\frac{r\eta^2}{2}\|G_{[n]}\widetilde{\nabla}h(x^{(t)})\|_{\mathbf{L}}^2",
    "eq-28/lines": "",
    "eq-29": r"\mathbb{E}\left[h(x^{(t+1)})\right]\leq"
    r"\mathbb{E}\left[h(x^{(t)})-\left(\frac{r\eta}{2}-r\eta^2\right)\|G_{[n]}\nabla h(x^{(t)})\|_L^2+\left("
    r"\frac{r\eta}{2}+r\eta^2\right)\frac{L_{\max}}{L_{\min}^2}\sum_{j=0}^{t-1}\delta^{t-j}\|\nabla h(x^{(j)})-\nabla "
    r"h(x^{(j+1)})\|^2\right]",
    "eq-30": r"\mathbb{E}\left[h(x^{(t+1)})\right]\leq"
    r"\mathbb{E}\left[h(x^{(t)})-\left(\frac{r\eta}{2}-r\eta^2\right)\|G_{[n]}\nabla h(x^{(t)})\|_L^2+"
    r"\alpha\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|^2+\left(\frac{r\eta}{2}+r\eta^2\right)"
    r"\frac{L_{\max}}{L_{\min}^2}\sum_{j=0}^{t-1}\delta^{t-j}\|\nabla h(x^{(j)})-\nabla h(x^{(j+1)})\|^2-"
    r"\alpha\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|^2\right]",
    "appendix-C/before-31": r"\mathbb{E}\left[\alpha\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|^2\right]\leq"
    r"\frac{2\alpha rL_{\max}^2\eta^2}{L_{\min}}\mathbb{E}\left[\|G_{[n]}\nabla h(x^{(t)})\|_L^2\right]+"
    r"\frac{2\alpha r\eta^2L_{\max}^3}{L_{\min}^3}\mathbb{E}\left[\sum_{j=0}^{t-1}\delta^{t-j}\|\nabla h(x^{(j)})-"
    r"\nabla h(x^{(j+1)})\|^2\right]",
    "appendix-C/before-31/line-1": r"\mathbb{E}\left[\alpha\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|^2\right]\leq"
    r"\mathbb{E}\left[\frac{\alpha}{L_{\min}}\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|_L^2\right]",
    "appendix-C/before-31/line-2": r"\mathbb{E}\left[\frac{\alpha}{L_{\min}}\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})"
    r"\|_L^2\right]\leq\mathbb{E}\left[\frac{\alpha L_{\max}^2}{L_{\min}}\|\eta G_{I_t}\widetilde{\nabla}"
    r"h(x^{(t)})\|_L^2\right]",
    "appendix-C/before-31/line-3": r"\mathbb{E}\left[\frac{\alpha L_{\max}^2}{L_{\min}}\|\eta G_{I_t}"
    r"\widetilde{\nabla}h(x^{(t)})\|_L^2\right]\leq\frac{\alpha rL_{\max}^2\eta^2}{L_{\min}}\mathbb{E}\left["
    r"\|G_{[n]}\widetilde{\nabla}h(x^{(t)})\|_L^2\right]",
    "appendix-C/before-31/line-4": r"\frac{\alpha rL_{\max}^2\eta^2}{L_{\min}}\mathbb{E}\left[\|G_{[n]}"
    r"\widetilde{\nabla}h(x^{(t)})\|_L^2\right]\leq\frac{2\alpha rL_{\max}^2\eta^2}{L_{\min}}\mathbb{E}\left["
    r"\|G_{[n]}\nabla h(x^{(t)})\|_L^2\right]+\frac{2\alpha r\eta^2L_{\max}^3}{L_{\min}^3}\mathbb{E}\left["
    r"\|\widetilde{\nabla}h(x^{(t)})-\nabla h(x^{(t)})\|^2\right]",
    "eq-31": r"\mathbb{E}\left[h(x^{(t+1)})\right]\leq\mathbb{E}\left[h(x^{(t)})-\left(\frac{r\eta}{2}-r\eta^2-"
    r"\frac{2\alpha rL_{\max}^2\eta^2}{L_{\min}}\right)\frac{2\mu}{L_{\max}}(h(x^{(t)})-h(x^*))+\left(\frac{r\eta}{2}"
    r"+r\eta^2+\frac{2\alpha r\eta^2L_{\max}^2}{L_{\min}}\right)\frac{L_{\max}}{L_{\min}^2}\sum_{j=0}^{t-1}"
    r"\delta^{t-j}\|\nabla h(x^{(j)})-\nabla h(x^{(j+1)})\|^2-\alpha\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|^2\right]",
    "eq-36": r"\mathbb{E}\left[h(x^{(t+1)})\right]\leq\mathbb{E}\left[h(x^{(t)})-\kappa(h(x^{(t)})-h(x^*))+(1-"
    r"\kappa)A_t-"
    r"A_{t+1}\right]",
    "lemma-C.2": r"\mathbb{E}\left[\|\widetilde{\nabla}h(x^{(t)})-\nabla h(x^{(t)})\|^2\right]\le\sum_{j=0}^{t-1}"
    r"\delta^{t-j}\mathbb{E}\left[\|\nabla h(x^{(j)})-\nabla h(x^{(j+1)})\|^2\right]",
    "theorem-D.1": r"\mathbb{E}\left[h(x^{(T)})-h(x^*)\right]\le\left(1-\frac{\sqrt{\frac{\mu}{L_{\max}}}}{\frac{1}{r}+"
    r"\sqrt{\frac{\mu}{L_{\max}}}}\right)^T\left(h(x^{(0)})-h(x^*)\right)",
    "theorem-D.1/lyapunov": r"\mathbb{E}\left[h(x^{(t+1)})-h(x^*)+\frac{a^2+b}{2r^2}\|x^*-z^{(t+1)}\|_{\mathbf{L}}^2"
    r"\mid "
    r"y^{(t)}\right]\leq(1-a)\left(h(x^{(t)})-h(x^*)+\frac{a^2+b}{2r^2}\|x^*-z^{(t)}\|_{\mathbf{L}}^2\right)",
    "eq-37": r"\mathbb{E}\left[h(x^{(t+1)})-h(y^{(t)})\mid y^{(t)}\right]\leq a\langle\nabla h(y^{(t)}),x^*-z^{(t)}"
    r"\rangle+\frac{1}{2r^2}\left(a^2\|x^*-z^{(t)}\|_{\mathbf{L}}^2+b\|x^*-y^{(t)}\|_{\mathbf{L}}^2\right)-"
    r"\frac{a^2+b}{2r^2}\mathbb{E}\left[\|x^*-z^{(t+1)}\|_{\mathbf{L}}^2\right]",
    "lemma-D.2": r"a^2\|x-z^{(t)}\|_{\mathbf{L}}^2+b\|x-y^{(t)}\|_{\mathbf{L}}^2=(a^2+b)\|x-u^{(t)}\|_{\mathbf{L}}^2+"
    r"\frac{a^2b}{a^2+b}\|y^{(t)}-z^{(t)}\|_{\mathbf{L}}^2",
    "lemma-D.3": r"\|x^*-v^{(t+1)}\|_{\mathbf{L}}^2-\|x^*-u^{(t)}\|_{\mathbf{L}}^2=\frac{1}{r}\mathbb{E}\left["
    r"\|x^*-z^{(t+1)}\|_{\mathbf{L}}^2-\|x^*-u^{(t)}\|_{\mathbf{L}}^2\right]",
    "lemma-D.4": r"a^2\leq(1-a)(a^2+b)",
    "lemma-E.1/exact": r"\mathbb{E}[\|\hat{w}^{(t)}-w^*\|^2]\le\frac{2}{N\alpha}\left[G(y^{(t)})-G(y^*)\right]",
    "lemma-E.1/inexact": r"\mathbb{E}[\|\hat{w}^{(t)}-w^*\|^2]\leq\frac{8}{N\alpha}\left\{\delta^t\left[G(y^{(0)})"
    r"-G(y^*)"
    r"\right]+\sum_{j=1}^{t}(\delta^{t-j}+\delta^{t-j+1})\left[G(y^{(j)})-G(y^*)\right]\right\}",
    "lemma-E.2": r"G(y^{(t)})-G(y^*)\leq\frac{1}{2\alpha}\|y^{(t)}-y^*\|^2",
    "appendix-F/class": r"f_i=\frac{1}{|\mathcal{B}_i|}\tilde{f}_j \quad \text{if } i\in\mathcal{B}_j",
    "appendix-F/sum": r"\sum_{k=1}^{\infty}M^{(k)}",
    "appendix-F/solution": r"w_i^*=\left(\frac{\sqrt{\beta/(N\alpha)}-1}{\sqrt{\beta/(N\alpha)}+1}\right)^i",
    "appendix-F/mgf": r"\frac{\delta}{1-\delta}\mathbb{E}\left[\delta^{K_t}\right]=\frac{\delta}{1-\delta}\left("
    r"\frac{\tau}{N}"
    r"\delta+1-\frac{\tau}{N}\right)^t",
    "appendix-F/bound-step": r"\frac{\delta}{1-\delta}\left(1-\frac{\tau}{N}\frac{4}{\sqrt{\beta/(N\alpha)}+2+"
    r"\sqrt{(N\alpha)/\beta}}\right)^t\geq"
    r"\frac{\delta}{1-\delta}\left(1-\frac{\tau}{N}\frac{4}{\min\{\sqrt{\beta/(N\alpha)},4\}}\right)^t=\frac{"
    r"\delta}{1-\delta}\left(1-\frac{\tau}{N}\min\left\{"
    r"\frac{4\sqrt{N}}{\sqrt{\beta/\alpha}},1\right\}\right)^t",
    "appendix-F/case-2": r"\frac{\delta}{1-\delta}\left(1-\min\left\{\frac{\tau\lceil N/m\rceil}{N}\frac{4\sqrt{m}}{"
    r"\sqrt{\beta/\alpha}},1\right\}"
    r"\right)^t\geq\frac{\delta}{1-\delta}\left(1-\min\left\{\frac{8}{\sqrt{m}\sqrt{\beta/\alpha}},1\right\}\right)^t"
    r"\geq\frac{\delta}{1-\delta}\left(1-\min\left\{"
    r"\frac{8\sqrt{2}}{\beta/\alpha},1\right\}\right)^t",
    "appendix-F/rise": r"\Pr[K_t=K_{t-1}+1]=\frac{\tau}{N}, \quad \frac{\tau\lceil N/m\rceil}{N}",
    "appendix-F/rise/literal": r"\mathcal{B}_m=\{(m-1)\lfloor n/m\rfloor+1,\ldots,n\}",
    "appendix-F/rise/by-one": r"K_t=K_{t-1}+1",
    "appendix-E/chain": r"\frac{8(1+\delta)\delta^T}{N\alpha}\frac{\left(\frac{1-\kappa}{\delta}\right)^{T+1}-1}{"
    r"\left(\frac{1-\kappa}{\delta}\right)-1}\left[G(y^{(0)})-G(y^*)\right]\le\frac{40}{3N\alpha}(1-\kappa)^T"
    r"\left[G(y^{(0)})-G(y^*)\right]\le\frac{20}{3N\alpha^2}(1-\kappa)^T\|y^*\|^2",
    "appendix-E/chain/literal": r"\frac{8\delta^T}{N\alpha}\left\{1+(1+\delta)\sum_{t=1}^T\left(\frac{1-\kappa}{"
    r"\delta}\right)^t\right\}=\frac{8(1+\delta)\delta^T}{N\alpha}\frac{\left(\frac{1-\kappa}{\delta}\right)^{T+1}"
    r"-1}{\left(\frac{1-\kappa}{\delta}\right)-1}",
    "theorem-4.1/eq-5/better": rf"{_DISTANCE}\frac{{1}}{{\alpha^2}}\left({_RATE}\right)^T\zeta^2",
    "algorithm-1/output": r"w^{(T)}=w_i^{(T)}",
    "table-1/independent-of-n": _MB_SGD,
    "theorem-5.2/constant-only": _INEXACT,
    "theorem-5.2/constant-only/literal": _INEXACT,
    "clientwise-constants": "",
    "varying-participation": "",
    # Of Newton's method, which is one of those of which the sentence speaks.
    "local-steps-and-accuracy": r"\mathcal{O}\left(\log\left(\frac{1}{\delta}\right)\right)",
    "versus-mb-sgd-and-fedavg": "",
    "table-2": "",
    "figure-1": "",
    "figure-2": "",
}
IMPLIED = (
    # The chain with the delta that the theorem's oracles have.
    "appendix-E/chain/oracles",
    # Lemma C.2 bounds the errors of calls by all clients in all rounds.
    *(f"theorem-5.2/{part}/refreshed" for part in ("eq-8", "eq-9", "zeta")),
)
OBSERVED = (
    "table-1/mb-sgd/fixed-step",
    "table-1/scaffold/full-gradients",
    *(f"table-1/{name}/all-values" for name in ("feddcd", "accfeddcd")),
    "oracle/variance-reduced/every-delta",
    # That a procedure does not beat what would be a bound on all.
    "theorem-7.1/eq-14/consistency",
)

#: What the later version of the paper withdraws or changes.
LATER = {
    "projection": "the closed form of the projection is left out",
    "versus-mb-sgd-and-fedavg": "the abstract says under certain situations, where it said under mild conditions",
    "table-2": "other rounds of the primal methods FedAvg, FedProx and SCAFFOLD, for tau = 30: of the linear model on "
    "MNIST 51, 47 and 45 at 1e-3, where each had > 100, and 17, 17 and 17 at 1e-2, where each had 6; on RCV1 at 1e-2 "
    "10, 10 and 11, where each had > 100",
}

_FIRST_ANSWER, _START, _NEWTON = (
    "the error of the oracle's first answer is left out",
    "the Lyapunov function's start is more than the gap",
    "Newton's method from far away",
)
#: The faults that make several claims fall: each is one, whatever it makes fall.
ROOTS = {
    _FIRST_ANSWER: (
        *(f"theorem-5.2/{part}{way}" for part in ("eq-8", "eq-9", "zeta") for way in ("", "/refreshed")),
        "theorem-C.1",
        "lemma-C.2",
        "eq-29",
        "eq-30",
        "eq-31",
        "eq-36",
        "lemma-E.1/inexact",
    ),
    _START: ("theorem-6.1/eq-10", "theorem-D.1"),
    _NEWTON: ("oracle/newton", "local-steps-and-accuracy"),
    "the case alpha >= beta/N of Theorem 7.1": ("theorem-7.1/eq-14", "appendix-F/class", "appendix-F/case-2"),
    "log(zeta/epsilon) for log(zeta^2/(alpha^2 epsilon))": ("table-1/feddcd/literal", "table-1/accfeddcd/literal"),
}

#: On what the printed proofs rest, and where they go wrong, in the paper's order.
PROOFS = {
    "projection": PrintedProof(
        flaw="e_d is printed for I_d. With e_d u is a vector, and u'y = 0 one equation: that all coordinates of the "
        "blocks in I add up to 0. C_I asks for d of them, one a coordinate. Lemma B.2 proves the case d = 1, where "
        "the two are the same."
    ),
    "theorem-4.1/eq-3": PrintedProof(("lemma-B.8/rate", "theorem-4.1/proof-constants")),
    "theorem-4.1/eq-4": PrintedProof(("lemma-E.1/exact", "theorem-4.1/eq-3", "lemma-E.2")),
    "theorem-4.1/eq-5": PrintedProof(("theorem-4.1/eq-4", "heterogeneity")),
    "theorem-4.1/proof-constants": PrintedProof(
        ("block-smoothness",),
        "L_max is set to 1/beta, a slip for 1/alpha: the conjugate of an alpha-strongly convex function is "
        "1/alpha-smooth. With 1/beta the factor of Lemma B.8 is 1 - (tau-1)/(N-1), without the condition number of "
        "eq. (3).",
    ),
    "participation": PrintedProof(("theorem-4.1/eq-3",)),
    "table-1/feddcd": PrintedProof(("theorem-4.1/eq-5",)),
    "table-1/accfeddcd": PrintedProof(("theorem-6.1/eq-12",)),
    "table-1/feddcd/literal": PrintedProof(("theorem-4.1/eq-5",), _LOGARITHM),
    "table-1/accfeddcd/literal": PrintedProof(("theorem-6.1/eq-12",), _LOGARITHM),
    "table-1/fedavg/literal": PrintedProof(
        flaw="The row is that of all clients: it has no term for the draw of those that take part, as MB-SGD's has."
    ),
    "oracle/newton": PrintedProof(
        flaw="No proof is printed. The work that is cited bounds the steps from a guess near the solution. The warm "
        "start need not be near it: far away Newton's method without line search can jump to and fro for ever. With "
        "beta > 2 alpha it does so on the function of the setting: a step from w = beta/alpha - 1 leads to -w, and "
        "the next one back, so that no number K of steps is enough."
    ),
    "theorem-5.2/eq-8": PrintedProof(("theorem-C.1", "block-smoothness")),
    "theorem-5.2/eq-9": PrintedProof(("lemma-E.1/inexact", "theorem-5.2/eq-8", "lemma-E.2")),
    "theorem-5.2/zeta": PrintedProof(("theorem-5.2/eq-9", "heterogeneity")),
    "theorem-5.2/eq-8/refreshed": PrintedProof(("theorem-C.1", "block-smoothness")),
    "theorem-5.2/eq-9/refreshed": PrintedProof(("lemma-E.1/inexact", "theorem-5.2/eq-8/refreshed", "lemma-E.2")),
    "theorem-5.2/zeta/refreshed": PrintedProof(("theorem-5.2/eq-9/refreshed", "heterogeneity")),
    "theorem-6.1/eq-10": PrintedProof(("theorem-D.1", "block-smoothness")),
    "theorem-6.1/eq-11": PrintedProof(("lemma-E.1/exact", "theorem-6.1/eq-10", "lemma-E.2")),
    "theorem-6.1/eq-12": PrintedProof(("theorem-6.1/eq-11", "heterogeneity")),
    "non-smooth": PrintedProof(
        flaw="It is said to be shown in the appendix, which has no such theorem in the text at hand: Appendix D asks "
        "for h to be mu-strongly convex, and its a and b are 0 where mu is."
    ),
    "theorem-7.1/eq-14": PrintedProof(
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
    "theorem-7.1/complexity": PrintedProof(("theorem-7.1/eq-14",)),
    "gap": PrintedProof(("theorem-7.1/complexity", "table-1/accfeddcd")),
    "lemma-B.3/eq-17": PrintedProof(("lemma-B.2", "lemma-B.3/symmetric", "lemma-B.3/idempotent")),
    "lemma-B.3/eq-18": PrintedProof(("lemma-B.2",)),
    "lemma-B.3/eq-20": PrintedProof(("lemma-B.3/eq-17", "lemma-B.3/eq-19")),
    "lemma-B.3/eq-21": PrintedProof(("lemma-B.3/eq-19",)),
    "lemma-B.8/descent": PrintedProof(("lemma-B.3/eq-17", "lemma-B.3/eq-19", "lemma-B.3/eq-20")),
    "lemma-B.8/rate": PrintedProof(
        ("lemma-B.8/descent", "lemma-B.6/weighted"),
        "The last line of the proof has the factor 1 - (tau-1)/(n-1) mu_min/L_max, on h(x) - h(x*). The statement "
        "drops (tau-1)/(n-1), and puts the factor on E[h(x)] alone.",
    ),
    "theorem-C.1": PrintedProof(
        ("lemma-C.2", "lemma-B.4/eq-22", "lemma-B.6/weighted", "lemma-B.3/eq-20", "theorem-C.1/parameters"),
        "Eq. (29) uses Lemma C.2 at t = 0 too, where it says that the first answers of the oracles are exact; and "
        "line 46 of Algorithm 3 sets the estimates of idle blocks to 0, where the proof has them renewed.",
    ),
    "theorem-4.1/eq-5/better": PrintedProof(
        flaw="Eq. (5) is drawn from eq. (4) by |y*|^2 <= N zeta^2, as zeta is the largest of the |y_i*| and |y*|^2/N "
        "the mean of their squares; the factor stays what it was."
    ),
    "algorithm-1/output": PrintedProof(
        flaw="Line 5 computes w_i^(T) for the clients of I_T, and line 14 draws i from all of them."
    ),
    "table-1/independent-of-n": PrintedProof(
        flaw="The row of MB-SGD has 1 - tau/n before zeta^2/(tau alpha epsilon): it is 0 where all n clients take "
        "part, and near 1 where n is large."
    ),
    "theorem-5.2/constant-only": PrintedProof(("theorem-5.2/zeta", "table-1/feddcd")),
    "theorem-5.2/constant-only/literal": PrintedProof(
        ("theorem-5.2/zeta", "theorem-4.1/eq-5"),
        "The constant is one of the exponent: kappa is a 32nd of what Theorem 4.1 has, so that the ratio of the bounds "
        "grows with every round.",
    ),
    "eq-29": PrintedProof(
        ("lemma-C.2", "eq-28"),
        "The error of the estimate is bounded by the sum of Lemma C.2, at t = 0 too, where that sum is empty and the "
        "first answer of the oracle may be wrong.",
    ),
    "eq-30": PrintedProof(("eq-29",)),
    "appendix-C/before-31": PrintedProof(("lemma-C.2", "lemma-B.3/eq-20", "lemma-B.4/eq-22")),
    "eq-31": PrintedProof(("eq-30", "appendix-C/before-31", "lemma-B.6/weighted")),
    "eq-36": PrintedProof(("eq-30", "eq-31")),
    "lemma-C.2": PrintedProof(
        flaw="The recursion leads down to the error of the first answer, delta^t |~grad h(x^0) - grad h(x^0)|^2, "
        "which is left out. The first guess is 0, so the first answer may be wrong, and at t = 0 the right "
        "side is 0."
    ),
    "theorem-D.1": PrintedProof(
        ("theorem-D.1/lyapunov",),
        "What contracts is h(x) - h(x*) plus (a^2 + b)/(2 r^2) |x* - z|_L^2. In the last step the second part is "
        "dropped on both sides, though it is not 0 at the start: on the right it has to stay.",
    ),
    "eq-37": PrintedProof(("lemma-B.8/descent", "lemma-B.7", "lemma-B.3/eq-21", "lemma-D.2", "lemma-D.3")),
    "lemma-B.2/P-and-G": PrintedProof(("lemma-B.2",)),
    "theorem-D.1/lyapunov": PrintedProof(
        ("eq-37", "lemma-B.8/descent", "lemma-B.7", "lemma-B.3/eq-21", "lemma-D.2", "lemma-D.3", "lemma-D.4")
    ),
    "lemma-D.3": PrintedProof(("lemma-B.3/eq-19", "lemma-B.3/eq-20")),
    "lemma-E.1/inexact": PrintedProof(("lemma-E.1/exact", "lemma-C.2")),
    "lemma-E.2": PrintedProof(("lemma-B.5",)),
    "appendix-E/chain": PrintedProof(("lemma-E.1/inexact", "lemma-E.2")),
    "appendix-E/chain/literal": PrintedProof(
        flaw="1 + (1 + delta) times the sum from 1 to T is (1 + delta) times the sum from 0 to T less delta: the sign "
        "of equality should be <=."
    ),
    "appendix-E/chain/oracles": PrintedProof(
        flaw="Lemma E.1 speaks of delta/2-inexact oracles, Theorem 5.2 of delta-inexact ones: its delta = (1 - "
        "kappa)/4 is half of that of the lemma."
    ),
    "local-steps-and-accuracy": PrintedProof(
        ("oracle/gradient-descent", "oracle/variance-reduced", "oracle/newton"),
        "Newton's method is one of the methods above: from a warm start that is far from the solution no number of its "
        "steps is enough.",
    ),
    "varying-participation": PrintedProof(("theorem-4.1/eq-3",)),
    "clientwise-constants": PrintedProof(("theorem-4.1/eq-3",)),
    "versus-mb-sgd-and-fedavg": PrintedProof(("table-1/feddcd",)),
    "appendix-F/rise/literal": PrintedProof(
        flaw="The blocks B_1, ..., B_(m-1) have floor(N/m) clients each and the last has all that are left, which may "
        "be more than ceil(N/m): of 5 clients and m = 3 it has three. With blocks of sizes that differ by one it holds."
    ),
    "appendix-F/rise/by-one": PrintedProof(
        flaw="The first client finds w_1 by its linear term and, by M^(1), which couples w_1 to w_2, goes to w_2 in "
        "the same round, since local steps are free."
    ),
    "appendix-F/class": PrintedProof(
        flaw="In the case alpha >= beta/N every f_i is 1/|B_j| times an alpha-strongly convex function, where B_j "
        "is the block of i. With more than one function in the block f_i is only alpha/|B_j|-strongly convex."
    ),
    "appendix-F/bound-step": PrintedProof(
        ("appendix-F/mgf",),
        "min is printed for max: s + 2 + 1/s is at least s and at least 4, so 4/(s + 2 + 1/s) <= 4/max{s, 4}, and "
        "it is 4/max{s, 4} = min{4/s, 1} that the next line has.",
    ),
    "appendix-F/case-2": PrintedProof(
        flaw="tau is lost between the first line and the second: ceiling(N/m)/N <= 2/m makes the first term at most "
        "8 tau/(sqrt(m) sqrt(beta/alpha)), and the second line has 8/(sqrt(m) sqrt(beta/alpha))."
    ),
}
