"""Subtly wrong claims, methods and compressors, generated from those there are: what a checker must find."""

from verify.mutation.bank import Mutant, bank

__all__ = ["Mutant", "bank"]
