"""Certificates for a whole class, each at one choice of the parameters, and at which choices they are asked for."""
