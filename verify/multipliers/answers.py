"""The answers of the oracles of functions and compressors in a program of a generic client, and their properties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from verify.multipliers.generic_functions import ClassFunctions, KnownInequality
from verify.multipliers.linear import OUTER, U_STAR, CoupledSpaces
from verify.multipliers.mixed import MixedVectors
from verify.multipliers.reasons import Compression, Noise, Phrase, Reason
from verify.multipliers.relative import Reference, RelativeFunctions
from verify.multipliers.sets import ConvexSets
from verify.multipliers.signs import Signs
from verify.reading import generic_client, relative
from verify.reading.linear import ADJOINT, DUAL, K
from verify.reading.oracles import SETS
from verify.reading.source import Unread
from verify.reading.terms import COMPRESSION, DRAWN, Axis, Op, Term, parts
from verify.reading.worlds import ONE, Atom, World, WorldValue

#: Masks that decide where a function is asked, at most.
MASKS = 3
#: The conjugates of the f_i, and what they are asked, by how a function is.
CONJUGATES = "f*"
_CONJUGATE = {"conjugate": "value", "conjugate_gradient": "gradient"}
#: Parts of a sentence.
Words = tuple[str | WorldValue, ...]
#: Vectors of errors, by how their names begin.
_ERROR = "error"


@dataclass(eq=False)
class Errors:
    """Compressors known by their moments: E|C(x) - x|^2 <= ``factor`` |x|^2.

    ``unbiased``: whether the errors have mean zero; ``independent``: whether those of different clients are
    independent; ``joint``: E|mean of the errors|^2 <= joint/n sum |x_i|^2, where it is known; ``variance``: what is
    added to the bound, of noise; ``own``: whether there are several clients, each with errors of its own.

    ``seen``: what is compressed and the error, by draws and vectors; ``bounds``: of noise whose variance the step
    bounds, the terms and the values of the bounds, likewise.
    """

    factor: WorldValue
    unbiased: bool
    independent: bool
    joint: WorldValue | None = None
    variance: WorldValue | None = None
    own: bool = True
    seen: dict[tuple[str, str], tuple[WorldValue, WorldValue]] = field(default_factory=dict)
    bounds: dict[tuple[str, str], tuple[Term, WorldValue]] = field(default_factory=dict)


class OfDrawnPoint(Unread):
    """Raised where something is asked at a point that is drawn, which is read if correlations with errors are kept."""


class OffTangent(NamedTuple):
    """By how much a function's value at a point moved along a direction is off the tangent at ``base``: ``each``, of
    each client or of one function, and ``total``, their sum. ``by``: the multiple of the direction ``direction`` by
    which the point is moved."""

    functions: ClassFunctions
    direction: str
    base: WorldValue
    by: WorldValue
    each: WorldValue
    total: WorldValue


class Chosen(NamedTuple):
    """An answer of an adversary: ``error``, the answer less the centre, with |error|^2 <= ``bound``, for the term
    ``term``.

    ``more``: other conditions on the answer, each in words with a number that is at most 0; ``met``: numbers that are
    nonnegative if there is an answer: how far a vector that is to meet all conditions is within them.
    """

    term: Term
    asked: tuple[str, ...]
    bound: WorldValue
    error: WorldValue
    more: tuple[tuple[Words, WorldValue], ...] = ()
    met: tuple[WorldValue, ...] = ()


@dataclass(eq=False)
class Answers:
    """The answers of oracles in a world.

    ``functions``, ``errors``: by the names under which they are asked; ``given``: constants of the problem that are
    written in terms of others, by name; ``adversaries``: the names of those whose answers are known to satisfy their
    bounds.
    """

    world: World
    functions: dict[str, ClassFunctions | ConvexSets]
    errors: dict[str, Errors]
    given: dict[str, WorldValue] = field(default_factory=dict)
    adversaries: frozenset[str] = frozenset()
    #: Where gradients are asked at points that are drawn, the draws on which each vector depends, by name; else None.
    dependent: dict[str, frozenset[str]] | None = None
    divisors: list[object] = field(default_factory=list)
    #: The answers of adversaries, by the identity of the term: they differ each time.
    chosen: dict[int, Chosen] = field(default_factory=dict)
    #: The directions that are drawn, by name, with the kind of the distribution of each.
    directions: Mapping[str, str] = field(default_factory=dict)
    #: How much values at points that are moved along these are off tangents, by the functions and the point.
    off_tangents: dict[tuple[str, str], OffTangent] = field(default_factory=dict)
    #: Mixing matrices, by name.
    mixing: dict[str, MixedVectors] = field(default_factory=dict)
    #: A linear operator, and what it was asked, where there is one.
    spaces: CoupledSpaces | None = None
    #: The numbers that have to be positive, as proximal points may not be known otherwise.
    positive: list[object] = field(default_factory=list)
    signs: Signs = field(init=False)

    def __post_init__(self) -> None:
        self.signs = Signs(self.world)
        self.world.rules.update(
            {
                Op.ORACLE: self._asked,
                Op.ALL: self._all,
                Op.COMPRESSED: self._compressed,
                Op.EXPECTED: self._expected,
                Op.ANSWER: self._answered,
                Op.MIXED: self._mixed,
                Op.UNMIXED: self._mixed,
                Op.SIGNS: self._signs,
                Op.GIVEN: self._given,
                Op.DIVIDE: lambda world, term, of: self.quotient(of),
                Op.POWER: self._power,
                Op.SUM: _summed,
            }
        )

    def quotient(self, of: list[WorldValue]) -> WorldValue:
        """A quotient by a number that is made of letters."""
        return of[0] * self._inverse(of[1])

    def _inverse(self, value: WorldValue) -> WorldValue:
        if set(value.of) != {ONE}:
            raise Unread("it divides by something that is not a rational function of the letters")
        self.divisors.append(value.of[ONE])
        return WorldValue({ONE: 1 / value.of[ONE]})

    def _power(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        base, found = of[0] if term.data >= 0 else self._inverse(of[0]), world.constant(1)
        for _ in range(abs(term.data)):
            found *= base
        return found

    def _given(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        if term.type.degree == 0:
            return self.given[term.data] if term.data in self.given else world.letter(term)
        if term.data == "x_star":
            return world.atom("x*", 1)
        if term.data == "y_star" and "f" in self.functions:
            return self.functions["f"].slope
        if term.data == DUAL and self.spaces is not None:
            return world.atom(U_STAR, 1)
        of_named = self.functions.get(term.data.replace("y_star_", "f"))
        if of_named is not None and term.data.startswith("y_star_"):
            return of_named.slope
        raise Unread(f"what {term.data} is, is not known")

    def _asked(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        if term.data in relative.ASKED:
            return self._of_reference(world, term.data, of)
        name, _, what = term.data.partition(".")
        spaces = self.spaces
        if spaces is not None and term.data in (K, ADJOINT):
            return by_masks(world, of[-1], lambda at, _: spaces.apply(term.data, at))
        if name in SETS:
            name, what = "g", name
        functions = self.functions.get(name)
        if functions is None:
            raise Unread(f"the functions {name} are of an unknown class")
        x_star = world.atom("x*", 1)
        if name == OUTER and spaces is not None:
            if not spaces.is_of(True, of[-1]):
                raise Unread("h is asked at a vector that is not of the space of K x")
            x_star = spaces.x_image
        if isinstance(functions, ConvexSets):
            if what not in SETS:
                raise Unread(f"of a set only its projections are asked, and what {term.data} answers is not known")
            sets = functions
            return by_masks(world, of[-1], lambda at, _: self._of_set(sets, what, x_star, at))
        if what in _CONJUGATE:
            conjugates = self.functions.get(CONJUGATES)
            if not isinstance(conjugates, ClassFunctions):
                raise Unread(f"what {term.data} answers is not known")
            # A conjugate is anchored at the gradients at x*, where its own gradient is x*.
            return self._answer_at(conjugates, _CONJUGATE[what], of[-1], functions.slope, x_star, term.data)
        if what == "resolvent":
            return by_masks(world, of[1], lambda target, _: self._solved(functions, x_star, of[0], target))

        return self._answer_at(functions, what, of[-1], x_star, functions.slope, term.data)

    def _answer_at(
        self, functions: ClassFunctions, what: str, at: WorldValue, anchor: WorldValue, slope: WorldValue, asked_as: str
    ) -> WorldValue:
        """The value or the gradient at a point of functions that have a gradient at an anchor."""
        world = self.world

        def answer(point: WorldValue, when: WorldValue) -> WorldValue:
            about = point - anchor
            drawn = self._is_drawn_somewhere(point)
            if drawn and self.dependent is not None:
                if not functions.smooth or functions.name not in ("f", "g"):
                    raise Unread(f"{asked_as} is asked at a point that is drawn")
                self._check_errors(point, f"{asked_as} is asked")
                gradient = functions.at(world, about).gradient
                if not functions.equal:
                    # Else it is a multiple of the point.
                    self._depend(gradient, self._draws_of(point))
                drawn = False
            if what == "gradient":
                if drawn:
                    raise OfDrawnPoint(f"{asked_as} is asked at a point that is drawn")
                return slope + functions.at(world, about).gradient
            if what == "value":
                known = world.of_client if functions.own else world.atom
                value = functions.value(world, about) if not drawn else self._moved_value(functions, about)
                value = functions.value_drawn(world, about, when) if value is None else value
                return value + world.inner(slope * about) + known(f"{functions.name} at x*", 0)
            raise Unread(f"what {asked_as} answers is not known")

        return by_masks(world, at, answer)

    def _moved_value(self, functions: ClassFunctions, point: WorldValue) -> WorldValue | None:
        """The value at a point that is moved along a direction, by the tangent at where it was; None at others."""
        if functions.equal or functions.spread is not None or None in (functions.curvatures or (None,)):
            return None
        world, moves = self.world, {k: c for k, c in point.of.items() if any(a.name in self.directions for a in k[1])}
        base = WorldValue({k: c for k, c in point.of.items() if k not in moves})
        (draws, atoms), c = next(iter(moves.items()), ((frozenset[str](), ()), world.field.one))
        if len(moves) != 1 or draws or len(atoms) != 1 or world.sums_in(c) or self._is_drawn_somewhere(base):
            return None
        at, key = functions.at(world, base), (functions.name, point.name())
        if key not in self.off_tangents:
            name = f"{functions.name} off {len(self.off_tangents)}"
            each = WorldValue({(frozenset(), (Atom(name, 0, functions.own),)): world.field.one})
            total = world.total(each) if functions.own else each
            by = WorldValue({ONE: c})
            self.off_tangents[key] = OffTangent(functions, atoms[0].name, base, by, each, total)
        return at.value + world.inner(at.gradient * (point - base)) + self.off_tangents[key].each

    def _of_reference(self, world: World, what: str, of: list[WorldValue]) -> WorldValue:
        f, h, x_star = self.functions.get("f"), self.functions.get("h"), world.atom("x*", 1)
        if not isinstance(f, RelativeFunctions) or not isinstance(h, Reference):
            raise Unread("the hypotheses do not say that there is a reference function")
        for at in of:
            self._check(at, f"problem.{what} is asked")
            if any(draws for draws, _ in at.of):
                raise Unread(f"problem.{what} is asked at a point that is drawn")
        if what == relative.DIVERGENCE:
            return h.divergence(world, of[0] - x_star, of[1] - x_star)
        if what == relative.MIRROR:
            return x_star + h.mirror(world, of[0])
        point, positive = f.prox(world, *of)
        self.positive += [number.of.get(ONE, world.field.zero) for number in positive]
        return x_star + point

    def _of_set(self, sets: ConvexSets, what: str, x_star: WorldValue, at: WorldValue) -> WorldValue:
        self._check(at, "a set is asked")
        return x_star + (sets.project(self.world, at - x_star) if what == "project" else sets.lmo(self.world, at))

    def _solved(
        self, functions: ClassFunctions, x_star: WorldValue, shift: WorldValue, target: WorldValue
    ) -> WorldValue:
        self._check(target, "a proximal point is taken")
        about, number = functions.resolvent(self.world, shift, target - shift * x_star)
        self.positive.append(number.of.get(ONE, self.world.field.zero))
        return x_star + about

    def _check(self, point: WorldValue, what: str) -> None:
        """``Unread`` where a point is drawn."""
        if self._is_drawn_somewhere(point):
            raise Unread(f"{what} at a point that is drawn")

    def _check_errors(self, point: WorldValue, what: str) -> None:
        """``Unread`` unless a point is a combination of vectors: a sum may contain masks, with which answers there
        would be correlated too."""
        kinds = {self.world.meaning.get(atom.name, ("",))[0] for _, atoms in point.of for atom in atoms}
        if not kinds <= {"", "mean", "deviation"} or any(map(self.world.holds_drawn, point.of.values())):
            raise Unread(f"{what} at a point that depends on a sum over the clients that are drawn")

    def _depend(self, vector: WorldValue, draws: frozenset[str]) -> None:
        """Note that the summands of a vector depend on these draws, unless their draws are known already."""
        assert self.dependent is not None
        for _, atoms in vector.of:
            for atom in atoms:
                self.dependent.setdefault(atom.name, draws)

    def _draws_of(self, value: WorldValue) -> frozenset[str]:
        """The draws on which the vectors in a sum depend."""
        assert self.dependent is not None
        names = {atom.name for _, atoms in value.of for atom in atoms}
        return frozenset().union(*(self.dependent.get(name, ()) for name in names))

    def _is_drawn_somewhere(self, point: WorldValue) -> bool:
        return any(self._is_drawn(atom) for _, atoms in point.of for atom in atoms)

    def _is_drawn(self, atom: Atom) -> bool:
        """Return True if an atom is an error, a sum that may contain masks, or an inner product with one."""
        kind, *of = self.world.meaning.get(atom.name, ("",))
        if kind == "inner product":
            return any(map(self._is_drawn, of))
        drawn = self.drawn_by, self.dependent or (), self.directions, self.drawn_values
        return kind == "sum" or any(atom.name in names for names in drawn)

    @property
    def error_names(self) -> frozenset[str]:
        """The names of all errors, biased ones too."""
        errors = (error for of in self.errors.values() for _, error in of.seen.values())
        return frozenset(atom.name for error in errors for _, atoms in error.of for atom in atoms)

    @property
    def drawn_by(self) -> dict[str, tuple[str, str]]:
        """For each vector that is an error of mean zero, or a part of one: the error, and what it was drawn by."""
        found = {}
        for name, errors in self.errors.items():
            for k, (by, _) in enumerate(errors.seen if errors.unbiased else ()):
                error = f"{_ERROR} {k} of {name}"
                for part in (error, f"mean of {error}", f"deviation of {error}"):
                    found[part] = error, by
        return found

    @property
    def drawn_values(self) -> frozenset[str]:
        """The names of values of functions at points that are drawn, and of how much they are off tangents."""
        values = [at.value for functions in self.functions.values() for at in functions.drawn.values()]
        values += [off.each for off in self.off_tangents.values()]
        return frozenset(atom.name for value in values for _, atoms in value.of for atom in atoms)

    def _compressed(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        errors = self.errors.get(term.data)
        if errors is None:
            raise Unread(f"the compressors {term.data} are of an unknown class")
        x = of[-1]
        if any(draws for draws, _ in x.of):
            raise Unread("a compressed vector is itself random")
        by = term.of[0].data[0]
        if self._is_drawn_somewhere(x):
            if self.dependent is None or not errors.unbiased or by in self._draws_of(x):
                raise OfDrawnPoint("a vector is compressed at a point that is drawn")
            self._check_errors(x, "a vector is compressed")
        bound = of[1] if len(of) > 2 else None
        if x.is_zero() and errors.variance is None and bound is None:
            return x
        key = by, x.name()
        if bound is not None:
            if any(part.op in DRAWN for part in parts(term.of[1])):
                raise Unread(f"the bound of {term.data} depends on a draw")
            key = by, f"{x.name()} within {bound.name()}"
            errors.bounds[key] = term.of[1], bound
        if key not in errors.seen:
            if not errors.unbiased and any(other == by for other, _ in errors.seen):
                # It may depend on the draw by what was compressed first, and nothing bounds the error then.
                raise Unread(f"two vectors are compressed by one draw of {term.data}")
            name = f"{_ERROR} {len(errors.seen)} of {term.data}"
            if not errors.own:
                error = world.atom(name, 1)
            elif errors.unbiased and errors.independent and self.dependent is None:
                error = WorldValue({(frozenset(), (Atom(name, 1, True),)): world.field.one})
            else:
                error = world.of_client(name, 1)
            if self.dependent is not None and errors.unbiased:
                self._depend(error, self._draws_of(x) | {by})
            errors.seen[key] = x, error
        return x + errors.seen[key][1]

    def _all(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        """All draws of compressors, which stand in what they compress alone: as a number nothing is known of them."""
        kind, name = term.data
        return (
            world.atom(f"the draws of {name}", 0) if kind == COMPRESSION else generic_client.all_drawn(world, term, of)
        )

    def _expected(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        """The expectation over all draws of compressors, of a sum of numbers, each a single inner product: the
        expectation of the whole comparison is taken in the end, and such numbers are never multiplied."""
        if term.of[1].data[0] != COMPRESSION:
            return generic_client.in_expectation(world, term, of)
        if any(len(atoms) > 1 or any(atom.degree for atom in atoms) for _, atoms in of[0].of):
            raise Unread("the expectation of a vector that is compressed, or of a product of numbers, is taken")
        return of[0]

    def _mixed(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        matrix = self.mixing.get(term.data)
        if matrix is None:
            raise Unread(f"what {term.data} mixes, is not known")
        atoms = {atom for _, several in of[0].of for atom in several}
        if any(self._is_drawn(atom) or atom.name in self.error_names for atom in atoms):
            raise Unread(f"{term.data} mixes what is drawn")
        return matrix.mix(of[0]) if term.op is Op.MIXED else matrix.solve(of[0])

    def _signs(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        def answer(at: WorldValue, _: WorldValue) -> WorldValue:
            self._check(at, "signs are taken of a vector")
            return self.signs.of(at)

        return by_masks(world, of[0], answer)

    def _answered(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        centre, bound, name_of = of[0], of[1], str(term.data)
        if name_of not in self.adversaries:
            raise Unread(f"what bounds the answers of {name_of}, is not known")
        if any(part.op in DRAWN for part in parts(*term.of)):
            # It would be another vector for each draw.
            raise Unread(f"{name_of} is asked about something that is drawn")
        asked = tuple(value.name() for value in of)
        if id(term) not in self.chosen:
            name = f"answer {len(self.chosen)} of {name_of}"
            error = world.of_client(name, 1) if Axis.CLIENTS in term.type.axes else world.atom(name, 1)
            more, met = self._conditions(term, of, centre + error)
            self.chosen[id(term)] = Chosen(term, asked, bound, error, more, met)
        if self.chosen[id(term)].asked != asked:
            raise Unread(f"{name_of} is asked by one call in two states")
        return centre + self.chosen[id(term)].error

    def _conditions(
        self, term: Term, of: list[WorldValue], answer: WorldValue
    ) -> tuple[tuple[tuple[Words, WorldValue], ...], tuple[WorldValue, ...]]:
        """Return the conditions on an answer beyond the first, and what is nonnegative where it exists."""
        balls, halves, vector = term.data.conditions(of)
        if len(balls) + len(halves) == 1:
            return (), ()

        def beyond(point: WorldValue) -> Iterator[tuple[Words, WorldValue]]:
            for centre, bound in balls:
                apart = point - centre
                yield ("is near enough to ", centre), self.world.inner(apart * apart) - bound
            for direction, least in halves:
                yield ("leads far enough along ", direction), least - self.world.inner(direction * point)

        met = () if term.data.sure else tuple(-form for _, form in beyond(vector))
        return tuple(beyond(answer))[1:], met

    def inequalities(self) -> Iterator[KnownInequality]:
        """All that is known of the answers."""
        world = self.world
        for k, one in enumerate(self.chosen.values()):
            form = world.inner(one.error * one.error) - one.bound
            summed = Axis.CLIENTS in one.term.type.axes
            first: Words = (f"the square of what answer {k} of {one.term.data} is off by is at most its bound",)
            more = [((f"answer {k} of {one.term.data} ", *what), number) for what, number in one.more]
            for j, (words, number) in enumerate([(first, form), *more]):
                name = f"{one.term.data}[{k}]" if not j else f"{one.term.data}[{k}] {j}"
                why = Phrase((*words, ", summed over the clients") if summed else words)
                yield KnownInequality(name, why, world.total(number) if summed else number)
        yield from self.signs.inequalities()
        for matrix in self.mixing.values():
            yield from matrix.inequalities()
        if self.spaces is not None:
            yield from self.spaces.inequalities()
        for functions in self.functions.values():
            yield from functions.inequalities(world)
        for name, errors in self.errors.items():
            for k, (key, (x, error)) in enumerate(errors.seen.items()):
                size = world.total(world.inner(x * x))
                bound: Reason = Compression("errors", errors.factor, x)
                form = world.total(world.inner(error * error)) - errors.factor * size
                if errors.variance is not None:
                    form -= world.count("n") * errors.variance
                    bound = Noise(errors.variance, x)
                if key in errors.bounds:
                    form -= world.total(errors.bounds[key][1])
                    bound = Noise(None, x)
                yield KnownInequality(f"{name}[{k}]", bound, form)
                if self.dependent is not None and errors.independent and errors.own:
                    whole = world.total(error)
                    form = world.inner(whole * whole) - world.total(world.inner(error * error))
                    apart = Phrase(("errors of different clients are uncorrelated, of ", x))
                    yield KnownInequality(f"{name}[{k}] apart", apart, form)
                if errors.joint is not None:
                    mean = world.total(error)
                    form = world.inner(mean * mean) - world.count("n") * errors.joint * size
                    yield KnownInequality(f"mean of {name}[{k}]", Compression("mean error", errors.joint, x), form)


def _summed(world: World, term: Term, of: list[WorldValue]) -> WorldValue:
    """A sum over clients or coordinates, whichever is taken first.

    Masks of each coordinate's own are of one law for all: what their moments give holds for each
    coordinate, and so for the sum.
    """
    along = term.data[0]
    if along is Axis.CLIENTS:
        return _total(world, of[0])
    if along is not Axis.COORDINATES:
        return of[0]
    found = WorldValue({})
    for (draws, atoms), c in of[0].of.items():
        meaning = world.meaning.get(atoms[0].name) if len(atoms) == 1 else None
        if meaning is not None and meaning[0] == "sum" and atoms[0].degree == 2:
            _, letters, own_draws, own = meaning
            products = world.inner(WorldValue({(frozenset(), own): letters})) * WorldValue(
                {(own_draws, ()): world.field.one}
            )
            found += _total(world, products) * WorldValue({(draws, ()): c})
        else:
            found += world.inner(WorldValue({(frozenset(), atoms): c})) * WorldValue({(draws, ()): world.field.one})
    return found


def _total(world: World, value: WorldValue) -> WorldValue:
    """The sum over the clients, of inner products too in which masks of each coordinate stand."""
    found, plain = WorldValue({}), {}
    for (draws, atoms), c in value.of.items():
        own = tuple(atom for atom in atoms if atom.own)
        masks = frozenset(name for name in draws if name in world.indexed)
        if masks & world.along and len(own) == 1 and own[0].degree == 0:
            name = f"sum of {sorted(masks)} {own[0].name}"
            world.meaning[name] = ("sum", world.field.one, masks, own)
            rest = tuple(atom for atom in atoms if not atom.own)
            found += WorldValue({(draws - masks, tuple(sorted((*rest, Atom(name, 0))))): c})
        else:
            plain[draws, atoms] = c
    return found + world.total(WorldValue(plain))


def by_masks(world: World, value: WorldValue, answer: Callable[[WorldValue, WorldValue], WorldValue]) -> WorldValue:
    """Return the answer at a value that contains masks: the sum of one answer for each outcome of these.

    ``answer`` gets the value at an outcome, and the indicator of the outcome. Raise ``Unread`` if there are too many
    masks, or masks of single coordinates.
    """
    names = sorted({name for draws, _ in value.of for name in draws})
    if not world.along.isdisjoint(names):
        raise Unread("the point at which a function is evaluated depends on masks of single coordinates")
    if len(names) > MASKS:
        raise Unread(f"more than {MASKS} masks determine where a function is evaluated")
    total, one = WorldValue({}), world.constant(1)
    for outcomes in product((True, False), repeat=len(names)):
        true = {name for name, fell in zip(names, outcomes, strict=True) if fell}
        here, weight = WorldValue({}), one
        for (draws, atoms), c in value.of.items():
            if draws <= true:
                here += WorldValue({(frozenset(), atoms): c})
        for name in names:
            mask = world.drawn(name)
            weight *= mask if name in true else one - mask
        total += weight * answer(here, weight)
    return total
