"""Flower's own FedAvg strategy, with NumPyClients that train on the test problems.

Needs ``pip install '.[frameworks]'`` in a copy of the source. The rounds are driven by hand, without Flower's network:
the clients' ``fit`` and the strategy's ``aggregate_fit`` are what is tested. The slip: a client reports how many steps
it made as its number of examples, which is what the strategy weighs by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flwr.client import NumPyClient
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.server.strategy import FedAvg

from verify import conformance


class QuadraticClient(NumPyClient):
    """Trains on one client's objective."""

    def __init__(self, objective: conformance.Client, examples: int, slip: bool) -> None:
        self.objective, self.examples, self.slip = objective, examples, slip

    def fit(self, parameters: list[np.ndarray], config: dict[str, Any]) -> tuple[list[np.ndarray], int, dict[str, Any]]:
        y = parameters[0].copy()
        for _ in range(config["steps"]):
            y -= config["rate"] * self.objective.gradient(y)
        return [y], config["steps"] if self.slip else self.examples, {}


def run(problem: Any, params: Any, rounds: int, rng: np.random.Generator, slip: bool = False) -> list[np.ndarray]:
    """Flower's FedAvg as a plain loop."""
    strategy = FedAvg()
    clients = [QuadraticClient(conformance.client(problem, i), int(params.counts[i]), slip) for i in range(problem.n)]
    model, found = [np.zeros(problem.d)], []
    for number in range(rounds):
        results = []
        for i in rng.choice(problem.n, params.tau, replace=False):
            arrays, examples, metrics = clients[i].fit(model, {"steps": params.epochs, "rate": params.eta_l})
            answer = FitRes(Status(Code.OK, ""), ndarrays_to_parameters(arrays), examples, metrics)
            results.append((None, answer))
        aggregated, _ = strategy.aggregate_fit(number + 1, results, [])
        model = parameters_to_ndarrays(aggregated)
        found.append(model[0])
    return found


def main(seed: int = 0) -> dict[str, conformance.Report]:
    """The reports with the clients' true counts, and with wrong ones."""

    def wrong(problem: Any, params: Any, rounds: int, rng: np.random.Generator) -> list[np.ndarray]:
        return run(problem, params, rounds, rng, slip=True)

    return {
        "right": conformance.algorithm("fedavg", run=run, features=["counts"], seed=seed),
        "wrong": conformance.algorithm("fedavg", run=wrong, features=["counts"], seed=seed),
    }


if __name__ == "__main__":
    for report in main().values():
        print(report, end="\n\n")
