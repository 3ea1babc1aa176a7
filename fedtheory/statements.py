"""The kinds of statement a claim can make.

Both sides of a statement are sympy expressions in the paper's letters and in *quantities*: symbols (or squares of
symbols) whose value is computed from a problem, its parameters and a state. A statement can therefore be read,
changed with ``.subs`` and run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from typing import Any, ClassVar, NamedTuple

import sympy

from fedtheory.algorithms.base import Algorithm
from fedtheory.compressors import Compressor
from fedtheory.iterations import Iteration
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from fedtheory.relations import Comparison, Quantity, Relation, side, stated
from fedtheory.symbols import T
from fedtheory.typed import Typed, comes_before, numbers, spoken_of
from fedtheory.validation import expression


@dataclass(frozen=True)
class Identity(Typed):
    """left == right for every instance of the setting. Sides may be arrays; they are compared entry by entry.

    ``also``: further comparisons that the statement makes with this one.
    """

    left: sympy.Expr
    right: sympy.Expr
    quantities: tuple[Quantity, ...]
    also: tuple[Comparison, ...] = ()
    kind: ClassVar[str] = "identity"

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What is compared: each left side, relation and right side."""
        return (Comparison(self.left, "==", self.right), *self.also)


@dataclass(frozen=True)
class Inequality(Typed):
    """left <= right (or left <= middle <= right) for every instance of the setting; ``strict`` for <.

    ``also``: further comparisons that the statement makes with this one.
    """

    left: sympy.Expr
    right: sympy.Expr
    quantities: tuple[Quantity, ...] = ()
    middle: sympy.Expr | None = None
    strict: bool = False
    also: tuple[Comparison, ...] = ()
    kind: ClassVar[str] = "inequality"

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What is compared: each left side, relation and right side."""
        relation = "<" if self.strict else "<="
        if self.middle is None:
            return (Comparison(self.left, relation, self.right), *self.also)
        first, second = Comparison(self.left, relation, self.middle), Comparison(self.middle, relation, self.right)
        return (first, second, *self.also)


def inequality(relation: Relation) -> Inequality:
    """The inequality that is written so: ``inequality(distance <= gap / mu)``."""
    relation = stated(relation)
    return Inequality(relation.left.expression, relation.right.expression, relation.quantities, strict=relation.strict)


def identity(left: Any, right: Any) -> Identity:
    """left == right, each a quantity or what is composed of some."""
    sides = Relation(side(left), side(right))
    return Identity(sides.left.expression, sides.right.expression, sides.quantities)


@dataclass(frozen=True)
class OneStep(Typed):
    """E[left] <= right over one step of the algorithm, from every state that satisfies its invariant; ``strict`` for <.

    Where the statement is a contraction, E[potential after] <= factor * potential before, ``factor`` is that number.
    """

    algorithm: Algorithm
    left: sympy.Expr
    right: sympy.Expr
    quantities: tuple[Quantity, ...]
    factor: sympy.Expr | None = None
    strict: bool = False
    kind: ClassVar[str] = "one-step"
    stepping: ClassVar[bool] = True

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What is compared: each left side, relation and right side."""
        return (Comparison(self.left, "<" if self.strict else "<=", self.right),)

    def check(self) -> None:
        """``ValueError`` where the factor is no number, or multiplies what comes after the step."""
        numbers("the factor", self.factor, self.quantities)
        if self.factor is not None:
            comes_before("what a factor multiplies", self.right, self.quantities)


