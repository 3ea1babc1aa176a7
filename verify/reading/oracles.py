"""The answers of the problem, compressors, oracles and distributions in code that is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fedtheory.compressors import Family
from fedtheory.compressors.contractive import Contractive
from fedtheory.problems import constrained
from fedtheory.problems.coupling import Coupling
from fedtheory.problems.hostile import Hostile
from fedtheory.problems.mixing import Mixing
from fedtheory.problems.noise import Noise, NoiseWithin
from fedtheory.problems.oracles import Answer
from fedtheory.problems.sets import Boxes
from verify.reading import linear, relative, terms
from verify.reading.arrays import as_term
from verify.reading.named import of_each
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Term, Type
from verify.reading.values import (
    Law,
    Named,
    NamedTupleValue,
    Randomness,
    Rule,
    Unknown,
    describe,
)

#: The oracles of the f_i and of g: the axes of an answer after those of clients, and its degree.
ORACLES: Mapping[str, tuple[tuple[Axis, ...], int]] = {
    "gradient": ((Axis.COORDINATES,), 1),
    "conjugate_gradient": ((Axis.COORDINATES,), 1),
    "value": ((), 0),
    "conjugate": ((), 0),
}


#: Vectors of a problem, by name, that code computes in ways that are not read; nothing is assumed of them.
MULTIPLIER = "the multiplier of the constraint"


VECTORS: Mapping[str, Callable[[Any], Any]] = {MULTIPLIER: constrained.multiplier}


#: Distributions of vectors.
DIRECTIONS = ("gaussian", "sphere")

#: Numbers that a problem or its functions declare.
CONSTANTS = ("mu", "L")
#: The oracles of a constraint set, and that of each client's set.
SETS, _PROJECT = ("project", "lmo"), "f.project"


def problem(
    with_g: bool,
    single: bool = False,
    resolvents: bool = False,
    fixed: bool = False,
    of_g: bool = False,
    blocks: int = 0,
    named: int = 0,
    sets: tuple[str, ...] = (),
    coupling: Coupling | None = None,
    reference: bool = False,
) -> Named:
    """Return a problem with n functions f_i on R^d, perhaps with a g.

    ``single``: True for one f_i; ``resolvents``, ``of_g``: True if the f_i, and g, have resolvents; ``fixed``: True if
    it is the same in all replicas; ``blocks``: the number of blocks of coordinates, 0 if they are not split;
    ``named``: the number of functions that are asked one by one, 0 if there are any number; ``sets``: what is asked of
    sets, see :func:`of_sets`; ``coupling``: the linear operator of an example, None if there is none; ``reference``:
    True if there is a function to which curvatures are relative.
    """
    n, d = (terms.leaf(Op.COUNT, name, terms.NUMBER) for name in ("n", "d"))
    over = Axis.ONE if single else Axis.CLIENTS
    # M and D are read only if they are declared.
    numbers = {name: terms.leaf(Op.GIVEN, name, terms.NUMBER) for name in (*CONSTANTS, "M", "D")}
    x_star = terms.leaf(Op.GIVEN, "x_star", Type((Axis.COORDINATES,), not fixed, 1))
    if named:
        slope = Type((Axis.ONE, Axis.COORDINATES), not fixed, 1)
        y_star = of_each("y_star", lambda i: terms.leaf(Op.GIVEN, f"y_star_{i}", slope), named, -2)
        f = _named(named, d, resolvents, sets)
        return Named(
            "the problem", {"n": named, "d": d, "f": f, "g": None, "x_star": x_star, "y_star": y_star, **numbers}
        )
    return Named(
        "the problem",
        {
            "n": 1 if single else n,
            "d": d,
            "f": _functions("f", over, 1 if single else n, d, resolvents, sets),
            "g": _functions("g", Axis.ONE, 1, d, of_g) if with_g else None,
            "x_star": x_star,
            "y_star": terms.leaf(Op.GIVEN, "y_star", Type((over, Axis.COORDINATES), not fixed, 1)),
            **numbers,
            **{what: Rule(f"problem.{what}", partial(_of_set, what)) for what in sets if what in SETS},
            **({} if coupling is None else _coupled(coupling, d, fixed)),
            **(relative.asked(_functions("h", Axis.ONE, 1, d)) if reference else {}),
            **({"part": Rule("problem.part", partial(_part, blocks))} if blocks else {}),
        },
    )


def of_sets(problem: Any) -> tuple[str, ...]:
    """Return what a problem can be asked of sets: of its constraint, and of those of the clients."""
    f, g = getattr(problem, "f", None), problem.g
    own = (_PROJECT,) if isinstance(f, Boxes) else ()
    if not isinstance(g, Boxes):
        return own
    return (*own, "project", *(("lmo",) if g.diameter is not None else ()))


def _coupled(of: Coupling, d: Term, fixed: bool) -> dict[str, Any]:
    u_star = terms.leaf(Op.GIVEN, linear.DUAL, Type((Axis.COORDINATES,), not fixed, 1))
    return {"K": linear.operator(of.K), "h": _functions("h", Axis.ONE, 1, d, True), linear.DUAL: u_star}


def _of_set(what: str, at: Any) -> Term:
    point = as_term(at)
    if point.type.axes != (Axis.COORDINATES,) or point.type.degree not in (1, terms.ANY_DEGREE):
        raise ValueError(f"problem.{what} is taken at {point.type}, where a point is expected")
    return Term(Op.ORACLE, (point,), Type(point.type.axes, point.type.batched, 1), what)


def _part(blocks: int, v: Any, block: Any) -> Term:
    if type(block) is not int or not 0 <= block < blocks:
        raise ValueError(f"a block is a number that is written, from 0 to {blocks - 1}")
    return terms.block(as_term(v), block)


def vector(name: str, of: Any) -> Term:
    """Return a vector of the problem without assumptions."""
    if not isinstance(of, Named) or of.what != "the problem":
        raise ValueError(f"{name} is called on something that is not a problem")
    return terms.leaf(Op.GIVEN, name, Type((Axis.COORDINATES,), False, 1))


def _functions(
    name: str, over: Axis, count: Any, d: Term, resolvents: bool = False, sets: tuple[str, ...] = ()
) -> Named:
    numbers = {c: terms.leaf(Op.GIVEN, f"{name}.{c}", Type((over,))) for c in CONSTANTS}
    rules = {c: Rule(f"{name}.{c}", partial(_asked, f"{name}.{c}", over, *answer)) for c, answer in ORACLES.items()}
    if resolvents:
        rules["resolvent"] = Rule(f"{name}.resolvent", partial(_resolved, f"{name}.resolvent", over))
    if _PROJECT in sets:
        rules["project"] = Rule(f"{name}.project", partial(_asked, f"{name}.project", over, (Axis.COORDINATES,), 1))
    return Named(f"the functions {name}", {"n": count, "d": d, **numbers, **rules})


def _named(count: int, d: Term, resolvents: bool, sets: tuple[str, ...] = ()) -> Named:
    """Return functions each answer of which is a term of its own, by the number of the function."""

    def answers(what: str, ask: Callable[..., Term], axis: int) -> Rule:
        return Rule(
            f"f.{what}", lambda *of: of_each(f"answers of f.{what}", lambda i: ask(f"f{i}.{what}", *of), count, axis)
        )

    rules = {
        what: answers(
            what, lambda name, at, more=more, degree=degree: _asked(name, Axis.ONE, more, degree, at), -1 - degree
        )
        for what, (more, degree) in ORACLES.items()
        if "conjugate" not in what
    }
    if resolvents:
        rules["resolvent"] = answers("resolvent", lambda name, *of: _resolved(name, Axis.ONE, *of), -2)
    if _PROJECT in sets:
        rules["project"] = answers("project", lambda name, at: _asked(name, Axis.ONE, (Axis.COORDINATES,), 1, at), -2)
    return Named("the functions f", {"n": count, "d": d, **rules})


def _resolved(name: str, over: Axis, shift: Any, target: Any) -> Term:
    number, point = as_term(shift), as_term(target)
    if number.type.degree > 0 or number.type.batched or number.type.axes not in ((), (Axis.CLIENTS,)):
        raise ValueError(f"{name} is asked for {number.type}, where a number for each client is expected")
    return terms.called(Op.ORACLE, name, [number, point], (over, Axis.COORDINATES), 1)


def _asked(name: str, over: Axis, more: tuple[Axis, ...], degree: int, at: Any) -> Term:
    point = as_term(at)
    if over is Axis.ONE and point.type.axes[-2:-1] != (Axis.ONE,):
        raise ValueError(f"{name} is taken at {point.type}, where a single vector is expected")
    return terms.called(Op.ORACLE, name, [point], (over, *more), degree)


def compressors(name: str, value: Any, single: bool = False) -> Named | None:
    """Return a family of compressors, the one that each client uses, or noise, as a parameter; None for any other
    object. ``single``: True if there is one client alone.
    """
    if type(value) not in _CONSTANTS:
        return None
    over = Axis.ONE if single else Axis.CLIENTS
    apply = _noisy if type(value) is NoiseWithin else _compressed
    of = {"draws": Law("compression", (name,)), "apply": Rule(f"{name}.apply", partial(apply, name, over))}
    numbers = {c: terms.leaf(Op.GIVEN, f"{name}.{c}", terms.NUMBER) for c in _CONSTANTS[type(value)]}
    if type(value) is Family:
        numbers["n"] = terms.leaf(Op.COUNT, "n", terms.NUMBER)
    return Named(f"the parameter {name}", {**of, **numbers})


#: The symbols of the constants of compressors, by their class; the variance of noise has other letters.
_CONSTANTS: Mapping[type, tuple[str, ...]] = {
    Family: ("omega",),
    Contractive: ("alpha",),
    Noise: (),
    NoiseWithin: (),
}


def mixing(name: str, value: Any, single: bool = False) -> Named | None:
    """Return a mixing matrix as a parameter; None for any other object. ``single``: True if there is one client."""
    if type(value) is not Mixing:
        return None
    over = Axis.ONE if single else Axis.CLIENTS

    def rule(method: str, op: Op) -> Rule:
        def asked(at: Any) -> Term:
            point = as_term(at)
            if point.type.axes[-2:] != (over, Axis.COORDINATES):
                raise ValueError(f"{name}.{method} takes a vector of each client, not {point.type}")
            return terms.called(op, name, [point], (over, Axis.COORDINATES), 1)

        return Rule(f"{name}.{method}", asked)

    return Named(f"the parameter {name}", {"mix": rule("mix", Op.MIXED), "solve": rule("solve", Op.UNMIXED)})


def adversary(name: str, value: Any, asked: Callable[[], bool]) -> Named | None:
    """Return an adversary as a parameter; None for any other object. ``asked``: True if it may be asked, which only a
    step may. Elsewhere its answer would seem to be the same before and after a step.
    """
    if type(value) is not Hostile:
        return None

    def answer(centre: Any, bound: Any, within: Any = (), along: Any = (), feasible: Any = None) -> Term:
        if not asked():
            raise ValueError(f"{name}.answer is called outside of a step")
        balls, halves = _pairs(name, within), _pairs(name, along)
        met = None if feasible is None else as_term(feasible)
        return terms.answered(name, as_term(centre), as_term(bound), balls, halves, met)

    return Named(f"the parameter {name}", {"answer": Rule(f"{name}.answer", answer)})


def _pairs(name: str, given: Any) -> list[tuple[Term, Term]]:
    if type(given) is not tuple or any(type(pair) is not tuple or len(pair) != 2 for pair in given):
        raise ValueError(f"{name} is given conditions that are not vectors, each in a tuple with a number")
    return [(as_term(vector), as_term(number)) for vector, number in given]


def oracle(name: str) -> Named:
    """Return an inexact oracle of gradients of conjugates, as a parameter: its answer is a function of its
    arguments.
    """
    law = Law("compression", (name,))
    rules = {"draws": Rule(f"{name}.draws", lambda f: law), "answer": Rule(f"{name}.answer", partial(_answered, name))}
    return Named(f"the parameter {name}", rules)


def _answered(name: str, f: Any, y: Any, start: Any, draw: Any) -> NamedTupleValue:
    if draw is not None and not (isinstance(draw, Randomness) and _of_compressor(draw, name)):
        raise ValueError(f"{name}.answer is given randomness other than its own")
    asked = [as_term(y), as_term(start)] if draw is None else [draw.leaf, as_term(y), as_term(start)]
    w = terms.called(Op.ORACLE, f"{name} of {describe(f)}.answer", asked, (Axis.CLIENTS, Axis.COORDINATES), 1)
    return NamedTupleValue(Answer, {"w": w, "steps": Unknown("how many steps an oracle took")})


def _compressed(name: str, over: Axis, draw: Any, at: Any) -> Term:
    _check_own(name, draw)
    return terms.called(Op.COMPRESSED, name, [draw.leaf, as_term(at)], (over, Axis.COORDINATES), 1)


def _check_own(name: str, draw: Any) -> None:
    if not isinstance(draw, Randomness) or draw.leaf.of or not _of_compressor(draw, name):
        raise ValueError(f"{name}.apply is given randomness other than its own")


def _noisy(name: str, over: Axis, draw: Any, at: Any, bound: Any) -> Term:
    _check_own(name, draw)
    return terms.noisy(name, draw.leaf, as_term(at), as_term(bound), (over, Axis.COORDINATES))


def _of_compressor(draw: Randomness, name: str) -> bool:
    return bool(draw.leaf.data[1] == name)


def drawn(law: Law, name: str = "draw", axes: tuple[Axis, ...] = ()) -> Any:
    """Return a draw from a distribution: a mask, the randomness of a compressor, or a record of draws."""
    if law.name == "constant":
        return Unknown("a draw where nothing is drawn")
    if law.name == "compression":
        return Randomness(terms.leaf(Op.DRAW, (name, law.of[0]), Type((), True)))  # type: ignore[arg-type]
    if law.name == "independent":
        one = law.of[0]
        if one.name == "compression":
            return drawn(one, name)
        return drawn(one, name, (Axis.CLIENTS, *axes))
    if law.name == "product":
        assert law.make is not None
        names = law.make._fields  # type: ignore[attr-defined]
        return NamedTupleValue(
            law.make, {f: drawn(part, f"{name}.{f}", axes) for f, part in zip(names, law.of, strict=True)}
        )
    if law.name == "permutation":
        assert law.make is not None and not axes
        places = law.make._fields  # type: ignore[attr-defined]
        kind = Type((Axis.CLIENTS,), True, 0, True)
        return NamedTupleValue(law.make, {f: terms.leaf(Op.DRAW, f"{name}.{f}", kind) for f in places})
    if law.name in DIRECTIONS:
        if axes:
            raise Unread(
                "each client draws a direction of its own: C_i(v) = <v, u_i> u_i is one of UnbiasedCompressors(), with "
                "omega = d + 1 for Gaussian directions"
            )
        return terms.leaf(Op.DIRECTION, name, terms.POINT)
    own = {
        "subset": (Axis.CLIENTS,),
        "coins": (Axis.CLIENTS,),
        "categorical": (Axis.CLIENTS,),
        "coins of coordinates": (Axis.COORDINATES,),
        "weighted subset": (Axis.CLIENTS,),
        "pattern": (Axis.CLIENTS, Axis.COORDINATES),
    }
    return terms.leaf(Op.DRAW, name, Type((*axes, *own.get(law.name, ())), True, 0, True))
