"""Which models of a search are worth more configurations."""

from collections.abc import Callable
from itertools import islice

from easeml.search.jobs import SearchJob

_MODELS = 3  # the most promising ones, which always have something left to try
_LEAST = 2  # untried configurations of each


def models_to_extend(job: SearchJob, can_vary: Callable[[str], bool]) -> list[str]:
    """Return the promising models of a job that have few untried configurations, best first.

    Promising are the three models with the highest expected quality of any of their arms, tried
    ones included, among those that ``can_vary``. A job that has untried arms of other models only
    would have to try all of these before it went on with what is good. Without any result nothing
    is promising yet.
    """
    if job.best is None:
        return []
    left = set(job.untried.tolist()) - set(job.running)
    waiting = [job.arms[arm].model for arm in left]
    return [model for model in _promising(job, can_vary) if waiting.count(model) < _LEAST]


def _promising(job: SearchJob, can_vary: Callable[[str], bool]) -> list[str]:
    best_first = job.posterior.mean.argsort(kind="stable")[::-1]
    models = dict.fromkeys(job.arms[arm].model for arm in best_first.tolist())
    return list(islice(filter(can_vary, models), _MODELS))
