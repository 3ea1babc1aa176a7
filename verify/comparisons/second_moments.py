"""Many rounds at once: the exact dynamics of second moments.

On quadratics with linear draws a step is z <- A_k z with probability p_k, in coordinates z about the optimum, and
E[z z'] evolves by M <- sum_k p_k A_k M A_k'. A quadratic quantity after T rounds is then a quadratic form of the start,
for any T, in floats or in fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms.schedules import Irrational
from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.numbers.intervals import Interval, Undecided
from fedtheory.numbers.polynomials import NotPolynomial
from fedtheory.numbers.rational import Array, enclosed, evaluate, exact, is_exact, to_float
from fedtheory.numbers.symbols import T
from fedtheory.sampling import pinned
from fedtheory.settings.relations import Quantity
from verify.base.along_runs import of_runs
from verify.base.case import Case
from verify.base.evaluate import params_after, rollout
from verify.comparisons.dynamics import Dynamics, steps, traced

#: Rounds at which a bound "for every T" is also tested, beyond those whose draws are enumerated.
LONG = (10, 30, 100)
#: Further rounds, as multiples of the number in which the bound shrinks by e.
_SPANS = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5))
#: The largest number of rounds.
LARGEST = 10**6
#: Rounds at which a bound that shrinks in no number of rounds is tested: what grows slowly passes any constant.
_FAR = (10**3, 10**4, 10**5, LARGEST)
#: Bits of the integers that stand for fractions: each round takes away one or two.
_BITS = 512
#: Coordinates up to which many rounds are reached by squaring a step's map of second moments.
_SMALL = 12
#: Rounds that are so many.
_MANY = 100
#: Rounds through which intervals are followed.
_FEW = 30
#: The largest relative error of a float.
_LAST_BIT = 2.0**-50
#: The largest relative excess of a product of nonnegative floats over its computed value.
_ABOVE = 2.0**-40
#: The most terms of such a product.
_TERMS = 2**10


def is_long(rounds: int) -> bool:
    """Return True if this many rounds are handled by second moments rather than by enumeration."""
    return LONG[0] <= rounds <= LARGEST


def rounds(case: Case) -> tuple[int, ...]:
    """The rounds at which a bound is tested by second moments: ``LONG``, about the time of contraction, or many where a
    power does not shrink, and beyond the numbers that stand in the claim."""
    statement = case.statement
    if statement.algorithm.schedules:
        # Every round has a map of its own.
        return LONG[:2]
    if case.instance.dimension > _SMALL:
        return LONG
    past = [T for c in pinned.numbers(case.claim) for T in (int(c) + 1, 2 * int(c))]
    try:
        factor = float(evaluate(statement.factor, case.letters))
    except (ValueError, ArithmeticError):
        factor = 0.0
    far = [int(span / -math.log(factor)) for span in _SPANS] if 0 < factor < 1 else []
    if factor >= 1 and statement.geometric is not None:
        far.extend(_FAR)
    late = (T for T in (*far, *past) if LONG[-1] < T <= LARGEST)
    return tuple(sorted({*LONG, *late}))


@dataclass(frozen=True)
class _BlockFloats:
    """Numbers within ``errors`` of ``entries``, both times 2**``exponent``: integers of ``_BITS`` bits at most.

    What is small next to the largest loses digits.
    """

    entries: Array
    errors: Array
    exponent: int

    def __matmul__(self, other: _BlockFloats) -> _BlockFloats:
        errors = _bound(abs(self.entries), other.errors) + _bound(self.errors, abs(other.entries) + other.errors)
        return _shortened(_product(self.entries, other.entries), errors, self.exponent + other.exponent)

    def __getitem__(self, index: Any) -> _BlockFloats:
        return _BlockFloats(self.entries[index], self.errors[index], self.exponent)

    def reshape(self, *shape: int) -> _BlockFloats:
        return _BlockFloats(self.entries.reshape(*shape), self.errors.reshape(*shape), self.exponent)

    @property
    def enclosed(self) -> Array:
        """The numbers as intervals."""
        unit = Fraction(2) ** self.exponent
        both = np.vectorize(lambda v, e: Interval((v - e) * unit, (v + e) * unit), otypes=[object])
        return both(self.entries, self.errors)


def _scaled(values: Array) -> _BlockFloats:
    """Fractions as integers with a common exponent."""
    bits = max((v.numerator.bit_length() - v.denominator.bit_length() for v in values.flat if v), default=0)
    scaled = values * Fraction(2) ** (_BITS - bits)
    entries = np.vectorize(round, otypes=[object])(scaled)
    return _BlockFloats(entries, (entries != scaled).astype(int).astype(object), bits - _BITS)


def _shortened(entries: Array, errors: Array, exponent: int) -> _BlockFloats:
    excess = max(int(abs(entries).max(initial=0)).bit_length() - _BITS, 0)
    # The part cut off of either is less than one.
    return _BlockFloats(entries >> excess, (errors >> excess) + 2 * (excess > 0), exponent + excess)


def _product(one: Array, other: Array) -> Array:
    """The product of two arrays of integers; of matrices by FLINT, as those of second moments have thousands of
    entries of hundreds of bits."""
    if not one.ndim == other.ndim == 2:
        return one @ other
    import flint

    product = flint.fmpz_mat(one.tolist()) * flint.fmpz_mat(other.tolist())
    found = np.empty((len(one), other.shape[1]), dtype=object)
    found[...] = [list(map(int, row)) for row in product.tolist()]
    return found


def _bound(one: Array, other: Array) -> Array:
    """Integers that the product of two arrays of nonnegative integers does not exceed: of errors a few digits do."""
    try:
        with np.errstate(over="raise", invalid="raise"):
            product = one.astype(float) @ other.astype(float) * (1 + _ABOVE)
    except ArithmeticError:
        return one @ other
    if one.shape[-1] > _TERMS or not np.isfinite(product).all():
        return one @ other
    # Each rounding, of numbers, products and sums, is off by 2^-53 of itself at most.
    return np.vectorize(math.ceil, otypes=[object])(product)


def superoperator(A: Any, p: Any) -> Any:
    """The matrix of Q -> sum_k p_k A_k' Q A_k on the triangles (i <= j) of symmetric forms Q."""
    if isinstance(A, _BlockFloats):
        sizes = abs(A.entries), abs(p.entries)
        errors = superoperator(sizes[0] + A.errors, sizes[1] + p.errors) - superoperator(*sizes)
        return _shortened(superoperator(A.entries, p.entries), errors, 2 * A.exponent + p.exponent)
    i, j = np.triu_indices(A.shape[-1])
    # Entry (a, b) of A'QA is the sum over i <= j of Q_ij (A_ia A_jb + A_ja A_ib), of one of the two where i = j.
    rows, columns = A[:, i], A[:, j]
    terms = rows[..., i] * columns[..., j] + np.where((i < j)[:, None], columns[..., i] * rows[..., j], 0)
    return np.moveaxis((p[:, None, None] * terms).sum(axis=0), 0, 1)


