"""A claim as a semidefinite program: its own algorithm, run on vectors known only by their inner products.

The instance is derived from the setting as the numerical ones are: the same chart about the same fixed point, with new
rows for its increments; the classes of the setting answer as oracles of :mod:`verify.pep.interpolation` and
:mod:`verify.pep.oracles`. The algorithm's ``step`` and the statement's quantities run on them unchanged, with every
draw enumerated, and leave both sides as forms. Nothing of a method is transcribed here, so a changed algorithm gives a
changed program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.classes import (
    Adversary,
    BlockSmoothConvex,
    BoundedNoise,
    ContractiveCompressors,
    Delays,
    InexactOracles,
    MixingMatrix,
    NoisyGradients,
    UnbiasedCompressors,
)
from fedtheory.classes.base import each
from fedtheory.instances import Instance
from fedtheory.kinds.invariant import Invariant
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.blocks import Blocks
from fedtheory.problems.optimum import Optimum
from fedtheory.sampling.chart import StateChart, skeleton, started, untied
from fedtheory.sampling.outside import outside
from fedtheory.settings import Setting
from fedtheory.settings.relations import Quantity
from verify.base.case import Case
from verify.base.evaluate import meets_grounds, params_after, rollout
from verify.comparisons.deciding import may_agree
from verify.pep import adversaries
from verify.pep.blocks import InBlocks
from verify.pep.gram import ZERO, Form, row, scalar, value
from verify.pep.interpolation import Dual, Formal, Majorised, OfClass, Record, repeated, rows, rows_of_sum_zero
from verify.pep.oracles import Compressors, Contractions, Coordinates, InexactOracle, Messages
from verify.pep.programs import Constraint
from verify.reading import whole


def batch(a: Array) -> Array:
    """The two leading axes of a state: one instance, one draw."""
    return a[None, None]


def posable(setting: Setting) -> bool:
    """Return True if worst cases over the class of a setting can be posed."""
    of = setting.functions
    other = of is not None and (of.quadratics or of.operators or of.sets or of.coupled or of.reference)
    return setting.drawing.special is None and setting.algorithm is not None and not other


def pose(setting: Setting, given: Instance, anything: bool = False) -> Formal:
    """The formal instance with the class, the number of clients and the parameters of an exact instance.

    With ``anything`` nothing is known of the functions.

    Raise ``ValueError`` if the setting has no formal instance.
    """
    if not posable(setting):
        raise ValueError(f"no worst case over a class is known for the setting {setting.text!r}")
    if setting.functions is None:
        return _of_points(setting, given)
    formal = _with_states(setting, given, _functions(setting, given, anything))
    if not anything:
        return formal
    others = tuple(part for part in formal.others if not hasattr(part, "gradient"))
    return formal._replace(records=(), others=others)


# Functions


def _functions(setting: Setting, given: Instance, anything: bool) -> Formal:
    """The formal problem, its states still to come."""
    problem, params, of = given.problem, given.params, setting.functions
    assert of is not None
    n = problem.n
    mu, L = of.curvatures(problem, params)
    if anything:
        # A class of one function has its answers built in.
        mu = mu - 1
    if min(mu) == -math.inf and (setting.hints.coordinates or not setting.centred):
        raise ValueError(f"of functions {of.text} no worst case is known where they are of parts or of variables each")
    if isinstance(of, BlockSmoothConvex):
        return _in_blocks(setting, of, given, mu, anything)
    if setting.hints.coordinates:
        return _in_parts(setting, given, mu, L)
    if not setting.centred:
        return _separate(setting, given, mu, L)
    x_star = row("x*")
    with_g = problem.g is not None
    y_star = (rows("y*", n) if with_g else rows_of_sum_zero("y*", n)).view(Majorised)
    declared = problem.declared or (problem.mu, problem.L)
    if of.conjugates:
        record = Record("f*", 1 / L, 1 / mu, y_star, repeated(x_star, n))
        return _formal(setting, given, Dual(record, mu, L), None, declared, x_star, y_star, (record,), (y_star,))
    record = Record("f", mu, L, repeated(x_star, n), y_star, steepest=of.steepest(problem, params))
    # The formulas of the average hold where it is least at x*.
    functions = OfClass(record, average=of.average(problem, params) if setting.optimum == "consensus" else None)
    if not with_g:
        others = (functions, y_star) if functions.average is not None else (y_star,)
        return _formal(setting, given, functions, None, declared, x_star, y_star, (record,), others)
    slope = -y_star.sum(axis=0, keepdims=True) / n
    low, high = (each(end, 1) for end in of.curvatures_of_g(problem, params))
    of_g = Record("g", low, high, repeated(x_star, 1), slope)
    return _formal(setting, given, functions, OfClass(of_g), declared, x_star, y_star, (record, of_g), (y_star,))


def _separate(setting: Setting, given: Instance, mu: Array, L: Array) -> Formal:
    """Functions of a variable each: with the optimum over the x of sum zero, or with nothing known of one."""
    known, n, multiplier = setting.optimum == "sum zero", given.problem.n, row("multiplier")
    origin = rows_of_sum_zero("x*", n) if known else repeated(ZERO, n)
    slope = repeated(multiplier if known else ZERO, n)
    record = Record("h", mu, L, origin, slope, anchored=known)
    functions = OfClass(record, multiplier if known else None)
    declared = (given.problem.mu, max(L))
    return _formal(setting, given, functions, None, declared, ZERO, slope, (record,))


def _in_parts(setting: Setting, given: Instance, mu: Array, L: Array) -> Formal:
    """Vectors in as many parts as the instance has coordinates, because the method draws coordinates.

    Nothing depends on d for such a method itself: step and potential are sums over coordinates, so that an expectation
    involves the draws of one coordinate at a time. A step that mixes coordinates is not read.
    """
    optimum = _optimum_in_parts(given.problem.n, given.problem.d)
    functions: Any = Coordinates(mu, L, optimum.x, optimum.y)
    formal = Problem(functions, None, (given.problem.mu, given.problem.L), optimum)
    return Formal(replace(given, problem=formal), others=(functions,), loose=setting.functions.loose)  # type: ignore[union-attr]


def _optimum_in_parts(n: int, parts: int) -> Optimum:
    x = np.concatenate([rows(f"x* part {j}", 1)[0] for j in range(parts)])
    y = np.concatenate([rows_of_sum_zero(f"y* part {j}", n) for j in range(parts)], axis=1)
    return Optimum(x, y, 0.0)


def _in_blocks(setting: Setting, of: BlockSmoothConvex, given: Instance, mu: Array, anything: bool) -> Formal:
    """Vectors in one part for each block of coordinates. That no block is longer than its part, code may not tell: it
    treats all coordinates alike, but for the block that they are in (:mod:`verify.reading.whole`)."""
    if setting.adversaries or setting.hints.coordinates:
        raise ValueError(f"of functions {of.text} no worst case is known where there is more that is drawn")
    if min(mu) < 0 and not anything:
        raise ValueError(f"of functions {of.text} no worst case is known where they need not be convex")
    L = tuple(Fraction(v) for v in of.along(given.problem))
    optimum = _optimum_in_parts(given.problem.n, len(L))
    functions: Any = InBlocks(L, optimum.x, optimum.y)
    blocks = Blocks((1,) * len(L), L)
    formal = Problem(functions, None, (given.problem.mu, given.problem.L), optimum, blocks)
    return Formal(replace(given, problem=formal), others=(functions,), loose=True)


def _formal(
    setting: Setting,
    given: Instance,
    f: Any,
    g: Any,
    declared: tuple[Any, ...],
    x_star: Any,
    y_star: Array,
    records: tuple[Record, ...],
    others: tuple[Any, ...] = (),
) -> Formal:
    problem = Problem(f, g, declared, Optimum(np.array([x_star], dtype=object), y_star, 0.0))
    assert setting.functions is not None
    return Formal(replace(given, problem=problem), records, others=others, loose=setting.functions.loose)


# Compressors, oracles, states


def _with_adversaries(setting: Setting, given: Instance, formal: Formal, n: int) -> Formal:
    """The formal instance with the parameters of the given one, its compressors and oracles any of their classes."""
    params = given.params
    one: Any
    for adversary in setting.adversaries:
        used = getattr(params, adversary.field)
        if isinstance(adversary, UnbiasedCompressors):
            # A claim may drop that the omega given to the method is that of the compressors.
            omega = max(getattr(params, "omega", used.omega), used.omega)
            joint = used.joint if adversary.independent else "shared"
            one = Compressors(n, omega, used.omega_av, used.joint) if adversary.average else Messages(n, omega, joint)
            formal = formal._replace(others=(*formal.others, one))
        elif isinstance(adversary, NoisyGradients):
            allowed = max(used.variance, adversary.variance(params))
            one = Messages(n, Fraction(0), used.joint if adversary.independent else "shared", allowed)
            formal = formal._replace(others=(*formal.others, one))
        elif isinstance(adversary, BoundedNoise):
            one = adversaries.BoundedNoise(n, used.joint if adversary.independent else "shared")
            formal = formal._replace(others=(*formal.others, one))
        elif isinstance(adversary, ContractiveCompressors):
            one = Contractions(min(params.alpha, used.alpha))
            formal = formal._replace(others=(*formal.others, one))
        elif isinstance(adversary, Adversary):
            one = adversaries.FreeAnswers(adversary.field)
            formal = formal._replace(others=(*formal.others, one))
        elif isinstance(adversary, MixingMatrix | Delays):
            of = "mixing matrices" if isinstance(adversary, MixingMatrix) else "delays"
            raise ValueError(f"no worst case over {of} {adversary.field} is known")
        else:
            assert isinstance(adversary, InexactOracles)
            one = InexactOracle(adversary.delta(given.problem, params))
            formal = formal._replace(oracle=one)
        params = params._replace(**{adversary.field: one})
    return formal._replace(instance=replace(formal.instance, params=params))


def _of_points(setting: Setting, given: Instance) -> Formal:
    """A setting without functions: any points, about the origin."""
    space, _ = given.at(np.zeros((1, given.dimension), dtype=int))
    algorithm = setting.algorithm
    assert algorithm is not None and space is None
    n = getattr(given.params, "n", None) or given.params.compressors.n
    formal = _with_adversaries(setting, given, Formal(replace(given, problem=None)), n)
    about = skeleton(algorithm, n, given.params, False)

    def at(theta: Array) -> tuple[Any, Any]:
        return None, started(algorithm, None, formal.instance.params, about.parts(_increments(about, 1)))

    return formal._replace(instance=replace(formal.instance, at=at, dimension=0))


def _increments(about: StateChart, d: int) -> Array:
    """New rows for the free blocks of a chart, ``(1, 1, free blocks, d)``."""
    names = [f"{name}_{k}" for name, count in about.rows.items() for k in range(count or 1)]
    parts = [""] if d == 1 else [f" part {j}" for j in range(d)]
    found = np.array([[row(names[block] + part) for part in parts] for block in about.free], dtype=object)
    return batch(found.reshape(len(about.free), d))


class _Known:
    """The known properties of a setting's states: forms that are at most 0."""

    def __init__(self) -> None:
        self.forms: tuple[Any, ...] = ()

    def constraints(self) -> Iterator[Constraint]:
        for index, form in enumerate(self.forms):
            yield Constraint(f"known[{index}]", scalar(form), lambda: "the setting says so of all its states")


