"""Fairness between tenants that use several things at once."""

from collections.abc import Mapping


def dominant_share(used: Mapping[str, float], capacity: Mapping[str, float]) -> float:
    """Return the largest share that a tenant has of anything, from 0 to 1.

    Who has the smallest is served next (dominant resource fairness: Ghodsi et al., NSDI 2011).
    ``used``, ``capacity``: amounts by name; of what there is none, nobody has a share.
    """
    shares = [used.get(name, 0.0) / whole for name, whole in capacity.items() if whole > 0]
    return max(shares, default=0.0)
