"""From a recipe to an instance: problem, parameters and states, in fractions or floats, and its text in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import partial
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from fedtheory.algorithms.base import no_step
from fedtheory.algorithms.schedules import ROUND, at_round
from fedtheory.classes import Adversary, BoundedNoise
from fedtheory.instances import Instance, Recipe, Start, check_shape, members, number, numbers
from fedtheory.instances.members import sampler
from fedtheory.numbers.rational import Array, holds
from fedtheory.numbers.scalar import Scalar
from fedtheory.numbers.symbols import round_index
from fedtheory.numbers.validation import admits
from fedtheory.problems.base import Problem
from fedtheory.problems.nonconvex import is_quadratic
from fedtheory.problems.operators import GradientOperators
from fedtheory.problems.optimum import Optimum
from fedtheory.problems.piecewise import Kinked
from fedtheory.problems.ridged import Ridged
from fedtheory.problems.separable import is_minimised
from fedtheory.problems.sets import Boxes
from fedtheory.sampling.chart import StateChart, chart, started
from fedtheory.sampling.compressors import samplers

if TYPE_CHECKING:
    from fedtheory.settings import Setting


def _size(setting: Setting, recipe: Recipe) -> tuple[int, int]:
    n = recipe["n"] if setting.functions is None else len(recipe["clients"])
    if n < 1:
        raise ValueError("there must be at least one client")
    if setting.functions is not None and not setting.any_clients and n not in setting.clients:
        raise ValueError(
            f"no instance of the setting has {n} clients: {', '.join(map(str, sorted(set(setting.clients))))}"
        )
    check_shape(recipe["d"])
    return n, recipe["d"]


def _balanced(recipe: Recipe, y: Array) -> Array:
    """Gradients at the optimum: any if there is a g to balance them, else less their mean."""
    return y if "g" in recipe else y - y.sum(axis=-2, keepdims=True) / y.shape[-2]


def _given(theta: Array, exact: bool) -> Array:
    """Coordinates that this package chose, in floats perhaps: of an exact instance they are the fractions they are."""
    return numbers(theta, True) if exact and theta.dtype.kind == "f" else theta


def problem_of(setting: Setting, recipe: Recipe, exact: bool) -> Any:
    """The problem of a recipe; of a setting without functions only its sizes."""
    n, d = _size(setting, recipe)
    if setting.functions is None:
        return SimpleNamespace(n=n, d=d)
    if not setting.centred:
        return problem_at(setting, recipe, numbers(np.zeros(d), exact), numbers(np.zeros((n, d)), exact), exact)
    x, y = numbers(recipe["x"], exact), numbers([c["y"] for c in recipe["clients"]], exact)
    if x.shape != (d,) or y.shape != (n, d):
        raise ValueError(
            f"vectors of {d} coordinates are due, one for each of {n} clients, got {x.shape} and {y.shape}"
        )
    return problem_about(setting, recipe, x, y, exact)


def problem_about(setting: Setting, recipe: Recipe, x: Array, y: Array, exact: bool) -> Problem:
    """The problem of a recipe about another optimum ``x (d,)``, with the gradients ``y (n, d)`` there before they are
    balanced."""
    return problem_at(setting, recipe, x, _balanced(recipe, y), exact)


def problem_at(setting: Setting, recipe: Recipe, x: Array, y: Array, exact: bool) -> Problem:
    """The problem whose functions have the gradients ``y (..., n, d)`` at ``x (..., d)``, its optimum."""
    functions = setting.functions
    assert functions is not None
    drawn = sampler(functions, setting.drawing)
    declared = drawn.declared(recipe, exact)
    coupling = drawn.coupling(recipe, x, exact)
    pull = 0 if coupling is None else coupling.K.T(coupling.dual)
    if coupling is not None and "g" not in recipe:
        y = y - pull
    f = drawn.build(recipe, recipe["clients"], x, y, exact)
    if not setting.centred:
        return Problem(f, None, declared)
    g = None
    if "g" in recipe:
        g = drawn.build(recipe, [recipe["g"]], x, -y.sum(axis=-2, keepdims=True) / y.shape[-2] - pull, exact)
    # Gradients as the oracle rounds them: a residual at the optimum would look like a state of its own. At a kink it
    # may give others than those that balance.
    jumps = isinstance(f.f if isinstance(f, GradientOperators) else f, Kinked)
    known = y if functions.conjugates or jumps or isinstance(f, Boxes) else f.gradient(x[..., None, :])
    named = bool(functions.named)
    optimum, h = Optimum(x, known, 0.0), drawn.reference(recipe, x, exact)
    return Problem(f, g, declared, optimum, drawn.blocks(recipe, exact), named, coupling, h)


def parameters(setting: Setting, recipe: Recipe, problem: object, exact: bool) -> Any:
    """The parameters of a recipe, at its round."""
    algorithm = setting.algorithm
    assert algorithm is not None
    make = setting.drawing.parameters or partial(_letters, setting)
    return at_round(algorithm.schedules, problem, make(recipe, problem, exact), recipe.get(ROUND, 0), exact)


def _letters(setting: Setting, recipe: Recipe, problem: Any, exact: bool) -> Any:
    """The parameters as the letters of a recipe give them; those that vary with the round are still to come."""
    assert setting.algorithm is not None
    values: dict[str, Any] = {s.field: s.build(recipe, problem.n, exact) for s in samplers(setting)}
    make: Any = setting.algorithm.Params
    sources = {source: letter for letter, source in setting.sources.items() if isinstance(source, str)}
    for name in make._fields:
        if name in values or name in setting.algorithm.schedules:
            continue
        if name in setting.own:
            entries = [client.get(name, 0) for client in recipe["clients"]]
            if not all(value > 0 for value in entries):
                raise ValueError(f"each client has a positive {name} of its own")
            values[name] = numbers(entries, exact)
        elif name in recipe:
            value = recipe[name]
            letter = sources.get(name)
            if letter is not None and not admits(letter, value):
                raise ValueError(f"{name} = {value} contradicts the declaration of the letter {letter}")
            values[name] = value if isinstance(value, int | str) else number(value, exact)
        elif name in ("n", "d"):
            values[name] = getattr(problem, name)
        elif name not in make._field_defaults:
            raise ValueError(
                f"the parameter {name} is not a letter of the setting: give it a letter, or say ``parameters``"
            )
    return make(**dict.fromkeys(setting.algorithm.schedules), **values)


def check_domain(setting: Setting, problem: Any, params: object) -> None:
    """Raise ``ValueError`` if the instance is outside what the setting says of its letters."""
    values = setting.bind(problem, params)
    if not all(admits(letter, value) for letter, value in values.items()):
        raise ValueError("a letter has a value that it is declared not to have")
    if not all(holds(relation, values) for relation in setting.domain):
        raise ValueError(f"no instance of the setting: {setting.text}")


def values(setting: Setting, recipe: Recipe) -> Mapping[sympy.Expr, Any]:
    """The exact values of the letters at a recipe. Raise ``ValueError`` if it gives no instance."""
    problem, params = _problem_and_params(setting, recipe, True)
    given: Any = problem if setting.functions is not None else None
    return setting.bind(given, params)


def _problem_and_params(setting: Setting, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
    problem = problem_of(setting, recipe, exact)
    # Floats from a recipe were checked in fractions.
    needs_minimiser = exact and setting.functions is not None and setting.optimum == "consensus"
    if needs_minimiser and not is_minimised(problem.f, problem.g, problem.x_star):
        raise ValueError("the functions of an instance have a minimiser, x*")
    try:
        params = parameters(setting, recipe, problem, exact)
    except ZeroDivisionError as error:
        raise ValueError("a parameter is undefined") from error
    if exact:
        check_domain(setting, problem if setting.functions is not None else None, params)
    return problem, params


def build(setting: Setting, recipe: Recipe, exact: bool) -> Instance:
    """The instance of a recipe, in fractions or floats. Raise ``ValueError`` if there is none."""
    algorithm = setting.algorithm
    assert algorithm is not None
    problem, params = _problem_and_params(setting, recipe, exact)
    about = chart(algorithm, problem, params)
    given = problem if setting.functions is not None else None
    d = problem.d

    def around(posed: object) -> tuple[Start, Callable[[Any], Array]]:
        own = about if posed is problem else replace(about, fixed=algorithm.fixed_point(posed, params))

        def at(theta: Array) -> tuple[Any, Any]:
            blocks = _given(theta, exact).reshape(len(theta), 1, about.dimension, d)
            state = started(algorithm, posed, params, _feasible(algorithm, posed, own.parts(blocks)))
            return given if posed is problem else posed, _batched(state, about.fixed, len(theta))

        def coordinates(state: object) -> Array:
            blocks = own.blocks(state)
            return blocks.reshape(*blocks.shape[:-2], about.dimension * d)

        return at, coordinates

    at, coordinates = around(problem)
    instance = Instance(
        given,
        params,
        about.dimension * d,
        at,
        around=around if given is not None else None,
        coordinates=coordinates if given is not None else None,
        quadratic=given is None
        or (_linear(setting, recipe) and not has_kinked_maps(setting) and _are_quadratic(problem)),
        text=words(setting, recipe, params),
    )
    moves = given is not None and algorithm.step is not no_step
    return _started(setting, recipe, instance, about, exact) if moves else instance


def _feasible(algorithm: Any, problem: Any, parts: Mapping[str, Array]) -> dict[str, Array]:
    """Parts of a state, with the points of the constraint set that are nearest to those that have to be in it, and
    those in the space of K x that are nearest to dual ones."""

    def inside(name: str, x: Array) -> Array:
        if name in algorithm.feasible:
            return problem.project(x)
        return problem.coupling.kept(x) if name in algorithm.dual and problem.coupling is not None else x

    return {name: inside(name, x) for name, x in parts.items()}


def _are_quadratic(problem: Problem) -> bool:
    return is_quadratic(problem.f) and (problem.reference is None or is_quadratic(problem.reference))


def has_kinked_maps(setting: Setting) -> bool:
    """Return True if the class of a setting has projections or proximal points that are not linear."""
    return setting.functions is not None and (setting.functions.sets or setting.functions.coupled)


def _batched(state: Any, fixed: Any, size: int) -> Any:
    """The state with axes ``(size, 1)`` before those of the fixed point's fields: zeros to start from have none yet."""
    return type(state)(*(np.broadcast_to(a, (size, 1, *np.shape(b))) for a, b in zip(state, fixed, strict=True)))


