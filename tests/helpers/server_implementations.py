"""Methods of servers with optimisers of their own and of compressed gradients: loops, right and with one slip each."""

from __future__ import annotations

import numpy as np

from verify import conformance


def gradient(problem, i, x):
    return conformance.client(problem, i).gradient(x)


def trained(problem, params, i, x, steps=None):
    y = x.copy()
    for _ in range(params.epochs if steps is None else steps):
        y -= params.eta_l * gradient(problem, i, y)
    return y


def pseudo_gradient(problem, params, x, rng, slip):
    """The average change of the participants, from x to their models."""
    total, weight = np.zeros(problem.d), 0.0
    for i in rng.choice(problem.n, params.tau, replace=slip == "with replacement"):
        w = 1.0 if params.counts is None or slip == "equal" else params.counts[i]
        total, weight = total + w * (trained(problem, params, i, x) - x), weight + w
    return total / {"all clients": problem.n, "sum": 1.0}.get(slip, weight) * (-1 if slip == "sign" else 1)


def second_moment(kind, params, v, delta, slip):
    squares = delta**2
    if kind == "fedyogi":
        sign = np.sign(v - squares) * (-1 if slip == "yogi sign" else 1)
        return v - (1 - params.beta_2) * squares * sign
    if kind == "fedadagrad" and slip != "decays":
        return v + squares
    return params.beta_2 * v + (1 if slip == "no 1 - beta_2" else 1 - params.beta_2) * squares


def adaptive(kind):
    """FedAdam, FedYogi and FedAdagrad as a server's optimiser."""

    def run(problem, params, rounds, rng, slip=None):
        first = params.adaptivity**2 if params.v_0 is None else params.v_0
        first = {"from zero": 0.0, "from adaptivity": params.adaptivity}.get(slip, first)
        x, m, v, found = np.zeros(problem.d), np.zeros(problem.d), np.full(problem.d, first), []
        for t in range(1, rounds + 1):
            if slip == "anew":
                m, v = np.zeros(problem.d), np.full(problem.d, first)
            delta = pseudo_gradient(problem, params, x, rng, slip)
            old = m
            m = params.beta_1 * m + (1 if slip == "no 1 - beta_1" else 1 - params.beta_1) * delta
            v = second_moment(kind, params, v, m if slip == "v of m" else delta, slip)
            along, root, eta = old if slip == "old m" else m, np.sqrt(v), params.eta
            s = {"one late": t + 1, "anew": 1}.get(slip, t)
            correction = {"corrected": "moments", "uncorrected": "none"}.get(slip, params.correction)
            if correction == "moments":
                along, root = along / (1 - params.beta_1**s), root / np.sqrt(1 - params.beta_2**s)
            elif correction == "stepsize":
                eta = eta * np.sqrt(1 - params.beta_2**s) / (1 - params.beta_1**s)
            step = eta * along / (root + params.adaptivity)
            if slip == "inside":
                step = eta * along / np.sqrt(v + params.adaptivity)
            if slip == "squared inside":
                step = eta * along / np.sqrt(v + params.adaptivity**2)
            if slip == "squared":
                step = eta * along / (root + params.adaptivity**2)
            if slip == "no root":
                step = eta * along / (v + params.adaptivity)
            x = x + step
            found.append(x)
        return found

    return run


def fedavgm(problem, params, rounds, rng, slip=None):
    x, m, found = np.zeros(problem.d), np.zeros(problem.d), []
    for _ in range(rounds):
        delta, old = pseudo_gradient(problem, params, x, rng, slip), m
        m = (0 if slip == "anew" else params.beta) * m + (1 - params.beta if slip == "dampened" else 1) * delta
        along = {"nesterov": delta + params.beta * m, "old m": old}.get(slip, m)
        x = x + (1 if slip == "no eta" else params.eta) * along
        found.append(x)
    return found


