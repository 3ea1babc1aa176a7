"""What goes wrong in the wild, as changed references: an implementation that does one of these is told which.

A slip is a whole algorithm, whose state may hold more than the reference's, so that runs can be compared with it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms import diana, ef21, fedavg, fedprox, locodl, minibatch_sgd, scaffnew, scaffold
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.minibatch_sgd import everywhere, mean_over
from fedtheory.problems.base import Problem
from fedtheory.rational import Array


class Slip(NamedTuple):
    """``text``: what is done, in words; ``algorithm``: the reference with it; ``letter``: the first that departs."""

    text: str
    algorithm: Algorithm
    letter: str = ""


Step = Callable[[Problem, Any, Any, Any], Any]


def slips(name: str) -> Iterator[Slip]:
    """The slips known of an algorithm, the most specific first."""
    reference = algorithms.get(name)
    for text, letter, step in _STEPS.get(name, ()):
        yield Slip(text, replace(reference, step=step), letter)
    yield from _STALE.get(name, _none)()
    for factor in (1.01, 0.99, 1.02, 0.98, 1.05, 0.95, 1.1, 0.9):
        if {"compressors", "compressor"} & set(reference.Params._fields):  # type: ignore[attr-defined]
            text = f"the compressed messages are {factor:g} times what they should be: the compressor is biased"
            yield Slip(text, replace(reference, step=_biased(reference.step, factor)))


def _none() -> Iterator[Slip]:
    return iter(())


class _Scaled(NamedTuple):
    """Compressors whose values are off by a factor."""

    own: Any
    factor: float

    def apply(self, draw: Any, x: Array) -> Array:
        return self.factor * self.own.apply(draw, x)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)


def _biased(step: Step, factor: float) -> Step:
    def scaled(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        name = "compressors" if hasattr(params, "compressors") else "compressor"
        return step(problem, params._replace(**{name: _Scaled(getattr(params, name), factor)}), state, draw)

    return scaled


# SCAFFOLD


def _with(step: Step, **change: Callable[..., Any]) -> Step:
    """The step followed by a change of some letters: ``change[letter](problem, params, before, after, draw)``."""

    def changed(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        after = step(problem, params, state, draw)
        return after._replace(**{k: f(problem, params, state, after, draw) for k, f in change.items()})

    return changed


def _scaffold_in_place(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    """One participant after another trains the server's array, to which y_i and x then both refer."""
    x, c, c_i = state
    lead = 0 * draw.clients[..., :1]
    start, moved, renewed = x + lead, 0 * (x + lead), []
    for i in range(problem.n):
        y = everywhere(problem, start)
        for k in range(fedavg.local_steps(params)):
            slope = params.batches.gradient(problem, y, draw.rows, k)
            y = y - params.eta_l * (slope + everywhere(problem, c) - c_i)
        here = draw.clients[..., i : i + 1]
        renewed.append(np.where(here, -c, 0 * c))
        start = np.where(here, y[..., i, :], start)
    change = np.stack(renewed, axis=-2)
    return scaffold.State(start + params.eta_g * moved, c + change.sum(axis=-2) / problem.n, c_i + change)


def _renewed(divisor: Callable[[Any, int], Any], shared: bool = True) -> Step:
    """SCAFFOLD with c_i+ = c_i - c + (x - y_i)/divisor."""

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        x, c, c_i = state
        anchor, everyone = everywhere(problem, x), everywhere(problem, c)
        y = fedavg.local_descent(problem, params, x, draw, lambda y: everyone - c_i)
        new = c_i - (everyone if shared else 0) + (anchor - y) / divisor(params, fedavg.local_steps(params))
        change = np.where(draw.clients[..., None], new - c_i, 0 * new)
        x = x + params.eta_g * mean_over(draw.clients, params.tau, y - anchor)
        return scaffold.State(x, c + change.sum(axis=-2) / problem.n, c_i + change)

    return step


