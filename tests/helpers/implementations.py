"""Algorithms as frameworks have them, loops over clients and examples, right and with one slip each."""

from __future__ import annotations

import numpy as np
import row_implementations
import server_implementations

from fedtheory.algorithms import dgc, ef14, powersgd, signsgd
from verify import conformance


def sample(n, tau, rng, slip):
    if slip == "with replacement":
        return list(rng.integers(0, n, tau))
    if slip == "seeded anew":
        rng = np.random.default_rng(0)
    return sorted(rng.choice(n, tau, replace=False))


def fedavg(problem, params, rounds, rng, slip=None):
    x, found = np.zeros(problem.d), []
    counts = np.ones(problem.n) if params.counts is None else params.counts
    for _ in range(rounds):
        chosen, models, weights = sample(problem.n, params.tau, rng, slip), [], []
        buffer = np.zeros(problem.d)
        for place, i in enumerate(chosen):
            client = conformance.client(problem, i)
            y = x if slip == "in place" else x.copy()
            if slip != "carried":
                buffer = np.zeros(problem.d)
            for _ in range(params.epochs):
                buffer = params.momentum * buffer + client.gradient(y)
                y -= params.eta_l * buffer
            models.append(y)
            weights.append({"of others": counts[place], "inverse": 1 / counts[i], "equal": 1}.get(slip, counts[i]))
        total = counts.sum() if slip == "all clients" else sum(weights)
        x = x + sum(w * (m - x) for w, m in zip(weights, models, strict=True)) / total
        x = models[-1].copy() if slip == "in place" else x
        found.append(x.astype(np.float32) if slip == "float32" else x.copy())
    return found


def fedprox(problem, params, rounds, rng, slip=None):
    x, found = np.zeros(problem.d), []
    for _ in range(rounds):
        models = []
        for i in sample(problem.n, params.tau, rng, slip):
            client, y = conformance.client(problem, i), x.copy()
            before = y
            for k in range(params.epochs):
                anchor = {"local": y, "step before": before}.get(slip, x)
                pull = params.mu * (y - anchor) * (0 if slip == "dropped" and k <= 1 else 1)
                y, before = y - params.eta_l * (client.gradient(y) + pull), y
            models.append(y)
        x = np.mean(models, axis=0)
        found.append(x)
    return found


def scaffold_step(problem, params, state, chosen, slip):
    x, c, c_i = (np.array(state[name]) for name in ("x", "c", "c_i"))
    used = state.get("late", c) if slip == "late" else c
    old, K, moved, changed = c_i.copy(), params.epochs, 0 * x, 0 * c
    for i in chosen:
        client = conformance.client(problem, i)
        y = x if slip == "in place" else x.copy()
        for _ in range(K):
            y -= params.eta_l * (client.gradient(y) + (used - c_i[i]) * (-1 if slip == "sign" else 1))
        divisors = {"eta_g": K * params.eta_g, "both": K * params.eta_l * params.eta_g, "no K": params.eta_l}
        divisor = {**divisors, "K + 1": (K + 1) * params.eta_l}.get(slip, K * params.eta_l)
        new = c_i[i] + (0 if slip == "never" else (x - y) / divisor - used)
        moved, changed = moved + (y - x), changed + (new if slip == "whole" else new - c_i[i])
        c_i[i] = new
    server = c + changed / (params.tau if slip == "participants" else problem.n)
    server = old.mean(axis=0) if slip == "stale" else server
    return {"x": x + params.eta_g * moved / params.tau, "c": server, "c_i": c_i, "late": c}


def scaffold(problem, params, rounds, rng, slip=None):
    zeros = np.zeros(problem.d)
    state, found = {"x": zeros, "c": zeros, "c_i": np.zeros((problem.n, problem.d))}, []
    for _ in range(rounds):
        state = scaffold_step(problem, params, state, sample(problem.n, params.tau, rng, slip), slip)
        found.append(state["x"])
    return found


def scaffold_drawing(problem, params, state, rng, slip=None):
    return scaffold_step(problem, params, state, sample(problem.n, params.tau, rng, slip), slip)


