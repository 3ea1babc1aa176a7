"""FedDCD, Appendix E: the inexact part of Lemma E.1, and the chain in the proof of Theorem 5.2."""

from __future__ import annotations

import sympy

from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.papers.feddcd.dual import N, alpha, section
from fedtheory.papers.feddcd.inexact import DISTANCE_T, GAPS_T, delta, lemma
from fedtheory.settings import Setting

# The chain in the proof of Theorem 5.2: v is ((1 - kappa)/delta)^T, and each side is over (8/(N alpha)) delta^T gap_0

_v, _kappa = sympy.symbols("v kappa", positive=True)
_gaps_sum = lambda q: 1 + (1 + delta) * q * (_v - 1) / (q - 1)  # noqa: E731
_geometric = lambda q: (1 + delta) * (q * _v - 1) / (q - 1)  # noqa: E731
IN_CHAIN = Setting("0 < kappa < 1, v >= 1", domain=(sympy.Lt(_kappa, 1), sympy.Ge(_v, 1, evaluate=False)))


def _over(quarter: int, *relations: sympy.Basic) -> ParameterRule:
    """Relations with delta = (1 - kappa)/``quarter``, where v is ``quarter``^T."""
    return ParameterRule({delta: (1 - _kappa) / quarter}, relations)


_OVER = "both sides over (8/(N alpha)) delta^T (G(y^0) - G*)"
_LAST = "the last step, to 20/3, is Lemma E.2"
chain = section("Appendix E", IN_CHAIN, id="appendix-E/chain")
CHAIN = (
    chain(
        "",
        _over(
            4,
            sympy.Le(_gaps_sum(4), _geometric(4), evaluate=False),
            sympy.Le(_geometric(4), sympy.Rational(5, 3) * _v, evaluate=False),
        ),
        "the chain from 40/3 to 20/3",
        kind="inequality",
        tex=r"\frac{8(1+\delta)\delta^T}{N\alpha}\frac{\left(\frac{1-\kappa}{\delta}\right)^{T+1}-1}{\left(\frac{1-"
        r"\kappa}{\delta}\right)-1}\left[G(y^{(0)})-G(y^*)\right]\le\frac{40}{3N\alpha}(1-\kappa)^T"
        r"\left[G(y^{(0)})-G(y^*)\right]\le\frac{20}{3N\alpha^2}(1-\kappa)^T\|y^*\|^2",
        uses=("lemma-E.1/inexact", "lemma-E.2"),
        reading=f"{_OVER}, v = 4^T; for delta = (1 - kappa)/4 in Lemma E.1, as printed; {_LAST}",
    ),
    chain(
        "literal",
        _over(4, sympy.Eq(_gaps_sum(4), _geometric(4), evaluate=False)),
        "the third line is equal to the second",
        kind="inequality",
        tex=r"\frac{8\delta^T}{N\alpha}\left\{1+(1+\delta)\sum_{t=1}^T\left(\frac{1-\kappa}{\delta}\right)^t\right\}="
        r"\frac{8(1+\delta)\delta^T}{N\alpha}\frac{\left(\frac{1-\kappa}{\delta}\right)^{T+1}-1}{\left(\frac{1-"
        r"\kappa}{\delta}\right)-1}",
        flaw="1 + (1 + delta) times the sum from 1 to T is (1 + delta) times the sum from 0 to T less delta: the sign "
        "of equality should be <=.",
        reading=f"{_OVER}, v = 4^T; the sum from 1 to T, and 1, against the sum from 0 to T: they differ by delta",
        literal_of="appendix-E/chain",
    ),
    chain(
        "oracles",
        _over(
            2,
            sympy.Le(_gaps_sum(2), _geometric(2), evaluate=False),
            sympy.Le(_geometric(2), sympy.Rational(5, 3) * _v, evaluate=False),
        ),
        "the same with the delta of Lemma E.1 that the oracles of Theorem 5.2 have",
        kind="inequality",
        origin="implied",
        flaw="Lemma E.1 concerns delta/2-inexact oracles, Theorem 5.2 delta-inexact ones: its delta = (1 - "
        "kappa)/4 is half of that of the lemma.",
        reading=f"{_OVER}, v = 2^T; Lemma E.1 concerns delta/2-inexact oracles, and those of the theorem are (1 - "
        f"kappa)/4-inexact: delta is (1 - kappa)/2; {_LAST}",
    ),
    chain(
        "oracles/repaired",
        _over(
            2,
            sympy.Eq(_gaps_sum(2), (3 - _kappa) * _v - (2 - _kappa), evaluate=False),
            sympy.Le(_gaps_sum(2), _geometric(2), evaluate=False),
            sympy.Le(_geometric(2), (3 - _kappa) * _v, evaluate=False),
        ),
        "the same with 8 (3 - kappa) for 40/3, and 4 (3 - kappa) for 20/3, the least that the second line allows",
        kind="inequality",
        reading=f"{_OVER}, v = 2^T; its second line is (3 - kappa) v - (2 - kappa), and v grows with T without bound. "
        "That 20/3 serves, where the first guess is exact, is theorem-5.2/eq-9/repaired, by another way",
        repairs="appendix-E/chain/oracles",
    ),
)

_LEMMA_E1 = lemma(
    "lemma-E.1/inexact",
    "Lemma E.1",
    "primal distance through the dual gaps, inexact oracle",
    DISTANCE_T,
    8 / (N * alpha) * GAPS_T.expression,
    GAPS_T,
    tex=r"\mathbb{E}[\|\hat{w}^{(t)}-w^*\|^2]\leq\frac{8}{N\alpha}\left\{\delta^t\left[G(y^{(0)})-G(y^*)\right]+"
    r"\sum_{j=1}^{t}(\delta^{t-j}+\delta^{t-j+1})\left[G(y^{(j)})-G(y^*)\right]\right\}",
    uses=("lemma-E.1/exact", "lemma-C.2"),
)
APPENDIX_E = (*_LEMMA_E1, *CHAIN)