def pulled_back(A: Array, p: Array, Q: Array, rounds: int) -> Array:
    """The form Q as a form of the state ``rounds`` steps before; of fractions, by intervals.

    Fractions grow with every round, and so do the intervals of floats: ``Undecided`` after many rounds of these.
    """
    if any(isinstance(v, Interval) for values in (A, p, Q) for v in values.flat):
        if rounds > _FEW:
            raise Undecided("intervals are not followed through so many rounds")
        return _pulled_back(A, p, Q, rounds, lambda values: values)
    if not is_exact(A, Q):
        return _pulled_back(A, p, Q, rounds, lambda values: values)
    return _pulled_back(exact(A), exact(p), exact(Q), rounds, _scaled).enclosed


def _pulled_back(A: Array, p: Array, Q: Array, rounds: int, scaled: Callable[[Array], Any]) -> Any:
    """``pulled_back`` in the arithmetic of what ``scaled`` makes of arrays."""
    if rounds <= _MANY or len(Q) > _SMALL:
        size = A.shape[-1]
        weighted, plain, form = scaled((p[:, None, None] * A).reshape(-1, size).T), scaled(A), scaled(Q)
        for _ in range(rounds):
            # Matrices one below the other.
            form = weighted @ (form @ plain).reshape(-1, size)
        return form
    triangle = np.triu_indices(len(Q))
    place = np.zeros(Q.shape, dtype=int)
    place[triangle] = place.T[triangle] = np.arange(len(triangle[0]))
    S, q = superoperator(scaled(A), scaled(p)), scaled(Q[triangle])
    while rounds:
        if rounds % 2:
            q = S @ q
        rounds //= 2
        if rounds:
            S = S @ S
    return q[place]


