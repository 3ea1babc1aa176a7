"""Symbolic certificates: the true claims are proved, and nothing that is false, unassumed or changed is."""

from dataclasses import replace
from itertools import islice

import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import feddcd, rbcd
from fedtheory.papers.feddcd import appendix_b
from verify.methods import identities
from verify.methods.identities import SymbolicCertificate, prove
from verify.pep.gram import row
from verify.proofs import rbcd as proof_rbcd
from verify.proofs.identity import GapInequality, Unprovable, Weights, coefficients, is_nonnegative, require_at_least

PROVED = [
    "feddcd/lemma-B.8/descent",
    "feddcd/lemma-B.8/rate/repaired",
]

EQ_3 = claims.get("feddcd/theorem-4.1/eq-3")
DESCENT = claims.get("feddcd/lemma-B.8/descent")
RATE = claims.get("feddcd/lemma-B.8/rate/repaired")

A = {str(s): s for s in EQ_3.statement.factor.free_symbols}


def quantity(claim, name):
    return next(q.expression for q in claim.statement.quantities if str(q.expression) == name)


def without(claim, text):
    kept = [h for h in claim.requires if text not in h.text]
    assert len(kept) == len(claim.requires) - 1
    return claim.variant(requires=kept)


def other_weights(problem, params, state, draw):
    return rbcd.step(problem, params._replace(L=2 * params.L), state, draw)


def other_for_many(problem, params, state, draw):
    """The step, but for numbers of clients at which it is not compared with a model."""
    new, n = rbcd.step(problem, params, state, draw), problem.n
    return new._replace(x=state.x + (new.x - state.x) * (1 + (n - 2) * (n - 3) * (n - 4) * (n - 7) * (n - 12)))


_norm_L = quantity(DESCENT, "|G grad h|_L^2")

FALSE = {
    "smaller": RATE.variant(factor=RATE.statement.factor * sympy.Rational(99, 100)),
    "more descent": DESCENT.variant(right=DESCENT.statement.right - _norm_L / 1000),
    "less than h": DESCENT.variant(right=DESCENT.statement.right - quantity(DESCENT, "h(x)") / 1000),
    "printed rate": claims.get("feddcd/lemma-B.8/rate"),
}

#: Requires less than the proof uses: the class, the sampling.
UNASSUMED = {
    "structure": without(RATE, "B.1"),
    "size": without(DESCENT, "1 < tau"),
}

CHANGED = {
    "other weights": RATE.variant(algorithm=replace(rbcd.algorithm, step=other_weights)),
    "other steps of many": RATE.variant(algorithm=replace(rbcd.algorithm, step=other_for_many)),
    "other draws": DESCENT.variant(
        algorithm=replace(rbcd.algorithm, draws=lambda p, k, s: feddcd.draws(p, k, s)),
    ),
}

#: Weaker than what the papers print, hence true.
TRUE = {
    "less descent": DESCENT.variant(right=DESCENT.statement.right + _norm_L / 1000),
}


@pytest.mark.parametrize("id", PROVED)
def test_true_claims_are_proved(id):
    certificate = prove(claims.get(id))
    assert certificate is not None
    assert all(w.multipliers or w.squares for w in certificate.weights.values())
    assert certificate.check()


@pytest.mark.parametrize("name", TRUE)
def test_weaker_claims_are_proved(name):
    assert prove(TRUE[name]) is not None


@pytest.mark.parametrize("name", FALSE)
def test_false_claims_are_not_proved(name):
    assert prove(FALSE[name]) is None


@pytest.mark.parametrize("name", UNASSUMED)
def test_claims_that_assume_less_are_not_proved(name):
    assert prove(UNASSUMED[name]) is None


def telling(claim, **changes):
    """The claim in a setting whose hints tell something else of its identities."""
    told = replace(claim.setting.hints.identities, **changes)
    return replace(claim, setting=replace(claim.setting, hints=replace(claim.setting.hints, identities=told)))


#: Letters, grounds, weights and models that a setting must not tell, or may not leave out.
MISLED = {
    "L is larger": (RATE, {"letters": {**RATE.setting.hints.identities.letters, "L": 2 * appendix_b.L_max}}),
    "unknown letter": (RATE, {"letters": {**RATE.setting.hints.identities.letters, "nu": A["alpha"]}}),
    "another model": (RATE, {"model": "memory"}),
    "unknown model": (RATE, {"model": "none"}),
}


@pytest.mark.parametrize("name", MISLED)
def test_what_a_setting_tells_is_not_believed(name):
    claim, changes = MISLED[name]
    assert prove(telling(claim, **changes)) is None


@pytest.mark.parametrize("name", CHANGED)
def test_changed_algorithms_and_potentials_are_not_proved(name):
    assert prove(CHANGED[name]) is None


# Steps that are wrong only where a constant is at the end of its range


def only(condition, wrong, right):
    """The step ``wrong`` where the problem and the parameters are special, else the step ``right``."""

    def step(problem, params, state, draw):
        return (wrong if condition(problem, params) else right)(problem, params, state, draw)

    return step


RBCD_SPECIAL = {
    "tau = N": lambda problem, k: k.tau == problem.n,
    "tau = 2": lambda problem, k: k.tau == 2,
    "two clients": lambda problem, k: problem.n == 2,
    "equal L_i": lambda problem, k: len(set(k.L)) == 1,
    "mu_i = L_i": lambda problem, k: all(problem.f.mu == k.L),
}
AT_AN_END = {
    **{f"rbcd, {name}": (RATE, rbcd, other_weights, at) for name, at in RBCD_SPECIAL.items()},
    **{f"rbcd anywhere, {name}": (DESCENT, rbcd, other_weights, at) for name, at in RBCD_SPECIAL.items()},
}


