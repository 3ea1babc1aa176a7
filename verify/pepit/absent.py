"""Why a model has no worst case: its constraints contradict one another, or its objective grows without end.

Both have certificates that exact arithmetic checks: multipliers with which the constraints add up to a contradiction,
or a point with a direction along which everything stays satisfied while the objective grows.
"""

from __future__ import annotations

from dataclasses import replace

from verify.pepit import points
from verify.pepit.model import Model
from verify.pepit.systems import Affine, Block, Rational, System

#: The number of constraints that a sentence names.
_NAMED = 6


def reason(model: Model, rounded: int) -> str:
    """One sentence that says why a solver found no worst case; ``rounded``: coefficients that are only near."""
    proved = "proved with rounded coefficients" if rounded else "proved"
    against = _contradiction(model)
    if against is not None:
        return f"the constraints contradict one another ({proved}): {_listed(against)} cannot hold together"
    primal = model.primal()
    if points.attaining(_directions(primal), Rational(-1)) is None:
        return (
            "the solver finds no worst case, and neither a contradiction nor an unbounded objective is proved: "
            "it may help to choose units in which constants are of size one, as L = 1"
        )
    if points.attaining(replace(primal, objective=Affine({})), Rational(0)) is None:
        return "the objective has no bound, if the constraints can hold at all: no exact point of them is found"
    return f"the objective has no bound ({proved}): is an initial condition missing?"


def _contradiction(model: Model) -> list[str] | None:
    """Constraints that add up to a contradiction, by name; empty if they are matrices only."""
    dual = model.dual()
    # Without the objective: what its multipliers then bound is zero.
    without = replace(dual, equations=tuple(Affine(e.coefficients) for e in dual.equations))
    found = points.attaining(without, Rational(-1))
    if found is None:
        return None
    names = [c.name for c, multiplier in zip(model.constraints, found, strict=False) if multiplier]
    return names + ([m.name for m in model.inequalities] if any(found[len(model.constraints) :]) else [])


def _directions(system: System) -> System:
    """The system of what may be added to its points, in any multiple."""
    return System(
        system.unknowns,
        tuple(Affine(equation.coefficients) for equation in system.equations),
        tuple(Affine(scalar.coefficients) for scalar in system.scalars),
        tuple(
            Block(block.size, {place: Affine(entry.coefficients) for place, entry in block.entries.items()})
            for block in system.blocks
        ),
        Affine(system.objective.coefficients),
    )


def _listed(names: list[str]) -> str:
    shown = [f'"{name}"' for name in names[:_NAMED]]
    if len(names) > _NAMED:
        return ", ".join(shown) + f" and {len(names) - _NAMED} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
