"""Sequential passes of many clients over examples of their own, as steps batched over clients.

Step t of a pass takes the t-th example of every client that has so many. Clients are independent, so that such a step
is one array operation; clients of similar size share a block, whose data fit a cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.numbers.rational import Array

if TYPE_CHECKING:
    import scipy.sparse as sp

#: Examples of a block of clients: their features take some MiB.
BLOCK = 2**16


@dataclass(frozen=True)
class Block:
    """``clients``: the largest first, so that those of a step are the first ones; ``slots``: places in a pass over all
    examples, client by client, sorted by step, then as ``clients``; ``edges``: where in ``slots`` each step begins."""

    clients: Array
    slots: Array
    edges: tuple[int, ...]


def block(sizes: Array, clients: Array) -> Block:
    """The passes of some of the clients, whose numbers of examples are ``sizes (K,)``, none zero."""
    clients = clients[np.argsort(-sizes[clients], kind="stable")]
    first = (np.cumsum(sizes) - sizes)[clients]
    # Step t is one of all clients but those with at most t examples.
    active = len(clients) - np.cumsum(np.bincount(sizes[clients]))[:-1]
    edges = np.concatenate([[0], np.cumsum(active)])
    step = np.repeat(np.arange(len(active)), active)
    slots = first[np.arange(len(step)) - edges[step]] + step
    return Block(clients, slots, tuple(edges.tolist()))


def blocks(sizes: Array, examples: int = BLOCK) -> tuple[Block, ...]:
    """Clients by size, cut into blocks of about ``examples`` examples; ``sizes (K,)``, none zero."""
    by_size = np.argsort(-sizes, kind="stable")
    group = np.cumsum(sizes[by_size]) // examples
    return tuple(block(sizes, clients) for clients in np.split(by_size, np.flatnonzero(np.diff(group)) + 1))


@dataclass(frozen=True)
class Entries:
    """The pass of a block over its rows of a table, ``rows (N,)``, and their entries, all sorted by step.

    ``position (E,)``: columns; ``value (E,)``; ``row (E,)``: place of the row among those of its step. ``steps``: the
    part of ``rows`` and that of the entries which belong to each step.
    """

    rows: Array
    position: Array
    value: Array
    row: Array
    steps: tuple[tuple[slice, slice], ...]


def entries(block: Block, Z: sp.csr_array, order: Array) -> Entries:
    """Those of one pass in the given ``order (n,)``, rows of Z client by client."""
    rows = order[block.slots]
    chosen = Z[rows]
    first = np.repeat(block.edges[:-1], np.diff(block.edges))
    row = np.repeat(np.arange(len(rows)) - first, np.diff(chosen.indptr))
    bounds = chosen.indptr[list(block.edges)].tolist()
    steps = zip(map(slice, block.edges, block.edges[1:]), map(slice, bounds, bounds[1:]), strict=False)
    # Indexing would turn other integers into these every time.
    return Entries(rows, chosen.indices.astype(np.intp), chosen.data, row, tuple(steps))
