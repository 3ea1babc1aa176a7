"""Claims that follow from others: the rules, one by one, and that no planted error is derived."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import fedadmm
from fedtheory.algorithms.selections import Fixed, Uniform
from fedtheory.claims import Claim
from fedtheory.instances import Instances
from fedtheory.kinds.base import Statement
from fedtheory.kinds.inequality import Inequality
from fedtheory.meanings import BoundedBelow, Coercive, Everywhere, Isolated, Lipschitz, Recurs
from fedtheory.papers.fedadmm import convergence, descent, differences, iterates, limits, sequences, transition
from fedtheory.papers.fedadmm.letters import nu_i
from fedtheory.papers.fedadmm.transition import IDLE, ITERATION, TRANSITION
from fedtheory.settings import Drawing
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Root
from fedtheory.settings.relations import Quantity
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.derivation import for_all, obligations, rules, runs
from verify.derivation.facts import known, term
from verify.derivation.rules import VANISHES
from verify.evidence.record import Evidence
from verify.methods import METHODS, derivation
from verify.methods.base import Inquiry, Method

COROLLARY = claims.get("fedadmm/lemma-C.2/c")
LEMMA = claims.get("fedadmm/lemma-4.1/with-step-condition")
METHOD = derivation.METHOD
V, V_NEXT = descent.LYAPUNOV, descent.LYAPUNOV_NEXT
MOVED, SERVER = descent.MOVED, descent.SERVER


def _says(verdict):
    """Examines a premise in no time."""
    return (Method("says", "", (Statement,), lambda method, _: method.found(verdict, "said")),)


def _derive(claim, verdict=Verdict.SUPPORTED):
    return METHOD.run(METHOD, Inquiry(claim, 0, 10, methods=_says(verdict)))


def _premises(changes=(), dropped=()):
    """The premises of the corollary, some of them changed (by the ends of their ids) or dropped."""
    _, found = derivation._premises(COROLLARY)
    kept = [p for p in found if not p.claim.id.endswith(tuple(dropped) or ("none",))]
    changed = dict(changes)
    return tuple(
        replace(p, claim=next((c for end, c in changed.items() if p.claim.id.endswith(end)), p.claim)) for p in kept
    )


def _vanish(premises, assumed=COROLLARY.requires):
    """Names of the quantities of the corollary that the rules derive, at the constants of one client."""
    (recipe,) = _constants(1)
    instance = LEMMA.instances.build(recipe, True)
    values = TRANSITION.bind(instance.problem, instance.params)
    found = rules.derive(ITERATION, assumed, [k for p in premises for k in known(p.claim, values, p.case, 0)])
    return [str(q.expression) for q in COROLLARY.statement.vanishing if found.holds(VANISHES, term(q.of, 0))]


def _constants(clients):
    found = derivation._constants(ITERATION, COROLLARY, _premises(), clients, np.random.default_rng(0))
    return [next(found)]


ALL = [str(q.expression) for q in COROLLARY.statement.vanishing]
LOCAL, SERVERS = "|w_i^{k+1}-w_i^k|", "|w^{tau_{k+1}}-w^{tau_k}|"


# The rules


def test_all_of_the_corollary_is_derived():
    assert _vanish(_premises()) == ALL


def test_what_each_premise_is_needed_for():
    without = {
        end: set(ALL) - set(_vanish(_premises(dropped=(end,)))) for end in ("/below", "C.1/c", "/share", "/idle")
    }
    assert without["/share"] >= {LOCAL} and SERVERS not in without["/share"]
    assert without["/below"] == set(ALL) - {"eps_i^{k+1}"}
    assert "|pi_i^{k+1}-pi_i^k|" in without["C.1/c"] and LOCAL not in without["C.1/c"]
    assert without["/idle"] == {"|w_i^{k+1}-w^{tau_{k+1}}|"}


def _descent(left, right, quantities=descent.OF_ANY):
    return replace(LEMMA, id="own/lemma-4.1/with-step-condition", statement=Inequality(left, right, quantities))


def _is_not_decrease(lemma):
    return not {LOCAL, SERVERS} & set(_vanish(_premises({"with-step-condition": lemma})))


def test_coefficients_of_the_wrong_sign_are_no_decrease():
    moved, server = MOVED.expression, SERVER.expression
    assert not _is_not_decrease(_descent((moved + server) / 10, V - V_NEXT))
    assert _is_not_decrease(_descent(-(moved + server) / 10, V - V_NEXT))
    assert _is_not_decrease(_descent((moved - server) / 10, V - V_NEXT))
    assert _is_not_decrease(_descent((moved + server) / 10, V_NEXT - V))


def test_the_potential_is_one_function_before_and_after():
    assert _is_not_decrease(_descent((MOVED.expression + SERVER.expression) / 10, V - V_NEXT + descent.LYAPUNOV / 100))
    other = transition.at("L^{k+1}", iterates.objective, later=True)
    quantities = tuple(other if q.expression == other.expression else q for q in descent.OF_ANY)
    assert _is_not_decrease(_descent((MOVED.expression + SERVER.expression) / 10, V - V_NEXT, quantities))


def test_a_potential_that_nothing_bounds_below_gives_no_limit():
    assumed = tuple(h for h in COROLLARY.requires if h is not limits.COERCIVE)
    assert _vanish(_premises(), assumed) == ["eps_i^{k+1}"]
    below = claims.get("fedadmm/lemma-C.2/c/below")
    turned = replace(below, statement=replace(below.statement, left=below.statement.right, right=below.statement.left))
    assert _vanish(_premises({"/below": turned})) == ["eps_i^{k+1}"]


def test_without_selections_that_recur_accuracies_need_not_vanish():
    assumed = tuple(h for h in COROLLARY.requires if h is not limits.SCHEME)
    assert "eps_i^{k+1}" not in _vanish(_premises(), assumed)
    always = Hypothesis("everybody rests again and again", says=(Recurs(IDLE),))
    assert "eps_i^{k+1}" not in _vanish(_premises(), (*assumed, always))


def test_recurrence_needs_a_factor_below_one_and_the_idle_case():
    accuracy, idle = (claims.get(f"fedadmm/lemma-C.2/c/{name}") for name in ("accuracy", "accuracy-idle"))
    now = descent.ACCURACY.expression
    same = replace(accuracy, statement=replace(accuracy.statement, right=now))
    grows = replace(idle, statement=replace(idle.statement, right=2 * now))
    for premises in (
        _premises({"c/accuracy": same}),
        _premises({"accuracy-idle": grows}),
        _premises(dropped=("-idle",)),
    ):
        assert "eps_i^{k+1}" not in _vanish(premises)


def test_what_is_not_linear_is_refused():
    square = _descent(MOVED.expression**2, V - V_NEXT)
    with pytest.raises(ValueError, match="linear in its quantities"):
        _vanish(_premises({"with-step-condition": square}))


# Premises


def test_a_premise_of_another_setting_is_refused():
    other = replace(COROLLARY, follows=("fedadmm/lemma-4.1/with-step-condition", "fedadmm/lemma-C.2/b"))
    found = _derive(other)
    assert found.verdict is None and "another setting" in found.note


def test_a_premise_that_assumes_more_is_refused():
    def under(factor):
        requires = tuple(transition.step_condition(factor) if h is transition.STEP else h for h in COROLLARY.requires)
        return replace(COROLLARY, requires=requires)

    found = _derive(under(2))
    assert found.verdict is None and "which is not assumed" in found.note
    iteration, _ = derivation._premises(under(4))
    assert iteration is ITERATION


@pytest.mark.parametrize("verdict", [Verdict.REFUTED, Verdict.ILL_POSED, Verdict.NOT_TESTED])
def test_a_corollary_falls_with_its_premise(verdict):
    found = _derive(COROLLARY, verdict)
    assert found.verdict is None and found.note.startswith("falls with fedadmm/lemma-4.1/with-step-condition")


def test_premises_whose_verdict_is_known_are_not_examined_again(monkeypatch):
    def examined(claim, *_):
        raise AssertionError(claim.id)

    monkeypatch.setattr(derivation, "_examined_once", examined)
    monkeypatch.setattr(derivation, "_proved", lambda method, *_: method.skipped("derived"))
    known = {premise.claim.id: Verdict.SUPPORTED for premise in _premises()}
    assert METHOD.run(METHOD, Inquiry(COROLLARY, 0, 10, known=known)).note == "derived"
    with pytest.raises(AssertionError, match=LEMMA.id):
        METHOD.run(METHOD, Inquiry(COROLLARY, 0, 10))
    fallen = {**known, LEMMA.id: Verdict.REFUTED}
    found = METHOD.run(METHOD, Inquiry(COROLLARY, 0, 10, known=fallen))
    assert found.note == f"falls with {LEMMA.id}, which is refuted"


def test_an_audit_knows_the_verdicts_of_registered_claims_that_were_found(monkeypatch):
    auditing, given = import_module("verify.audit"), {}

    def checked(claim, seed, budget, known, rechecking):
        given[claim.id] = dict(known)
        return Evidence(claim, Verdict.SUPPORTED, None, (), 0, note=auditing.FAILED if "C.1" in claim.id else "")

    monkeypatch.setattr(auditing, "_checked", checked)
    changed = LEMMA.variant(left=LEMMA.statement.comparisons[0].left * 2)
    forged = replace(changed, id="fedadmm/eq-31")
    auditing.audit([COROLLARY, LEMMA, claims.get("fedadmm/lemma-C.1/c"), forged])
    assert given[LEMMA.id] == {} and given[COROLLARY.id] == {LEMMA.id: Verdict.SUPPORTED}


def test_claims_do_not_follow_from_themselves():
    found = _derive(replace(COROLLARY, follows=(COROLLARY.id,)))
    assert found.verdict is None and "would follow from itself" in found.note
    theorem = claims.get("fedadmm/theorem-4.1/a")
    found = _derive(replace(COROLLARY, follows=(theorem.id,)))
    assert found.verdict is None and "would follow from itself" in found.note


def test_kinds_of_which_no_rule_speaks_are_why():
    found = _derive(replace(LEMMA, follows=(LEMMA.id,)))
    assert found.verdict is None and "no rule" in found.note


# Iterations


def test_a_function_of_the_state_knows_nothing_of_what_is_drawn():
    (recipe,) = _constants(1)
    instance = LEMMA.instances.build(recipe, True)
    problem, point = instance.at(np.zeros((1, instance.dimension)))
    of = At(ITERATION, lambda problem, params, at: at.eps * params.begins)
    with pytest.raises(TypeError):
        of(problem, instance.params, point)


def test_iterations_that_do_not_keep_what_they_rest_on_are_seen():
    kept = replace(ITERATION, kept=lambda problem, params, at: ITERATION.kept(problem, params, at) + at.eps)
    assert for_all.unshown(tuple(obligations.own(ITERATION, ()))) == ""
    assert for_all.unshown(tuple(obligations.own(kept, ()))).startswith("what-is-kept: ")


# Runs


def _recipe(**changes):
    found = (r for r in COROLLARY.instances.recipes(np.random.default_rng(1)) if r["m"] == 2 and r["scheme"])
    return {**next(found), "kind": "bent", "zero": 0, "declared": Fraction(1), "factor": Fraction(3), **changes}


def _with(**changes):
    return replace(COROLLARY, statement=replace(COROLLARY.statement, iteration=replace(ITERATION, **changes)))


def test_iterations_of_runs_are_those_of_the_setting():
    assert runs.differs(Case(COROLLARY, _recipe(k0=2)), 0, 5) == ""


def test_iterations_that_are_not_those_of_the_run_are_seen():
    def every_other(problem, params, state, draw):
        return list(ITERATION.of_step(problem, params, state, draw))[::2]

    def backwards(problem, params, state, draw):
        return list(ITERATION.of_step(problem, params, state, draw))[::-1]

    for of_step in (every_other, backwards):
        assert runs.differs(Case(_with(of_step=of_step), _recipe(k0=2)), 0, 3)


def test_a_start_that_breaks_what_is_kept_is_seen():
    assert "does not preserve" in runs.differs(Case(COROLLARY, _recipe(zero=1, eps=Fraction(1, 10**6))), 0, 3)


def test_clients_that_are_never_selected_are_seen():
    def build(recipe, exact):
        instance = limits.LONG_RUNS.build(recipe, exact)
        one = Fixed(np.array([[True, False]]))
        return replace(instance, params=instance.params._replace(selection=one))

    setting = replace(limits.LONG, drawing=Drawing(special=Instances(limits.LONG_RUNS.recipes, build)))
    claim = replace(COROLLARY, setting=setting)
    assert "infinitely often" in runs.differs(Case(claim, _recipe()), 0, 5)


# The claim


@pytest.mark.slow
def test_differences_vanish_whatever_is_drawn():
    found = METHOD.run(METHOD, Inquiry(COROLLARY, 0, 160, methods=METHODS))
    assert found.verdict is Verdict.PROVED and "summable decrease" in found.note
    assert not found.left_open


def _all_letters(claim, verdict=Verdict.PROVED):
    """What is proved of a claim whose premises all have the verdict."""
    _, premises = derivation._premises(claim)
    inquiry = Inquiry(claim, 0, 10, methods=METHODS)
    return derivation._proved(METHOD, inquiry, premises, {p.claim.id: verdict for p in premises}, 5)


TOLERANCES = claims.get("fedadmm/lemma-C.1/d")


def test_what_follows_from_what_is_proved_is_proved():
    found = _all_letters(TOLERANCES)
    assert found.verdict is Verdict.PROVED and "every number of clients" in found.note


@pytest.mark.parametrize("verdict", [Verdict.CERTIFIED, Verdict.SUPPORTED])
def test_what_is_no_proof_gives_none(verdict):
    with pytest.raises(ValueError, match="and not proved"):
        _all_letters(TOLERANCES, verdict)


def test_a_factor_that_may_be_one_is_not_below_one(monkeypatch):
    monkeypatch.setitem(vars(ITERATION), "limits", ())
    with pytest.raises(ValueError, match="not known of all letters"):
        for_all.derived(TOLERANCES, derivation._premises(TOLERANCES)[1])


def test_limits_that_constants_do_not_meet_are_seen(monkeypatch):
    monkeypatch.setitem(vars(ITERATION), "limits", (sympy.Lt(nu_i, sympy.Rational(1, 100)),))
    _, premises = derivation._premises(TOLERANCES)
    with pytest.raises(ValueError, match="outside their stated limits"):
        obligations.missing(TOLERANCES, premises, _constants(1)[0])


def test_code_of_somebodys_own_is_not_seen_to_be_that_of_all_runs():
    quantity = replace(TOLERANCES.statement.vanishing[0], of=lambda problem, params, state: state.eps)
    assert for_all.foreign(TOLERANCES, (), ITERATION) == ""
    own = replace(TOLERANCES, statement=replace(TOLERANCES.statement, vanishing=(quantity,)))
    assert for_all.foreign(own, (), ITERATION) == "<lambda>"
    assert derivation._own_code(TOLERANCES, (), ITERATION) == ""
    assert "<lambda> may know of which" in derivation._own_code(own, (), ITERATION)
    hypothesis = Hypothesis("as one likes", met=lambda problem, params: True)
    assert for_all.foreign(replace(TOLERANCES, requires=(hypothesis,)), (), ITERATION) == "<lambda>"


def test_what_a_derivation_rests_on_is_shown_for_all_letters():
    moved, *_ = COROLLARY.statement.vanishing[1:]
    of = moved.of.of if isinstance(moved.of, Root) else moved.of
    (nonnegative, *_) = obligations.own(ITERATION, [of])
    assert for_all.unshown([nonnegative]) == ""
    x = sympy.Symbol("x", real=True)
    negative = Inequality(x, sympy.S.Zero, (Quantity(x, of),))
    assert for_all.unshown([replace(nonnegative, statement=negative)]) != ""


def test_own_claims_are_examined_too():
    own = Claim("own/limit", setting=COROLLARY.setting, statement=COROLLARY.statement, follows=(LEMMA.id,))
    found = _derive(own)
    assert found.verdict is None and "which is not assumed" in found.note


# Other conclusions

THEOREMS = ["theorem-4.1/a", "theorem-4.1/b", "theorem-4.1/c", "theorem-4.1/c/server", "theorem-4.2/a", "theorem-4.2/b"]
COROLLARIES = ["corollary-4.1/a", "corollary-4.1/b", "corollary-4.1/c"]


def _missing(claim, dropped="none", clients=2):
    """What is not derived of a claim at constants, without the premises whose ids end so."""
    iteration, premises = derivation._premises(claim)
    left = tuple(p for p in premises if not p.claim.id.endswith(dropped))
    recipes = derivation._constants(iteration, claim, left, clients, np.random.default_rng(0))
    return obligations.missing(claim, left, next(recipes))


def _without(claim, *hypotheses):
    return replace(claim, requires=tuple(h for h in claim.requires if h not in hypotheses))


@pytest.mark.parametrize("id", [*THEOREMS, *COROLLARIES])
@pytest.mark.parametrize("clients", [1, 2])
def test_all_that_the_theorems_say_is_derived(id, clients):
    assert _missing(claims.get(f"fedadmm/{id}"), clients=clients) == ""


@pytest.mark.parametrize(
    ("id", "premise", "missing"),
    [
        ("theorem-4.1/a", "a/models", "|w_i^k|"),
        ("theorem-4.1/a", "a/multipliers", "|pi_i^k|"),
        ("theorem-4.1/a", "a/origin", "|pi_i^k|"),
        ("theorem-4.1/a", "with-step-condition", "|w^{tau_k}|"),
        ("theorem-4.1/b", "b/coupling", "L^k-F(W^k)"),
        ("theorem-4.1/b", "b/couplings", "L^k-F(W^k)"),
        ("theorem-4.1/b", "a/gradients", "F(W^k)-f(w^{tau_k})"),
        ("theorem-4.1/b", "b/excess", "F(W^k)-f(w^{tau_k})"),
        ("theorem-4.1/b", "b/difference", "f(w^{tau_k})"),
        ("theorem-4.1/b", "b/tolerance", "f(w^{tau_k})"),
        ("theorem-4.1/c", "c/begins", "|sum_i(g_i^k)|"),
        ("theorem-4.1/c", "c/continues", "|sum_i(g_i^k)|"),
        ("theorem-4.1/c", "c/spread", "|sum_i(g_i^k)|"),
        ("theorem-4.1/c/server", "c/turn", "|grad_f(w^{tau_k})|"),
        ("theorem-4.2/a", "a/residual", "|alpha_i*grad_f_i(w_i^k)+pi_i^k|"),
        ("theorem-4.2/b", "c/share-server", "w^{tau_k}"),
        ("theorem-4.2/b", "c/idle", "w_i^k"),
        ("theorem-4.2/b", "a/residual", "pi_i^k"),
        ("corollary-4.1/a", "c/gradient", "L^k-f*"),
        ("corollary-4.1/c", "a/residual", "|pi_i^k-pi_i*|"),
    ],
)
def test_premises_without_which_a_theorem_does_not_follow(id, premise, missing):
    assert _missing(claims.get(f"fedadmm/{id}"), premise) == missing


@pytest.mark.parametrize(
    ("id", "hypothesis"),
    [(id, h) for id in [*THEOREMS, *COROLLARIES[:2]] for h in (limits.COERCIVE, limits.SCHEME)]
    + [("corollary-4.1/a", limits.CONVEX), ("corollary-4.1/b", limits.CONVEX)]
    + [("theorem-4.2/b", convergence.ISOLATED), ("corollary-4.1/c", limits.STRONG), ("corollary-4.1/c", limits.SCHEME)],
)
def test_hypotheses_without_which_a_theorem_does_not_follow(id, hypothesis):
    assert _missing(_without(claims.get(f"fedadmm/{id}"), hypothesis))


def test_what_is_bounded_below_only_need_not_be_bounded():
    # exp(-w) on the line: along its runs values converge, and models go to infinity.
    below = Hypothesis("f is bounded below", says=(BoundedBelow(iterates.objective),))
    theorem = claims.get("fedadmm/theorem-4.1/a")
    weaker = replace(theorem, requires=(*(h for h in theorem.requires if h is not limits.COERCIVE), below))
    assert _missing(weaker) == "|w^{tau_k}|"
    # Lemma C.2 c and the gradients ask for no more.
    gradients = claims.get("fedadmm/theorem-4.1/c/server")
    weaker = replace(gradients, requires=(*(h for h in gradients.requires if h is not limits.COERCIVE), below))
    assert _missing(weaker) == ""


def test_nothing_says_that_the_whole_sequence_converges():
    theorem = claims.get("fedadmm/theorem-4.1/b")
    for quantity in (sequences.SERVER_SQUARED, sequences.MODEL_SQUARED, sequences.MULTIPLIER_SQUARED):
        statement = replace(theorem.statement, vanishing=(), converging=(quantity,))
        assert _missing(replace(theorem, statement=statement)) == str(quantity.expression)
    for quantity in (
        sequences.LAGRANGIAN,
        sequences.SERVER_SQUARED,
        sequences.MULTIPLIER_SQUARED,
        sequences.SLOPE_SQUARED,
        descent.OBJECTIVE,
    ):
        statement = replace(theorem.statement, vanishing=(quantity,), converging=())
        assert _missing(replace(theorem, statement=statement)) == str(quantity.expression)


# What hypotheses are said to mean


def _saying(id, *meanings):
    claim = claims.get(f"fedadmm/{id}")
    return replace(claim, requires=(*claim.requires, Hypothesis("said", says=meanings)))


def _differs(claim, **changes):
    return runs.differs(Case(claim, _recipe(**changes)), 0, 3)


def test_meanings_that_hold_are_seen_to():
    assert _differs(claims.get("fedadmm/corollary-4.1/c"), kind="strong") == ""


def test_inequalities_that_a_hypothesis_does_not_mean_are_seen():
    above, towards = limits.ABOVE, limits.TOWARDS
    turned = Everywhere(Inequality(towards.expression, above.expression, (above, towards)))
    assert "the meaning of a hypothesis" in _differs(_saying("corollary-4.1/a", turned), kind="strong")
    less = Everywhere(Inequality(above.expression, sympy.S.Zero, (above,)))
    assert "the meaning of a hypothesis" in _differs(_saying("corollary-4.1/a", less), kind="strong")


def test_functions_that_are_not_coercive_in_their_point_are_seen():
    objective, server = iterates.objective, iterates.server_model
    assert _differs(_saying("theorem-4.1/a", Coercive(objective, server))) == ""
    for wrong in (
        Coercive(iterates.lagrangian, server),
        Coercive(objective, iterates.multipliers),
        Coercive(lambda *at: -objective(*at), server),
        Coercive(lambda *at: objective(*at) * 0, server),
    ):
        assert "coercive" in _differs(_saying("theorem-4.1/a", wrong))


def test_maps_that_are_not_lipschitz_are_seen():
    constant = transition.SMOOTH.says[0].constant
    for wrong in (
        Lipschitz(lambda problem, params, u: u**2, constant),
        Lipschitz(iterates.steepest, lambda problem, params: constant(problem, params) / 1000),
        Lipschitz(lambda problem, params, u: constant(problem, params)[:, None] / 2 * (u + u[..., ::-1, :]), constant),
    ):
        assert "Lipschitz" in _differs(_saying("theorem-4.1/a", wrong))


def test_moves_of_another_vector_are_seen():
    move = differences.SERVER_MOVE.of
    assert _differs(_saying("theorem-4.1/a", Isolated(iterates.server_model, move))) == ""
    for wrong in (
        Isolated(iterates.server_model, lambda *at: 2 * move(*at)),
        Isolated(iterates.models, move),
        Isolated(iterates.multipliers, move),
    ):
        assert "change of a vector" in _differs(_saying("theorem-4.1/a", wrong))


def test_cases_that_do_not_recur_are_seen():
    turned = tuple(pair[::-1] for pair in ITERATION.recurring)
    assert "recur" in runs.differs(Case(_with(recurring=turned), _recipe(k0=1)), 0, 3)


def test_functions_that_are_not_bounded_below_are_seen():
    objective, server = iterates.objective, iterates.server_model
    assert _differs(_saying("theorem-4.1/a", BoundedBelow(objective))) == ""
    for wrong in (
        lambda *at: -objective(*at),
        lambda problem, params, at: server(problem, params, at)[..., 0],
        lambda problem, params, at: -np.log(1 + (server(problem, params, at) ** 2).sum(axis=-1)),
    ):
        assert "bounded below" in _differs(_saying("theorem-4.1/a", BoundedBelow(wrong)))


def test_functions_that_grow_in_one_direction_only_are_seen():
    def of_one_side(problem, params, at):
        return iterates.server_model(problem, params, at).sum(axis=-1)

    wrong = Coercive(of_one_side, iterates.server_model)
    assert "coercive" in _differs(_saying("theorem-4.1/a", wrong))


# Runs of which the iterations are not all: seen whatever their premises are


def _why(claim):
    """Why the iterations are not those of the runs of a claim; empty where they are."""
    try:
        derivation._compared(claim, 0, np.random.default_rng(0), derivation._RUNS)
    except ValueError as error:
        return str(error)
    return ""


THEOREM = claims.get("fedadmm/theorem-4.1/a")


def test_without_the_start_the_first_state_may_be_none_of_the_setting():
    assert "does not preserve" in _why(_without(THEOREM, limits.START))


@pytest.mark.parametrize(
    ("hypothesis", "why"), [(limits.SCHEME, "infinitely often"), (limits.COERCIVE, "declared coercive")]
)
def test_hypotheses_that_few_instances_break_are_seen_to_mean_too_much(hypothesis, why):
    met = replace(hypothesis, met=lambda problem, params: True)
    requires = tuple(met if h is hypothesis else h for h in COROLLARY.requires)
    assert why in _why(replace(COROLLARY, requires=requires))


def test_independent_selections_leave_somebody_out_for_as_long_as_one_likes():
    def build(recipe, exact):
        instance = limits.LONG_RUNS.build(recipe, exact)
        uniform = Uniform(recipe["m"], recipe["m"] - 1, 3)
        return replace(instance, params=instance.params._replace(selection=uniform))

    setting = replace(limits.LONG, drawing=Drawing(special=Instances(limits.LONG_RUNS.recipes, build)))
    again = Hypothesis("everybody is selected again and again", says=limits.SCHEME.says)
    requires = tuple(again if h is limits.SCHEME else h for h in COROLLARY.requires)
    assert "infinitely often" in _why(replace(COROLLARY, setting=setting, requires=requires))


def _diverging(clients):
    def step(problem, params, state, draw):
        after = fedadmm.step(problem, params, state, draw)
        return after if problem.n < clients else after._replace(w=2 * after.w + 1)

    return THEOREM.variant(algorithm=replace(fedadmm.algorithm, step=step))


@pytest.mark.parametrize("clients", [1, 3, 4])
def test_methods_that_diverge_are_seen_whatever_the_number_of_clients(clients):
    assert "do not end where the step ends" in _why(_diverging(clients))


def test_constants_of_which_the_setting_does_not_speak_are_seen():
    # With nu_i = 1 accuracies stay as they are.
    def build(recipe, exact):
        instance = limits.LONG_RUNS.build(recipe, exact)
        return replace(instance, params=instance.params._replace(nu=np.ones(recipe["m"])))

    setting = replace(limits.LONG, drawing=Drawing(special=Instances(limits.LONG_RUNS.recipes, build)))
    assert "constants of a run" in _why(replace(COROLLARY, setting=setting))


def test_what_is_derived_at_some_constants_only_is_left_open():
    # A number of the constants, which is 0 unless sigma_i < 4 alpha_i r_i for some i.
    def excess(problem, params, at):
        return np.maximum(4 * params.alpha * params.r / params.sigma - 1, 0)

    now, then = (transition.at(f"x{late}", excess, late, each=True) for late in (False, True))
    right = sympy.Max(0, 8 * transition.ratio - 2) * now.expression
    part = Claim("own/excess", setting=TRANSITION, statement=Inequality(then.expression, right, (now, then)))
    claims.register([part])
    statement = replace(THEOREM.statement, bounded=(), vanishing=(now,))
    claim = replace(THEOREM, id="own/limit", statement=statement, follows=(*THEOREM.follows, part.id))
    found = _derive(claim, Verdict.PROVED)
    assert found.verdict is None and "left open" in found.note


def test_quantities_that_need_not_be_finite_are_refused():
    (first, *_) = THEOREM.statement.bounded
    odd = replace(first, domain=lambda problem, params, at: at.w)
    found = _derive(replace(THEOREM, statement=replace(THEOREM.statement, bounded=(odd,))))
    assert found.verdict is None and "need not be finite" in found.note


def test_what_is_shown_is_of_the_code_as_it_is(monkeypatch):
    own = tuple(obligations.own(ITERATION, ()))
    assert for_all.unshown(own) == ""
    update = fedadmm.local_update

    def keeps(*given):
        after = update(*given)
        return after._replace(Pi=after.Pi - after.W)

    monkeypatch.setattr(fedadmm, "local_update", keeps)
    with pytest.raises(ValueError, match="variable number of arguments"):
        for_all.unshown(own)
    monkeypatch.undo()
    assert for_all.unshown(own) == ""


# A method that departs from its iterations in a region only

LIMIT = claims.get("fedadmm/theorem-4.1/a")
REGIONS = {
    "n >= 6": lambda problem, params: problem.n >= 6,
    "n = 5": lambda problem, params: problem.n == 5,
    "d >= 3": lambda problem, params: problem.d >= 3,
    "k_0 >= 3": lambda problem, params: params.k0 >= 3,
    "s_0 >= 4": lambda problem, params: params.selection.rounds >= 4,
    "0.6 < nu < 0.7": lambda problem, params: bool(((params.nu > 0.6) & (params.nu < 0.7)).any()),
    "eps < 1e-3": lambda problem, params: bool((params.eps < 1e-3).any()),
    "sigma > 5 alpha r": lambda problem, params: params.ratio < 0.2,
}


def _departs(there):
    method = LIMIT.statement.algorithm

    def step(problem, params, state, draw):
        new = method.step(problem, params, state, draw)
        return new._replace(w=3 * new.w + 1) if there(problem, params, state) else new

    return LIMIT.variant(algorithm=replace(method, step=step))


@pytest.mark.parametrize("name", REGIONS)
def test_a_method_that_departs_in_a_region_is_not_that_of_the_iterations(name):
    here = REGIONS[name]
    assert _why(_departs(lambda problem, params, state: here(problem, params)))


def test_a_method_that_departs_far_away_or_after_some_calls_is_not_that_of_the_iterations():
    calls = iter(range(10**9))
    far = _why(_departs(lambda problem, params, state: bool(abs(state.W).max() > 1e6)))
    late = _why(_departs(lambda problem, params, state: next(calls) > 290))
    assert "do not end where the step ends" in far
    assert "different values for the same state and draw" in late
