"""Public bugs of federated learning and of compressed gradients, rebuilt: what the conformance tests say of each.

    python -m benchmarks.public_bugs [--seed 0] [--only WORD ...]

Each is a loop or a compressor written here from what its report says, wrong and mended; nothing is taken from the
repositories. Prints the table of ``docs/bugs.md``: whether the wrong one is rejected, and by which words, and whether
the mended one is accepted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.timing import Line
from verify import conformance

D = 20


class Bug(NamedTuple):
    """``where``: repository and number of the issue or pull request; ``what`` it says; ``test(wrong)``: a report of the
    rebuilt code, wrong or mended; ``words``: of the message that names it, or "" where nothing does."""

    where: str
    what: str
    test: Callable[[bool, int], Any]
    words: str = ""


class Told(NamedTuple):
    """What is said of a bug: whether it is ``rejected`` and ``named``, the mended code ``accepted``, in ``seconds``."""

    bug: Bug
    rejected: bool
    named: bool
    accepted: bool
    text: str
    seconds: float


# Loops


def averaging(problem: Any, params: Any, rounds: int, rng: Any, bug: str = "") -> list[Any]:
    """FedAvg and FedProx, with one bug."""
    x, found = np.zeros(problem.d), []
    own, buffers = np.zeros((problem.n, problem.d)), np.zeros((problem.n, problem.d))
    counts = getattr(params, "counts", None)
    momentum = getattr(params, "momentum", 0)
    counts = np.ones(problem.n) if counts is None or bug == "counts forgotten" else counts
    for t in range(rounds):
        tau = 1 if bug == "one client" else params.tau
        chosen = range(tau) if bug == "the first clients" else rng.choice(problem.n, tau, replace=False)
        shared, models, weights = x.copy(), [], []
        for i in chosen:
            y = shared if bug == "one array" else x.copy()
            y = own[i].copy() if bug == "never downloaded" and t else y
            if bug != "buffer kept":
                buffers[i] = 0
            for slope in _slopes(problem, params, i, rng, bug):
                buffers[i] = momentum * buffers[i] + slope(y) + _pull(params, x, y, bug)
                y -= params.eta_l * buffers[i]
            own[i] = y
            models.append(y.copy())
            weights.append(counts[i])
        total = problem.n if bug == "all clients" else np.sum(weights)
        mean = (np.array(weights)[:, None] * models).sum(axis=0) / total
        start = {"added to a random model": np.random.default_rng(7).standard_normal(problem.d), "not reset": x}
        x = start.get(bug, 0) + mean
        found.append(x)
    return found


def _slopes(problem: Any, params: Any, i: int, rng: Any, bug: str) -> Iterator[Callable[[Any], Any]]:
    """The gradients of the local steps of a round."""
    batches = params.batches
    for _ in range(params.epochs):
        if not hasattr(batches, "parts"):
            yield conformance.client(problem, i).gradient
            continue
        order = rng.permutation(batches.parts.m)
        for k in range(1 if bug == "one batch" else batches.per_epoch):
            rows = np.tile(order[k * batches.size : (k + 1) * batches.size], (problem.n, 1))
            yield lambda y, rows=rows: batches.parts.batch_gradient(np.tile(y, (problem.n, 1)), rows)[i]


def _pull(params: Any, x: Any, y: Any, bug: str) -> Any:
    """The gradient of the proximal term."""
    if not hasattr(params, "mu"):
        return 0.0
    if bug == "no square":
        size = np.linalg.norm(y - x)
        return params.mu / 2 * (y - x) / size if size else 0.0
    return {"anchor moves": 0 * y, "term overwritten": -params.mu * x}.get(bug, params.mu * (y - x))


def descending(problem: Any, params: Any, rounds: int, rng: Any, bug: str = "") -> list[Any]:
    """Minibatch SGD."""
    x, found = np.zeros(problem.d), []
    for _ in range(rounds):
        chosen = rng.choice(problem.n, params.tau, replace=False)
        slope = np.mean([conformance.client(problem, i).gradient(x) for i in chosen], axis=0)
        x = x - (1 if bug == "no stepsize" else params.eta) * slope
        found.append(x)
    return found


def controlling(problem: Any, params: Any, rounds: int, rng: Any, bug: str = "") -> list[Any]:
    """SCAFFOLD."""
    x, c, c_i, found = np.zeros(problem.d), np.zeros(problem.d), np.zeros((problem.n, problem.d)), []
    if bug == "random start":
        c_i = np.random.default_rng(7).standard_normal(c_i.shape)
    batches = params.batches
    rows, per_epoch = getattr(getattr(batches, "parts", None), "m", 1), batches.per_epoch
    K = {"samples for steps": rows * params.epochs, "steps of one epoch": per_epoch}.get(bug, per_epoch * params.epochs)
    for _ in range(rounds):
        moved, changed = np.zeros(problem.d), np.zeros(problem.d)
        for i in rng.choice(problem.n, params.tau, replace=False):
            y = x.copy()
            for slope in _slopes(problem, params, i, rng, bug):
                y -= params.eta_l * (slope(y) + (c_i[i] - c if bug == "sign" else c - c_i[i]))
            new = c_i[i] - c + (x - y) / (K * params.eta_l)
            delta = {"whole sent": new, "difference of one": 0 * new}.get(bug, new - c_i[i])
            moved, changed, c_i[i] = moved + (y - x), changed + delta, new
        x, c = x + params.eta_g * moved / params.tau, c + changed / problem.n
        found.append(x)
    return found


LOOPS: dict[str, Callable[..., list[Any]]] = {
    "fedavg": averaging,
    "fedprox": averaging,
    "minibatch-sgd": descending,
    "scaffold": controlling,
}


def loop(name: str, bug: str, *features: str) -> Callable[[bool, int], Any]:
    """The test of a loop with a bug, or without."""

    def test(wrong: bool, seed: int) -> Any:
        def run(problem: Any, params: Any, rounds: int, rng: Any) -> list[Any]:
            return LOOPS[name](problem, params, rounds, rng, bug if wrong else "")

        return conformance.algorithm(name, run=run, features=features, seed=seed)

    return test


# Compressors


def levels(x: Any, rng: Any, s: int = 7, bug: str = "") -> Any:
    """Rounding to multiples of the largest entry over s, up or down at random."""
    step = abs(x).max() / s
    if not step:
        return 0 * x
    level = abs(x) / step
    low, part = np.floor(level), level - np.floor(level)
    up = {
        "to the nearest": part > 0.5,
        "towards 0": np.zeros(x.shape, bool),
        "few bits": rng.integers(0, 8, x.shape) / 8 < part,
        "one seed": np.random.default_rng(0).random(x.shape) < part,
    }.get(bug, rng.random(x.shape) < part)
    return 0 * x if bug == "zeros" else np.sign(x) * step * (low + up)


def largest(x: Any, rng: Any, k: int = 5, bug: str = "") -> Any:
    """Top-k."""
    kept = np.argsort(-(x if bug == "without sizes" else abs(x)), kind="stable")[:k]
    value = np.zeros_like(x)
    value[kept] = x[kept]
    return value


def affine(x: Any, rng: Any, bug: str = "") -> Any:
    """int8 with a scale and a place of 0."""
    low, high = (x.min(), x.max()) if bug else (min(x.min(), 0), max(x.max(), 0))
    if high == low:
        return np.round(x) if bug else x.copy()
    scale = (high - low) / 255
    zero = np.clip(np.round(-128 - low / scale), -128, 127)
    return (np.clip(np.round(x / scale) + zero, -128, 127) - zero) * scale


class Parts:
    """Rows that are rounded with numbers of their own, or all with the same."""

    def __init__(self, same: bool) -> None:
        self.same = same

    def __call__(self, rows: Any, rng: Any) -> Any:
        seed = rng.integers(2**32)
        return np.stack([levels(x, np.random.default_rng(seed) if self.same else rng) for x in rows])


class Own:
    """A compressor with a generator of its own."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, x: Any) -> Any:
        return levels(x, self.rng)


