"""Properties of a generic client's function in a class: its curvatures, and inequalities between points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations

import sympy

from fedtheory.classes.base import OfClient
from verify.multipliers.clients import CONJUGATE, OPTIMUM, ClientsAt, GenericClients
from verify.multipliers.reasons import ClientCurvatures, FunctionPoint, Phrase
from verify.reading import terms
from verify.reading.terms import NUMBER, Axis, Op, Term, Type, leaf
from verify.reading.worlds import WorldValue, inverse


def ends(client: OfClient) -> tuple[Term, Term]:
    """The least and the largest curvature of a generic client's function, as terms."""
    return _term(client.least), _term(client.largest)


def _term(name: str) -> Term:
    """A constant of the problem, or of a generic client's own, by the name that a class gives it."""
    if name.startswith("-"):
        return terms.negative(_term(name[1:]))
    if name == "0":
        return terms.constant(0)
    where, _, own = name.partition(".")
    if not own:
        return leaf(Op.GIVEN, name, NUMBER)
    each = Type((Axis.CLIENTS,))
    return leaf(Op.LETTER, own, each) if where == "params" else leaf(Op.GIVEN, name, each)


def signs(client: OfClient, ends: tuple[sympy.Symbol, sympy.Symbol] | None) -> tuple[tuple[Term, bool], ...]:
    """Numbers of each client that are at least 0, or positive, as there are functions of a class; ``ends``: the letters
    of mu and L."""
    if client.largest != "f.L":
        return ()
    own, mu, L = map(_term, ("f.L", "mu", "L"))
    positive = ends is not None and ends[0].is_positive
    apart = ((own, mu), (L, own))
    signed = ((own, True),) if positive else ()
    return (*signed, *((terms.add(one, terms.negative(other)), False) for one, other in apart))


def between_points(
    clients: GenericClients, equal: bool, ends: list[WorldValue], values: list[WorldValue]
) -> Iterator[tuple[WorldValue, ClientCurvatures]]:
    """Yield the inequalities of a class between each two points at which a generic client's function is asked.

    Only points that occur in ``values`` count. Each inequality is the value that is at most 0, and where it comes from.
    ``ends``: the least and the largest curvature, which may be one if ``equal``.
    """
    world, asked = clients.world, _asked(clients, values)
    inner, two = world.inner, world.constant(sympy.Integer(2))
    for (i, (function, a)), (j, (other, b)) in permutations(enumerate(asked), 2):
        if function != other:
            continue
        low, high = ends
        if function == CONJUGATE:
            low, high = inverse(world, high), inverse(world, low)
        x, g = a.point - b.point, a.gradient - b.gradient
        lower = b.value + inner(b.gradient * x) - a.value
        form = two * (high - low) * lower + inner(g * g) + low * high * inner(x * x) - two * low * inner(g * x)
        two_points = FunctionPoint(i, "", a.point), FunctionPoint(j, "", b.point)
        reason = ClientCurvatures(function, function, two_points, low, high)
        if equal:
            # A consequence whose multipliers stay finite where the two curvatures coincide.
            yield two * lower + low * inner(x * x), replace(reason, family=f"{function} convex")
            yield -(two * lower + high * inner(x * x)), replace(reason, family=f"{function} smooth")
            yield two * high * lower + inner(g * g), replace(reason, family=f"{function} both")
        yield form, reason


def of_quadratics(clients: GenericClients, values: list[WorldValue]) -> Iterator[tuple[str, WorldValue, Phrase]]:
    """Yield that a generic client's function, a quadratic, has its values by its gradients and a symmetric Hessian, for
    each two points beside the first at which it was asked: numbers that are at most 0, with their names and reasons."""
    inner, two = clients.world.inner, clients.world.constant(sympy.Integer(2))
    first: dict[str, ClientsAt] = {}
    for (function, _), a in clients.asked.items():
        first.setdefault(function, a)
    asked = [(f, a) for f, a in _asked(clients, values) if f != CONJUGATE and a is not first[f]]
    forms: list[tuple[str, WorldValue, Phrase]] = []
    for k, (function, a) in enumerate(asked):
        x, o = a.point - first[function].point, first[function]
        value = two * (a.value - o.value) - inner((a.gradient + o.gradient) * x)
        forms.append(
            (f"{function} quadratic[{k}]", value, Phrase(("the client's function is quadratic, at ", a.point)))
        )
    for (i, (function, a)), (j, (other, b)) in combinations(enumerate(asked), 2):
        if function == other:
            o = first[function]
            here, there = ((p.point - o.point, p.gradient - o.gradient) for p in (a, b))
            value = inner(here[1] * there[0]) - inner(there[1] * here[0])
            why = Phrase(("the Hessian of the client's function is symmetric, for ", here[0], " and ", there[0]))
            forms.append((f"{function} symmetric[{i},{j}]", value, why))
    for name, value, why in forms:
        yield f"{name} +", value, why
        yield f"{name} -", -value, why


def _asked(clients: GenericClients, values: list[WorldValue]) -> list[tuple[str, ClientsAt]]:
    """Return the points that occur in ``values``, with their functions, those that functions are relative to, and the
    optimum."""
    occurring = {a.name for v in values for _, atoms in v.of for atom in atoms for a in clients.parts(atom)}
    optimum = clients.world.atom(OPTIMUM, 1).name()
    points = list(enumerate(clients.asked.items()))
    # A function is given relative to the first point at which it was asked.
    first = {function: k for k, ((function, _), _) in reversed(points)}
    asked = [(function, a) for k, ((function, _), a) in points if not k or not a.atoms.isdisjoint(occurring)]
    kept = [(function, a) for k, ((function, name), a) in points if name == optimum or k == first[function]]
    asked += [of for of in kept if of not in asked]
    return asked
