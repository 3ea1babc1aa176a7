"""FedDCD, Table 1: rounds of the cited methods as printed, of the paper's own by its theorems."""

from __future__ import annotations

import sympy

from fedtheory import claims
from fedtheory.kinds.order import Order
from fedtheory.numbers import symbols
from fedtheory.papers.feddcd.dual import N, alpha, beta, tau
from fedtheory.papers.feddcd.rounds import CITED, K, epsilon, n, sigma, zeta
from fedtheory.tables import Column, Entry, Row, Table

_CITED = {"mb-sgd": "MB-SGD", "fedavg": "FedAvg", "scaffold": "SCAFFOLD"}
_OWN = {"feddcd": "FedDCD", "accfeddcd": "AccFedDCD"}


def build(name: str) -> Table:
    """Table 1, in the paper's letters; the common n, m, mu and L are understood too."""

    def row(key: str, label: str, order: object, rounds: object = None) -> Row:
        return Row(
            key, label, (Entry(order),), (order, None if rounds is None else sympy.Max(1, rounds, evaluate=False))
        )

    def own(key: str, label: str) -> Row:
        statement = claims.get(f"feddcd/table-1/{key}").statement
        assert isinstance(statement, Order)
        return row(key, label, statement.right, statement.left)

    return Table(
        name,
        (Column("rounds, O()", r"rounds, $\mathcal{O}(\cdot)$"),),
        (
            *(row(key, label, CITED[key]) for key, label in _CITED.items()),
            *(own(k, label) for k, label in _OWN.items()),
        ),
        "K local steps, sigma^2 the variance of gradients, zeta the heterogeneity. Cited rows as printed; the n of "
        "MB-SGD is read as N. FedDCD and AccFedDCD from eq. (5) and (12).",
        (Column("value of O()", r"value of $\mathcal{O}(\cdot)$"), Column("rounds, theorem", "rounds, theorem")),
        (alpha, beta, N, tau, zeta, sigma, K, epsilon),
        (sympy.Le(alpha, beta), sympy.Ge(tau, 2), sympy.Le(tau, N), sympy.Lt(epsilon, 1)),
        {N: n, n: N, tau: symbols.m, alpha: symbols.mu, beta: symbols.L},
        "Rounds of communication to accuracy epsilon (FedDCD, Table 1).",
    )