def _linear(setting: Setting, recipe: Recipe) -> bool:
    """Return True if compression is linear for every draw and noise is independent of states; top-k is not linear.

    Answers of an adversary are not linear either, nor is noise within a bound, since their distance is a root.
    """
    if any(isinstance(a, Adversary | BoundedNoise) for a in setting.adversaries):
        return False
    if recipe.get("turning", 0) or recipe.get("turned", 0):
        return False
    return "alpha" not in recipe or not recipe.get("k", 0) or any(hasattr(a, "average") for a in setting.adversaries)


def _started(setting: Setting, recipe: Recipe, instance: Instance, about: StateChart, exact: bool) -> Instance:
    """The instance with the initial states that the paper prints."""
    algorithm, params, problem, d = setting.algorithm, instance.params, instance.problem, instance.problem.d
    assert algorithm is not None
    if setting.drawing.start and set(setting.drawing.start) == set(about.rows):
        return replace(instance, initial=instance.at)
    if setting.drawing.start:
        return _partly_free(setting, instance, about, exact)
    if not setting.centred:
        return instance
    rows = problem.n if "g" in recipe else problem.n - 1
    size = (1 + rows) * d

    def moved(theta: Array) -> Problem:
        blocks = _given(theta, exact).reshape(len(theta), 1, 1 + rows, d)
        x, y = blocks[..., 0, :], blocks[..., 1:, :]
        if rows < problem.n:
            y = np.concatenate([y, -y.sum(axis=-2, keepdims=True)], axis=-2)
        return problem_at(setting, recipe, x, y, exact)

    def initial(theta: Array) -> tuple[Any, Any]:
        posed = moved(theta)
        return posed, _batched(algorithm.init(posed, params), about.fixed, len(theta))

    return replace(instance, initial=initial, initial_dimension=size)


