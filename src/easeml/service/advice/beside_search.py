"""What a search that runs can spare for looking at models that are soon replaced."""

from collections.abc import Sequence

from easeml.contract.states import TASKS_UNDER_WAY, JobState
from easeml.store.records import Job, Task

_SHARE = 0.05  # of the device time of a search
_LEAST_SECONDS = 0.3  # of a task that looks, however few the rows


def has_time(job: Job, asked: Sequence[Task], seconds: float = _LEAST_SECONDS) -> bool:
    """Whether one more look takes little beside the search of ``job``, or the search has ended.

    ``asked``: the tasks that looked so far. ``seconds``: what the next one takes at least.
    """
    if job.state != JobState.RUNNING:
        return True
    if any(task.state in TASKS_UNDER_WAY for task in asked):
        return False
    spent = sum(task.cost for task in asked)
    return spent + seconds <= _SHARE * job.cost
