"""Adversaries, each declared once: classes of functions, of compressors and of inexact oracles.

One object says what a theorem allows. It draws extreme members and builds them, in floats or in fractions; it decides
whether an instance belongs to the class, which is the hypothesis that names it; it states what the answers of any
member satisfy, as formulas in inner products; and it offers an instance just outside. What a proof builds in is
therefore what some instance breaks alone.
"""

from fedtheory.classes.compressors import Adversary, ContractiveCompressors, InexactOracles, UnbiasedCompressors
from fedtheory.classes.functions import (
    OneStronglyConvex,
    PolyakLojasiewicz,
    Smooth,
    SmoothBlocks,
    SmoothEach,
    SmoothOwn,
    SmoothStronglyConvex,
    StronglyConvexOnAverage,
    WeaklyConvex,
)

#: All classes of functions are of this one, or narrower or wider than it.
FunctionClass = SmoothStronglyConvex

__all__ = [
    "Adversary",
    "ContractiveCompressors",
    "FunctionClass",
    "InexactOracles",
    "OneStronglyConvex",
    "PolyakLojasiewicz",
    "Smooth",
    "SmoothBlocks",
    "SmoothEach",
    "SmoothOwn",
    "SmoothStronglyConvex",
    "StronglyConvexOnAverage",
    "UnbiasedCompressors",
    "WeaklyConvex",
]
