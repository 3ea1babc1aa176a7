"""Proofs for all parameters: identities with multipliers, one module for each subject."""
