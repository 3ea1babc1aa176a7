"""The instances of a claim, derived from its setting: members of its classes, letters that meet its hypotheses, states.

A recipe is data: the letters by the names of their sources, ``x`` and the ``clients`` for the functions, what the
adversaries need. It can be drawn, simplified, stored and rebuilt, in floats for speed or in fractions for proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from fedtheory.algorithms.base import no_step
from fedtheory.classes import InexactOracles
from fedtheory.instances import letters, members
from fedtheory.instances.base import Family, Instance, Recipe, check_shape, number, numbers, pick
from fedtheory.instances.chart import Chart, chart
from fedtheory.optimum import Optimum
from fedtheory.problems.base import Problem
from fedtheory.rational import Array, Undefined, is_exact

if TYPE_CHECKING:
    from fedtheory.claims import Claim
    from fedtheory.settings import Setting

#: Clients of an instance chosen by its letters, at most.
MOST = 1000
#: One of so many recipes is strained: one of its constants is off.
EVERY = 4
#: By how much: squares among them, since some instances take roots.
_FACTORS = tuple(
    Fraction(v) for v in ("1/100", "1/4", "4/9", "9/10", "999999/1000000", "1000001/1000000", "11/10", "9/4", 4, 100)
)


def family(claim: Claim) -> Family:
    """The instances on which a claim is tested."""
    setting = claim.setting
    if setting.special is not None:
        plain = setting.special
    elif setting.of_constants:
        plain = _constants(claim)
    else:
        plain = Family(
            lambda rng: _recipes(claim, rng), lambda recipe, exact: build(setting, recipe, exact), _simpler(setting)
        )
    return replace(plain, recipes=lambda rng: strained(plain.recipes(rng), rng, _counts(claim)))


# Recipes


def _relations(claim: Claim) -> tuple[Any, ...]:
    return (*claim.setting.domain, *(h.relation for h in claim.requires if h.relation is not None))


def _sides(claim: Claim) -> tuple[Any, ...]:
    statement = claim.statement
    factor = getattr(statement, "factor", None)
    if factor is not None:
        return (factor,)
    return tuple(side for c in getattr(statement, "comparisons", ()) for side in (c.left, c.right))


def _recipes(claim: Claim, rng: np.random.Generator) -> Iterator[Recipe]:
    setting = claim.setting
    while True:
        recipe = _drawn(setting, rng)
        try:
            # What the hook gives is given; the letters that are left are drawn.
            given = setting.draw(rng, recipe) if setting.draw is not None else recipe
            found = None if given is None else _with_letters(claim, given, rng)
        except (Undefined, ZeroDivisionError):
            continue
        if found is not None:
            yield found


def _drawn(setting: Setting, rng: np.random.Generator) -> Recipe:
    """Functions and compressors."""
    n, d = int(pick(rng, setting.clients)), int(pick(rng, (1, 1, 1, 1, 1, 2, 2, 3)))
    recipe: dict[str, Any] = {}
    for adversary in setting.adversaries:
        if not isinstance(adversary, InexactOracles):
            d, more = adversary.draw(rng)
            recipe |= more
            n = adversary.clients(recipe, n)
    if setting.functions is None:
        return {"n": n, "d": d, **recipe}
    return {**setting.functions.draw(rng, n, d, pick(rng, setting.g)), **recipe}


def _with_letters(claim: Claim, recipe: Recipe, rng: np.random.Generator) -> Recipe | None:
    """The recipe with values of the letters that are fields of the parameters."""
    setting = claim.setting
    wanted = {letter: source for letter, source in drawn_letters(setting).items() if source not in recipe}
    problem = _problem(setting, recipe, True)
    known = _known(setting, recipe, problem)
    order = tuple(letter for letter in setting.sources if letter in wanted)
    plan = letters.plan(order, frozenset(known), _relations(claim), _sides(claim))
    values = letters.draw(plan, known, setting.typical, rng)
    if values is None:
        return None
    return {**recipe, **{wanted[letter]: value for letter, value in values.items()}}


def drawn_letters(setting: Setting) -> dict[sympy.Expr, str]:
    """The letters that are fields of the parameters by name, with these names."""
    fields = getattr(setting.algorithm.Params, "_fields", ()) if setting.algorithm is not None else ()
    return {x: source for x, source in setting.sources.items() if isinstance(source, str) and source in fields}


def at_letters(claim: Claim, values: Mapping[str, Fraction], stiff: int) -> Recipe:
    """The recipe with these letters, kappa = L/mu and the size of the clients among them, and the first ``stiff``
    clients with the largest curvature; what is not given is typical, or at the boundary of a hypothesis.

    ``ValueError`` where the letters cannot occur together.
    """
    setting = claim.setting
    size = next((str(x) for x, source in setting.sources.items() if source == "n" or str(x) in ("n", "N")), "n")
    n = _integer(values, size)
    recipe: dict[str, Any] = {"n": n, "d": 1}
    if setting.functions is not None:
        recipe = dict(setting.functions.at(values, n, stiff, setting.g[0]))
    for adversary in setting.adversaries:
        recipe |= {"k": 0, "omega": values["omega"], "joint": "independent"} if hasattr(adversary, "draw") else {}
    if setting.draw is not None:
        recipe = dict(setting.draw(np.random.default_rng(0), recipe) or {})
    wanted = drawn_letters(setting)
    fixed = {x: _integer(values, str(x)) if x.is_integer else values[str(x)] for x in wanted if str(x) in values}
    recipe |= {wanted[x]: value for x, value in fixed.items()}
    missing = tuple(x for x in setting.sources if x in wanted and wanted[x] not in recipe)
    known = _known(setting, recipe, _problem(setting, recipe, True)) | fixed
    plan = letters.plan(missing, frozenset(known), _relations(claim), ())
    tightest = letters.tightest(plan, known, setting.typical)
    return {**recipe, **{wanted[x]: value for x, value in tightest.items()}}


def _integer(values: Mapping[str, Fraction], name: str) -> int:
    if values[name].denominator != 1 or values[name] < 1:
        raise ValueError(f"{name} must be a positive integer, got {values[name]}")
    if values[name] > MOST:
        raise ValueError(f"{name} must be at most {MOST}, got {values[name]}: every client is written out")
    return int(values[name])


class _Undrawn(Exception):
    """A letter that depends on parameters not drawn yet."""


class _Partial(SimpleNamespace):
    def __getattr__(self, name: str) -> Any:
        raise _Undrawn(name)


def _known(setting: Setting, recipe: Recipe, problem: Any) -> dict[sympy.Expr, Any]:
    """Values of the letters that do not depend on what is still to be drawn."""
    from fedtheory.settings import value_of

    n = problem.n
    parts: dict[str, Any] = {a.field: a.build(recipe, n, True) for a in setting.adversaries if hasattr(a, "build")}
    fields = getattr(setting.algorithm.Params, "_fields", ())  # type: ignore[union-attr]
    parts |= {name: recipe[name] for name in fields if name in recipe and name not in parts}
    if setting.functions is None:
        parts |= {"n": n, "d": recipe["d"]}
    partial = _Partial(**parts)
    found = {}
    for letter, source in setting.sources.items():
        try:
            of_compressors = source in ("omega", "omega_av") and source not in fields and "compressors" in parts
            given = problem if setting.functions is not None else None
            found[letter] = value_of(source, given, parts["compressors"] if of_compressors else partial)
        except _Undrawn:
            continue
    return found


def _counts(claim: Claim) -> frozenset[str]:
    """The entries of a recipe that are integer letters."""
    setting = claim.setting
    if setting.of_constants:
        return frozenset(str(x) for x in tuple(setting.sources) or _spoken_of(claim) if x.is_integer)
    return frozenset(source for x, source in drawn_letters(setting).items() if x.is_integer)


def strained(
    recipes: Iterator[Recipe], rng: np.random.Generator, counts: frozenset[str] = frozenset()
) -> Iterator[Recipe]:
    """The recipes, now and then with a constant, or one of a client's, times another number; ``counts`` are integers.

    A hypothesis that no instance breaks could be dropped from a claim, and the claim would still be called supported.
    """
    for index, recipe in zip(count(1), recipes, strict=False):
        yield recipe if index % EVERY else _strained(recipe, rng, counts)


def _strained(recipe: Recipe, rng: np.random.Generator, counts: frozenset[str]) -> Recipe:
    clients = recipe.get("clients", ())
    places: list[tuple[int | None, str]] = [(None, name) for name in _fractions(recipe)]
    places += [(None, name) for name in recipe if name in counts]
    places += [(i, name) for i, client in enumerate(clients) for name in (*_fractions(client), "h") if name in client]
    if not places:
        return recipe
    index, name = pick(rng, places)
    if name in counts and index is None:
        value = int(recipe[name])
        return {**recipe, name: pick(rng, (1, max(1, value - 1), value + 1, 2 * value))}
    factor = pick(rng, _FACTORS)
    if index is None:
        return {**recipe, name: recipe[name] * factor}
    value = clients[index][name]
    # A client's curvatures change together.
    scaled = tuple(v * factor for v in value) if isinstance(value, tuple) else value * factor
    changed = {**clients[index], name: scaled}
    return {**recipe, "clients": (*clients[:index], changed, *clients[index + 1 :])}


def _fractions(values: Recipe) -> list[str]:
    return [name for name, value in values.items() if isinstance(value, Fraction) and value != 0 and name != "turn"]


# Instances


def _size(setting: Setting, recipe: Recipe) -> tuple[int, int]:
    n = recipe["n"] if setting.functions is None else len(recipe["clients"])
    check_shape(recipe["d"], n)
    return n, recipe["d"]


def _balanced(recipe: Recipe, y: Array) -> Array:
    """Gradients at the optimum: any if there is a g to balance them, else less their mean."""
    return y if "g" in recipe else y - y.sum(axis=-2, keepdims=True) / y.shape[-2]


def _problem(setting: Setting, recipe: Recipe, exact: bool) -> Any:
    """The problem of a recipe; of a setting without functions only its sizes."""
    n, d = _size(setting, recipe)
    if setting.functions is None:
        return SimpleNamespace(n=n, d=d)
    if setting.optimum != "consensus":
        return problem_at(setting, recipe, np.zeros(d), np.zeros((n, d)), exact)
    x, y = numbers(recipe["x"], exact), numbers([c["y"] for c in recipe["clients"]], exact)
    return problem_at(setting, recipe, x, _balanced(recipe, y), exact)


def problem_at(setting: Setting, recipe: Recipe, x: Array, y: Array, exact: bool) -> Problem:
    """The problem whose functions have the gradients ``y (..., n, d)`` at ``x (..., d)``, its optimum."""
    functions = setting.functions
    assert functions is not None
    declared = functions.declared(recipe, exact)
    f = functions.build(recipe, recipe["clients"], x, y, exact)
    if setting.optimum != "consensus":
        return Problem(f, None, declared)
    g = None
    if "g" in recipe:
        g = functions.build(recipe, [recipe["g"]], x, -y.sum(axis=-2, keepdims=True) / y.shape[-2], exact)
    # Gradients as the oracle rounds them: a residual at the optimum would look like a state of its own.
    known = y if functions.conjugates else f.gradient(x[..., None, :])
    return Problem(f, g, declared, Optimum(x, known, 0.0))


def _parameters(setting: Setting, recipe: Recipe, problem: Any, exact: bool) -> Any:
    if setting.parameters is not None:
        return setting.parameters(recipe, problem, exact)
    assert setting.algorithm is not None
    values = {a.field: a.build(recipe, problem.n, exact) for a in setting.adversaries if hasattr(a, "build")}
    make: Any = setting.algorithm.Params
    sources = {source: letter for letter, source in setting.sources.items() if isinstance(source, str)}
    for name in make._fields:
        if name in values:
            continue
        if name in recipe:
            value = recipe[name]
            letter = sources.get(name)
            if letter is not None and letter.is_positive and value <= 0:
                raise ValueError(f"{name} must be positive")
            values[name] = value if isinstance(value, int | str) else number(value, exact)
        elif name in ("n", "d"):
            values[name] = getattr(problem, name)
        elif name not in make._field_defaults:
            raise ValueError(
                f"the parameter {name} is no letter of the setting: give it a letter, or say ``parameters``"
            )
    return make(**values)


def _check_domain(setting: Setting, problem: Any, params: Any) -> None:
    """``ValueError`` where the instance is outside what the setting says of its letters."""
    from fedtheory.rational import holds

    values = setting.bind(problem, params)
    if not all(holds(relation, values) for relation in setting.domain):
        raise ValueError("outside the setting's domain")


def build(setting: Setting, recipe: Recipe, exact: bool) -> Instance:
    """The instance of a recipe, in fractions or floats; ``ValueError`` if there is none."""
    algorithm = setting.algorithm
    assert algorithm is not None
    problem = _problem(setting, recipe, exact)
    try:
        params = _parameters(setting, recipe, problem, exact)
    except ZeroDivisionError as error:
        raise ValueError("a parameter is undefined") from error
    if exact:
        _check_domain(setting, problem if setting.functions is not None else None, params)
    about = chart(algorithm, problem, params)
    given = problem if setting.functions is not None else None
    d = problem.d

    def at(theta: Array) -> tuple[Any, Any]:
        blocks = theta.reshape(len(theta), 1, about.dimension, d)
        state = algorithm.init(given if given is not None else problem, params, **about.parts(blocks))
        return given, _batched(state, about.fixed, len(theta))

    def coordinates(state: Any) -> Array:
        blocks = about.blocks(state)
        return blocks.reshape(*blocks.shape[:-2], about.dimension * d)

    instance = Instance(
        given,
        params,
        about.dimension * d,
        at,
        coordinates=coordinates if given is not None else None,
        quadratic=given is None or (_linear(setting, recipe) and members.is_quadratic(problem.f)),
        text=words(setting, recipe, params),
    )
    moves = given is not None and algorithm.step is not no_step
    return _started(setting, recipe, instance, about, exact) if moves else instance


def _batched(state: Any, fixed: Any, size: int) -> Any:
    """The state with axes ``(size, 1)`` before those of the fixed point's fields: zeros to start from have none yet."""
    return type(state)(*(np.broadcast_to(a, (size, 1, *np.shape(b))) for a, b in zip(state, fixed, strict=True)))


