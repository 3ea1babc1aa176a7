"""Sequential passes of many clients over examples of their own, as steps batched over clients.

Step t of a pass takes the t-th example of every client that has so many. Clients are independent, so that such a step
is one array operation; clients of similar size share a block, whose data fit a cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.rational import Array

if TYPE_CHECKING:
    import scipy.sparse as sp

#: Examples of a block of clients: their features take some MiB.
BLOCK = 2**16


@dataclass(frozen=True)
class Block:
    """``slots``: places in a pass over all examples, client by client, sorted by step; ``edges``: where steps begin."""

    slots: Array
    edges: Array


@dataclass(frozen=True)
class Batch:
    """One step: ``rows`` of a table, and their entries: ``position`` (column), ``value``, ``row`` (place in rows)."""

    step: int
    rows: Array
    position: Array
    value: Array
    row: Array


def blocks(sizes: Array, examples: int = BLOCK) -> tuple[Block, ...]:
    """Clients by size, cut into blocks of about ``examples`` examples; ``sizes (K,)``, none zero."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    by_size = np.argsort(-sizes, kind="stable")
    group = np.cumsum(sizes[by_size]) // examples
    made = []
    for members in np.split(by_size, np.flatnonzero(np.diff(group)) + 1):
        size = sizes[members]
        total = int(size.sum())
        first = np.repeat(np.cumsum(size) - size, size)
        step = np.arange(total) - first
        order = np.argsort(step, kind="stable")
        slots = (np.repeat(starts[members], size) + step)[order]
        made.append(Block(slots, np.concatenate([[0], np.cumsum(np.bincount(step))])))
    return tuple(made)


def batches(block: Block, Z: sp.csr_array, order: Array) -> Iterator[Batch]:
    """The steps of one pass in the given ``order (n,)``, rows of Z client by client."""
    rows = order[block.slots]
    chosen = Z[rows]
    entries = np.diff(chosen.indptr)
    row = np.repeat(np.arange(len(rows)), entries)
    for step, (start, end) in enumerate(zip(block.edges, block.edges[1:], strict=False)):
        part = slice(chosen.indptr[start], chosen.indptr[end])
        yield Batch(step, rows[start:end], chosen.indices[part], chosen.data[part], row[part] - start)
