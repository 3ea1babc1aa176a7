"""Federated Optimization: what the paper prints, with the formula as it stands there, and what it does not. By ids
after its name."""

from __future__ import annotations

#: Formulas; "" where a sentence has none.
PRINTED = {
    "logistic-loss": r"f_i(w)=-\log(1+\exp(-y_ix_i^Tw)), \quad y_i\in\{-1,1\}",
    "eq-4": r"\text{TIME}=\mathcal{I}(\epsilon,\Theta)\times(c+\mathcal{T}_{\mathcal{A}}(\Theta))",
    "svrg/unbiased": r"\nabla f_i(w)-\nabla f_i(w^t)+\nabla f(w^t)",
    "svrg/eq-5": r"\mathbb{E}[f(w^t)-f(w^*)]\leq c^t[f(w^0)-f(w^*)], \quad c=\Theta\left(\frac{1}{mh}\right)+\Theta(h)",
    "svrg/complexity": r"(n+\mathcal{O}(L/\lambda))\log(1/\epsilon)",
    "eq-7": r"f(w)=\sum_{k=1}^K\frac{n_k}{n}F_k(w)=\sum_{k=1}^K\frac{n_k}{n}\cdot\frac{1}{n_k}\sum_{i\in"
    r"\mathcal{P}_k}f_i(w)",
    "one-shot-averaging": r"w^{t+1}=\sum_{k=1}^K\frac{n_k}{n}w_k^{t+1}",
    "dane/perturbation": r"a_k^t=\nabla F_k(w^t)-\eta\nabla f(w^t)",
    "dane/property-a": r"\nabla f(w^t)=0",
    "dane/property-b": r"\mathcal{O}(1)",
    "dane/property-c": r"\mathcal{O}(1)",
    "dane/property-d": r"\mu=0, \quad \eta=1",
    "dane/diverges": r"\mu=0",
    "proposition-1": r"\eta=1, \quad \mu=0",
    "proposition-1/gradient": r"\left[\nabla f_i(w)-\nabla F_k(w^t)-f(w^t)\right]-\left[\nabla f_i(w^t)-"
    r"\nabla F_k(w^t)-"
    r"f(w^t)\right]+\nabla f(w^t)",
    "fsvrg/expectation": r"\mathbb{E}\left[\sum_{k=1}^K\alpha_kG_k\right]=\frac{1}{n}\sum_{k=1}^K\sum_{i\in"
    r"\mathcal{P}_k}"
    r"\left[\nabla f_i(w)-\nabla f_i(w^t)+\nabla f(w^t)\right]=\nabla f(w)",
    "fsvrg/single-node": r"\mathbb{E}[G_1]=\nabla f(w^t)",
    "perturbation-average": r"\frac{1}{K}\sum_{k=1}^Ka_k^t=(1-\eta)\nabla f(w^t)",
    "lemma-4": r"\sum_{k=1}^Kg_k^t=0",
    "eq-13": r"D(\alpha)=-\frac{1}{2\lambda n^2}\left\|X\alpha\right\|^2-\frac{1}{n}\sum_{i=1}^n\phi_i^*(-\alpha_i)",
    "eq-14": r"w^t=\frac{1}{\lambda n}X\alpha^t",
    "sigma": r"1\leq\sigma\leq K",
    "lower-bound-step": r"D(\alpha^t+h)\geq-\frac{1}{\lambda n^2}\left(\xi(\alpha^t)+\langle\nabla\xi(\alpha^t),h"
    r"\rangle+"
    r"\frac{\sigma}{2}\sum_{k=1}^K\|X_kh_k\|^2\right)-\frac{1}{n}\sum_{i=1}^n\phi_i^*(-\alpha_i^t-h_i)",
    "algorithm-6/linear": r"X^TX\preceq\sigma B",
    "algorithm-6/linear/literal": r"\sigma\in[1,K]",
    "algorithm-5/any-partition": r"X^TX\preceq\sigma B",
    "algorithm-5/any-partition/literal": r"\sigma\in[1,K]",
    "theorem-5": r"w^t=\frac{1}{\lambda n}X\alpha^t",
    "eq-17": r"D(\alpha)=\frac{1}{2\lambda n^2}\|X\alpha\|^2+\frac{1}{2n}\|\alpha\|^2-\frac{1}{n}y^T\alpha",
    "eq-23": r"L_k(w)=\frac{\sigma^2}{K^3}\left(F_k(w)-\left(\nabla F_k(w^t)-(\eta\nabla F_k(w^t)+g_k^t)\right)^Tw+"
    r"\frac{\mu}{2}\|w-w^t\|^2\right)+\beta_2",
    "cocoa-rounds": r"\mathcal{I}(\epsilon,\Theta)=\frac{\mathcal{O}(\log(1/\epsilon))}{1-\Theta}",
    "figure-2": "",
}
IMPLIED: tuple[str, ...] = ()
#: Section 3.1 calls four properties desirable. That FSVRG has them no sentence says.
OBSERVED = tuple(f"fsvrg/property-{letter}" for letter in "abcd")
