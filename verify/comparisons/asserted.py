"""Compare what the author of a claim asserts of a method with its code, at exact instances.

- Draws follow one distribution: all states of an array share their draws, and so do all branches of the tree of
  draws, so draws that depended on the state would be those of another state. Proofs concern draws in fractions, while
  runs draw in floats.
- Replicas are independent: a step or a quantity maps one state and one draw to the same result whatever else is in
  the array, since a run has nothing else in it; and neither modifies its arguments.
- The known properties of states hold.
- A step leaves the fixed point unchanged.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import sympy

from fedtheory.algorithms.base import no_step, place
from fedtheory.compressors import codec
from fedtheory.instances import Instance
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.intervals import Interval, Undecided
from fedtheory.numbers.polynomials import Unknown, unseen
from fedtheory.numbers.rational import Array, exact, to_float
from fedtheory.randomness import map_leaves, support_of
from fedtheory.randomness.directions import LARGEST_DESIGN, ORDERS, is_endless, with_designs
from fedtheory.sampling.chart import nullspace, rank, skeleton, ties_less, untied
from fedtheory.settings.relations import of_one_state
from verify.base.case import Case
from verify.base.evaluate import check_scalar, compared_by_size, differing, rollout, shaped
from verify.comparisons.starts import generic, only_start
from verify.reading.program import kinds_at_rest

#: The remark on other ones.
SAME = "draws must be the same in all states"
#: The most draws that are compared.
MOST = 1000
#: Sizes of the states at which they are compared.
SIZES = (Fraction(0), Fraction(1), Fraction(-1000))
#: The most by which floats may be off.
OFF = 1e-9
#: Coordinates up to which a state that stays is solved for.
LARGEST = 12

#: Messages that are written and read back.
MESSAGES = 8

#: The values of steps and quantities.
_REAL = (numbers.Real, np.bool_, Interval, mpmath.mpf)


def check_draws(case: Case) -> None:
    """Raise ``ValueError`` if what a step of the claim's method draws depends on the state, or on the kind of
    numbers.
    """
    algorithm = case.statement.algorithm
    if algorithm is None:
        return
    found = []
    for kind in (True, False):
        at = case if kind else case.floats
        row = generic(at.dimension)
        problem, state = at.start(row if kind else to_float(row))
        draws = algorithm.draws(problem, at.params, state)
        if draws.count is not None and draws.count > MOST:
            return
        sealed = type(state)(*(np.full(np.shape(part), Unknown(), dtype=object) for part in state))
        try:
            with unseen():
                again = algorithm.draws(problem, at.params, sealed)
        except Exception as error:
            raise ValueError(f"what {algorithm.name} draws depends on the state ({error}): {SAME}") from error
        if draws.count is None:
            continue
        found += [support_of(draws, kind), support_of(again, kind)]
    for index, one in enumerate(found[1:]):
        if not _same(found[0], one):
            why = "on the state" if index != 1 else "on whether numbers are floats or fractions"
            raise ValueError(f"what {algorithm.name} draws depends {why}: {SAME}")


def check_replicas(case: Case) -> None:
    """Raise ``ValueError`` if what a step or a quantity makes of one state and one draw, at an exact instance, depends
    on the others that stand beside them in an array, or where it changes what it is given."""
    if case.setting.drawing.special is not None or case.setting.algorithm is None or case.problem is None:
        return
    rows = np.concatenate([generic(case.dimension) * factor for factor in (1, 3)])
    whole = _replicas(case, rows, slice(None))
    alone = {(m, k): _replicas(case, rows[m : m + 1], slice(k, k + 1 or None)) for m in (0, 1) for k in (0, -1)}
    for (m, k), found in alone.items():
        for (code, together), (_, single) in zip(whole, found, strict=True):
            values = np.asarray(together), np.asarray(single)
            if any(isinstance(x, sympy.Basic) for value in values for x in value.flat):
                raise ValueError(f"{place(code)} computes with numbers of sympy: write 1 / 3 or Fraction(1, 3)")
            if not all(isinstance(x, _REAL) for value in values for x in value.flat):
                raise ValueError(f"{place(code)} does not return a real number")
            if not _is_replica(*values, m, k):
                raise ValueError(
                    f"{place(code)} mixes replicas: of one state and one draw it makes something else where others "
                    "stand beside them, on the axes before those of a vector and of the clients"
                )


def _replicas(case: Case, rows: Array, drawn: slice) -> list[tuple[Any, Any]]:
    """Return the results of a step from states at coordinates, and of each quantity before or after it,
    by their code.
    """
    statement = case.statement
    problem, state = case.start(rows)
    # An optimum that nobody asks for may not be known.
    optima = [vars(problem).get(name) for name in ("known", "optimum")]
    _lock(*state, *(part for one in optima if one is not None for part in (one.x, one.y)), *vars(problem.f).values())
    algorithm = statement.algorithm
    later, params, found = state, case.params, []
    if algorithm is not None and algorithm.step is not no_step:
        distribution = algorithm.draws(problem, params, state)
        if is_endless(distribution) and problem.d <= LARGEST_DESIGN:
            distribution = with_designs(distribution, ORDERS[0])
        if distribution.count is not None and distribution.count <= MOST:
            draws, p = support_of(distribution, True)
            before = type(state)(*(np.repeat(part, len(p[drawn]), axis=1) for part in state))
            _lock(*before)
            after = algorithm.step(problem, params, before, map_leaves(lambda leaf: _lock(leaf[drawn]), draws))
            fields = zip(after, before, state._fields, strict=True)
            later = type(state)(*(_lock(shaped(*field, algorithm.step)) for field in fields))
            found += [(algorithm.step, part) for part in later]
    scalars = compared_by_size(statement.comparisons)
    for quantity in of_one_state(statement.quantities):
        value = quantity.of(problem, params, later if quantity.after else state)
        if scalars & quantity.expression.free_symbols or quantity not in statement.quantities:
            due = (later if quantity.after else state)[0].shape[:2]
            check_scalar(quantity, value, due, quantity.after)
        found.append((quantity.of, value))
    return found


def _lock(*parts: Any) -> Any:
    """The first of some parts, of which the arrays can no longer be written to."""
    for part in parts:
        if isinstance(part, np.ndarray):
            part.setflags(write=False)
    return parts[0]


def _is_replica(together: Array, single: Array, m: int, k: int) -> bool:
    """Return True if a value equals the entry of state m and draw k among all, or the one value shared by all."""
    if together.shape == single.shape and _near(together, single):
        return True
    if together.ndim != single.ndim or single.shape[:1] != (1,):
        return False
    of_state, alone = together[m if len(together) > 1 else 0], single[0]
    if of_state.shape == alone.shape:
        return _near(of_state, alone)
    return alone.shape[:1] == (1,) and _near(of_state[k], alone[0])


def _near(one: Any, two: Any) -> bool:
    """Return True if numbers are equal up to rounding."""
    try:
        if np.shape(one) == np.shape(two) and bool(np.all(np.asarray(one) == np.asarray(two))):
            return True
    except Undecided:
        # Intervals that overlap: their midpoints are compared.
        pass
    try:
        a, b = to_float(one), to_float(two)
    except OverflowError:
        # Fractions beyond the floats are not rounded.
        return False
    size = np.abs(b[np.isfinite(b)]).max(initial=1)
    return a.shape == b.shape and np.allclose(a, b, rtol=OFF, atol=OFF * size, equal_nan=True)


def check_chart(case: Case) -> None:
    """Raise ``ValueError`` if the states that are looked at are not all that the invariant of the method allows."""
    algorithm = case.setting.algorithm if case.setting.drawing.special is None else None
    if algorithm is None or algorithm.invariant is None or case.problem is None:
        return
    n, with_g = case.problem.n, case.problem.g is not None
    untied(algorithm, skeleton(algorithm, n, case.params, with_g), n, case.params, with_g)


def failed_assertion(case: Case) -> str:
    """Return which assertion of the claim's author on its states fails at an exact instance; empty if none does.

    ``ValueError`` as :func:`check_chart`.
    """
    check_chart(case)
    return unknown(case) or unheld(case) or unstarted(case)


def unknown(case: Case) -> str:
    """Return why the setting's known inequalities on states fail at an exact instance; empty if they hold."""
    known = case.setting.hints.known
    if known is None:
        return ""
    for row in _rows(case.instance.dimension):
        problem, state = case.instance.at(row)
        if any(v > 0 for v in np.asarray(known(problem, case.params, state)).flat):
            return "what the setting says is known of all states fails at a state that init makes"
    return ""


