"""How likely a candidate keeps limits, told by what like candidates measured.

A limit is on an amount above 0, such as seconds or bytes. The logarithm of what a configuration
takes is believed to be near that of the same model's configurations that were measured, the nearer
the surer; a candidate whose model was never measured may keep any limit. Expected improvement is
then weighed by that probability (J. Gardner et al., Bayesian optimization with inequality
constraints, ICML 2014, equation 8).
"""

import math
from collections.abc import Mapping, Sequence

from easeml.search.arms import Arm

UNLIKELY = 0.05
"""Below this chance a candidate is not worth a run while others are left."""
_REACH = 0.3  # of the unit cube of configurations: so far one tells of another
_NOISE = 0.1  # of a logarithm: what measuring the same again differs by
_SPREAD = 1.0  # of a logarithm: what far configurations of a model differ by


def chances(
    arms: Sequence[Arm],
    measured: Mapping[int, Mapping[str, float]],
    limits: Mapping[str, float],
) -> list[float]:
    """Return the probability, by arm, of keeping all ``limits``: 0 or 1 where it was measured.

    ``measured``: arm -> what it took, by the name of the limit; a name that is missing was not
    measured.
    """
    found = []
    for place, arm in enumerate(arms):
        chance = 1.0
        for name, limit in limits.items():
            own = measured.get(place, {}).get(name)
            if own is None:
                chance *= _predicted(arm, name, limit, arms, measured)
            else:
                chance *= float(own <= limit)
        found.append(chance)
    return found


def _predicted(
    arm: Arm,
    name: str,
    limit: float,
    arms: Sequence[Arm],
    measured: Mapping[int, Mapping[str, float]],
) -> float:
    """Return the chance that an arm keeps a limit, by the like arms that were measured."""
    weights, logs = [], []
    for place, amounts in measured.items():
        other = arms[place]
        if other.model == arm.model and amounts.get(name, 0.0) > 0:
            weights.append(_likeness(arm, other))
            logs.append(math.log(amounts[name]))
    total = sum(weights)
    if total == 0:
        return 1.0
    mean = sum(weight * log for weight, log in zip(weights, logs, strict=True)) / total
    unsure = math.hypot(_NOISE, _SPREAD * (1 - max(weights)))
    return 0.5 * (1 + math.erf((math.log(limit) - mean) / (unsure * math.sqrt(2))))


def _likeness(one: Arm, other: Arm) -> float:
    """Return how much a configuration tells of another of its model, above 0 and up to 1."""
    if len(one.features) != len(other.features):
        return math.exp(-0.5)
    distance = math.dist(one.features, other.features)
    return max(1e-6, math.exp(-0.5 * (distance / _REACH) ** 2))