def applies(case: Case) -> bool:
    """Return True if the bound's left side is one quantity, and the coordinates may have linear dynamics.

    :func:`may_be_followed` and :func:`is_followed` decide whether they do.
    """
    return (
        case.statement.horizon
        and case.instance.quadratic
        # Estimates double the coordinates: at fifty digits a hundred rounds would take minutes.
        and not case.setting.hints.lyapunov
        and case.instance.coordinates is not None
        and _sides(case.claim)[0].is_Symbol
        and not of_runs(case.statement)
        and not any(q.after and _sides(case.claim)[1].has(q.expression) for q in case.statement.quantities)
        and case.instance.around is not None
        and _started(case.instance) is not None
    )


def may_be_followed(case: Case, rounds: int) -> bool:
    """Return True if the steps of an exact instance are linear maps and the left side is a form, with unknown
    coefficients.

    That suffices to look for states, but not to decide what they show.
    """
    return _is_followed(case, rounds, traced)


def is_followed(case: Case, rounds: int) -> bool:
    """As :func:`may_be_followed`, and whether runs in fractions follow the maps."""
    return _is_followed(case, rounds, steps)


def _is_followed(case: Case, rounds: int, maps: Callable[..., list[Dynamics]]) -> bool:
    try:
        _left_form(case, maps(case, rounds)[-1], rounds)
    except NotPolynomial:
        return False
    except Irrational:
        # Floats are enough to look for states.
        return maps is traced
    return True


def _left_form(case: Case, last: Dynamics, rounds: int) -> Array:
    """Return the matrix of the left side after ``rounds`` rounds, given that of the last one."""
    return last.form(_left(case.claim), params_after(case, last.problem, rounds))


def _started(instance: Instance) -> Array | None:
    """The matrix that takes the coordinates of where a run begins to those of its state; None where 0 is not 0."""
    assert instance.initial is not None and instance.around is not None
    size = instance.size_of_start
    # Integers: neither fractions nor floats turn into the other.
    problem, state = instance.initial(np.eye(size + 1, size, k=-1, dtype=int))
    images = np.asarray(instance.around(problem)[1](state)).reshape(size + 1, -1)
    return None if (images[0] != 0).any() else images[1:].T


def _sides(claim: Claim) -> tuple[sympy.Expr, sympy.Expr]:
    """Both sides of a bound."""
    ((left, _, right),) = claim.statement.comparisons
    return left, right


def maps(case: Case, passed: int = 0) -> tuple[Array, Array]:
    """(A_k ``(K, m, m)``, p_k ``(K,)``): the linear parts of a step about the optimum, in floats.

    ``passed``: rounds before it, of a method whose parameters vary. Whether a step is linear is not asked: of fractions
    :func:`verify.comparisons.dynamics.read` tells it.
    """
    assert case.instance.coordinates is not None
    basis = np.eye(case.instance.dimension)
    problem, state = case.instance.at(np.concatenate([0 * basis[:1], basis]))
    later, p = rollout(case, problem, state, 1, passed)
    # Fractions in somebody's code make objects of floats.
    images = to_float(case.instance.coordinates(later))
    return np.moveaxis(images[1:] - images[:1], 0, -1), to_float(p)


