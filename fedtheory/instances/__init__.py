"""Instances on which claims are tested, derived from what their setting says."""

from fedtheory.instances.base import Family, Instance, Recipe

__all__ = ["Family", "Instance", "Recipe"]
