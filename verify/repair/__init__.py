"""The least change that makes a refuted claim true: changes of its statement and its hypotheses, each searched for a
counterexample, and those that stand examined by all methods."""
