"""Models of steps, about which identities with stated weights are proved: a leaf, one module a model.

A setting names its model (:class:`fedtheory.settings.Identities`), and says which of its quantities is what there.
"""

from __future__ import annotations

from collections.abc import Mapping

from verify.proofs.identity import StepModel
from verify.step_models import inexact_blocks, memory, one_round

#: The models, by the names by which settings ask for them.
MODELS: Mapping[str, StepModel] = {
    "inexact blocks": inexact_blocks,
    "memory": memory,
    "one round": one_round,
}
