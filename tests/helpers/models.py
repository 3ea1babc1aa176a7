"""One step of each method, as programs: the largest expected potential after it, given potential 1 before.

Points are relative to the optimum, and every function has its tangent there subtracted: all methods here only use
differences in which those tangents cancel. Potentials are divided by the number of clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from verify.pep.gram import Form, Number, Sample, Vector, interpolate, row, value
from verify.pep.programs import Constraint, Program, ratio
from verify.pep.symmetry import OPTIMUM, Clients, Vectors, sample, shared_sample


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
