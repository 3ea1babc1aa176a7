"""Code that mixes coordinates has no certificate and no proof, although formal vectors have one entry."""

from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import compressed_scaffnew, diana, feddcd, locodl, rbcd
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.symbols import d as dimension
from fedtheory.papers.feddcd import dual, inexact
from fedtheory.randomness import Bernoulli, Product, UniformSubset
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.evidence.record import strongest
from verify.methods import METHODS, PROOFS, identities
from verify.methods.base import Inquiry, examined
from verify.pep import certifying, coordinates, posing

LOCODL = claims.get("locodl/theorem-3.1/one-step")
EQ_3 = claims.get("feddcd/theorem-4.1/eq-3")
RATE = claims.get("feddcd/lemma-B.8/rate/repaired")
DIANA = claims.get("baseline/diana/one-step")
INEXACT = claims.get("feddcd/theorem-5.2/eq-8/repaired")
SCAFFNEW = claims.get("baseline/compressed-scaffnew/one-step")
FEASIBLE = claims.get("feddcd/algorithm-1/feasibility")


def instances(claim, count=1, wanted=lambda recipe: len(recipe.get("clients", ())) <= 3):
    recipes = filter(wanted, claim.instances.recipes(np.random.default_rng(0)))
    return [instance for _, instance in islice(meeting(claim, recipes), count)]


def mixing(claim, instance, sizes=coordinates.SIZES):
    return coordinates.mixing(claim, lambda: posing.pose(claim.setting, instance).instance, sizes)


def with_step(claim, step):
    return claim.variant(algorithm=replace(claim.statement.algorithm, step=step))


def with_quantity(claim, old, of):
    """The claim with another function of the state in the place of ``old``."""
    changed = tuple(replace(q, of=of) if q.of is old else q for q in claim.statement.quantities)
    return replace(claim, id=claim.id + "*", statement=replace(claim.statement, quantities=changed))


POSED = [
    claim
    for claim in claims.all()
    if posing.posable(claim.setting) and isinstance(claim.statement, OneStep | Bound | Inequality | Invariant)
]


@pytest.mark.parametrize("claim", POSED, ids=lambda claim: claim.id)
def test_registered_claims_treat_coordinates_alike(claim):
    posing.check_coordinates(claim, *instances(claim))


#: A claim of each setting.
ABOUT = list({id(claim.setting): claim for claim in reversed(POSED)}.values())


@pytest.mark.parametrize("claim", ABOUT, ids=lambda claim: claim.id)
def test_potentials_and_invariants_of_the_settings_treat_coordinates_alike(claim):
    setting, x = claim.setting, sympy.Symbol("x")
    # A method that draws coordinates is posed in as many parts as there are: here it has one.
    recipes = (lambda r: r["d"] == 1) if setting.hints.coordinates else (lambda r: len(r.get("clients", ())) <= 3)
    (instance,) = instances(claim, wanted=recipes)
    potentials = (*setting.hints.basis, *([] if setting.potential is None else [setting.potential]))
    for quantity in (*potentials, *(Quantity(x, of) for of in setting.hints.lyapunov)):
        single = Inequality(quantity.expression, sympy.S.Zero, (replace(quantity, after=False),))
        assert mixing(replace(claim, statement=single), instance) is None
    if setting.algorithm.invariant is not None:
        invariant = Invariant(setting.algorithm, setting.algorithm.invariant, "")
        assert mixing(replace(claim, statement=invariant), instance) is None


# Planted errors: all of them do nothing to vectors with one entry.

MIXES = {
    "reversed": lambda x: x[..., ::-1],
    "sorted": lambda x: np.sort(x, axis=-1),
    "summed up": lambda x: np.cumsum(x, axis=-1),
    "the first": lambda x: x[..., :1] + 0 * x,
    "the largest": lambda x: x.max(axis=-1, keepdims=True) + 0 * x,
    "with its deviation from the mean": lambda x: 2 * x - x.sum(axis=-1, keepdims=True) / x.shape[-1],
    "divided": lambda x: x / x.shape[-1],
    "shifted by two": lambda x: np.roll(x, 2, axis=-1),
    "cut off": lambda x: np.concatenate([x[..., :3], 0 * x[..., 3:]], axis=-1),
    "one alone": lambda x: x * np.where(np.arange(x.shape[-1]) == 1, 2, 1),
}
STEPS = (
    (LOCODL, locodl, "x"),
    (LOCODL, locodl, "v"),
    (EQ_3, feddcd, "y"),
    (RATE, rbcd, "x"),
    (DIANA, diana, "h"),
    (DIANA, diana, "x"),
)


def after(module, name, change):
    """The step of a method, one field of whose state is then changed."""

    def step(problem, params, state, draw):
        new = module.step(problem, params, state, draw)
        return new._replace(**{name: change(getattr(new, name))})

    return step


