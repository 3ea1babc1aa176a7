"""One step of each method, as programs: the largest expected potential after it, given potential 1 before.

Points are relative to the optimum, and every function has its tangent there subtracted: all methods here only use
differences in which those tangents cancel. Potentials are divided by the number of clients.

When a program does not change as the clients are permuted, its Gram matrix can be averaged over all permutations, and
splits into two blocks: the clients' means (the trivial representation, with the vectors that all clients share) and
their deviations from the mean (the standard representation, of which one copy is enough). A vector of each client,
a_i = mean + deviation, is then a sum of two rows, and (1/n) sum_i <a_i, b_i> is the plain product of two such sums,
because rows of different blocks are orthogonal. ``Explicit`` keeps all n clients and serves as the oracle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np

from verify.pep.gram import OPTIMUM, ZERO, Form, Number, Sample, Vector, interpolate, quadratic_sample, row, value
from verify.pep.programs import Constraint, Program, ratio

#: A vector of each client, or one that all share; a scalar of each client, or one.
Vectors = Any
Scalars = Any


class Clients(Protocol):
    """n clients, and what a model may say of them. All sums over clients are averages."""

    @property
    def n(self) -> Number:
        """How many: a number, or a symbol."""

    def vector(self, name: str, stream: str = "state") -> Vectors:
        """A vector of each client; vectors of different streams are uncorrelated."""

    def centred(self, name: str) -> Vectors:
        """A vector of each client, with sum zero over the clients."""

    def shared(self, name: str) -> Vector:
        """One vector known to all."""

    def value(self, name: str) -> Scalars:
        """A number of each client."""

    def mean(self, vectors: Vectors) -> Vector:
        """(1/n) sum_i a_i."""

    def average(self, scalars: Scalars) -> Form:
        """(1/n) sum_i s_i."""

    def each(self, name: str, scalars: Scalars) -> list[Constraint]:
        """The constraints s_i <= 0."""

    def interpolate(self, name: str, samples: Iterable[Sample], mu: Number, L: Number) -> list[Constraint]:
        """The samples of each client are those of one function of the class."""


@dataclass(frozen=True)
class Explicit:
    """Every client has its own rows: object arrays of length ``n``."""

    n: int

    def vector(self, name: str, stream: str = "state") -> Vectors:
        """A row for each client: ``(n,)``."""
        return np.array([row(f"{name}_{i}", stream) for i in range(self.n)], dtype=object)

    def centred(self, name: str) -> Vectors:
        """A row for each client but the last, whose vector is minus the sum of the others: ``(n,)``."""
        free = self.vector(name)[:-1]
        return np.append(free, [-sum(free, ZERO)])

    def shared(self, name: str) -> Vector:
        """One row."""
        return row(name)

    def value(self, name: str) -> Scalars:
        """A value for each client: ``(n,)``."""
        return np.array([value(f"{name}_{i}") for i in range(self.n)], dtype=object)

    def mean(self, vectors: Vectors) -> Vector:
        """(1/n) sum_i a_i."""
        return self._spread(vectors).sum() / self.n

    def average(self, scalars: Scalars) -> Form:
        """(1/n) sum_i s_i."""
        return self._spread(scalars).sum() / self.n

    def each(self, name: str, scalars: Scalars) -> list[Constraint]:
        """A constraint s_i <= 0 for each client."""
        return [Constraint(f"{name}_{i}", s) for i, s in enumerate(self._spread(scalars))]

    def interpolate(self, name: str, samples: Iterable[Sample], mu: Number, L: Number) -> list[Constraint]:
        """The conditions of interpolation for each client."""
        columns = [[self._spread(part) for part in sample] for sample in samples]
        clients = ([Sample(*(part[i] for part in column)) for column in columns] for i in range(self.n))
        found = (interpolate(f"{name}_{i}", of_client, mu, L) for i, of_client in enumerate(clients))
        return [Constraint(*constraint) for constraints in found for constraint in constraints]

    def _spread(self, a: Any) -> Any:
        out = np.empty(self.n, dtype=object)
        out[:] = a
        return out


@dataclass(frozen=True)
class Exchangeable:
    """One row for the mean and one for the deviation of each vector; ``n`` is a number of clients or a symbol.

    With a single client (``n = 1``) there are no deviations.
    """

    n: Number

    def vector(self, name: str, stream: str = "state") -> Vectors:
        """A row for the mean and one for the deviation."""
        mean = row(name, f"{stream} mean")
        return mean if self.n == 1 else mean + row(name, f"{stream} deviation")

    def centred(self, name: str) -> Vectors:
        """A row for the deviation; zero for a single client."""
        return ZERO if self.n == 1 else row(name, "state deviation")

    def shared(self, name: str) -> Vector:
        """A row without deviation."""
        return row(name, "state mean")

    def value(self, name: str) -> Scalars:
        """One value, the average."""
        return value(name)

    def mean(self, vectors: Vectors) -> Vector:
        """The part of the vector that is its mean."""
        return Vector({r: c for r, c in vectors.coefficients.items() if r.block.endswith(" mean")})

    def average(self, scalars: Scalars) -> Form:
        """The value itself, which is the average."""
        return scalars

    def each(self, name: str, scalars: Scalars) -> list[Constraint]:
        """One constraint, the average of those of the clients."""
        return [Constraint(name, scalars)]

    def interpolate(self, name: str, samples: Iterable[Sample], mu: Number, L: Number) -> list[Constraint]:
        """The conditions of interpolation, averaged over the clients."""
        return [Constraint(*constraint) for constraint in interpolate(name, samples, mu, L)]


def sample(clients: Clients, name: str, point: Vectors, mu: Number, L: Number) -> Sample:
    """Gradients and values at ``point`` of one function a client, each with its tangent at the optimum subtracted.

    ``name``: as in :mod:`verify.pep.interpolation`, the function and the number of the point, for comparison.
    Subtracting a linear function keeps the class; what the methods do is the same, as their models below make plain.
    """
    if mu == L:
        return quadratic_sample(point, L)
    return Sample(point, clients.vector(f"grad {name}"), clients.value(name))


def shared_sample(clients: Clients, name: str, point: Vector, mu: Number, L: Number) -> Sample:
    """The same for one function that all clients share."""
    if mu == L:
        return quadratic_sample(point, L)
    return Sample(point, clients.shared(f"grad {name}"), value(name))


class Step(NamedTuple):
    """A step of a method: scalars by the symbols that claims use, and what holds of them."""

    quantities: Mapping[str, Form]
    constraints: list[Constraint]


class Constants(NamedTuple):
    """The class, the stepsizes and the compressors' two constants."""

    mu: Number
    L: Number
    gamma: Number
    chi: Number
    rho: Number
    p: Number
    omega: Number
    omega_av: Number


