"""A problem of federated optimisation: n functions, one for each client, and perhaps a g; and weighted sums of its
functions, f = sum_i alpha_i f_i, as FedADMM's eq. (2) has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.blocks import Blocks
from fedtheory.problems.coupling import Coupling, LinearOperator
from fedtheory.problems.functions import Functions
from fedtheory.problems.optimum import TOLERANCE, Optimum, newton, solve
from fedtheory.problems.quadratic import Quadratics
from fedtheory.problems.relative import bregman_prox
from fedtheory.problems.sets import Boxes


@dataclass(frozen=True)
class Problem:
    """minimise sum_i f_i(x) + n g(x), over x in R^d; the average form (1/n) sum f_i + g has the same minimiser.

    Args:
        f: The functions f_1, ..., f_n.
        g: One function (``g.n == 1``), or None.
        declared: Constants (mu, L) weaker than the true ones, and a third one, M, for classes that have it.
        known: The optimum where the construction fixes it.
        blocks: The blocks of coordinates, where the class has them.
        named: True if each f_i is of a class of its own, so that code asks them one by one.
        coupling: A linear operator K and a convex function of K x, which is added, where the class has them.
        reference: The function h to which curvatures are relative, one, where the class has it.

    Raises:
        ValueError: If g is not a single function on the space of the f_i.

    Examples:
        >>> from fedtheory.problems.base import Problem
        >>> from fedtheory.problems.quadratic import diagonal
        >>> problem = Problem(diagonal([[2.0], [4.0]], [[1.0], [0.0]]))
        >>> problem.n, problem.d, problem.mu, problem.L
        (2, 1, 2.0, 4.0)
        >>> problem.x_star.round(6).tolist()
        [0.333333]
    """

    f: Functions
    g: Functions | None = None
    declared: tuple[Scalar, ...] | None = None
    known: Optimum | None = None
    blocks: Blocks | None = None
    named: bool = False
    coupling: Coupling | None = None
    reference: Functions | None = None

    def __post_init__(self) -> None:
        if self.g is not None and (self.g.n != 1 or self.g.d != self.f.d):
            raise ValueError("g must be a single function on the space of the f_i")

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.f.n

    @property
    def d(self) -> int:
        """Dimension of the model."""
        return self.f.d

    def part(self, v: Array, block: int) -> Array:
        """A vector ``v (..., d)`` in one block of coordinates, counted from 0, and 0 in the others.

        Raise ``ValueError`` if there are no blocks.
        """
        if self.blocks is None:
            raise ValueError("the coordinates of this problem have no blocks: see BlockSmoothConvex")
        return self.blocks.part(v, block)

    @property
    def _set(self) -> Boxes:
        if not isinstance(self.g, Boxes):
            raise ValueError("this problem has no constraint: see Constrained")
        return self.g

    def project(self, x: Array) -> Array:
        """The point of the constraint set that is nearest to ``x (..., d)``. Raise ``ValueError`` if there is none."""
        return self._set.project(x[..., None, :])[..., 0, :]

    def lmo(self, v: Array) -> Array:
        """A point s of the constraint set at which <v, s> is least, ``(..., d)``.

        Raise ``ValueError`` if there is no constraint, or one without a diameter.
        """
        if self._set.diameter is None:
            raise ValueError("the constraint of this problem has no diameter: see Constrained")
        return self._set.lmo(v[..., None, :])[..., 0, :]

    @property
    def D(self) -> Any:
        """The diameter that is declared of the constraint set. Raise ``ValueError`` if there is none."""
        if self._set.diameter is None:
            raise ValueError("the constraint of this problem has no diameter: see Constrained")
        return self._set.diameter

    @property
    def _coupled(self) -> Coupling:
        if self.coupling is None:
            raise ValueError("this problem has no linear operator K, nor a function of K x: see Coupled")
        return self.coupling

    @property
    def K(self) -> LinearOperator:
        """The linear operator K. Raise ``ValueError`` if there is none."""
        return self._coupled.K

    @property
    def h(self) -> Functions:
        """The convex function of K x, or that to which curvatures are relative, ``h.n == 1``.

        Raise ``ValueError`` if there is none.
        """
        return self._coupled.h if self.reference is None else self.reference

    @property
    def u_star(self) -> Array:
        """The optimum of the dual problem, ``(d,)``, a subgradient of h at K x*. Raise ``ValueError`` if there is
        none."""
        return self._coupled.dual

    @property
    def _reference(self) -> Functions:
        if self.reference is None:
            raise ValueError("this problem has no reference function: see Relative")
        return self.reference

    def divergence(self, x: Array, y: Array) -> Array:
        """D_h(x, y) = h(x) - h(y) - <grad h(y), x - y>, ``(...)`` for points ``(..., d)``.

        Raise ``ValueError`` if there is no reference function h.
        """
        h, one, other = self._reference, x[..., None, :], y[..., None, :]
        along: Array = (h.gradient(other) * (one - other)).sum(axis=-1)
        found: Array = h.value(one) - h.value(other) - along
        return found[..., 0]

    def mirror(self, z: Array) -> Array:
        """The point where grad h is ``z (..., d)``. Raise ``ValueError`` if there is no reference function h."""
        return self._reference.conjugate_gradient(z[..., None, :])[..., 0, :]

    def bregman_prox(self, gamma: Any, z: Array) -> Array:
        """The point x at which gamma f(x) + h(x) - <z, x> is least, ``(..., d)``, f the mean of the f_i.

        Raise ``ValueError`` if there is no reference function h.
        """
        return bregman_prox(self.f, self._reference, gamma, z, self.x_star)

    @property
    def mu(self) -> Any:
        """A strong convexity constant of every f_i and of g."""
        if self.declared is not None:
            return self.declared[0]
        parts = [self.f.mu] if self.g is None else [self.f.mu, self.g.mu]
        return float(min(np.min(p) for p in parts))

    @property
    def L(self) -> Any:
        """A smoothness constant of every f_i and of g."""
        if self.declared is not None:
            return self.declared[1]
        parts = [self.f.L] if self.g is None else [self.f.L, self.g.L]
        return float(max(np.max(p) for p in parts))

    @property
    def M(self) -> Any:
        """A Lipschitz constant of every f_i, where one is declared beside a smoothness constant; ``AttributeError``."""
        if self.declared is None or len(self.declared) < 3:
            raise AttributeError("no Lipschitz constant M is declared of the problem")
        return self.declared[2]

    @cached_property
    def optimum(self) -> Optimum:
        """The minimiser, the optimal dual variables and the KKT residual (see :mod:`fedtheory.problems.optimum`)."""
        return self.known or solve(self)

    @property
    def x_star(self) -> Array:
        """The minimiser, shape ``(..., d)``."""
        return self.optimum.x

    @property
    def y_star(self) -> Array:
        """grad f_i(x*), the optimal dual variables, shape ``(..., n, d)``."""
        return self.optimum.y


#: A function of a problem, the parameters of a method and a state, as statements compare them: ``(...)`` for leading
#: axes of the state. Parameters and states are those of the method that it belongs to.
StateFunction = Callable[[Problem, Any, Any], Array]
#: A function of a problem and the parameters of a method: a number, or an array of them.
ParamsFunction = Callable[[Problem, Any], Any]


def everywhere(problem: Problem, x: Array) -> Array:
    """One point at every client: ``(..., d) -> (..., n, d)``."""
    return np.broadcast_to(x[..., None, :], (*x.shape[:-1], problem.n, problem.d))


def weighted_gradient(problem: Problem, alpha: Array, x: Array) -> Array:
    """sum_i alpha_i grad f_i(x), ``(..., d) -> (..., d)``."""
    return (alpha[:, None] * problem.f.gradient(everywhere(problem, x))).sum(axis=-2)


def weighted_value(problem: Problem, alpha: Array, x: Array) -> Array:
    """f(x) = sum_i alpha_i f_i(x), ``(..., d) -> (...)``."""
    return (alpha * problem.f.value(everywhere(problem, x))).sum(axis=-1)


def stationary_point(problem: Problem, alpha: Array) -> Array:
    """A root of sum_i alpha_i grad f_i, ``(d,)``.

    The known optimum of the problem, which must be one for these weights; else the minimiser: of quadratics in closed
    form, exact on fractions, of other convex functions by Newton's method. Raise ``ValueError`` if none is found.
    """
    f = problem.f
    if problem.known is not None:
        return problem.known.x
    if isinstance(f, Quadratics):
        return Problem(Quadratics(alpha[:, None, None] * f.H, f.c)).x_star

    def hessian(x: Array) -> Array:
        return (alpha[:, None, None] * f.hessian(np.broadcast_to(x, (f.n, f.d)))).sum(axis=0)

    slopes = alpha[:, None] * f.gradient(np.zeros((f.n, f.d)))
    scale = max(1.0, float(np.linalg.norm(slopes, axis=-1).sum()))
    x, _ = newton(lambda v: weighted_gradient(problem, alpha, v), hessian, np.zeros(f.d), np.asarray(1e-14 * scale))
    if np.linalg.norm(weighted_gradient(problem, alpha, x)) > TOLERANCE * scale:
        raise ValueError("no stationary point of the weighted sum found: give the problem a known one")
    return x
