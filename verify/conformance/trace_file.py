"""Recorded runs, of code in any language: an npz file against the algorithm whose run it is supposed to be.

The file holds arrays by name (docs/conformance.md has the list, and ``evidence/schema/trace.json`` what they may be):

- ``problem.H (n, d, d)``, ``problem.c (n, d)``: f_i(x) = (x - c_i)' H_i (x - c_i)/2, and ``problem.g.H (d, d)``,
  ``problem.g.c (d,)`` where there is a g; or ``data.A (rows, d)``, ``data.b (rows,)``, ``data.client (rows,)``: the
  client of each row, numbered from 0, ``data.loss``: "least-squares" or "logistic", ``data.mu``: weight of |x|^2/2.
- ``params.LETTER``: each parameter; a compressor by its name ("rand-3", "natural", "top-2", "bernoulli(omega=1)"),
  FedADMM's selection ("uniform-2") and its local solver ("inner-3", "exact"), CoCoA+'s ("passes-1", "exact").
- ``state.LETTER (T+1, ...)``: the states before and after each of T steps; or ``iterates (T+1, d)``: models alone.
- ``draw`` or ``draw.PART (T, ...)``: the draws of the steps, where they are known.
- ``runs``: present if every array of states, iterates and draws has one more leading axis, over independent runs.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory import compressors
from fedtheory.algorithms import cocoa_plus
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.schedules import ROUND, at_round
from fedtheory.algorithms.selections import Covering, Selection, Uniform
from fedtheory.compressors import Compressor, Family, contractive
from fedtheory.compressors.contractive import Contractive
from fedtheory.learning.batches import AllRows
from fedtheory.learning.logistic import Logistic
from fedtheory.learning.subproblems import Exact, InnerSteps
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import LOGISTIC, SQUARED, Loss
from fedtheory.problems.quadratic import Quadratics, least_squares
from fedtheory.randomness import map_leaves
from verify.base.plain import quoted
from verify.conformance import npz
from verify.conformance.references import reference
from verify.conformance.scenarios import scenarios
from verify.evidence import formats
from verify.evidence.parsing import fraction
from verify.results import files

_LOSSES: Mapping[str, Loss] = {"least-squares": SQUARED, "logistic": LOGISTIC}


@dataclass(frozen=True)
class Trace:
    """A recorded run (or several): ``states``: a list for each run, T + 1 states each, or ``iterates`` ``(runs, T+1,
    d)``; ``draws``: for each run those of its T steps, or None."""

    algorithm: Algorithm
    problem: Problem
    params: Any
    states: tuple[tuple[Any, ...], ...]
    iterates: Array | None
    draws: tuple[tuple[Any, ...], ...] | None


def record(
    name: str | Algorithm, path: Path, rounds: int = 20, seed: int = 0, draws: bool = True, states: bool = True
) -> None:
    """Write a run of the reference on one of its test problems, as an example of a trace.

    Args:
        name: As in :func:`verify.conformance.check_trace`.
        path: The file to write, in the npz format of numpy.
        rounds: The number of rounds.
        seed: The seed of the problem and of the draws.
        draws: True to record the draws.
        states: True to record the states; otherwise the iterates alone, without draws.

    Raises:
        ValueError: If the file cannot be written, or the problem has no place in a trace.

    Examples:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from verify import conformance
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder) / "run.npz"
        ...     conformance.record("gradient-descent", file, rounds=3)
        ...     np.load(file)["state.x"].shape[0]
        4
    """
    algorithm = reference(name)
    scenario = scenarios(algorithm, seed)[-1]
    problem, params = scenario.problem, scenario.params
    rng = np.random.default_rng(seed)
    state = algorithm.init(problem, params)
    visited, drawn = [state], []
    for t in range(rounds):
        now = at_round(algorithm.schedules, problem, params, t, False)
        drawn.append(algorithm.draws(problem, now, state).sample(rng, ()))
        state = algorithm.step(problem, now, state, drawn[-1])
        visited.append(state)
    arrays = formats.named("trace", {"algorithm": algorithm.name})
    arrays |= _problem_arrays(problem) | _params_arrays(params)
    if states:
        for letter in state._fields:
            arrays[f"state.{letter}"] = np.stack([np.asarray(getattr(s, letter), dtype=float) for s in visited])
        if draws:
            arrays |= _draw_arrays(drawn)
    else:
        arrays["iterates"] = np.stack([np.asarray(s[0], dtype=float) for s in visited])
    try:
        with files.replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from error


def _problem_arrays(problem: Problem) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if isinstance(problem.f, LinearModels):
        own = problem.f
        rows = {"A": own.X, "b": own.y, "client": own.owner, "mu": own.lam, "share": own.share}
        loss = next(name for name, known in _LOSSES.items() if known.name == own.loss.name)
        return {f"data.{key}": value for key, value in {**rows, "loss": loss}.items()}
    for prefix, f in (("problem", problem.f), ("problem.g", problem.g)):
        if f is None:
            continue
        if not isinstance(f, Quadratics):
            raise ValueError("a trace is written of quadratics only")
        single = prefix == "problem.g"
        found |= {f"{prefix}.H": f.H[0] if single else f.H, f"{prefix}.c": f.c[0] if single else f.c}
    if problem.declared is not None:
        found |= {"problem.mu": float(problem.declared[0]), "problem.L": float(problem.declared[1])}
    return found


def _params_arrays(params: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in zip(params._fields, params, strict=True):
        if isinstance(value, Family):
            found |= {f"params.{name}": value.compressor.name, f"params.{name}.joint": value.joint}
        elif isinstance(value, Contractive):
            found[f"params.{name}"] = value.name
        elif isinstance(value, Uniform | Covering):
            found[f"params.{name}"] = f"{type(value).__name__.lower()}-{value.size}x{value.rounds}"
        elif isinstance(value, InnerSteps) and value.steps is not None:
            found |= {f"params.{name}": f"inner-{value.steps}", f"params.{name}.r": value.r}
        elif isinstance(value, Exact) or getattr(value, "name", None) == cocoa_plus.scaled().name:
            found[f"params.{name}"] = "exact"
        elif isinstance(value, cocoa_plus.Solver) and (passes := re.fullmatch(r"passes\((\d+)\)", value.name)):
            found[f"params.{name}"] = f"passes-{passes[1]}"
        elif isinstance(value, int | float | str | np.ndarray | np.number | bool):
            found[f"params.{name}"] = value
        elif value is not None and not isinstance(value, AllRows):
            raise ValueError(f"the parameter {name} cannot be written to a trace")
    return found


def _draw_arrays(drawn: Sequence[Any], prefix: str = "draw") -> dict[str, Array]:
    first = drawn[0]
    if isinstance(first, tuple):
        found: dict[str, Array] = {}
        for i, name in enumerate(getattr(first, "_fields", range(len(first)))):
            found |= _draw_arrays([d[i] for d in drawn], f"{prefix}.{name}")
        return found
    return {prefix: np.stack([np.asarray(d) for d in drawn])}


def load(given: str | Algorithm, path: Path) -> Trace:
    """The trace in a file; ``ValueError`` of one sentence, with the file, for what it lacks or has in a wrong shape."""
    algorithm = reference(given)
    name = algorithm.name
    found = npz.read(path)
    try:
        formats.checked("trace", npz.described(found))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    written = str(found.get("algorithm", name))
    if written != name:
        raise ValueError(f"{path} is a trace of {quoted(written)}, not of {name}")
    try:
        # Numbers that are too large are reported by the check.
        with np.errstate(all="ignore"):
            return _trace(algorithm, found)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    except (TypeError, LookupError, ArithmeticError, AttributeError) as error:
        # Only a method's own code says what it asks of its parameters.
        raise ValueError(f"{path}: its problem and its parameters are not such as {name} has: {error}") from error


def _trace(algorithm: Algorithm, arrays: Mapping[str, Any]) -> Trace:
    for key, value in arrays.items():
        if (
            key.startswith(("problem.", "data.", "params."))
            and not isinstance(value, str)
            and not np.isfinite(value).all()
        ):
            raise ValueError(f"{key} has numbers that are not finite")
    problem = _rows(arrays) if _wants_rows(algorithm) else _problem(arrays)
    params = _params(algorithm, arrays, problem)
    several = "runs" in arrays
    like = algorithm.init(problem, params)
    letters = {letter: f"state.{letter}" for letter in like._fields}
    missing = [key for key in letters.values() if key not in arrays]
    if len(missing) == len(letters):
        return Trace(algorithm, problem, params, (), _iterates(arrays, like, several), None)
    if missing:
        raise ValueError(f"the trace lacks {missing[0]}")
    fields = {letter: np.asarray(arrays[key], dtype=float) for letter, key in letters.items()}
    fields = fields if several else {letter: value[None] for letter, value in fields.items()}
    lengths = {value.shape[:2] for value in fields.values()}
    for letter, value in fields.items():
        core = np.shape(getattr(like, letter))
        if value.ndim != 2 + len(core) or value.shape[2:] != core or len(lengths) > 1 or value.shape[1] < 2:
            raise ValueError(f"state.{letter} must have a row of shape {core} for each of T + 1 >= 2 states")
    ((runs, count),) = lengths
    states = tuple(
        tuple(type(like)(*(fields[letter][r, t] for letter in like._fields)) for t in range(count)) for r in range(runs)
    )
    return Trace(algorithm, problem, params, states, None, _draws(arrays, algorithm, problem, params, states, several))


def _problem(arrays: Mapping[str, Any]) -> Problem:
    declared = (float(arrays["problem.mu"]), float(arrays["problem.L"])) if "problem.L" in arrays else None
    if "problem.H" in arrays:
        f = Quadratics(
            np.asarray(arrays["problem.H"], dtype=float), np.asarray(_need(arrays, "problem.c"), dtype=float)
        )
        g = None
        if "problem.g.H" in arrays:
            g = Quadratics(np.asarray(arrays["problem.g.H"])[None], np.asarray(_need(arrays, "problem.g.c"))[None])
        return Problem(f, g, declared)
    A, b, owner = _rows_of_clients(arrays)
    rows = [np.flatnonzero(owner == i) for i in range(int(owner.max()) + 1)]
    if not all(len(r) for r in rows):
        raise ValueError("the clients of the rows must be numbered 0, 1, ..., each with a row")
    loss, mu = str(arrays.get("data.loss", "least-squares")), float(arrays.get("data.mu", 0.0))
    if loss == "least-squares":
        parts = [least_squares(A[r][None], b[r][None], mu) for r in rows]
        f = Quadratics(np.concatenate([p.H for p in parts]), np.concatenate([p.c for p in parts]))
        return Problem(f, None, declared)
    if len({len(r) for r in rows}) > 1:
        raise ValueError("data.loss must be 'least-squares', or 'logistic' with as many rows for each client")
    return Problem(Logistic(np.stack([A[r] for r in rows]), np.stack([b[r] for r in rows]), mu), None, declared)


def _wants_rows(algorithm: Algorithm) -> bool:
    """Return True if a method needs single examples, as the type of its problem declares."""
    problem = next(iter(inspect.signature(algorithm.step).parameters.values()))
    return "LinearProblem" in str(problem.annotation)


def _rows(arrays: Mapping[str, Any]) -> LinearProblem:
    """A linear model on rows that are numbered as in the file, for methods that ask for single ones."""
    A, b, owner = _rows_of_clients(arrays)
    sizes = np.bincount(owner)
    if not sizes.all() or (np.diff(owner) < 0).any():
        raise ValueError(
            "the rows must be sorted by client, and the clients numbered 0, 1, ..., each with at least one row"
        )
    loss = str(arrays.get("data.loss", "least-squares"))
    share: Any = str(arrays.get("data.share", "own"))
    lam = float(_need(arrays, "data.mu"))
    return LinearProblem(LinearModels(A, b, sizes, lam, _LOSSES[loss], share))


def _rows_of_clients(arrays: Mapping[str, Any]) -> tuple[Array, Array, Array]:
    """The rows of data ``(rows, d)``, their targets and their clients ``(rows,)``."""
    A, b, owner = (np.asarray(_need(arrays, f"data.{key}")) for key in ("A", "b", "client"))
    if 0 in A.shape or b.shape != A.shape[:1] or owner.shape != b.shape or owner.dtype.kind not in "iu":
        raise ValueError("data.A must be (rows, d), data.b and data.client (rows,), none empty, the clients integers")
    if owner.min() < 0 or owner.max() >= len(owner):
        raise ValueError("the clients of the rows must be numbered 0, 1, ..., each with a row")
    return A.astype(float), b.astype(float), owner


def _need(arrays: Mapping[str, Any], key: str) -> Any:
    if key not in arrays:
        raise ValueError(f"the trace lacks {key}")
    return arrays[key]


def _params(algorithm: Algorithm, arrays: Mapping[str, Any], problem: Problem) -> Any:
    found: dict[str, Any] = {}
    kind: Any = algorithm.Params
    # Parameters that vary with the round follow from the others; a run begins with round 0.
    found.update(dict.fromkeys(algorithm.schedules, 0.0))
    for name in [name for name in kind._fields if name not in (*algorithm.schedules, ROUND)]:
        key = f"params.{name}"
        if key not in arrays:
            if name not in kind._field_defaults:
                raise ValueError(f"the trace lacks {key}")
            continue
        value = arrays[key]
        if name == "compressors":
            joint = str(arrays.get(f"{key}.joint", "independent"))
            found[name] = Family(_compressor(str(value), problem.d), problem.n, joint)
        elif name == "compressor":
            found[name] = _contractive(str(value), problem.d)
        elif name == "selection":
            found[name] = _selection(str(value), problem.n)
        elif name == "solver":
            found[name] = _solver(algorithm, str(value), np.asarray(arrays.get(f"{key}.r", problem.f.L), dtype=float))
        elif isinstance(value, np.ndarray):
            found[name] = value
        else:
            found[name] = value.item() if hasattr(value, "item") else value
    return at_round(algorithm.schedules, problem, kind(**found), 0, False)


def _compressor(name: str, d: int) -> Compressor:
    if found := re.fullmatch(r"rand-(\d{1,9})( natural)?", name):
        build = compressors.rand_k_natural if found[2] else compressors.rand_k
        return build(d, int(found[1]))
    if found := re.fullmatch(r"bernoulli\(omega=([0-9./e+-]+)\)", name):
        return compressors.bernoulli(d, float(fraction(found[1])))
    plain = {"natural": compressors.natural, "identity": compressors.identity, "l1-selection": compressors.l1_selection}
    if name not in plain:
        raise ValueError(
            f"unknown compressor {quoted(name)}: rand-K, rand-K natural, bernoulli(omega=X) or {', '.join(plain)}"
        )
    return plain[name](d)


def _contractive(name: str, d: int) -> Contractive:
    if found := re.fullmatch(r"top-(\d{1,9})", name):
        return contractive.top_k(d, int(found[1]))
    if name.startswith("scaled "):
        return contractive.scaled(_compressor(name.removeprefix("scaled "), d))
    raise ValueError(f"unknown contractive compressor {quoted(name)}: top-K, or scaled NAME")


def _selection(name: str, n: int) -> Selection:
    if not (found := re.fullmatch(r"(uniform|covering)-(\d{1,9})(?:x(\d{1,4}))?", name)):
        raise ValueError(
            f"unknown selection {quoted(name)}: uniform-SIZE, or uniform-SIZExROUNDS, covering-SIZExROUNDS"
        )
    return (Uniform if found[1] == "uniform" else Covering)(n, int(found[2]), int(found[3] or 1))


def _solver(algorithm: Algorithm, name: str, r: Array) -> Any:
    blocks = algorithm.name == cocoa_plus.algorithm.name
    if name == "exact":
        return cocoa_plus.scaled() if blocks else Exact()
    if found := re.fullmatch(r"passes-(\d{1,6})" if blocks else r"inner-(\d{1,6})", name):
        return cocoa_plus.passes(int(found[1])) if blocks else InnerSteps(r, int(found[1]))
    raise ValueError(f"unknown solver {quoted(name)}: exact, or {'passes-COUNT' if blocks else 'inner-STEPS'}")


def _iterates(arrays: Mapping[str, Any], like: Any, several: bool) -> Array:
    value = np.asarray(_need(arrays, "iterates"), dtype=float)
    value = value if several else value[None]
    shapes = [np.shape(f) for f in like]
    if value.ndim < 3 or value.shape[2:] not in shapes or value.shape[1] < 2:
        raise ValueError(f"iterates must have T + 1 >= 2 rows of one of the shapes {', '.join(map(str, shapes))}")
    return value


def _draws(
    arrays: Mapping[str, Any],
    algorithm: Algorithm,
    problem: Problem,
    params: Any,
    states: tuple[tuple[Any, ...], ...],
    several: bool,
) -> tuple[tuple[Any, ...], ...] | None:
    if not any(key == "draw" or key.startswith("draw.") for key in arrays):
        return None
    form = algorithm.draws(problem, params, states[0][0]).sample(np.random.default_rng(0), ())
    steps = len(states[0]) - 1

    def part(like: Any, key: str) -> Any:
        if isinstance(like, tuple):
            names = getattr(like, "_fields", range(len(like)))
            return type(like)(*(part(v, f"{key}.{name}") for name, v in zip(names, like, strict=True)))
        if not np.size(like) and key not in arrays:
            return np.zeros((len(states), steps, *np.shape(like)))
        value = np.asarray(_need(arrays, key))
        value = value if several else value[None]
        if value.shape != (len(states), steps, *np.shape(like)):
            raise ValueError(f"{key} must have a row of shape {np.shape(like)} for each of the {steps} steps")
        return value.astype(np.asarray(like).dtype)

    every = part(form, "draw")
    return tuple(
        tuple(map_leaves(lambda a, r=r, t=t: a[r, t], every) for t in range(steps)) for r in range(len(states))
    )
