"""Objectives that methods and papers run on: losses of data, batches, local solvers, functions made for bounds.

A leaf: nothing that states or checks a claim imports it.
"""
