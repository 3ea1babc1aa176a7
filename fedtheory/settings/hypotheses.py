"""Hypotheses: the conditions under which a claim is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import MethodType
from typing import Any

import numpy as np
import sympy

from fedtheory.numbers import validation
from fedtheory.numbers.literals import in_fractions
from fedtheory.numbers.rational import holds
from fedtheory.problems.base import ParamsFunction, Problem

#: The parameter of one client.
_ONE = sympy.Dummy("of one client")
#: The hypotheses of a class of functions, compressors or oracles, each a function of an instance.
MEMBERSHIPS = ("contains", "mutually_independent")
#: Attributes of a class that are no hypotheses on its members; their independence is a hypothesis by itself.
_OF_METHODS = ("conjugates", "quadratics", "optimum", "independent")


@dataclass(frozen=True)
class Hypothesis:
    """A condition under which a claim is made, as printed.

    Proofs rest on relations, and on what the classes of the claim's setting say of their own members, as in
    ``met=functions.contains``, or ``met=of_each(numbers)``; any other code chooses instances, and proves nothing.

    Args:
        text: The condition in words.
        relation: A sympy relation by <=, <, >=, > or Eq in the paper's letters, or an And of some.
        met: ``met(problem, params)`` decides the condition on an instance.
        says: What it means along runs, of the kinds of :mod:`fedtheory.meanings`, for limits that are derived.
        every: ``every(problem, params, v)`` gives two numbers for a vector ``v``, of a number for each example. The
            first is at most the second for all v where ``met`` is true: an inequality between matrices. Proofs rest on
            it where it is code of this package.
        each: Parameters that each client has its own of, ``(n,)``, by name, and the number that all of them equal.

    Raises:
        ValueError: If the relation is of another kind, or nothing decides what is of all vectors.

    Examples:
        >>> import fedtheory as ft
        >>> gamma, L = ft.letters("gamma L")
        >>> short = ft.Hypothesis("gamma <= 1/L", gamma * L <= 1)
        >>> short.holds(None, None, {gamma: 1, L: 2})
        False
    """

    text: str
    relation: sympy.Basic | None = None
    met: Callable[[Problem, Any], bool] | None = None
    says: tuple[Any, ...] = ()
    each: Mapping[str, sympy.Expr] = field(default_factory=dict, hash=False)
    every: Callable[[Any, Any, Any], tuple[Any, Any]] | None = None

    def __post_init__(self) -> None:
        if self.relation is not None:
            validation.relation(f"the hypothesis {self.text}", self.relation)
        if self.every is not None and self.met is None:
            raise ValueError(f"the hypothesis {self.text} is of all vectors: met must decide it on an instance")
        object.__setattr__(self, "met", in_fractions(self.met))

    def holds(self, problem: Problem, params: object, values: Mapping[sympy.Expr, object]) -> bool:
        """Return True if the instance meets the hypothesis.

        Args:
            problem: The problem of the instance.
            params: Its parameters.
            values: The values of the letters there.

        Returns:
            True if all parts of the hypothesis hold.

        Raises:
            ValueError: If ``met`` gives anything but a truth value.
        """
        if self.met is not None and not self._decided(problem, params):
            return False
        for name, number in self.each.items():
            equal = sympy.Eq(_ONE, number, evaluate=False)
            if not all(holds(equal, {**values, _ONE: v}) for v in getattr(params, name)):
                return False
        return self.relation is None or holds(self.relation, values)

    def _decided(self, problem: Problem, params: object) -> bool:
        """Return the truth value that the code gives. Raise ``ValueError`` if it is not one."""
        given = self.met(problem, params) if self.met is not None else True
        found = given.item() if isinstance(given, np.ndarray) and given.size == 1 else given
        if not isinstance(found, bool | np.bool_ | int):
            raise ValueError(
                f"the function of the hypothesis {self.text!r} gives an object of type {type(found).__name__}, where "
                "True or False is due"
            )
        return bool(found)

    def states_membership(
        self, classes: Iterable[object], names: Iterable[str] = MEMBERSHIPS, quadratics: bool = False
    ) -> bool:
        """Return True if it is a membership test, of one of these names, of one of these classes, and
        not other code; ``quadratics``: of classes of quadratics only.
        """
        if not isinstance(self.met, MethodType):
            return False
        function, owner = self.met.__func__, self.met.__self__
        if quadratics and not getattr(owner, "quadratics", False):
            return False
        return any(
            function is getattr(type(part), name, None) and _members_of(owner) == _members_of(part)
            for part in classes
            for name in names
        )


def hypothesis(part: str, value: sympy.Basic) -> Hypothesis:
    """The hypothesis that is a relation, or a function of (problem, params) that decides it, in its own words.

    Raise ``ValueError`` if it is neither.
    """
    if isinstance(value, sympy.Basic | bool) or not callable(value):
        return Hypothesis(str(value), value)
    validation.function(part, value, ("problem", "params"))
    name = getattr(value, "__name__", type(value).__name__)
    return Hypothesis((getattr(value, "__doc__", "") or name).strip().splitlines()[0], met=value)


def _members_of(of: object) -> dict[str, Any]:
    """Return the fields by which the members of a class differ from those of others of the same name."""
    return {f.name: getattr(of, f.name) for f in fields(of) if f.name not in _OF_METHODS} if is_dataclass(of) else {}


def of_each(numbers: ParamsFunction) -> Callable[[Problem, Any], bool]:
    """For a hypothesis on what each client has: ``met`` where all ``numbers(problem, params)``, ``(n,)``, are at least
    0. Proofs may rest on it, as on relations."""
    numbers = in_fractions(numbers)

    def met(problem: Problem, params: object) -> bool:
        return bool(np.all(np.asarray(numbers(problem, params)) >= 0))

    # Instances are drawn where they are 0.
    vars(met)["numbers"] = numbers
    return met


def each(numbers: ParamsFunction) -> Hypothesis:
    """Return the hypothesis that certain numbers of each client are at least 0. Proofs may rest on it, as on relations.

    Args:
        numbers: ``numbers(problem, params)``, ``(n,)``. The first line of its docstring is the hypothesis in words.

    Returns:
        The hypothesis.

    Raises:
        ValueError: If ``numbers`` is not a function of these.

    Examples:
        >>> import fedtheory as ft
        >>> def short(problem, params):
        ...     "gamma_i L_i <= 1 for each client"
        ...     return 1 - params.gamma * problem.f.L
        >>> ft.each(short).text
        'gamma_i L_i <= 1 for each client'
    """
    validation.function("what is nonnegative of each client", numbers, ("problem", "params"))
    says = (getattr(numbers, "__doc__", None) or "certain numbers of each client are nonnegative").strip()
    return Hypothesis(says.splitlines()[0], met=of_each(numbers))
