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
    """Constraints that add up to a contradiction, by name, none of which can be left out as far as is seen."""
    found = _against(model)
    if found is None:
        return None
    for name in _names(found):
        if (fewer := _against(_less(found, name))) is not None:
            found = fewer
    return _names(found)


def _against(model: Model) -> Model | None:
    """The model with those of its constraints alone that add up to a contradiction; None if none do."""
    dual = model.dual()
    # Without the objective: what its multipliers then bound is zero.
    without = replace(dual, equations=tuple(Affine(e.coefficients) for e in dual.equations))
    found = points.attaining(without, Rational(-1))
    if found is None:
        return None
    used = [c for c, multiplier in zip(model.constraints, found, strict=False) if multiplier]
    matrices = model.inequalities if any(found[len(model.constraints) :]) else ()
    return replace(model, constraints=tuple(used), inequalities=matrices)


def _names(model: Model) -> list[str]:
    return [*(c.name for c in model.constraints), *(m.name for m in model.inequalities)]


def _less(model: Model, name: str) -> Model:
    constraints = tuple(c for c in model.constraints if c.name != name)
    return replace(model, constraints=constraints, inequalities=tuple(m for m in model.inequalities if m.name != name))


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