def fedexp(problem, params, rounds, rng, slip=None):
    x, found = np.zeros(problem.d), []
    for _ in range(rounds):
        chosen = rng.choice(problem.n, params.tau, replace=False)
        changes = [trained(problem, params, i, x) - x for i in chosen]
        mean = sum(changes) / params.tau
        norms = sum(change @ change for change in changes) / {"sum": 1, "of all": problem.n}.get(slip, params.tau)
        eta_g = norms / ((1 if slip == "no half" else 2) * (mean @ mean + (0 if slip == "no eps" else params.eps)))
        x = x + (eta_g if slip == "below 1" else max(1.0, eta_g)) * mean
        found.append(x)
    return found


def fednova(problem, params, rounds, rng, slip=None):
    x, found = np.zeros(problem.d), []
    counts = np.ones(problem.n) if params.counts is None or slip == "equal" else params.counts
    for _ in range(rounds):
        chosen = rng.choice(problem.n, params.tau, replace=slip == "with replacement")
        p, d, a = [], [], []
        for i in chosen:
            y, buffer, weight, total = x.copy(), np.zeros(problem.d), 0.0, 0.0
            for _ in range(params.steps[i]):
                buffer = params.momentum * buffer + gradient(problem, i, y)
                y -= params.eta_l * buffer
                weight = params.momentum * weight + 1
                total += weight
            total = params.steps[i] if slip == "no momentum" else total
            divisor = {"not normalised": 1.0, "one more": total + 1}.get(slip, total)
            p.append(counts[i])
            a.append(total)
            d.append((x - y) / (params.eta_l * divisor))
        p, a = np.array(p) / sum(p), np.array(a)
        effective = {"no a": 1.0, "not normalised": 1.0, "largest": max(a), "sum": sum(a), "unweighted": a.mean()}
        if slip == "of all":
            effective["of all"] = np.mean(params.steps)
        x = x - params.eta_g * params.eta_l * effective.get(slip, p @ a) * (p @ np.array(d))
        found.append(x)
    return found


def feddyn_step(problem, params, state, chosen, slip):
    x, h, g = (np.array(state[letter]) for letter in ("x", "h", "g"))
    alpha, models, moved, own = params.alpha, [], np.zeros(problem.d), g.copy()
    for i in range(problem.n) if slip in ("idle h", "idle g") else chosen:
        y = x.copy()
        for _ in range(params.epochs):
            linear = {"no linear": 0, "linear sign": -own[i]}.get(slip, own[i])
            anchor = 0 if slip == "to zero" else x
            y -= params.eta_l * (gradient(problem, i, y) - linear + (0 if slip == "no pull" else alpha) * (y - anchor))
        if i in chosen or slip == "idle g":
            g[i] = own[i] - {"no alpha": 1, "g sign": -alpha}.get(slip, alpha) * (y - x)
        if i in chosen or slip == "idle h":
            moved = moved + (y - x)
        if i in chosen:
            models.append(y)
    shared = {"participants": len(chosen), "h sum": 1}.get(slip, problem.n)
    new = h - {"h sign": -alpha, "h no alpha": 1}.get(slip, alpha) * moved / shared
    subtracted = {"old h": h, "no h": 0 * h, "plus h": -new, "h undivided": alpha * new}.get(slip, new)
    return {"x": np.mean(models, axis=0) - subtracted / alpha, "h": new, "g": g}


def feddyn(problem, params, rounds, rng, slip=None):
    zeros = np.zeros(problem.d)
    state, found = {"x": zeros, "h": zeros, "g": np.zeros((problem.n, problem.d))}, []
    for _ in range(rounds):
        state = feddyn_step(problem, params, state, list(rng.choice(problem.n, params.tau, replace=False)), slip)
        found.append(state["x"])
    return found


def feddyn_drawn(problem, params, state, draw, slip=None):
    return feddyn_step(problem, params, state, list(np.flatnonzero(draw.clients)), slip)


def fedbuff(problem, params, rounds, rng, slip=None):
    models, found = [np.zeros(problem.d)], []
    for _ in range(rounds):
        changes, weights = [], []
        for i in rng.choice(problem.n, params.buffer, replace=False):
            late = int(rng.integers(params.delay + 1))
            since = 0 if slip == "never late" else late
            begun = models[max(len(models) - 1 - since, 0)]
            y = trained(problem, params, i, begun)
            changes.append(y - (models[-1] if slip == "from present" else begun))
            w = {"no weights": 1.0, "inverse": 1 / (1 + late), "grows": np.sqrt(1 + late)}
            weights.append(w.get(slip, 1 / np.sqrt(1 + late)))
        total = {"normalised": sum(weights), "all clients": problem.n, "sum": 1.0}.get(slip, params.buffer)
        change = sum(w * c for w, c in zip(weights, changes, strict=True)) / total
        models.append(models[-1] + params.eta_g * (-change if slip == "sign" else change))
        found.append(models[-1])
    return found