def asked(module, change):
    """The step of a method that asks for gradients at other points."""

    def step(problem, params, state, draw):
        f = SimpleNamespace(n=problem.n, d=problem.d, gradient=lambda x: problem.f.gradient(change(x)))
        return module.step(replace(problem, f=f), params, state, draw)

    return step


PLANTED = {
    **{
        f"{claim.setting.algorithm.name}, {field} {how}": with_step(claim, after(module, field, change))
        for claim, module, field in STEPS
        for how, change in MIXES.items()
    },
    **{
        f"{claim.setting.algorithm.name}, asked {how}": with_step(claim, asked(module, MIXES[how]))
        for claim, module in ((LOCODL, locodl), (DIANA, diana), (RATE, rbcd))
        for how in ("reversed", "divided", "cut off")
    },
}


@pytest.mark.parametrize("name", PLANTED)
def test_steps_that_mix_coordinates_have_no_certificate(name):
    claim = PLANTED[name]
    (instance,) = instances(claim)
    # What it does to one entry is right.
    assert mixing(claim, instance, sizes=()) is None
    with pytest.raises(ValueError, match=r"does not treat all coordinates alike: .* in [25] dimensions"):
        certifying.certify(claim, instance)


def shown(claim, recipe):
    """What the methods that show a claim find at one choice of the parameters."""
    return tuple(examined(Inquiry(claim, given=(recipe,), methods=METHODS), PROOFS))


@pytest.mark.parametrize("name", ["locodl, v sorted", "feddcd, y summed up", "rbcd, x the first", "diana, h divided"])
def test_it_is_this_check_that_finds_them(name, monkeypatch):
    claim = PLANTED[name]
    recipe, _ = next(meeting(claim, claim.instances.recipes(np.random.default_rng(0))))
    found = shown(claim, recipe)
    assert strongest(found) is None and any("does not treat all coordinates alike" in o.note for o in found)
    monkeypatch.setattr(posing, "check_coordinates", lambda *given: None)
    best = strongest(shown(claim, recipe))
    assert best is not None and best.verdict in (Verdict.PROVED, Verdict.CERTIFIED)


QUANTITIES = {
    "square of the sum": lambda x: x.sum(axis=-1) ** 2,
    "first coordinate": lambda x: x[..., 0] ** 2,
    "along the wrong axis": lambda x: (x[..., None, :] ** 2).sum(axis=-2)[..., 0],
    "mean": lambda x: (x**2).sum(axis=-1) / x.shape[-1],
    "neighbours": lambda x: (x * x[..., ::-1]).sum(axis=-1),
}


@pytest.mark.parametrize("name", QUANTITIES)
def test_quantities_that_mix_coordinates_have_no_certificate(name):
    Psi = DIANA.statement.quantities[0].of

    def of(problem, params, state):
        right = ((state.x - problem.x_star) ** 2).sum(axis=-1)
        return Psi(problem, params, state) - right + QUANTITIES[name](state.x - problem.x_star)

    claim = with_quantity(DIANA, Psi, of)
    (instance,) = instances(claim)
    assert mixing(claim, instance, sizes=()) is None
    with pytest.raises(ValueError, match="alike: the quantity Psi"):
        certifying.certify(claim, instance)


def test_a_potential_of_feddcd_that_mixes_coordinates_has_no_proof():
    def first_client(problem, params, state):
        return dual.dual_gap(problem, params, replace_y(state, state.y[..., :1] + 0 * state.y))

    def replace_y(state, y):
        return state._replace(y=y)

    claim = with_quantity(EQ_3, dual.dual_gap, first_client)
    assert mixing(claim, *instances(claim), sizes=()) is None
    assert identities.prove(claim) is None
    with pytest.raises(ValueError, match="alike"):
        certifying.certify(claim, *instances(claim))


def test_a_maximum_over_the_clients_is_seen_through():
    eq_5 = claims.get("feddcd/theorem-4.1/eq-5")

    def wrong(problem, params, state):
        return (problem.y_star.sum(axis=-1) ** 2).max(axis=-1)

    claim = with_quantity(eq_5, dual.heterogeneity, wrong)
    assert mixing(eq_5, *instances(eq_5)) is None and mixing(claim, *instances(claim), sizes=()) is None
    assert "zeta" in mixing(claim, *instances(claim))
    assert identities.prove(eq_5) is not None and identities.prove(claim) is None


def test_a_side_that_depends_on_the_dimension_is_not_certified():
    smaller = LOCODL.variant(factor=LOCODL.statement.factor * 2 / (1 + dimension))
    assert mixing(smaller, *instances(smaller)) == "the letter d, in 2 dimensions"
    with pytest.raises(ValueError, match="the letter d"):
        certifying.certify(smaller, *instances(smaller))


