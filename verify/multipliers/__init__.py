"""Inequalities shown by multipliers that are functions of the letters, for every number of clients."""
