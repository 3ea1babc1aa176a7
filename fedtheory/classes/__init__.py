"""Adversaries, each declared once: classes of functions, of compressors and of inexact oracles.

One object says what a theorem allows. It decides whether an instance belongs to the class, which is the hypothesis that
names it; it declares what the answers of any member satisfy, as formulas in inner products; and it names what is just
outside. The sampler of its members stands beside it. The only other place where a class is named is its line below.
"""

from fedtheory.classes.base import FunctionClass as FunctionClass
from fedtheory.classes.blocks import BlockSmoothConvex as BlockSmoothConvex
from fedtheory.classes.composite import Composite as Composite
from fedtheory.classes.compressors import Adversary as Adversary
from fedtheory.classes.compressors import BoundedNoise as BoundedNoise
from fedtheory.classes.compressors import ContractiveCompressors as ContractiveCompressors
from fedtheory.classes.compressors import InexactOracles as InexactOracles
from fedtheory.classes.compressors import Met as Met
from fedtheory.classes.compressors import NoisyGradients as NoisyGradients
from fedtheory.classes.compressors import UnbiasedCompressors as UnbiasedCompressors
from fedtheory.classes.convex import Convex as Convex
from fedtheory.classes.convex import ConvexLipschitz as ConvexLipschitz
from fedtheory.classes.convex import StronglyConvex as StronglyConvex
from fedtheory.classes.coupled import Coupled as Coupled
from fedtheory.classes.delays import Delays as Delays
from fedtheory.classes.dissimilarity import BoundedDissimilarity as BoundedDissimilarity
from fedtheory.classes.growth import ConvexQuadraticGrowth as ConvexQuadraticGrowth
from fedtheory.classes.mixing import MixingMatrix as MixingMatrix
from fedtheory.classes.named import Named as Named
from fedtheory.classes.operators import Cocoercive as Cocoercive
from fedtheory.classes.operators import Monotone as Monotone
from fedtheory.classes.operators import MonotoneLipschitz as MonotoneLipschitz
from fedtheory.classes.operators import StronglyMonotone as StronglyMonotone
from fedtheory.classes.operators import StronglyMonotoneLipschitz as StronglyMonotoneLipschitz
from fedtheory.classes.polyak_lojasiewicz import PolyakLojasiewicz as PolyakLojasiewicz
from fedtheory.classes.quadratic_growth import SmoothQuadraticGrowth as SmoothQuadraticGrowth
from fedtheory.classes.quasi_strongly_convex import QuasiStronglyConvex as QuasiStronglyConvex
from fedtheory.classes.relative import Relative as Relative
from fedtheory.classes.restricted_secant import RestrictedSecant as RestrictedSecant
from fedtheory.classes.separate import ConvexBlocks as ConvexBlocks
from fedtheory.classes.separate import SmoothBlocks as SmoothBlocks
from fedtheory.classes.sets import Constrained as Constrained
from fedtheory.classes.sets import ConvexSet as ConvexSet
from fedtheory.classes.smooth import Smooth as Smooth
from fedtheory.classes.smooth import SmoothConvex as SmoothConvex
from fedtheory.classes.smooth import SmoothOwn as SmoothOwn
from fedtheory.classes.smooth_lipschitz import SmoothConvexLipschitz as SmoothConvexLipschitz
from fedtheory.classes.strongly_convex import OneStronglyConvex as OneStronglyConvex
from fedtheory.classes.strongly_convex import SmoothEach as SmoothEach
from fedtheory.classes.strongly_convex import SmoothStronglyConvex as SmoothStronglyConvex
from fedtheory.classes.strongly_convex import StronglyConvexOnAverage as StronglyConvexOnAverage
from fedtheory.classes.weakly_convex import WeaklyConvex as WeaklyConvex

#: Those that ``fedtheory`` does not offer: their letters are parameters of the house's methods.
_INTERNAL = {"ConvexBlocks", "FunctionClass", "InexactOracles", "OneStronglyConvex", "SmoothBlocks", "SmoothOwn"}
#: Names that ``fedtheory`` offers too.
PUBLIC = tuple(sorted(name for name, of in vars().items() if isinstance(of, type) and name not in _INTERNAL))
