"""Questions to a problem about its reference function h: divergences, and points known by what grad h is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from verify.reading import terms
from verify.reading.arrays import as_term
from verify.reading.terms import Axis, Op, Term, Type
from verify.reading.values import Named, Rule

#: The answers of a problem with a reference function.
DIVERGENCE, MIRROR, PROX = ASKED = ("divergence", "mirror", "bregman_prox")


def asked(h: Named) -> Mapping[str, Any]:
    """Return what code asks of a problem with the reference function ``h``: values and gradients, of ``h`` too."""
    plain = {name: h.fields[name] for name in ("n", "d", "value", "gradient")}
    rules: Mapping[str, Callable[..., Term]] = {DIVERGENCE: _divergence, MIRROR: _mirrored, PROX: _proximal}
    return {"h": Named(h.what, plain), **{what: Rule(f"problem.{what}", rule) for what, rule in rules.items()}}


def _divergence(x: Any, y: Any) -> Term:
    return _term(DIVERGENCE, (), x, y)


def _mirrored(z: Any) -> Term:
    return _term(MIRROR, (Axis.COORDINATES,), z)


def _proximal(gamma: Any, z: Any) -> Term:
    number = as_term(gamma)
    if number.type.degree > 0 or number.type.batched or number.type.axes:
        raise ValueError(f"problem.{PROX} is asked for {number.type}, where a number is expected")
    found = _term(PROX, (Axis.COORDINATES,), z)
    return Term(found.op, (number, *found.of), found.type, found.data)


def _term(what: str, axes: tuple[Axis, ...], *at: Any) -> Term:
    points = tuple(map(as_term, at))
    for point in points:
        if point.type.axes != (Axis.COORDINATES,) or point.type.degree not in (1, terms.ANY_DEGREE):
            raise ValueError(f"problem.{what} is taken at {point.type}, where a point is expected")
    return Term(Op.ORACLE, points, Type(axes, any(point.type.batched for point in points), len(axes)), what)
