"""The linear maps of a step, read off by running the code on coordinates that are not known.

In coordinates z of R^m about the fixed point a step is z <- A_k z with probability p_k, and a run begins at
z = S theta, where theta are the coordinates of what a run chooses, the optimum and the gradients there among them. The
code is run on all z and theta at once (:mod:`fedtheory.numbers.polynomials`), so that this holds of all states of all
these problems, or the code is not such a map, which raises ``ValueError``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.numbers.polynomials import NotPolynomial, Undetermined, coefficients, form, same, unknowns, unseen
from fedtheory.numbers.rational import Array
from fedtheory.settings.relations import Quantity
from verify.base.case import Case
from verify.base.evaluate import rollout
from verify.comparisons.starts import generic

#: Rounds of a run in fractions that are compared with the maps.
_ROUNDS = 3


@dataclass(frozen=True)
class Dynamics:
    """``A (K, m, m)``, ``p (K,)``; ``S (m, size)``, None where runs begin at any state.

    ``state``, on ``problem``: with the coordinates z, the unknowns from ``first`` on, but for the ``hidden`` parts,
    which these do not determine: no code may look at them.
    """

    A: Array
    p: Array
    S: Array | None
    problem: Any
    state: Any
    first: int
    hidden: frozenset[str]

    def form(self, quantity: Quantity, params: Any) -> Array:
        """Return the matrix Q of a quantity z'Qz of the state. Raise ``NotPolynomial`` if it is not such a form."""
        try:
            with unseen():
                value = np.asarray(quantity.of(self.problem, params, self.state)).item()
        except Exception as error:
            raise NotPolynomial(f"{quantity.expression} is not a quadratic form of the coordinates: {error}") from error
        return form(value, self.first, self.A.shape[-1])


def read(case: Case) -> Dynamics:
    """Return the maps of a step of an exact instance. Raise ``ValueError`` unless the code is linear in the
    coordinates.
    """
    return steps(case, 1)[0]


def is_linear(case: Case, rounds: int = 1) -> bool:
    """Return True if this many steps of an exact instance are linear maps of the coordinates, for every draw."""
    try:
        steps(case, rounds)
    except NotPolynomial:
        return False
    return True


def steps(case: Case, rounds: int) -> list[Dynamics]:
    """As :func:`read`, of each of so many rounds, or of one for all of them where nothing varies."""
    found = traced(case, rounds)
    for passed, of_round in enumerate(found):
        with _as_not_polynomial(case.claim):
            _check(case, passed, of_round)
    return found


def traced(case: Case, rounds: int) -> list[Dynamics]:
    """As :func:`steps`, of numbers that are not known alone: enough to look for states, and not to tell what they
    show."""
    if not case.instance.quadratic or case.instance.coordinates is None or not case.instance.dimension:
        raise NotPolynomial(f"{case.claim.id} has no linear map there")
    found: list[Dynamics] = []
    for k in range(rounds if case.statement.algorithm.schedules else 1):
        # Entries that one round leaves undetermined must not be read by later ones.
        hidden = found[-1].hidden if found else frozenset()
        with _as_not_polynomial(case.claim), unseen():
            found.append(_trace(case, k, hidden))
    return found


@contextmanager
def _as_not_polynomial(claim: Claim) -> Iterator[None]:
    """``NotPolynomial`` for whatever fails: of numbers that are known the code need not fail."""
    try:
        yield
    except Exception as error:
        raise NotPolynomial(f"a step of {claim.id} is not a linear map of the coordinates: {error}") from error


def _trace(case: Case, passed: int, hidden: frozenset[str]) -> Dynamics:
    """The maps of a step ``passed`` rounds after the one at hand.

    ``hidden``: the parts of the state that the coordinates do not determine after the rounds before.
    """
    m = case.instance.dimension
    size, begun = 0, None
    at, coordinates = case.instance.at, case.instance.coordinates
    if case.instance.initial is not None:
        size = case.instance.size_of_start
        posed, begun = case.instance.initial(unknowns(0, size)[None])
        if case.instance.around is not None:
            at, coordinates = case.instance.around(posed)
    assert coordinates is not None
    problem, state = at(unknowns(size, m)[None])
    S = None
    if begun is not None:
        z = coordinates(begun)
        S = coefficients(np.asarray(z).reshape(m), 0, size)
        hidden |= _differing(begun, at(np.asarray(z).reshape(1, m))[1])
    while True:
        # Entries that coordinates do not determine after a step are not read by the next step.
        known = _without(state, hidden)
        later, p = rollout(case, problem, known, 1, passed)
        images = np.asarray(coordinates(later))
        again = at(images.reshape(-1, m))[1]
        lost = hidden | _differing(later, again)
        # A round of its own is not followed by another like it.
        if lost == hidden or case.statement.algorithm.schedules:
            break
        hidden = lost
    A = coefficients(images[0], size, m)
    return Dynamics(A, np.asarray(p), S, problem, _without(state, lost), size, lost)


def _check(case: Case, passed: int, found: Dynamics) -> None:
    """Raise ``NotPolynomial`` if runs in fractions are mapped otherwise: code may ask what kind of numbers it has."""
    assert case.instance.coordinates is not None
    for factor, rounds in ((1, _ROUNDS), (-1000, 1)):
        problem, state = case.instance.at(factor * generic(case.instance.dimension))
        _follow(case, passed, found, (problem, state, case.instance.coordinates), rounds)
    if case.instance.initial is not None:
        problem, state = case.instance.initial(generic(case.instance.size_of_start))
        coordinates = case.instance.coordinates if case.instance.around is None else case.instance.around(problem)[1]
        _follow(case, passed, found, (problem, state, coordinates), _ROUNDS)


def _follow(case: Case, passed: int, found: Dynamics, run: tuple[Any, Any, Any], rounds: int) -> None:
    """Some rounds of a run, of which those draws are followed that are the last but one, two and so on."""
    problem, state, coordinates = run
    z = np.asarray(coordinates(state)).reshape(-1)
    for k in range(1 if case.statement.algorithm.schedules else rounds):
        later, p = rollout(case, problem, state, 1, passed)
        images = np.asarray(coordinates(later)).reshape(len(p), -1)
        if not (images == found.A @ z).all() or not (np.asarray(p) == found.p).all():
            raise NotPolynomial("a state of fractions is mapped otherwise")
        draw = -1 - k % len(p)
        z, state = images[draw], type(later)(*(part[:, draw % len(p)][:, None] for part in later))


def _differing(one: Any, two: Any) -> frozenset[str]:
    """The parts of two states, of one row or one replica more, that are not the same polynomials."""
    found = set()
    for name, a, b in zip(one._fields, one, two, strict=True):
        b = np.asarray(b).reshape(np.shape(a)) if np.size(a) == np.size(b) else np.broadcast_to(b, np.shape(a))
        if not all(same(x, y) for x, y in zip(np.asarray(a).flat, np.asarray(b).flat, strict=True)):
            found.add(name)
    return frozenset(found)


def _without(state: Any, hidden: frozenset[str]) -> Any:
    opaque = {name: np.full(np.shape(getattr(state, name)), Undetermined(), dtype=object) for name in hidden}
    return state._replace(**opaque)
