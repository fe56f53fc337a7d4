"""A number with its interval."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and the interval that is claimed for it; without one, both ends are the number."""

    value: float
    low: float
    high: float