def unheld(case: Case) -> str:
    """Return why the invariant of a setting's method is not one at an exact instance; empty if it is.

    It holds where the method starts and at the states of the chart, and steps keep it where a claim is about steps.
    """
    algorithm = case.setting.algorithm if case.setting.drawing.special is None else None
    if algorithm is None or algorithm.invariant is None:
        return ""
    kept = case.with_claim(replace(case.claim, statement=Invariant(algorithm, algorithm.invariant, "")))
    steps = (case.statement.stepping or case.statement.scope is Scope.LIMIT) and algorithm.step is not no_step
    starts = [("its initial states", case.instance.initial, case.instance.size_of_start)]
    starts += [("states about its fixed point", case.instance.at, case.instance.dimension)]
    for where, at, size in starts:
        if at is None:
            continue
        problem, state = at(generic(size))
        if _breaks(algorithm, problem, case.instance, state):
            begin = where == starts[0][0]
            advice = ": begin elsewhere, by init=, or leave the start free, by Drawing(start=...)" if begin else ""
            return f"the invariant of {algorithm.name} does not hold at {where}{advice}"
        if steps and _breaks(algorithm, problem, case.instance, rollout(kept, problem, state, 1)[0]):
            return f"a step of {algorithm.name} from {where} breaks its invariant"
    if case.problem is not None and ties_less(algorithm, case.problem, case.params):
        return f"the invariant of {algorithm.name} ties less of a state there than on other problems"
    return ""


