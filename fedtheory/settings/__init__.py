"""Settings: what a statement quantifies over, as one object from which instances and worst cases are derived."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms.base import DRAWN_FROM, Algorithm, default_draws, no_step
from fedtheory.classes import (
    Adversary,
    ContractiveCompressors,
    Delays,
    FunctionClass,
    Met,
    MixingMatrix,
    NoisyGradients,
    UnbiasedCompressors,
)
from fedtheory.instances import Instance, Instances, Recipe, pick, value_of
from fedtheory.numbers import symbols, validation
from fedtheory.problems.base import Problem
from fedtheory.settings.relations import Quantity


@dataclass(frozen=True, eq=False)
class Drawing:
    """How instances of a setting are drawn, where that does not follow from its classes and letters.

    Args:
        g: Whether there is a g, of the class of the functions: one of the options is drawn.
        start: The parts of the initial state that the paper leaves free, such that the method's invariant holds; the
            others are as ``init`` has them, and where none is free the problem moves instead.
        classes_stated: True if the classes are only drawn from, and a claim assumes those that its hypotheses state;
            otherwise every claim assumes them all.
        draw: ``draw(rng, recipe)`` adds to a recipe, or changes it, before the letters that are left are drawn.
        parameters: ``parameters(recipe, problem, exact)`` makes the parameters: where a parametrisation must keep roots
            rational, or a parameter is not a number.
        special: Instances that replace all others.
        typical: Values that letters often have, in the letters before them.
        sweep: The values of letters at which ``fedtheory tight`` compares, by name.
        conditions: Options for L/mu of strongly convex functions; any if there are none.
        kinks: True if some strongly convex functions have two or three slopes.
        compressors: Options for (k, d, omega) of the compressors in U(omega), rand-k, or Bernoulli's where k = 0; any
            if there are none.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Drawing(start=("x",)).start
        ('x',)
    """

    g: tuple[bool, ...] = (False,)
    start: tuple[str, ...] = ()
    classes_stated: bool = False
    draw: Callable[[np.random.Generator, Recipe], Recipe | None] | None = None
    parameters: Callable[[Recipe, Any, bool], Any] | None = None
    special: Instances | None = None
    typical: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    sweep: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    conditions: tuple[Fraction, ...] = ()
    kinks: bool = True
    compressors: tuple[tuple[int, int, Fraction], ...] = ()

    def __post_init__(self) -> None:
        for letter, value in self.typical.items():
            validation.expression(f"what is typical of {letter}", value)


class SumOfSquares(NamedTuple):
    """Weights of an identity, which shows that something is nonnegative: nothing is taken from them unchecked.

    ``multipliers``: of what is known to be at most 0, by its name. ``squares``: coefficients, each with the vector that
    is squared, as the multiples of named vectors that it is the sum of. All are expressions in letters of the setting
    and of the model, distinguished by their names.
    """

    multipliers: Mapping[str, Any]
    squares: tuple[tuple[Any, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True, eq=False)
class Identities:
    """Identities that prove claims in a setting.

    ``model``: the model of a step that the proofs are about (:mod:`verify.step_models`), which is compared with the
    code; ``letters``: what its letters are here, by their names; ``weights``: of each identity, by its name;
    ``grounds``: hypotheses given as code on which the proofs rest, besides memberships of classes; ``quantities``: the
    quantities of statements, by what they are in the model, which is compared with their code.
    """

    model: str
    letters: Mapping[str, sympy.Expr]
    weights: Mapping[str, SumOfSquares]
    grounds: tuple[Any, ...] = ()
    quantities: Mapping[str, Quantity] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Hints:
    """Facts that a proof in a setting may use, beyond the mathematics.

    Args:
        basis: Quantities that Lyapunov functions are composed of.
        lyapunov: The two parts of an inexact method's Lyapunov function, gap and error; only their relative weight is
            unknown.
        known: ``known(problem, params, state)``: entries that are at most 0 in all states that a statement is about;
            ``init`` makes no others, except of formal vectors, for which they are then assumed.
        signs: Functions of (problem, params) that give numbers of each client which are at least 0 for all constants of
            the setting, or (with True) positive.
        complete: True if the parameters and states of special instances are all that a statement there may depend on.
        coordinates: True if the method draws coordinates.
        identities: The proofs for all parameters.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Hints(coordinates=True).coordinates
        True
    """

    basis: tuple[Any, ...] = ()
    lyapunov: tuple[Callable[..., Any], ...] = ()
    known: Callable[[Any, Any, Any], Any] | None = None
    signs: tuple[tuple[Callable[[Any, Any], Any], bool], ...] = ()
    complete: bool = False
    coordinates: bool = False
    identities: Identities | None = None


@dataclass(frozen=True, eq=False)
class Setting:
    """The domain of a statement: problems, parameters and states.

    Args:
        text: The domain in words; by default that of the class of functions.
        letters: The paper's letters; each has its own name in the problem (mu, L, n, d) or in the ``Params`` of the
            algorithm, or the source that a mapping gives it. By default all that occur in a claim.
        algorithm: The method whose states these are; an algorithm that only says what a point is has no step.
        functions: The class of the f_i. That instances are of it is a hypothesis of every claim.
        adversaries: The classes of compressors and of oracles, likewise.
        domain: The relations between letters that ``text`` states.
        clients: Numbers of clients, as often as they are drawn; of one number alone, or of one and two, a statement
            covers no others.
        potential: The quantity that contracts, for bounds on another one.
        drawing: How instances are drawn.
        hints: Facts that proofs may use.
        own: The parameters that each client has its own of, ``(n,)``, all positive, by name.

    Raises:
        ValueError: If the class, the adversaries and the method do not fit together.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> mu, L = ft.letters("mu L")
        >>> functions = ft.SmoothStronglyConvex(mu, L)
        >>> ft.Setting(algorithm=algorithms.get("gradient-descent"), functions=functions).text
        'each mu-strongly convex and L-smooth'
    """

    text: str = ""
    letters: Mapping[sympy.Expr, Any] | tuple[sympy.Symbol, ...] = ()
    algorithm: Algorithm | None = None
    functions: FunctionClass | None = None
    adversaries: tuple[Met, ...] = ()
    domain: tuple[sympy.Basic, ...] = ()
    clients: tuple[int, ...] = (1, 2, 2, 3, 3, 4)
    potential: Any = None
    drawing: Drawing = Drawing()
    hints: Hints = Hints()
    own: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.text and self.functions is not None:
            object.__setattr__(self, "text", self.functions.text)
        object.__setattr__(self, "domain", validation.relations("the domain of a setting", self.domain))
        for letter in self.letters:
            validation.letter("the letters of a setting", letter)
        counts = self.clients
        if not isinstance(counts, tuple | list) or not counts or any(type(n) is not int or n < 1 for n in counts):
            raise ValueError(f"clients are numbers of clients of at least 1 each, as (1, 2), got {counts!r}")
        if self.functions is not None:
            self._check(self.functions)
            if self.functions.with_g:
                object.__setattr__(self, "drawing", replace(self.drawing, g=(True,)))
        if self.drawing.special is None and self.drawing.parameters is None:
            self._check_fields()
        if self.own:
            self._check_own()

    def _check_own(self) -> None:
        """Raise ``ValueError`` if parameters of each client's own are no parameters, or there is no such client."""
        if not isinstance(self.own, tuple | list):
            raise ValueError(f"own are names of parameters, as ('w',), got {self.own!r}")
        if self.algorithm is None or self.functions is None or self.functions.named or set(self.clients) == {1}:
            raise ValueError("parameters of each client's own are those of a method of several clients with functions")
        if self.drawing.special is not None or self.drawing.parameters is not None:
            raise ValueError("the setting makes its parameters by itself, and own names some too")
        varying, fields = self.algorithm.schedules, getattr(self.algorithm.Params, "_fields", ())
        taken = {*varying, *(adversary.field for adversary in self.adversaries)}
        for name in self.own:
            if name not in fields or name in taken:
                raise ValueError(f"own names {name!r}, which is not a parameter of the method that is a number")
        if letters := [letter for letter, source in self.sources.items() if source in self.own]:
            raise ValueError(
                f"the letter {letters[0]} is one number, and each client has a {self.sources[letters[0]]} of its own: "
                f"give it a source, as letters={{{letters[0]}: lambda problem, params: min(params.{letters[0]})}}"
            )

    def _check_fields(self) -> None:
        """Raise ``ValueError`` if the method takes compressors of no class, or none of a class that there is."""
        taken = getattr(getattr(self.algorithm, "Params", None), "_fields", ())
        known = [adversary.field for adversary in self.adversaries]
        for field_of in () if self.algorithm is None else known:
            if field_of not in taken:
                raise ValueError(f"the method of the setting has no parameter {field_of!r} for its adversaries")
        for given in self.adversaries:
            needed = [name for name in ("sigma", given.batch) if name] if isinstance(given, NoisyGradients) else []
            if missing := [name for name in needed if name not in taken and self.algorithm is not None]:
                raise ValueError(f"the method of the setting has no parameter {missing[0]!r}, which bounds its noise")
        for adversary in (UnbiasedCompressors, ContractiveCompressors, NoisyGradients):
            if adversary.field in taken and adversary.field not in known:
                name = adversary.__name__
                raise ValueError(f"the parameter {adversary.field} is of no class: write adversaries=({name}(),)")
        for given in self.adversaries:
            silent = isinstance(given, Adversary | Delays | MixingMatrix) and given.field in DRAWN_FROM
            if silent and self.algorithm is not None and self.algorithm.draws is default_draws:
                name = type(given).__name__
                raise ValueError(f"the method draws from params.{given.field}, and {name} draws nothing: rename it")

    def _check(self, functions: FunctionClass) -> None:
        """Raise ``ValueError`` if the class of functions does not say what the setting asks of it."""
        name = type(functions).__name__
        if any(self.drawing.g) and not functions.has_g:
            raise ValueError(f"{name} does not say what g is: leave g out of the setting")
        if functions.named and set(self.clients) != {functions.named}:
            raise ValueError(f"{functions.named} functions are named: write clients=({functions.named},)")
        taken = {"n", "d", "x", "g", "clients", "round"}
        for adversary in self.adversaries:
            taken |= {"k", *adversary.letters}
        for letter in functions.letters:
            if str(letter) in taken:
                raise ValueError(f"the letter {letter} of {name} means something else in this setting: choose another")

    @property
    def optimum(self) -> str:
        """The meaning of x*, as the class of functions defines it."""
        return "consensus" if self.functions is None else self.functions.optimum

    @property
    def centred(self) -> bool:
        """True if functions are placed about one point, x*, where their gradients balance."""
        return self.optimum in ("consensus", "stationary", "saddle")

    @property
    def any_clients(self) -> bool:
        """True if any number of clients is allowed, beyond those drawn most often."""
        return len(set(self.clients)) > 1 and max(self.clients) > 2

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of functions, compressors and oracles whose members are drawn."""
        if self.drawing.special is not None or self.algorithm is None:
            return ()
        return (*(() if self.functions is None else (self.functions,)), *self.adversaries)

    @property
    def of_constants(self) -> bool:
        """True if there is neither a problem nor a state, only values of the letters."""
        return self.algorithm is None and self.drawing.special is None

    @cached_property
    def sources(self) -> Mapping[sympy.Expr, Any]:
        """The source of each letter's value."""
        if isinstance(self.letters, Mapping):
            return self.letters
        of_class = {} if self.functions is None else self.functions.letters
        return {letter: of_class.get(letter, str(letter)) for letter in self.letters}

    def bind(self, problem: Problem, params: Any) -> Mapping[sympy.Expr, Any]:
        """Values of the letters on an instance. Raise ``ValueError`` if one is an array and no number."""
        if self.of_constants:
            return dict(params)
        found = {letter: value_of(source, problem, params) for letter, source in self.sources.items()}
        for letter, value in found.items():
            if isinstance(value, np.ndarray) and value.ndim:
                raise ValueError(f"the letter {letter} is an array of shape {value.shape}, where a number is expected")
        return found


