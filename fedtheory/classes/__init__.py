"""Adversaries, each declared once: classes of functions, of compressors and of inexact oracles.

One object says what a theorem allows. It decides whether an instance belongs to the class, which is the hypothesis that
names it; and it states what the answers of any member satisfy, as formulas in inner products. Which members are drawn,
how they are built, and what is just outside is said in :mod:`fedtheory.sampling`.
"""

from fedtheory.classes.base import FunctionClass
from fedtheory.classes.composite import Composite
from fedtheory.classes.compressors import (
    Adversary,
    ContractiveCompressors,
    InexactOracles,
    NoisyGradients,
    UnbiasedCompressors,
)
from fedtheory.classes.convex import Convex, StronglyConvex
from fedtheory.classes.convex_lipschitz import ConvexLipschitz
from fedtheory.classes.one_strongly_convex import OneStronglyConvex
from fedtheory.classes.polyak_lojasiewicz import PolyakLojasiewicz
from fedtheory.classes.smooth import Smooth
from fedtheory.classes.smooth_blocks import SmoothBlocks
from fedtheory.classes.smooth_convex import SmoothConvex
from fedtheory.classes.smooth_each import SmoothEach
from fedtheory.classes.smooth_own import SmoothOwn
from fedtheory.classes.smooth_strongly_convex import SmoothStronglyConvex
from fedtheory.classes.strongly_convex_on_average import StronglyConvexOnAverage
from fedtheory.classes.weakly_convex import WeaklyConvex

__all__ = [
    "Adversary",
    "Composite",
    "ContractiveCompressors",
    "Convex",
    "ConvexLipschitz",
    "FunctionClass",
    "InexactOracles",
    "NoisyGradients",
    "OneStronglyConvex",
    "PolyakLojasiewicz",
    "Smooth",
    "SmoothBlocks",
    "SmoothConvex",
    "SmoothEach",
    "SmoothOwn",
    "SmoothStronglyConvex",
    "StronglyConvex",
    "StronglyConvexOnAverage",
    "UnbiasedCompressors",
    "WeaklyConvex",
]
