"""A claim as a program of a generic client: what is to be shown, what is known, and for which letters.

All of it is derived from the claim: its step and quantities as they are read, its classes, its hypotheses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import sympy

from fedtheory.algorithms.schedules import ROUND
from fedtheory.claims import Claim
from fedtheory.classes.base import MU, S
from fedtheory.kinds.inequality import Inequality
from verify.as_read.proving import of_expression
from verify.multipliers import measured
from verify.multipliers.case_letters import CaseLetters, at_least
from verify.multipliers.cases import FunctionCase, OfTwoParts, example, stated
from verify.multipliers.class_answers import SPREAD, ClassAnswers, constants
from verify.multipliers.directions import Directions, directions
from verify.multipliers.domains import Domain, has_answer
from verify.multipliers.forms import Mask, Moments, ProductSum, masks, sizes
from verify.multipliers.generic_functions import ClassFunctions, is_shared
from verify.multipliers.measured import StateNumbers
from verify.multipliers.nonnegative import is_nonnegative
from verify.multipliers.ratios import Ratio, coefficients
from verify.multipliers.reasons import Reason, Stated, as_text
from verify.multipliers.sets import ConvexSets
from verify.reading import program as reading
from verify.reading.declarations import declarations
from verify.reading.generic_client import evaluated, world
from verify.reading.signs import is_nonnegative as is_written_nonnegative
from verify.reading.source import Unread
from verify.reading.terms import NUMBER, POINT, Axis, Op, Term, leaf, parts
from verify.reading.worlds import ONE, Atom, World, WorldValue, symbol_of


@dataclass(frozen=True, eq=False)
class Posed:
    """One case of a claim as a problem: ``target`` <= 0 follows from ``known`` <= 0 for all letters of the ``domain``.

    ``names``: of the letters; ``reasons``: of the known inequalities, by name; ``branches``: the bounds from
    below of letters that stand for maxima; ``hints``: numbers that occur in the statement, for a search; ``meanings``:
    of letters that stand for square roots; ``equal``: for each known inequality that is an equality, the name under
    which its negative is known too; ``env``: what the letters and the quantities of the statement are.
    """

    names: tuple[str, ...]
    domain: Domain
    target: ProductSum
    known: Mapping[str, ProductSum]
    reasons: Mapping[str, Reason]
    branches: Mapping[int, tuple[Ratio, ...]]
    hints: tuple[Ratio, ...] = ()
    meanings: tuple[Reason, ...] = ()
    equal: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[sympy.Expr, Ratio | ProductSum] = field(default_factory=dict)
    #: Two cases that a search may solve one by one: a number of the state is positive, or 0.
    apart: OfTwoParts | None = None

    def part(self, p: Any) -> Posed:
        """The same where a polynomial is >= 0."""
        return replace(self, domain=self.domain.with_constraint(p, False))

    @property
    def one(self) -> Ratio:
        """The number 1."""
        return Ratio(self.domain.ring.constant(1), self.domain.ring.constant(1))

    @property
    def zero(self) -> Ratio:
        """The number 0."""
        return Ratio(self.domain.ring.constant(0), self.domain.ring.constant(1))


class OfOneClient(Exception):
    """Raised for a case in which a single client is a case of its own."""


class NeverOccurs(Exception):
    """Raised for a case in which no letters meet the hypotheses."""


def pose(
    claim: Claim,
    case: FunctionCase,
    read_at: Claim | None = None,
    falling: Falling | None = None,
    premises: Sequence[sympy.Expr] = (),
    lowest: Lowest | None = None,
) -> Posed:
    """Return the inequality that a case of a claim states, with the known ones.

    ``read_at``: the claim at whose instances the types of parameters are read. ``falling``: numbers of a state that are
    assumed to decrease in a step, for potentials that may contain them; their multipliers are the same in all
    states. ``premises``: expressions in the letters
    and quantities whose expectations are at most 0; multipliers of them are the same in all states. ``lowest``: a
    number that is added to the left side.

    Raise ``Unread`` with the obstacle if there is one, ``NeverOccurs`` if the case states nothing, ``OfOneClient`` if
    it is two cases.
    """
    return _Posing(claim, case, read_at or claim, falling, premises, lowest).posed()


#: The beginning of the names of quantities that are assumed to decrease.
FALLING = "falling "
#: The beginning of the names of premises.
PREMISE = "premise "


class Falling(NamedTuple):
    """Numbers of a state that are assumed to be multiplied in a step by at most ``by``, in the letters of a claim."""

    squares: Sequence[Term]
    by: sympy.Expr = sympy.S.One


class Lowest(NamedTuple):
    """A number that is at most the expectation of each of some quantities, by their expressions: ``weight`` times it is
    added to the left side. Nothing else is known of it."""

    of: Sequence[sympy.Expr]
    weight: sympy.Expr


class _Posing:
    """The state of one posing: the world, and the letters as they come to be known."""

    def __init__(
        self,
        claim: Claim,
        case: FunctionCase,
        read_at: Claim,
        falling: Falling | None = None,
        premises: Sequence[sympy.Expr] = (),
        lowest: Lowest | None = None,
    ) -> None:
        self.falling, self.premises, self.lowest = falling or Falling(()), premises, lowest
        self.claim, self.case, self.setting = claim, case, claim.setting
        stepping = not isinstance(claim.statement, Inequality)
        algorithm = claim.statement.algorithm if stepping else self.setting.algorithm
        if algorithm is None or self.setting.algorithm is None:
            raise Unread("the statement names no method")
        if algorithm is not self.setting.algorithm and algorithm.State is not self.setting.algorithm.State:
            raise Unread("the method has other states than the setting")
        if algorithm.feasible != self.setting.algorithm.feasible:
            raise Unread("the method has other parts in the constraint set than the setting")
        if algorithm.dual != self.setting.algorithm.dual:
            raise Unread("the method has other dual parts than the setting")
        if (
            self.setting.optimum not in ("consensus", "stationary", "saddle")
            or self.setting.drawing.special is not None
        ):
            raise Unread("the meaning of x* is not known")
        if case.single and getattr(self.setting.functions, "own", False):
            raise Unread("a single client with a smoothness constant of its own is not supported")
        self.algorithm = algorithm
        given = example(read_at, case)
        self.read = given.problem, given.params
        self.program = reading.read(algorithm, *self.read, stepping=stepping)
        if self.program.fixed:
            raise Unread("the step is read at some parameters only")
        #: The conditions under which the code that was read raises an error.
        self.raising = [*self.program.raising]
        self.quantities = {q.expression: (q, self._one(q)) for q in claim.statement.quantities}
        of_class = {} if self.setting.functions is None else self.setting.functions.letters
        sources = [*of_class.items(), *self.setting.sources.items()]
        read = ((letter, self._letter(source)) for letter, source in sources)
        terms = [(letter, term) for letter, term in read if term is not None and not term.type.axes]
        self.declared = declarations(self.setting.functions)
        bounds = self.declared.bounds
        #: Letters that compressors or noise have of their own, whether the code contains them or not.
        extra = [leaf(Op.GIVEN, SPREAD, NUMBER)] if bounds is not None and bounds.own else []
        extra += [leaf(*of, NUMBER) for a in self.setting.adversaries for of in constants(a)]
        weak = self.declared.weak and stated(claim, self.setting.functions)
        extra += [leaf(Op.GIVEN, str(S), NUMBER)] if weak else []
        fixed = self._fixed_point()
        invariant = self.setting.algorithm.invariant
        self.residuals = () if invariant is None else reading.quantities(invariant, self.setting.algorithm, *self.read)
        occurring = [t for _, t in self.quantities.values()] + [t for _, t in terms]
        occurring += [*extra, *fixed.values(), *self.residuals, *self.falling.squares]
        occurring += [t for _, condition in self.raising for t in condition.terms()]
        computed = [*occurring, *self.program.step.values()]
        met = measured.occur(*computed)
        if met and case.correlated:
            raise Unread("numbers that code defines by roots and quotients stand beside gradients at drawn points")
        if met:
            occurring += measured.leaves()
        self.world = world(self.program, *occurring)
        self.rooted: dict[str, WorldValue] = {}
        self.each = self._each(dict(terms))
        written = [*(f"{Op.LETTER} {name}" for name in self.each), *([f"{Op.GIVEN} mu"] if weak else [])]
        self.letters = CaseLetters(claim, case, self.world, terms, written)
        #: A family's constants are variances; of what the method knows of noise the claim gives the signs.
        own = {self.letters.kept.index(str(symbol_of(t))) for t in extra if t.op is Op.GIVEN}
        self.world.rules |= {Op.ROOT: self._root, Op.LETTER: self._lettered}
        of_classes = ClassAnswers(claim, case, self.world, self.program.letters, algorithm.dual, self._number)
        self.answers = of_classes.answers()
        self._know_directions()
        #: Nothing is known of the letters until the domain is.
        self.domain = Domain(self.letters.ring, frozenset())
        at = self.world, self._is_drawn, self._gaps, self._is_least
        self.numbers = StateNumbers.of(*at, terms=computed, known=case.numbers) if met else None
        self.world.rules[Op.LARGER] = self._larger
        if self.numbers is not None:
            self.world.rules |= {Op.SIZE: self.numbers.root, Op.DIVIDE: self._quotient}
        for term in parts(*occurring, *self.program.step.values()):
            if term.op is Op.ROOT:
                self._number(term)
        if case.alone:
            # Subsets of one client are all of it.
            for size in sizes(self.program.law):
                if size.op is Op.LETTER:
                    self.letters.eliminated[self.letters.kept.index(str(symbol_of(size)))] = self.letters.one
        values = {letter: self._number(term) for letter, term in terms}
        sizes_of, divisors = measured.places(self.letters.kept) if met else (set(), set())
        d = {self.letters.kept.index("d")} if self.answers.directions else set()
        self.domain = self.letters.domain(values, own | sizes_of, self.rooted, divisors | d)
        for i in d:
            self.domain = at_least(self.domain, self.letters.generator(i) - 1, False)
        if self.domain.is_empty:
            raise NeverOccurs
        for where, condition in self.raising:
            if not has_answer(condition, False, lambda t: self.letters.number(self._number(t)), self.domain):
                raise Unread(f"an error may be raised ({where})")
        #: The directions that are drawn, once all that is asked along them is known.
        self.along: Directions | None = None
        self._states(fixed)

    # Terms

    def _one(self, quantity: Any) -> Term:
        kept = getattr(self.setting.algorithm, "invariant", None)
        # States satisfy the invariant, and a step keeps it.
        if quantity.domain is not None and reading.theirs(quantity.domain) is not reading.theirs(kept):
            raise Unread("a quantity is not finite everywhere")
        of: Any = self.setting.algorithm
        found = reading.quantities(quantity.of, of, *self.read, raising=self.raising)
        if len(found) > 1 or found[0].type.axes:
            raise Unread("a quantity is not a number")
        return found[0]

    def _fixed_point(self) -> Mapping[str, Term]:
        """Return the terms relative to which parts of a state are given: any vectors would do."""
        try:
            return reading.fixed_point(self.setting.algorithm, *self.read)  # type: ignore[arg-type]
        except Unread:
            return dict.fromkeys(self.program.parts, leaf(Op.GIVEN, "x_star", POINT))

    def _letter(self, source: Any) -> Term | None:
        """The term that a letter of the claim stands for; None where it cannot be read, and may be anything."""
        if source == getattr(self.setting.functions, "mean_square", None):
            return leaf(Op.GIVEN, SPREAD, NUMBER)
        if callable(source):
            try:
                return reading.source(source, self.setting.algorithm, *self.read, self.raising)  # type: ignore[arg-type]
            except Unread:
                return None
        params = self.read[1]
        if source in ("n", "d"):
            return leaf(Op.COUNT, source, NUMBER)
        if source in ("mu", "L"):
            return leaf(Op.GIVEN, source, NUMBER)
        if source == ROUND and ROUND not in self.program.letters:
            # Any round of a method whose parameters do not vary.
            return leaf(Op.GIVEN, ROUND, NUMBER)
        if source in self.program.letters:
            kind = self.program.letters[source]
            return leaf(Op.LETTER, source, NUMBER) if not kind.axes else None
        if source in ("omega", "omega_av") and hasattr(params, "compressors") and not hasattr(params, source):
            return leaf(Op.GIVEN, f"compressors.{source}", NUMBER)
        return None

    def _each(self, known: Mapping[sympy.Expr, Term]) -> Mapping[str, WorldValue]:
        """Parameters that each client has of its own, by what hypotheses say that all of them are."""
        env = {letter: self._number(term) for letter, term in known.items()}
        numbers = {name: number for h in self.claim.requires for name, number in h.each.items()}
        own = [name for name, kind in self.program.letters.items() if kind.axes == (Axis.CLIENTS,)]
        return {name: of_expression(numbers[name], env, self.world) for name in own if name in numbers}

    def _lettered(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        own = term.type.axes == (Axis.CLIENTS,)
        return self.each[str(term.data)] if own and term.data in self.each else world.letter(term)

    # The world

    def _number(self, term: Term) -> WorldValue:
        return evaluated(self.world, [term])[0]

    def _quotient(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        assert self.numbers is not None
        if set(of[1].of) <= {ONE}:
            return self.answers.quotient(of)
        return self.numbers.quotient(world, term, of)

    def _larger(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        """The larger of two numbers that are made of letters: which it is may be two cases. Numbers of a state come to
        be letters."""
        if self.numbers is not None and not set((of[0] - of[1]).of) <= {ONE}:
            of = [self.numbers.in_letters(value) for value in of]
        difference = self.letters.number(of[0] - of[1])
        for value, sign in ((of[0], 1), (of[1], -1)):
            if self.domain.ratio_sign(difference * sign) is not None:
                if self.numbers is not None and id(term) in self.numbers.divisors:
                    self._divide_by(value)
                return value
        # Letters are nonnegative: the other factors decide.
        apart, one = difference.num * difference.den, self.letters.ring
        constant, factors = apart.factor()
        apart = one.constant(1 if constant > 0 else -1)
        for factor, power in factors:
            if not any(factor == one.gen(i) for i in range(len(self.letters.names))):
                apart *= factor**power
        numbers = {} if self.numbers is None else self.numbers.keys()
        raise OfTwoParts((apart, ">="), (-apart, ">="), numbers=numbers)

    def _divide_by(self, value: WorldValue) -> None:
        """Note that the letters are positive whose product is a divisor: the code has no value where it is 0."""
        terms = self.letters.number(value).num.terms()
        (first, _), *others = terms
        if not others:
            positive = self.domain.positive | {i for i, power in enumerate(first) if power}
            self.domain = Domain(self.letters.ring, positive, self.domain.constraints, self.domain.bounded)

    def _know_directions(self) -> None:
        """Directions are vectors that depend on a draw."""
        self.answers.directions = dict(directions(self.program.law))
        if self.answers.directions and (self.answers.spaces is not None or self.case.correlated):
            raise Unread("a direction is drawn beside a linear operator, or where gradients are asked at drawn points")
        self.world.rules[Op.DIRECTION] = lambda world, term, of: world.atom(term.data, 1)

    def _is_drawn(self, atom: Atom) -> bool:
        """Return True if an atom depends on a draw: a sum over the clients does if it contains masks or errors."""
        kind, *of = self.world.meaning.get(atom.name, ("",))
        if kind == "inner product":
            return any(map(self._is_drawn, of))
        if kind == "sum":
            letters, draws, own = of
            return bool(draws) or self.world.holds_drawn(letters) or any(map(self._is_drawn, own))
        of_answers = self.answers
        names = of_answers.error_names, of_answers.drawn_values, of_answers.dependent or (), of_answers.directions
        return any(atom.name in of for of in names)

    def _is_least(self, value: WorldValue) -> bool:
        """Return True if a number that is not drawn is shown to be nonnegative, as a form in vectors."""
        return is_nonnegative(self._form(self._moments({}), value), self.domain, self._gaps())

    def _gaps(self) -> frozenset[str]:
        """The names of values of the average above the least: of convex functions less their tangents at x*, of others
        at points that all clients share."""
        of = self.answers.functions.get("f")
        if not isinstance(of, ClassFunctions) or self.case.with_g or self.setting.optimum != "consensus":
            return frozenset()
        bounds = self.declared.bounds
        convex = of.curvatures is not None and bounds is not None and bounds.least in (0, MU)
        shared = (at for at in of.asked.values() if convex or is_shared(at))
        return frozenset(a.name for at in shared for _, atoms in at.value.of for a in atoms if not a.own)

    def _root(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        symbol = symbol_of(term)
        self.rooted[str(symbol)] = of[0]
        return WorldValue({ONE: world.field(symbol)})

    def _check_bounds(self) -> None:
        """``Unread`` where there may be no answer of an adversary, or no noise: of such a state anything is true."""
        numbers = self.numbers or StateNumbers(self.world, self._is_drawn, self._gaps, self._is_least)
        moments = self._moments({})

        def known(term: Term) -> bool:
            value = self._number(term)
            if set(value.of) <= {ONE}:
                return self.domain.ratio_sign(self.letters.number(value)) is not None
            return not term.type.axes and numbers.is_nonnegative(value)

        for name, errors in self.answers.errors.items():
            for term, bound in errors.bounds.values():
                if not is_written_nonnegative(term, known):
                    raise Unread(f"the bound of {name}, {as_text(bound)}, is not seen to be nonnegative")
        for one in self.answers.chosen.values():
            if not is_written_nonnegative(one.term.of[1], known):
                raise Unread(f"the bound of {one.term.data}, {as_text(one.bound)}, is not seen to be nonnegative")
            for number in one.met:
                if not is_nonnegative(self._form(moments, number), self.domain, self._gaps()):
                    raise Unread(
                        f"that a vector meets all conditions of {one.term.data} is not seen: {as_text(number)} has to "
                        "be nonnegative, whatever the vectors are; say which one by feasible="
                    )

    def _moments(self, drawn: Mapping[str, Mask]) -> Moments:
        of = self.answers
        return Moments(self.world, drawn, of.drawn_by, self.letters.converted, of.drawn_values, of.dependent)

    def _states(self, fixed: Mapping[str, Term]) -> None:
        """Every state that satisfies the invariant, by vectors that are added to the fixed point."""
        here, known = self.world, self.world.known
        for name, kind in self.program.parts.items():
            if kind.degree != 1:
                raise Unread(f"the part {name} of a state is {kind}")
        about = evaluated(here, fixed.values())
        for (name, kind), value in zip(self.program.parts.items(), about, strict=True):
            own = Axis.CLIENTS in kind.axes
            known[name] = value + (here.of_client(name, 1) if own else here.atom(name, 1))
        for name in self.algorithm.feasible:
            self._constraint().hold(known[name] - here.atom("x*", 1))
        for residual in self.residuals:
            self._solve(evaluated(here, [residual])[0])
        if not all(value.is_zero() for value in evaluated(here, self.residuals)):
            raise Unread("the invariant does not determine parts of the state by the others")

    def _constraint(self) -> ConvexSets:
        found = self.answers.functions.get("g")
        if not isinstance(found, ConvexSets) or self.residuals:
            raise Unread("a part of the state is feasible, where no constraint is known, or beside an invariant")
        return found

    def _check_feasible(self, after: Mapping[str, WorldValue]) -> None:
        """``Unread`` unless a step is seen to keep its parts in the constraint set, and in the space of K x."""

        def known(c: Any) -> bool:
            return self.domain.ratio_sign(self.letters.number(WorldValue({ONE: c} if c else {}))) is not None

        for name in (part for part in self.algorithm.dual if part in after):
            if self.answers.spaces is not None and not self.answers.spaces.is_of(True, after[name]):
                raise Unread(f"a step is not seen to keep {name} in the space of K x")
        for name in (part for part in self.algorithm.feasible if part in after):
            about = after[name] - self.world.atom("x*", 1)
            if not self._constraint().is_inside(about, known):
                raise Unread(f"a step is not seen to keep {name} in the constraint set")
            self._constraint().hold(about)

    def _solve(self, residual: WorldValue) -> None:
        here = self.world
        for name, kind in self.program.parts.items():
            mean = f"mean of {name}" if Axis.CLIENTS in kind.axes else name
            own = [k for k in residual.of if len(k[1]) == 1 and k[1][0].name == mean and not k[0]]
            if own and _is_never_zero(residual.of[own[0]]):
                rest = WorldValue({k: c for k, c in residual.of.items() if k != own[0]})
                change = WorldValue({own[0]: here.field.one}) + rest * WorldValue({ONE: 1 / residual.of[own[0]]})
                here.known[name] = here.known[name] - change
                return
        raise Unread("the invariant is not linear in any part of the state")

    # The inequality to be shown

    def posed(self) -> Posed:
        """Return the inequality to be shown, with the known ones."""
        here, letters = self.world, self.letters
        if self.numbers is not None:
            # The denominators of a step are not 0, wherever else they occur.
            evaluated(here, self.program.step.values())
        before = {e: self._number(t) for e, (q, t) in self.quantities.items() if not q.after}
        fallen = evaluated(here, self.falling.squares)
        after = dict(zip(self.program.step, evaluated(here, self.program.step.values()), strict=True))
        self._check_bounds()
        self._check_feasible(after)
        here.known.update(after)
        if not all(value.is_zero() for value in evaluated(here, self.residuals)):
            raise Unread("a step is not shown to preserve the invariant")
        later = {e: self._number(t) for e, (q, t) in self.quantities.items() if q.after}
        fallen_after = evaluated(here, self.falling.squares)
        inequalities = list(self.answers.inequalities())
        self.along = Directions(
            here, self.answers.directions, self.answers.drawn_values, [*self.answers.off_tangents.values()]
        )
        drawn = dict(masks(self.program.law, "draw", lambda term: letters.number(self._number(term))))
        moments = self._moments(drawn)
        values: dict[Any, Any] = {e: self._form(moments, v) for e, v in {**before, **later}.items()}
        known = {k.name: self._form(moments, k.value) for k in inequalities}
        reasons = {k.name: k.why for k in inequalities}
        facts = [] if self.numbers is None else self.numbers.facts
        equal = {} if self.numbers is None else self.numbers.equal()
        domain = self.domain
        self.branches: dict[int, tuple[Ratio, ...]] = {}
        comparisons = self.claim.statement.comparisons
        if len(comparisons) != 1 or comparisons[0].relation != "<=":
            raise Unread("it says more than that one side is at most the other")
        env = {**letters.env, **values}
        sides = []
        for side in (comparisons[0].left, comparisons[0].right):
            domain, found = self._expression(domain, side, env)
            sides.append(found if isinstance(found, ProductSum) else ProductSum.number(found))
        if self.numbers is not None and (self.premises or fallen or self.lowest):
            # Multipliers may depend on these.
            raise Unread("what holds in expectation is not used beside numbers of a state")
        by = letters.evaluated(self.falling.by, env)
        for index, (one, other) in enumerate(zip(fallen, fallen_after, strict=True)):
            known[f"{FALLING}{index}"] = self._form(moments, one) * by - self._form(moments, other)
            reasons[f"{FALLING}{index}"] = Stated("a part of the potential falls")
        for index, premise in enumerate(self.premises):
            found = letters.evaluated(premise, env)
            name = f"{PREMISE}{index}"
            known[name] = found if isinstance(found, ProductSum) else ProductSum.number(found)
            reasons[name] = Stated("an inequality of earlier rounds")
        for fact, is_equal in self.along.known():
            known[fact.name], reasons[fact.name] = self._form(moments, fact.value), fact.why
            if is_equal:
                negative = f"{fact.name}, negative"
                known[negative], reasons[negative], equal[fact.name] = -known[fact.name], fact.why, negative
        target = sides[0] - sides[1]
        if self.lowest is not None:
            lowest = ProductSum({("value", "the least value"): letters.one})
            target = target + lowest * letters.evaluated(self.lowest.weight, env)
            for q in self.lowest.of:
                known[f"{PREMISE}{q}"] = lowest - letters.evaluated(q, env)
                reasons[f"{PREMISE}{q}"] = Stated("the least value is at most that of each round")
        if facts or any(ProductSum.ONE in form.of for form in (target, *known.values())):
            known["1"], reasons["1"] = ProductSum.number(letters.one * -1), Stated("numbers are compared with 0")
        known |= {k.name: self._form(moments, k.value) for k in facts}
        reasons |= {k.name: k.why for k in facts}
        for divisor in map(letters.converted, self.answers.divisors):
            if not (domain.never_zero(divisor.num) and domain.never_zero(divisor.den)):
                raise Unread(f"it is divided by {divisor}, which may be zero")
        for number in map(letters.converted, self.answers.positive):
            if domain.ratio_sign(number, True) is None:
                raise Unread(f"{number} is not shown to be positive, so proximal points may be undefined")
        for form in (target, *known.values()):
            for c in form.of.values():
                if not domain.never_zero(c.den):
                    if self.case.alone is None and _vanishes(c.den, letters.names.index("n")):
                        raise OfOneClient
                    raise Unread(f"it is divided by {c.den}, which may be zero")
        useful = {k: f for k, f in known.items() if f.of}
        return Posed(
            letters.names,
            domain,
            target,
            useful,
            reasons,
            self.branches,
            tuple(letters.parts_of(comparisons[0])),
            (*letters.meanings(), *(() if self.numbers is None else self.numbers.meanings())),
            equal,
            env,
            self._apart(),
        )

    def _apart(self) -> OfTwoParts | None:
        """The cases of the first number of the state that may be 0, if there is one."""
        if self.numbers is None:
            return None
        letters = (symbol for _, letter in self.numbers.named.values() for symbol in letter.of.values())
        for i, number in ((i, n) for n in map(self.letters.converted, letters) for i in range(len(self.letters.names))):
            if number.num == self.letters.ring.gen(i) and i not in self.domain.positive:
                return OfTwoParts((number.num, ">"), (number.num, "="), numbers=self.numbers.keys())
        return None

    def _form(self, moments: Moments, value: WorldValue) -> ProductSum:
        form = moments.expectation(value if self.along is None else self.along.expectation(value))
        if not self.case.alone:
            return form
        # One client does not differ from the mean.
        return ProductSum(
            {k: c for k, c in form.of.items() if not any(row.startswith("deviation of ") for row in k[1:])}
        )

    def _expression(self, domain: Domain, e: sympy.Expr, env: Mapping[Any, Any]) -> tuple[Domain, Any]:
        """The value of an expression; maxima in it become letters that are at least their arguments."""
        letters = self.letters
        # 1 - min(a, b) is max(1 - a, 1 - b), which is nonnegative where one of its arguments is.
        e = e.replace(lambda a: isinstance(a, sympy.Min), lambda a: 1 - sympy.Max(*(1 - b for b in a.args)))
        e = sympy.expand_mul(e, deep=False) if e.is_Mul else e
        env = dict(env)
        for top in sorted(e.atoms(sympy.Max), key=str):
            arguments = [letters.reduced(letters.evaluated(a, env)) for a in top.args]
            values = tuple({value.key: value for value in arguments}.values())
            if not any(domain.ratio_sign(v) is not None for v in values):
                raise Unread(f"{top} may be negative")
            i = letters.maximum(len(self.branches))
            for value in values:
                if not domain.never_zero(value.den):
                    raise Unread(f"it is divided by {value.den}, which may be zero")
                domain = at_least(domain, letters.generator(i) - value, False, i)
            self.branches[i], env[top] = values, letters.generator(i)
        return domain, letters.evaluated(e, env)


def _vanishes(p: Any, i: int) -> bool:
    """Return True if a polynomial is zero where a letter is 1, for all others."""
    return bool(sum(coefficients(p, i).values(), p.context().constant(0)) == 0)


def _is_never_zero(c: Any) -> bool:
    """Return True if a coefficient is nonzero for all values of the letters; n is never zero."""
    powers = [dict(zip(map(str, c.numer.ring.symbols), monomial, strict=True)) for monomial in c.numer]
    return len(powers) == 1 and not any(power for name, power in powers[0].items() if name != "n")
