"""Violations looked for: instances, their worst states, and counterexamples made small."""
