"""The runs of FedDCD's Section 8: a model on one split, the five methods with stepsizes around those of their theories.

A round of a primal method is one of the library's steps on the problem of the participants alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.algorithms import accfeddcd, fedavg, feddcd, fedprox, scaffold
from fedtheory.learning.batches import Minibatches
from fedtheory.numbers.rational import Array
from fedtheory.papers.feddcd.reruns.dealing import Data, deal
from fedtheory.papers.feddcd.reruns.local import Clients, Losses, adam_steps, newton_steps, some
from fedtheory.papers.feddcd.reruns.names import LINEAR
from fedtheory.papers.feddcd.reruns.networks import Perceptron, Softmax, minimiser
from fedtheory.problems.base import Problem

#: Clients, as in the paper, and rows of one at most.
CLIENTS, ROWS = 100, 80
#: Regularisation of the linear model, the alpha of the theorems; the paper does not give its own. With this one the
#: optimum labels about as many test images right as Table 4 has it.
ALPHA = 3e-3
#: Local epochs of the primal methods, as in the paper; an epoch is two steps, each on half of the rows.
EPOCHS = (5, 20)
#: Weight of FedProx's proximal term, small: in the paper its rounds are nearly those of FedAvg.
PROXIMAL = 0.01
#: alpha/beta in the a and b of AccFedDCD, over the true one: the true one is of the worst client and the worst point.
RATIOS = (1.0, 10.0)
#: Of the perceptron, which has no constants: the stepsizes of primal methods and of Adam about which they are tuned,
#: and guesses of the alpha of FedDCD, the first of them AccFedDCD's, and of alpha/beta.
PERCEPTRON_STEP, ADAM_SIZE = 0.1, 0.01
PERCEPTRON_ALPHAS, PERCEPTRON_RATIO = (0.015, 0.005), 0.1
#: The deal, and the start of the perceptron.
_DEAL = 0

#: The server's models after 1, 2, ... rounds, with this factor of the theoretical stepsize, by these draws.
Trial = Callable[[float, np.random.Generator], Iterator[Array]]


@dataclass(frozen=True)
class Task:
    """A model on one split: local risks ``f``, the ``start (d,)`` of all methods, ``best`` = F*, and test rows."""

    f: Losses
    start: Array
    best: float
    A_test: Array
    b_test: Array

    @cached_property
    def pooled(self) -> Losses:
        """The average risk, as that of one client with all rows."""
        A, b = self.f.A, self.f.b
        return _risks(A.reshape(1, -1, A.shape[-1]), b.reshape(1, -1), self.f.classes, isinstance(self.f, Softmax))

    def gap(self, x: Array) -> float:
        """F(x) - F* with F the average risk, of one model ``(d,)``; infinite where a method has diverged."""
        with np.errstate(all="ignore"):
            gap = float(self.pooled.value(x[None])[0]) - self.best
        return gap if np.isfinite(gap) else np.inf

    def accuracy(self, x: Array) -> float:
        """Share of the test rows that are labelled right."""
        return float((self.f.predict(x, self.A_test) == self.b_test).mean())


def _risks(A: Array, b: Array, classes: int, linear: bool) -> Losses:
    return Softmax(A, b, ALPHA, classes) if linear else Perceptron(A, b, classes)


def pose(data: Data, model: str, split: str, clients: int = CLIENTS) -> Task:
    """A model on one split; the other has the same rows, so that the optimum is the same."""
    rng = np.random.default_rng(_DEAL)
    dealt = deal(data.b, clients, ROWS, rng)
    rows = dealt.rows[split]
    f = _risks(data.A[rows], data.b[rows], data.classes, model == LINEAR)
    test = data.A[dealt.test], data.b[dealt.test]
    if isinstance(f, Perceptron):
        return Task(f, f.initial(rng), 0.0, *test)
    x = minimiser(f).x
    return Task(f, np.zeros(f.d), float(f.value(x[None]).mean()), *test)


def trials(task: Task, method: str, tau: int) -> Mapping[str, Trial]:
    """A method in its settings, each of which is tuned."""
    f = task.f
    if method == "FedDCD" and isinstance(f, Softmax):
        return {"": dual(task, tau, ALPHA, None)}
    if method == "FedDCD":
        return {f"alpha = {alpha:g}": dual(task, tau, alpha, None) for alpha in PERCEPTRON_ALPHAS}
    if method == "AccFedDCD":
        alpha, ratio = PERCEPTRON_ALPHAS[0], PERCEPTRON_RATIO
        if isinstance(f, Softmax):
            alpha, ratio = ALPHA, ALPHA / float(f.L.max())
        return {f"alpha/beta = {c * ratio:.2g}": dual(task, tau, alpha, min(1.0, c * ratio)) for c in RATIOS}
    return {f"{epochs} epochs": primal(task, method, tau, epochs) for epochs in EPOCHS}


def primal(task: Task, method: str, tau: int, epochs: int) -> Trial:
    """FedAvg, FedProx or SCAFFOLD; their theoretical stepsize is 1/L."""
    f = task.f
    unit = PERCEPTRON_STEP if isinstance(f, Perceptron) else 1 / float(f.L.max())
    size = max(1, f.m // 2)

    def models(factor: float, rng: np.random.Generator) -> Iterator[Array]:
        algorithm: Any = {"FedAvg": fedavg, "FedProx": fedprox, "SCAFFOLD": scaffold}[method].algorithm
        state: Any = fedavg.State(task.start)
        if method == "SCAFFOLD":
            state = scaffold.State(task.start, np.zeros(f.d), np.zeros((f.n, f.d)))
        while True:
            chosen = rng.permutation(f.n)[:tau]
            g = some(f, chosen)
            problem, batches, eta = Problem(g), Minibatches(g, size), factor * unit
            if method == "FedProx":
                params: Any = fedprox.Params(tau, PROXIMAL, epochs, eta, batches)
            elif method == "FedAvg":
                params = fedavg.Params(tau, epochs, eta, 1, batches)
            else:
                params = scaffold.Params(tau, epochs, eta, 1, batches)
            asked = state._replace(c_i=state.c_i[chosen]) if method == "SCAFFOLD" else state
            after = algorithm.step(problem, params, asked, algorithm.draws(problem, params, asked).sample(rng))
            if method == "SCAFFOLD":
                c_i = state.c_i.copy()
                c_i[chosen] = after.c_i
                # The step knows of tau clients, c is the mean over all n.
                after = after._replace(c=state.c + tau / f.n * (after.c - state.c), c_i=c_i)
            state = after
            yield state.x

    return models


def dual(task: Task, tau: int, alpha: float, ratio: float | None) -> Trial:
    """FedDCD, or AccFedDCD with so large an alpha/beta; their theoretical stepsize is Lambda^-1 = alpha I, which stays
    for the perceptron, where the factor is that of Adam's. The server's model is the average of what it received."""
    f = task.f
    newton = None if isinstance(f, Perceptron) else newton_steps(f)

    def models(factor: float, rng: np.random.Generator) -> Iterator[Array]:
        local = newton or adam_steps(f, factor * ADAM_SIZE)
        clients = Clients(f, local, np.tile(task.start, (f.n, 1)), np.zeros(f.n, dtype=bool))
        problem, y = Problem(clients), np.zeros((f.n, f.d))  # type: ignore[arg-type]
        Lambda = np.full(f.n, 1 / (alpha * (factor if newton else 1)))
        if ratio is None:
            algorithm: Any = feddcd.algorithm
            params: Any = feddcd.Params(tau, Lambda)
            state: Any = feddcd.State(y, clients.w)
        else:
            algorithm = accfeddcd.algorithm
            params = accfeddcd.Params(tau, Lambda, *accfeddcd.acceleration(ratio, tau, f.n))
            state = accfeddcd.State(y, y, y, y)
        while True:
            draw = algorithm.draws(problem, params, state).sample(rng)
            masks = (draw,) if ratio is None else draw
            clients.asked = np.logical_or.reduce(masks)
            state = algorithm.step(problem, params, state, draw)
            yield np.mean([clients.w[mask].mean(axis=0) for mask in masks], axis=0)

    return models
