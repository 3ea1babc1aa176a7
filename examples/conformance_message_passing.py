"""SCAFFOLD as a framework has it: clients and a server that exchange messages, tested as a plain loop.

Run it: ``python examples/conformance_message_passing.py``. The slip that it plants at the end, the server's control
variate averaged over the participants, is one that public implementations have had.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verify import conformance


@dataclass
class Client:
    """Knows its own objective, and keeps its own control variate."""

    objective: conformance.Client
    control: np.ndarray

    def fit(self, message: dict[str, np.ndarray], steps: int, rate: float) -> dict[str, np.ndarray]:
        y = message["model"].copy()
        for _ in range(steps):
            y -= rate * (self.objective.gradient(y) - self.control + message["control"])
        renewed = self.control - message["control"] + (message["model"] - y) / (steps * rate)
        reply = {"model": y - message["model"], "control": renewed - self.control}
        self.control = renewed
        return reply


@dataclass
class Server:
    """Holds the model; never sees an objective."""

    clients: list[Client]
    rate: float
    model: np.ndarray
    control: np.ndarray
    average_over_participants: bool = False
    history: list[np.ndarray] = field(default_factory=list)

    def round(self, participants: list[int], steps: int, rate: float) -> None:
        message = {"model": self.model, "control": self.control}
        replies = [self.clients[i].fit(message, steps, rate) for i in participants]
        count = len(participants) if self.average_over_participants else len(self.clients)
        self.model = self.model + self.rate * sum(r["model"] for r in replies) / len(replies)
        self.control = self.control + sum(r["control"] for r in replies) / count
        self.history.append(self.model)


def run(problem: Any, params: Any, rounds: int, rng: np.random.Generator, slip: bool = False) -> list[np.ndarray]:
    """The models after each round, in the form that ``conformance.algorithm`` takes."""
    zeros = np.zeros(problem.d)
    clients = [Client(conformance.client(problem, i), zeros.copy()) for i in range(problem.n)]
    server = Server(clients, params.eta_g, zeros, zeros, slip)
    for _ in range(rounds):
        participants = sorted(rng.choice(problem.n, params.tau, replace=False))
        server.round(participants, params.epochs, params.eta_l)
    return server.history


def main(seed: int = 0) -> tuple[conformance.Report, conformance.Report]:
    """The reports of the implementation as it should be, and of the one with the slip."""

    def wrong(problem: Any, params: Any, rounds: int, rng: np.random.Generator) -> list[np.ndarray]:
        return run(problem, params, rounds, rng, slip=True)

    return conformance.algorithm("scaffold", run=run, seed=seed), conformance.algorithm(
        "scaffold", run=wrong, seed=seed
    )


if __name__ == "__main__":
    for report in main():
        print(report, end="\n\n")