class AdamW:
    def __init__(self, params, d):
        self.params, self.m, self.v, self.t = params, np.zeros(d), np.zeros(d), 0

    def step(self, y, slope, slip):
        p, self.t = self.params, self.t + 1
        if slip == "coupled":
            slope = slope + p.decay * y
        elif slip != "no decay":
            y = y - p.eta_l * p.decay * y
        if not p.adam:
            return y - p.eta_l * slope
        self.m = p.beta_1 * self.m + (1 - p.beta_1) * slope
        self.v = p.beta_2 * self.v + (1 - p.beta_2) * slope**2
        m, v = self.m / (1 - p.beta_1**self.t), self.v / (1 - p.beta_2**self.t)
        return y - p.eta_l * m / (np.sqrt(v) + p.eps)


def diloco(problem, params, rounds, rng, slip=None):
    x, b, found = np.zeros(problem.d), np.zeros(problem.d), []
    inner = [AdamW(params, problem.d) for _ in range(problem.n)]
    for _ in range(rounds):
        models = []
        for i in range(problem.n):
            if slip == "inner anew":
                inner[i] = AdamW(params, problem.d)
            if slip == "count anew":
                inner[i].t = 0
            y = x.copy()
            for _ in range(params.epochs):
                y = inner[i].step(y, gradient(problem, i, y), slip)
            models.append(y)
        if slip == "shared moments":
            for name in ("m", "v"):
                mean = np.mean([getattr(one, name) for one in inner], axis=0)
                for one in inner:
                    setattr(one, name, mean)
        delta = (x - np.mean(models, axis=0)) * {"sign": -1, "sum": problem.n}.get(slip, 1)
        b = params.momentum * b + (1 - params.momentum if slip == "dampened" else 1) * delta
        along = delta + params.momentum * b
        along = {"heavy ball": b, "no momentum": delta}.get(slip, along)
        x = x - (1 if slip == "averaged" else params.eta) * (delta if slip == "averaged" else along)
        found.append(x)
    return found


def ef14(problem, params, state, draw, slip=None):
    x, e = np.array(state["x"]), np.array(state["e"])
    g = np.array([gradient(problem, i, x) for i in range(problem.n)])
    due = params.gamma * g + {"no feedback": 0, "minus": -e}.get(slip, e)
    due = g + e if slip == "stepsize outside" else due
    sent = params.compressor.apply(draw, due)
    left = {"not emptied": due, "what was sent": sent, "sign": sent - due, "forgets": due - e - sent, "never": e}
    share = sent.sum(axis=0) / (1 if slip == "sum" else problem.n)
    x = x - (params.gamma if slip == "stepsize outside" else 1) * share
    return {"x": x, "e": left.get(slip, due - sent)}


def dgc(problem, params, rounds, rng, slip=None):
    x, found = np.zeros(problem.d), []
    u, v = np.zeros((problem.n, problem.d)), np.zeros((problem.n, problem.d))
    for _ in range(rounds):
        total = np.zeros(problem.d)
        for i in range(problem.n):
            g = gradient(problem, i, x)
            u[i] = params.momentum * u[i] + g
            v[i] += {"no correction": g, "nesterov": g + params.momentum * u[i]}.get(slip, u[i])
            top = np.argsort(-abs(u[i] if slip == "of u" else v[i]), kind="stable")[: params.k]
            if slip == "not by size":
                top = np.argsort(-v[i], kind="stable")[: params.k]
            total[top] += v[i][top]
            emptied = slice(None) if slip in ("v whole", "all whole") else top
            if slip not in ("v kept", "none masked"):
                v[i][emptied] = 0
            if slip not in ("u kept", "none masked"):
                u[i][slice(None) if slip == "all whole" else top] = 0
        x = x - params.eta * total / (1 if slip == "sum" else problem.n)
        found.append(x)
    return found


