"""LoCoDL, Tables 1 and 2: each row from the theorem of its method, compared as an order."""

from __future__ import annotations

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.order import Order
from fedtheory.kinds.untested import Untested
from fedtheory.papers.locodl.complexity import (
    BEST_K,
    CHOICE_SCAFFNEW,
    CONDITION,
    FEWER_COORDINATES,
    FROM_THEOREMS,
    ITERATIONS_SCAFFNEW,
    REALS_SCAFFNEW,
    TABLE_1,
    TABLE_1_REGIMES,
    TABLE_2,
    iterations,
    s,
)
from fedtheory.papers.locodl.setting import CONSTANTS, d, k, kappa, n, omega, p, section

_POSITIVE = sympy.Gt(omega, 0, evaluate=False)
_small = (_POSITIVE, sympy.Le(omega, n, evaluate=False))
_equal = (_POSITIVE, sympy.Le(omega, 2 * n, evaluate=False), sympy.Ge(2 * omega, n, evaluate=False))
table_1 = section("Table 1", CONSTANTS, CONDITION)
table_2 = section("Table 2", CONSTANTS, CONDITION)


def _row(name: str, gist: str, tex: str, uses: tuple[str, ...] = ()) -> Claim:
    """Return the claim that a row of Table 1 follows from the theorem of its method."""
    order = Order(FROM_THEOREMS[name], TABLE_1[name], when=(_POSITIVE,))
    reading = "1/(1 - rate) of the method's own theorem with its best parameters"
    return table_1(name, order, gist, tex=tex, uses=uses, reading=reading)


def _all_of(orders: list[Order]) -> Order:
    first, *rest = orders
    return Order(first.left, first.right, both=first.both, when=first.when, also=tuple(rest))


TABLES = (
    _row("diana", "rounds of DIANA", r"(1+\frac{\omega}{n})\kappa+\omega"),
    _row("ef21", "rounds of EF21", r"(1+\omega)\kappa"),
    _row("5gcs-cc", "rounds of 5GCS-CC", r"\left(1+\sqrt{\omega}+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+\omega"),
    _row(
        "adiana-original",
        "rounds of ADIANA, Li et al.",
        r"\left(1+\frac{\omega^{3/4}}{n^{1/4}}+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+\omega",
    ),
    table_1(
        "adiana-refined",
        Untested(
            str(TABLE_1["adiana-refined"]),
            "cited from He et al. (2023): no theorem here implies it, as the parameters of theirs were not at hand",
        ),
        "rounds of ADIANA, He et al.",
        kind="order",
        tex=r"\left(1+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+\omega",
    ),
    table_1(
        "lower-bound",
        Untested(
            str(TABLE_1["lower-bound"]),
            "cited from He et al. (2023): no theorem here implies it; that no method here beats it is "
            "table-1/lower-bound/consistency",
        ),
        "rounds of the lower bound",
        kind="order",
        tex=r"\left(1+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+\omega",
    ),
    table_1(
        "lower-bound/consistency",
        _all_of(
            [
                Order(TABLE_1["lower-bound"], TABLE_1[name])
                for name in ("diana", "ef21", "5gcs-cc", "adiana-original", "locodl")
            ]
        ),
        "no row of a method of the table is below that of the lower bound",
        origin="observed",
        reading="no lower bound: the row is compared with five others, which follow from theorems (table-1/diana and "
        "so on)",
    ),
    _row(
        "locodl",
        "rounds of LoCoDL",
        r"\left(1+\sqrt{\omega}+\frac{\omega}{\sqrt{n}}\right)\sqrt{\kappa}+\omega(1+\frac{\omega}{n})",
        uses=("rounds-independent",),
    ),
    table_1(
        "regimes",
        _all_of(
            [
                Order(TABLE_1[name], column, both=True, when=regime)
                for name, columns in TABLE_1_REGIMES.items()
                for column, regime in zip(columns, (_small, _equal), strict=True)
            ]
        ),
        "the columns omega = O(n) and omega = Theta(n) follow from the first",
        tex=r"\omega=\mathcal{O}(n), \quad \omega=\Theta(n)",
    ),
    # How the rows of Table 2 follow from those of Table 1 is stated for LoCoDL alone.
    table_2(
        "from-table-1",
        _all_of(
            [
                order
                for name, best in BEST_K.items()
                for order in (
                    Order((k * TABLE_1[name]).subs(omega, d / k - 1).subs(k, best), TABLE_2[name][0]),
                    Order(TABLE_2[name][0], (k * TABLE_1[name]).subs(omega, d / k - 1), when=(FEWER_COORDINATES,)),
                )
            ]
        ),
        "each row that has one in Table 1 follows from it by rand-k with the best k",
        origin="implied",
        reading="the printed entry is reached with k = 1, for LoCoDL k = ceil(d/n), and no k does better than a "
        "constant",
    ),
    table_2(
        "compressedscaffnew",
        Order(
            (REALS_SCAFFNEW * p * ITERATIONS_SCAFFNEW).subs(p, CHOICE_SCAFFNEW[p]).subs(s, CHOICE_SCAFFNEW[s]),
            TABLE_2["compressedscaffnew"][0],
            when=(sympy.Ge(n, 2, evaluate=False),),
        ),
        "reals that CompressedScaffnew sends",
        tex=r"\left(\sqrt{d}+\frac{d}{\sqrt{n}}\right)\sqrt{\kappa}+d",
        reading="ceil(s d/n) reals a round and the iterations of its theorem, with s = max(2, floor(n/d)) and "
        "p = min(1, sqrt(n/(s kappa)))",
    ),
    table_2(
        "fedcomgate",
        Order(d * iterations((1 - 1 / kappa) ** 2), TABLE_2["fedcomgate"][0]),
        "reals that FedCOMGATE sends",
        tex=r"d\kappa",
        reading="with k = d, messages sent as they are, and one local step FedCOMGATE is gradient descent, as the sum "
        "of the corrections is 0: d reals in each of the rounds of baseline/gradient-descent/one-step. That fewer "
        "reals a round lead to the same is not stated: with the stepsizes that belong to the row FedCOMGATE does not "
        "converge for every omega (baseline/fedcomgate/limit), nor so for k = 1",
    ),
    table_2(
        "regime",
        _all_of(
            [
                Order(first, column, both=True, when=(sympy.Le(n, d, evaluate=False),))
                for first, column in TABLE_2.values()
            ]
        ),
        "the column n = O(d) follows",
        tex=r"n=\mathcal{O}(d)",
    ),
)
