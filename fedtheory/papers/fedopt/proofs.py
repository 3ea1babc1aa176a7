"""Federated Optimization: on what its printed arguments rest, and where they go wrong. Read from Sections 1 to 3 and
Appendix A."""

from __future__ import annotations

from fedtheory.claims import Proof

#: Why FSVRG, with one example of one feature on a node, needs as many rounds as gradient descent.
_GRADIENT_DESCENT = (
    "With one example a node the stochastic gradient is the gradient itself, the scalings are constant, and a round of "
    "FSVRG is a step of gradient descent, whose number of rounds grows with the condition number."
)

#: By the ids after the paper's name, in the paper's order.
PROOFS = {
    "logistic-loss": Proof(
        flaw="The sign is wrong: log(1 + exp(.)) is convex, so that what is printed, with a minus before it, is "
        "concave."
    ),
    "svrg/complexity": Proof(("svrg/eq-5",)),
    "dane/property-b": Proof(
        ("dane/perturbation",),
        "No proof is printed. With K = 1, mu = 0 and eta = 1 the perturbation grad F_1 - grad f is zero, the "
        "subproblem (10) is the problem itself, and its exact solution is the optimum: one round. Among nodes that "
        "hold nothing DANE does lack the property.",
    ),
    "dane/property-a": Proof(("dane/perturbation",)),
    "dane/property-d": Proof(("dane/perturbation",)),
    "dane/perturbation-limit": Proof(("dane/perturbation",)),
    "dane/larger-mu/literal": Proof(
        flaw="No proof is printed. A larger mu shortens every move of DANE. That is slower where the move was too "
        "short, and faster where it went beyond the optimum."
    ),
    "proposition-1": Proof(("proposition-1/gradient",)),
    "remark-3": Proof(("proposition-1",)),
    "proposition-1/gradient": Proof(
        flaw="The gradient of a summand of (10) is grad f_i(w) - (grad F_k(w^t) - grad f(w^t)). The printed "
        "brackets have the number f(w^t) for the gradient, and a minus before it; both cancel in the "
        "difference of the brackets."
    ),
    "fsvrg/single-node": Proof(
        flaw="The mean of grad f_i(w) - grad f_i(w^t) + grad f(w^t) over all examples is grad f(w): the two terms "
        "at w^t cancel, not the first two. The display that follows for sum alpha_k G_k has it right."
    ),
    "fsvrg/property-b": Proof(flaw=f"The paper does not say it: 3.1 asks for it. {_GRADIENT_DESCENT}"),
    "fsvrg/property-c": Proof(
        flaw="Exact solutions of separable problems can be added up, but Algorithm 4 makes gradient steps on them. "
        f"{_GRADIENT_DESCENT}"
    ),
    "fsvrg/property-d": Proof(flaw=f"The paper does not say it: 3.1 asks for it. {_GRADIENT_DESCENT}"),
    "perturbation-average": Proof(("lemma-4",)),
    "lower-bound-step": Proof(("sigma",)),
    "algorithm-6/linear": Proof(("lower-bound-step",)),
    "algorithm-6/linear/literal": Proof(
        ("lower-bound-step",),
        "The lower bound on which the method rests needs a sigma so large that X'X <= sigma B. That it lies in [1, K] "
        "is shown of the least such number; the listing takes every number in [1, K].",
    ),
    "algorithm-5/any-partition": Proof(("theorem-5", "algorithm-6/linear")),
    "algorithm-5/any-partition/literal": Proof(("theorem-5", "algorithm-6/linear/literal")),
    "theorem-5": Proof(("eq-14", "eq-17", "eq-21-and-22", "eq-23", "algorithm-5/g-closed-form")),
    "eq-23": Proof(("eq-18", "eq-21-and-22")),
    "eq-21-and-22": Proof(("eq-17",)),
    "dual/strongly-concave": Proof(("eq-13",)),
}
