"""Statements of papers on experiments: runs that can be resumed, decisions over seeds, and stored outcomes."""
