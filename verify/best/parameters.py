"""The parameters of a method at which the smallest number that holds is least: an outer search, in floats.

That no other parameters are better is not shown; what holds at those that are found is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize

from fedtheory.claims import Claim
from fedtheory.numbers.rational import Array
from verify.base.case import Case
from verify.best import places, states
from verify.best.factors import Say
from verify.best.subjects import Subject, subject
from verify.pep import rounding

#: The most programs that are solved for each letter.
_PROGRAMS = 80
#: The largest relative distance of the value of simple numbers from the best one.
_NEAR = 1e-6
#: Relative errors that the numbers may have, the simplest first.
_SIMPLE = (1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9)


def freed(claim: Claim, letters: Sequence[str]) -> Claim:
    """The claim without the hypotheses that bound any of the letters. ``ValueError`` as :func:`places.freed`."""
    for letter in letters:
        claim = places.freed(claim, letter)
    return claim


def best(
    claim: Claim, letters: Sequence[str], at: places.Letters, deadline: float, say: Say
) -> tuple[Subject, dict[str, Fraction]]:
    """The subject without the hypotheses on these letters, and all letters that are given, these at their best."""
    of = subject(freed(claim, letters))
    start = places.shown(Case(of.claim, places.recipe(of.claim, at)))
    first = np.log([float(Fraction(start[name])) for name in letters])

    def value(logs: Array) -> float:
        if time.perf_counter() > deadline:
            return math.inf
        numbers = np.exp(np.clip(logs, -40, 40)).tolist()
        return _value(of, at, {k: Fraction(v).limit_denominator(10**12) for k, v in zip(letters, numbers, strict=True)})

    say(f"varied from {', '.join(f'{name} = {start[name]}' for name in letters)}")
    options = {"maxfev": _PROGRAMS * len(letters), "xatol": 1e-10, "fatol": 1e-12}
    found = minimize(value, first, method="Nelder-Mead", options=options)
    if not math.isfinite(found.fun):
        raise ValueError(f"no worst case of {claim.id} is bounded near {', '.join(map('='.join, start.items()))}")
    numbers = np.exp(found.x).tolist()
    for tol in _SIMPLE:
        simple = {name: rounding.simplest(v, tol) for name, v in zip(letters, numbers, strict=True)}
        if _value(of, at, simple) <= found.fun + _NEAR:
            break
    say(f"best at {', '.join(f'{name} = {v}' for name, v in simple.items())}: about {found.fun:.9g}")
    return of, {**at, **simple}


def _value(of: Subject, at: places.Letters, given: Mapping[str, Fraction]) -> float:
    """The worst case in floats; infinite where there is none."""
    try:
        case = places.case(of.claim, places.recipe(of.claim, {**at, **given}))
        program, _ = states.pose(case.with_claim(of.at(Fraction(1))))
    except (ValueError, ArithmeticError):
        return math.inf
    found = states.solved(program)[1].value
    return math.inf if found is None else found
