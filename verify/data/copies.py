"""One function on every node, in index notation: as many nodes as a parameter says.

Of its gradient no more is known than that it is a function of the point, 0 at the optimum, and of its resolvent that it
is the only root where the function is curved enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.classes.base import MU
from fedtheory.instances import Instance
from verify.data import arrays, comparing, rows
from verify.data.arrays import Array
from verify.data.comparing import There
from verify.data.reader import DataReader
from verify.data.space import LEAST
from verify.reading.declarations import declarations
from verify.reading.source import Unread
from verify.reading.terms import Axis
from verify.reading.values import Condition, Named, Rule


def counted(claim: Claim, instances: Sequence[Instance]) -> str:
    """Return the name of the parameter that says how many nodes hold the function.

    Raise ``Unread`` unless there is one function, and one such parameter: a letter of the claim that is a positive
    whole number.
    """
    letters = {source for letter, source in claim.setting.sources.items() if letter.is_positive and letter.is_integer}
    found = [name for name in type(instances[0].params)._fields if name in letters]
    if any(instance.problem.n != 1 for instance in instances) or len(found) != 1:
        raise Unread("no parameter says how many functions each node holds, or how many nodes hold one function")
    if any(type(getattr(instance.params, found[0])) is not int for instance in instances):
        raise Unread("the number of nodes is not a whole number")
    return found[0]


def problem(claim: Claim, reader: DataReader) -> Named:
    """Return the symbolic problem of one function, with what its class declares if the claim requires a member."""
    space, of = reader.space, claim.setting.functions
    known = declarations(of)
    member = any(hypothesis.states_membership((of,), ("contains",)) for hypothesis in claim.requires)
    x_star = arrays.leaf(space, "x_star", (Axis.COORDINATES,))
    plain = set(claim.setting.drawing.g) == {False} and claim.setting.drawing.special is None
    balanced = member and plain and known.differentiable and claim.setting.optimum in ("consensus", "stationary")
    least = known.bounds.least if member and known.differentiable and known.bounds is not None else None
    function = _Function(reader, x_star if balanced else None, least)
    d, mu = arrays.letter(space, space.count(Axis.COORDINATES)), arrays.letter(space, space.field(sympy.Symbol(LEAST)))
    rules = {name: Rule(name, getattr(function, name)) for name in ("gradient", "resolvent")}
    functions = Named("the function", {"n": 1, "d": d, **rules})
    return Named("the problem", {"f": functions, "n": 1, "d": d, "mu": mu, "x_star": x_star})


class _Function:
    """A function of which little is known: ``optimum``: where its gradient is 0, None if nowhere; ``least``: its least
    curvature, as a class declares it."""

    def __init__(self, reader: DataReader, optimum: Array | None, least: sympy.Expr | None) -> None:
        self.reader, self.optimum, self.least = reader, optimum, least
        #: Points whose gradients are known, or were asked for.
        self.points: list[Array] = [] if optimum is None else [optimum]

    def gradient(self, x: Any) -> Array:
        """Return the gradients at points, one for each place before the last two axes."""
        point = _vectors(arrays.of(self.reader.space, x))
        alone, kept = rows.without_idle_axes(point)
        if alone not in self.points:
            self.points.append(alone)
        return rows.again(self._slope(alone), kept, point)

    def resolvent(self, shift: Any, target: Any) -> Array:
        """Return the roots of gradient + shift times the point = target."""
        space = self.reader.space
        number, wanted = arrays.of(space, shift), _vectors(arrays.of(space, target))
        number.number()
        alone, kept = rows.without_idle_axes(wanted)
        for point in self.points:
            there = arrays.add(self._slope(point), arrays.multiply(number, point))
            if there.axes == alone.axes and there.of == alone.of and self._has_one_root(number):
                return rows.again(Array(space, point.axes, point.of, alone.batched), kept, wanted)
        name = f"the resolvent for {arrays.text(number)} at ({arrays.text(alone)})"
        space.made_of[name] = (_resolvent_at, (number, alone))
        return rows.again(arrays.leaf(space, name, alone.axes, alone.batched), kept, wanted)

    def _slope(self, point: Array) -> Array:
        if self.optimum is not None and point == self.optimum:
            return Array(point.space, point.axes, {}, point.batched)
        name = f"the gradient at ({arrays.text(point)})"
        point.space.made_of[name] = (_gradient_at, point)
        return arrays.leaf(point.space, name, point.axes, point.batched)

    def _has_one_root(self, shift: Array) -> bool:
        """Return True if the gradient and the shift are injective together; that the numbers are above 0 becomes an
        obligation."""
        space = self.reader.space
        if self.least not in (MU, sympy.S.Zero):
            return False
        least = (
            arrays.letter(space, space.field(sympy.Symbol(LEAST))) if self.least == MU else arrays.constant(space, 0)
        )
        zero = arrays.constant(space, 0)
        self.reader.raising.append(("resolvent", Condition("<=", (arrays.add(least, shift), zero))))
        return True


def _vectors(one: Array) -> Array:
    if one.axes[-2:] != (Axis.ONE, Axis.COORDINATES):
        raise ValueError("the one function is asked at something other than single vectors")
    return one


def _gradient_at(of: Array, there: There) -> Any:
    point = comparing.evaluated(of, there)
    return there.problem.f.gradient(point[..., None, :])[..., 0, :]


def _resolvent_at(of: tuple[Array, Array], there: There) -> Any:
    shift, target = (comparing.evaluated(one, there) for one in of)
    return there.problem.f.resolvent(shift.item(), target[..., None, :])[..., 0, :]
