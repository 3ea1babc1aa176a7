"""Adversaries, each declared once: classes of functions, of compressors and of inexact oracles.

One object says what a theorem allows. It decides whether an instance belongs to the class, which is the hypothesis that
names it; it declares what the answers of any member satisfy, as formulas in inner products; and it names what is just
outside. The sampler of its members stands beside it. This list is the only other place where a class is named.
"""

from fedtheory.classes.base import FunctionClass
from fedtheory.classes.blocks import BlockSmoothConvex
from fedtheory.classes.composite import Composite
from fedtheory.classes.compressors import (
    Adversary,
    BoundedNoise,
    ContractiveCompressors,
    InexactOracles,
    Met,
    NoisyGradients,
    UnbiasedCompressors,
)
from fedtheory.classes.convex import Convex, ConvexLipschitz, StronglyConvex
from fedtheory.classes.coupled import Coupled
from fedtheory.classes.delays import Delays
from fedtheory.classes.growth import ConvexQuadraticGrowth
from fedtheory.classes.mixing import MixingMatrix
from fedtheory.classes.named import Named
from fedtheory.classes.operators import (
    Cocoercive,
    Monotone,
    MonotoneLipschitz,
    StronglyMonotone,
    StronglyMonotoneLipschitz,
)
from fedtheory.classes.polyak_lojasiewicz import PolyakLojasiewicz
from fedtheory.classes.quadratic_growth import SmoothQuadraticGrowth
from fedtheory.classes.quasi_strongly_convex import QuasiStronglyConvex
from fedtheory.classes.relative import Relative
from fedtheory.classes.restricted_secant import RestrictedSecant
from fedtheory.classes.separate import ConvexBlocks, SmoothBlocks
from fedtheory.classes.sets import Constrained, ConvexSet
from fedtheory.classes.smooth import Smooth, SmoothConvex, SmoothOwn
from fedtheory.classes.smooth_lipschitz import SmoothConvexLipschitz
from fedtheory.classes.strongly_convex import (
    OneStronglyConvex,
    SmoothEach,
    SmoothStronglyConvex,
    StronglyConvexOnAverage,
)
from fedtheory.classes.weakly_convex import WeaklyConvex

__all__ = [
    "Adversary",
    "BlockSmoothConvex",
    "BoundedNoise",
    "Cocoercive",
    "Composite",
    "Constrained",
    "ContractiveCompressors",
    "Convex",
    "ConvexBlocks",
    "ConvexLipschitz",
    "ConvexQuadraticGrowth",
    "ConvexSet",
    "Coupled",
    "Delays",
    "FunctionClass",
    "InexactOracles",
    "Met",
    "MixingMatrix",
    "Monotone",
    "MonotoneLipschitz",
    "Named",
    "NoisyGradients",
    "OneStronglyConvex",
    "PolyakLojasiewicz",
    "QuasiStronglyConvex",
    "Relative",
    "RestrictedSecant",
    "Smooth",
    "SmoothBlocks",
    "SmoothConvex",
    "SmoothConvexLipschitz",
    "SmoothEach",
    "SmoothOwn",
    "SmoothQuadraticGrowth",
    "SmoothStronglyConvex",
    "StronglyConvex",
    "StronglyConvexOnAverage",
    "StronglyMonotone",
    "StronglyMonotoneLipschitz",
    "UnbiasedCompressors",
    "WeaklyConvex",
]

#: Those that ``fedtheory`` does not offer: their letters are parameters of the house's methods.
_INTERNAL = {"ConvexBlocks", "FunctionClass", "InexactOracles", "OneStronglyConvex", "SmoothBlocks", "SmoothOwn"}
#: Names that ``fedtheory`` offers too.
PUBLIC = tuple(name for name in __all__ if name not in _INTERNAL)
