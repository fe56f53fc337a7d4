"""What searches on different versions reached on the same rows: those of validation alone.

Of a small version the train rows judge as well (decision 0124). Answers of people change these: rows
join whose answer nobody could tell, and wrong answers are put right. What a search reaches on them
tells of the rows, not of what was learned.
"""

from operator import attrgetter

from easeml.store import Tables
from easeml.store.records import Application, Job


def of_job(tables: Tables, job_id: str) -> float | None:
    """Return what the best model of a search scores on the validation rows alone; None without one.

    The best is the one that the search found: ensembles, which were chosen by these rows, are none.
    """
    models = tables.models.list(job_id=job_id, error="", limit=None)
    trained = filter(attrgetter("candidate_id"), models)
    best = max(trained, key=attrgetter("standing"), default=None)
    if best is None:
        return None
    return best.on_validation_rows


def are_alike(tables: Tables, application: Application, one: Job, other: Job) -> bool:
    """Tell whether the same validation rows judged two searches, by the same objective."""
    first = tables.versions.get(one.version_id)
    second = tables.versions.get(other.version_id)
    rows = first.summary.rows_of("validation")
    corrected = first.summary.corrected("validation")
    if rows != second.summary.rows_of("validation"):
        return False
    if corrected != second.summary.corrected("validation"):
        return False
    by_objective = one.is_judged_by(application.objective)
    return by_objective == other.is_judged_by(application.objective)
