"""All linear rates side by side, in the common vocabulary, and the rounds that they grant at their best parameters."""

from __future__ import annotations

from dataclasses import replace

import sympy

from fedtheory import claims, plugins
from fedtheory.claims import Claim
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.symbols import L, d, epsilon, kappa, m, mu, n, omega, omega_av
from fedtheory.papers.baseline import rival_settings
from fedtheory.papers.locodl import complexity
from fedtheory.papers.locodl.setting import chi
from fedtheory.tables import Column, Entry, Row, Table, per_digit


def build(name: str) -> Table:
    """A row for each method, by the first claim of its rate in the registry's order."""
    rows: dict[str, Row] = {}
    for claim in claims.all():
        factor = claim.statement.factor
        # A factor without letters is not a rate, a parameter rule borrows the rate of a theorem.
        if factor is None or not factor.free_symbols or claim.kind == "parameter-rule":
            continue
        method = claim.statement.algorithm.name
        if method not in rows:
            rows[method] = _row(method, claim, translated(claim, factor))
    return Table(
        name,
        (Column("claim", "claim"), Column("factor an iteration", "factor an iteration")),
        tuple(rows.values()),
        "The factor of each theorem's Lyapunov function or bound, as printed (`fedtheory audit` tells which hold). "
        "Numbers at the stepsizes that each theorem makes best, independent compressors, m of n clients in the methods "
        "of FedDCD and all in the others; a row whose letters have no value, or whose theorem leaves its parameters "
        "open, has none. Rounds of methods that do not compress carry d reals.",
        (Column("rounds", "rounds"), Column("iterations", "iterations")),
        (kappa, n),
        (sympy.Ge(kappa, 1), sympy.Ge(m, 2), sympy.Le(m, n), sympy.Lt(epsilon, 1)),
        title="Linear rates in common letters.",
    )


def translated(claim: Claim, expression: sympy.Expr) -> sympy.Expr:
    """An expression of a claim with its paper's letters replaced by the common ones, L/mu by kappa."""
    glossary = plugins.every()[claim.paper].glossary
    plain = {letter: common for letter, common in glossary.items() if letter.is_Symbol and letter != common}
    replaced = expression.subs(plain, simultaneous=True)
    if not replaced.has(L) or replaced.has(sympy.Max, sympy.Min):
        return replaced
    # With kappa = root^2 the gain is a rational function, whose common factors cancel.
    root = sympy.Dummy(positive=True)
    gain = sympy.factor(sympy.cancel((1 - replaced).subs(L, root**2 * mu)))
    return replaced if gain.has(mu) else 1 - gain.subs(root, sympy.sqrt(kappa))


def _row(method: str, claim: Claim, factor: sympy.Expr) -> Row:
    entries = Entry(claim.id), Entry(factor)
    lets = _choices().get(method, ())
    theorem = "adiana-original" if method == "adiana" else method
    if theorem in complexity.FROM_THEOREMS and not lets:
        factor = 1 - 1 / complexity.FROM_THEOREMS[theorem]
    iterations = -1 / sympy.log(factor)
    rounds = (rival_settings.p if rival_settings.p in dict(lets) else 1) * iterations
    row = Row(claim.id, method, entries, (per_digit(rounds), per_digit(iterations)), lets=lets)
    known = row.letters() <= {kappa, n, d, m, omega, epsilon}
    return row if known else replace(row, measures=(None, None))


def _choices() -> dict[str, tuple[tuple[sympy.Symbol, sympy.Expr], ...]]:
    """Parameters of the methods that communicate at random, in the order in which they are computed.

    A rate depends on mu and L through kappa only, so mu is 1.
    """
    gamma, eta, p, s = rival_settings.gamma, rival_settings.eta, rival_settings.p, complexity.s
    scaffnew = claims.get("baseline/scaffnew/rate").statement
    assert isinstance(scaffnew, ParameterRule)
    scale = ((mu, sympy.S.One), (L, kappa))
    average = ((omega_av, omega / n), (gamma, 1 / L), (chi, 1 / (1 + omega_av)), (p, complexity.P_8))
    clients = ((letter, complexity.CHOICE_SCAFFNEW[letter]) for letter in (s, p))
    return {
        "locodl": (*scale, *average),
        "scaffnew": (*scale, *scaffnew.assignments.items()),
        "gradskip": (*scale, (gamma, 1 / L), (rival_settings.q_max, sympy.S.One), (p, 1 / sympy.sqrt(kappa))),
        "compressed-scaffnew": (*scale, *clients, (gamma, 2 / (L + mu)), (eta, n * (s - 1) / (s * (n - 1)))),
    }
