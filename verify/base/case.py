"""A case of a claim: the claim at one instance, with what is evaluated there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import sympy

    from fedtheory.claims import Claim
    from fedtheory.instances import Instance, Instances, Recipe, Start
    from fedtheory.numbers.rational import Array
    from fedtheory.randomness import Distribution
    from fedtheory.settings import Setting


@dataclass(frozen=True, eq=False)
class Case:
    """A claim at the instance of a recipe, in fractions (``exact``) or in floats.

    Each part is made when it is first asked for, once, and is released with the case. A part of an instance that cannot
    be built raises ``ValueError`` or ``ArithmeticError``, each time that it is asked for.

    Args:
        claim: The claim.
        recipe: The recipe of the instance; empty if the instance is given without one.
        exact: True for fractions, False for floats.
        given: The instance, if it is at hand.
    """

    claim: Claim
    recipe: Recipe
    exact: bool = True
    given: Instance | None = field(default=None, repr=False)
    #: The instances of the claim, where a case shares them with the same case in floats: code that is run on the exact
    #: instance before one in floats is built is then run once.
    instances: Instances | None = field(default=None, repr=False)

    @classmethod
    def of(cls, claim: Claim, instance: Instance, recipe: Recipe | None = None) -> Case:
        """Return the case of an instance that is at hand, in the arithmetic that it has."""
        return cls(claim, recipe or {}, given=instance)

    @cached_property
    def instance(self) -> Instance:
        """The instance."""
        return self._instances.build(self.recipe, self.exact) if self.given is None else self.given

    @cached_property
    def _instances(self) -> Instances:
        return self.claim.instances if self.instances is None else self.instances

    @property
    def exists(self) -> bool:
        """True if the instance can be built."""
        try:
            return self.instance is not None
        except (ValueError, ArithmeticError):
            return False

    @cached_property
    def floats(self) -> Case:
        """The same case in floats."""
        return replace(self, exact=False, given=None, instances=self._instances)

    def anew(self) -> Case:
        """Return the same case with nothing made yet: code that was run on this one may have changed its arrays."""
        return replace(self, instances=None)

    def with_claim(self, claim: Claim) -> Case:
        """Return the case of another claim at the same instance."""
        return Case.of(claim, self.instance, self.recipe)

    def with_instance(self, instance: Instance) -> Case:
        """Return the case of the same claim at an instance that was made from this one."""
        return Case.of(self.claim, instance, self.recipe)

    @property
    def statement(self) -> Any:
        """The statement of the claim."""
        return self.claim.statement

    @property
    def setting(self) -> Setting:
        """The setting of the claim."""
        return self.claim.setting

    @property
    def problem(self) -> Any:
        """The problem of the instance."""
        return self.instance.problem

    @property
    def params(self) -> Any:
        """The parameters of the instance."""
        return self.instance.params

    @cached_property
    def letters(self) -> Mapping[sympy.Expr, Any]:
        """The values of the letters at the instance."""
        return self.setting.bind(self.problem, self.params)

    @property
    def _initial(self) -> Start | None:
        return self.instance.initial if self.statement.horizon else None

    @property
    def dimension(self) -> int:
        """The number of coordinates of the states from which the statement starts."""
        return self.instance.dimension if self._initial is None else self.instance.size_of_start

    def start(self, theta: Array) -> tuple[Any, Any]:
        """Return the problem and the states from which the statement starts: the printed initial states for a bound,
        else any states.

        ``theta (M, dimension)``: their coordinates.
        """
        return self.instance.at(theta) if self._initial is None else self._initial(theta)

    @cached_property
    def degrees(self) -> dict[tuple[int, int], float]:
        """The degrees of the quantities in the directions that are drawn, by the rounds before some steps and the
        number of these, as they become known."""
        return {}

    @cached_property
    def draws(self) -> Distribution:
        """The draws of one step from the state whose coordinates are 0."""
        problem, state = self.start(np.zeros((1, self.dimension)))
        return self.statement.algorithm.draws(problem, self.params, state)
