"""Proofs in forms that travel: as data for a small checker."""
