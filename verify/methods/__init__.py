"""One method of checking a module."""
