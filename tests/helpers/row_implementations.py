"""Methods that solve local problems, or take one function or example at a time: right, and with one slip each."""

from __future__ import annotations

import numpy as np

from verify import conformance


def gradient(problem, i, x):
    return conformance.client(problem, i).gradient(x)


def arrays(state, *letters):
    return [np.array(state[letter], dtype=float) for letter in letters]


def fedadmm(problem, params, state, draw, slip=None):
    w, W, Pi, Z, eps = arrays(state, "w", "W", "Pi", "Z", "eps")
    alpha, sigma, r = params.alpha, params.sigma, params.solver.r
    chosen = [i for i in range(problem.n) if draw.clients[0][i] or slip == "everyone"]
    if slip == "participants":
        w = Z[chosen].sum(axis=0) / sigma[chosen].sum()
    else:
        w = (sigma @ W if slip == "models" else Z.sum(axis=0)) / (problem.n if slip == "mean" else sigma.sum())
    for _ in range(params.k0):
        for i in chosen:
            old, y = W[i].copy(), W[i].copy() if slip == "warm" else w.copy()
            for _ in range(params.solver.steps):
                slope = alpha[i] * gradient(problem, i, y) + Pi[i] + sigma[i] * (y - w)
                y = y - slope / (alpha[i] * r[i] + sigma[i])
            before, W[i] = Pi[i].copy(), y
            factor = {"sign": -sigma[i], "no sigma": 1, "never": 0}.get(slip, sigma[i])
            Pi[i] += factor * ((old if slip == "old model" else W[i]) - w)
            Z[i] = sigma[i] * W[i] + (before if slip == "old multiplier" else Pi[i])
            eps[i] *= params.nu[i]
    return {"w": w, "W": W, "Pi": Pi, "Z": Z, "eps": eps}


def fedadmm_loop(problem, params, rounds, rng, slip=None):
    zeros = np.zeros((problem.n, problem.d))
    Pi = np.array([-a * gradient(problem, i, zeros[0]) for i, a in enumerate(params.alpha)])
    state, found = {"w": zeros[0], "W": zeros, "Pi": Pi, "Z": Pi, "eps": np.array(params.eps)}, []
    for _ in range(rounds):
        mask = np.zeros((1, problem.n), dtype=bool)
        mask[0, rng.choice(problem.n, params.selection.size, replace=slip == "with replacement")] = True
        state = fedadmm(problem, params, state, type("Draw", (), {"clients": mask}), slip)
        found.append(state["w"])
    return found


def exact_admm(problem, params, state, draw, slip=None):
    W, Pi = arrays(state, "W", "Pi")
    w = ((params.sigma @ W) + (0 if slip == "models" else Pi.sum(axis=0))) / params.sigma.sum()
    for i, (a, s) in enumerate(zip(params.alpha, params.sigma, strict=True)):
        H, c = a * problem.f.H[i], problem.f.c[i]
        W[i] = np.linalg.solve(H + s * np.eye(problem.d), H @ c - Pi[i] + s * w)
        Pi[i] += {"sign": -s, "no sigma": 1}.get(slip, s) * (W[i] - w)
    return {"w": w, "W": W, "Pi": Pi}


def fedavg_stale(problem, params, state, draw, slip=None):
    W = arrays(state, "W")[0]
    w = (W[draw[0]] if slip == "participants" else W).mean(axis=0)
    for i in np.flatnonzero(draw[0]):
        W[i] = w
        for _ in range(params.k0):
            W[i] = W[i] - params.gamma / (1 if slip == "no m" else problem.n) * gradient(problem, i, W[i])
    return {"w": w, "W": W}


