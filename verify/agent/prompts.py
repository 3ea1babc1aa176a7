"""Prompts of the server for agents: how to check or repair a theorem, or check an implementation, step by step."""

from __future__ import annotations

from collections.abc import Callable

_THEOREM = """\
Decide by fedtheory whether this theorem is true:

{theorem}

1. Read the page own-theorem of `manual`; `example` has a complete file, and its `names` list others to begin from.
2. Write the theorem as the text of a Python file with CLAIMS, as it is printed: its step, its class of functions, its \
quantities, its hypotheses and the range of its letters. Add nothing that it does not say.
3. Call `check` with the text. An error names the line: mend the file, not the theorem.
4. Report the verdict in its own word. For refuted give the counterexample (`by_hand`, both sides) and check that it \
meets all hypotheses as they are printed; for supported say what was not searched, as this is not a proof; for proved \
say what is assumed.
"""
_REPAIR = """\
Find by fedtheory the least change that makes this theorem true:

{theorem}

1. Write it as the text of a Python file with CLAIMS (page own-theorem of `manual`), and call `check`: only what is \
refuted can be repaired.
2. Call `why` with the same text, for the reason, then `repair` with the id and the text.
3. Take the first repair, unless its remark says that it reads unnaturally or no longer contracts. Write it into the \
file, and `check` again: only proved or certified is shown.
4. Call `best` for the smallest rate or, with largest, the largest stepsize that is true, and `export` for the proof. \
Report what was stated, why it fails, and what holds instead with its verdict.
"""
_IMPLEMENTATION = """\
Test by fedtheory whether this implementation of {algorithm} obeys the theory:

{code}

1. Read the pages conformance and methods of `manual`: the latter has the letters of params, state and draw of \
{algorithm}.
2. Write a text with the code as it is and one function beside it, run(problem, params, rounds, rng), which returns \
the models of all rounds: it takes gradients of the problem and parameters by these letters. Change nothing else.
3. Call `conform` with the text and the algorithm, and with the features that the code has, such as "momentum".
4. Report for each failure the line at fault, the slip if one is named, and the smallest problem where it shows; then \
mend the code and call `conform` again. A failure may also be of your own function: look at it first.
"""


def check_theorem(theorem: str) -> str:
    """Decide whether a theorem is true. theorem: its method, hypotheses and inequality, in words or LaTeX."""
    return _THEOREM.format(theorem=theorem)


def repair_theorem(theorem: str) -> str:
    """Find the least change that makes a false theorem true. theorem: its method, hypotheses and inequality."""
    return _REPAIR.format(theorem=theorem)


def check_implementation(algorithm: str, code: str) -> str:
    """Test whether code obeys the theory of a method. algorithm: such as "scaffold"; code: its text, or where it is."""
    return _IMPLEMENTATION.format(algorithm=algorithm, code=code)


#: All prompts.
PROMPTS: tuple[Callable[..., str], ...] = (check_theorem, repair_theorem, check_implementation)
