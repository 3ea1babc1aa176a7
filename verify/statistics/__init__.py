"""Anytime-valid tests: e-processes, their power, and the error level of a whole audit shared out."""
