"""Inexact gradients of conjugates by local solvers, each an :class:`fedtheory.problems.oracles.Oracle`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedtheory.learning.batches import Batches, Parts
from fedtheory.numbers.rational import Array, apply, is_exact
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.functions import Functions
from fedtheory.problems.oracles import Answer, Oracle, constant, deterministic
from fedtheory.randomness import Distribution, Draw, Independent, Product


def _check_positive(**numbers: int) -> None:
    for name, value in numbers.items():
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")


def gradient_descent(steps: int, stepsize: Array) -> Oracle:
    """``steps`` steps w <- w - stepsize (grad f_i(w) - y_i) from ``start``; each is one step.

    ``stepsize``: one number, or one for each client ``(n,)``. With 1/L_i, delta = (1 - mu_i/L_i)^(2 steps).
    """
    _check_positive(steps=steps)
    size = np.asarray(stepsize)[..., None]

    def answer(f: Functions, y: Array, start: Array, draw: Draw) -> Answer:
        w = start
        for _ in range(steps):
            w = w - size * (f.gradient(w) - y)
        return Answer(w, constant(f, steps))

    return Oracle(f"gradient-descent({steps})", deterministic, answer)


class SvrgDraw(NamedTuple):
    """``rows (n, epochs * inner, 1, 1)``: the part of each inner step; ``picks (n, epochs, 1, 1)``: iterates kept."""

    rows: Array
    picks: Array


def _independent_rows(m: int, steps: int, n: int) -> Distribution:
    """One of m rows for each step of each client, with replacement: ``(n, steps, 1, 1)``."""
    return Independent(Independent(Batches(m, 1, 1), steps), n)


def svrg(parts: Parts, epochs: int, inner: int, stepsize: object) -> Oracle:
    """SVRG on f_i - <., y_i> from ``start`` (Johnson and Zhang 2013, option II); ``parts`` must be those of f.

    Each epoch takes a full gradient at its snapshot and up to ``inner`` corrected steps on single parts; the next
    snapshot is the iterate before a uniformly random one of them. Steps are gradients of single parts: m + 2 inner an
    epoch. ``stepsize`` as in :func:`gradient_descent`.
    """
    _check_positive(epochs=epochs, inner=inner)
    size = np.asarray(stepsize)[..., None]

    def draws(f: Functions) -> Distribution:
        rows = _independent_rows(parts.m, epochs * inner, f.n)
        return Product(SvrgDraw, (rows, _independent_rows(inner, epochs, f.n)))

    def answer(f: Functions, y: Array, start: Array, draw: SvrgDraw) -> Answer:
        snapshot = start
        for epoch in range(epochs):
            full = f.gradient(snapshot) - y
            w = kept = snapshot
            for t in range(inner):
                kept = np.where(draw.picks[..., epoch, 0, :] == t, w, kept)
                row = draw.rows[..., epoch * inner + t, 0, :]
                w = w - size * (parts.batch_gradient(w, row) - parts.batch_gradient(snapshot, row) + full)
            snapshot = kept
        return Answer(snapshot, constant(f, epochs * (parts.m + 2 * inner)))

    return Oracle(f"svrg({epochs}x{inner})", draws, answer)


def saga(parts: Parts, steps: int, stepsize: object) -> Oracle:
    """``steps`` steps of SAGA on f_i - <., y_i> from ``start``, its table of gradients filled at ``start``.

    ``parts`` must be those of f. Steps are gradients of single parts: m to fill the table and one each
    (Defazio et al. 2014). ``stepsize`` as in :func:`gradient_descent`.
    """
    _check_positive(steps=steps)
    size = np.asarray(stepsize)[..., None]

    def draws(f: Functions) -> Distribution:
        return _independent_rows(parts.m, steps, f.n)

    def answer(f: Functions, y: Array, start: Array, draw: Array) -> Answer:
        indices = np.arange(parts.m)
        w = start
        table = np.stack([parts.batch_gradient(w, np.full((f.n, 1), j)) for j in indices], axis=-2)
        for t in range(steps):
            row = draw[..., t, 0, :]
            fresh = parts.batch_gradient(w, row)
            chosen = (indices == row)[..., None]
            stale = np.where(chosen, table, 0 * table).sum(axis=-2)
            w = w - size * (fresh - stale + table.sum(axis=-2) / parts.m - y)
            table = np.where(chosen, fresh[..., None, :], table)
        return Answer(w, constant(f, parts.m + steps))

    return Oracle(f"saga({steps})", draws, answer)


def inexact_newton(steps: int, forcing: Scalar = 0) -> Oracle:
    """Up to ``steps`` inexact Newton steps on f_i - <., y_i> from ``start`` (Dembo et al. 1982), without line search.

    Each solves H s = grad by conjugate gradients until |H s - grad| <= forcing |grad|; 0 asks for the exact step. A
    client whose gradient is zero takes no step. Convergence is local unless f is quadratic.
    """
    _check_positive(steps=steps)
    if not 0 <= forcing < 1:
        raise ValueError(f"the forcing term of inexact Newton must be in [0, 1), got {forcing}")

    def answer(f: Functions, y: Array, start: Array, draw: Draw) -> Answer:
        w, taken = start, np.zeros(y.shape[:-1], dtype=int)
        for _ in range(steps):
            slope = f.gradient(w) - y
            w = w - _conjugate_gradients(f.hessian(w), slope, forcing)
            taken = taken + (slope != 0).any(axis=-1)
        return Answer(w, taken)

    return Oracle(f"inexact-newton({steps}, {forcing})", deterministic, answer)


def _conjugate_gradients(H: Array, b: Array, forcing: Scalar) -> Array:
    """s with |H s - b| <= forcing |b|, ``(..., d)``, from 0; at most d iterations, which solve fractions exactly."""
    s, residual, direction = 0 * b, b, b
    size = (b**2).sum(axis=-1, keepdims=True)
    goal = (forcing if is_exact(b) else float(forcing)) ** 2 * size
    for _ in range(b.shape[-1]):
        image = apply(H, direction)
        curvature = (direction * image).sum(axis=-1, keepdims=True)
        # A client that is done keeps its s; its curvature may be 0, and so may be that of a float at its last digit.
        active = (size > goal) & (curvature > 0)
        if not active.any():
            break
        length = np.where(active, size, 0 * size) / np.where(active, curvature, 1)
        s, residual = s + length * direction, residual - length * image
        shorter = (residual**2).sum(axis=-1, keepdims=True)
        direction = residual + np.where(active, shorter, 0 * size) / np.where(active, size, 1) * direction
        size = np.where(active, shorter, size)
    return s
