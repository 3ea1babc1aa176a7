"""Proofs for all parameters and every number of clients, that run.

A certificate consists of identities: right side - left side = sum of multiplier * (something known to be >= 0), with
multipliers in closed form. ``check`` poses the claim anew, expands the identities to zero with sympy and derives the
sign of every multiplier from the claim's own hypotheses. What is taken from the algorithm and from the potentials is a
model of them, which is compared exactly with their code, on generic instances and on those where a constant is at the
end of its range; and each assumption that the proof uses must be one that the claim makes: an instance that breaks it
must not meet the hypotheses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from itertools import chain, islice
from types import FunctionType
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.one_step import OneStep
from verify.base.case import Case
from verify.base.evaluate import meets_grounds
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.exact import reals
from verify.methods.base import Inquiry, Method
from verify.pep import class_induction, posing
from verify.proofs import identity
from verify.proofs.identity import GapInequality, IdentityWeights, StepModel, Unprovable
from verify.reading import whole

#: Instances without special constants on which model and code are compared, besides those with them.
INSTANCES = 3
#: Numbers of clients beyond those, at which they are compared too.
CLIENTS = (7, 12)

#: The models of steps, which settings ask for by their names: a leaf, which no module imports.
_MODELS = "verify.step_models"


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved by a certificate that was checked; otherwise nothing is known."""
    try:
        with attributed(inquiry.claim):
            proof = prove(inquiry.claim)
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")
    if proof is None:
        return method.skipped(f"left open: no known identity shows {inquiry.claim.id}")
    if undefined := reals.unreal(inquiry.claim):
        return method.skipped(undefined)
    note = "an identity with nonnegative multipliers, for all parameters and every number of clients; "
    note += f"the code does not look at them, and is what is proved at {proof.compared}"
    return method.found(Verdict.PROVED, note, used=("symbolic",))


def _model_of(claim: Claim) -> StepModel | None:
    """Return the model of a step that the claim's setting names, or None."""
    hints = claim.setting.hints.identities
    if hints is None:
        return None
    models: Mapping[str, StepModel] = import_module(_MODELS).MODELS
    return models.get(hints.model)


@dataclass(frozen=True)
class SymbolicCertificate:
    """A proof of ``claim``: the weights of each identity, by its name; ``compared``: where code and model were."""

    claim: Claim
    weights: Mapping[str, IdentityWeights]
    compared: str = ""

    def check(self) -> bool:
        """Return True if the proof holds; everything but the weights is derived again from the claim."""
        try:
            return _proves(self.claim, [posed for posed, _ in pose(self.claim)], self.weights) is not None
        except Unprovable:
            return False


def prove(claim: Claim) -> SymbolicCertificate | None:
    """A certificate that was checked, or None, which says nothing about the claim."""
    try:
        posed = pose(claim)
        weights = {p.name: w for p, w in posed}
        compared = _proves(claim, [p for p, _ in posed], weights)
        return None if compared is None else SymbolicCertificate(claim, weights, compared)
    except Unprovable:
        return None


def _proves(claim: Claim, posed: list[GapInequality], weights: Mapping[str, IdentityWeights]) -> str | None:
    """On what code and model were compared, if the weights prove what is posed; None if they do not."""
    if {p.name for p in posed} != set(weights) or not all(weights[p.name].prove(p, claim) for p in posed):
        return None
    return _compare(claim)


def pose(claim: Claim) -> list[tuple[GapInequality, IdentityWeights]]:
    """The inequalities to show, each with its proof. Raise ``Unprovable`` if none is known."""
    model = _model_of(claim)
    if getattr(getattr(claim.statement, "algorithm", None), "schedules", None):
        raise Unprovable(f"no identities are known for parameters of {claim.id} that vary with the round")
    if model is None:
        raise Unprovable(f"no proofs are known in the setting of {claim.id}")
    statement: Any = claim.statement
    if any(c.relation != "<=" for c in getattr(statement, "comparisons", ())) or getattr(statement, "also", False):
        raise Unprovable(f"{claim.id} is more than a chain of non-strict inequalities")
    return list(model.pose(claim))


