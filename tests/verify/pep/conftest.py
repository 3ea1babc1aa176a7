"""Solvers whose last digits are others, as they are on another processor."""

import numpy as np
import pytest

from verify.pep import programs

#: Relative size of the noise on what a solver answers.
NOISE = 1e-7


@pytest.fixture(params=[None, 0, 1], ids=lambda seed: "as it is" if seed is None else f"noise {seed}")
def solver(request, monkeypatch):
    """The solver, and the same with noise from a seeded generator on all that it answers."""
    if request.param is None:
        return
    rng, run = np.random.default_rng(request.param), programs.run

    def noisy(problem):
        status = run(problem)
        for variable in (*problem.variables(), *(dual for c in problem.constraints for dual in c.dual_variables)):
            if variable.value is not None:
                noise = rng.standard_normal(variable.shape)
                noise = (noise + noise.T) / 2 if noise.ndim == 2 else noise
                variable.save_value(variable.value * (1 + NOISE * noise))
        return status

    monkeypatch.setattr(programs, "run", noisy)
