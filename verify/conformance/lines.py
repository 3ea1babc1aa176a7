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
    "sgd": {
        "w": "w <- w - h/(1 + decay t) grad f_i(w), i uniformly random",
        "t": "t <- t + 1",
    },
    "rcd": {"w": "w_j <- w_j - h_j (grad f(w))_j for one random coordinate j, f the mean of the f_i"},
    "svrg": {
        "w": "w <- w - eta (grad f_i(w) - grad f_i(w_tilde) + grad f(w_tilde)), i uniformly random",
        "w_tilde": "w_tilde stays as it is within an epoch",
    },
    "saga": {
        "x": "x <- x - gamma (grad f_j(x) - grad f_j(phi_j) + (1/n) sum_i grad f_i(phi_i)), with the old phi_j",
        "phi": "phi_j <- x (the old one) for the one j drawn",
    },
    "sag": {
        "x": "x <- x - alpha (1/n) sum_i y_i, with the new y_j",
        "y": "y_j <- grad f_j(x) for the one j drawn, at the old x",
    },
    "sdca": {
        "alpha": "alpha_i <- the maximiser of D in this coordinate, for one example i drawn of all n: squared loss "
        "alpha_i + (y_i - x_i'w - alpha_i)/(1 + |x_i|^2/(lambda n)), w = X alpha/(lambda n)",
    },
    "fedadmm": {
        "w": "w <- (sum of all z_i)/(sum of all sigma_i), once every k0 iterations",
        "W": "w_i <- w and then steps w_i - (alpha_i grad f_i(w_i) + pi_i + sigma_i (w_i - w))/(alpha_i r_i + sigma_i) "
        "for participants",
        "Pi": "pi_i <- pi_i + sigma_i (w_i - w) for participants, with the new w_i",
        "Z": "z_i <- sigma_i w_i + pi_i for participants, both new",
        "eps": "eps_i <- nu_i eps_i for participants, in every iteration",
    },
    "exact-admm": {
        "w": "w <- (sum of (sigma_i w_i + pi_i))/(sum of sigma_i)",
        "W": "w_i <- argmin alpha_i f_i(v) + <pi_i, v> + (sigma_i/2)|v - w|^2, at the new w",
        "Pi": "pi_i <- pi_i + sigma_i (w_i - w), both new",
    },
    "fedavg-stale": {
        "w": "w <- (1/m) sum of the last w_i of all m clients",
        "W": "w_i <- k0 steps v <- v - (gamma/m) grad f_i(v) from the new w, for participants",
    },
    "fedalt": {
        "w": "w <- mean over participants of k0 steps v <- v - gamma_w ((1 - alpha) grad f_i(v) + mu (v - v_i)) "
        "from w, with the new v_i",
        "V": "v_i <- k0 steps v_i <- v_i - gamma_v (alpha grad f_i(v_i) - mu (w - v_i)), for participants, before "
        "those on w",
    },
    "fedsim": {
        "w": "w <- mean over participants of k0 steps v <- v - gamma_w ((1 - alpha) grad f_i(v) + mu (v - v_i)) "
        "from w, together with those on v_i",
        "V": "v_i <- k0 steps v_i <- v_i - gamma_v (alpha grad f_i(v_i) - mu (v - v_i)), for participants, v "
        "their copy of w",
    },
    "one-shot-averaging": {"w": "w <- sum_k (n_k/n) argmin F_k"},
    "dane": {
        "w": "w <- (1/K) sum_k argmin F_k(v) - <grad F_k(w) - eta grad f(w), v> + (mu/2)|v - w|^2",
    },
    "dane-svrg": {
        "w": "w <- (1/K) sum_k w_k, w_k after m steps of SVRG from w on F_k(v) - <a_k, v> + (mu/2)|v - w|^2",
    },
    "naive-fsvrg": {
        "w": "w <- w + (1/K) sum_k (w_k - w), w_k <- w_k - h (grad f_i(w_k) - grad f_i(w) + grad f(w)), m times",
    },
    "fsvrg": {
        "w": "w <- w + A sum_k (n_k/n)(w_k - w), w_k <- w_k - h/n_k (S_k (grad f_i(w_k) - grad f_i(w)) + grad f(w)) "
        "for all examples i of client k in a random order",
    },
    "perturbed-primal": {
        "w": "w <- (1/K) sum_k w_k, w_k = argmin F_k(v) - <a_k, v> + (mu/2)|v - w|^2",
        "g": "g_k <- g_k + lambda eta (w_k - w+)",
    },
    "dual-block-ascent": {"alpha": "alpha <- alpha + u, u_k the minimiser of D_k, w = X alpha/(lambda n)"},
    "cocoa-plus": {
        "alpha": "alpha <- alpha + gamma u, u_k a local solution: ascent on each example once in a random order, "
        "delta = (y_i - x_i'(w + sigma'/(lambda n) X_k u_k) - alpha_i - u_i)/(1 + sigma' |x_i|^2/(lambda n))",
        "w": "w <- w + gamma/(lambda n) sum_k X_k u_k",
    },
    "5gcs-cc": {
        "x": "x <- x^ - gamma (1 + omega')(sum of (u_m+ - u_m)), x^ = (x - gamma sum u_m)/(1 + gamma mu)",
        "u": "u_m <- u_m + Q(ubar_m - u_m)/(1 + omega) for sampled m",
    },
}


def line(name: str, letter: str) -> str:
    """The line that renews a letter; the letter itself where none is known."""
    return LINES.get(name, {}).get(letter, letter)
