"""Which arms that wait are believed to cost something else by now."""

from collections.abc import Mapping, Sequence

import numpy as np

from easeml.search.costs.belief import CostBelief
from easeml.search.costs.model import Work
from easeml.search.jobs import SearchJob

_SAME = 0.05  # share of a cost by which another belief is none
_DIGITS = 4  # of a cost: more say nothing, and would only make the log longer

ArmCosts = list[tuple[int, float]]


def changed_costs(
    belief: CostBelief, jobs: Mapping[str, SearchJob], works: Mapping[str, Sequence[Work]]
) -> dict[str, ArmCosts]:
    """Return the costs of arms that may be started, where they are no longer what ``jobs`` say.

    ``works``: of the arms of each job. Index and device seconds of each arm, by job.
    """
    startable = {name: job.startable for name, job in jobs.items()}
    asked: list[Work] = []
    for name, arms in startable.items():
        asked += map(works[name].__getitem__, arms.tolist())
    expected = belief.predict(asked).expected
    changed: dict[str, ArmCosts] = {}
    start = 0
    for name, arms in startable.items():
        believed = expected[start : start + arms.size]
        start += arms.size
        known = jobs[name].costs[arms]
        difference = np.abs(believed - known)
        other = difference > _SAME * known
        if other.any():
            told = map(_rounded, believed[other].tolist())
            changed[name] = list(zip(arms[other].tolist(), told, strict=True))
    return changed


def _rounded(cost: float) -> float:
    return float(f"{cost:.{_DIGITS}g}")
