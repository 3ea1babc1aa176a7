"""A paper: its record, which the entry point names."""

import fedtheory as ft
from sketch.method import CLAIMS

PAPER = ft.Paper("sketch", "Nobody: Sketch of a paper (2026)", CLAIMS, tables={"sketch/steps": "sketch.table"})