def contracts(
    algorithm: Algorithm,
    potential: Callable[[Problem, Any, Any], Array],
    factor: Any,
    noise: Mapping[Callable[[Problem, Any, Any], Array], Any] | None = None,
) -> OneStep:
    """E[potential after] <= factor * potential before + sum of coefficient * quantity, for functions of (problem,
    params, state); ``noise``: the coefficients."""
    before, after = Quantity("V", potential), Quantity("V_next", potential, after=True)
    if noise is not None and not isinstance(noise, Mapping):
        raise ValueError(f"the noise is a mapping of functions (problem, params, state) to coefficients, got {noise!r}")
    if not noise:
        return contraction(algorithm, after, expression("the factor", factor), before)
    others = {Quantity(getattr(of, "__name__", repr(of)), of): c for of, c in noise.items()}
    right = sum((c * q for q, c in others.items()), start=factor * before)
    return OneStep(algorithm, after.expression, right.expression, (before, after, *others))


def contraction(algorithm: Algorithm, after: Quantity, factor: sympy.Expr, before: Quantity) -> OneStep:
    """E[after] <= factor * before."""
    return OneStep(algorithm, after.expression, factor * before.expression, (after, before), factor)


def one_step(algorithm: Algorithm, relation: Relation) -> OneStep:
    """The inequality over one step that is written so: ``one_step(method, E(Psi_next) <= (1 - rho) * Psi)``.

    It is a contraction where the right side is a multiple of a single quantity.
    """
    relation = stated(relation, expected=True)
    left, right = relation.left, relation.right
    before = [q.expression for q in right.spoken_of if not q.after]
    alone = (
        len(relation.quantities) == 2 and len(before) == 1 and left.expression in [q.expression for q in left.spoken_of]
    )
    factor = right.expression / before[0] if alone else None
    if factor is not None and factor.has(before[0]):
        factor = None
    return OneStep(algorithm, left.expression, right.expression, relation.quantities, factor, relation.strict)


@dataclass(frozen=True)
class Bound(Typed):
    """E[left after T rounds] <= constant * factor^T * initial, for every T >= 0, from the initial state printed.

    ``bound`` is the right-hand side; ``strict`` for <.
    """

    algorithm: Algorithm
    left: sympy.Expr
    factor: sympy.Expr
    initial: sympy.Expr
    quantities: tuple[Quantity, ...]
    constant: sympy.Expr = sympy.S.One
    override: sympy.Expr | None = None
    strict: bool = False
    kind: ClassVar[str] = "bound"
    stepping: ClassVar[bool] = True
    horizon: ClassVar[bool] = True

    def check(self) -> None:
        """``ValueError`` where the factor or the constant is no number, or what is initial comes after T rounds."""
        numbers("the factor", self.factor, self.quantities)
        numbers("the constant", self.constant, self.quantities)
        if self.override is None:
            comes_before("the initial value", self.initial, self.quantities)

    @property
    def bound(self) -> sympy.Expr:
        """The right-hand side, in T."""
        if self.override is not None:
            return self.override
        return self.constant * self.factor**T * self.initial

    @property
    def right(self) -> sympy.Expr:
        """The right-hand side, as :attr:`bound`."""
        return self.bound

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What is compared: each left side, relation and right side."""
        return (Comparison(self.left, "<" if self.strict else "<=", self.bound),)


def bound(algorithm: Algorithm, relation: Relation) -> Bound:
    """The bound for every T that is written so: ``bound(method, E(gap_T) <= constant * rate**T * gap_0)``."""
    relation = stated(relation, expected=True)
    left, right = relation.left.expression, relation.right.expression
    as_a_whole = Bound(algorithm, left, sympy.S.One, right, relation.quantities, override=right, strict=relation.strict)
    initial_of = {s for q in relation.right.spoken_of for s in q.expression.free_symbols}
    if any(q.after for q in relation.right.spoken_of):
        return as_a_whole
    factor = constant = initial = sympy.S.One
    for part in sympy.Mul.make_args(right):
        if part.has(sympy.Sum, sympy.Product):
            return as_a_whole
        if part.has(T):
            # A number in front may have been put into the power: 2 * (1/2)^T is 2^(1 - T).
            first = part.subs(T, 0)
            rate = part.subs(T, 1) / first
            geometric = part == first * rate**T or sympy.powsimp(part / (first * rate**T)) == 1
            if not geometric or part.free_symbols & initial_of:
                return as_a_whole
            constant, factor = constant * first, factor * rate
        elif part.free_symbols & initial_of:
            initial *= part
        else:
            constant *= part
    return replace(as_a_whole, factor=factor, initial=initial, constant=constant, override=None)


@dataclass(frozen=True)
class Invariant(Typed):
    """A residual that is zero before a step is zero after it, whatever is drawn."""

    algorithm: Algorithm
    residual: Callable[[Problem, Any, Any], Array]
    text: str
    kind: ClassVar[str] = "invariant"


@dataclass(frozen=True)
class Limit(Typed):
    """The potential tends to 0 almost surely, from every state that satisfies the algorithm's invariant."""

    algorithm: Algorithm
    potential: Quantity
    text: str
    kind: ClassVar[str] = "limit"


