"""What the search believes of a job's candidates before its first run."""

from collections.abc import Iterable

from easeml.modules import Registry
from easeml.search import Arm, PastRun
from easeml.search.decision_log import FinishedRun
from easeml.service.knowledge.trials import Trial, features_of, finished_trials
from easeml.store import Transaction
from easeml.store.records import Candidate


def arm_of(registry: Registry, candidate: Candidate) -> Arm:
    """Return a candidate as the search sees it."""
    return Arm(
        candidate.name, candidate.model, candidate.predicted_cost, features_of(registry, candidate)
    )


def finished_runs(tx: Transaction, registry: Registry) -> dict[str, FinishedRun]:
    """Return what finished tasks of all tenants teach, by the id of the task."""
    runs = {}
    for trial in finished_trials(tx):
        features = features_of(registry, trial.candidate)
        runs[trial.task_id] = FinishedRun(
            trial.job_id, trial.job_created, trial.candidate.model, features, trial.quality
        )
    return runs


def runs_of(registry: Registry, trials: Iterable[Trial]) -> list[PastRun]:
    """Return trials as the search learns from them."""
    return [
        (t.job_id, t.candidate.model, features_of(registry, t.candidate), t.quality) for t in trials
    ]
