"""Labels that people are asked for to watch a model, of rows of production drawn at random."""

import random
from functools import partial
from itertools import filterfalse
from operator import attrgetter

from easeml.contract.states import WorkKind, WorkState
from easeml.contract.watching import NewWatchLabels, WatchLabels
from easeml.errors import Conflict
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.advice import asked_models
from easeml.service.answers import label_budget, standing
from easeml.service.models import picked_rows, watched_rows, watched_samples
from easeml.service.models.told_truths import row_id
from easeml.service.models.watched_samples import ITSELF
from easeml.service.production import feedback, labelled_rows
from easeml.store import Store, Tables, Transaction, grouped
from easeml.store.records import Application, ProductionRow, WorkItem
from easeml.store.shapes import WorkQuestion

_KIND = WorkKind.WATCH_LABEL
_ID = attrgetter("id")


def ask(store: Store, caller: Caller, application_id: str, wish: NewWatchLabels) -> WatchLabels:
    """Ask people about rows of the newest look at production, drawn at random by easeml.

    Where the truth of one is known already, nobody is asked, and it counts as one of the sample.
    The next look learns from the answers. Raises ``NotFound``, and ``Conflict`` where nothing was
    looked at, rows are not kept with all their columns, or the budget of labels has too few left.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        asked_models.check_one_answer(tables, application)
        picked_rows.check_kept(tables, application)
        rows = _not_drawn(store, tables, application)
        sample = random.SystemRandom().sample(rows, min(wish.rows, len(rows)))
        truths = feedback.answers(tables, application)
        truth_of = partial(labelled_rows.truth_of, truths=truths)
        by_known = grouped(sample, lambda row: truth_of(row) is not None)
        asked, known = by_known[False], by_known[True]
        _check_budget(tx, tables, application, len(asked))
        tables.work_items.add_all(list(map(partial(_item, application), asked)))
        words = map(partial(feedback.word_on, drawn=ITSELF), known, map(truth_of, known))
        tables.feedback.add_all(list(words))
        if asked:
            items = {"items": len(asked)}
            tx.events.append("work.found", application.id, items, application.tenant_id)
    return WatchLabels(
        application_id=application_id,
        asked=len(asked),
        known=len(known),
        left=len(rows) - len(sample),
    )


def keep_answers(tables: Tables, application: Application) -> None:
    """Keep what people said as words on rows that easeml has drawn.

    Nobody is asked any more about rows of a model that does not serve.
    """
    items = _items(tables, application, [WorkState.OPEN, WorkState.ANSWERED])
    rows = tables.production_rows.by_id(id=list(map(_row_of, items)))
    kept = list(filter(lambda item: _row_of(item) in rows, items))
    said = standing.settled(tables, kept)
    told = []
    for item in filter(lambda item: item.id in said, kept):
        told.append(feedback.word_on(rows[_row_of(item)], said[item.id], drawn=ITSELF))
    tables.feedback.add_all(told)
    served = grouped(rows.values(), attrgetter("model_id"))[application.live_model_id]
    of_served = set(map(_ID, served))
    gone = map(_ID, filterfalse(lambda item: _row_of(item) in of_served, items))
    states = dict.fromkeys(gone, WorkState.CLOSED) | dict.fromkeys(said, WorkState.USED)
    tables.work_items.set_each("state", states)


def number_answered(tables: Tables, application: Application) -> int:
    """Return how many answers wait for the next look."""
    return len(_items(tables, application, [WorkState.ANSWERED]))


def number_asked(tables: Tables, application: Application) -> int:
    """Return how many questions are open."""
    return len(_items(tables, application, [WorkState.OPEN]))


def _items(tables: Tables, application: Application, states: list[WorkState]) -> list[WorkItem]:
    return tables.work_items.list(
        application_id=application.id, kind=_KIND, state=states, limit=None
    )


def _not_drawn(store: Store, tables: Tables, application: Application) -> list[ProductionRow]:
    """Return the rows of the newest look that are in no sample yet; raises ``Conflict``.

    Rows of which somebody said that they were drawn, and that look unlike the others, are in none.
    """
    seen = watched_samples.seen(store, tables, application, watched_rows.tries(tables, application))
    rows = tables.production_rows.list(
        application_id=application.id, model_id=application.live_model_id, limit=None
    )
    looked = list(filterfalse(seen.is_new, rows))
    if not looked:
        raise Conflict(
            "No rows of production were looked at for the model that serves.",
            where=application.id,
            remedy="Look at them first: easeml app watch-report ID",
        )
    newest = max(looked, key=attrgetter("created")).looked
    items = tables.work_items.list(application_id=application.id, kind=_KIND, limit=None)
    drawn = set(map(_row_of, items))
    words = tables.feedback.list(application_id=application.id, drawn=ITSELF, limit=None)
    drawn.update(map(row_id, words))
    of_look = grouped(looked, attrgetter("looked"))[newest]
    free = filterfalse(partial(seen.is_sampled, who=ITSELF), of_look)
    left = list(filterfalse(lambda row: row.id in drawn, free))
    if not left:
        raise Conflict(
            "All rows of the newest look were drawn by now.",
            where=application.id,
            remedy="Ask again after the next look at new rows.",
        )
    return left


def _check_budget(tx: Transaction, tables: Tables, application: Application, wanted: int) -> None:
    """Raise ``Conflict`` where the application's budget of labels has too few left."""
    left = label_budget.within(tables, application, _KIND, tx.now(), wanted)
    if left < wanted:
        raise Conflict(
            f"{wanted} labels would be asked for, and the budget has {left} left.",
            where=application.id,
            remedy="Ask for fewer, or raise it: easeml app labels ID --budget N",
        )


def _item(application: Application, row: ProductionRow) -> WorkItem:
    values = dict(zip(row.inputs, map(picked_rows.as_read, row.inputs.values()), strict=True))
    values.pop(application.target, None)
    return WorkItem(
        id=new_id("item"),
        tenant_id=application.tenant_id,
        application_id=application.id,
        version_id=application.version_id,
        kind=_KIND,
        row=row.row,
        column=application.target,
        information=0.0,
        question=WorkQuestion(values=values, source=watched_rows.TOOL, of_row=row.id),
    )


def _row_of(item: WorkItem) -> str:
    return item.question.of_row
