"""Meanings of hypotheses along runs: facts about every iteration, from which limits are derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import sympy

from fedtheory.kinds.inequality import Inequality
from fedtheory.problems.base import ParamsFunction, StateFunction
from fedtheory.settings.hypotheses import Hypothesis


@dataclass(frozen=True)
class BoundedBelow:
    """Hypothesis: along every run ``function(problem, params, state)`` is bounded below."""

    function: StateFunction
    words: ClassVar[str] = "a function stays above some number"


@dataclass(frozen=True)
class Coercive(BoundedBelow):
    """Hypothesis: ``function`` is a continuous function of the vector ``point`` alone and tends to infinity with its
    length. So it is bounded below, and the point is bounded wherever the function is bounded above.
    """

    point: StateFunction
    words: ClassVar[str] = "a function is continuous and coercive"


@dataclass(frozen=True)
class Lipschitz:
    """Hypothesis: ``map(problem, params, u)`` is Lipschitz, for each client in its own vector, with the
    ``constant(problem, params)``, ``(m,)``.
    """

    map: StateFunction
    constant: ParamsFunction
    words: ClassVar[str] = "a map is Lipschitz"


@dataclass(frozen=True)
class Everywhere:
    """Hypothesis: an inequality between quantities, each an :class:`fedtheory.settings.iterations.At`, holds at every
    iteration of every run.

    ``positive``: its letters, constants of the run each of which is some positive number, with their values as
    functions of (problem, params).
    """

    statement: Inequality
    positive: Mapping[sympy.Symbol, ParamsFunction] = field(default_factory=dict)
    words: ClassVar[str] = "an inequality holds at every iteration"


@dataclass(frozen=True)
class Recurs:
    """Hypothesis: for some N, every client meets ``case`` in any N consecutive iterations."""

    case: Hypothesis
    words: ClassVar[str] = "every client meets a case again and again, after a bounded number of iterations"


@dataclass(frozen=True)
class Isolated:
    """Hypothesis: the vector ``point`` has an isolated accumulation point along the run.

    ``move(problem, params, point)``: the squared length of its change in an iteration, of a point of the iterations.
    """

    point: StateFunction
    move: StateFunction
    words: ClassVar[str] = "a vector has an isolated accumulation point"


@dataclass(frozen=True)
class Windows:
    """Hypothesis on participation in a run, from its iteration 0 on.

    A round begins every ``length`` iterations, in one that meets ``begins``; in each window of ``rounds`` consecutive
    rounds, every client takes part in some round. So nobody took part before the first iteration, and everybody did
    before the iterations from round ``rounds`` on, counted from 0: ``seen``, ``unseen(problem, params, state)``,
    ``(..., m)``, indicate the clients that took part before, and those that did not. ``length``, ``rounds``: letters.
    """

    begins: Hypothesis
    length: sympy.Symbol
    rounds: sympy.Symbol
    seen: StateFunction
    unseen: StateFunction
    words: ClassVar[str] = "every client takes part in each window of so many rounds"


@dataclass(frozen=True)
class Cover:
    """Hypothesis on participation in a run, from its iteration 0 on.

    A round begins every ``length`` iterations, in one that meets ``begins``; a client takes part in all iterations of a
    round or in none; and in each window of ``rounds`` consecutive rounds, every client takes part in some round.
    ``length``, ``rounds``: letters.
    """

    begins: Hypothesis
    length: sympy.Symbol
    rounds: sympy.Symbol
    words: ClassVar[str] = "every client takes part in each window of so many rounds, in all of a round or in nothing"


@dataclass(frozen=True)
class Resting:
    """Hypothesis on the client of a statement: the iteration ``since``, a letter, is the last up to k in which it takes
    part, and k is a later one."""

    since: sympy.Symbol
    words: ClassVar[str] = "a client rests since an iteration in which it took part"
