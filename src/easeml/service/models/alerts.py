"""Alerts: an owner is told once that what serves may not be right any more, and when that is over."""

from typing import Any

from easeml.service.advice import tools
from easeml.service.models.watching import CANNOT_TELL, TOOL
from easeml.store import Transaction
from easeml.store.records import Task

ALERT, OVER = "watch.alert", "watch.over"
_VERDICT = "alert"  # of the tool


def note(tx: Transaction, task: Task, answered: dict[str, Any]) -> None:
    """Tell of an alert when a look at production is the first that says so, and of its end.

    ``answered``: ``verdict`` and ``advice`` of the tool. Nothing is told while an alert lasts. A
    look that cannot tell ends none.
    """
    told = tools.Told.from_json(task.payload)
    if told.tool != TOOL:
        return
    verdict = answered.get("verdict", "")
    is_alert = verdict == _VERDICT
    if verdict == CANNOT_TELL or is_alert == _is_open(tx, task.tenant_id, told.application_id):
        return
    data = {"reason": answered.get("advice", ""), "model_id": told.model_id}
    kind = ALERT if is_alert else OVER
    tx.events.append(kind, told.application_id, data, task.tenant_id)


def _is_open(tx: Transaction, tenant_id: str, application_id: str) -> bool:
    """Tell whether an alert of an application was told that is not over."""
    told = tx.events.newest_about(application_id, tenant_id, (ALERT, OVER))
    return told is not None and told.kind == ALERT