@dataclass(frozen=True)
class ParameterRule(Typed):
    """A choice of constants meets the relations that it must meet.

    ``assignments``: the constants as printed. ``relations``: what they must satisfy, once assigned, for all values of
    the symbols that remain and of the quantities.
    """

    assignments: Mapping[sympy.Symbol, sympy.Expr]
    relations: tuple[sympy.Basic, ...]
    quantities: tuple[Quantity, ...] = ()
    kind: ClassVar[str] = "parameter-rule"

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The relations with the assignments put in."""
        found = []
        for r in self.relations:
            left, right = (side.subs(self.assignments) for side in (r.lhs, r.rhs))
            if r.rel_op in (">=", ">"):
                left, right = right, left
            found.append(Comparison(left, r.rel_op.replace(">", "<"), right))
        return tuple(found)


@dataclass(frozen=True)
class Order(Typed):
    """left = O(right), with one constant for all values of the symbols; ``both`` for Theta.

    ``small`` tends to 0 and ``large`` to infinity first, if given; ``when``: relations that limit the values; ``also``:
    further orders that the statement makes with this one.
    """

    left: sympy.Expr
    right: sympy.Expr
    small: sympy.Symbol | None = None
    large: sympy.Symbol | None = None
    both: bool = False
    when: tuple[sympy.Basic, ...] = ()
    also: tuple[Order, ...] = ()
    kind: ClassVar[str] = "order"

    def check(self) -> None:
        """``ValueError`` where a letter may be negative, or what tends to a limit first is in two roles."""
        for letter in sorted(spoken_of(self), key=str):
            if not letter.is_nonnegative:
                raise ValueError(f"an order is looked at on scales: {letter} must be positive or nonnegative")
        if self.small is not None and self.small == self.large:
            raise ValueError(f"{self.small} cannot tend to 0 and to infinity")

    @property
    def parts(self) -> tuple[Order, ...]:
        """The single orders of the statement, each in one direction."""
        found: list[Order] = []
        for part in (replace(self, also=()), *self.also):
            found.append(replace(part, both=False))
            if part.both:
                found.append(replace(part, left=part.right, right=part.left, both=False))
        return tuple(found)


@dataclass(frozen=True)
class Untested(Typed):
    """A statement that no computation here decides: a cited order, or an experiment on data that are not there.

    ``text``: the statement; ``reason``: why it is not tested. ``kind`` is the claim's own.
    """

    text: str
    reason: str
    kind: ClassVar[str] = "untested"


@dataclass(frozen=True)
class Eventually(Typed):
    """Along every run of the algorithm ``vanishing`` quantities tend to 0 and ``bounded`` ones stay bounded.

    ``converging``: vectors that converge. ``steps``: how long the runs are by which this is supported. Quantities of
    more than one number are meant entry by entry. ``iteration``: of what the quantities speak, where that is one
    iteration (:class:`fedtheory.iterations.Iteration`) and not a state of the algorithm.
    """

    algorithm: Algorithm
    vanishing: tuple[Quantity, ...] = ()
    bounded: tuple[Quantity, ...] = ()
    converging: tuple[Quantity, ...] = ()
    steps: int = 400
    iteration: Iteration | None = None
    kind: ClassVar[str] = "eventually"
    comparisons: ClassVar[tuple[Comparison, ...]] = ()

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All quantities of which something is said."""
        return (*self.vanishing, *self.bounded, *self.converging)

    @property
    def text(self) -> str:
        """The statement, in words."""
        said = [f"{q.expression} -> 0" for q in self.vanishing]
        said += [f"{q.expression} is bounded" for q in self.bounded]
        said += [f"{q.expression} converges" for q in self.converging]
        return ", ".join(said)


