"""Limits that follow from what is certified of every iteration, by a few named rules whose premises are checked."""
