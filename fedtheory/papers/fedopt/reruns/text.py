"""Sparse text data with authors for clients: a generator of bags of words, and plays with their speaking roles.

Features are 0 or 1: feature 0 is the bias, feature 1 says that a word outside the dictionary occurs, the others are the
words of the dictionary, most frequent first (Federated Optimization, Section 4.1; it does not say whether it counts
words, here a word occurs or not). Every author's later examples are for testing, a quarter of them.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from fedtheory.numbers.rational import Array

#: The bias and the unknown word.
EXTRA = 2

# Share of an author's examples that train, the earlier ones.
_TRAINING = 0.75

# Shape of the generated posts: topics, words of a post, share of words from the author's topic, and of unknown ones.
_TOPICS, _WORDS, _TOPICAL, _UNKNOWN = 300, 18, 0.4, 0.03

# Spread of n_k around its geometric mean (log-normal), and the least and largest n_k over the mean, as in the paper.
_SPREAD, _LEAST, _LARGEST = 0.75, 75 / 216, 9000 / 216

# Authors generated at a time, which bounds the memory for words before they are sorted.
_AUTHORS = 500

_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")


@dataclass(frozen=True)
class Examples:
    """``X``: CSR ``(n, d)``, client by client; ``y (n,)`` in {-1, +1}; ``sizes (K,)``: examples of each client."""

    X: sp.csr_array
    y: Array
    sizes: Array


@dataclass(frozen=True)
class Authors:
    """Training and test examples of the same authors in the same order; an author may have no test example."""

    name: str
    train: Examples
    test: Examples

    @property
    def K(self) -> int:
        """The number of authors."""
        return len(self.train.sizes)

    @property
    def d(self) -> int:
        """The number of features, with the bias and the unknown word."""
        return int(self.train.X.shape[1])


def generated(K: int, d: int, mean: float, rng: np.random.Generator) -> Authors:
    """``K`` authors, ``d`` features, n_k from 0.35 to 42 times the ``mean`` number of training examples.

    Each author writes on two topics (words follow Zipf's law, in every topic in an order of its own), and has an
    inclination to one label, which says more than the words do. Raises ``ValueError`` unless K >= 1, d >= 3, mean >= 1.
    """
    if K < 1 or d < EXTRA + 1 or mean < 1:
        raise ValueError(f"expected K >= 1, d >= {EXTRA + 1} and mean >= 1, got {K}, {d} and {mean}")
    words = d - EXTRA
    size = mean * np.exp(_SPREAD * rng.standard_normal(K) - _SPREAD**2 / 2)
    sizes = np.maximum(1, np.rint(np.clip(size, _LEAST * mean, _LARGEST * mean))).astype(np.int64)
    if K > 1:
        # The largest author is as large as the paper's, however few there are.
        sizes[0] = round(min(_LARGEST, 0.5 * K) * mean)
    total = np.ceil(sizes / _TRAINING).astype(np.int64)
    law = np.cumsum(1 / np.arange(1, words + 1))
    law /= law[-1]
    orders = np.stack([rng.permutation(words) for _ in range(min(_TOPICS, 4 * K))]).astype(np.int32)
    truth = 0.25 * rng.standard_normal(d)
    truth[0] = 0
    inclination = 2.5 * rng.standard_normal(K) - 1.2
    X, y = [], []
    for start in range(0, K, _AUTHORS):
        of_block = np.repeat(np.arange(start, min(start + _AUTHORS, K)), total[start : start + _AUTHORS])
        part = _posts(of_block, orders, law, d, rng)
        chance = 1 / (1 + np.exp(-(part @ truth) - inclination[of_block]))
        X.append(part)
        y.append(np.where(rng.random(len(of_block)) < chance, 1.0, -1.0))
    return _split(f"generated({K}, {d})", sp.csr_array(sp.vstack(X, format="csr")), np.concatenate(y), total, sizes)


def _posts(author: Array, orders: Array, law: Array, d: int, rng: np.random.Generator) -> sp.csr_array:
    """One post for each entry of ``author``: words of the language or of one of the author's two topics."""
    length = 1 + rng.poisson(rng.gamma(2.0, (_WORDS - 1) / 2, len(author)))
    post = np.repeat(np.arange(len(author)), length)
    word = np.searchsorted(law, rng.random(len(post))).astype(np.int32)
    topics = len(orders)
    topic = (author * 7919 + 104729 * rng.integers(2, size=len(author))) % topics
    topical = rng.random(len(post)) < _TOPICAL
    word[topical] = orders[topic[post[topical]], word[topical]]
    word += EXTRA
    word[rng.random(len(post)) < _UNKNOWN] = 1
    every = np.arange(len(author))
    row, column = np.concatenate([every, post]), np.concatenate([np.zeros(len(author), dtype=np.int32), word])
    return _binary(row, column, (len(author), d))


def _binary(row: Array, column: Array, shape: tuple[int, int]) -> sp.csr_array:
    """Ones at the given places, however often they are given."""
    X = sp.csr_array((np.ones(len(row)), (row.astype(np.int32), column.astype(np.int32))), shape=shape)
    X.sum_duplicates()
    X.data[:] = 1
    return X


def _split(name: str, X: sp.csr_array, y: Array, total: Array, training: Array) -> Authors:
    """The first ``training (K,)`` of the ``total (K,)`` examples of each author train, the others test."""
    first = np.repeat(np.cumsum(total) - total, total)
    early = np.arange(len(y)) - first < np.repeat(training, total)
    return Authors(
        name, Examples(X[early], y[early], training), Examples(X[~early], y[~early], np.asarray(total - training))
    )


def plays(path: str | os.PathLike[str], d: int = 2002) -> Authors:
    """Speaking roles as authors and sentences as examples; +1 is a question.

    The file, perhaps compressed (``.gz``), holds blocks ``ROLE:`` and a speech, with a blank line between; a role whose
    blocks are all without a speech is not a client. Sentences end with ``.``, ``!`` or ``?``, which are not features.
    The dictionary is the ``d`` - 2 words that most training sentences have. Raises ``ValueError`` when the file is
    missing or unreadable, or has no such block.
    """
    speeches: dict[str, list[str]] = {}
    for block in _text(Path(path)).split("\n\n"):
        role, colon, speech = block.strip().partition(":\n")
        if colon and "\n" not in role:
            speeches.setdefault(role, []).append(speech)
    roles = {role: _sentences(" ".join(lines)) for role, lines in speeches.items()}
    roles = {role: sentences for role, sentences in roles.items() if sentences}
    if not roles:
        raise ValueError(f"{path} has no speech: blocks of 'ROLE:' and lines of text were expected")
    total = np.array([len(sentences) for sentences in roles.values()])
    training = np.maximum(1, (_TRAINING * total).astype(int))
    seen = Counter(
        word
        for sentences, kept in zip(roles.values(), training, strict=True)
        for words, _ in sentences[:kept]
        for word in set(words)
    )
    ordered = sorted(seen, key=lambda word: (-seen[word], word))[: d - EXTRA]
    place = {word: j + EXTRA for j, word in enumerate(ordered)}
    every = [sentence for sentences in roles.values() for sentence in sentences]
    column = [[0, *(place.get(word, 1) for word in words)] for words, _ in every]
    row = np.repeat(np.arange(len(every)), [len(part) for part in column])
    X = _binary(row, np.concatenate(column), (len(every), d))
    y = np.array([1.0 if question else -1.0 for _, question in every])
    return _split("plays", X, y, total, training)


def _sentences(speech: str) -> list[tuple[Sequence[str], bool]]:
    """Words of each sentence, and whether it is a question."""
    found = ((_WORD.findall(s.lower()), s.rstrip().endswith("?")) for s in _SENTENCE.findall(speech))
    return [(words, question) for words, question in found if words]


def _text(path: Path) -> str:
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return raw.decode("utf-8")
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None


def reshuffled(data: Authors, rng: np.random.Generator) -> Authors:
    """The same training examples dealt out at random, as many to each client as before (the paper's FSVRGR)."""
    order = rng.permutation(len(data.train.y))
    train = replace(data.train, X=data.train.X[order], y=data.train.y[order])
    return replace(data, name=f"{data.name}, reshuffled", train=train)


def chosen(data: Authors, authors: Array) -> Authors:
    """Some of the authors, by their numbers in increasing order."""
    return replace(data, train=_kept(data.train, authors), test=_kept(data.test, authors))


def _kept(examples: Examples, authors: Array) -> Examples:
    rows = np.isin(np.repeat(np.arange(len(examples.sizes)), examples.sizes), authors)
    return Examples(examples.X[rows], examples.y[rows], examples.sizes[authors])
