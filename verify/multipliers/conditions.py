"""Conditions on letters in code, answered for all letters of a domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verify.multipliers.domains import Domain
from verify.multipliers.ratios import Ratio
from verify.reading.terms import Term
from verify.reading.values import Condition


def has_answer(condition: Any, answer: bool, number: Callable[[Term], Ratio], domain: Domain) -> bool:
    """Whether a condition, or what is known to be true or false, is seen to have an answer everywhere in a domain.

    ``number``: what the sides of comparisons are in the letters.
    """
    if not isinstance(condition, Condition):
        return bool(condition) is answer
    if condition.by == "not":
        return has_answer(condition.of[0], not answer, number, domain)
    if condition.by in ("and", "or"):
        found = [has_answer(part, answer, number, domain) for part in condition.of]
        return all(found) if (condition.by == "and") is answer else any(found)
    left, right = map(number, condition.of)
    if not (domain.never_zero(left.den) and domain.never_zero(right.den)):
        return False
    if condition.by in ("==", "!="):
        equal, difference = (condition.by == "==") is answer, left - right
        return difference.is_zero if equal else domain.never_zero(difference.num)
    small, large = (left, right) if answer else (right, left)
    return domain.ratio_sign(large - small, (condition.by == "<") is answer) is not None