def _linear(setting: Setting, recipe: Recipe) -> bool:
    """Whether compression acts linearly on every draw: top-k does not."""
    return "alpha" not in recipe or not recipe.get("k", 0) or any(hasattr(a, "average") for a in setting.adversaries)


def _started(setting: Setting, recipe: Recipe, instance: Instance, about: Chart, exact: bool) -> Instance:
    """The instance with the initial states that the paper prints."""
    algorithm, params, problem, d = setting.algorithm, instance.params, instance.problem, instance.problem.d
    assert algorithm is not None
    if setting.start and set(setting.start) == set(about.rows):
        return replace(instance, initial=instance.at, start=lambda: np.eye(instance.dimension, dtype=int))
    if setting.start:
        return _partly_free(setting, instance, about)
    if setting.optimum != "consensus":
        return instance
    rows = problem.n if "g" in recipe else problem.n - 1
    size = (1 + rows) * d

    def moved(theta: Array) -> Problem:
        blocks = theta.reshape(len(theta), 1, 1 + rows, d)
        x, y = blocks[..., 0, :], blocks[..., 1:, :]
        if rows < problem.n:
            y = np.concatenate([y, -y.sum(axis=-2, keepdims=True)], axis=-2)
        return problem_at(setting, recipe, x, y, exact)

    def initial(theta: Array) -> tuple[Any, Any]:
        posed = moved(theta)
        return posed, _batched(algorithm.init(posed, params), about.fixed, len(theta))

    return replace(
        instance, initial=initial, initial_dimension=size, start=lambda: _start(algorithm, params, about, initial, size)
    )


