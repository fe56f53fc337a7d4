"""What the search believes of a job's candidates before its first run."""

from collections.abc import Iterable, Sequence

from easeml.modules import Registry
from easeml.search import Arm, Learned, PastRun, learned_beside
from easeml.service.knowledge.trials import Trial, features_of
from easeml.store.records import Candidate, Job


def arm_of(registry: Registry, candidate: Candidate) -> Arm:
    """Return a candidate as the search sees it."""
    return Arm(
        candidate.name, candidate.model, candidate.predicted_cost, features_of(registry, candidate)
    )


def learned_of(
    registry: Registry, arms: Sequence[Arm], trials: Iterable[Trial], job: Job, since: float
) -> Learned:
    """Return what all ``trials`` teach of the ``arms`` of a job.

    Jobs that were created ``since``, in seconds of the epoch, are searched beside it: see
    ``learned_beside``.
    """
    before, beside, own = [], [], []
    for trial in trials:
        (
            own if trial.job_id == job.id else beside if trial.job_created >= since else before
        ).append(trial)
    return learned_beside(arms, *(runs_of(registry, part) for part in (before, beside, own)))


def runs_of(registry: Registry, trials: Iterable[Trial]) -> list[PastRun]:
    """Return trials as the search learns from them."""
    return [
        (t.job_id, t.candidate.model, features_of(registry, t.candidate), t.quality) for t in trials
    ]
