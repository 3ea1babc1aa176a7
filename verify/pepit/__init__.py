"""Models for PEPit become theorems: exact bounds from above and below, with their proofs.

PEPit poses a worst case as a semidefinite program and answers in a solver's floats. Here the same model gets
multipliers and a Gram matrix in fractions, which exact arithmetic checks: see :func:`certify`, and ``fedtheory
certify`` for files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.pepit.certifying import Bounds, Number


def certify(problem: Any) -> Bounds[Number]:
    """Prove both ends of a ``PEPit.PEP``, after ``problem.solve()`` or in its place.

    Args:
        problem: The model.

    Returns:
        The bounds: ``upper`` and ``lower``, with their proofs, and ``exact`` where they meet.

    Raises:
        ValueError: If it has no performance metric, or its objective has no bound.

    Examples:
        >>> from PEPit import PEP
        >>> from PEPit.functions import SmoothConvexFunction
        >>> problem = PEP()
        >>> f = problem.declare_function(SmoothConvexFunction, L=1)
        >>> minimiser = f.stationary_point()
        >>> x = problem.set_initial_point()
        >>> problem.set_initial_condition((x - minimiser) ** 2 <= 1)
        >>> problem.set_performance_metric(f(x - f.gradient(x)) - f(minimiser))
        >>> certify(problem).exact
        Fraction(1, 6)
    """
    # Loading the numerical code takes a second.
    from verify.pepit import capture, certifying

    model, rounded = capture.model_of(problem)
    return certifying.bounds(model, capture.value_of(problem), rounded)
