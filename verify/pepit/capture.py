"""From PEPit's objects to :class:`~verify.pepit.model.Model`: every problem that a file solves, as it is solved."""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from fedtheory import extras
from verify.pepit import exactly, invariances
from verify.pepit.algebraic import Algebraic, TooLarge, rational
from verify.pepit.model import Constraint, Inequality, Key, Model, Quantity
from verify.pepit.systems import Rational

T = TypeVar("T")
#: Arguments of a function of a file, by name.
Arguments = Mapping[str, Fraction | int | exactly.Exact]
#: What a coefficient is; True for one that is meant, however small it is.
Reading: TypeAlias = Callable[[Any, bool], exactly.Exact | None]


@dataclass(frozen=True)
class Captured:
    """A model that a file poses.

    ``pepit``: what PEPit answers, None where it finds no bound; ``rounded``: how many coefficients agree with what the
    file says to 40 digits, or to those of a float, only.
    """

    model: Model
    pepit: float | None
    rounded: int


def model_of(problem: Any, number: Reading = exactly.of) -> tuple[Model, int]:
    """The model of a ``PEPit.PEP``, solved or not, and how many of its coefficients are rounded.

    Points that no expression has are left out. ``number``: what a coefficient is, as :func:`exactly.of` has it.
    ``ValueError`` if it has no performance metric.
    """
    if not problem.list_of_performance_metrics:
        raise ValueError("the problem has no performance metric: nothing is maximised")
    prepare(problem)
    try:
        model, rounded = _read(problem, _Reader(True, number))
    except TooLarge:
        # Roots of more numbers than one field is to have.
        rounded = 1
    if not rounded:
        return model, 0
    model, rounded = _read(problem, _Reader(False, number))
    return invariances.restored(model), rounded


def numbering(problem: Any) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """The numbers in the model of a problem of what PEPit counts: points, and function values."""
    reader = _Reader(False, exactly.of)
    _read(problem, reader)
    return reader.points, reader.values


def _read(problem: Any, reader: _Reader) -> tuple[Model, int]:
    """The same, with numbers of one field, or with fractions in place of all that are irrational."""
    constraints = [
        Constraint(name, reader.quantity(c.expression), c.equality_or_inequality == "equality")
        for name, c in named(problem._list_of_prepared_constraints, "constraint")
    ]
    inequalities = []
    for name, matrix in named(problem._list_of_prepared_psd, "matrix"):
        rows = [[reader.quantity(entry) for entry in row] for row in matrix.matrix_of_expressions]
        inequalities.append(Inequality(name, tuple(map(tuple, rows))))
        # PEPit makes the two entries of a matrix that is symmetric equal, whatever their expressions.
        for i in range(len(rows)):
            for j in range(i):
                if rows[i][j] != rows[j][i]:
                    constraints.append(Constraint(f"{name}[{i},{j}]", rows[i][j].minus(rows[j][i]), True))
    (key,) = reader.quantity(problem.objective).coefficients
    assert isinstance(key, int)
    model = Model(key, len(reader.points), len(reader.values), tuple(constraints), tuple(inequalities))
    return model.in_one_field(), reader.rounded


def prepare(problem: Any) -> None:
    """Have PEPit list all constraints of a problem, if it has not yet.

    ``ValueError`` where PEPit would list those of another problem, or has listed before all were there: it looks once.
    """
    if problem.objective is None:
        if not all(map(_is_current, problem.list_of_performance_metrics)):
            raise ValueError("another PEP was begun after this one: solve or certify each before the next is begun")
        problem._prepare_constraints(verbose=0)
    listed = {id(c) for c in (*problem._list_of_prepared_constraints, *problem._list_of_prepared_psd)}
    metrics = sum(
        c.expression.decomposition_dict.get(problem.objective) == 1 for c in problem._list_of_prepared_constraints
    )
    added = [c for c in (*problem.list_of_constraints, *problem.list_of_psd) if id(c) not in listed]
    if added or len(problem.list_of_performance_metrics) != metrics:
        raise ValueError("a constraint or metric was added after the problem was solved or certified: begin a new PEP")