@dataclass(frozen=True)
class Readings(Typed):
    """A statement that uses what is not defined, or in two ways: ``open`` says what, in a sentence, and ``readings``
    are claims that settle it.

    Where some of the admissible readings are true and others false, the statement is ill-posed. ``denied``: the
    statement denies what the readings say.
    """

    open: str
    readings: tuple[Any, ...]
    denied: bool = False
    kind: ClassVar[str] = "readings"
    comparisons: ClassVar[tuple[Comparison, ...]] = ()

    @property
    def text(self) -> str:
        """The statement, in words."""
        of = "denied readings" if self.denied else "readings"
        return f"{self.open}; {of}: " + "; or ".join(c.gist for c in self.readings)


@dataclass(frozen=True)
class CompressorClass(Typed):
    """A compressor is unbiased, in U(omega) for the omega printed, and its message has the bits printed.

    ``compressor(d, k)`` builds it; ``omega`` and ``bits`` are expressions in ``d`` and ``k``.
    """

    compressor: Callable[[int, int], Compressor]
    omega: sympy.Expr
    bits: sympy.Expr
    d: sympy.Symbol
    k: sympy.Symbol
    kind: ClassVar[str] = "compressor"

    def check(self) -> None:
        """``ValueError`` where omega or the bits speak of another letter than d and k."""
        others = spoken_of(self) - {self.d, self.k}
        if others or self.d == self.k:
            other = min(others or {self.d}, key=str)
            raise ValueError(f"a compressor's omega and bits are expressions in d and k, and speak of {other}")


@dataclass(frozen=True)
class Stays(Typed):
    """A step changes nothing that is ``observed``, whatever is drawn, from every state of the setting.

    ``observed(problem, params, state)``; ``text``: the statement in words. Where the states of the setting are those
    at the optimum it says that the optimum is a fixed point.
    """

    algorithm: Algorithm
    observed: Callable[[Any, Any, Any], Array]
    text: str
    kind: ClassVar[str] = "fixed-point"

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What is compared: each left side, relation and right side."""
        return (Comparison(sympy.Symbol("after"), "==", sympy.Symbol("before")),)


@dataclass(frozen=True)
class Reached(Typed):
    """After ``rounds`` rounds E[potential] <= ``share`` * (potential at the start), from every state of the setting.

    ``share`` 0: the optimum itself is reached.
    """

    algorithm: Algorithm
    potential: Callable[[Any, Any, Any], Array]
    rounds: int = 1
    share: sympy.Expr = sympy.S.Zero
    kind: ClassVar[str] = "rounds"

    def check(self) -> None:
        """``ValueError`` where the rounds are fewer than none, or the share is no number of at least 0."""
        if self.rounds < 0 or not self.share.is_nonnegative or self.share.free_symbols:
            raise ValueError(f"at least 0 rounds and a share of at least 0 are due, got {self.rounds} and {self.share}")

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What is compared: each left side, relation and right side."""
        relation = "==" if self.share == 0 else "<="
        return (Comparison(sympy.Symbol("V_T"), relation, self.share * sympy.Symbol("V_0")),)


