"""A folder in which files for Rocq are compiled upon the library."""

import subprocess

import pytest

from verify.export import rocq


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("rocq")
    (at / "Gram.v").write_text(rocq.LIBRARY.read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run(["coqc", "-q", "Gram.v"], cwd=at, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return at