def _scaffold(correction: Callable[[Any, Array, Array, Array], Array]) -> Step:
    """SCAFFOLD with another correction of the local steps: ``correction(problem, y, shared, own)``."""

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        x, c, c_i = state
        anchor, everyone = everywhere(problem, x), everywhere(problem, c)
        y = fedavg.local_descent(problem, params, x, draw, lambda y: correction(problem, y, everyone, c_i))
        new = c_i - everyone + (anchor - y) / (fedavg.local_steps(params) * params.eta_l)
        change = np.where(draw.clients[..., None], new - c_i, 0 * new)
        x = x + params.eta_g * mean_over(draw.clients, params.tau, y - anchor)
        return scaffold.State(x, c + change.sum(axis=-2) / problem.n, c_i + change)

    return step


class _Late(NamedTuple):
    x: Array
    c: Array
    c_i: Array
    late: Array


def _late_server() -> Iterator[Slip]:
    reference = scaffold.algorithm

    def init(problem: Problem, params: Any, **start: Any) -> Any:
        state = reference.init(problem, params, **start)
        return _Late(state.x, state.c, state.c_i, state.c)

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        x, c, c_i, late = state
        old = scaffold.step(problem, params, scaffold.State(x, late, c_i), draw)
        return _Late(old.x, c + (old.c - late), old.c_i, c)

    algorithm = replace(reference, State=_Late, init=init, step=step)
    yield Slip("clients correct by the server's average c of the round before the last (a stale c)", algorithm, "x")


def _mean_of_last(problem: Problem, params: Any, state: Any, after: Any, draw: Any) -> Any:
    return state.c_i.sum(axis=-2) / problem.n


def _scaled_c(factor: Callable[[Problem, Any], Any]) -> Callable[..., Any]:
    return lambda problem, params, state, after, draw: state.c + (after.c - state.c) * factor(problem, params)


def _chained(aliased: bool) -> Step:
    """One client after another trains the same array: each starts from where the one before it ended.

    ``aliased``: what is averaged is that array too, as often as there are participants.
    """

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        x = state.x
        start = x + 0 * draw.clients[..., :1]
        total = 0 * start
        for i in range(problem.n):
            y = everywhere(problem, start)
            for k in range(fedavg.local_steps(params)):
                slope = params.batches.gradient(problem, y, draw.rows, k)
                if isinstance(params, fedprox.Params):
                    slope = slope + params.mu * (y - everywhere(problem, x))
                y = y - params.eta_l * slope
            here = draw.clients[..., i : i + 1]
            start = np.where(here, y[..., i, :], start)
            total = total + np.where(here, y[..., i, :], 0 * start)
        mean = start if aliased else total / params.tau
        return type(state)(x + getattr(params, "eta_g", 1) * (mean - x))

    return step


