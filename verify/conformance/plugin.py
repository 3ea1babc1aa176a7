"""Where the pytest plugin was: environments in which an older version was installed load it under this name."""

from fedtheory.pytest_plugin import conformance, pytest_configure

__all__ = ["conformance", "pytest_configure"]
