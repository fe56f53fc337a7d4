"""What the search believes of a job's candidates before its first run."""

from collections.abc import Iterable, Sequence

from easeml.modules import Registry
from easeml.search import Arm, Learned, PastRun, learned
from easeml.service.experience import Trial, features_of
from easeml.store.records import Candidate


def arm_of(registry: Registry, candidate: Candidate) -> Arm:
    """Return a candidate as the search sees it."""
    return Arm(candidate.name, candidate.model, candidate.predicted_cost, features_of(registry, candidate))


def learned_of(registry: Registry, arms: Sequence[Arm], trials: Iterable[Trial], own: Iterable[Trial] = ()) -> Learned:
    """Return what ``trials`` of other jobs teach of ``arms``, and the job's ``own``."""
    return learned(arms, runs_of(registry, trials), runs_of(registry, own))


def runs_of(registry: Registry, trials: Iterable[Trial]) -> list[PastRun]:
    """Return trials as the search learns from them."""
    return [(t.job_id, t.candidate.model, features_of(registry, t.candidate), t.quality) for t in trials]