def _carried(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    """FedAvg whose momentum buffer goes from one participant to the next."""
    x = state.x
    buffer = 0 * (x + 0 * draw.clients[..., :1])
    total = 0 * buffer
    for i in range(problem.n):
        y, b = everywhere(problem, x + 0 * buffer), everywhere(problem, buffer)
        for k in range(fedavg.local_steps(params)):
            b = params.momentum * b + params.batches.gradient(problem, y, draw.rows, k)
            y = y - params.eta_l * b
        here = draw.clients[..., i : i + 1]
        buffer = np.where(here, b[..., i, :], buffer)
        weight = 1 / params.tau if params.counts is None else params.counts[i]
        total = total + np.where(here, weight * (y[..., i, :] - x), 0 * buffer)
    if params.counts is not None:
        total = total / np.where(draw.clients, params.counts, 0).sum(axis=-1, keepdims=True)
    return fedavg.State(x + params.eta_g * total)


def _weighted(weights: Callable[[Problem, Any, Array], Array]) -> Step:
    """FedAvg whose average is sum_i weights_i (y_i - x) over the participants."""

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        y = fedavg.local_descent(problem, params, state.x, draw, momentum=params.momentum)
        w = np.where(draw.clients, weights(problem, params, draw.clients), 0.0)[..., None]
        return fedavg.State(state.x + params.eta_g * (w * (y - everywhere(problem, state.x))).sum(axis=-2))

    return step


def _counts(problem: Problem, params: Any) -> Array:
    return np.ones(problem.n) if params.counts is None else np.asarray(params.counts, dtype=float)


def _by_position(problem: Problem, params: Any, clients: Array) -> Array:
    """The counts of the first clients, whoever takes part."""
    place = np.cumsum(clients, axis=-1) - 1
    own = _counts(problem, params)[np.clip(place, 0, problem.n - 1)]
    return own / np.where(clients, own, 0.0).sum(axis=-1, keepdims=True)


def _models_not_changes(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    y = fedavg.local_descent(problem, params, state.x, draw, momentum=params.momentum)
    return fedavg.State(np.where(draw.clients[..., None], y, 0 * y).sum(axis=-2) / problem.n)


# FedProx


def _prox(pull: Callable[[Array, Array, Array, Any, int], Array]) -> Step:
    """FedProx with another pull: ``pull(y, before, anchor, mu, k)`` is added to the gradient in local step k."""

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        anchor = everywhere(problem, state.x)
        y, before = anchor, anchor
        for k in range(fedavg.local_steps(params)):
            slope = params.batches.gradient(problem, y, draw.rows, k) + pull(y, before, anchor, params.mu, k)
            y, before = y - params.eta_l * slope, y
        return fedprox.State(mean_over(draw.clients, params.tau, y))

    return step


def _norm(z: Array) -> Array:
    size = np.sqrt((z**2).sum(axis=-1, keepdims=True))
    return z / np.where(size > 0, size, 1)


# Compressed methods


def _diana_shared(problem: Problem, params: Any, state: Any, after: Any, draw: Any) -> Any:
    return state.x - params.gamma * after.h_bar


def _locodl_dual(factor: Callable[[Any], Any]) -> Step:
    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        after = locodl.step(problem, params, state, draw)
        c = factor(params)
        return after._replace(u=state.u + c * (after.u - state.u), v=state.v + c * (after.v - state.v))

    return step


def _ef21_old_gradient(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    c = params.compressor.apply(draw, problem.f.gradient(state.x[..., None, :]) - state.g)
    return ef21.State(state.x - params.gamma * state.g_bar, state.g + c, state.g_bar + c.sum(axis=-2) / problem.n)


def _ef21_plain(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    x = state.x - params.gamma * state.g_bar
    c = params.compressor.apply(draw, problem.f.gradient(x[..., None, :]))
    return ef21.State(x, c + 0 * state.g, c.sum(axis=-2) / problem.n)


def _scaffnew_plain_mean(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    gamma, p = params
    x_hat = state.x - gamma * (problem.f.gradient(state.x) - state.h)
    x = np.where(draw[..., None, None], x_hat.sum(axis=-2, keepdims=True) / problem.n, x_hat)
    return scaffnew.State(x, state.h + p / gamma * (x - x_hat))


def _never(letter: str, step: Step) -> Step:
    return _with(
        step,
        **{letter: lambda problem, params, state, after, draw: getattr(state, letter) + 0 * getattr(after, letter)},
    )


_SIGN = "the sign of the control variates is swapped: the local steps add c_i - c instead of c - c_i"
_IN_PLACE = (
    "the global model is changed in place while clients still train on it: each participant starts from where the one "
    "before it ended"
)

_STEPS: dict[str, tuple[tuple[str, str, Step], ...]] = {
    "scaffold": (
        (f"{_IN_PLACE}; y_i - x is then 0", "x", _scaffold_in_place),
        (
            "the control variates are never updated: this is FedAvg from the second round on",
            "c_i",
            _never("c_i", _never("c", scaffold.step)),
        ),
        (_SIGN, "x", _scaffold(lambda problem, y, shared, own: own - shared)),
        (
            "the clients' own control variates are left out of the local steps",
            "x",
            _scaffold(lambda p, y, c, own: c + 0 * y),
        ),
        (
            "the server's control variate is left out of the local steps",
            "x",
            _scaffold(lambda p, y, c, own: 0 * y - own),
        ),
        (
            "control variates are left out of the local steps: this is FedAvg",
            "x",
            _scaffold(lambda p, y, c, own: 0 * y),
        ),
        (
            "the server's control variate is averaged over the participants instead of all clients",
            "c",
            _with(scaffold.step, c=_scaled_c(lambda problem, params: problem.n / params.tau)),
        ),
        (
            "the server's control variate adds the sum of the changes instead of their average",
            "c",
            _with(scaffold.step, c=_scaled_c(lambda problem, params: problem.n)),
        ),
        ("the server's control variate is never updated", "c", _never("c", scaffold.step)),
        (
            "the server's control variate is the average of the clients' before this round (a stale average)",
            "c",
            _with(scaffold.step, c=_mean_of_last),
        ),
        (
            "the whole control variates are sent where their changes are meant",
            "c",
            _with(
                scaffold.step,
                c=lambda problem, params, s, a, draw: (
                    s.c + np.where(draw.clients[..., None], a.c_i, 0 * a.c_i).sum(axis=-2) / problem.n
                ),
            ),
        ),
        (
            "the control variate is updated with the wrong learning rate: the server's, or both, instead of eta_l",
            "c_i",
            _renewed(lambda params, K: K * params.eta_l * params.eta_g),
        ),
        (
            "the control variate is updated with the wrong learning rate: eta_g instead of eta_l",
            "c_i",
            _renewed(lambda params, K: K * params.eta_g),
        ),
        ("the control variate is updated without dividing by the learning rate", "c_i", _renewed(lambda params, K: K)),
        (
            "the control variate is updated without dividing by the number of local steps K",
            "c_i",
            _renewed(lambda params, K: params.eta_l),
        ),
        (
            "the control variate is updated with the wrong number of local steps: K + 1 instead of K",
            "c_i",
            _renewed(lambda params, K: (K + 1) * params.eta_l),
        ),
        (
            "the control variate is updated with the wrong number of local steps: K - 1 instead of K",
            "c_i",
            _renewed(lambda params, K: max(K - 1, 1) * params.eta_l),
        ),
        (
            "the control variate is updated with the wrong number of local steps: one instead of K",
            "c_i",
            _renewed(lambda params, K: params.eta_l),
        ),
        (
            "the server's control variate is not subtracted when a client renews its own",
            "c_i",
            _renewed(lambda params, K: K * params.eta_l, shared=False),
        ),
    ),
    "fedavg": (
        (_IN_PLACE, "x", _chained(False)),
        (f"{_IN_PLACE}; all are then the same array", "x", _chained(True)),
        ("the momentum buffer is carried from one client to the next", "x", _carried),
        (
            "the average divides by all clients instead of the participants",
            "x",
            _weighted(lambda problem, params, clients: _counts(problem, params) / _counts(problem, params).sum()),
        ),
        (
            "the participants are averaged with equal weights, without the counts",
            "x",
            _weighted(lambda problem, params, clients: np.full(problem.n, 1 / params.tau)),
        ),
        (
            "the counts of other clients are used: those of the first in the list, whoever takes part",
            "x",
            _weighted(_by_position),
        ),
        (
            "the weights are wrong: 1/counts instead of counts",
            "x",
            _weighted(
                lambda problem, params, clients: (
                    1
                    / _counts(problem, params)
                    / np.where(clients, 1 / _counts(problem, params), 0).sum(axis=-1, keepdims=True)
                )
            ),
        ),
        (
            "the weights are wrong: the clients' numbers 1, 2, ... instead of their counts",
            "x",
            _weighted(
                lambda problem, params, clients: (
                    np.arange(1, problem.n + 1)
                    / np.where(clients, np.arange(1, problem.n + 1), 0).sum(axis=-1, keepdims=True)
                )
            ),
        ),
        ("models, not their changes, are divided by all clients", "x", _models_not_changes),
    ),
    "fedprox": (
        (_IN_PLACE, "x", _chained(False)),
        (f"{_IN_PLACE}; all are then the same array", "x", _chained(True)),
        ("the proximal term is dropped: this is FedAvg", "x", _prox(lambda y, before, anchor, mu, k: 0 * y)),
        (
            "the proximal term is anchored at the local model, where it is always zero",
            "x",
            _prox(lambda y, before, anchor, mu, k: 0 * y),
        ),
        (
            "the proximal term is anchored at the local model of the step before",
            "x",
            _prox(lambda y, before, anchor, mu, k: mu * (y - before)),
        ),
        (
            "the proximal term is dropped on the first step in which it is not zero",
            "x",
            _prox(lambda y, before, anchor, mu, k: (mu if k > 1 else 0 * mu) * (y - anchor)),
        ),
        ("the proximal norm is not squared", "x", _prox(lambda y, before, anchor, mu, k: mu / 2 * _norm(y - anchor))),
        ("the proximal term has twice its weight", "x", _prox(lambda y, before, anchor, mu, k: 2 * mu * (y - anchor))),
        ("the proximal term has half its weight", "x", _prox(lambda y, before, anchor, mu, k: mu / 2 * (y - anchor))),
        ("the sign of the proximal term is wrong", "x", _prox(lambda y, before, anchor, mu, k: mu * (anchor - y))),
    ),
    "diana": (
        (
            "the sign of the server's control variate is swapped",
            "x",
            _with(diana.step, x=lambda problem, p, s, a, d: a.x + 2 * p.gamma * s.h_bar),
        ),
        (
            "clients compress the sum of gradient and control variate: its sign is swapped",
            "x",
            lambda problem, p, s, d: diana.step(problem, p, s._replace(h=-s.h), d)._replace(
                h=s.h + (diana.step(problem, p, s._replace(h=-s.h), d).h + s.h)
            ),
        ),
        ("the server steps along the new average of the control variates", "x", _with(diana.step, x=_diana_shared)),
        ("the server's control variate is never updated (a stale average)", "h_bar", _never("h_bar", diana.step)),
        ("the clients' control variates are never updated", "h", _never("h", diana.step)),
        (
            "the server's control variate adds the sum of the messages instead of their average",
            "h_bar",
            _with(diana.step, h_bar=lambda problem, p, s, a, d: s.h_bar + problem.n * (a.h_bar - s.h_bar)),
        ),
        (
            "the server's average is a stale one: that of the clients' control variates before this step",
            "h_bar",
            _with(diana.step, h_bar=lambda problem, p, s, a, d: s.h.sum(axis=-2) / problem.n + 0 * a.h_bar),
        ),
    ),
    "ef21": (
        ("gradients are taken at the old model instead of the new one", "g", _ef21_old_gradient),
        ("there is no error feedback: the gradient itself is compressed", "g", _ef21_plain),
        ("the server's estimate is never updated (a stale average)", "g_bar", _never("g_bar", ef21.step)),
    ),
    "scaffnew": (
        ("the average leaves out the control variates, which do not sum to zero here", "x", _scaffnew_plain_mean),
        ("the control variates are never updated", "h", _never("h", scaffnew.step)),
    ),
    "locodl": (
        (
            "the dual step has 1 + omega where 1 + 2 omega is meant",
            "u",
            _locodl_dual(lambda p: (1 + 2 * p.omega) / (1 + p.omega)),
        ),
        ("the dual step lacks its factor p", "u", _locodl_dual(lambda p: 1 / p.p)),
        ("the dual step lacks its division by gamma", "u", _locodl_dual(lambda p: p.gamma)),
        ("the control variates are never updated", "u", _locodl_dual(lambda p: 0)),
    ),
    "minibatch-sgd": (
        (
            "the average divides by all clients instead of the participants",
            "x",
            _with(minibatch_sgd.step, x=lambda problem, p, s, a, d: s.x + (a.x - s.x) * p.tau / problem.n),
        ),
    ),
}

_STALE: dict[str, Callable[[], Iterator[Slip]]] = {"scaffold": _late_server}