def points(State: type, Params: type, centre: Callable[[Any, Any], Any], invariant: Any = None) -> Algorithm:
    """Return an algorithm without a step, whose states are points about ``centre(problem, params)``."""

    fields: tuple[str, ...] = State._fields  # type: ignore[attr-defined]

    def init(problem: object, params: object, **parts: object) -> Any:
        return State(**parts)

    taken = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("problem", "params", *fields)]
    init.__signature__ = Signature(taken)  # type: ignore[attr-defined]
    return Algorithm(State.__name__, Params, State, init, no_step, no_step, centre, invariant)


class CompressorParams(NamedTuple):
    """``d``: dimension; ``k``: coordinates kept."""

    d: int
    k: int


def _compressor_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        # From 5 on, index bits to another base differ.
        d = int(pick(rng, (1, 2, 3, 4, 5)))
        yield {"d": d, "k": int(rng.integers(1, d + 1))}


def _compressor_at(recipe: Recipe, exact: bool) -> Instance:
    d, k = recipe["d"], recipe["k"]
    if not 1 <= k <= d:
        raise ValueError("k must be between 1 and d")
    return Instance(None, CompressorParams(d, k), d, lambda theta: (None, theta), text=f"d={d}, k={k}")


#: The quantification of a statement about one compressor.
COMPRESSOR = Setting(
    "all d >= 1, 1 <= k <= d and x in R^d",
    letters=(symbols.d, symbols.k),
    drawing=Drawing(special=Instances(_compressor_recipes, _compressor_at)),
)
