"""LoCoDL: what its letters mean, in words."""

from __future__ import annotations

from collections.abc import Mapping

_ALL = {
    "x_i": "the model of client i; x, in bold where it is printed, is (x_1, ..., x_n, y)",
    "y": "the common model, at which g is evaluated",
    "x_hat_i": "x_i - gamma (grad f_i(x_i) - u_i), the local step",
    "y_hat": "y - gamma (grad g(y) - v)",
    "u_i": "the control variate of client i, which is grad f_i(x*) at the optimum",
    "v": "the control variate of g, grad g(x*) at the optimum; the mean of the u_i is -v",
    "d_i": "C_i(x_hat_i - y_hat), the message of client i",
    "d_bar": "(1/(2n)) sum_i d_i",
    "W": "W x is x less S x, whose n + 1 parts are all the mean (1/(2n)) (sum_i x_i + n y), eq. (14)",
    "theta": "theta^t is 1 if iteration t communicates, and else 0",
    "lambda": "p chi/(gamma (1 + 2 omega)), the dual stepsize",
    "gamma": "the stepsize",
    "rho": "the stepsize of a communication, x_i <- (1 - rho) x_hat_i + rho (y_hat + d_bar)",
    "chi": "the parameter of the dual stepsize p chi/(gamma (1 + 2 omega))",
    "p": "the probability that an iteration communicates",
    "omega": "the C_i are unbiased, with E|C_i(x) - x|^2 <= omega |x|^2",
    "omega_av": "E|(1/n) sum_i (C_i(x_i) - x_i)|^2 <= (omega_av/n) sum_i |x_i|^2, eq. (3)",
    "mu": "the f_i and g are mu-strongly convex",
    "L": "the f_i and g are L-smooth",
    "kappa": "L/mu",
    "n": "the number of clients",
    "d": "the dimension",
    "k": "the number of coordinates that rand-k keeps",
    "c": "the stepsize times L",
    "epsilon": "the accuracy",
    "tau": "the factor of eq. (5), max((1 - gamma mu)^2, (1 - gamma L)^2, 1 - p^2 chi/(1 + 2 omega))",
    "t": "the iteration",
    "T": "the number of iterations",
    "F^t": "all that was drawn before iteration t",
}

#: The meanings of the letters, by the beginning of the ids of claims.
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "": _ALL,
    "eq-6": {"rho'": "any other rho > 0"},
    "optimality": {"x": "the point at which all x_i = y", "y": "the common model, which is x", "w": "any point"},
    "proof/step-5": {"y": "the common model, any point x"},
}
