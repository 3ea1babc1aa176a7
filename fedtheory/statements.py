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
from fedtheory.relations import Relation, Term, side
from fedtheory.symbols import T


@dataclass(frozen=True)
class Quantity(Term):
    """A number or array that a statement speaks of; a term of the relations in which it is stated.

    ``expression``: the symbol (or its square) that stands for it, or its name. ``of(problem, params, state)``: its
    value, over the leading axes of the state. ``after``: whether it is taken after the step (or after T rounds) rather
    than before; then its expectation is meant. ``domain(problem, params, state)``: residuals that must vanish for the
    quantity to be finite (a dual objective is +infinity off its constraint set), or None.
    """

    expression: sympy.Expr
    of: Callable[[Any, Any, Any], Array]
    after: bool = False
    domain: Callable[[Problem, Any, Any], Array] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.expression, str):
            object.__setattr__(self, "expression", sympy.Symbol(self.expression))


class Comparison(NamedTuple):
    """left relation right, with the relation one of "==", "<=", "<"."""

    left: sympy.Expr
    relation: str
    right: sympy.Expr


@dataclass(frozen=True)
class Identity:
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
class Inequality:
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
    return Inequality(relation.left.expression, relation.right.expression, relation.quantities, strict=relation.strict)


def identity(left: Any, right: Any) -> Identity:
    """left == right, each a quantity or what is composed of some."""
    stated = Relation(side(left), side(right))
    return Identity(stated.left.expression, stated.right.expression, stated.quantities)


@dataclass(frozen=True)
class OneStep:
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

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What is compared: each left side, relation and right side."""
        return (Comparison(self.left, "<" if self.strict else "<=", self.right),)


def contracts(
    algorithm: Algorithm,
    potential: Callable[[Problem, Any, Any], Array],
    factor: Any,
    noise: Mapping[Callable[[Problem, Any, Any], Array], Any] | None = None,
) -> OneStep:
    """E[potential after] <= factor * potential before + sum of coefficient * quantity, for functions of (problem,
    params, state); ``noise``: the coefficients."""
    before, after = Quantity("V", potential), Quantity("V_next", potential, after=True)
    if not noise:
        return contraction(algorithm, after, sympy.sympify(factor), before)
    others = {Quantity(of.__name__, of): sympy.sympify(c) for of, c in noise.items()}
    right = sympy.sympify(factor) * before.expression + sum(c * q.expression for q, c in others.items())
    return OneStep(algorithm, after.expression, right, (before, after, *others))


def contraction(algorithm: Algorithm, after: Quantity, factor: sympy.Expr, before: Quantity) -> OneStep:
    """E[after] <= factor * before."""
    return OneStep(algorithm, after.expression, factor * before.expression, (after, before), factor)


def one_step(algorithm: Algorithm, relation: Relation) -> OneStep:
    """The inequality over one step that is written so: ``one_step(method, E(Psi_next) <= (1 - rho) * Psi)``.

    It is a contraction where the right side is a multiple of a single quantity.
    """
    left, right = relation.left, relation.right
    before = [q.expression for q in right.quantities if not q.after]
    alone = (
        len(relation.quantities) == 2
        and len(before) == 1
        and left.expression in [q.expression for q in left.quantities]
    )
    factor = right.expression / before[0] if alone else None
    if factor is not None and factor.has(before[0]):
        factor = None
    return OneStep(algorithm, left.expression, right.expression, relation.quantities, factor, relation.strict)


@dataclass(frozen=True)
class Bound:
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
    left, right = relation.left.expression, relation.right.expression
    as_a_whole = Bound(algorithm, left, sympy.S.One, right, relation.quantities, override=right, strict=relation.strict)
    initial_of = {s for q in relation.right.quantities for s in q.expression.free_symbols}
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
class Invariant:
    """A residual that is zero before a step is zero after it, whatever is drawn."""

    algorithm: Algorithm
    residual: Callable[[Problem, Any, Any], Array]
    text: str
    kind: ClassVar[str] = "invariant"


@dataclass(frozen=True)
class Limit:
    """The potential tends to 0 almost surely, from every state that satisfies the algorithm's invariant."""

    algorithm: Algorithm
    potential: Quantity
    text: str
    kind: ClassVar[str] = "limit"


@dataclass(frozen=True)
class ParameterRule:
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
class Order:
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
class Untested:
    """A statement that no computation here decides: a cited order, or an experiment on data that are not there.

    ``text``: the statement; ``reason``: why it is not tested. ``kind`` is the claim's own.
    """

    text: str
    reason: str
    kind: ClassVar[str] = "untested"


@dataclass(frozen=True)
class Eventually:
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
class Readings:
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
class CompressorClass:
    """A compressor is unbiased, in U(omega) for the omega printed, and its message has the bits printed.

    ``compressor(d, k)`` builds it; ``omega`` and ``bits`` are expressions in ``d`` and ``k``.
    """

    compressor: Callable[[int, int], Compressor]
    omega: sympy.Expr
    bits: sympy.Expr
    d: sympy.Symbol
    k: sympy.Symbol
    kind: ClassVar[str] = "compressor"


@dataclass(frozen=True)
class Stays:
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
class Reached:
    """After ``rounds`` rounds E[potential] <= ``share`` * (potential at the start), from every state of the setting.

    ``share`` 0: the optimum itself is reached.
    """

    algorithm: Algorithm
    potential: Callable[[Any, Any, Any], Array]
    rounds: int = 1
    share: sympy.Expr = sympy.S.Zero
    kind: ClassVar[str] = "rounds"

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What is compared: each left side, relation and right side."""
        relation = "==" if self.share == 0 else "<="
        return (Comparison(sympy.Symbol("V_T"), relation, self.share * sympy.Symbol("V_0")),)


@dataclass(frozen=True)
class Agreement:
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
class Fails:
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
class Experiment:
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


def _expression(name: str, value: Any) -> sympy.Expr:
    try:
        found = sympy.sympify(value, strict=True)
    except sympy.SympifyError as error:
        raise ValueError(f"{name} must be a sympy expression or a number, got {value!r}") from error
    if not isinstance(found, sympy.Expr):
        raise ValueError(f"{name} must be a sympy expression or a number, got {value!r}")
    return found


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
        fields["right"] = statement.right / statement.factor * _expression("factor", fields["factor"])
    elif isinstance(statement, OneStep) and {"left", "right"} & set(fields):
        # The sides are no longer a potential and a multiple of it.
        fields["factor"] = None
    known = [f.name for f in fields_of(statement) if f.name != "override"]
    unknown = [name for name in changes if name not in (*known, "bound")]
    if unknown or ("bound" in changes and not isinstance(statement, Bound)):
        name = unknown[0] if unknown else "bound"
        raise ValueError(f"a statement of kind {statement.kind} has no part {name!r}: it has {', '.join(known)}")
    for name in ("factor", "left", "right", "override", "omega", "bits", "constant", "initial", "middle"):
        if name in fields and (name not in ("middle", "factor") or fields[name] is not None):
            fields[name] = _expression(name, fields[name])
    if isinstance(statement, CompressorClass) and isinstance(fields.get("compressor"), Compressor):
        fixed: Compressor = fields["compressor"]
        fields["compressor"] = lambda d, k: fixed
    return replace(statement, **fields)
