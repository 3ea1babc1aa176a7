"""FedAvg and SCAFFOLD with PyTorch modules and optimisers, in float32, as frameworks run them on a CPU.

Needs ``pip install '.[frameworks]'`` in a copy of the source. The tolerance is what float32 deserves; the report
states it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from verify import conformance

TOLERANCE = 2e-4


class Local(torch.nn.Module):
    """The quadratic of one client as a module with one parameter."""

    def __init__(self, problem: Any, i: int, model: torch.Tensor) -> None:
        super().__init__()
        self.H = torch.tensor(problem.f.H[i], dtype=torch.float32)
        self.c = torch.tensor(problem.f.c[i], dtype=torch.float32)
        self.x = torch.nn.Parameter(model.clone())

    def forward(self) -> torch.Tensor:
        z = self.x - self.c
        return z @ self.H @ z / 2


def _trained(problem: Any, params: Any, i: int, model: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    local = Local(problem, i, model)
    optimizer = torch.optim.SGD(local.parameters(), lr=params.eta_l)
    for _ in range(params.epochs):
        optimizer.zero_grad()
        (local() + shift @ local.x).backward()
        optimizer.step()
    return local.x.detach()


def fedavg(problem: Any, params: Any, rounds: int, rng: np.random.Generator, slip: bool = False) -> list[np.ndarray]:
    """The server averages what the participants trained; with the slip, over all clients."""
    model, found = torch.zeros(problem.d), []
    for _ in range(rounds):
        chosen = rng.choice(problem.n, params.tau, replace=False)
        models = [_trained(problem, params, int(i), model, torch.zeros(problem.d)) for i in chosen]
        change = sum((m - model for m in models), torch.zeros(problem.d))
        model = model + change / (problem.n if slip else params.tau)
        found.append(model.numpy())
    return found


def scaffold(problem: Any, params: Any, rounds: int, rng: np.random.Generator, slip: bool = False) -> list[np.ndarray]:
    """With the slip, control variates are renewed by one local step instead of K."""
    model, c = torch.zeros(problem.d), torch.zeros(problem.d)
    own = [torch.zeros(problem.d) for _ in range(problem.n)]
    found = []
    for _ in range(rounds):
        moved, changed = torch.zeros(problem.d), torch.zeros(problem.d)
        for i in map(int, rng.choice(problem.n, params.tau, replace=False)):
            y = _trained(problem, params, i, model, c - own[i])
            steps = 1 if slip else params.epochs
            renewed = own[i] - c + (model - y) / (steps * params.eta_l)
            moved, changed, own[i] = moved + (y - model), changed + (renewed - own[i]), renewed
        model, c = model + params.eta_g * moved / params.tau, c + changed / problem.n
        found.append(model.numpy())
    return found


def main(seed: int = 0) -> dict[str, conformance.Report]:
    """The reports of both methods, right and wrong."""
    found = {}
    for name, run in (("fedavg", fedavg), ("scaffold", scaffold)):
        for slip in (False, True):

            def loop(problem: Any, params: Any, rounds: int, rng: Any, run: Any = run, slip: bool = slip) -> Any:
                return run(problem, params, rounds, rng, slip)

            report = conformance.algorithm(name, run=loop, seed=seed, tolerance=TOLERANCE)
            found[f"{name}, {'wrong' if slip else 'right'}"] = report
    return found


if __name__ == "__main__":
    for report in main().values():
        print(report, end="\n\n")
