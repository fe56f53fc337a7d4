"""The rows of production by which two models are compared: what came since the last look."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from easeml.contract.states import RolloutWay, TaskGroup
from easeml.service.models import released_rows
from easeml.service.models.told_truths import named_rows
from easeml.store import Tables, grouped
from easeml.store.records import Feedback, ProductionRow, Rollout

KIND = "compare"  # of the task that predicts rows
_MOST_ROWS = 500  # that a task predicts
_SAMPLE = 50  # rows without truth that a task predicts, for how many predictions change
_SAMPLE_SECONDS = 10.0  # between two tasks for them
_LATE = 5.0  # seconds in which something may still arrive behind what is younger
_MOST_TOLD = 2000


@dataclass(frozen=True, slots=True)
class News:
    """What came since the last look at a roll-out.

    ``told``: words on rows. ``ready``: rows of these that both models have predicted. ``wanted``:
    rows that the other model is to predict. ``failures``: requests that the new model failed on.
    ``done``: the id of the last row that need not be looked at again; empty: there is none new.
    """

    told: list[Feedback]
    ready: list[ProductionRow]
    wanted: list[ProductionRow]
    failures: int
    done: str = ""

    def told_until(self, now: float) -> str:
        """Return the id of the last word that need not be looked at again; empty: there is none.

        Behind it no older one will arrive, and all rows that words are about go to the task.
        """
        if len(self.wanted) >= _MOST_ROWS:
            return ""
        settled = [word.id for word in self.told if word.created < now - _LATE]
        return max(settled, default="")

    def seen_until(self, rollout: Rollout) -> str:
        """Return the id of the last row that was looked at.

        Of a model that was released, of those that are done with: rows count by runs.
        """
        if rollout.way == RolloutWay.AFTER:
            return max(rollout.seen, self.done)
        return max([rollout.seen, *(row.id for row in self.wanted)])


def news(tables: Tables, rollout: Rollout, now: float) -> News:
    """Return what came since the last look at a roll-out."""
    told = tables.feedback.list(
        application_id=rollout.application_id, after=rollout.told, limit=_MOST_TOLD
    )

    def is_predicted(row: ProductionRow) -> bool:
        return row.rollout_id == rollout.id or row.other is not None

    if rollout.way == RolloutWay.AFTER:
        found, done = released_rows.to_count(tables, rollout, named_rows(tables, rollout, told))
        rows = grouped(found, is_predicted)
        wanted = rows[False][:_MOST_ROWS]
        return News(told, rows[True], wanted, 0, done)
    rows = grouped(named_rows(tables, rollout, told), is_predicted)
    wanted = rows[False][:_MOST_ROWS] or _sample(tables, rollout, now)
    log = tables.request_logs.find(id=rollout.application_id)
    return News(told, rows[True], wanted, log.failed if log else 0)


def by_model(rollout: Rollout, rows: Sequence[ProductionRow]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows by which model is to predict them: the one that did not answer."""
    found: dict[str, list[dict[str, Any]]] = {"new": [], "old": []}
    for row in rows:
        other = "old" if row.model_id == rollout.model_id else "new"
        found[other].append({"id": row.id, "inputs": row.inputs})
    return found


def _sample(tables: Tables, rollout: Rollout, now: float) -> list[ProductionRow]:
    """Return a few of the newest rows, once in a while, whether or not their truth will come."""
    before = tables.tasks.newest(kind=TaskGroup.ADVISE, subject=rollout.id)
    if before is not None and now - before.created < _SAMPLE_SECONDS:
        return []
    newest = tables.production_rows.list(
        application_id=rollout.application_id, newest_first=True, limit=_SAMPLE
    )
    return [row for row in newest if _is_unseen(rollout, row)]


def _is_unseen(rollout: Rollout, row: ProductionRow) -> bool:
    """Is it a row that one of the models answered, and that the other was not asked about?"""
    is_of_either = row.model_id in (rollout.model_id, rollout.against_id)
    return is_of_either and row.id > rollout.seen and row.other is None