def _start(algorithm: Any, params: Any, about: Chart, initial: Any, size: int) -> Array | None:
    """The matrix that takes the coordinates of ``initial`` to those of its state about its optimum; None if affine."""
    basis = np.concatenate([np.zeros((1, size), dtype=int), np.eye(size, dtype=int)])
    posed, state = initial(basis)
    own = replace(about, fixed=algorithm.fixed_point(posed, params))
    images = own.blocks(state).reshape(size + 1, -1)
    if (images[0] != 0).any():
        return None
    return images[1:].T


def _partly_free(setting: Setting, instance: Instance, about: Chart) -> Instance:
    algorithm, params, problem = setting.algorithm, instance.params, instance.problem
    assert algorithm is not None
    unknown = [name for name in setting.start if name not in about.rows]
    if unknown:
        raise ValueError(f"the initial state has no part {unknown[0]!r}: it has {', '.join(about.rows)}")

    def initial(theta: Array) -> tuple[Any, Any]:
        blocks = np.zeros((len(theta), 1, about.dimension, problem.d), dtype=theta.dtype)
        blocks[:, :, kept, :] = theta.reshape(len(theta), 1, len(kept), problem.d)
        parts = about.parts(blocks)
        state = algorithm.init(problem, params, **{name: parts[name] for name in setting.start})
        return problem, _batched(state, about.fixed, len(theta))

    places, start = [], 0
    for name, rows in about.rows.items():
        places += [(name, start + k) for k in range(1 if rows is None else rows)]
        start += 1 if rows is None else rows
    kept = [k for k, block in enumerate(about.free) if places[block][0] in setting.start]
    size = len(kept) * problem.d
    return replace(
        instance, initial=initial, initial_dimension=size, start=lambda: _start(algorithm, params, about, initial, size)
    )


