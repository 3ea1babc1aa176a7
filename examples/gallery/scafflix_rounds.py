"""Scafflix after T rounds, each client with a stepsize of its own: E Psi_T <= max(1 - gamma_min mu, 1 - p^2)^T Psi_0.

The method and its setting are those of one step, in scafflix.py beside this file.
Source: Yi, Condat and Richtarik, Explicit personalization and local training: double communication acceleration in
federated learning (2023), Theorem 1 without personalization.
"""

import sympy
from scafflix import largest, least, mu, p, potential, scafflix, setting, short

import fedtheory as ft

Psi = ft.Quantity("Psi", potential)
CLAIMS = tuple(
    ft.Claim(
        f"scafflix-rounds/{name}",
        setting=setting,
        statement=ft.bound(scafflix, ft.E(Psi.T) <= sympy.Max(1 - stepsize * mu, 1 - p**2) ** ft.T * Psi.zero),
        requires=(ft.each(short),),
    )
    for name, stepsize in (("bound", least), ("longest-stepsize", largest))
)
