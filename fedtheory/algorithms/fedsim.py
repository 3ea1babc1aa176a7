"""FedSim: personal and shared models, stepped together (Pillutla et al. 2022; FedADMM, Section 5.3).

The losses, parameters and states are those of FedAlt.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms import fedalt
from fedtheory.algorithms.dialect import Array, Problem, everywhere, method
from fedtheory.algorithms.fedalt import Params, State, personal_slope, shared_slope
from fedtheory.algorithms.minibatch_sgd import mean_over


def step(problem: Problem, params: Params, state: State, draw: Array) -> State:
    """k_0 simultaneous steps on the personal models and on copies of the shared one, which the server averages."""
    W, V = everywhere(problem, state.w), state.V
    for _ in range(params.k0):
        W, V = (
            W - params.gamma_w * shared_slope(problem, params, W, V),
            V - params.gamma_v * personal_slope(problem, params, W, V),
        )
    return State(mean_over(draw, params.tau, W), np.where(draw[..., None], V, state.V))


algorithm = method("fedsim", step, Params, State, draws=fedalt.draws, fixed_point=fedalt.fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- mean over participants of k_0 steps v <- v - gamma_w ((1 - alpha) grad f_i(v) + mu (v - v_i)) "
    "from w, together with those on v_i",
    "V": "v_i <- k_0 steps v_i <- v_i - gamma_v (alpha grad f_i(v_i) - mu (v - v_i)), for participants, v "
    "their copy of w",
}


#: A small problem's parameters.
EXAMPLE = fedalt.EXAMPLE
