"""What is not linear in inner products is told as such, and not as an error of the code that asks for it."""

import numpy as np
import pytest

from verify.pep.gram import BasisVector, NotLinear, Vector


def test_a_division_by_what_depends_on_the_state():
    x = Vector({BasisVector("f", "x"): 1})
    for divide in (
        lambda: 1 / (x * x),
        lambda: (x * x) / (x * x),
        lambda: x / (x * x),
        lambda: np.array([x]) / (x * x),
    ):
        with pytest.raises(NotLinear, match="a division by a scalar that is not known"):
            divide()
    assert ((x * x) / 2).entries == (x * x / 2).entries
