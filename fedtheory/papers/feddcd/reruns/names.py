"""Names of the numbers of FedDCD's figures: models, methods, setups, rounds and gaps."""

from __future__ import annotations

LINEAR, PERCEPTRON = "MLR", "MLP"
PRIMAL, DUAL = ("FedAvg", "FedProx", "SCAFFOLD"), ("FedDCD", "AccFedDCD")
METHODS = PRIMAL + DUAL
#: AccFedDCD, where its iterations are counted by their exchanges.
EXCHANGES = "AccFedDCD's exchanges"
#: The setups of Table 2 that 10,000 images allow: model, clients a round, target. With fewer steps an epoch than in the
#: paper the perceptron does not come to its gaps 1e-1 and 1e-2 in this many rounds: a risk of 0.3 stands for 1e-2.
SETUPS = (
    (LINEAR, 30, 1e-3),
    (LINEAR, 30, 1e-2),
    (LINEAR, 10, 1e-2),
    (LINEAR, 5, 1e-1),
    (PERCEPTRON, 30, 0.3),
    (PERCEPTRON, 10, 0.5),
    (PERCEPTRON, 5, 1.0),
)
#: Rounds at most in Table 2; those after which Figure 2 is looked at.
ROUNDS, LOOKED = 100, (15, 30)


def rounds(method: str, model: str, tau: int, target: float) -> str:
    """The name of the rounds of a method to a target."""
    return f"{method}, {model}, tau = {tau}, {target:g}:"


def advantage(model: str, tau: int, target: float) -> str:
    """The name of the rounds of the best dual method over those of the best primal one."""
    return f"best dual / best primal, {model}, tau = {tau}, {target:g}:"


def after(count: int, method: str, model: str, what: str = "gap") -> str:
    """The name of the gap of a method after so many rounds, with clients of two classes; or of something else."""
    return f"{method}, {model}, {what} after {count}:"
