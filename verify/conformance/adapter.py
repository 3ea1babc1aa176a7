"""Functions under test, called with the values of the reference and read in its types.

Arrays of any library, on any device, become numpy arrays by the array API standard: an array with ``__dlpack__`` is
read on the processor, to which ``to_device`` moves it if need be; torch's tensors are detached first, and have ``cpu``
for ``to_device``. Floats that numpy does not have, such as bfloat16, become float32, which represents all of them.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import map_leaves
from verify.base.plain import counted
from verify.conformance.report import raised


def as_numpy(value: Any) -> Array:
    """The value as a numpy array; errors of its library are not caught."""
    if isinstance(value, np.ndarray):
        return _widened(value)
    if hasattr(value, "detach"):
        value = value.detach()
    if not (hasattr(value, "__dlpack__") or hasattr(value, "__array_namespace__")):
        return np.asarray(value)
    try:
        return _widened(np.asarray(value))
    except Exception as error:
        # On another device, or of a type that numpy does not have.
        for moved in _on_the_processor(value):
            try:
                return _widened(np.asarray(moved if isinstance(moved, np.ndarray) else np.from_dlpack(moved)))
            except Exception:
                continue
        raise error


def _widened(array: Array) -> Array:
    """An array whose floats are of a type that another package registered with numpy, in float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" and np.can_cast(array.dtype, np.float32) else array


def _on_the_processor(value: Any) -> list[Any]:
    """Return copies of the array on the CPU, one for each way of moving it there that works."""
    found: list[Any] = [value]
    for name, arguments in (("to_device", ("cpu",)), ("cpu", ()), ("get", ())):
        found += _called(value, name, *arguments)
    if any(_called(value, "is_floating_point")):
        # torch's bfloat16, wherever it is.
        found += [wide for moved in list(found) for wide in _called(moved, "float")]
    return found


def _called(value: Any, name: str, *arguments: Any) -> list[Any]:
    """Call a method if it exists; return its result in a list, empty if there is no method or it raises."""
    method = getattr(value, name, None)
    try:
        return [method(*arguments)] if callable(method) else []
    except Exception:
        return []


def client(problem: Problem, i: int) -> Client:
    """Return the i-th client of a problem by itself, for implementations made of clients.

    Args:
        problem: The problem.
        i: The number of the client, from 0 on.

    Returns:
        The client, with ``gradient(x)`` and ``value(x)``.

    Raises:
        ValueError: If there is no such client.

    Examples:
        >>> from fedtheory.problems.base import Problem
        >>> from fedtheory.problems.quadratic import diagonal
        >>> client(Problem(diagonal([[2.0], [4.0]], [[1.0], [0.0]])), 1).gradient([3.0])
        array([12.])
    """
    if not 0 <= i < problem.n:
        raise ValueError(f"the clients are numbered 0 to {problem.n - 1}, got {i}")
    return Client(problem, i)


@dataclass(frozen=True)
class Client:
    """One f_i: ``gradient(x)`` and ``value(x)`` for ``x (d,)``.

    Args:
        problem: The problem.
        i: The number of the client, from 0 on.

    Examples:
        >>> from fedtheory.problems.base import Problem
        >>> from fedtheory.problems.quadratic import diagonal
        >>> from verify.conformance import Client
        >>> Client(Problem(diagonal([[2.0], [4.0]], [[1.0], [0.0]])), 0).value([3.0])
        4.0
    """

    problem: Problem
    i: int

    def gradient(self, x: Any) -> Array:
        """grad f_i(x), ``(d,) -> (d,)``."""
        points = np.tile(np.asarray(x, dtype=float), (self.problem.n, 1))
        return self.problem.f.gradient(points)[self.i]

    def value(self, x: Any) -> float:
        """f_i(x)."""
        points = np.tile(np.asarray(x, dtype=float), (self.problem.n, 1))
        return float(self.problem.f.value(points)[self.i])


_RANDOM = ("rng", "generator", "random", "key", "seed")


class BadAnswer(Exception):
    """Raised when the result of a user's function cannot be compared: ``part`` of the interface, and the reason in
    words.
    """

    def __init__(self, part: str, text: str) -> None:
        super().__init__(text)
        self.part = part
        self.text = text


class Unanswered(BadAnswer):
    """A function asks its problem for something that this one has not."""


def _raised(where: str, problem: Problem, error: Exception) -> BadAnswer:
    """Wrap an error that a user's function raised, as ``Unanswered`` if it asked the problem's functions for something
    that only some of them have.
    """
    asked = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    kind = Unanswered if asked is not None and (asked is problem.f or asked is problem.g) else BadAnswer
    # It helps to read the letters of parameters and states.
    letters = getattr(asked, "_fields", ())
    return kind("raises", f"{where} {raised(error)}" + (f"; there are {', '.join(letters)}" if letters else ""))


