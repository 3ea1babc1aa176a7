"""An audit as pages for a browser: an overview, each paper, each claim, and the errata of each paper.

Nothing is checked here: the pages show what an audit found (:mod:`verify.evidence.formats`) beside the statements
that the registry holds, and are drawn from a stored audit as well as from a fresh one.
"""