def unmoved(algorithm: Any, instance: Instance) -> Instance:
    """An instance whose runs begin, as the paper prints it, on its own problem only: no coordinates are left."""

    def initial(theta: Array) -> tuple[Any, Any]:
        _, about = instance.at(np.zeros((1, instance.dimension), dtype=int))
        state = algorithm.init(instance.problem, instance.params)
        fields = zip(state, about, strict=True)
        started = type(state)(*(np.broadcast_to(a, (len(theta), 1, *np.shape(b)[2:])) for a, b in fields))
        return instance.problem, started

    return replace(instance, initial=initial, initial_dimension=0)


def needs_constants_only(
    setting: Setting, recipe: Recipe, problem: Problem, x: Array, y: Array, params: object
) -> bool:
    """Return True if the parameters of a recipe, ``params``, are the same about any optimum ``x (d,)`` with gradients
    ``y (n, d)``.

    ``problem`` has an unknown optimum; parameters that depend on it raise an error.
    """
    make, algorithm = setting.drawing.parameters, setting.algorithm
    if make is None or algorithm is None:
        return True
    clients = tuple({**client, "y": tuple(of)} for client, of in zip(recipe["clients"], y, strict=True))
    found = make({**recipe, "x": tuple(x), "clients": clients}, problem, True)
    return _alike(at_round(algorithm.schedules, problem, found, recipe.get(ROUND, 0), True), params)


