"""Whether code treats all coordinates of a vector alike, so that what it does to formal vectors holds in any dimension.

Formal vectors have one entry, and code that mixes coordinates looks there like code that does not. Here every vector is
spread over several entries, its parts, whose inner products add up to its own. An oracle or a compressor answers to the
parts of one vector with the parts of its answer, and takes nothing else. The state after a step must then be made of
the parts of what it is on one entry, and a quantity must be the same sum of inner products, each summed over the parts.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import expectation, support_of
from verify.base.evaluate import rollout
from verify.base.faults import DEFECTS, theirs
from verify.pep import watching
from verify.pep.gram import ZERO, Form, NotLinear, Row, Vector, row
from verify.pep.letters import Looked

#: Numbers of parts that are tried: one whose entries can be swapped, one in which they can be shifted or cut off.
SIZES = (2, 5)

_THETA = np.zeros((1, 0))

#: Names and values, in the order in which they were computed.
_Named = list[tuple[str, Any]]


def mixing(claim: Claim, pose: Callable[[], Instance], sizes: tuple[int, ...] = SIZES) -> str | None:
    """What of a claim's step and quantities does not treat the coordinates of vectors alike, in words, or None.

    ``pose()``: a formal instance on vectors with one entry, made anew each time and always in the same way; ``sizes``:
    numbers of parts. What fails on one entry raises as it does; what fails on several only is not the same code.
    """
    one = _seen(claim, pose(), _Parts(1))
    for d in sizes:
        parts = _Parts(d)
        try:
            found = _difference(claim, one, _seen(claim, pose(), parts), parts)
        except Exception as error:
            if isinstance(error, DEFECTS) and theirs(error) is None:
                raise
            # Somebody's own code may fail in any way, and what it computes may have no meaning in several entries.
            found = f"what it computes ({type(error).__name__}: {error})"
        if found is not None:
            return f"{found}, in {d} dimensions"
    return None


def looking(claim: Claim, pose: Callable[[], Instance]) -> str | None:
    """On what a claim's step and quantities may depend that formal vectors do not show, in words, or None.

    The code runs on letters and sizes that refuse to be looked at (:mod:`verify.pep.watching`); what they do not see in
    somebody's own code is read. ``pose()`` as for :func:`mixing`.
    """
    posed = pose()
    with watching.reading() as doings:
        one = _seen(claim, posed, _Parts(1))
    if doings:
        return doings[0]
    try:
        found = _difference(claim, one, _seen(watching.watched(claim), pose(), _Parts(1)), _Parts(1))
    except Looked as error:
        return f"the code {error}"
    except Exception as error:
        # What runs on numbers need not run on letters, whatever it does with them.
        return f"the code does not run on letters ({type(error).__name__}: {error})"
    return None if found is None else f"{found} differs where numbers are letters"


class _Seen(NamedTuple):
    """What a claim's code gives on an instance.

    Values of the statement's ``letters``; quantities ``before`` a step, and at the initial state; ``draws``, their
    probabilities last; the ``states`` after each of them, and the quantities there; ``residuals`` there, and of a state
    of free vectors; ``calls``: what the oracles and compressors were asked, which tells their answers apart.
    """

    letters: _Named
    before: _Named
    draws: tuple[Array, ...]
    states: _Named
    after: _Named
    residuals: _Named
    calls: _Named


def _seen(claim: Claim, posed: Instance, parts: _Parts) -> _Seen:
    instance = parts.instance(posed)
    statement, params = claim.statement, instance.params
    quantities = statement.quantities
    bound = statement.horizon
    problem, state = _with_maximum(*instance.at(_THETA))
    letters = _letters(claim, problem, params)
    before = [(str(q.expression), q.of(problem, params, state)) for q in quantities if bound or not q.after]
    if claim.setting.hints.known is not None:
        before.append(("what is known", claim.setting.hints.known(problem, params, state)))
    draws: tuple[Array, ...] = ()
    states: _Named = []
    after: _Named = []
    residuals: _Named = []
    if statement.algorithm is not None:
        draws = _leaves(support_of(statement.algorithm.draws(problem, params, state), True))
        later, _ = rollout(claim, instance, problem, state, 1)
        states = list(zip(later._fields, later, strict=True))
        after = [(str(q.expression), q.of(problem, params, later)) for q in quantities if q.after]
        vanishing = [(str(q.expression), q.domain) for q in quantities if q.domain is not None]
        if statement.residual is not None:
            vanishing.append(("the invariant", statement.residual))
        free = parts.free(state)
        residuals = [(name, of(problem, params, at)) for name, of in vanishing for at in (later, free)]
    if bound and instance.initial is not None:
        problem, state = _with_maximum(*instance.initial(_THETA))
        before += [(str(q.expression), q.of(problem, params, state)) for q in quantities]
    return _Seen(letters, before, draws, states, after, residuals, parts.calls)


def _leaves(draw: Any) -> tuple[Array, ...]:
    return tuple(leaf for part in draw for leaf in _leaves(part)) if isinstance(draw, tuple) else (draw,)


def _letters(claim: Claim, problem: Any, params: Any) -> _Named:
    sides = [side for c in claim.statement.comparisons for side in (c.left, c.right)]
    values = claim.setting.bind(problem, params)
    return [(str(letter), value) for letter, value in values.items() if any(side.has(letter) for side in sides)]


class _OfEach(np.ndarray):
    """Vectors of n clients of whose forms ``max`` gives a mixture that tells each from the others.

    The maximum is no form; where these mixtures agree, so do the forms, and any maximum of them.
    """

    def max(self, axis: Any = None, **ignored: Any) -> Any:  # type: ignore[override]
        if self.ndim != 1 or axis not in (None, 0, -1) or not all(isinstance(v, Form) for v in self):
            raise NotLinear("a maximum over other things than the clients")
        return sum((i * form for i, form in enumerate(self, 1)), Form({}, {}))


def _with_maximum(problem: Any, state: Any) -> tuple[Any, Any]:
    if not isinstance(problem, Problem) or problem.known is None:
        return problem, state
    return replace(problem, known=replace(problem.known, y=np.asarray(problem.known.y).view(_OfEach))), state


def _difference(claim: Claim, one: _Seen, several: _Seen, parts: _Parts) -> str | None:
    groups = [("the letter", one.letters, several.letters), ("the quantity", one.before, several.before)]
    if len(one.draws) == len(several.draws) and all(map(np.array_equal, one.draws, several.draws)):
        groups += [("the state's", one.states, several.states), ("the quantity", one.after, several.after)]
    elif claim.statement.horizon:
        return "what it draws"
    else:
        # Masks of coordinates: of these only means over all draws can be compared, which is what a step is judged by.
        groups.append(("the quantity", _expected(one), _expected(several)))
    for what, expected, found in groups:
        for (name, value), (_, other) in zip(expected, found, strict=True):
            if not _equal(parts.spread(value), other):
                return f"{what} {name}"
    for (name, value), (_, other) in zip(one.residuals, several.residuals, strict=True):
        spread = parts.of if parts.d > 1 else _alone
        if _conditions(value, spread) != _conditions(other, _alone):
            return f"the residual of {name}"
    return None if one.calls == several.calls else "what it asks an oracle or a compressor"


def _expected(seen: _Seen) -> _Named:
    return [(name, expectation(np.asarray(value), seen.draws[-1])) for name, value in seen.after]


def _equal(a: Any, b: Any) -> bool:
    a, b = np.asarray(a, dtype=object), np.asarray(b, dtype=object)
    return a.shape == b.shape and all(_vanishes(u - v) for u, v in zip(a.flat, b.flat, strict=True))


def _vanishes(difference: Any) -> bool:
    if isinstance(difference, Vector):
        return not difference.coefficients
    return difference.is_zero if isinstance(difference, Form) else bool(difference == 0)


def _alone(vector: Vector) -> list[Vector]:
    return [vector]


def _conditions(residual: Any, parts: Callable[[Vector], list[Vector]]) -> set[Any]:
    """The numbers, and the parts of vectors, that must vanish, whatever their order."""
    entries = [v for v in np.asarray(residual, dtype=object).flat if not _vanishes(v)]
    numbers = {v for v in entries if not isinstance(v, Vector)}
    return numbers | {part.key for v in entries if isinstance(v, Vector) for part in parts(v)}


@dataclass(frozen=True)
class _Parts:
    """Vectors spread over ``d`` entries, and all that acts on vectors acting on these; ``d`` = 1 leaves them alone.

    ``calls``: names of methods that were called, with what tells their arguments, on one entry, from others.
    """

    d: int
    calls: _Named = field(default_factory=list)

    def instance(self, given: Instance) -> Instance:
        """A formal instance on vectors with one entry, made one on their parts."""

        def over(start: Callable[[Array], tuple[Any, Any]]) -> Callable[[Array], tuple[Any, Any]]:
            def spread(theta: Array) -> tuple[Any, Any]:
                problem, state = start(theta)
                return self._problem(problem), self.spread(state)

            return spread

        params = type(given.params)(*(self.spread(v) if _is_data(v) else self._acting(v) for v in given.params))
        initial = None if given.initial is None else over(given.initial)
        return replace(given, problem=self._problem(given.problem), params=params, at=over(given.at), initial=initial)

    def free(self, state: Any) -> Any:
        """The state with new vectors in the places of its own."""

        def freed(name: str, old: Any) -> Any:
            if not _holds_vectors(old):
                return old
            new = np.empty((*old.shape[:-1], 1), dtype=object)
            for index in np.ndindex(new.shape):
                new[index] = row(f"any {name} {index}")
            return self.spread(new)

        return type(state)(*map(freed, state._fields, state))

    def _problem(self, given: Any) -> Any:
        if given is None:
            return None
        f, g = (None if functions is None else self._functions(functions) for functions in (given.f, given.g))
        known = given.known
        if known is not None:
            known = replace(known, x=self.spread(known.x), y=self.spread(known.y))
        return replace(given, f=f, g=g, known=known)

    def _functions(self, functions: Any) -> Any:
        acting = self._acting(functions)
        acting.d = self.d
        if hasattr(acting, "H_inverse"):
            acting.H_inverse = acting.H_inverse * np.eye(self.d, dtype=int)
        return acting

    def _acting(self, thing: Any) -> Any:
        return _turned(thing, self.spread, self.gathered, self.calls)

    def spread(self, value: Any) -> Any:
        """Arrays of vectors ``(..., 1) -> (..., d)``, scalars as sums over the parts; all else as it is."""
        if isinstance(value, Form):
            return value if self.d == 1 else self._form(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.spread, value))
        if self.d == 1 or not isinstance(value, np.ndarray) or value.dtype != object:
            return value
        if _holds_vectors(value):
            if value.shape[-1] != 1:
                raise ValueError("formal vectors have one entry")
            out = np.empty((*value.shape[:-1], self.d), dtype=object)
            for index in np.ndindex(value.shape[:-1]):
                out[index] = self.of(ZERO + value[index][0])
        else:
            out = np.empty(value.shape, dtype=object)
            for index, v in np.ndenumerate(value):
                out[index] = self.spread(v)
        return out

    def gathered(self, value: Any) -> Any:
        """The inverse of :meth:`spread`; ``ValueError`` for entries that are not the parts of one vector."""
        if self.d == 1:
            return value
        if not _is_data(value):
            return _turned(value, self.gathered, self.spread)
        if not _holds_vectors(value):
            return value
        out = np.empty((*value.shape[:-1], 1), dtype=object)
        for index in np.ndindex(out.shape[:-1]):
            entries = [ZERO + v for v in value[index]]
            whole = Vector(
                {Row(r.block, r.name.removesuffix(_suffix(0))): c for r, c in entries[0].coefficients.items()}
            )
            if [v.key for v in entries] != [v.key for v in self.of(whole)]:
                raise ValueError("an oracle is asked at a vector whose coordinates are mixed")
            out[index] = [whole]
        return out

    def of(self, vector: Vector) -> list[Vector]:
        """The parts of a vector."""
        return [Vector({_part(r, j): c for r, c in vector.coefficients.items()}) for j in range(self.d)]

    def _form(self, form: Form) -> Form:
        entries = {}
        for (a, b), c in form.entries.items():
            for j in range(self.d):
                left, right = sorted((_part(a, j), _part(b, j)))
                entries[left, right] = c
        return Form(entries, form.values, form.constant)


def _suffix(j: int) -> str:
    return f" part {j}"


def _part(row: Row, j: int) -> Row:
    return Row(row.block, row.name + _suffix(j))


def _is_data(value: Any) -> bool:
    """Whether a value is no object with methods that take or give vectors."""
    kinds = np.ndarray | np.generic | tuple | int | Fraction | str | sympy.Basic | Form | Vector | None
    return isinstance(value, kinds)


def _distinct(value: Any) -> list[Any]:
    """What tells the arrays ``(n, 1)`` of one argument apart, each of them once, in their order."""
    a = np.asarray(value, dtype=object)
    keys = [(ZERO + v).key for v in a.flat] if _holds_vectors(a) else list(a.flat)
    size = int(np.prod(a.shape[-2:]))
    return list(dict.fromkeys(tuple(keys[k : k + size]) for k in range(0, len(keys), max(size, 1))))


def _holds_vectors(value: Any) -> bool:
    return isinstance(value, np.ndarray) and any(isinstance(v, Vector) for v in value.flat)


def _turned(
    thing: Any, outward: Callable[[Any], Any], inward: Callable[[Any], Any], calls: _Named | None = None
) -> Any:
    """The public attributes of an object: what they hold or return goes through ``outward``, arguments ``inward``."""

    def method(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def turned(*given: Any, **named: Any) -> Any:
            arguments, keywords = [inward(v) for v in given], {key: inward(v) for key, v in named.items()}
            if calls is not None:
                data = (v for v in (*arguments, *keywords.values()) if _is_data(v))
                calls.append((name, [_distinct(leaf) for v in data for leaf in _leaves(v)]))
            return outward(call(*arguments, **keywords))

        return turned

    attributes = {}
    for name in dir(thing):
        if not name.startswith("_"):
            # Some properties are not defined in every setting.
            with suppress(ValueError):
                value = getattr(thing, name)
                attributes[name] = method(name, value) if callable(value) else outward(value)
    return SimpleNamespace(**attributes)
