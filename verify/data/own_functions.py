"""A function of each client, and perhaps a common g, in index notation: any number of clients and coordinates.

Of gradients nothing is known but that they are functions of the points at which they are taken.
"""

from __future__ import annotations

from typing import Any

from verify.data import arrays, comparing, rows
from verify.data.arrays import Array
from verify.data.comparing import There
from verify.data.space import Space
from verify.reading.terms import Axis
from verify.reading.values import Named, Rule


def problem(space: Space, with_g: bool) -> Named:
    """Return the symbolic problem; ``with_g``: True if there is a g."""
    n, d = (arrays.letter(space, space.count(axis)) for axis in (Axis.CLIENTS, Axis.COORDINATES))
    x_star = arrays.leaf(space, "x_star", (Axis.COORDINATES,))
    y_star = arrays.leaf(space, "y_star", (Axis.CLIENTS, Axis.COORDINATES))

    def of_clients(x: Any) -> Array:
        one = arrays.of(space, x)
        if one.axes[-2:-1] == (Axis.ONE,):
            one = arrays.spread(one, (*one.axes[:-2], Axis.CLIENTS, *one.axes[-1:]), one.batched)
        if one.axes[-2:-1] != (Axis.CLIENTS,):
            raise ValueError("the functions of the clients are asked at something other than a point of each")
        return rows.answers(one, "the gradients of the clients at", _of_clients, True)

    def common(x: Any) -> Array:
        one = arrays.of(space, x)
        if one.axes[-2:-1] not in ((Axis.ONE,), (Axis.CLIENTS,)):
            raise ValueError("g is asked at something other than points side by side")
        return rows.answers(one, "the gradient of g at", _of_g)

    f = Named("the functions", {"n": n, "d": d, "gradient": Rule("gradient", of_clients)})
    g = Named("the function g", {"n": 1, "d": d, "gradient": Rule("gradient", common)}) if with_g else None
    return Named("the problem", {"f": f, "g": g, "n": n, "d": d, "x_star": x_star, "y_star": y_star})


def _of_clients(of: Array, there: There) -> Any:
    return there.problem.f.gradient(comparing.evaluated(of, there))


def _of_g(of: Array, there: There) -> Any:
    return there.problem.g.gradient(comparing.evaluated(of, there)[..., None, :])[..., 0, :]
