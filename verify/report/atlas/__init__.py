"""An audit as pages for a browser: an overview, each paper, each claim, and the errata of each paper.

Nothing is checked here: the pages show what an audit found (:mod:`verify.evidence.formats`) beside the statements
that the registry holds, and are drawn from a stored audit as well as from a fresh one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: The default folder of the pages.
DEFAULT_HTML = "fedtheory-atlas"
_ATLAS = """\
Write an audit as HTML pages, from the audit.json that it wrote or from the results that ship with the package; nothing
is tested. Open DIR/index.html: an overview, a page for each paper and each claim, and the errata of each paper. The
pages need no network.
"""


def register(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command; ``command(name, run, help, *examples, description)`` makes a parser."""
    drawing = command(
        "atlas",
        f"{__name__}.run_atlas",
        "write a stored audit as HTML pages",
        "fedtheory atlas --out pages",
        "fedtheory atlas fedtheory-audit/audit.json --out pages",
        description=_ATLAS,
    )
    drawing.add_argument(
        "file", type=Path, nargs="?", metavar="AUDIT.json", help="output of an audit (default: the shipped results)"
    )
    drawing.add_argument(
        "--out",
        "--html",
        dest="html",
        type=Path,
        metavar="DIR",
        default=DEFAULT_HTML,
        help=f"output directory (default: {DEFAULT_HTML})",
    )


def run_atlas(args: Any) -> int:
    """Draw the pages of a stored audit."""
    # The drawing code takes a second to load.
    from verify import results
    from verify.evidence import formats
    from verify.report.atlas import site

    print(site.write(formats.read_audit(args.file or results.FILE), Path(args.html)))
    return 0
