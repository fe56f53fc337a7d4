"""What runs cost on the devices there are, learned at every result of every tenant."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from easeml.contract.states import TaskState
from easeml.modules import Registry
from easeml.search import CostBelief, SearchJob, Work
from easeml.search.costs import pace_of
from easeml.search.costs.news import ArmCosts, changed_costs
from easeml.service.knowledge.trials import cost_belief, finished_trials, own_seconds
from easeml.store import Transaction
from easeml.store.records import Task

MOST_COUNTED = 10_000  # tasks that are known to have been learned from, the newest
_PACED = 100  # newest runs whose costs on two kinds of devices are compared


class MachineCosts:
    """One belief for all searches. ``news``: it has changed since ``changes`` was asked."""

    def __init__(self, tx: Transaction, registry: Registry):
        trials = finished_trials(tx)
        self.belief: CostBelief = cost_belief(registry, trials)
        self.news = True
        self._counted = dict.fromkeys(trial.task_id for trial in reversed(trials))  # oldest first

    def learn(self, task: Task, work: Work) -> None:
        """Take in a task that has ended; one that is known already, or never ran, changes nothing.

        A run that failed tells no more than that it took at least so long.
        """
        if task.id in self._counted or not task.attempts:
            return
        self._count(task.id)
        seconds = own_seconds(task)
        work = replace(work, device=task.device)
        if task.state == TaskState.FAILED:
            believed = float(self.belief.predict([work]).seconds[0])
            if seconds <= believed:
                return
        self.belief = self.belief.after(work, seconds)
        self.news = True

    def _count(self, task_id: str) -> None:
        """Remember a task; of so many the oldest is no longer among the runs of the belief."""
        self._counted[task_id] = None
        if len(self._counted) > MOST_COUNTED:
            del self._counted[next(iter(self._counted))]

    def pace(self, device: str) -> float:
        """Return how many times as long runs take on a kind of device as on the usual one."""
        newest = [work for work, _ in self.belief.runs[-_PACED:]]
        return pace_of(self.belief, device, newest)

    def changes(
        self, jobs: Mapping[str, SearchJob], works: Mapping[str, Sequence[Work]]
    ) -> dict[str, ArmCosts]:
        """Return the costs of arms that wait, where they are believed to be others than the search
        has: index and device seconds, by job.
        """
        self.news = False
        return changed_costs(self.belief, jobs, works)
