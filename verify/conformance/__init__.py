"""The theory as the test oracle of anybody's compressor or algorithm."""

from verify.conformance.algorithm import Client, algorithm, client
from verify.conformance.compressor import compressor
from verify.conformance.inputs import inputs
from verify.conformance.report import ConformanceError, Failure, Report

__all__ = ["Client", "ConformanceError", "Failure", "Report", "algorithm", "client", "compressor", "inputs"]