def _with_states(setting: Setting, given: Instance, formal: Formal) -> Formal:
    algorithm, n = setting.algorithm, given.problem.n
    assert algorithm is not None
    formal = _with_adversaries(setting, given, formal, n)
    problem, params = formal.instance.problem, formal.instance.params
    bones = skeleton(algorithm, n, given.params, given.problem.g is not None)
    about = replace(bones, fixed=algorithm.fixed_point(problem, params))
    for record in formal.records:
        # What the fixed point asked at the reference points is known anyway, and would be counted as a point; but a
        # subgradient there is an answer of its own.
        for L, known in zip(record.L, record.asked, strict=True):
            if L < math.inf:
                known.pop(ZERO.key, None)
    facts = _Known()
    stale = untied(algorithm, bones, n, given.params, given.problem.g is not None)

    def at(theta: Array) -> tuple[Any, Any]:
        state = started(algorithm, problem, params, about.parts(_increments(about, problem.d)))
        # What init computes and the invariant does not fix may be anything later on: clients that sat out hold an
        # old model, say.
        free = {name: _anything(name, np.shape(getattr(bones.fixed, name)), problem.d) for name in stale}
        shaped = _shaped(state._replace(**free), bones.fixed)
        if setting.hints.known is not None:
            facts.forms = tuple(np.asarray(setting.hints.known(problem, params, shaped)).ravel())
        return problem, shaped

    def some(theta: Array) -> tuple[Any, Any]:
        parts = about.parts(_increments(about, problem.d))
        state = started(algorithm, problem, params, {name: parts[name] for name in setting.drawing.start})
        return problem, _shaped(state, bones.fixed)

    initial = at if setting.drawing.start and set(setting.drawing.start) == set(about.rows) else some
    instance = replace(formal.instance, at=at, initial=initial, dimension=0, coordinates=None, around=None)
    return formal._replace(instance=instance, others=(*formal.others, facts))


