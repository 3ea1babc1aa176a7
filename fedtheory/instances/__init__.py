"""Instances on which claims are tested, derived from what their setting says."""

from fedtheory.instances.base import Instance, Instances, Recipe

__all__ = ["Instance", "Instances", "Recipe"]