class NamedState(dict[str, Any]):
    """A state as a mapping from the paper's letters; ``state.x`` is ``state["x"]``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True)
class Implementation:
    """An implementation of ``algorithm``: ``step`` or ``run``; ``draws``: whether the step takes draws, no generator.

    ``dtype``: of the states that are handed in.
    """

    algorithm: Algorithm
    init: Callable[..., Any] | None
    step: Callable[..., Any] | None
    run: Callable[..., Any] | None
    draws: bool
    dtype: str

    @property
    def names(self) -> tuple[str, ...]:
        """The letters of the state."""
        return tuple(self.algorithm.State._fields)

    def start(self, problem: Problem, params: Any) -> Any:
        """The implementation's own initial state, or the reference's as letters."""
        if self.init is None:
            return self.handed(self.algorithm.init(problem, params), None)
        try:
            return self.init(problem, params)
        except Exception as error:
            raise _raised("init", problem, error) from None

    def handed(self, state: Any, template: Any) -> Any:
        """A reference state as the implementation has it: like ``template``, with its letters replaced."""
        letters = {name: np.array(value, dtype=self.dtype) for name, value in zip(self.names, state, strict=True)}
        if template is None:
            return NamedState(letters)
        if isinstance(template, Mapping):
            return type(template)({**template, **letters})  # type: ignore[call-arg]
        if isinstance(template, tuple) and hasattr(template, "_replace"):
            return template._replace(**letters)
        if dataclasses.is_dataclass(template) and not isinstance(template, type):
            return dataclasses.replace(template, **letters)
        if hasattr(template, "__dict__") and not isinstance(template, type):
            other = copy.copy(template)
            vars(other).update(letters)
            return other
        raise BadAnswer(
            "state",
            f"init gives a {type(template).__name__}; a mapping, NamedTuple or object with letters was expected",
        )

    def stepped(self, problem: Problem, params: Any, state: Any, random: Any) -> Any:
        """Return the implementation's next state from one of its own states."""
        assert self.step is not None
        given = map_leaves(np.array, random) if self.draws else random
        try:
            after = self.step(problem, params, state, given)
        except Exception as error:
            raise _raised("step", problem, error) from None
        return NamedState(after) if type(after) is dict and self.init is None else after

    def read(self, state: Any, like: Any) -> Any:
        """A state of the implementation as the reference has it, in the shapes of ``like``."""
        return type(like)(
            *(self._field(state, name, np.shape(ref)) for name, ref in zip(self.names, like, strict=True))
        )

    def _field(self, state: Any, name: str, shape: tuple[int, ...]) -> Array:
        if isinstance(state, Mapping):
            if name not in state:
                raise BadAnswer("state", f"the state has no {name!r}: it has {', '.join(map(str, state)) or 'nothing'}")
            value = state[name]
        elif hasattr(state, name):
            value = getattr(state, name)
        else:
            raise BadAnswer("state", f"a state of type {type(state).__name__} has no {name!r}")
        return as_array(name, value, shape)

    def iterates(self, problem: Problem, params: Any, rounds: int, rng: np.random.Generator) -> list[Any]:
        """Return the iterates of the loop, one per round, preceded by the initial one if the loop returns it."""
        assert self.run is not None
        try:
            found = self.run(problem, params, rounds, rng)
            found = list(found) if isinstance(found, Iterable) else found
        except Exception as error:
            raise _raised("run", problem, error) from None
        if not isinstance(found, list):
            raise BadAnswer("iterates", f"run gives a {type(found).__name__}, where a list of iterates was expected")
        if len(found) not in (rounds, rounds + 1):
            raise BadAnswer("iterates", f"run gives {counted(len(found), 'iterate')} for {counted(rounds, 'round')}")
        return found

    def observed(self, iterate: Any, like: Any, letter: str | None) -> dict[str, Array]:
        """The letters that an iterate shows, by name: all that a mapping has, or the one with its shape."""
        shapes = {name: np.shape(value) for name, value in zip(self.names, like, strict=True)}
        if isinstance(iterate, Mapping):
            found = {name: as_array(name, iterate[name], shapes[name]) for name in self.names if name in iterate}
        elif hasattr(iterate, "_fields") or dataclasses.is_dataclass(iterate):
            found = {n: as_array(n, getattr(iterate, n), shapes[n]) for n in self.names if hasattr(iterate, n)}
        else:
            name = letter or self._shown(iterate, shapes)
            found = {name: as_array(name, iterate, shapes[name])}
        if not found:
            raise BadAnswer("iterates", f"an iterate shows none of {', '.join(self.names)}")
        return found

    def _shown(self, iterate: Any, shapes: Mapping[str, tuple[int, ...]]) -> str:
        shape = np.shape(as_numpy(iterate))
        for name, expected in shapes.items():
            if expected == shape:
                return name
        listed = ", ".join(f"{name} {expected}" for name, expected in shapes.items())
        raise BadAnswer("iterates", f"an iterate has shape {shape}, which no part of the state has: {listed}")


def as_array(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """A value as a float64 array of this shape. Raise ``BadAnswer`` if it is not one, or not finite where a number is
    due.
    """
    try:
        array = as_numpy(value)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers")
        number = array.astype(np.float64)
    except Exception as error:
        raise BadAnswer("state", f"{name} is not an array of numbers ({raised(error)})") from None
    if number.shape != shape:
        raise BadAnswer("shape", f"{name} has shape {number.shape}, expected {shape}")
    return number


def takes_draws(step: Callable[..., Any], randomness: str | None) -> bool:
    """Return True if a step takes our draws rather than a generator, as declared or by the name of its fourth
    parameter.
    """
    if randomness is not None:
        if randomness not in ("draw", "rng"):
            raise ValueError(f"randomness must be 'draw' or 'rng', got {randomness!r}")
        return randomness == "draw"
    try:
        last = list(inspect.signature(step).parameters)[:4][-1]
    except (TypeError, ValueError, IndexError):
        return True
    return not any(word in last.lower() for word in _RANDOM)
