"""What searches on different versions reached on the same rows: those of validation alone.

Of a small version the train rows judge as well (decision 0124). Answers of people change these: rows
join whose answer nobody could tell, and wrong answers are put right. What a search reaches on them
tells of the rows, not of what was learned.
"""

from collections.abc import Collection
from operator import attrgetter

from easeml.store import Tables, grouped
from easeml.store.records import Application, Job


def by_job(tables: Tables, job_ids: Collection[str]) -> dict[str, float]:
    """Return by job what its best model scores on the validation rows alone, as far as one has any.

    The best is the one that the search found: ensembles, which were chosen by these rows, are none.
    """
    models = tables.models.list(job_id=sorted(job_ids), error="", limit=None)
    found = filter(attrgetter("candidate_id"), models)
    of_job = grouped(found, attrgetter("job_id"))
    best = {id: max(trained, key=attrgetter("standing")) for id, trained in of_job.items()}
    return {id: model.on_validation_rows for id, model in best.items()}


def are_alike(tables: Tables, application: Application, one: Job, other: Job) -> bool:
    """Tell whether the same validation rows judged two searches, by what the application goes by."""
    jobs = (one, other)
    versions = [tables.versions.get(job.version_id) for job in jobs]
    rows = {version.summary.rows_of("validation") for version in versions}
    by_objective = [job.is_judged_by(application.objective) for job in jobs]
    return len(rows) == 1 and all(by_objective)