def _alike(one: Any, two: Any) -> bool:
    """Return True if two values are recognisably equal, by their contents; functions, by the values they
    compute with.
    """
    if type(one) is not type(two):
        return False
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(_alike, one, two))
    if isinstance(one, FunctionType):
        if one.__code__ is not two.__code__:
            return False
        held = [(of.__defaults__, *(cell.cell_contents for cell in of.__closure__ or ())) for of in (one, two)]
        return _alike(*held) and _alike(_items(one.__kwdefaults__), _items(two.__kwdefaults__))
    if is_dataclass(one):
        of_fields = all(_alike(getattr(one, part.name), getattr(two, part.name)) for part in fields(one))
        return of_fields and _alike(_items(getattr(one, "__dict__", {})), _items(getattr(two, "__dict__", {})))
    same = np.asarray(one == two)
    return same.dtype == bool and bool(same.all())


def _items(named: Mapping[str, object] | None) -> tuple[Any, ...]:
    return tuple((named or {}).items())


def _partly_free(setting: Setting, instance: Instance, about: StateChart, exact: bool) -> Instance:
    algorithm, params, problem = setting.algorithm, instance.params, instance.problem
    assert algorithm is not None
    unknown = [name for name in setting.drawing.start if name not in about.rows]
    if unknown:
        there = ", ".join(about.rows) or "none"
        raise ValueError(f"init of {algorithm.name} takes no part {unknown[0]!r} to start from: it takes {there}")

    def initial(theta: Array) -> tuple[Any, Any]:
        theta = _given(theta, exact)
        blocks = np.zeros((len(theta), 1, about.dimension, problem.d), dtype=theta.dtype)
        blocks[:, :, kept, :] = theta.reshape(len(theta), 1, len(kept), problem.d)
        parts = _feasible(algorithm, problem, about.parts(blocks))
        state = started(algorithm, problem, params, {name: parts[name] for name in setting.drawing.start})
        return problem, _batched(state, about.fixed, len(theta))

    places, start = [], 0
    for name, rows in about.rows.items():
        places += [(name, start + k) for k in range(1 if rows is None else rows)]
        start += 1 if rows is None else rows
    kept = [k for k, block in enumerate(about.free) if places[block][0] in setting.drawing.start]
    size = len(kept) * problem.d
    return replace(instance, initial=initial, initial_dimension=size)