def _anything(name: str, shape: tuple[int, ...], d: int) -> Array:
    if not shape:
        return np.array([[value(name)]], dtype=object)
    count = shape[-2] if len(shape) > 1 else 1
    made = [[row(f"{name}_{i}" + (f" part {j}" if d > 1 else "")) for j in range(d)] for i in range(count)]
    found = np.array(made, dtype=object).reshape(count, d)
    return batch(found if len(shape) > 1 else found[0])


def _shaped(state: Any, fixed: Any) -> Any:
    """The state with the axes of one instance and one draw; zeros to start from are vectors too."""

    def field(a: Any, b: Any) -> Array:
        a = np.asarray(a)
        if np.ndim(b) and a.dtype != object:
            a = a.astype(object) + ZERO if not a.any() else a
        return a if a.ndim == np.ndim(b) + 2 else np.broadcast_to(a, (1, 1, *a.shape))

    return type(state)(*(field(a, b) for a, b in zip(state, fixed, strict=True)))


# Potentials


def potential(claim: Claim) -> Quantity:
    """The potential through which a bound for every T, or a one-step inequality, is shown.

    For a bound it is the one that contracts in the setting, where one is declared. Otherwise it is the left side, if
    the right side involves the same function of the state. Raise ``ValueError`` if there is none.
    """
    statement = claim.statement
    (side, _, _), *_ = statement.comparisons
    declared: Quantity | None = claim.setting.potential
    if statement.horizon and declared is not None:
        return declared
    for left in statement.quantities:
        if left.expression == side and any(q is not left and q.of is left.of for q in statement.quantities):
            return left
    if declared is None:
        raise ValueError(f"no potential is known through which {claim.id} could be shown: give its setting one")
    return declared