#: QSGD's variance for seven levels, that of int8 to the nearest of 255, as a contraction, and top-5's.
OMEGA, INT8, TOP = min(D / 49, D**0.5 / 7), 1 - D / 4 * (2 / 255) ** 2, 5 / D


def compressing(function: Callable[..., Any], bug: str, **claim: Any) -> Callable[[bool, int], Any]:
    """The test of a compressor with a bug, or without."""

    def test(wrong: bool, seed: int) -> Any:
        def compress(x: Any, rng: Any) -> Any:
            return function(x, rng, bug=bug if wrong else "")

        return conformance.compressor(compress, D, **claim, seed=seed, samples=60_000, skip=SKIPPED)

    return test


def _rows(wrong: bool, seed: int) -> Any:
    return conformance.compressor(Parts(wrong), D, OMEGA, batch=True, seed=seed, samples=12_000, skip=SKIPPED)


def _clients(wrong: bool, seed: int) -> Any:
    both = [Own(1), Own(1 if wrong else 2)]
    return conformance.compressor(both, D, OMEGA, seed=seed, samples=8_000, skip=SKIPPED)


SKIPPED = ("special values",)
_SAME = "gives the same value at all"
BUGS: Sequence[Bug] = (
    Bug(
        "ssg-research/WAFFLE#6",
        "models are divided by the number of all clients, and fewer take part",
        loop("fedavg", "all clients"),
        "models, not their changes, are divided by all clients",
    ),
    Bug(
        "leonagoel/hybrid-recommender#1298",
        "the average forgets how many samples each client has",
        loop("fedavg", "counts forgotten", "counts"),
        "averaged with equal weights, without the counts",
    ),
    Bug(
        "OpenMined/PySyft#3863",
        "models are added to one with random weights",
        loop("fedavg", "added to a random model"),
    ),
    Bug(
        "cisco-open/flame#95",
        "the server's weights are not reset before new ones are added",
        loop("fedavg", "not reset"),
        "with `y` in place of `y - start`",
    ),
    Bug(
        "alibaba/FederatedScope#664",
        "clients share one model, each going on from where the one before it ended",
        loop("fedavg", "one array"),
        "the global model is changed in place while clients still train on it",
    ),
    Bug(
        "alibaba/FederatedScope#450",
        "a client's momentum outlives its round",
        loop("fedavg", "buffer kept", "momentum"),
    ),
    Bug(
        "CharlieDinh/pFedMe#6",
        "a local epoch is one batch",
        loop("fedavg", "one batch", "minibatches"),
        "an epoch is one batch instead of a pass over all rows",
    ),
    Bug(
        "FedML-AI/FedML#611",
        "clients are picked from a list as long as those of a round: always the same ones",
        loop("fedavg", "the first clients"),
        "every step makes the same draw",
    ),
    Bug(
        "SMILELab-FL/FedLab#320",
        "one client takes part, however many should",
        loop("fedavg", "one client"),
        "one client takes part, whatever `tau` is",
    ),
    Bug(
        "epfml/disco#222",
        "clients go on with their own model, as the server's is fetched and not used",
        loop("fedavg", "never downloaded"),
    ),
    Bug(
        "FederatedAI/FATE#924",
        "gradients are subtracted without the learning rate",
        loop("minibatch-sgd", "no stepsize"),
        "in place of `params.eta * mean_over(draw.clients, params.tau, gradient)`",
    ),
    Bug(
        "flwrlabs/flower#2210",
        "the proximal term is a distance instead of its square",
        loop("fedprox", "no square"),
        "the proximal norm is not squared",
    ),
    Bug(
        "KarhouTam/FL-bench#165",
        "the anchor of the proximal term is a shallow copy, and moves along",
        loop("fedprox", "anchor moves"),
        "the proximal term is dropped, or anchored at the local model where it is always zero",
    ),
    Bug(
        "securefederatedai/openfederatedlearning#1634",
        "the anchor is set anew right before each step, so that the term is 0",
        loop("fedprox", "anchor moves"),
        "the proximal term is dropped, or anchored at the local model where it is always zero",
    ),
    Bug(
        "alpemreacar/FedDyn#1",
        "FedProx's loss is overwritten by its second half, the product of the two models",
        loop("fedprox", "term overwritten"),
    ),
    Bug(
        "TL-System/plato#382",
        "clients send whole control variates where changes are expected",
        loop("scaffold", "whole sent"),
        "whole control variates are sent",
    ),
    Bug(
        "fedbiomed/fedbiomed#734",
        "the correction is added where it is to be subtracted",
        loop("scaffold", "sign"),
        "the sign of the control variates is swapped",
    ),
    Bug(
        "TsingZ0/PFLlib#160",
        "control variates are divided by the batches of one epoch instead of all local steps",
        loop("scaffold", "steps of one epoch"),
        "the control variate is updated without dividing by the number of local steps",
    ),
    Bug(
        "VectorInstitute/FL4Health#64",
        "the number of local steps counts samples instead of batches",
        loop("scaffold", "samples for steps", "minibatches"),
    ),
    Bug(
        "KarhouTam/SCAFFOLD-PyTorch#1",
        "the old control variate is replaced before its change is computed, which is then 0",
        loop("scaffold", "difference of one"),
        "the server's control variate is never updated",
    ),
    Bug(
        "Xtra-Computing/NIID-Bench#8",
        "control variates start at random values",
        loop("scaffold", "random start"),
    ),
    Bug(
        "apple/pfl-research#65",
        "top-k takes the largest entries, not the largest in size",
        compressing(largest, "without sizes", alpha=TOP),
        "times as much",
    ),
    Bug(
        "vllm-project/tpu-inference#1926",
        "numbers are cut off towards 0, a bias that adds up",
        compressing(levels, "towards 0", omega=OMEGA),
        _SAME,
    ),
    Bug(
        "eladhoffer/quantized.pytorch#4",
        "arguments in another order: the rounding asked to be stochastic is to the nearest",
        compressing(levels, "to the nearest", omega=OMEGA),
        _SAME,
    ),
    Bug(
        "AMD-AGI/Primus-Turbo#365",
        "stochastic rounding has the seed 0 at every launch",
        compressing(levels, "one seed", omega=OMEGA),
        _SAME,
    ),
    Bug(
        "graphcore-research/gfloat#36",
        "with few random bits, stochastic rounding goes up too often",
        compressing(levels, "few bits", omega=OMEGA),
        "too large",
    ),
    Bug(
        "NVIDIA/TransformerEngine#3281",
        "stochastic rounding to four bits returns zeros where the processor has no instruction for it",
        compressing(levels, "zeros", omega=OMEGA),
        _SAME,
    ),
    Bug(
        "NVIDIA/TransformerEngine#2487",
        "rounding by rows and by columns has the same random numbers",
        _clients,
        "share their random numbers, or were seeded alike",
    ),
    Bug(
        "karpathy/llm.c#597",
        "all parts of the parameters are rounded with the same random numbers",
        _rows,
        "one draw is shared by all rows",
    ),
    Bug(
        "TrenTorch/TrenTorch#191",
        "the place of 0 is clipped and the scale is not changed with it",
        compressing(affine, "clipped", alpha=INT8),
        "times as much",
    ),
)


