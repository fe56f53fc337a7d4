"""Which arms that wait are believed to cost something else by now."""

from collections.abc import Mapping, Sequence

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
    asked: list[tuple[str, int]] = []
    for name, job in jobs.items():
        asked += [(name, arm) for arm in job.startable.tolist()]
    expected = belief.predict([works[name][arm] for name, arm in asked]).expected
    changed: dict[str, ArmCosts] = {}
    for (name, arm), cost in zip(asked, expected.tolist(), strict=True):
        known = float(jobs[name].costs[arm])
        if abs(cost - known) > _SAME * known:
            changed.setdefault(name, []).append((arm, float(f"{cost:.{_DIGITS}g}")))
    return changed
