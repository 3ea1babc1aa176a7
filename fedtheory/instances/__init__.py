"""The families of instances, by the name of the setting that they realise."""

from fedtheory.instances import baselines, feddcd, feddcd_accelerated, feddcd_bounds, feddcd_inexact, finite_sum, locodl
from fedtheory.instances.base import Family, Instance
from fedtheory.instances.strained import with_strain

_PLAIN: dict[str, Family] = {
    **feddcd.FAMILIES,
    **feddcd_accelerated.FAMILIES,
    **feddcd_bounds.FAMILIES,
    **feddcd_inexact.FAMILIES,
    **locodl.FAMILIES,
    **baselines.FAMILIES,
    **finite_sum.FAMILIES,
}
_ALL = {name: with_strain(plain) for name, plain in _PLAIN.items()}

__all__ = ["Family", "Instance", "family"]


def family(setting: str) -> Family:
    """The instances of a setting; ``ValueError`` if none are known."""
    if setting not in _ALL:
        raise ValueError(f"no instances are known for the setting {setting!r}")
    return _ALL[setting]
