"""Federated Optimization: what its letters mean, in words."""

from __future__ import annotations

from collections.abc import Mapping

_ALL = {
    "w": "the model",
    "f": "the mean of the f_i, eq. (1)",
    "F_k": "the function of node k: the mean of its f_i, eq. (6), or K/n times their sum, eq. (12)",
    "w_k": "the model of node k",
    "a_k": "the perturbation of node k in scheme (9)",
    "g_k": "the vector that node k keeps in Algorithm 5",
    "G_k": "the direction of node k, grad f_i(w) - grad f_i(w^t) + grad f(w^t)",
    "X": "the matrix whose columns are the examples x_i",
    "X_k": "the examples of node k",
    "B": "Diag(X_k'X_k)",
    "D": "the dual objective, eq. (13)",
    "alpha": "the dual variables, one an example",
    "phi_i": "the loss of example i, as a function of x_i'w",
    "lambda": "the weight of the regulariser (lambda/2) |w|^2",
    "L": "every f_i is L-smooth",
    "h": "the stepsize",
    "m": "the number of steps of an epoch",
    "n": "the number of examples",
    "n_k": "the number of examples of node k",
    "P_k": "the examples of node k",
    "K": "the number of nodes",
    "mu": "the weight of (mu/2) |w - w^t|^2 in DANE's subproblem (10)",
    "eta": "the weight of grad f(w^t) in DANE's subproblem (10)",
    "sigma": "a number with X'X <= sigma B",
    "gamma": "every phi_i is 1/gamma-smooth",
    "Theta": "the accuracy of the local solutions",
    "epsilon": "the accuracy",
    "omega^j": "the number of nodes that hold feature j",
    "c": "the factor of eq. (5)",
    "t": "the round",
    "T": "the number of rounds",
    "S_k": "the diagonal scaling of node k, of the s_k^j",
    "s_k^j": "phi^j/phi_k^j",
    "phi^j": "the share of the examples that have feature j; phi_k^j, of those of node k",
}

#: A step of the dual variables, where other sections have a stepsize.
_DUAL_STEP = {"h": "a step of the dual variables, any vector", "h_k": "the part of h that node k holds"}

#: The meanings of the letters, by the beginning of the ids of claims.
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "": _ALL,
    "logistic-loss": {"x": "x_i'v, the example along the line", "q": "exp(-y x_i'(w + tv))"},
    "eq-4": {
        "T_A": "T_A(Theta) is the time of the local solver A",
        "I": "I(epsilon, Theta) is the number of rounds",
        "c": "the time of a communication",
        "tau": "T_A(Theta) is tau log(1/Theta)",
    },
    "eq-23": {"beta_2": "a number that does not depend on w"},
    "svrg": {"lambda": "f is lambda-strongly convex", "Theta": "Theta(.) is of the order of its argument"},
    "dane/rounds/contraction": {
        "lambda": "f is lambda-strongly convex",
        "rho2": "the square of rho, which bounds |hess F_k - hess f|",
    },
    "dane/property-c": {"R": "the number of rounds"},
    "dane/stationarity": {
        "m_G": "the subproblems (10) are m_G-strongly convex, without their factor n_k/n",
        "L_G": "the subproblems (10) are L_G-smooth, without their factor n_k/n",
    },
    "fsvrg/property": {"lambda": "the least curvature of f", "L": "the largest curvature of f"},
    "dual/strongly-concave": {"beta": "other dual variables; as a number, every phi_i is beta-smooth along x_i"},
    "algorithm-6/linear": {"beta": "max_k |X_k|^2/gamma", "s_max": "max_k |X_k|^2"},
    "cocoa": _DUAL_STEP | {"G_k": "the local objective of CoCoA+"},
    "cocoa-rounds": {
        "beta": "max_k |X_k|^2/gamma",
        "s_max": "max_k |X_k|^2",
        "g": "the share of the steps that is added",
    },
    "sigma": _DUAL_STEP,
    "sigma/sparsity": _DUAL_STEP | {"omega": "max_j omega^j, where omega^j nodes hold feature j"},
    "lower-bound-step": _DUAL_STEP,
    "eq-15-and-19": _DUAL_STEP,
    "eq-21-and-22": _DUAL_STEP | {"c_k": "y_k - X_k'w^t - alpha_k^t"},
}
