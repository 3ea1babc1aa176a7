"""Numbers in files are taken as they are written, or refused in one sentence."""

import pytest

from fedtheory.numbers import sourcecode
from verify.base import own


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("1e400", "1e400 is infinity"),
        ("-1e400", "1e400 is infinity"),
        ("1e100000000", "1e100000000 is infinity"),
        ("1_0.5E+400", "is infinity"),
        ("1e-400", "1e-400 is 0"),
        ("0.1e-100000000", "is 0"),
        ("9" * 400 + ".0", "is infinity"),
        ("0." + "0" * 400 + "1", "is 0"),
        ("0.1" + "0" * 5000 + "1", "more than 1000 characters"),
    ],
)
def test_what_python_makes_something_else_of_is_refused(number, why, tmp_path):
    text = f"import math\n\n\ndef f(problem, params, state):\n    return state.x * {number}\n"
    (tmp_path / "beside.py").write_text(text)
    (tmp_path / "own.py").write_text("import beside\n\nCLAIMS = ()\n")
    with pytest.raises(ValueError, match=rf"beside.py, line 5: .*{why}.*: write it with integers"):
        own.load(tmp_path / "own.py")


@pytest.mark.parametrize(
    "number", ["1e300", "0e-400", "0.0", "5e-324", "1_0.5", ".5", "5.", "10**400", "0.1e-5", "1e400j"]
)
def test_what_is_taken_as_it_is_written_is_not(number):
    sourcecode.check_numbers("own.py", f"x = {number}\ny = f'{{0.1}} {{x:.3f}} 1e400'\n")
