"""The least change that makes a refuted claim true: changes of its statement and its hypotheses are searched for
counterexamples, and those that survive are examined by all methods.
"""