def scaffold_drawn(problem, params, state, draw, slip=None):
    return scaffold_step(problem, params, state, np.flatnonzero(draw.clients), slip)


def diana(problem, params, state, rng, slip=None):
    common, messages = int(rng.integers(2**32)), []
    for i in range(problem.n):
        own = {"shared": np.random.default_rng(common), "seeded anew": np.random.default_rng(7)}.get(slip, rng)
        difference = conformance.client(problem, i).gradient(state["x"]) - state["h"][i]
        messages.append(params.compressors.compressor.sample(own, difference))
    m = np.array(messages) * (1.01 if slip == "biased" else 1)
    h_bar = state["h_bar"] * (-1 if slip == "sign" else 1)
    alpha = 1 if slip == "whole" else params.alpha
    return {
        "x": state.x - params.gamma * (h_bar + m.mean(axis=0)),
        "h": state.h + alpha * m,
        "h_bar": state.h_bar + (0 if slip == "stale" else alpha * m.mean(axis=0)),
    }


_ANEW = "every step makes the same draw"
_REPLACED = "drawn with replacement"
_IN_PLACE = "changed in place while clients still train"
_SCAFFOLD = {
    "sign": "sign of the control variates is swapped",
    "eta_g": "wrong learning rate",
    "both": "wrong learning rate",
    "no K": "without dividing by the number of local steps",
    "K + 1": "wrong number of local steps",
    "never": "never updated",
    "whole": "whole control variates are sent",
    "participants": "averaged over the participants instead of all clients",
    "stale": "stale average",
    "late": "stale",
    "in place": _IN_PLACE,
}
_DRAWING = {**_SCAFFOLD, "with replacement": _REPLACED, "seeded anew": _ANEW}
#: The algorithm, the form, the function, options, and the slips with words of the message that each must give.
FORMS = {
    "fedavg": (
        "fedavg",
        "run",
        fedavg,
        {},
        {"in place": _IN_PLACE, "all clients": "all clients", "with replacement": _REPLACED, "seeded anew": _ANEW},
    ),
    "fedavg, counts": (
        "fedavg",
        "run",
        fedavg,
        {"features": ["counts"]},
        {"of others": "counts of other clients", "inverse": "1/counts", "equal": "equal weights"},
    ),
    "fedavg, momentum": (
        "fedavg",
        "run",
        fedavg,
        {"features": ["momentum"]},
        {"carried": "momentum buffer is carried"},
    ),
    "fedprox": (
        "fedprox",
        "run",
        fedprox,
        {},
        {
            "local": "anchored at the local model",
            "step before": "of the step before",
            "dropped": "dropped on the first step",
        },
    ),
    "scaffold": ("scaffold", "run", scaffold, {}, _DRAWING),
    "scaffold, drawing": ("scaffold", "step", scaffold_drawing, {"randomness": "rng"}, _DRAWING),
    "scaffold, drawn": ("scaffold", "step", scaffold_drawn, {"randomness": "draw"}, _SCAFFOLD),
    "diana": (
        "diana",
        "step",
        diana,
        {"randomness": "rng"},
        {
            "shared": "shared between clients",
            "seeded anew": _ANEW,
            "sign": "sign of the server's control variate",
            "whole": "`1` in place of `alpha`",
            "stale": "stale average",
            "biased": "the compressor is biased",
        },
    ),
    **row_implementations.FORMS,
    **server_implementations.FORMS,
}


def small(problem, params):
    """Problems on which tests are fast; without draws, or with those of a compressor alone, more of them are."""
    plain = isinstance(params, ef14.Params | dgc.Params | powersgd.Params | signsgd.Params)
    return hasattr(problem.f, "X") or problem.n * problem.d <= (18 if plain else 3)


def report_of(form, slip, seed, **more):
    name, kind, function, options, _ = FORMS[form]

    def mine(problem, params, third, fourth):
        return function(problem, params, third, fourth, slip)

    return conformance.algorithm(name, **{kind: mine}, seed=seed, **{**options, **more})