def words(setting: Setting, recipe: Recipe, params: object) -> str:
    """Everything of an instance that matters, constants of single clients included."""
    hidden = {"clients", "x", "k", "joint", "g", "n", "slanted", "turning", "turned", "shrinking", "skew"}
    hidden |= {"outer", "operator", "reference"}
    own = {entry for s in samplers(setting) for entry in getattr(s, "entries", ())}
    of_class = set() if setting.functions is None else set(map(str, setting.functions.letters))
    n = recipe["n"] if "clients" not in recipe else len(recipe["clients"])
    text = f"n={n}, " + ", ".join(
        f"{round_index if key == ROUND else key}={_used(params, key, value)}"
        for key, value in recipe.items()
        if key in of_class or (key not in hidden and key not in own)
    )
    for adversary in setting.adversaries:
        used = getattr(params, adversary.field)
        text += f", {getattr(getattr(used, 'compressor', used), 'name', '')}" + (
            f", {used.joint}" if "joint" in recipe and hasattr(used, "joint") else ""
        )
    if "clients" not in recipe:
        return text
    clients = (
        recipe["clients"]
        if setting.functions is None
        else sampler(setting.functions, setting.drawing).clients_of(recipe)
    )
    text += f"; x* = {_row(recipe['x'])}; " if "x" in recipe else "; "
    text += "; ".join(f"f_{i}: {_function(c)}" for i, c in enumerate(clients, 1))
    if "reference" in recipe:
        text += f", curvatures times those of h; h: {_function(recipe['reference'])}"
    text += f"; g: {_function(recipe['g'])}" if "g" in recipe else ""
    return f"{text}; {_operator(recipe)}" if "operator" in recipe else text


def _operator(recipe: Recipe) -> str:
    """The linear operator of a recipe, and the function of its values."""
    given, outer = recipe["operator"], recipe["outer"]
    text = f"K = diag{_row(given['values'])}"
    for side in ("left", "right"):
        text += f", turned on the {side} by the tangent {given[side]} of half the angle" if given[side] else ""
    if given["rows"] < recipe["d"]:
        text += f", in {given['rows']} dimensions"
    return f"{text}; h: {_function({**outer, 'y': ()})}, about K x*, with u* = {_row(outer['y'])}"


def _used(params: object, key: str, value: Scalar) -> Scalar:
    """The value of a letter: that of the parameter of its name, which the code of a setting may choose by itself."""
    used = getattr(params, key, value)
    if not (isinstance(used, int | float | Fraction) and isinstance(value, int | Fraction)):
        return value
    # For a float, print the fraction that it comes from.
    return value if isinstance(used, float) and used == float(value) else used


def _row(values: Any) -> str:
    return "(" + ", ".join(map(str, values)) + ")"


def _function(client: Recipe) -> str:
    text = (
        f"1/2 (a'(x - x*))^2, a = {_row(client['a'])}" if "a" in client else f"Hessian diag{_row(client.get('h', ()))}"
    )
    if "widths" in client:
        text = f"a box about x*, its widths {_row(client['widths'])}, of which {_row(client['shares'])} lie below"
        text += f", without ends where {_row(client['open'])} is 1" if any(client["open"]) else ""
    if "skew" in client:
        text = f"F(x) = diag{_row(client['h'])} (x - x*)"
    if len({client[key] for key in members.SLOPES if key in client}) > 1:
        text = f"slopes {_row(client['h'])} below and {_row(client['h_above'])} above its kinks at x* + "
        text += _row(client["kink"])
        if "h_beyond" in client:
            text += f", {_row(client['h_beyond'])} above those at x* + {_row(client['kink_beyond'])}"
    if any(client.get("jump", ())):
        text += f", derivatives jumping by twice {_row(client['jump'])} at x* + {_row(client['jump_at'])}"
        if not all(client["jump_at"]):
            text += f" (signs there {_row(client['choice'])}"
            text += f", balancing {_row(client['balancing'])})" if "balancing" in client else ")"
    if "dip" in client:
        text += f", but {client['dip']} where x_1 - x*_1 is between {client['dip_from']} and {client['dip_to']}"
    if client.get("ridge"):
        text = f"({client['h'][0]}) |z|^2/2 + ({client['ridge']}) r^2 sin({Ridged.k} theta) at z = x - x*"
        text += ", with the polar coordinates r and theta of (z_1, z_2)"
    if client.get("turn"):
        text += f" turned by the tangent {client['turn']} of half the angle"
    more = [
        f"{k} = {_row(v) if isinstance(v, tuple) else v}"
        for k, v in client.items()
        if k
        not in (*members.SLOPES, *members.KINKS, *members.JUMPS, "y", "turn", "dip", "dip_from", "dip_to", "ridge", "a")
        and "widths" not in client
    ]
    more += [f"gradient {_row(client['y'])} less the mean"] if any(client.get("y", ())) else []
    return ", ".join([text, *more])