def words(setting: Setting, recipe: Recipe, params: Any) -> str:
    """Everything of an instance that matters, constants of single clients included."""
    hidden = ("clients", "x", "k", "joint", "g", "n")
    n = recipe["n"] if "clients" not in recipe else len(recipe["clients"])
    text = f"n={n}, " + ", ".join(f"{key}={value}" for key, value in recipe.items() if key not in hidden)
    for adversary in setting.adversaries:
        used = getattr(params, adversary.field)
        text += f", {getattr(getattr(used, 'compressor', used), 'name', '')}" + (
            f", {used.joint}" if "joint" in recipe else ""
        )
    if "clients" not in recipe:
        return text
    text += f"; x* = {_row(recipe['x'])}; " if "x" in recipe else "; "
    text += "; ".join(f"f_{i}: {_function(c)}" for i, c in enumerate(recipe["clients"], 1))
    return text + (f"; g: {_function(recipe['g'])}" if "g" in recipe else "")


def _row(values: Any) -> str:
    return "(" + ", ".join(map(str, values)) + ")"


def _function(client: Recipe) -> str:
    two = client.get("h_above", client["h"]) != client["h"]
    text = (
        f"slopes {_row(client['h'])} below and {_row(client['h_above'])} above its kinks at x* + {_row(client['kink'])}"
        if two
        else (f"Hessian diag{_row(client['h'])}")
    )
    if client.get("turn"):
        text += f" turned by the tangent {client['turn']} of half the angle"
    more = [
        f"{k} = {_row(v) if isinstance(v, tuple) else v}"
        for k, v in client.items()
        if k not in ("h", "h_above", "kink", "y", "turn")
    ]
    more += [f"gradient {_row(client['y'])} less the mean"] if any(client.get("y", ())) else []
    return ", ".join([text, *more])


