"""What an installed wheel or sdist must do, in an environment that has nothing else: ``python tests/smoke.py FILE.py``.

FILE.py has theorems of one's own, of which none is refuted. With ``--core`` the package was installed without the extra
`audit`, which a check asks for in one sentence.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

import fedtheory
from verify import conformance


def command(*arguments: str, status: int = 0) -> str:
    """What the command prints; ``AssertionError`` where it ends with another status."""
    ran = subprocess.run(["fedtheory", *arguments], capture_output=True, text=True, timeout=900)
    assert ran.returncode == status, (arguments, ran.returncode, ran.stdout, ran.stderr)
    return ran.stdout if status == 0 else ran.stderr


def rand_k(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One quarter of the entries, times 4."""
    value, kept = np.zeros_like(x), rng.permutation(x.size)[: x.size // 4]
    value[kept] = 4 * x[kept]
    return value


def main(file: str, core: bool) -> None:
    """Run a command of each sort, and a conformance test."""
    installed = Path(fedtheory.__file__).resolve()
    assert "site-packages" in installed.parts, f"this tests {installed}, which is not installed"
    assert version("fedtheory") in command("--version")
    assert "feddcd/theorem-6.1/eq-10" in command("list", "feddcd", "--verdict", "refuted")
    assert "1/12" in command("why", "feddcd/theorem-6.1/eq-10")
    report = conformance.compressor(rand_k, d=40, omega=3)
    assert report.ok, str(report)
    command("trace", "diana", "--out", "run.npz")
    command("check-trace", "diana", "run.npz")
    if core:
        assert "[audit]" in command("check", file, status=2)
    else:
        assert "proved" in command("check", file)
    print(f"fedtheory {version('fedtheory')} on Python {sys.version.split()[0]}: all is well")


if __name__ == "__main__":
    main(next(a for a in sys.argv[1:] if a != "--core"), "--core" in sys.argv)
