"""FedDCD, Section 8, run again: rounds to a gap of the objective (Figure 1, Table 2), clients of two classes (Figure 2,
Table 4).

A round is one exchange with tau of the clients. An iteration of AccFedDCD calls two sets of clients: it is counted
once, as the paper does, and by its two exchanges besides. The gap is F(x) - F*: F is the average risk, x the average of
the models that the server received in the round; F* is found by Newton's method, and is taken to be 0 for the
perceptron, of which no optimum is known. The paper names neither regularisation, activation nor
batches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fedtheory.experiments import Figure, Less, Result, Source, Stated, Within
from fedtheory.papers.feddcd.reruns.names import (
    DUAL,
    EXCHANGES,
    LINEAR,
    LOOKED,
    METHODS,
    PERCEPTRON,
    PRIMAL,
    ROUNDS,
    SETUPS,
    advantage,
    after,
    rounds,
)

#: "In almost all settings", and "similar performance": a factor in the risk.
_MOST, _SIMILAR = 0.8, 2.0
FAIR = (
    "every method is tuned for each setup by the worse of two runs on other draws, over a grid of the same size about "
    "its theoretical stepsize (1/L; Lambda^-1 = alpha I), widened while its best is at an end: the primal ones with 5 "
    "and 20 local epochs, AccFedDCD with the true alpha/beta and ten times that, FedDCD on a grid twice as dense; of "
    "the perceptron, which has no constants, it is the local stepsize (of Adam for the dual methods), for two "
    "guesses of alpha, or of alpha/beta"
)


def _faster(method: str, called: str = "") -> Stated:
    parts = tuple(
        Less((rounds(method, *setup),), (rounds(primal, *setup),))
        for setup in SETUPS
        if setup[1] == 30
        for primal in PRIMAL
    )
    return Stated(f"Figure 1: {called or method} needs fewer rounds than each primal method, tau = 30", parts)


def _almost_all(accelerated: str, called: str) -> Stated:
    parts = tuple(
        Less(
            tuple(rounds(method, *setup) for method in (DUAL[0], accelerated)),
            tuple(rounds(method, *setup) for method in PRIMAL),
        )
        for setup in SETUPS
    )
    return Stated(
        f"Table 2: a dual method needs the fewest rounds in almost all settings, four of five{called}", parts, _MOST
    )


def _best_of_all(accelerated: str, called: str) -> Stated:
    others = (*PRIMAL, DUAL[0])
    parts = tuple(
        Less((after(count, accelerated, LINEAR),), (after(count, other, LINEAR),))
        for count in LOOKED
        for other in others
    )
    return Stated(f"Figure 2: AccFedDCD has the smallest gap of the linear model{called}", parts)


def _accuracy(model: str, name: str) -> Stated:
    count = LOOKED[-1]
    mine = (after(count, DUAL[1], model, "test error"),)
    parts = tuple(Less(mine, (after(count, other, model, "test error"),)) for other in METHODS[:-1])
    return Stated(f"Table 4: AccFedDCD has the highest test accuracy of the {name}", parts)


_PAIRS = tuple((method, other) for method in DUAL for other in ((method, "SCAFFOLD"), ("SCAFFOLD", method)))
_ONCE = ", an iteration of AccFedDCD counted once"
_TWICE = ", the two exchanges of its iterations counted"
_SOURCES = (
    Source("MNIST's 10,000", ("mnist-10k-images.idx3", "mnist-10k-labels.idx1")),
    Source("RCV1", (), "RCV1 is not at hand"),
)


def _read(paths: Any) -> Any:
    from fedtheory.papers.feddcd.reruns.dealing import read

    return read(paths)


def _table(data: Any, seeds: tuple[int, ...]) -> Mapping[str, Callable[[], Result]]:
    from fedtheory.papers.feddcd.reruns import panels

    return panels.table(data, seeds)


def _skewed(data: Any, seeds: tuple[int, ...]) -> Mapping[str, Callable[[], Result]]:
    from fedtheory.papers.feddcd.reruns import panels

    return panels.skewed(data, seeds)


_AFTER_1 = (
    "both dual methods bring the linear model to a gap of 1e-3 within 30 rounds, as the text says, but SCAFFOLD takes "
    "13 rounds where they take 22 or 23; FedAvg and FedProx take about 90. A dual method is ahead of all others in "
    "two setups of seven: to 1e-2 with tau = 30, where AccFedDCD takes 3 rounds and SCAFFOLD 4, and to 1e-1 with tau "
    "= 5, where it takes one and the primal methods two or three. With its two exchanges counted it leads in none. "
    "The perceptron comes to a risk of 0.3 or 0.5 in fewer rounds with any primal method: to 0.3 these take 7 to 12, "
    "the dual methods 40 to 57. The smaller the gap, the less is gained by the dual methods, not the more. What "
    "differs from the paper may be the tuning: SCAFFOLD is best with 20 local epochs and 4 or 8 times the stepsize "
    "from which tuning starts."
)
_AFTER_2 = (
    "with the linear model AccFedDCD falls fastest for some 25 rounds, then SCAFFOLD passes it; with its two exchanges "
    "counted it is behind FedAvg and FedProx after 15 rounds, and ahead of these, but not of SCAFFOLD, after 30. With "
    "the perceptron both dual methods are behind all primal ones, in risk and in accuracy; their risks are 1.7 and 1.9 "
    "times SCAFFOLD's, so that whether this is similar hangs on the factor. The paper's order may come from primal "
    "methods that were tuned less: here their best stepsizes are 4 to 16 times those from which tuning starts, and "
    "with the perceptron they take 20 local epochs. That clients of two classes cost the dual methods much is clear: "
    "their gap after 30 rounds of the linear model is 40 times as large or more."
)

FIGURES = (
    Figure(
        "feddcd/figure-1",
        "Figure 1 and Table 2",
        "rounds to a gap, clients alike",
        (
            _faster("FedDCD"),
            _faster("AccFedDCD", "AccFedDCD, an iteration counted once,"),
            _faster(EXCHANGES, "AccFedDCD, its two exchanges counted,"),
            Stated(
                "Figure 1: with tau = 30 both dual methods reach a gap of 1e-3 of the linear model within 30 rounds",
                tuple(Within(rounds(method, LINEAR, 30, 1e-3), high=30) for method in DUAL),
            ),
            Stated(
                "Figure 1: with tau = 30 no primal method reaches a gap of 1e-3 of the linear model in 100 rounds",
                tuple(Within(rounds(method, LINEAR, 30, 1e-3), low=ROUNDS) for method in PRIMAL),
            ),
            _almost_all(DUAL[1], _ONCE),
            _almost_all(EXCHANGES, ", the two exchanges of AccFedDCD's iterations counted"),
            Stated(
                "Table 2: the dual methods gain most with many clients a round and a small gap: the best of them needs "
                "a smaller share of the best primal method's rounds at tau = 30 and 1e-3 than at tau = 5 and 1e-1",
                (Less((advantage(LINEAR, 30, 1e-3),), (advantage(LINEAR, 5, 1e-1),)),),
            ),
            Stated(
                "Table 2: FedDCD and AccFedDCD need fewer rounds to 1e-2 with tau = 30 than with tau = 10",
                tuple(Less((rounds(m, LINEAR, 30, 1e-2),), (rounds(m, LINEAR, 10, 1e-2),)) for m in DUAL),
            ),
        ),
        _SOURCES,
        _table,
        _read,
        FAIR,
        _AFTER_1,
    ),
    Figure(
        "feddcd/figure-2",
        "Figure 2 and Table 4",
        "gap and test accuracy, two classes a client",
        (
            _best_of_all(DUAL[1], _ONCE),
            _best_of_all(EXCHANGES, _TWICE),
            Stated(
                "Figure 2: FedDCD and AccFedDCD are like SCAFFOLD for the perceptron: risks within a factor of 2",
                tuple(
                    Less(
                        (after(LOOKED[-1], left, PERCEPTRON),),
                        (after(LOOKED[-1], right, PERCEPTRON),),
                        _SIMILAR,
                        strict=False,
                    )
                    for _, (left, right) in _PAIRS
                ),
            ),
            Stated(
                "Figure 2: FedDCD and AccFedDCD converge worse than with clients that are alike",
                tuple(
                    Less((after(LOOKED[-1], m, model, "gap, alike,"),), (after(LOOKED[-1], m, model),))
                    for m in DUAL
                    for model in (LINEAR, PERCEPTRON)
                ),
            ),
            _accuracy(LINEAR, "linear model"),
            _accuracy(PERCEPTRON, "perceptron"),
        ),
        _SOURCES[:1],
        _skewed,
        _read,
        FAIR,
        _AFTER_2,
    ),
)