def _form(case: Case, rounds: int = 0) -> Array:
    """The matrix Q with left(z) = z'Qz, in floats: the quantity of the left side with the parameters of this round."""
    basis = np.eye(case.instance.dimension)
    i, j = np.triu_indices(case.instance.dimension, 1)
    problem, state = case.instance.at(np.concatenate([basis, basis[i] + basis[j]]))
    params = params_after(case, problem, rounds)
    values = np.broadcast_to(to_float(_left(case.claim).of(problem, params, state)), (len(state[0]), 1))[:, 0]
    Q = np.zeros((case.instance.dimension,) * 2, dtype=values.dtype)
    squares = values[: case.instance.dimension]
    Q[np.arange(case.instance.dimension), np.arange(case.instance.dimension)] = squares
    Q[i, j] = Q[j, i] = (values[case.instance.dimension :] - squares[i] - squares[j]) / 2
    return Q


def _left(claim: Claim) -> Quantity:
    """The quantity that is the left side of a bound."""
    left, _ = _sides(claim)
    return next(q for q in claim.statement.quantities if q.expression == left)


def left_forms(case: Case, rounds: tuple[int, ...]) -> list[tuple[Array, float]]:
    """For each T, the form in the coordinates of the initial state whose value is E[left after T rounds], in floats,
    and by how much it changes where the maps are rounded otherwise.

    The list ends before the first that is beyond the floats.
    """
    varies = bool(case.statement.algorithm.schedules)
    A, p = maps(case)
    signs = np.random.default_rng(0).choice([-1, 1], A.shape)
    both = [A, A * (1 + _LAST_BIT * signs)]
    forms, found, done = [_form(case)] * 2, [], 0
    start_matrix = _started(case.instance)
    assert start_matrix is not None
    for target in rounds:
        if varies:
            Q = _form(case, target)
            for k in reversed(range(target)):
                Q = pulled_back(*maps(case, k), Q, 1)
            forms = [Q] * 2
        else:
            forms = [pulled_back(A, p, Q, target - done) for A, Q in zip(both, forms, strict=True)]
        done, (form, other) = target, (start_matrix.T @ Q @ start_matrix for Q in forms)
        # Sums of such entries must not overflow either.
        if not abs(form).max(initial=0) < 1e100:
            break
        found.append((form, float(abs(form - other).max(initial=0))))
    return found


def bound_at(case: Case, theta: Array, rounds: int) -> Array:
    """The right side after ``rounds`` rounds at initial coordinates ``theta (M, dimension)``: ``(M,)``."""
    problem, state = case.start(theta)
    values: dict[Any, Any] = {**case.setting.bind(problem, case.params), T: rounds}
    for quantity in case.statement.quantities:
        if not quantity.after:
            values[quantity.expression] = quantity.of(problem, case.params, state)
    if rounds > _MANY and is_exact(theta):
        # A fraction to such a power has as many digits.
        values = {key: value if key == T else enclosed(value) for key, value in values.items()}
    return np.broadcast_to(np.asarray(evaluate(_sides(case.claim)[1], values)), (len(theta), 1))[:, 0]


def sides_after(case: Case, theta: Array, rounds: int) -> tuple[Array, Array]:
    """(left, right) after ``rounds`` rounds at one initial state ``theta (1, dimension)``, exact on fractions.

    Raise ``ValueError`` unless on fractions the code is linear in the coordinates, and the left side a form in them.
    """
    right = bound_at(case, theta, rounds)
    if not is_exact(theta):
        ((form, _),) = left_forms(case, (rounds,))
        return np.array([theta[0] @ form @ theta[0]]), right
    found = steps(case, rounds)
    last = found[-1]
    Q = _left_form(case, last, rounds)
    for step in reversed(found):
        Q = pulled_back(step.A, step.p, Q, 1 if case.statement.algorithm.schedules else rounds)
    z = theta[0] if last.S is None else last.S @ theta[0]
    return np.array([z @ Q @ z]), right
