"""LoCoDL, Tables 1 and 2: each entry from what implies it, the columns of a regime by dropping dominated terms."""

from __future__ import annotations

import sympy

from fedtheory import claims
from fedtheory.compressors import FLOAT_BITS
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.numbers.symbols import epsilon
from fedtheory.papers.locodl import complexity
from fedtheory.papers.locodl.complexity import BEST_K, FROM_THEOREMS, TABLE_1, TABLE_2
from fedtheory.papers.locodl.setting import d, k, kappa, n, omega, p
from fedtheory.tables import Column, Row, Table, columns_of, growth, per_digit

_LABELS = {
    "diana": "DIANA",
    "ef21": "EF21",
    "5gcs-cc": "5GCS-CC",
    "adiana-original": "ADIANA (Li et al. 2020)",
    "adiana-refined": "ADIANA (He et al. 2023)",
    "lower-bound": "lower bound (He et al. 2023)",
    "compressedscaffnew": "CompressedScaffnew",
    "fedcomgate": "FedCOMGATE",
    "locodl": "LoCoDL",
}


def _le(left: object, right: object) -> sympy.Rel:
    return sympy.Le(left, right, evaluate=False)


_KAPPA, _CLIENTS, _DIMENSION = _le(1, kappa), _le(1, n), _le(1, d)
_DOMAIN = (sympy.Ge(kappa, 1), sympy.Le(k, d), sympy.Lt(epsilon, 1))
_ROUNDS = Column("rounds, theorem", "rounds, theorem")
_BITS = Column("bits, theorem", "bits, theorem")


def _rand_k() -> tuple[sympy.Expr, sympy.Expr]:
    """omega and message length of rand-k, from the claim on it."""
    statement = claims.get("locodl/eq-2/rand-k").statement
    assert isinstance(statement, CompressorClass)
    assert statement.bits is not None
    return statement.omega.subs({statement.d: d, statement.k: k}), statement.bits.subs({statement.d: d, statement.k: k})


#: Compressed messages that a client sends an iteration, where it is not one.
_MESSAGES = {"adiana-original": 2}


def build(name: str) -> Table:
    """Table 1 or Table 2."""
    return _table_1() if name == "locodl/table-1" else _table_2()


def _table_1() -> Table:
    variance, message = _rand_k()
    keys = list(TABLE_1)
    competes = [key != "lower-bound" for key in keys]
    small = (_KAPPA, _CLIENTS, _le(omega, n))
    # In omega = Theta(n) n is omega, up to a constant. Without n >= 1 the 1 in 1 + omega stays, as it is printed.
    columns = columns_of(
        [
            (lambda key: TABLE_1[key], (_KAPPA, _CLIENTS)),
            (lambda key: growth.simplify(TABLE_1[key], small), small),
            (lambda key: growth.simplify(TABLE_1[key].subs(n, omega), (_KAPPA,)), (_KAPPA,)),
        ],
        keys,
        competes,
    )

    def row(key: str) -> Row:
        rounds = per_digit(FROM_THEOREMS[key]) if key in FROM_THEOREMS else None
        bits = None if rounds is None else rounds * _MESSAGES.get(key, 1) * message
        return Row(key, _LABELS[key], columns[key], (TABLE_1[key], rounds, bits), key != "lower-bound")

    return Table(
        "locodl/table-1",
        (
            Column("rounds, O()", r"rounds, $\mathcal{O}(\cdot)$"),
            Column("case omega = O(n)", r"case $\omega=\mathcal{O}(n)$"),
            Column("case omega = Theta(n)", r"case $\omega=\Theta(n)$"),
        ),
        tuple(row(key) for key in keys),
        "Rounds without the factor log(1/epsilon), independent compressors. First column as printed, checked against "
        "the theorems by the claims locodl/table-1/...; the others drop what is dominated in their regime. Rounds of "
        "5GCS-CC with exact local proximal steps.",
        (Column("value of O()", r"value of $\mathcal{O}(\cdot)$"), _ROUNDS, _BITS),
        (n, kappa, omega),
        _DOMAIN,
        {omega: variance},
        "Rounds of communication of linearly converging methods with compression (LoCoDL, Table 1).",
    )


def uplink(key: str, regime: growth.Regime) -> sympy.Expr:
    """Order of the uplink reals of a method of Table 2 in a regime, from Table 1 or from its theorem.

    With rand-k, omega = d/k - 1 grows like d/k: where k is near d, the terms without omega are as large as the rest.
    """
    if key in BEST_K:
        return growth.simplify((k * TABLE_1[key]).subs(omega, d / k).subs(k, BEST_K[key]), regime)
    if key == "compressedscaffnew":
        # Its n >= 2 and s >= 2: n - 1 and s - 1 are of the order of n and s, and s of that of max(1, n/d).
        s = complexity.s
        reals = complexity.REALS_SCAFFNEW * p * complexity.ITERATIONS_SCAFFNEW.subs({n - 1: n, s - 1: s})
        return growth.simplify(reals.subs(p, complexity.CHOICE_SCAFFNEW[p]).subs(s, sympy.Max(1, n / d)), regime)
    return growth.simplify(TABLE_2[key][0], regime)


def _table_2() -> Table:
    variance, message = _rand_k()
    everywhere = (_KAPPA, _CLIENTS, _DIMENSION)
    few = (*everywhere, _le(n, d))
    keys = list(TABLE_2)
    columns = columns_of(
        [(lambda key: uplink(key, everywhere), everywhere), (lambda key: uplink(key, few), few)],
        keys,
        [True] * len(keys),
    )

    def row(key: str) -> Row:
        order = columns[key][0].value
        if key == "compressedscaffnew":
            rounds = per_digit(p * complexity.ITERATIONS_SCAFFNEW)
            bits, lets = rounds * FLOAT_BITS * complexity.REALS_SCAFFNEW, complexity.CHOICE_SCAFFNEW
            return Row(key, _LABELS[key], columns[key], (order, rounds, bits), lets=tuple(reversed(lets.items())))
        known = "adiana-original" if key == "adiana-refined" else key
        if known not in FROM_THEOREMS:
            return Row(key, _LABELS[key], columns[key], (order, None, None))
        rounds = per_digit(FROM_THEOREMS[known])
        measures = order, rounds, rounds * _MESSAGES.get(known, 1) * message
        return Row(key, _LABELS[key], columns[key], measures, lets=((k, sympy.sympify(BEST_K[key])), (omega, variance)))

    return Table(
        "locodl/table-2",
        (
            Column("uplink reals, O()", r"uplink reals, $\mathcal{O}(\cdot)$"),
            Column("case n = O(d)", r"case $n=\mathcal{O}(d)$"),
        ),
        tuple(row(key) for key in keys),
        "Uplink reals of a client without the factor log(1/epsilon), derived from Table 1 by rand-k with the best k "
        "(1, for LoCoDL ceil(d/n)); CompressedScaffnew from its theorem; FedCOMGATE as printed. Rounds and bits of "
        "ADIANA by the theorem of Li et al., of 5GCS-CC with exact local proximal steps.",
        (Column("value of O()", r"value of $\mathcal{O}(\cdot)$"), _ROUNDS, _BITS),
        (n, d, kappa),
        _DOMAIN,
        title="Uplink communication of linearly converging methods with compression (LoCoDL, Table 2).",
    )
