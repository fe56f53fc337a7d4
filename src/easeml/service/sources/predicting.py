"""Predicting what a source has by now: the file that came is predicted by what is live then."""

from easeml.contract.states import RetrievalState
from easeml.errors import EasemlError
from easeml.service.limits import quotas
from easeml.service.models import predicted_files
from easeml.service.sources import retrievals
from easeml.service.tasks import requests
from easeml.store import Transaction
from easeml.store.records import Json, Retrieval, Task


def arrived(tx: Transaction, retrieval: Retrieval, told: Json, artefact: str) -> None:
    """Have the rows of a file predicted that came for a retrieval."""
    tables = tx.scoped(retrieval.tenant_id)
    try:
        quotas.check_computing(tx, retrieval.tenant_id)
    except EasemlError as error:
        return retrievals.end(tx, retrieval, RetrievalState.FAILED, note=str(error))
    application = tables.applications.find(id=retrieval.application_id, erased=False)
    if application is None or application.deleted is not None or not application.live_model_id:
        return retrievals.end(
            tx, retrieval, RetrievalState.FAILED, note="The application serves no model."
        )
    task = requests.request(
        tx,
        retrieval.tenant_id,
        predicted_files.KIND,
        application.live_model_id,
        filename=told["filename"],
        source=artefact,
    )
    tables.retrievals.update(retrieval.id, task_id=task.id)
    return None


def predicted(tx: Transaction, task: Task, rows: int) -> None:
    """Let the retrieval end whose rows a task predicted, if it was one's."""
    retrieval = tx.scoped(task.tenant_id).retrievals.find(task_id=task.id)
    if retrieval is not None:
        retrievals.end(tx, retrieval, RetrievalState.DONE, note=f"{rows:,} rows were predicted.")
