"""The examples of conformance tests run, and find what they plant."""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec, spec_from_file_location

import pytest
from places import EXAMPLES


def load(name):
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = module_from_spec(spec)
    # Dataclasses look their module up.
    import sys

    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_message_passing():
    right, wrong = load("conformance_message_passing").main()
    assert right.ok, str(right)
    assert "averaged over the participants" in str(wrong)


def test_a_published_compressor():
    right, wrong = load("conformance_random_projection").main(samples=1000)
    assert right.ok, str(right)
    assert not wrong.ok


def test_a_recorded_trace(tmp_path):
    right, wrong = load("conformance_recorded_trace").main(tmp_path)
    assert right.ok, str(right)
    assert "sign of the server's control variate" in str(wrong)


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_torch():
    for name, report in load("conformance_torch").main().items():
        assert report.ok == name.endswith("right"), str(report)


@pytest.mark.skipif(find_spec("flwr") is None, reason="needs flwr")
def test_flower():
    for name, report in load("conformance_flower").main().items():
        assert report.ok == name.endswith("right"), str(report)