def _is_current(expression: Any) -> bool:
    """Return True if PEPit's lists, which a new problem empties, have the points and values of an expression."""
    from PEPit import Expression, Point

    leaves = [leaf for key in expression.decomposition_dict for leaf in (key if isinstance(key, tuple) else (key,))]
    lists = {Point: Point.list_of_leaf_points, Expression: Expression.list_of_leaf_expressions}
    return all(any(leaf is one for one in lists.get(type(leaf), [leaf])) for leaf in leaves)


def named(listed: list[Any], kind: str) -> Iterator[tuple[str, Any]]:
    """Yield what is in force, by PEPit's names; where these are missing or occur twice, numbered."""
    taken: set[str] = set()
    for number, thing in enumerate(listed):
        if thing.activated:
            name = str(thing.get_name() or f"{kind} {number}")
            if name in taken:
                name = f"{name} ({number})"
            taken.add(name)
            yield name, thing


class _Reader:
    """Numbers the points and function values of expressions as they come."""

    def __init__(self, roots: bool, number: Reading) -> None:
        self.roots, self.number = roots, number
        self.points: dict[int, int] = {}
        self.values: dict[int, int] = {}
        self.rounded = 0

    def quantity(self, expression: Any) -> Quantity:
        """A PEPit expression, with exact coefficients."""
        coefficients: dict[Key, Rational] = {}
        errors: dict[Key | None, Rational] = {}
        constant = Rational(0)
        weights = {k: w if isinstance(w, float | int) else float(w) for k, w in expression.decomposition_dict.items()}
        # Noise is what cancels beside larger numbers. Constants are none: a small one may be all that is allowed.
        tiny = all(abs(getattr(w, "exact", w)) <= exactly.NOISE for k, w in weights.items() if not _is_one(k))
        for key, weight in weights.items():
            number = self.number(weight, tiny or _is_one(key))
            if number is None:
                raise ValueError(f"a coefficient is {weight!r}, which is not a number")
            known = number.known if self.roots or not number.rounded else None
            self.rounded += known is None
            exact = known if isinstance(known, Algebraic) else rational(number.exact)
            error = rational(number.error) if known is None else Rational(0)
            if isinstance(key, tuple):
                one, other = sorted(self.points.setdefault(point.counter, len(self.points)) for point in key)
                pair: Key = (one, other)
            elif _is_one(key):
                constant += exact
                _add(errors, None, error)
                continue
            else:
                pair = self.values.setdefault(key.counter, len(self.values))
            coefficients[pair] = coefficients.get(pair, Rational(0)) + exact
            _add(errors, pair, error)
        return Quantity({key: c for key, c in coefficients.items() if c}, constant, errors)


def _is_one(key: Any) -> bool:
    """Return True for the key of the constant, which is 1."""
    return not isinstance(key, tuple) and not hasattr(key, "counter")


def _add(errors: dict[Key | None, Rational], key: Key | None, error: Rational) -> None:
    if error:
        errors[key] = errors.get(key, Rational(0)) + error


def value_of(problem: Any) -> float | None:
    """Return PEPit's value of a problem that it has solved, as ``solve`` returns it; None if it has not solved it."""
    if problem.G_value is None:
        return None
    return float(problem.check_feasibility(problem.objective.eval(), verbose=0))


def numbers(problem: Any, value: float | None) -> Captured:
    """The model of a problem that PEPit has solved, with fractions for coefficients."""
    model, rounded = model_of(problem)
    return Captured(model, value, rounded)


