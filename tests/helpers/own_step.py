"""Claims of one's own about one step, or about one state, and whether multipliers prove them."""

from collections.abc import Mapping, Sequence
from typing import Any

import fedtheory as ft
from fedtheory.claims import Claim
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

#: Steps of work that suffice for what is proved in the tests.
LITTLE = STEP // 20


def stated(
    functions: Any,
    step: Any,
    relation: Any,
    requires: Sequence[Any] = (),
    state: Mapping[str, str] | None = None,
    params: Sequence[str] = ("gamma",),
    **more: Any,
) -> Claim:
    """Return the claim of a relation about a method; ``more``: of the setting."""
    method = ft.method("m", step, params, {"x": "point"} if state is None else state)
    if functions.named:
        more["clients"] = (functions.named,)
    setting = ft.Setting(algorithm=method, functions=functions, **more)
    after = any(quantity.after for quantity in relation.quantities)
    statement = ft.one_step(method, relation) if after else ft.inequality(relation)
    return ft.Claim("mine/step", setting=setting, statement=statement, requires=tuple(requires))


def proves(of: Claim, work: int = LITTLE) -> bool:
    """Return True if multipliers prove a claim within so much work."""
    return not isinstance(prove(of, work), str)
