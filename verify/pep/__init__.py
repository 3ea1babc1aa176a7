"""Worst cases over a class: vectors known by their inner products, programs, exact certificates."""
