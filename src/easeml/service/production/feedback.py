"""What was true of rows that an endpoint was asked about, as it becomes known."""

from easeml.contract.production import Feedback, FeedbackKept
from easeml.errors import Conflict, InvalidInput
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.production import vocabulary
from easeml.store import Store, Tables, records

WITHDRAWN = "nobody"
"""Who says that a row was drawn at random, where an owner has taken that back."""
Named = tuple[str, int] | str
"""A row: its request and number, or its key."""


def give(store: Store, caller: Caller, application_id: str, feedback: Feedback) -> FeedbackKept:
    """Keep what was true of rows that an endpoint was asked about.

    It is kept also where the row is not (yet), and the newest word on a row counts. A number may
    have a decimal comma. Raises ``NotFound``, and ``InvalidInput`` for what is empty, for a list
    where rows have one answer, and for a comma that may be one of thousands: then nothing is kept.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        _refuse_numbers_together(tables, application)
        # Of two words on a row in one request, the later one is the newer one.
        ids = sorted(new_id("told") for _ in feedback.root)
        words = vocabulary.of_application(tables, application)
        values = _kept(words, feedback)
        told = []
        for id, one, value in zip(ids, feedback.root, values, strict=True):
            told.append(
                records.Feedback(
                    id=id,
                    tenant_id=caller.tenant_id,
                    application_id=application.id,
                    request_id=one.request_id,
                    row=one.row,
                    key=one.key,
                    value={"value": value},
                    drawn=_drawn(caller, one.at_random),
                )
            )
        tables.feedback.add_all(told)
        known = sum(_is_known(tables, application.id, told))
    foreign = sum(not words.has(value) for value in values)
    names = [one.key or (one.request_id, one.row) for one in feedback.root]
    different = set(zip(names, map(str, values), strict=True))
    return FeedbackKept(
        kept=len(told),
        known=known,
        foreign=foreign,
        drawn=sum(one.at_random is True for one in feedback.root),
        withdrawn=sum(one.at_random is False for one in feedback.root),
        contradicted=len(different) - len(set(names)),
    )


def word_on(
    row: records.ProductionRow, value: object, *, chosen: bool = False, drawn: str = ""
) -> records.Feedback:
    """Return, to be kept, what somebody who was asked about a row said to be true of it.

    ``chosen`` and ``drawn`` say how the row was come by, as in the record.
    """
    return records.Feedback(
        id=new_id("told"),
        tenant_id=row.tenant_id,
        application_id=row.application_id,
        request_id=row.request_id,
        row=row.row,
        key="",
        value={"value": value},
        chosen=chosen,
        drawn=drawn,
    )


def _drawn(caller: Caller, at_random: bool | None) -> str:
    """Return who says that a row was drawn at random, as it is kept."""
    if at_random is None:
        return ""
    return caller.user_id if at_random else WITHDRAWN


def _refuse_numbers_together(tables: Tables, application: records.Application) -> None:
    """Raise ``Conflict`` where rows have several numbers: nothing could be made of a truth."""
    version = tables.versions.get(application.version_id)
    if version.target_type != "tensor":
        return
    raise Conflict(
        "What was true is told of rows with one answer or with labels. These have several numbers.",
        where=application.id,
        remedy="Feed them as new rows: easeml app feed ID FILE.",
    )


def _kept(words: vocabulary.Vocabulary, feedback: Feedback) -> list[str | float | bool]:
    """Return what was said, as it is kept; raises ``InvalidInput`` naming the row, from 0."""
    values = []
    for number, one in enumerate(feedback.root):
        try:
            values.append(words.kept(one.value))
        except InvalidInput as error:
            where = f"row {number}: {error.where}"
            raise InvalidInput(error.message, where=where, remedy=error.remedy) from error
    return values


def answers(tables: Tables, application: records.Application) -> dict[Named, object]:
    """Return what was said to be true, as ``truths``, without what no model could answer.

    One word of another vocabulary would make a table of rows unreadable.
    """
    found = truths(tables, application.id)
    words = vocabulary.of_application(tables, application)
    return {name: truth for name, truth in found.items() if words.has(truth)}


def truths(tables: Tables, application_id: str) -> dict[Named, object]:
    """Return what was said to be true, by request and row, or by key; the newest word counts."""
    found: dict[Named, object] = {}
    for one in tables.feedback.list(application_id=application_id, limit=None):
        name = one.key or (one.request_id, one.row)
        found[name] = one.value["value"]
    return found


def times(tables: Tables, application_id: str) -> dict[Named, float]:
    """Return when the newest word came, by request and row, or by key."""
    found: dict[Named, float] = {}
    for one in tables.feedback.list(application_id=application_id, limit=None):
        name = one.key or (one.request_id, one.row)
        found[name] = one.created
    return found


def rows_told(tables: Tables, application_id: str, since: float) -> int:
    """Return of how many rows that are kept something was said since a moment."""
    told = tables.feedback.list(application_id=application_id, since=since, limit=None)
    names = [one.key or (one.request_id, one.row) for one in told]
    newest = dict(zip(names, told, strict=True))
    return sum(_is_known(tables, application_id, list(newest.values())))


def _is_known(tables: Tables, application_id: str, told: list[records.Feedback]) -> list[bool]:
    """Tell of each whether its row was kept."""
    rows = tables.production_rows
    asked_keys = [one.key for one in told if one.key]
    asked_ids = [_row_id(one) for one in told if one.request_id]
    keys = set(rows.column("key", application_id=application_id, key=asked_keys))
    ids = set(rows.column("id", application_id=application_id, id=asked_ids))
    return [one.key in keys or _row_id(one) in ids for one in told]


def _row_id(told: records.Feedback) -> str:
    """Return the id of the row of production that feedback is about."""
    return f"{told.request_id}.{told.row:06}"
