"""Forgetting old retrievals, with what they predicted: a schedule may go on for years."""

from collections import defaultdict

from easeml.contract.states import SourceAction
from easeml.service.models import predicted_files
from easeml.service.sources.refreshing import READ_AGAIN
from easeml.store import Store, Tables
from easeml.store.records import Retrieval

MOST_KEPT = 50  # retrievals of a data set by hand, and of each schedule


def forget_old(store: Store) -> int:
    """Forget all retrievals but the newest 50 of each schedule, and of each data set by hand.

    What came for them and what they predicted is named by nothing then, so that its space is given
    back (``service.retention``), unless a version has it. Returns how many.
    """
    with store.read() as tx:
        old = _old(tx.unscoped())
    for retrieval in old:
        with store.write() as tx:
            tables = tx.scoped(retrieval.tenant_id)
            _clear_tasks(tables, retrieval)
            if retrieval.action == SourceAction.PREDICT:
                predicted_files.forget(tx, tables, retrieval.application_id, retrieval.task_id)
            tables.retrievals.forget(tx.now() + 1.0, id=retrieval.id)
    return len(old)


def _clear_tasks(tables: Tables, retrieval: Retrieval) -> None:
    """Let the tasks of a retrieval name no files any more."""
    for task in tables.tasks.list(subject=retrieval.id, limit=None):
        cleared = {"source": "", "origin": {}} if task.spec_kind == READ_AGAIN else {}
        tables.tasks.update(task.id, result={}, payload={**task.payload, **cleared})


def _old(tables: Tables) -> list[Retrieval]:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for id, dataset_id, schedule_id in tables.retrievals.pick("id", "dataset_id", "schedule_id"):
        groups[dataset_id, schedule_id].append(id)
    ids: list[str] = []
    for group in groups.values():
        ids += group[:-MOST_KEPT]
    return tables.retrievals.list(id=ids, limit=None)
