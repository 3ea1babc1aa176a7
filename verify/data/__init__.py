"""Data as letters: code about labelled examples on clients, read in index notation for every number of examples,
clients and features.
"""
