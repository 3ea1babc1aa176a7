"""The scope of a statement, which each kind declares, and by which methods of verification choose."""

from __future__ import annotations

from enum import Enum, auto


class Scope(Enum):
    """The objects on which the sides of a statement depend, and so the ways in which it can be checked."""

    #: An expectation after one step, compared with the state before it.
    STEP = auto()
    #: An expectation after T rounds, for every T, compared with the start of the run.
    ROUNDS = auto()
    #: The code of steps, in one state at a time.
    CODE = auto()
    #: A residual that steps keep at zero.
    RESIDUAL = auto()
    #: Quantities of one state, so that indeterminates may take the place of numbers.
    STATE = auto()
    #: Letters and no states, so that one state is as good as all.
    LETTERS = auto()
    #: One compressor, whose sizes and vectors are its instances.
    COMPRESSOR = auto()
    #: Where runs end, so that a single state shows something only if it stays.
    LIMIT = auto()
    #: Whole runs, so that no instance decides it alone.
    RUNS = auto()
    #: Nothing that is evaluated at instances: constants in the limit, experiments, other claims.
    NONE = auto()
