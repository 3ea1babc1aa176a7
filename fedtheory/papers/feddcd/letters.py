"""FedDCD: what its letters mean, in words."""

from __future__ import annotations

from collections.abc import Mapping

_ALL = {
    "y_i": "the dual variable of client i; those of all clients add up to 0",
    "w_i": "the model of client i",
    "w*": "the minimiser of sum_i f_i",
    "y*": "the minimiser of G where the y_i add up to 0, y_i* = grad f_i(w*)",
    "G": "the dual objective, G(y) = sum_i f_i^*(y_i)",
    "f_i^*": "the conjugate of f_i, f_i^*(y) = max_w (<w, y> - f_i(w))",
    "h": "h(x) = sum_i h_i(x_i)",
    "h*": "the least value of h where the x_i add up to 0",
    "P_I": "the projection onto C_I in the norm of L; C_I are the x that are 0 outside I and add up to 0",
    "G_I": "P_I L^{-1}, for the set I of clients that take part; G alone is G_{[n]}, that of all",
    "|x|_L": "|x|_L^2 = sum_i L_i |x_i|^2",
    "~grad": "the estimate of the gradient that the oracles give",
    "N": "the number of clients",
    "tau": "the number of clients that take part in a round, tau of N",
    "alpha": "every f_i is alpha-strongly convex",
    "beta": "every f_i is beta-smooth",
    "zeta": "|grad f_i(w*)| <= zeta for every i, Assumption 3.3",
    "sigma": "sigma^2 bounds the variance of a stochastic gradient",
    "eta": "the learning rate",
    "kappa": "(tau - 1) alpha/(32 (N - 1) beta)",
    "delta": "the squared error of a delta-inexact oracle is at most delta times that of its guess, Definition 5.1",
    "Lambda": "the diagonal scaling of the models, eq. (2)",
    "epsilon": "the accuracy",
    "K": "the number of local steps in a round",
    "n_i": "the number of examples of client i",
    "T": "the number of rounds",
    "t": "the round",
}
_BLOCKS = {
    "n": "the number of blocks, which are the clients",
    "tau": "the number of blocks in the set I of a step, tau of n",
    "r": "(tau - 1)/(n - 1)",
    "L_i": "h_i is L_i-smooth",
    "L_min": "the least of the L_i",
    "L_max": "the largest of the L_i",
    "mu": "h is mu-strongly convex",
    "mu_i": "h_i is mu_i-strongly convex",
    "mu_min": "the least of the mu_i",
}
_INEXACT = _BLOCKS | {
    "kappa": "(r mu/(8 L_max)) min{1/4, L_min^(3/2)/(4 r^(1/2) L_max^(3/2))}",
    "delta": "(1 - kappa)/2; the squared error of an oracle is at most delta/2 times that of its guess",
    "eta": "the step length, printed as min{1/4, L_min^(3/2)/(4 r^(1/2) L_max^(3/2))}",
}
#: The displays of Appendix C, of which some are about any step length.
_STEP = _INEXACT | {
    "eta": "the step length",
    "delta": "(1 - kappa)/2",
    "A_t": "M sum_{j<t} ((1 - kappa)/2)^{t-1-j} |grad h(x^j) - grad h(x^{j+1})|^2, A_0 = 0",
    "M": "the coefficient of the sums in eq. (31)",
    "alpha": "the coefficient of |grad h(x^t) - grad h(x^{t+1})|^2 in eq. (31), and 1/L_i along FedDCD",
}
_ACCELERATED = _BLOCKS | {
    "a": "s/(1/r + s), s = sqrt(mu/L_max), the weight of z in a step of Algorithm 4",
    "b": "mu a r^2/L_max, the other weight of Algorithm 4",
    "s": "sqrt(mu/L_max)",
}
_LOWER = {
    "kappa": "beta/alpha",
    "s": "sqrt(beta/(N alpha))",
    "t": "the number of rounds",
    "m": "the number of different functions",
    "K_t": "the number of coordinates that the server has reached after t rounds",
    "delta": "((s - 1)/(s + 1))^2",
    "M^{(k)}": "the matrix of the k-th function of Appendix F, eq. (41)",
    "B_i": "the clients that have the i-th function",
}
_TABLE = {
    "n": "the number of clients, N elsewhere in the paper",
    "V_0": "what is bounded at the start, such as f - f* and squared distances at w_0",
}

#: The meanings of the letters, by the beginning of the ids of claims.
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "": _ALL,
    "clientwise-constants": _BLOCKS,
    "table-1": _TABLE,
    "table-1/independent-of-n": _TABLE | {"ell": "log(1/epsilon)"},
    "table-1/feddcd": {"ell_alpha": "log(zeta/alpha^2)"},
    "table-1/accfeddcd": {"ell_alpha": "log(zeta/alpha^2)"},
    "versus-mb-sgd-and-fedavg": _TABLE | {"idle": "N - tau"},
    "theorem-4.1/proof-constants": _BLOCKS | {"tau": _ALL["tau"]},
    "theorem-7.1": _LOWER,
    "gap": _LOWER,
    "appendix-F": _LOWER,
    "lemma-B": _BLOCKS,
    "lemma-B.4": _BLOCKS | {"lambda_1": "the largest eigenvalue", "lambda_n": "the least eigenvalue"},
    "theorem-C.1": _INEXACT,
    "theorem-C.1/parameters": _INEXACT | {"M": _STEP["M"], "alpha": _STEP["alpha"]},
    "lemma-C.2": {"delta": "every oracle is delta/2-inexact"},
    "eq-28": _STEP,
    "eq-29": _STEP,
    "eq-30": _STEP,
    "eq-31": _STEP,
    "eq-36": _STEP,
    "eq-37": _ACCELERATED,
    "appendix-C": _STEP,
    "theorem-6.1": _ACCELERATED | {"tau": _ALL["tau"], "s": "sqrt(alpha/beta)"},
    "theorem-D.1": _ACCELERATED,
    "lemma-D": _ACCELERATED,
    "non-smooth": _BLOCKS | {"a": "the weight of z in a step of Algorithm 4"},
    "appendix-E/chain": {"delta": "the inexactness of the oracles in Lemma E.1"},
    "lemma-E.1": {"delta": "every oracle is delta/2-inexact"},
    "oracle/newton/repaired": {
        "K": "the number of Newton steps",
        "eta": "the length of a residual over that of the gradient",
    },
}
