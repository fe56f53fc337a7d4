"""What the search believes of a job's candidates before its first run."""

from collections.abc import Iterable, Mapping

from easeml.modules import Registry
from easeml.search import Arm, PastRun
from easeml.search.decision_log import FinishedRun
from easeml.service.knowledge.trials import Trial, features_of, newest_finished, trials_of
from easeml.store import Transaction
from easeml.store.records import Candidate


def arm_of(registry: Registry, candidate: Candidate) -> Arm:
    """Return a candidate as the search sees it."""
    return Arm(
        candidate.name,
        candidate.variant,
        candidate.predicted_cost,
        features_of(registry, candidate),
    )


def finished_runs(
    tx: Transaction, registry: Registry, known: Mapping[str, FinishedRun]
) -> dict[str, FinishedRun]:
    """Return what the newest finished tasks of all tenants teach, by the id of the task.

    ``known``: what was read before; what a finished task teaches never changes, so the others alone
    are read.
    """
    newest = newest_finished(tx)
    runs = {id: known[id] for id in newest if id in known}
    unknown = [id for id in newest if id not in known]
    for trial in trials_of(tx, unknown):
        features = features_of(registry, trial.candidate)
        runs[trial.task_id] = FinishedRun(
            trial.job_id, trial.job_created, trial.candidate.variant, features, trial.quality
        )
    return runs


def runs_of(registry: Registry, trials: Iterable[Trial]) -> list[PastRun]:
    """Return trials as the search learns from them."""
    return [
        (t.job_id, t.candidate.variant, features_of(registry, t.candidate), t.quality)
        for t in trials
    ]
