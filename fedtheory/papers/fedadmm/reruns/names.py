"""Names of the numbers that FedADMM's figures compare."""

from __future__ import annotations

from typing import NamedTuple

METHODS = ("FedADMM", "FedAvg", "FedProx", "FedAlt", "FedSim")
RIVALS = METHODS[1:]


class RoundSetting(NamedTuple):
    """``m`` clients, the share ``rho`` of them a round, ``k0`` iterations a round."""

    m: int
    rho: float
    k0: int


def key(of: str, method: str, label: str) -> str:
    """The name of a number of a method: "rounds", "gradients" or "early value"."""
    return f"{of} {method}, {label}:"