def _simpler(setting: Setting) -> Any:
    functions = setting.functions
    if functions is None:
        return lambda recipe: iter(())
    return lambda recipe: members.simpler(recipe, str(functions.mu), str(functions.L))


# Constants alone


def _spoken_of(claim: Claim) -> tuple[sympy.Symbol, ...]:
    """The letters of a statement and its hypotheses, those that it assigns left out."""
    statement = claim.statement
    assigned = getattr(statement, "assignments", {})
    parts = (*_relations(claim), *(side for c in statement.comparisons for side in (c.left, c.right)))  # type: ignore[union-attr]
    found = sympy.Tuple(*parts).free_symbols - set(assigned)
    return tuple(sorted(found, key=str))


def _constants(claim: Claim) -> Family:
    """Values of the letters alone; those that a claim does not bound lie anywhere."""
    setting = claim.setting
    symbols = tuple(setting.sources) or _spoken_of(claim)

    def recipes(rng: np.random.Generator) -> Iterator[Recipe]:
        of = letters.plan(symbols, frozenset(), _relations(claim), _sides(claim))
        while True:
            try:
                values = letters.draw(of, {}, {}, rng, wide=True)
            except (Undefined, ZeroDivisionError):
                continue
            if values is not None:
                yield {str(letter): value for letter, value in values.items()}

    def construct(recipe: Recipe, exact: bool) -> Instance:
        if any(recipe[str(s)] <= 0 and s.is_positive for s in symbols):
            raise ValueError("the constants must be positive")
        values = {s: number(recipe[str(s)], exact) for s in symbols}
        if exact:
            _check_domain(setting, None, values)
        text = ", ".join(f"{s}={recipe[str(s)]}" for s in symbols)
        return Instance(None, values, 0, lambda theta: (None, theta), text=text)

    return Family(recipes, construct)


__all__ = ["build", "family", "is_exact", "problem_at"]