def _closed(case: Case) -> bool:
    return class_induction.applies(case.claim) or posing.closed(case)


def _compare_at(case: Case, model: StepModel) -> None:
    constants, values = model.constants(case.instance), case.letters
    for letter, meaning in identity.identities_of(case.claim).letters.items():
        if letter not in constants or meaning.subs(values) != sympy.sympify(constants[letter]):
            raise Unprovable(f"{letter} of {case.claim.id} is not what the proof assumes it to be")
    name = model.differs(case.claim, case.instance)
    if name is not None:
        raise Unprovable(f"{name} of {case.claim.id} is not what the proof assumes it to be")
    try:
        posing.check_read(case)
    except ValueError as error:
        raise Unprovable(str(error)) from error
    if case.statement.horizon and not _closed(case):
        raise Unprovable(f"a step of {case.claim.id} leaves the states that the proof covers")


def _compare(claim: Claim) -> str:
    """On what code and model were compared.

    Raise ``Unprovable`` if the code is not what the proof assumes it to be, or an assumption is not the claim's.
    """
    model = _model_of(claim)
    assert model is not None
    grounds = identity.identities_of(claim).grounds
    # Functions that agree where they are compared may differ elsewhere, and a closure may be built to do so.
    if name := whole.foreign(claim):
        raise Unprovable(f"{name} of {claim.id} is not all code of this package's theory")
    if held := [ground.text for ground in grounds if _holds_values(ground.met)]:
        raise Unprovable(f"the code of the hypothesis {held[0]!r} is not accepted as a ground of a proof")
    seen: list[Instance] = []
    for instance in islice(model.instances(claim), INSTANCES):
        case = Case.of(claim, instance)
        _compare_at(case, model)
        seen.append(instance)
        for assumption, broken in model.outside(claim, instance):
            if any(meets_grounds(case.with_instance(one), grounds) for one in (broken, _restored(case, broken))):
                raise Unprovable(f"{claim.id} does not assume {assumption}")
    for instance in chain(model.larger(claim, CLIENTS), model.special(claim)):
        _compare_at(Case.of(claim, instance), model)
        seen.append(instance)
    return _range(claim, seen)


def _restored(case: Case, broken: Instance) -> Instance:
    """An instance that was broken, with the parameters that the hypotheses compute of others computed anew.

    One that the breaking itself set stays as it is.
    """
    params: Any = broken.params
    for hypothesis in case.claim.requires:
        if not isinstance(hypothesis.relation, sympy.Eq):
            continue
        for letter in hypothesis.relation.free_symbols:
            name = str(letter)
            values = case.setting.bind(broken.problem, params)
            if name not in getattr(params, "_fields", ()) or values.get(letter) != getattr(params, name):
                continue
            if getattr(case.params, name, None) != getattr(params, name):
                continue
            found = sympy.solve(hypothesis.relation.subs({k: v for k, v in values.items() if k != letter}), letter)
            if len(found) == 1 and found[0].is_Rational:
                params = params._replace(**{name: Fraction(int(found[0].p), int(found[0].q))})
    return replace(broken, params=params)


def _holds_values(function: Any) -> bool:
    if function is None:
        return False
    return type(function) is not FunctionType or bool(function.__closure__ or function.__defaults__)


def _range(claim: Claim, seen: list[Instance]) -> str:
    """Numbers of clients, and the least and largest values of the letters."""
    clients = ", ".join(map(str, sorted({instance.problem.n for instance in seen})))
    values = [claim.setting.bind(instance.problem, instance.params) for instance in seen]
    spans = []
    for letter in values[0]:
        numbers = [float(v[letter]) for v in values if isinstance(v.get(letter), int | Fraction)]
        if numbers and str(letter) not in ("n", "N", "d"):
            spans.append(f"{letter} in [{min(numbers):.3g}, {max(numbers):.3g}]")
    return f"n = {clients}" + (f", {', '.join(spans)}" if spans else "")


METHOD = Method(
    "identities with multipliers",
    "the whole class, in all dimensions, at all parameters and numbers of clients",
    (OneStep, Bound, Inequality, Invariant),
    run,
)