def test_draws_that_depend_on_the_dimension():
    def coins(problem, params, state):
        return Product(locodl.Coins, (Bernoulli(params.p / problem.d), params.compressors.draws))

    def more(problem, params, state):
        return UniformSubset(problem.n, min(params.tau + problem.d - 1, problem.n))

    rare = LOCODL.variant(algorithm=replace(locodl.algorithm, draws=coins))
    assert mixing(rare, *instances(rare, wanted=lambda r: r["p"] < 1)) is not None
    rare = claims.get("locodl/theorem-3.1/eq-5").variant(algorithm=rare.statement.algorithm)
    assert mixing(rare, *instances(rare, wanted=lambda r: r["p"] < 1)) == "what it draws, in 2 dimensions"
    many = EQ_3.variant(algorithm=replace(feddcd.algorithm, draws=more))
    assert mixing(many, *instances(many, wanted=lambda r: r["tau"] < len(r["clients"]))) is not None


def test_invariants():
    def leaves(problem, params, state, draw):
        new = feddcd.step(problem, params, state, draw)
        return new._replace(y=new.y + (new.w[..., ::-1] - new.w))

    (instance,) = instances(FEASIBLE)
    assert posing.preserved(FEASIBLE, instance)
    with pytest.raises(ValueError, match="alike"):
        posing.preserved(with_step(FEASIBLE, leaves), instance)
    of_one = replace(FEASIBLE.statement, residual=lambda problem, params, state: state.y.sum(axis=-2)[..., :1])
    with pytest.raises(ValueError, match="alike: the residual of the invariant"):
        posing.preserved(replace(FEASIBLE, statement=of_one), instance)


def test_inductions_ask_as_well():
    def step(problem, params, state, draw):
        new = inexact.tracked.step(problem, params, state, draw)
        return new._replace(w=new.w[..., ::-1])

    claim = INEXACT.variant(algorithm=replace(inexact.tracked, step=step))
    with pytest.raises(ValueError, match="alike: the state's w"):
        certifying.certify(claim, *instances(claim))
    assert identities.prove(claim) is None


@pytest.mark.parametrize("change", [MIXES["reversed"], MIXES["the first"], MIXES["cut off"]])
def test_a_method_that_draws_coordinates(change):
    claim = with_step(SCAFFNEW, after(compressed_scaffnew, "x", change))
    for d in (1, 2):
        (instance,) = instances(SCAFFNEW, wanted=lambda r, d=d: len(r["clients"]) == 3 and r["d"] == d)
        assert certifying.certify(SCAFFNEW, instance).verdict is Verdict.CERTIFIED
        with pytest.raises(ValueError, match="alike"):
            certifying.certify(claim, instance)


def test_an_invariant_of_a_method_that_draws_coordinates():
    balanced = claims.get("baseline/compressed-scaffnew/invariant")

    def step(problem, params, state, draw):
        new = compressed_scaffnew.step(problem, params, state, draw)
        return new._replace(h=new.h + (new.x[..., ::-1] - new.x))

    (instance,) = instances(balanced, wanted=lambda r: len(r["clients"]) == 3 and r["d"] == 1)
    assert posing.preserved(balanced, instance)
    with pytest.raises(ValueError, match="alike: the residual of the invariant"):
        posing.preserved(with_step(balanced, step), instance)


def test_mixing_at_one_value_of_a_parameter_only():
    def step(problem, params, state, draw):
        new = locodl.step(problem, params, state, draw)
        return new._replace(x=new.x[..., ::-1]) if params.p == 1 else new

    claim = with_step(LOCODL, step)
    assert identities.prove(claim) is None
    (often,), (rarely,) = (instances(claim, wanted=lambda r, p=p: (r["p"] == 1) == p) for p in (True, False))
    with pytest.raises(ValueError, match="alike"):
        certifying.certify(claim, often)
    # What is right elsewhere is right there only, which a certificate does not say.
    with pytest.raises(ValueError, match=r"is one case: .* has a condition"):
        certifying.certify(claim, rarely)


# The same in other words


def piecewise(problem, params, state, draw):
    new = locodl.step(problem, params, state, draw)
    halves = [new.x[..., :1], new.x[..., 1:]]
    return new._replace(x=np.concatenate(halves, axis=-1), u=new.u[..., ::-1][..., ::-1])


def by_name(problem, params, state, draw):
    gradient = problem.f.gradient(x=state.x)
    new = locodl.step(problem, params, state, draw)
    return new._replace(x=new.x + gradient - problem.f.gradient(state.x))


@pytest.mark.parametrize("step", [piecewise, by_name])
def test_the_same_step_in_other_words_is_certified(step):
    claim = with_step(LOCODL, step)
    (instance,) = instances(claim)
    assert certifying.certify(claim, instance).verdict is Verdict.CERTIFIED


def test_a_proof_survives_other_words():
    assert identities.prove(with_step(LOCODL, piecewise)) is not None


def test_what_fails_on_formal_vectors_fails_as_before():
    def step(problem, params, state, draw):
        return locodl.step(problem, params, locodl.step(problem, params, state, draw), draw)

    claim = with_step(LOCODL, step)
    (instance,) = instances(claim, wanted=lambda r: r["omega"] and len(r["clients"]) == 2)
    with pytest.raises(ValueError, match="at a compressed point"):
        certifying.certify(claim, instance)
