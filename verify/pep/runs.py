"""Some rounds of a claim's algorithm on formal vectors, and its quantities there as forms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims import Claim
from fedtheory.numbers.rational import Array
from fedtheory.randomness import expectation
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import rollout
from verify.pep.functions import Formal
from verify.pep.gram import Form, Row


class Run(NamedTuple):
    """A formal instance, a state, the states some rounds later and their probabilities."""

    posed: Formal
    state: Any
    later: Any
    probabilities: Array

    def before(self, quantity: Quantity) -> Form:
        """The quantity at the state."""
        return scalar(quantity.of(self.posed.instance.problem, self.posed.instance.params, self.state))

    def after(self, quantity: Quantity) -> Form:
        """Its expectation some rounds later."""
        values = quantity.of(self.posed.instance.problem, self.posed.instance.params, self.later)
        return scalar(expectation(values, self.probabilities))

    def leaves(self, quantity: Quantity) -> bool:
        """Whether a state some rounds later is outside the quantity's domain."""
        if quantity.domain is None:
            return False
        residual = quantity.domain(self.posed.instance.problem, self.posed.instance.params, self.later)
        return any(v.coefficients for v in np.asarray(residual).flat)


def run(claim: Claim, posed: Formal, rounds: int, initial: bool = False) -> Run:
    """Some rounds from any state, or from the initial ones."""
    start = posed.instance.initial if initial and posed.instance.initial is not None else posed.instance.at
    problem, state = start(np.zeros((1, 0)))
    return Run(posed, state, *rollout(claim, posed.instance, problem, state, rounds))


def scalar(value: Any) -> Form:
    """The only entry of an array, as a form."""
    form: Form = np.asarray(value, dtype=object).ravel()[0] + Form({}, {}, 0)
    return form


def apart(form: Form, where: str) -> Form:
    """The form with rows and values of its own: another state of another problem."""

    def moved(row: Row) -> Row:
        return Row(f"{row.block}, {where}", row.name)

    entries = {(moved(a), moved(b)): c for (a, b), c in form.entries.items()}
    return Form(entries, {f"{name}, {where}": c for name, c in form.values.items()}, form.constant)