def personal(together):
    def step(problem, params, state, draw, slip=None):
        w, V = arrays(state, "w", "V")
        models = []
        for i in range(problem.n) if slip == "everyone" else np.flatnonzero(draw):
            y, v = w.copy(), V[i].copy()

            def shared(y, v, i=i):
                return y - params.gamma_w * ((1 - params.alpha) * gradient(problem, i, y) + params.mu * (y - v))

            def own(y, v, i=i):
                pull = params.mu * (v - y) * (-1 if slip == "sign" else 1)
                return v - params.gamma_v * (params.alpha * gradient(problem, i, v) + pull)

            for _ in range(params.k0):
                y, v = (shared(y, v) if together else y), own(y, v)
            for _ in range(0 if together else params.k0):
                y = shared(y, V[i] if slip == "old model" else v)
            V[i] = v
            models.append((i, y))
        return {"w": np.mean([y for i, y in models if draw[i]], axis=0), "V": V}

    return step


def linear(problem):
    f = problem.f
    return f, list(zip(f.starts, f.starts + f.sizes, strict=True))


def example(f, i, w):
    return f.loss.slope(f.X[i] @ w, f.y[i]) * f.X[i] + f.lam * w


def full_gradient(f, w):
    return np.mean([example(f, i, w) for i in range(len(f.y))], axis=0)


def fsvrg_round(problem, params, w, orders, slip=None):
    f, _ = linear(problem)
    full, total = full_gradient(f, w), 0
    for k, order in enumerate(orders):
        y, n_k = w.copy(), len(order)
        if slip == "own gradient":
            full = np.mean([example(f, i, w) for i in sorted(order)], axis=0)
        for i in order:
            change = example(f, i, y) - (0 if slip == "no correction" else example(f, i, w))
            S = 1 if slip == "no S" else params.S[k]
            slope = S * (change + full) if slip == "S scales all" else S * change + (slip != "no correction") * full
            y = y - params.h / (1 if slip == "no n_k" else n_k) * slope
        total = total + (1 / problem.n if slip == "equal" else n_k / len(f.y)) * (y - w)
    return w + (1 if slip == "no A" else params.A) * total


def fsvrg(problem, params, state, draw, slip=None):
    _, bounds = linear(problem)
    return {"w": fsvrg_round(problem, params, np.array(state["w"]), [draw[a:b] for a, b in bounds], slip)}


def fsvrg_loop(problem, params, rounds, rng, slip=None):
    _, bounds = linear(problem)
    w, found = np.zeros(problem.d), []
    for _ in range(rounds):
        rng = np.random.default_rng(5) if slip == "seeded anew" else rng
        orders = [np.arange(a, b) if slip == "in order" else rng.permutation(np.arange(a, b)) for a, b in bounds]
        if slip == "with replacement":
            orders = [rng.integers(a, b, b - a) for a, b in bounds]
        w = fsvrg_round(problem, params, w, orders, slip)
        found.append(w)
    return found


def naive_fsvrg(problem, params, state, draw, slip=None):
    f, _ = linear(problem)
    w = np.array(state["w"])
    full, models = full_gradient(f, w), []
    for k in range(problem.n):
        y = w.copy()
        for i in draw[k]:
            y = y - params.h * (example(f, i, y) - example(f, i, w) + (0 if slip == "no full" else full))
        models.append(y)
    return {"w": np.average(models, axis=0, weights=f.sizes if slip == "weighted" else None)}


def dane(problem, params, state, draw, slip=None):
    f, bounds = linear(problem)
    w, models = np.array(state["w"]), []
    full = full_gradient(f, w)
    for a, b in bounds:
        X, y = f.X[a:b], f.y[a:b]
        H = X.T @ X / (b - a) + f.lam * np.eye(f.d)
        own = H @ w - X.T @ y / (b - a)
        shift = (0 if slip == "no own" else own) - params.eta * full
        shift = {"sign": -shift, "no perturbation": 0 * shift, "no eta": own - full}.get(slip, shift)
        mu = 0 if slip == "no mu" else params.mu
        models.append(np.linalg.solve(H + mu * np.eye(f.d), X.T @ y / (b - a) + shift + mu * w))
    return {"w": np.average(models, axis=0, weights=f.sizes if slip == "weighted" else None)}


