"""Names of the numbers of Federated Optimization's figures: methods, rounds, errors."""

from __future__ import annotations

GD, COCOA, FSVRG, FSVRGR = "GD", "CoCoA+", "FSVRG", "FSVRGR"
#: Rounds, as in the paper, and those after which the objective is looked at; rounds at scale.
ROUNDS, LOOKED, AT_SCALE = 30, (10, 20, 30), 10
#: Methods that the paper tried besides, and their rounds.
OTHERS, OTHER_ROUNDS = ("DANE, mu = 0", "DANE, mu = 1", "one-shot averaging"), 5
#: lambda over 1/n, of which 1 has the least test error.
LAMBDAS = (0.1, 1.0, 10.0, 100.0)
#: "Few nodes", "almost every user", as shares of the nodes.
FEW, ALMOST = 0.1, 0.9


def objective(method: str, rounds: int) -> str:
    """The name of the objective of a method after so many rounds."""
    return f"{method}, f after {rounds}:"


def error(who: str) -> str:
    """The name of somebody's test error."""
    return f"{who}, test error:"


def regularised(factor: float) -> str:
    """The name of the test error of the optimum with so many times 1/n for lambda."""
    return error(f"optimum, lambda = {factor:g}/n")


#: Names of other numbers.
EVERYWHERE, RARE, COMMON = "features on all nodes:", "share of features on few nodes:", "common but rare in examples:"
EXCESS, DIFFERENCE = (
    "least test error of FSVRG over the optimum's:",
    "gained by FSVRG and not by FSVRGR, or conversely:",
)
HOLDERS = "largest share of nodes that hold a feature:"
CONSTANT, MAJORITY = error("-1"), error("majority of each author")


def gained(method: str) -> str:
    """The name of the share of the way to the optimum, in f, that a method went."""
    return f"{method}, share gained:"
