"""The line of each algorithm that renews each letter of its state, in the papers' letters."""

from __future__ import annotations

from collections.abc import Mapping

LINES: Mapping[str, Mapping[str, str]] = {
    "scaffold": {
        "x": "x <- x + (eta_g/tau) sum over participants of (y_i - x), y_i <- y_i - eta_l (grad f_i(y_i) - c_i + c)",
        "c": "c <- c + (1/n) sum over participants of (c_i+ - c_i), n all clients",
        "c_i": "c_i+ <- c_i - c + (x - y_i)/(K eta_l) for participants (option I: grad f_i(x)), K local steps",
    },
    "fedavg": {
        "x": "x <- x + eta_g (mean over participants of (y_i - x)), y_i after K steps y_i <- y_i - eta_l grad f_i(y_i) "
        "that start from x",
    },
    "fedprox": {
        "x": "x <- mean over participants of y_i, y_i <- y_i - eta_l (grad f_i(y_i) + mu (y_i - x)) from y_i = x",
    },
    "minibatch-sgd": {"x": "x <- x - (eta/tau) sum over participants of grad f_i(x)"},
    "gradient-descent": {"x": "x <- x - gamma grad f(x)"},
    "diana": {
        "x": "x <- x - gamma (h_bar + (1/n) sum m_i), m_i = C_i(grad f_i(x) - h_i)",
        "h": "h_i <- h_i + alpha m_i",
        "h_bar": "h_bar <- h_bar + alpha (1/n) sum m_i",
    },
    "ef21": {
        "x": "x <- x - gamma g_bar",
        "g": "g_i <- g_i + C_i(grad f_i(x+) - g_i), at the new x",
        "g_bar": "g_bar <- g_bar + (1/n) sum C_i(grad f_i(x+) - g_i)",
    },
    "adiana": {
        "y": "y <- x - eta g, x = theta_1 z + theta_2 w + (1 - theta_1 - theta_2) y",
        "z": "z <- beta z + (1 - beta) x + (gamma/eta)(y+ - x)",
        "w": "w <- y (the old one) with probability p",
        "h": "h_i <- h_i + alpha C_i(grad f_i(w) - h_i)",
        "h_bar": "h_bar <- h_bar + alpha (1/n) sum C_i(grad f_i(w) - h_i)",
    },
    "scaffnew": {
        "x": "x_i <- (1/n) sum_j (x^_j - (gamma/p) h_j) with probability p, else x^_i = x_i - gamma (grad f_i - h_i)",
        "h": "h_i <- h_i + (p/gamma)(x_i+ - x^_i)",
    },
    "gradskip": {
        "x": "x_i <- (1/n) sum_j (x^_j - (gamma/p) h^_j) with probability p, else x^_i = x_i - gamma (grad f_i - h^_i)",
        "h": "h_i <- h^_i + (p/gamma)(x_i+ - x^_i), h^_i = h_i where eta_i is 1, else grad f_i(x_i)",
    },
    "compressed-scaffnew": {
        "x": "x_i <- xbar = (1/s) sum_j q_j . x^_j with probability p, else x^_i = x_i - gamma (grad f_i - h_i)",
        "h": "h_i <- h_i + (p eta/gamma) q_i . (xbar - x^_i), where there is a communication",
    },
    "locodl": {
        "x": "x_i <- (1 - rho) x^_i + rho (y^ + d_bar), x^_i = x_i - gamma grad f_i(x_i) + gamma u_i",
        "y": "y <- y^ + rho d_bar, y^ = y - gamma grad g(y) + gamma v, d_bar = (1/2n) sum d_i",
        "u": "u_i <- u_i + (p chi/(gamma (1 + 2 omega))) (d_bar - d_i), d_i = C_i(x^_i - y^)",
        "v": "v <- v + (p chi/(gamma (1 + 2 omega))) d_bar",
    },
    "feddcd": {
        "y": "y <- y - eta proj_{C_I}(Lambda^-1 w), w_i = grad f_i^*(y_i)",
        "w": "w_i <- grad f_i^*(y_i) for participants",
    },
    "inexact-feddcd": {
        "y": "y <- y - eta proj_{C_I}(Lambda^-1 w)",
        "w": "w_i <- the oracle's answer at y_i, started from w_i, for participants",
    },
    "fedcomgate": {
        "w": "w <- w - eta gamma (mean of Delta_j), Delta_j = Q_j((w - w_j)/eta), w_j after K steps from w",
        "delta": "delta_j <- delta_j + (Delta_j - mean of Delta)/K",
    },
    "5gcs-cc": {
        "x": "x <- x^ - gamma (1 + omega')(sum of (u_m+ - u_m)), x^ = (x - gamma sum u_m)/(1 + gamma mu)",
        "u": "u_m <- u_m + Q(ubar_m - u_m)/(1 + omega) for sampled m",
    },
}


def line(name: str, letter: str) -> str:
    """The line that renews a letter; the letter itself where none is known."""
    return LINES.get(name, {}).get(letter, letter)
