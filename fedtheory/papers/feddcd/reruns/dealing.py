"""Data of two or more classes, dealt to the clients of FedDCD's Section 8."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fedtheory.data import Images, load_idx, load_rows
from fedtheory.numbers.rational import Array

IID, SKEWED = "i.i.d.", "two classes a client"
#: Weights of a linear model for which Newton's method finds the optimum.
_WEIGHTS = 10_000
#: Images of so many pixels lose so wide a border, and become the means of squares of such a side.
_SIDE, _BORDER, _SQUARE = 28, 2, 3


class Data(NamedTuple):
    """``A (rows, p)``, with a last column of ones, and ``b (rows,)``, labels 0, 1, ..."""

    name: str
    A: Array
    b: Array

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.b.max()) + 1


def read(paths: tuple[Path, ...]) -> Data:
    """Images in the format of MNIST, 8 x 8 means of their pixels, or a file in LIBSVM's text format or CSV.

    Raise ``ValueError`` if they cannot be read, have one class only, or too many features.
    """
    if "idx" in paths[0].name:
        images = load_idx(*paths)
        return _data(images.name, _smaller(images), images.labels)
    return _data(paths[0].name, *load_rows(paths[0]))


def _data(name: str, A: Array, labels: Array) -> Data:
    values, b = np.unique(labels, return_inverse=True)
    if len(values) < 2 or not np.isfinite(values).all():
        raise ValueError(f"{name} must have two or more different labels, all of them finite")
    if not np.isfinite(A).all():
        raise ValueError(f"{name} has NaN or infinite features")
    if len(values) * (A.shape[1] + 1) > _WEIGHTS:
        raise ValueError(f"{name} asks for {len(values) * (A.shape[1] + 1)} weights, more than {_WEIGHTS}")
    return Data(name, np.column_stack([A, np.ones(len(A))]), b)


def _smaller(images: Images) -> Array:
    """The means of squares of pixels; images of other sizes as they are."""
    if images.A.shape[1] != _SIDE**2:
        return images.A
    inside = images.A.reshape(-1, _SIDE, _SIDE)[:, _BORDER:-_BORDER, _BORDER:-_BORDER]
    squares = inside.shape[1] // _SQUARE
    means = inside.reshape(-1, squares, _SQUARE, squares, _SQUARE).mean(axis=(2, 4))
    return np.asarray(means.reshape(len(means), -1))


class Dealt(NamedTuple):
    """Row numbers of the clients ``(n, m)``, by split, and of the rows kept for testing."""

    rows: Mapping[str, Array]
    test: Array


def deal(b: Array, n: int, most: int, rng: np.random.Generator) -> Dealt:
    """Rows for n clients, at most ``most`` each and four fifths of any label: i.i.d., and from shards of one label.

    With more than two labels a client has two shards, so at most two labels; otherwise one. Both splits hold the same
    rows. Raise ``ValueError`` if there are not enough rows.
    """
    shards = 1 if b.max() == 1 else 2
    order = rng.permutation(len(b))
    by_label = [order[b[order] == c] for c in range(b.max() + 1)]
    by_label = [rows[: 4 * len(rows) // 5] for rows in by_label]
    size = min(most, len(b) // n) // shards
    while size and sum(len(rows) // size for rows in by_label) < n * shards:
        size -= 1
    if size * shards < 2:
        raise ValueError(f"{len(b)} rows are too few for {n} clients with two rows or more each")
    pieces = [rows[k : k + size] for rows in by_label for k in range(0, len(rows) - size + 1, size)]
    chosen = rng.permutation(len(pieces))[: n * shards]
    skewed = np.concatenate([pieces[k] for k in chosen]).reshape(n, -1)
    iid = rng.permutation(skewed.ravel()).reshape(n, -1)
    return Dealt({IID: iid, SKEWED: skewed}, np.setdiff1d(order, skewed))