def cocoa(problem, params, state, draw, slip=None):
    f, bounds = linear(problem)
    alpha, w = arrays(state, "alpha", "w")
    n, sigma = len(f.y), 1 if slip == "no sigma" else params.sigma
    gamma = 1 / problem.n if slip == "averaged" else params.gamma
    new = alpha.copy()
    moved = np.zeros(f.d)
    for a, b in bounds:
        image = np.zeros(f.d)
        for i in range(a, b) if slip == "in order" else draw[0][a:b]:
            x = f.X[i]
            seen = w if slip == "jacobi" else w + sigma / (f.lam * n) * image
            rise = (f.y[i] - x @ seen - alpha[i]) / (1 + sigma * (x @ x) / (f.lam * n))
            image = image + rise * x
            new[i] = alpha[i] + gamma * rise
        moved = moved + image
    return {"alpha": new, "w": w + gamma * moved / (f.lam * (1 if slip == "no n" else n))}


def sdca(problem, params, state, rng, slip=None):
    f, alpha = problem.f, arrays(state, "alpha")[0]
    n = problem.n if slip == "clients" else len(f.y)
    i = rng.integers(len(f.y) - (slip == "never the last" and len(f.y) > 2))
    w = f.X.T @ alpha / (f.lam * (1 if slip == "no n in w" else n))
    length = 0 if slip == "no curvature" else f.X[i] @ f.X[i] / (f.lam * (1 if slip == "no n" else n))
    alpha[i] += (f.y[i] - f.X[i] @ w - alpha[i]) / (1 + length)
    return {"alpha": alpha}


def one_function(problem, rng, slip):
    if slip == "seeded anew":
        rng = np.random.default_rng(3)
    return int(rng.integers(problem.n))


def svrg(problem, params, state, rng, slip=None):
    w, w_tilde = arrays(state, "w", "w_tilde")
    i = one_function(problem, rng, slip)
    fresh, stale = gradient(problem, i, w), gradient(problem, i, w_tilde)
    full = np.mean([gradient(problem, j, w_tilde) for j in range(problem.n)], axis=0)
    slopes = {"sign": fresh + stale - full, "no full": fresh - stale, "sgd": fresh}
    w = w - params.eta * slopes.get(slip, fresh - stale + full)
    return {"w": w, "w_tilde": w if slip == "same array" else w_tilde}


def saga(problem, params, state, rng, slip=None):
    x, phi = arrays(state, "x", "phi")
    j = one_function(problem, rng, slip)
    fresh, old = gradient(problem, j, x), gradient(problem, j, phi[j])
    if slip == "renewed first":
        phi[j] = x
    mean = np.mean([gradient(problem, i, phi[i]) for i in range(problem.n)], axis=0)
    slope = (fresh - old) / (problem.n if slip == "sag" else 1) * (-1 if slip == "sign" else 1) + mean
    new = x - params.gamma * slope
    phi[j] = {"new model": new, "never": state["phi"][j]}.get(slip, x)
    return {"x": new, "phi": phi}


def sag(problem, params, state, rng, slip=None):
    x, y = arrays(state, "x", "y")
    j = one_function(problem, rng, slip)
    old = y.mean(axis=0)
    fresh = gradient(problem, j, x)
    unbiased = old + fresh - y[j]
    y[j] = fresh
    slope = {"old table": old, "saga": unbiased, "sum": y.sum(axis=0)}.get(slip, y.mean(axis=0))
    return {"x": x - params.alpha * slope, "y": y}


