"""Reading code from its syntax tree, by a list of what is allowed: terms in which n, d and all letters are
indeterminates.
"""