def locodl_iteration(c: Clients, k: Constants) -> Step:
    """One iteration of LoCoDL; u and v are relative to u* and v*.

    The compressors enter through the errors C_i(d_i) - d_i of the differences d_i = x_hat_i - y_hat: their mean is 0,
    omega bounds their second moments and omega_av that of their mean. Norms are of clients and server, divided by n.
    """
    x, y, u = c.vector("x"), c.shared("y_0"), c.vector("u")
    v = -c.mean(u)
    at_x, at_y = sample(c, "f(0)", x, k.mu, k.L), shared_sample(c, "g(0)_0", y, k.mu, k.L)
    x_hat = x - k.gamma * at_x.gradient + k.gamma * u
    y_hat = y - k.gamma * at_y.gradient + k.gamma * v
    differences = x_hat - y_hat
    # Without compression there is no noise: rows that must vanish would leave the program no interior.
    exact = bool(k.omega == 0)
    noise = (0 if exact else 1) * c.vector("noise", "noise")
    dual_step = k.p * k.chi / (k.gamma * (1 + 2 * k.omega))

    def norm(of_clients: Vectors, of_server: Vector) -> Form:
        return c.average(of_clients**2) + of_server**2

    message = differences + noise
    d_bar = c.mean(message) / 2
    centre = (c.mean(x_hat) + y_hat) / 2

    def expected(with_message: Form, without: Form) -> Form:
        return k.p * with_message + (1 - k.p) * without

    primal, dual = norm(x, y), norm(u, v)
    primal_next = expected(
        norm((1 - k.rho) * x_hat + k.rho * (y_hat + d_bar), y_hat + k.rho * d_bar), norm(x_hat, y_hat)
    )
    dual_next = expected(norm(u + dual_step * (d_bar - message), v + dual_step * d_bar), dual)
    weight = k.gamma * (1 + 2 * k.omega) / (k.p**2 * k.chi)
    constraints = [
        *c.interpolate("f", [OPTIMUM, at_x], k.mu, k.L),
        *(Constraint(*g) for g in interpolate("g", [OPTIMUM, at_y], k.mu, k.L)),
    ]
    if not exact:
        constraints += c.each("variance", noise**2 - k.omega * differences**2)
        joint = c.mean(noise) ** 2 - k.omega_av * c.average(differences**2)
        constraints.append(Constraint("joint variance", joint))
    quantities = {
        "Psi": primal / k.gamma + weight * dual,
        "Psi_next": primal_next / k.gamma + weight * dual_next,
        "|x-x*|^2": primal,
        "|u-u*|^2": dual,
        "|x_next-x*|^2": primal_next,
        "|u_next-u*|^2": dual_next,
        "|x_hat-x*|^2": norm(x_hat, y_hat),
        "|W x_hat|^2": norm(x_hat - centre, y_hat - centre),
        "<u-u*,x_hat>": c.average(u * x_hat) + v * y_hat,
    }
    return Step(quantities, constraints)