def unstarted(case: Case) -> str:
    """Return why the invariant does not vanish where runs begin; empty if it does."""
    statement = case.statement
    if statement.residual is None or case.instance.initial is None:
        return ""
    problem, state = case.instance.initial(generic(case.instance.size_of_start))
    if any(v != 0 for v in np.asarray(statement.residual(problem, case.params, state)).flat):
        return f"what is to stay 0 along every run of {statement.algorithm.name} is nonzero at the start of a run"
    return ""


def _breaks(algorithm: Any, problem: Any, instance: Instance, state: Any) -> bool:
    """Return True if the invariant fails at some of these states."""
    return any(v != 0 for v in np.asarray(algorithm.invariant(problem, instance.params, state)).flat)


def reaches(instance: Instance) -> bool:
    """Return True if the coordinates of an exact instance move every entry of its state independently: an exact rank.

    False where they do so by no affine map.
    """
    size = instance.dimension
    row = generic(size)
    _, state = instance.at(np.concatenate([exact(np.eye(size + 1, size, k=-1, dtype=int)), row]))
    parts = [np.asarray(part) for part in (state if isinstance(state, tuple) else (state,))]
    if any(part.shape[:1] not in ((1,), (size + 2,)) for part in parts):
        return False
    flat = [np.broadcast_to(part, (size + 2, *part.shape[1:])).reshape(size + 2, -1) for part in parts]
    found = exact(np.concatenate([*flat, np.zeros((size + 2, 0), dtype=int)], axis=1))
    moved, other = (found[1:-1] - found[:1]).T, found[-1] - found[0]
    return rank(moved) == len(moved) and bool((moved @ row[0] == other).all())


def unfixed(case: Case) -> str:
    """Return why a limit is meaningless at an exact instance: a step leaves the method's fixed point; empty
    otherwise.
    """
    statement = case.statement
    if statement.scope is not Scope.LIMIT or _stays(case, *_fixed(case)):
        return ""
    return f"a step of {statement.algorithm.name} leaves {_centre(statement.algorithm)}"