# The hypotheses, and the invariants of a step


def closed(case: Case) -> bool:
    """Return True if a step maps every posed state to a posed state, so that results on one step apply to all.

    The residuals are those of the setting's own algorithm, not those that the claim's declares. That the step treats
    coordinates alike is for :func:`check_read` to say.
    """
    assert case.setting.algorithm is not None
    invariant = case.setting.algorithm.invariant
    if invariant is None:
        return True
    kept = Invariant(case.statement.algorithm, invariant, "")
    return _vanishes_later(case.with_claim(replace(case.claim, statement=kept)))


def preserved(case: Case) -> bool:
    """Return True if a step preserves an invariant for every function of the class, in every dimension, for every draw.

    The residual after a step from formal vectors that satisfy it must vanish identically; parameters are those given.
    Raise ``ValueError`` if the code is not read.
    """
    check_read(case)
    return _vanishes_later(case)


def _vanishes_later(case: Case) -> bool:
    posed = case.with_instance(pose(case.setting, case.instance).instance)
    later, _ = rollout(posed, *posed.instance.at(np.zeros((1, 0))), 1)
    params = params_after(posed, posed.problem, 1)
    assert case.statement.residual is not None
    residual = np.asarray(case.statement.residual(posed.problem, params, later))
    if not residual.size:
        raise ValueError(f"the residual of {case.claim.id} has no entries: nothing is claimed to vanish")
    return all(map(_is_nothing, residual.flat))


def _is_nothing(value: Any) -> bool:
    """Return True if a number, a formal vector or a form is 0."""
    if isinstance(value, Form):
        return not any((*value.entries.values(), *value.values.values(), value.constant))
    return bool(value == 0) if isinstance(value, int | np.integer | Fraction) else not value.coefficients


def check_read(case: Case) -> None:
    """Raise ``ValueError`` unless all that runs of a claim is read at the parameters of an instance.

    What is found of it on formal vectors, which have one entry, holds in every dimension only then.
    """
    why = whole.unread(case)
    if why:
        raise ValueError(f"the code of {case.claim.id} is not read: {why}")


def any_functions(case: Case) -> bool:
    """Return True if the claim's hypotheses allow arbitrary functions, beyond the class that is posed.

    Raise ``ValueError`` if they allow compressors or oracles beyond those posed. A member that breaks the class must
    break a hypothesis, unless it changes the letters of the statement. The instance given must meet the hypotheses.
    """
    letters = case.letters
    posed = pose(case.setting, case.instance).instance
    parts = [] if case.setting.functions is None else [(case.setting.functions, posed.problem)]
    allowed = [
        name
        for part, known in (*parts, *((adversary, posed.params) for adversary in case.setting.adversaries))
        for name, problem, params in outside(part, case.problem, case.params, known)
        if may_agree(case.setting.bind(problem, params), letters)
        and meets_grounds(case.with_instance(replace(case.instance, problem=problem, params=params)))
    ]
    for name in allowed:
        if not name.endswith("functions"):
            raise ValueError(f"the hypotheses of {case.claim.id} allow {name} than those posed")
    return bool(allowed)