def gradient_descent(mu: Number, L: Number, gamma: Number, potential: str = "distance") -> Program:
    """x - gamma grad f(x), measured by "distance" |x - x*|^2, "value" f - f* or "gradient" |grad f|^2."""
    x = Sample(row("x"), row("g"), value("f"))
    after = Sample(x.point - gamma * x.gradient, row("g+"), value("f+"))
    measures = {
        "distance": lambda s: s.point**2,
        "value": lambda s: s.value,
        "gradient": lambda s: s.gradient**2,
    }
    if potential not in measures:
        raise ValueError(f"the potential must be one of {', '.join(measures)}, got {potential!r}")
    used = [OPTIMUM, x] if potential == "distance" else [OPTIMUM, x, after]
    constraints = [Constraint(*c) for c in interpolate("f", used, mu, L)]
    return ratio(measures[potential](after), measures[potential](x), constraints)


def nonconvex_descent(L: Number, gamma: Number, steps: int) -> Program:
    """Smallest |grad f|^2 along gradient descent on an L-smooth function, given f(x_0) - inf f = 1."""
    points, x = [], row("x_0")
    for t in range(steps + 1):
        points.append(Sample(x, row(f"g_{t}"), value(f"f_{t}")))
        x = x - gamma * points[-1].gradient
    smallest = value("smallest")
    constraints = [Constraint(*c) for c in interpolate("f", points, -L, L)]
    constraints += [Constraint(f"smallest_{t}", smallest - s.gradient**2) for t, s in enumerate(points)]
    # An L-smooth function that is at least 0 satisfies |grad f|^2 <= 2 L f, and this is sufficient.
    constraints += [Constraint(f"infimum_{t}", s.gradient**2 / (2 * L) - s.value) for t, s in enumerate(points)]
    return ratio(smallest, points[0].value, constraints)


def feddcd(c: Clients, alpha: Number, beta: Number, r: Number) -> Step:
    """One round of FedDCD with Lambda = I/alpha and eta = 1, bounded as in Lemma B.8.

    The conjugates f_i^* are 1/beta-strongly convex and 1/alpha-smooth. Smoothness bounds the dual objective after the
    step by a quadratic of w = grad f^*(y), whose expectation over the tau-subsets is exact: Lemma B.3 with
    r = (tau - 1)/(N - 1).
    """
    mu, L = 1 / beta, 1 / alpha
    at_y = sample(c, "f*(0)", c.centred("y"), mu, L)
    deviation = at_y.gradient - c.mean(at_y.gradient)
    gap, square = c.average(at_y.value), c.average(deviation**2)
    return Step(
        {"G-G*": gap, "G(y+)-G*": gap - r / (2 * L) * square, "|y-y*|^2": c.average(at_y.point**2)},
        [*c.interpolate("f*", [OPTIMUM, at_y], mu, L)],
    )


class Acceleration(NamedTuple):
    """r = (tau - 1)/(n - 1) and the stepsizes a and b of FedDCD's Algorithm 4."""

    r: Number
    a: Number
    b: Number


def acceleration(mu: Number, L: Number, r: Number, root: Number) -> Acceleration:
    """The stepsizes printed, given ``root`` = sqrt(mu/L), which may be rational. ``ValueError`` if it is not that."""
    if root**2 != mu / L:
        raise ValueError(f"root must be the square root of mu/L = {mu / L}, got {root}")
    a = root / (1 / r + root)
    return Acceleration(r, a, mu * a * r**2 / L)


