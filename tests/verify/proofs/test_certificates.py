"""Symbolic certificates: the true claims are proved, and nothing that is false, unassumed or changed is."""

from dataclasses import replace

import pytest
import sympy

from fedtheory import claims
from fedtheory.papers.feddcd.dual import beta
from verify.methods import identities
from verify.methods.identities import SymbolicCertificate, prove
from verify.pep.gram import row
from verify.proofs.identity import GapInequality, IdentityWeights, Unprovable, is_nonnegative
from verify.step_models import sampled_blocks
from verify.step_models.sampled_blocks import coefficients, require_at_least

EQ_3 = claims.get("feddcd/theorem-4.1/eq-3")
#: Of inexact FedDCD, with a contraction and a start.
INEXACT = claims.get("feddcd/theorem-5.2/eq-8/repaired")
#: With a slower rate, so that no multiplier is 0.
SLOWER = INEXACT.variant(factor=(1 + INEXACT.statement.factor) / 2)

A = {str(s): s for s in EQ_3.statement.factor.free_symbols}


def telling(claim, **changes):
    """The claim in a setting whose hints tell something else of its identities."""
    told = replace(claim.setting.hints.identities, **changes)
    return replace(claim, setting=replace(claim.setting, hints=replace(claim.setting.hints, identities=told)))


#: Letters, grounds, weights and models that a setting must not tell, or may not leave out.
MISLED = {
    "L is larger": {"letters": {**INEXACT.setting.hints.identities.letters, "L": 2 * beta}},
    "unknown letter": {"letters": {**INEXACT.setting.hints.identities.letters, "nu": A["alpha"]}},
    "another model": {"model": "memory"},
    "unknown model": {"model": "none"},
}


@pytest.mark.parametrize("name", MISLED)
def test_what_a_setting_tells_is_not_believed(name):
    assert prove(telling(INEXACT, **MISLED[name])) is None


def test_code_of_somebodys_own_is_not_proved_where_it_is_compared_only():
    algorithm = INEXACT.statement.algorithm

    def step(problem, params, state, draw):
        # The numbers of clients at which it is compared with a model are among these.
        others = (problem.n - 3) * (problem.n - 4) * (problem.n - 5) * (problem.n - 7) * (problem.n - 12)
        new = algorithm.step(problem, params, state, draw)
        return new._replace(y=state.y + (new.y - state.y) * (1 + (problem.n - 2) * others))

    with pytest.raises(Unprovable, match="not all code of this package's theory"):
        identities._compare(INEXACT.variant(algorithm=replace(algorithm, step=step)))


def test_other_kinds_are_not_proved():
    for id in ("locodl/eq-13", "locodl/theorem-3.1/limits", "feddcd/theorem-4.1/proof-constants"):
        assert prove(claims.get(id)) is None


# Tampering


def _with(certificate, name, **changes):
    return SymbolicCertificate(
        certificate.claim, {**certificate.weights, name: replace(certificate.weights[name], **changes)}
    )


def test_tampering_is_detected():
    certificate = prove(SLOWER)
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
    certificate = prove(INEXACT)
    assert certificate is not None
    smaller = INEXACT.variant(factor=INEXACT.statement.factor * sympy.Rational(99, 100))
    for other in (smaller, INEXACT.variant(requires=INEXACT.requires[1:])):
        assert not SymbolicCertificate(other, certificate.weights).check()


# The parts


def test_negative_weights_prove_nothing():
    x, y = row("x"), row("y")
    posed = GapInequality("p", x**2 - y**2, {"larger": y**2 - x**2, "smaller": x**2 - y**2})
    assert IdentityWeights({"larger": sympy.S.One}, ()).prove(posed, EQ_3)
    assert not IdentityWeights({"smaller": -sympy.S.One}, ()).prove(posed, EQ_3)
    assert not IdentityWeights({}, ((sympy.S.One, x), (-sympy.S.One, y))).prove(posed, EQ_3)
    assert not IdentityWeights({}, ((sympy.S.One, x),)).prove(posed, EQ_3)


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
    a, b = (q.expression for q in INEXACT.statement.quantities)
    assert coefficients(INEXACT, 3 * a - A["beta"] * b) == {"gap": 3, "first gap": -A["beta"]}
    for wrong in (a**2, a * b, a + 1, sympy.Max(a, b)):
        with pytest.raises(Unprovable, match="not linear"):
            coefficients(INEXACT, wrong)


def test_sampling_lemma_expands_to_zero():
    assert sampled_blocks.sampling_lemma()