_AT_OPTIMUM = {"point": "x*", "feasible": "x*", "models": "x*", "gradients": "grad f_i(x*)"}


def _centre(algorithm: Any) -> str:
    """Describe the state used as the method's fixed point, and how to supply one if its author does not."""
    kinds = kinds_at_rest(algorithm)
    if kinds is None:
        return "what is given as its fixed point"
    at = ", ".join(f"{name} = {_AT_OPTIMUM.get(kind, 0)}" for name, kind in kinds.items())
    return (
        f"{at}, which is taken for its fixed point as none is given (points are put at x*, clients' vectors at 0): "
        f"write ft.method(..., fixed_point=...), a function of (problem, params) that returns the state that is kept"
    )


def resting(case: Case) -> tuple[Any, Any] | None:
    """The problem of an exact instance, and a state that every step of a limit's method leaves as it is; or None.

    Where all runs begin in one state, that one if it is left as it is. Else the fixed point, or what solves the
    equations of one where the coordinates move by affine maps.
    """
    start = only_start(case)
    if start is not None and _stays(case, *start):
        return start
    problem, state = _fixed(case)
    if _stays(case, problem, state):
        return problem, state
    size = case.instance.dimension
    if case.instance.coordinates is None or not 0 < size <= LARGEST:
        return None
    problem, states = case.instance.at(exact(np.eye(size + 1, size, k=-1, dtype=int)))
    later, p = rollout(case, problem, states, 1)
    images = np.asarray(case.instance.coordinates(later))[:, np.asarray(p > 0)]
    # The equations for z: (A_k - I) z + b_k = 0 for each draw k.
    A = np.moveaxis(images[1:] - images[:1], 0, -1) - np.eye(size, dtype=int)
    solutions, free = nullspace(np.concatenate([images[0][..., None], A], axis=-1).reshape(-1, size + 1))
    if 0 not in free:
        return None
    problem, state = case.instance.at(exact(solutions[None, 1:, free.index(0)]))
    return (problem, state) if _stays(case, problem, state) else None


def _fixed(case: Case) -> tuple[Any, Any]:
    problem, _ = case.instance.at(exact(np.zeros((1, case.instance.dimension), dtype=int)))
    fixed = case.statement.algorithm.fixed_point(problem, case.params)
    return problem, type(fixed)(*(np.asarray(part)[None, None] for part in fixed))


def _stays(case: Case, problem: Any, state: Any) -> bool:
    """Return True if a step leaves a state unchanged, for every draw."""
    return not differing(rollout(case, problem, state, 1)[0], state)


def _rows(size: int) -> Iterator[Array]:
    """Coordinates ``(1, size)`` of a few states, in fractions."""
    for scale in SIZES:
        yield scale * generic(size)


def _same(one: tuple[Any, Array], two: tuple[Any, Array]) -> bool:
    """Return True if draws and probabilities are equal up to rounding."""
    same: list[bool] = []

    def compare(a: Array, b: Array) -> Array:
        same.append(np.shape(a) == np.shape(b) and np.allclose(to_float(a), to_float(b), rtol=OFF, atol=OFF))
        return a

    map_leaves(compare, one[0], two[0])
    compare(one[1], two[1])
    return all(same)


def writes(statement: CompressorClass) -> bool:
    """Return True if a compressor's messages have the stated number of bits and decode to its output.

    This is tried at one size, in floats. It is True if no number of bits is stated.
    """
    if statement.bits is None:
        return True
    rng, d = np.random.default_rng(0), 5
    try:
        compressor = statement.compressor(d, 2)
        for _ in range(MESSAGES):
            draw, x = compressor.draws.sample(rng), rng.standard_normal(d)
            message = codec.encode(compressor, draw, x)
            made = to_float(compressor.apply(draw, x)).astype(np.float32)
            if len(message) != compressor.bits or not bool((codec.decode(compressor, message) == made).all()):
                return False
    except ValueError:
        return False
    return True