_ANEW = "every step makes the same draw"
_ADMM = {
    "models": "leaves out the multipliers",
    "sign": "sign of the multipliers",
    "no sigma": "lacks its factor sigma_i",
}
_FSVRG = {
    "no S": "scaling S_k is left out",
    "S scales all": "scales the full gradient too",
    "no A": "lacks its scaling A",
    "equal": "1/K instead of n_k/n",
    "no n_k": "h instead of h/n_k",
    "own gradient": "client's own loss",
    "no correction": "no correction",
}
_FEDADMM = {
    **_ADMM,
    "participants": "messages of the participants",
    "mean": "number of clients instead of the sum",
    "everyone": "all clients update",
    "warm": "start from the client's own model",
    "old model": "with the old w_i",
    "never": "never updated",
    "old multiplier": "old multiplier",
}
#: As in ``implementations.FORMS``.
FORMS = {
    "fedadmm": ("fedadmm", "step", fedadmm, {"randomness": "draw"}, _FEDADMM),
    "fedadmm, loop": (
        "fedadmm",
        "run",
        fedadmm_loop,
        {},
        {"with replacement": "with replacement", "sign": _ADMM["sign"], "participants": _FEDADMM["participants"]},
    ),
    "exact-admm": ("exact-admm", "step", exact_admm, {}, _ADMM),
    "fedavg-stale": (
        "fedavg-stale",
        "step",
        fedavg_stale,
        {},
        {"participants": "averages the participants", "no m": "gamma instead of gamma/m"},
    ),
    "fedalt": (
        "fedalt",
        "step",
        personal(False),
        {},
        {"sign": "V departs", "everyone": "V departs", "old model": "w departs"},
    ),
    "fedsim": ("fedsim", "step", personal(True), {}, {"sign": "V departs", "everyone": "V departs"}),
    "fsvrg": ("fsvrg", "step", fsvrg, {"randomness": "draw"}, _FSVRG),
    "fsvrg, loop": (
        "fsvrg",
        "run",
        fsvrg_loop,
        {},
        {"with replacement": "with replacement", "in order": _ANEW, "seeded anew": _ANEW, "no A": _FSVRG["no A"]},
    ),
    "naive-fsvrg": (
        "naive-fsvrg",
        "step",
        naive_fsvrg,
        {},
        {"weighted": "n_k/n instead of 1/K", "no full": "w departs"},
    ),
    "dane": (
        "dane",
        "step",
        dane,
        {},
        {
            "sign": "sign of the perturbation",
            "no own": "lacks the client's own gradient",
            "no perturbation": "no perturbation",
            "no eta": "eta",
            "no mu": "mu",
            "weighted": "n_k/n instead of 1/K",
        },
    ),
    "cocoa-plus": (
        "cocoa-plus",
        "step",
        cocoa,
        {"randomness": "draw"},
        {
            "no sigma": "sigma' is left out",
            "averaged": "averaged instead of added",
            "jacobi": "do not see each other",
            "in order": "in the same order every time",
            "no n": "w lacks its division by n",
        },
    ),
    "sdca": (
        "sdca",
        "step",
        sdca,
        {"randomness": "rng"},
        {
            "clients": "number of clients",
            "never the last": "draws are not distributed",
            "no n in w": "w lacks its division by n",
            "no curvature": "is left out",
            "no n": "lacks its n",
        },
    ),
    "svrg": (
        "svrg",
        "step",
        svrg,
        {"randomness": "rng"},
        {
            "sign": "sign of the correction",
            "no full": "full gradient at the snapshot is left out",
            "sgd": "this is SGD",
            "same array": "the same array as the model",
            "seeded anew": _ANEW,
        },
    ),
    "saga": (
        "saga",
        "step",
        saga,
        {"randomness": "rng"},
        {
            "renewed first": "before its mean is taken",
            "sag": "SAG's direction",
            "sign": "sign of the difference",
            "new model": "at the new model",
            "never": "never renewed",
        },
    ),
    "sag": (
        "sag",
        "step",
        sag,
        {"randomness": "rng"},
        {"old table": "old table", "saga": "SAGA's direction", "sum": "sum of the table", "seeded anew": _ANEW},
    ),
}
