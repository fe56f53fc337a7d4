"""What is believed of the costs of runs while they come in, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from easeml.search.costs.model import CostModel, Costs, Work, learn_costs

OVERHEAD = 0.5  # seconds that a run on a few rows takes: to read, evaluate and write
_LEARN_AGAIN = 1.3  # times as many runs as when all was learned anew
_MOST_RUNS = 1000  # the newest, that are learned from


@dataclass(frozen=True, eq=False)
class CostBelief:
    """The costs of one machine, which all tenants share.

    ``runs``: those known, the oldest first; ``learned_from``: how many there were when the model
    was learned from all of them. Between, each run only moves the weights. ``overhead``: see
    ``CostModel``.
    """

    model: CostModel
    runs: tuple[tuple[Work, float], ...] = ()
    learned_from: int = 0
    overhead: float = OVERHEAD

    @staticmethod
    def of(runs: Sequence[tuple[Work, float]], overhead: float = OVERHEAD) -> "CostBelief":
        """Return the belief after some runs with their seconds, the oldest first."""
        newest = tuple(runs[-_MOST_RUNS:])
        return CostBelief(learn_costs(newest, overhead), newest, len(newest), overhead)

    def after(self, work: Work, seconds: float) -> "CostBelief":
        """Return the belief after one more run; see ``CostModel.after``."""
        runs = (*self.runs, (work, seconds))
        if len(runs) >= _LEARN_AGAIN * self.learned_from:
            return CostBelief.of(runs, self.overhead)
        return replace(self, model=self.model.after(work, seconds), runs=runs)

    def predict(self, works: Sequence[Work]) -> Costs:
        """Return the costs of some works."""
        return self.model.predict(works)