def powersgd(problem, params, rounds, rng, slip=None):
    x, m, Q, found = np.zeros(problem.d), np.zeros(problem.d), params.Q, []
    e = np.zeros((problem.n, problem.d))
    for _ in range(rounds):
        Q = params.Q if slip == "no warm start" else Q
        due = np.array([gradient(problem, i, x) for i in range(problem.n)]) + (0 if slip == "no feedback" else e)
        M = due.reshape(problem.n, params.rows, -1)
        P, R = np.linalg.qr(M.mean(axis=0) @ Q)
        P = P * np.where(np.diag(R) < 0, -1, 1)
        if slip == "not orthonormal":
            P = M.mean(axis=0) @ Q
        Q = M.mean(axis=0).T @ P
        delta = (P @ Q.T).ravel() * (problem.n if slip == "sum" else 1)
        e = {"not emptied": due, "what was sent": delta + 0 * due, "forgets": due - e - delta}.get(slip, due - delta)
        old, m = m, params.momentum * m + (1 - params.momentum if slip == "dampened" else 1) * delta
        along = {"m alone": m, "no momentum": delta, "old m": delta + old}.get(slip, delta + m)
        x = x - params.gamma * along
        found.append(x)
    return found


def signsgd(problem, params, rounds, rng, slip=None):
    x, m, found = np.zeros(problem.d), np.zeros((problem.n, problem.d)), []
    for _ in range(rounds):
        for i in range(problem.n):
            g = gradient(problem, i, x)
            m[i] = params.beta * m[i] + (1 - params.beta) * (np.sign(g) if slip == "of signs" else g)
        votes = np.sign(m).sum(axis=0)
        step = {
            "ties up": np.where(votes >= 0, 1.0, -1.0),
            "ties down": np.where(votes > 0, 1.0, -1.0),
            "mean": votes / problem.n,
            "no vote": np.sign(m.sum(axis=0)),
            "gradient": m.mean(axis=0),
            "sign": -np.sign(votes),
        }
        x = x - params.eta * step.get(slip, np.sign(votes))
        found.append(x)
    return found


def fedavg_own_steps(problem, params, rounds, rng, slip=None):
    x, found = np.zeros(problem.d), []
    for _ in range(rounds):
        chosen, models, weights = rng.choice(problem.n, params.tau, replace=False), [], []
        for i in chosen:
            steps = {"all alike": params.epochs, "of the first": params.steps[0]}.get(slip, params.steps[i])
            models.append(trained(problem, params, i, x, steps))
            weights.append(params.steps[i] if slip == "weighed" else 1)
        x = np.average(models, axis=0, weights=weights)
        found.append(x)
    return found


def scaffold_own_steps(problem, params, rounds, rng, slip=None):
    x, c, c_i, found = np.zeros(problem.d), np.zeros(problem.d), np.zeros((problem.n, problem.d)), []
    for _ in range(rounds):
        moved, changed = np.zeros(problem.d), np.zeros(problem.d)
        for i in rng.choice(problem.n, params.tau, replace=False):
            y = x.copy()
            for _ in range(params.steps[i]):
                y -= params.eta_l * (gradient(problem, i, y) + c - c_i[i])
            K = {"most": params.epochs, "mean": np.mean(params.steps)}.get(slip, params.steps[i])
            new = c_i[i] - c + (x - y) / (K * params.eta_l)
            moved, changed, c_i[i] = moved + (y - x), changed + (new - c_i[i]), new
        x, c = x + params.eta_g * moved / params.tau, c + changed / problem.n
        found.append(x)
    return found