def accelerated_rbcd(c: Clients, mu: Number, L: Number, k: Acceleration) -> Step:
    """One step of FedDCD's Algorithm 4 (and of Algorithm 2) with equal L_i; the two subsets enter by exact moments.

    h(x_next) is bounded as in Lemma B.8. The potential is that of Appendix D: h - h* + (a^2 + b)/(2 r^2) |x* - z|_L^2.
    """
    x, z = c.centred("x"), c.centred("z")
    y = (1 - k.a) * x + k.a * z
    at_x, at_y = sample(c, "h(0)", x, mu, L), sample(c, "h(1)", y, mu, L)
    deviation = at_y.gradient - c.mean(at_y.gradient)
    u = (k.a**2 * z + k.b * y) / (k.a**2 + k.b)
    length = k.a * k.r / (k.a**2 + k.b)
    # E |u - length G_I grad h(y)|_L^2, by E G_I = r G_[n] and G_I' L G_I = G_I.
    square = c.average(deviation**2)
    z_next = L * c.average(u**2) + k.r * (length**2 / L * square - 2 * length * c.average(u * deviation))
    weight = (k.a**2 + k.b) / (2 * k.r**2)
    return Step(
        {
            "Phi": c.average(at_x.value) + weight * L * c.average(z**2),
            "Phi_next": c.average(at_y.value) - k.r / (2 * L) * square + weight * z_next,
        },
        [*c.interpolate("h", [OPTIMUM, at_x, at_y], mu, L)],
    )


def saga(c: Clients, mu: Number, L: Number, gamma: Number, weight: Number) -> Step:
    """One step of SAGA: x - gamma (grad f_j(x) - grad f_j(phi_j) + mean of grad f_i(phi_i)), phi_j <- x, j uniform.

    The potential is (1/n) sum_i (f_i(phi_i) - f_i(x*) - <grad f_i(x*), phi_i - x*>) + weight |x - x*|^2.
    """
    x, phi = c.shared("x"), c.vector("phi")
    at_x, at_phi = sample(c, "f(0)", for_each(c, x), mu, L), sample(c, "f(1)", phi, mu, L)
    x_next = x - gamma * (at_x.gradient - at_phi.gradient + c.mean(at_phi.gradient))
    share = 1 / c.n if not isinstance(c.n, int) else Fraction(1, c.n)
    memory_next = share * c.average(at_x.value) + (1 - share) * c.average(at_phi.value)
    return Step(
        {
            "Phi": c.average(at_phi.value) + weight * x**2,
            "Phi_next": memory_next + weight * c.average(x_next**2),
        },
        [*c.interpolate("f", [OPTIMUM, at_x, at_phi], mu, L)],
    )


def for_each(c: Clients, shared: Vector) -> Vectors:
    """The shared vector as a vector of each client."""
    return shared + 0 * c.vector("any")


def svrg(c: Clients, L: Number, h: Number) -> Step:
    """One inner step of SVRG from w with reference point w~; the f_i are convex and L-smooth.

    Johnson and Zhang's recursion, which gives their factor when summed over an epoch, is
    E|w_next - w*|^2 + 2 h (1 - 2 L h) (f(w) - f*) <= |w - w*|^2 + 4 L h^2 (f(w~) - f*).
    """
    w, reference = c.shared("w"), c.shared("w~")
    at_w, at_reference = sample(c, "f(0)", for_each(c, w), 0, L), sample(c, "f(1)", for_each(c, reference), 0, L)
    w_next = w - h * (at_w.gradient - at_reference.gradient + c.mean(at_reference.gradient))
    return Step(
        {
            "|w_next-w*|^2": c.average(w_next**2),
            "|w-w*|^2": w**2,
            "f(w)-f*": c.average(at_w.value),
            "f(w~)-f*": c.average(at_reference.value),
        },
        [*c.interpolate("f", [OPTIMUM, at_w, at_reference], 0, L)],
    )


def diana(c: Clients, mu: Number, L: Number, gamma: Number, alpha: Number, omega: Number) -> Step:
    """One step of DIANA with independent compressors in U(omega); h_i is relative to grad f_i(x*).

    The potential is |x - x*|^2 + (4 omega gamma^2/(n alpha)) (1/n) sum_i |h_i - grad f_i(x*)|^2.
    """
    x, h = c.shared("x"), c.vector("h")
    at_x = sample(c, "f(0)", for_each(c, x), mu, L)
    noise, difference = c.vector("noise", "noise"), at_x.gradient - h
    share, weight = omega / c.n, 4 * omega * gamma**2 / (c.n * alpha)
    x_next = x - gamma * (c.mean(at_x.gradient) + c.mean(noise))
    return Step(
        {
            "Psi": x**2 + weight * c.average(h**2),
            "Psi_next": x_next**2 + weight * c.average((h + alpha * (difference + noise)) ** 2),
        },
        [
            *c.interpolate("f", [OPTIMUM, at_x], mu, L),
            *c.each("variance", noise**2 - omega * difference**2),
            Constraint("joint variance", c.mean(noise) ** 2 - share * c.average(difference**2)),
        ],
    )
