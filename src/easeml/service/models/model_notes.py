"""What tools found about a model goes with it: to the overview, and into its card."""

from typing import Any

from easeml.service.advice import tools
from easeml.store import Transaction
from easeml.store.records import Task


def add(tx: Transaction, task: Task, answered: dict[str, Any]) -> None:
    """Add to the notes of the model that was asked about what a tool says of it.

    ``answered``: ``of_model`` of the tool's answer. A sentence takes the place of the one with the
    same words before its first colon, which an earlier answer brought.
    """
    model_id = tools.Told.from_json(task.payload).model_id
    found = answered.get("of_model", [])
    if not model_id or not found:
        return
    tables = tx.scoped(task.tenant_id)
    notes = tables.models.get(model_id).notes
    said = set(map(_subject, found))
    kept = [note for note in notes if _subject(note) not in said]
    tables.models.update(model_id, notes=[*kept, *found])


def _subject(note: str) -> str:
    return note.partition(":")[0]