_SUMMED = "summed instead of averaged"
_ALL = "over all clients instead of the participants"
_REPLACED = "drawn with replacement"
_AWAY = "sign of the average change is wrong"
_INSIDE = {
    "anew": "an optimiser made anew",
    "corrected": "corrected, as Adam does and this method does not",
    "inside": "adaptivity is added inside the root",
    "squared inside": "square of adaptivity is added inside the root",
    "squared": "`adaptivity^2` in place of `adaptivity`",
    "no root": "v is not under a root",
    "sign": _AWAY,
    "no 1 - beta_1": "m lacks its factor 1 - beta_1",
    "old m": "renewed by the old m",
    "v of m": "that of the momentum m",
    "from zero": "begins with 0 instead of adaptivity^2",
    "from adaptivity": "begins with adaptivity instead of adaptivity^2",
    "all clients": _ALL,
    "sum": _SUMMED,
    "with replacement": _REPLACED,
}
_CORRECTED = {
    "uncorrected": "the bias is not corrected",
    "one late": "corrected for one step more",
    "anew": "made anew",
}


def _bias(feature):
    return ("fedadam", "run", adaptive("fedadam"), {"features": [feature]}, _CORRECTED)


#: As in ``implementations.FORMS``.
FORMS = {
    "fedadam": (
        "fedadam",
        "run",
        adaptive("fedadam"),
        {},
        {**_INSIDE, "no 1 - beta_2": "v lacks its factor 1 - beta_2"},
    ),
    "fedadam, moments": _bias("bias correction"),
    "fedadam, stepsize": _bias("bias-corrected stepsize"),
    "fedadam, counts": (
        "fedadam",
        "run",
        adaptive("fedadam"),
        {"features": ["counts"]},
        {"equal": "equal weights, without the counts"},
    ),
    "fedyogi": ("fedyogi", "run", adaptive("fedyogi"), {}, {**_INSIDE, "yogi sign": "sign of v's change is wrong"}),
    "fedyogi, v from zero": ("fedyogi", "run", adaptive("fedyogi"), {"features": ["v from zero"]}, {}),
    "fedadagrad": ("fedadagrad", "run", adaptive("fedadagrad"), {}, {**_INSIDE, "decays": "v is FedAdam's"}),
    "fedavgm": (
        "fedavgm",
        "run",
        fedavgm,
        {},
        {
            "anew": "this is FedAvg",
            "dampened": "multiplied by 1 - beta",
            "nesterov": "Nesterov's",
            "old m": "the old momentum",
            "no eta": "server's stepsize is left out",
            "sign": _AWAY,
            "all clients": _ALL,
            "sum": _SUMMED,
            "with replacement": _REPLACED,
        },
    ),
    "fedavgm, counts": (
        "fedavgm",
        "run",
        fedavgm,
        {"features": ["counts"]},
        {"equal": "equal weights, without the counts"},
    ),
    "fedexp": (
        "fedexp",
        "run",
        fedexp,
        {},
        {
            "below 1": "may be below 1",
            "no half": "lacks the half",
            "no eps": "eps is left out",
            "sum": "summed instead of averaged",
            "of all": "over all clients instead of the participants",
        },
    ),
    "fednova": (
        "fednova",
        "run",
        fednova,
        {},
        {
            "not normalised": "this is FedAvg",
            "one more": "one step more than were made",
            "no a": "not multiplied by a",
            "largest": "largest number of steps of the participants",
            "sum": "sum of the participants' numbers of steps",
            "of all": "mean of all clients' numbers of steps",
            "with replacement": _REPLACED,
        },
    ),
    "fednova, counts": (
        "fednova",
        "run",
        fednova,
        {"features": ["counts"]},
        {"equal": "neither a nor the changes are weighed", "unweighted": "without the weights of the clients"},
    ),
    "fednova, momentum": (
        "fednova",
        "run",
        fednova,
        {"features": ["momentum"]},
        {"no momentum": "as if there were no momentum"},
    ),
    "feddyn": (
        "feddyn",
        "run",
        feddyn,
        {},
        {
            "participants": "h is averaged over the participants",
            "h sum": "h adds the sum",
            "h sign": "sign of h's change",
            "h no alpha": "h lacks its factor alpha",
            "idle h": "updated by idle clients too",
            "idle g": "g_i of idle clients",
            "old h": "the old h",
            "no h": "or never subtracted",
            "plus h": "or that of h/alpha",
            "h undivided": "h is not divided by alpha",
            "no linear": "left out of the local steps",
            "linear sign": "or that of the linear term",
            "no pull": "proximal term is left out",
            "to zero": "pulls to 0",
            "no alpha": "g_i lacks its factor alpha",
            "g sign": "sign of g_i's change",
        },
    ),
    "feddyn, drawn": (
        "feddyn",
        "step",
        feddyn_drawn,
        {"randomness": "draw"},
        {"participants": "h is averaged over the participants", "idle g": "g_i of idle clients"},
    ),
    "fedbuff": (
        "fedbuff",
        "run",
        fedbuff,
        {},
        {
            "no weights": "the weight of those that are not",
            "inverse": "1/(1 + s) instead of 1/sqrt(1 + s)",
            "grows": "have more weight",
            "normalised": "made to sum to 1",
            "all clients": "over all clients instead of the buffer",
            "sum": _SUMMED,
            "from present": "the server's present model",
            "never late": "no client is late",
            "sign": "sign of the changes is wrong",
        },
    ),
    "diloco": (
        "diloco",
        "run",
        diloco,
        {},
        {
            "heavy ball": "heavy ball's instead of Nesterov's",
            "no momentum": "the server has no momentum",
            "averaged": "the models are averaged",
            "sign": _AWAY,
            "sum": _SUMMED,
            "dampened": "multiplied by 1 - momentum",
            "inner anew": "AdamW is made anew",
            "count anew": "number of steps begins with 0 in each round",
            "shared moments": "moments are averaged",
            "coupled": "Adam without the W",
            "no decay": "there is no weight decay",
        },
    ),
    "diloco, plain": ("diloco", "run", diloco, {"features": ["plain local steps"]}, {"heavy ball": "Nesterov's"}),
    "ef14": (
        "ef14",
        "step",
        ef14,
        {"randomness": "draw"},
        {
            "no feedback": "there is no error feedback",
            "minus": "subtracted where it is due to be added",
            "stepsize outside": "stepsize multiplies the memory once more",
            "not emptied": "never emptied",
            "what was sent": "keeps what was sent",
            "sign": "sign of the memory is wrong",
            "forgets": "forgets what it held",
            "never": "never changed",
            "sum": _SUMMED,
        },
    ),
    "dgc": (
        "dgc",
        "run",
        dgc,
        {},
        {
            "no correction": "without momentum correction",
            "nesterov": "Nesterov's momenta",
            "of u": "by the size of u_i",
            "not by size": "whatever their size",
            "v whole": "v_i is emptied whole",
            "all whole": "u_i and v_i are emptied whole",
            "v kept": "not removed from v_i",
            "u kept": "the momenta are not masked",
            "none masked": "neither u_i nor v_i is masked",
            "sum": _SUMMED,
        },
    ),
    "powersgd": (
        "powersgd",
        "run",
        powersgd,
        {},
        {
            "no warm start": "no warm start",
            "no feedback": "there is no error feedback",
            "not orthonormal": "not of length 1",
            "sum": _SUMMED,
            "not emptied": "never emptied",
            "what was sent": "keeps what was sent",
            "forgets": "without the memory before",
            "dampened": "multiplied by 1 - momentum",
            "m alone": "x moves along m alone",
            "no momentum": "there is no momentum",
            "old m": "the old m",
        },
    ),
    "signsgd": (
        "signsgd",
        "run",
        signsgd,
        {},
        {
            "ties up": "a tie counts as +",
            "ties down": "a tie counts as -",
            "mean": "the signs are averaged",
            "no vote": "do not vote",
            "gradient": "instead of signs",
            "sign": "the sign of the step is wrong",
        },
    ),
    "signum": ("signsgd", "run", signsgd, {"features": ["momentum"]}, {"of signs": "momenta are those of the signs"}),
    "fedavg, own steps": (
        "fedavg",
        "run",
        fedavg_own_steps,
        {"features": ["own local steps"]},
        {
            "all alike": "every client takes K local steps",
            "of the first": "as the first one",
            "weighed": "weighed by their numbers of local steps",
        },
    ),
    "scaffold, own steps": (
        "scaffold",
        "run",
        scaffold_own_steps,
        {"features": ["own local steps"]},
        {"most": "the most local steps", "mean": "the mean number of local steps"},
    ),
}
