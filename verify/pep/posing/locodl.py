"""LoCoDL on vectors known only by their inner products, and what its Sections 2 and 3.1 say of compression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.algorithms import locodl
from fedtheory.instances import Instance
from fedtheory.papers.locodl import method
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from verify.pep.functions import Formal, Primal, Record, repeated, rows
from verify.pep.gram import row
from verify.pep.posing.base import batch, each, make_problem
from verify.pep.randomness import Compressors


def _locodl(given: Instance) -> Formal:
    problem, params = given.problem, given.params
    n, mu, L = problem.n, problem.mu, problem.L
    x_star, u_star = row("x*"), rows("u*", n)
    v_star = -u_star.sum(axis=0) / n
    f = Record("f", each(mu, n), each(L, n), repeated(x_star, n), u_star)
    g = Record("g", each(mu, 1), each(L, 1), repeated(x_star, 1), v_star[None])
    # A claim may drop that the method is told the compressors' own omega.
    largest = max(params.omega, params.compressors.omega)
    family = Compressors(n, largest, params.compressors.omega_av, params.compressors.joint)
    formal = make_problem(Primal(f), Primal(g), (mu, L), x_star, u_star)
    asked = params._replace(compressors=family)

    def at(theta: Array) -> tuple[Problem, locodl.State]:
        x, y = x_star + rows("x", n), x_star + rows("y", 1)[0]
        return formal, locodl.init(formal, asked, batch(x), batch(y), batch(u_star + rows("u", n)))

    return Formal(Instance(formal, asked, 0, at), (f, g), family)


def _lifted(given: Instance, n: int) -> Callable[[Array], tuple[None, Any]]:
    """Points (x_1, ..., x_n, y) of the lifted space, in the type that the setting uses."""
    _, state = given.at(np.zeros((1, given.dimension), dtype=int))
    return lambda theta: (None, type(state)(batch(rows("x", n)), batch(rows("y", 1)[0])))


def _compression(given: Instance) -> Formal:
    family = given.params.compressors
    formal = Compressors(family.n, family.omega, family.omega_av, family.joint)
    params = given.params._replace(compressors=formal)
    return Formal(Instance(None, params, 0, _lifted(given, family.n)), (), formal)


def _consensus(given: Instance) -> Formal:
    return Formal(Instance(None, given.params, 0, _lifted(given, given.params.n)))


SETTINGS = {"locodl": _locodl, "compression": _compression, "consensus": _consensus}
#: Residuals that vanish on the states posed.
CHARTS: dict[str, Callable[..., Array]] = {"locodl": locodl.invariant}
#: The potential that contracts, for every bound of the setting.
POTENTIALS = {"locodl": method.PSI_NEXT}