def told(bug: Bug, seed: int = 0) -> Told:
    """What the conformance tests say of a bug."""
    begun = time.process_time()
    wrong, right = (bug.test(kind, seed) for kind in (True, False))
    seconds = time.process_time() - begun
    text = wrong.failures[0].evidence if wrong.failures else ""
    return Told(bug, not wrong.ok, bool(bug.words) and bug.words in text, right.ok, text, seconds)


def row(found: Told) -> str:
    """A line of the table."""
    bug = found.bug
    said = f"“{bug.words}”" if found.named else "rejected, not named" if found.rejected else "ACCEPTED"
    mended = "" if found.accepted else "; the mended code is REJECTED"
    return f"| [{bug.where}]({address(bug)}) | {bug.what} | {said}{mended} |"


def address(bug: Bug) -> str:
    """Where the report is."""
    repository, number = bug.where.split("#")
    return f"https://github.com/{repository}/issues/{number}"


def lines() -> Iterator[Line]:
    """How many bugs are rejected, how many of them by name, and how many are accepted when they are mended."""
    found = [told(bug) for bug in BUGS]
    for name, least in (("rejected", len(found)), ("named", len(found) // 2), ("accepted", len(found))):
        count = sum(getattr(f, name) for f in found)
        what = {"accepted": "accepted when mended"}.get(name, name)
        yield Line("bugs", f"{what}, of {len(found)} public bugs", count, "", at_least=least, note="docs/bugs.md")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="repositories with such a word")
    parser.add_argument("-v", action="store_true", help="all that is said of each")
    given = parser.parse_args(arguments)
    chosen = [bug for bug in BUGS if not given.only or any(word in bug.where for word in given.only)]
    found = []
    print("| report | what is wrong | what is said |\n| --- | --- | --- |")
    for bug in chosen:
        found.append(told(bug, given.seed))
        print(row(found[-1]), flush=True)
        if given.v:
            print(f"    {found[-1].seconds:.1f} s; {found[-1].text}")
    rejected, named, accepted = (sum(getattr(f, name) for f in found) for name in ("rejected", "named", "accepted"))
    print(f"\n{len(found)} bugs: {rejected} rejected, {named} of them named; {accepted} accepted when mended")
    return 0 if rejected == accepted == len(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