@dataclass(frozen=True)
class Agreement(Typed):
    """Two algorithms that are given the same draws show the same after every step, sample by sample.

    ``counterpart(problem, params, state) -> (params, state)``: those of the second, from those of the first;
    ``seen``: what is compared, of the first and of the second. Where that determines the state, or what its next steps
    depend on, agreement after one step from every state is agreement along every run.
    """

    algorithm: Algorithm
    second: Algorithm
    counterpart: Callable[[Any, Any, Any], tuple[Any, Any]]
    seen: tuple[Callable[[Any, Any, Any], Array], Callable[[Any, Any, Any], Array]]
    text: str
    kind: ClassVar[str] = "equivalence"

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What is compared: each left side, relation and right side."""
        names = (self.algorithm.name, self.second.name)
        left, right = (sympy.Symbol(name) for name in names)
        return (Comparison(left, "==", right),)


@dataclass(frozen=True)
class Fails(Typed):
    """Some instance of the setting contradicts the statement ``of``; ``text``: what that is, in words."""

    of: Statement
    text: str
    kind: ClassVar[str] = "counterexample"


class Sighting(NamedTuple):
    """One ordering that a text says is seen in an experiment: whether it is seen on the data at hand, None where these
    do not decide."""

    text: str
    seen: bool | None
    numbers: str


@dataclass(frozen=True)
class Experiment(Typed):
    """Orderings that a paper sees in an experiment, looked for on named data that are at hand.

    ``run(seed)``: one sighting for each, none where nothing was run; ``data``: their name.
    """

    text: str
    data: str
    run: Callable[[int], tuple[Sighting, ...]]
    kind: ClassVar[str] = "experiment"


Statement = (
    Identity
    | Inequality
    | OneStep
    | Bound
    | Invariant
    | Limit
    | Eventually
    | Readings
    | ParameterRule
    | Order
    | CompressorClass
    | Stays
    | Reached
    | Agreement
    | Fails
    | Experiment
    | Untested
)


def changed(statement: Statement, changes: Mapping[str, Any]) -> Statement:
    """The statement with some parts replaced.

    ``factor``, ``bound``, ``algorithm``, ``omega``, ``left``, ``right`` ... are the statement's own field names;
    ``bound`` overrides the whole right-hand side of a :class:`Bound`. ``ValueError`` names the fields there are.
    """
    fields = dict(changes)
    if isinstance(statement, Bound):
        parts = {"factor", "constant", "initial"} & set(fields)
        if parts and (statement.override is not None or "bound" in fields):
            raise ValueError(f"{min(parts)} has no place in a bound that is given as a whole")
        if "bound" in fields:
            fields["override"] = fields.pop("bound")
    if isinstance(statement, OneStep) and "factor" in fields:
        if statement.factor is None:
            raise ValueError("this statement is not a contraction and has no factor: change right instead")
        if "right" in fields:
            raise ValueError("the factor has no place beside a right side that is given as a whole")
        if statement.factor == 0:
            raise ValueError("a factor of 0 leaves no potential for another one: change right instead")
        fields["right"] = statement.right / statement.factor * expression("factor", fields["factor"])
    elif isinstance(statement, OneStep) and {"left", "right"} & set(fields):
        # The sides are no longer a potential and a multiple of it.
        fields["factor"] = None
    known = [f.name for f in fields_of(statement) if f.name != "override"]
    unknown = [name for name in changes if name not in (*known, "bound")]
    if unknown or ("bound" in changes and not isinstance(statement, Bound)):
        name = unknown[0] if unknown else "bound"
        raise ValueError(f"a statement of kind {statement.kind} has no part {name!r}: it has {', '.join(known)}")
    if isinstance(statement, CompressorClass) and isinstance(fields.get("compressor"), Compressor):
        fixed: Compressor = fields["compressor"]
        fields["compressor"] = lambda d, k: fixed
    return replace(statement, **fields)