def wrong_at_an_end(name):
    """The changed claim, and the module with the proofs about its setting."""
    claim, module, wrong, condition = AT_AN_END[name]
    changed = claim.variant(algorithm=replace(module.algorithm, step=only(condition, wrong, module.step)))
    return changed, identities._about(claim)


@pytest.mark.parametrize("name", AT_AN_END)
def test_steps_that_are_wrong_at_an_end_of_a_range_are_seen(name):
    changed, proofs = wrong_at_an_end(name)
    assert any(proofs.differs(changed, instance) for instance in proofs.special(changed))


@pytest.mark.parametrize("name", ["rbcd, equal L_i"])
def test_generic_instances_do_not_show_them_and_yet_they_are_not_proved(name):
    changed, proofs = wrong_at_an_end(name)
    assert not any(proofs.differs(changed, instance) for instance in islice(proofs.instances(changed), 4))
    assert prove(changed) is None


def test_special_instances_show_every_end_of_a_range():
    found = list(identities._about(RATE).special(RATE))
    for condition in RBCD_SPECIAL.values():
        shown = [bool(condition(instance.problem, instance.params)) for instance in found]
        assert any(shown) and not all(shown)


def test_other_kinds_are_not_proved():
    for id in ("locodl/eq-13", "locodl/theorem-3.1/limits", "feddcd/theorem-4.1/proof-constants"):
        assert prove(claims.get(id)) is None


# Tampering


def _with(certificate, name, **changes):
    return SymbolicCertificate(
        certificate.claim, {**certificate.weights, name: replace(certificate.weights[name], **changes)}
    )


def test_tampering_is_detected():
    certificate = prove(RATE)
    assert certificate is not None
    for name, weights in certificate.weights.items():
        for key, multiplier in weights.multipliers.items():
            if multiplier == 0:
                continue
            for wrong in (2 * multiplier, -multiplier, sympy.S.Zero):
                assert not _with(certificate, name, multipliers={**weights.multipliers, key: wrong}).check()
        for k, (weight, vector) in enumerate(weights.squares):
            rest = weights.squares[:k] + weights.squares[k + 1 :]
            if weight == 0:
                continue
            assert not _with(certificate, name, squares=rest).check()
            assert not _with(certificate, name, squares=(*rest, (-weight, vector))).check()
            assert not _with(certificate, name, squares=(*rest, (weight, 2 * vector))).check()
        assert not _with(certificate, name, multipliers={**weights.multipliers, "invented": sympy.S.One}).check()
    missing = dict(list(certificate.weights.items())[1:])
    assert not SymbolicCertificate(certificate.claim, missing).check()


def test_certificate_does_not_fit_another_claim():
    certificate = prove(RATE)
    assert certificate is not None
    for other in (FALSE["smaller"], CHANGED["other weights"], UNASSUMED["structure"]):
        assert not SymbolicCertificate(other, certificate.weights).check()


# The parts


def test_negative_weights_prove_nothing():
    x, y = row("x"), row("y")
    posed = GapInequality("p", x**2 - y**2, {"larger": y**2 - x**2, "smaller": x**2 - y**2})
    assert Weights({"larger": sympy.S.One}, ()).prove(posed, EQ_3)
    assert not Weights({"smaller": -sympy.S.One}, ()).prove(posed, EQ_3)
    assert not Weights({}, ((sympy.S.One, x), (-sympy.S.One, y))).prove(posed, EQ_3)
    assert not Weights({}, ((sympy.S.One, x),)).prove(posed, EQ_3)


def test_signs_come_from_the_hypotheses():
    r = (A["tau"] - 1) / (A["N"] - 1)
    assert is_nonnegative(r, EQ_3)
    assert is_nonnegative(1 - r, EQ_3)
    assert not is_nonnegative(r - 1, EQ_3)
    # The setting says it as well.
    assert is_nonnegative(r, EQ_3.variant(requires=EQ_3.requires[:1]))
    require_at_least(EQ_3, sympy.Max(A["alpha"], 1 + A["beta"]), sympy.S.One)
    with pytest.raises(Unprovable, match="does not follow"):
        require_at_least(EQ_3, sympy.Max(A["alpha"], A["beta"]), sympy.S.One)


def test_sides_must_be_linear_in_the_quantities():
    a, b = sympy.symbols("a b")
    assert coefficients(3 * a - A["beta"] * b, [a, b]) == {"a": 3, "b": -A["beta"]}
    for wrong in (a**2, a * b, a + 1, sympy.Max(a, b)):
        with pytest.raises(Unprovable, match="not linear"):
            coefficients(wrong, [a, b])


def test_sampling_lemma_expands_to_zero():
    assert proof_rbcd.sampling_lemma()


@pytest.mark.parametrize("id", PROVED)
def test_models_are_what_the_code_computes(id):
    claim = claims.get(id)
    for instance in islice(proof_rbcd.instances(claim), 4):
        assert proof_rbcd.differs(claim, instance) is None


def test_different_code_differs():
    (instance,) = islice(proof_rbcd.instances(RATE), 1)
    assert proof_rbcd.differs(CHANGED["other weights"], instance) == "the step"


def test_every_assumption_of_a_proof_is_broken_in_turn():
    (instance,) = islice(proof_rbcd.instances(RATE), 1)
    # Each by several factors.
    broken = [assumption for assumption, _ in proof_rbcd.outside(RATE, instance)]
    assert set(broken) == {"smoothness", "tau >= 2"} and len(broken) > 5