@contextlib.contextmanager
def captured(reading: Callable[[Any, float | None], T], solved: bool = True) -> Iterator[list[T]]:
    """Collect ``reading(problem, value)`` for every problem that is solved meanwhile, without PEPit's own output. What
    the file prints goes to stderr, beside the report.

    Unless ``solved`` no solver is called: a problem is read as it is posed, and its value is not a number, so that
    nothing can be computed from it; what it prints then, at letters, is left out.
    """
    extras.require("PEPit", extra="pepit")
    from PEPit import PEP

    found: list[T] = []
    solve = PEP.solve

    def solving(self: Any, *arguments: Any, **named: Any) -> Any:
        given = inspect.signature(solve).bind(self, *arguments, **named)
        given.arguments["verbose"] = 0
        value = solve(*given.args, **given.kwargs) if solved else math.nan
        found.append(reading(self, None if value is None else float(value)))
        return value

    PEP.solve = solving
    try:
        with contextlib.redirect_stdout(sys.stderr if solved else io.StringIO()):
            yield found
    finally:
        PEP.solve = solve


def run(file: Path, call: str | None = None, at: Arguments | None = None) -> list[Captured]:
    """The models that a file solves: run as a program, or by a call of one of its functions. As :func:`read`."""
    return read(file, numbers, call, at)[0]


def read(
    file: Path,
    reading: Callable[[Any, float | None], T],
    call: str | None = None,
    at: Arguments | None = None,
    solved: bool = True,
) -> tuple[list[T], Any]:
    """Return ``reading`` of each problem that a file solves, and the value of its function, if one is called.

    ``reading``: takes a ``PEPit.PEP`` that is solved, and its value; unless ``solved`` it is only posed. ``call``: the
    function, by default the one that begins with ``wc_`` if ``at`` has arguments for it. ``ValueError`` if there is no
    such function, it takes no such argument, nothing is solved, or the code fails.
    """
    source = file.read_text(encoding="utf-8")
    arguments = at or {}
    as_program = call is None and not arguments
    try:
        code, names = exactly.compiled(source, str(file))
    except SyntaxError as error:
        raise ValueError(f"{file}: {error.msg} (line {error.lineno})") from error
    names |= {"__name__": "__main__" if as_program else "__model__", "__file__": str(file)}
    answer = None
    with captured(reading, solved) as found, _beside(file):
        try:
            exec(code, names)
            if not as_program:
                function = _function(names, call, file)
                answer = function(**_arguments(function, arguments))
        except SystemExit as error:
            # A program may end so: what it has solved counts, unless it says that it failed.
            if error.code or not found:
                raise ValueError(f"{file}: the program ends by itself, with exit status {error.code or 0}") from error
        except ValueError:
            raise
        except Exception as error:
            raise ValueError(f"{file}: {type(error).__name__}: {error}") from error
    if not found:
        raise ValueError(f"{file}: no PEP was solved; name a function of the file by --call")
    return found, answer


@contextlib.contextmanager
def _beside(file: Path) -> Iterator[None]:
    """Let a file import what lies beside it, and see no arguments but its name, as a program that Python runs."""
    arguments = sys.argv
    sys.path.insert(0, str(file.resolve().parent))
    sys.argv = [str(file)]
    try:
        yield
    finally:
        sys.path.pop(0)
        sys.argv = arguments


def _function(names: Mapping[str, Any], call: str | None, file: Path) -> Callable[..., Any]:
    if call is None:
        callables = [name for name, thing in names.items() if name.startswith("wc_") and callable(thing)]
        if len(callables) != 1:
            raise ValueError(f"{file}: {len(callables)} functions begin with wc_; name one by --call")
        call = callables[0]
    function = names.get(call)
    if not callable(function):
        raise ValueError(f"{file}: there is no function {call}")
    return function


def _arguments(function: Callable[..., Any], at: Arguments) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    for name in at:
        if name not in parameters:
            raise ValueError(f"{function.__name__} has no argument {name}: it takes {', '.join(parameters)}")
    given: dict[str, Any] = {
        name: exactly.Exact(value) if isinstance(value, Fraction) else value for name, value in at.items()
    }
    missing = [n for n, p in parameters.items() if p.default is p.empty and n not in given and n != "verbose"]
    if missing:
        raise ValueError(f"{function.__name__} needs {', '.join(missing)}: give them by --at")
    if "verbose" in parameters:
        given["verbose"] = 0
    return given
