"""Adversaries, each declared once: classes of functions, of compressors and of inexact oracles.

One object says what a theorem allows. It decides whether an instance belongs to the class, which is the hypothesis that
names it; and it states what the answers of any member satisfy, as formulas in inner products. Which members are drawn,
how they are built, and what is just outside is said in :mod:`fedtheory.sampling`.
"""

from fedtheory.classes.base import FunctionClass
from fedtheory.classes.blocks import BlockSmoothConvex
from fedtheory.classes.compressors import (
    Adversary,
    ContractiveCompressors,
    InexactOracles,
    Met,
    NoisyGradients,
    UnbiasedCompressors,
)
from fedtheory.classes.convex import Composite, Convex, ConvexLipschitz, StronglyConvex
from fedtheory.classes.growth import ConvexQuadraticGrowth, RestrictedSecant
from fedtheory.classes.smooth import (
    PolyakLojasiewicz,
    Smooth,
    SmoothConvex,
    SmoothConvexLipschitz,
    SmoothOwn,
    WeaklyConvex,
)
from fedtheory.classes.strongly_convex import (
    ConvexBlocks,
    OneStronglyConvex,
    SmoothBlocks,
    SmoothEach,
    SmoothStronglyConvex,
    StronglyConvexOnAverage,
)

__all__ = [
    "Adversary",
    "BlockSmoothConvex",
    "Composite",
    "ContractiveCompressors",
    "Convex",
    "ConvexBlocks",
    "ConvexLipschitz",
    "ConvexQuadraticGrowth",
    "FunctionClass",
    "InexactOracles",
    "Met",
    "NoisyGradients",
    "OneStronglyConvex",
    "PolyakLojasiewicz",
    "RestrictedSecant",
    "Smooth",
    "SmoothBlocks",
    "SmoothConvex",
    "SmoothConvexLipschitz",
    "SmoothEach",
    "SmoothOwn",
    "SmoothStronglyConvex",
    "StronglyConvex",
    "StronglyConvexOnAverage",
    "UnbiasedCompressors",
    "WeaklyConvex",
]
