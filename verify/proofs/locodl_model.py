"""One iteration of LoCoDL as a step on vectors that are known by their inner products.

Points are relative to the optimum, and every function has its tangent there subtracted: the method only uses
differences in which those tangents cancel. Potentials are divided by the number of clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from verify.pep.gram import Form, Number, Vector, interpolate
from verify.pep.programs import Constraint
from verify.pep.symmetry import OPTIMUM, Clients, Vectors, sample, shared_sample


class Step(NamedTuple):
    """A step of a method: scalars by the symbols that claims use, what holds of them, and vectors that proofs use."""

    quantities: Mapping[str, Form]
    constraints: list[Constraint]
    vectors: Mapping[str, Any] = {}


class LoCoDLConstants(NamedTuple):
    """The class, the stepsizes and the compressors' two constants, in LoCoDL's letters."""

    mu: Number
    L: Number
    gamma: Number
    chi: Number
    rho: Number
    p: Number
    omega: Number
    omega_av: Number


def locodl(c: Clients, k: LoCoDLConstants) -> Step:
    """One iteration of LoCoDL's Algorithm 1; u and v are relative to u* and v*.

    The compressors enter through the errors C_i(d_i) - d_i of the differences d_i = x_hat_i - y_hat: their mean is zero
    and their second moments obey eqs. (2) and (3). Norms are those of eq. (12), divided by n.
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
    vectors = {
        "u": u,
        "v": v,
        "at_x": at_x,
        "at_y": at_y,
        "x_hat": x_hat,
        "y_hat": y_hat,
        "x_hat deviation": x_hat - c.mean(x_hat),
        "W_x": x_hat - centre,
        "W_y": y_hat - centre,
        "mean noise": c.mean(noise),
    }
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
    return Step(quantities, constraints, vectors)
