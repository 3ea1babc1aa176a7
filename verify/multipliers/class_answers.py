"""How the classes of a setting answer in a program of a generic client: functions, sets, operators, compressors, noise.

A class that the hypotheses do not state answers too, but nothing is known of its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.classes import (
    Adversary,
    BoundedNoise,
    ContractiveCompressors,
    Delays,
    MixingMatrix,
    NoisyGradients,
    UnbiasedCompressors,
)
from fedtheory.classes.base import ELL, MU, Bounds, Declared, Linear
from fedtheory.settings import Setting
from verify.multipliers.answers import CONJUGATES, Answers, Errors
from verify.multipliers.cases import FunctionCase, are_quadratics, stated
from verify.multipliers.generic_functions import ClassFunctions, OperatorBounds, scalar
from verify.multipliers.linear import OUTER, U_STAR, CoupledSpaces
from verify.multipliers.mixed import MixedVectors
from verify.multipliers.relative import Reference, RelativeFunctions
from verify.multipliers.sets import ConvexSets
from verify.reading.declarations import declarations
from verify.reading.linear import ADJOINT_LEAST, LEAST, NORM
from verify.reading.source import Unread
from verify.reading.terms import NUMBER, Op, Term, leaf
from verify.reading.worlds import ONE, World, WorldValue

#: The mean of the squares of smoothness constants that each f_i has of its own.
SPREAD = "the mean of the L_i^2"


@dataclass(frozen=True, eq=False)
class ClassAnswers:
    """The classes of a claim's setting in one of its cases.

    ``read``: the letters of the claim that its code contains; ``dual``: the dual parts of a state; ``number``: the
    value of a term that is a number.
    """

    claim: Claim
    case: FunctionCase
    world: World
    read: Collection[str]
    dual: Sequence[str]
    number: Callable[[Term], WorldValue]

    @property
    def setting(self) -> Setting:
        """The setting of the claim."""
        return self.claim.setting

    def answers(self) -> Answers:
        """Return what answers for each field of the problem, by what the hypotheses state of it."""
        functions: dict[str, ClassFunctions | ConvexSets] = {}
        here, of, single = self.world, self.setting.functions, self.case.single
        answers = Answers(here, functions, {}, dependent={} if self.case.correlated else None)
        if of is not None:
            known, average = declarations(of), None
            bounds = known.bounds
            if known.named:
                functions.update(self._named(known.named))
                return answers
            if known.linear is not None:
                answers.spaces = self._coupled(known.linear, functions)
                return answers
            if known.relative is not None:
                functions.update(self._relative(known.relative))
                return answers
            if known.sets and not self.case.with_g:
                functions["f"] = self._sets("f", not single, WorldValue({}), False)
                return answers
            if bounds is None and (known.operators is None or self.case.with_g):
                raise Unread(f"the class {type(of).__name__} is not posed")
            if bounds is not None and known.weak and stated(self.claim, of):
                # Letters that are posed have a sign: mu is written by them.
                answers.given["mu"] = scalar(here, bounds.least)
            if stated(self.claim, of) and not self.case.with_g and self.setting.optimum == "consensus":
                average = known.average
            if not self.case.with_g:
                y_star = WorldValue({}) if single else here.deviation("y*", 1)
            else:
                y_star = here.atom("y*", 1) if single else here.of_client("y*", 1)
            if bounds is None:
                functions["f"] = self._operators(known, y_star)
            else:
                functions["f"] = self._functions("f", bounds, y_star, average)
            if getattr(of, "conjugates", False) and not self.case.with_g and self.setting.optimum == "consensus":
                functions[CONJUGATES] = self._conjugates(answers)
            if bounds is not None and self.case.with_g:
                mean = y_star if single else here.total(y_star) * WorldValue({ONE: 1 / here.field(sympy.Symbol("n"))})
                functions["g"] = (
                    self._sets("g", False, -mean, known.bounded)
                    if known.sets
                    else self._functions("g", known.of_g or bounds, -mean)
                )
        for adversary in self.setting.adversaries:
            if isinstance(adversary, MixingMatrix):
                if stated(self.claim, adversary):
                    gap = self.number(leaf(Op.LETTER, adversary.gap, NUMBER))
                    least = here.constant(sympy.Integer(1)) - gap
                    answers.mixing[adversary.field] = MixedVectors(here, adversary.field, least)
            elif not isinstance(adversary, Adversary | Delays):
                answers.errors[adversary.field] = replace(self._errors(adversary), own=not single)
            elif stated(self.claim, adversary):
                answers.adversaries |= {adversary.field}
        return answers

    def _functions(self, name: str, bounds: Bounds, slope: WorldValue, average: Any = None) -> ClassFunctions:
        curvatures, steepest, equal, quadratic = None, None, False, False
        if stated(self.claim, self.setting.functions):
            quadratic = are_quadratics(self.claim)
            equal = bool(self.case.equal) and bounds.largest is not None and bounds.least != 0
            largest = None if bounds.largest is None else scalar(self.world, bounds.largest)
            if bounds.least is not None:
                curvatures = (largest if equal and largest is not None else scalar(self.world, bounds.least), largest)
            steepest = None if bounds.steepest is None else scalar(self.world, bounds.steepest)
        own = name == "f" and not self.case.single
        apart = self.number(leaf(Op.GIVEN, "M", NUMBER)) if own and self._dissimilar else None
        spread = self.number(leaf(Op.GIVEN, SPREAD, NUMBER)) if bounds.own else None
        smooth = bounds.largest is not None
        found = ClassFunctions(name, own, curvatures, slope, equal, average, steepest, smooth, spread, apart)
        return replace(found, quadratic=quadratic)

    @property
    def _dissimilar(self) -> bool:
        """True if the hypotheses bound how much the gradients of the clients differ."""
        of = self.setting.functions
        return of is not None and declarations(of).dissimilar and stated(self.claim, of)

    def _sets(self, name: str, own: bool, slope: WorldValue, bounded: bool) -> ConvexSets:
        if not stated(self.claim, self.setting.functions):
            raise Unread("the hypotheses do not say that there are convex sets")
        if name == "f" and self.setting.adversaries:
            raise Unread("sets beside compressors, noise or adversaries are not posed")
        return ConvexSets(name, own, slope, self.number(leaf(Op.GIVEN, "D", NUMBER)) if bounded else None)

    def _named(self, known: Sequence[Declared]) -> Iterator[tuple[str, ClassFunctions | ConvexSets]]:
        """Yield functions by their names: their gradients at x* sum to zero."""
        if self.setting.adversaries or self.case.with_g:
            raise Unread("named functions beside compressors, noise or adversaries are not posed")
        if all(part.sets for part in known):
            yield from ((f"f{i}", self._sets(f"f{i}", False, WorldValue({}), False)) for i in range(1, len(known) + 1))
            return
        slopes = [self.world.atom(f"y*_{i}", 1) for i in range(1, len(known))]
        slopes.append(-sum(slopes, WorldValue({})))
        for i, (part, slope) in enumerate(zip(known, slopes, strict=True), 1):
            assert part.bounds is not None
            yield f"f{i}", self._functions(f"f{i}", part.bounds, slope)

    def _coupled(self, known: Linear, functions: dict[str, ClassFunctions | ConvexSets]) -> CoupledSpaces:
        """A linear operator, and the functions by their names: their gradients at x* are balanced by K' u*."""
        if not stated(self.claim, self.setting.functions):
            raise Unread("the hypotheses do not say what is known of K")
        if self.setting.adversaries:
            raise Unread("a linear operator beside compressors, noise or adversaries is not posed")
        here, single, bounds = self.world, self.case.single, known.of.bounds
        norm, least, adjoint_least = (
            self.number(leaf(Op.GIVEN, name, NUMBER)) if there else None
            for name, there in ((NORM, True), (LEAST, known.least), (ADJOINT_LEAST, known.adjoint_least))
        )
        spaces = CoupledSpaces(here, norm, least, adjoint_least, {*self.dual})
        assert bounds is not None
        convex, pull = Bounds(sympy.S.Zero, None), spaces.pull
        if self.case.with_g:
            slope = here.atom("y*", 1) if single else here.of_client("y*", 1)
            mean = slope if single else here.total(slope) * WorldValue({ONE: 1 / here.field(sympy.Symbol("n"))})
            functions["g"] = self._functions("g", known.of.of_g or convex, -mean - pull)
        else:
            slope = -pull if single else here.deviation("y*", 1) - pull
        functions["f"] = self._functions("f", bounds, slope)
        functions[OUTER] = self._functions(OUTER, convex, here.atom(U_STAR, 1))
        return spaces

    def _relative(self, bounds: Bounds) -> dict[str, ClassFunctions | ConvexSets]:
        if not stated(self.claim, self.setting.functions):
            raise Unread("the hypotheses do not say that there is a reference function")
        if self.setting.adversaries or self.case.with_g:
            raise Unread("a reference function beside compressors, noise or adversaries is not posed")
        here, single, smooth = self.world, self.case.single, bounds.largest is not None
        zero = WorldValue({})
        h = Reference("h", False, (zero, None), here.atom("grad h(x*)", 1), False)
        least, largest = (None if c is None else scalar(here, c) for c in (bounds.least, bounds.largest))
        slope = zero if single else here.deviation("y*", 1)
        f = RelativeFunctions(
            "f", not single, None, slope, False, smooth=smooth, reference=h, least=least, largest=largest
        )
        return {"f": f, "h": h}

    def _operators(self, known: Declared, slope: WorldValue) -> ClassFunctions:
        assert known.operators is not None
        is_stated = stated(self.claim, self.setting.functions)
        least, L, inverse = (None if c is None else scalar(self.world, c) for c in known.operators)
        assert least is not None
        bounds = OperatorBounds(least, None if L is None else L * L, inverse) if is_stated else None
        smooth = is_stated and (L is not None or inverse is not None)
        own = not self.case.single
        return ClassFunctions("f", own, None, slope, False, smooth=smooth, operators=bounds, is_operator=True)

    def _conjugates(self, answers: Answers) -> ClassFunctions:
        """The conjugates of L-smooth and mu-strongly convex functions have curvatures between 1/L and 1/mu."""
        here, curvatures, equal = self.world, None, False
        if stated(self.claim, self.setting.functions):
            equal = bool(self.case.equal)
            known = [scalar(here, c).of[ONE] for c in (ELL, MU)]
            answers.divisors.extend(known)
            least, largest = (WorldValue({ONE: 1 / c}) for c in known)
            curvatures = (least, largest)
        return ClassFunctions(CONJUGATES, not self.case.single, curvatures, here.atom("x*", 1), equal, anchor="y*")

    def _errors(self, adversary: Any) -> Errors:
        here, field = self.world, adversary.field
        is_stated = stated(self.claim, adversary)
        independent = stated(self.claim, adversary, "mutually_independent") or (
            is_stated and getattr(adversary, "independent", False)
        )
        if isinstance(adversary, UnbiasedCompressors):
            own = "omega" in self.read
            known = leaf(Op.LETTER, "omega", NUMBER) if own and is_stated else leaf(Op.GIVEN, f"{field}.omega", NUMBER)
            joint = self.number(leaf(Op.GIVEN, f"{field}.omega_av", NUMBER)) if adversary.average else None
            return Errors(self.number(known), True, independent and joint is None, joint)
        if isinstance(adversary, ContractiveCompressors) and is_stated and "alpha" in self.read:
            one = here.constant(1)
            return Errors(one - self.number(leaf(Op.LETTER, "alpha", NUMBER)), False, False)
        if isinstance(adversary, NoisyGradients) and is_stated:
            sigma, batch = (leaf(Op.LETTER, name, NUMBER) for name in ("sigma", adversary.batch))
            variance = self.number(sigma) * self.number(sigma)
            if adversary.batch:
                variance = variance * WorldValue({ONE: 1 / self.number(batch).of[ONE]})
            return Errors(WorldValue({}), True, independent, variance=variance)
        if isinstance(adversary, BoundedNoise) and is_stated:
            return Errors(WorldValue({}), True, independent)
        raise Unread(f"what {field} is, is not known")


def constants(adversary: Any) -> Iterator[tuple[Op, str]]:
    """The letters that compressors have of their own, and those of noise that the method knows."""
    if isinstance(adversary, Adversary | BoundedNoise | Delays):
        return
    if isinstance(adversary, MixingMatrix):
        yield Op.LETTER, adversary.gap
    elif isinstance(adversary, NoisyGradients):
        yield Op.LETTER, "sigma"
        if adversary.batch:
            yield Op.LETTER, adversary.batch
    else:
        unbiased = isinstance(adversary, UnbiasedCompressors)
        of = ("omega", "omega_av") if unbiased and adversary.average else ("omega",) if unbiased else ("alpha",)
        yield from ((Op.GIVEN, f"{adversary.field}.{c}") for c in of)
