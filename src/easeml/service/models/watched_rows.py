"""The rows that a look at production gets: new ones, and those that it saw before their truth came."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import filterfalse
from operator import attrgetter

from easeml.contract.states import TASKS_UNDER_WAY, TaskGroup, TaskState
from easeml.service.advice import tools
from easeml.service.models.told_truths import of_either, row_id
from easeml.service.production import feedback, labelled_rows, vocabulary
from easeml.store import Store, Tables, grouped, records
from easeml.store.records import Application, Json, ProductionRow
from easeml.store.shapes import Shape

TOOL = "monitor"
MOST_ROWS = 20_000  # that are looked at in one batch, the oldest first; as many truths at most
_LATEST = 600.0
"""Seconds after which no transaction that gives words is still open: PostgreSQL ends one that does
nothing for five minutes (``store.database``).
"""
_CREATED, _ID, _AGE = attrgetter("created"), attrgetter("id"), attrgetter("created", "id")
_SAW_NOTHING = (TaskState.FAILED, TaskState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Looked(Shape):
    """What a task was told to look at: new rows, and rows whose truth came late.

    ``told_until``: the newest word on a row that it knew, by its time. 0 in looks of a release that
    did not keep it. ``drawn``: whose rows were said to be drawn at random.
    """

    newer_artefact: str = ""
    late_artefact: str = ""
    model_id: str = ""
    told_until: float = 0.0
    drawn: list[Json] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Window:
    """What no look has seen.

    Rows are marked with the look that took them, and with the one that took their truth. So none is
    missed, and none is taken twice, in whichever order transactions end. ``unseen``: the marks that
    count for none: nothing, and looks that failed. ``told_until``: of the newest word that was
    looked at. ``doubted``: samples, as rows are marked with them, that were found to be none.
    """

    unseen: tuple[str, ...] = ("",)
    told_until: float = 0.0
    doubted: frozenset[str] = frozenset()

    def is_new(self, row: ProductionRow) -> bool:
        """Tell whether no look has taken a row."""
        return row.looked in self.unseen

    def is_learned(self, row: ProductionRow) -> bool:
        """Tell whether a look has taken the truth of a row."""
        return row.learned not in self.unseen

    def is_sampled(self, row: ProductionRow, who: str) -> bool:
        """Tell whether a look has taken the truth of a row as one of a sample.

        Whose sample was doubted does not have it judged again; it may be in a sample of others.
        """
        task_id, _, by = row.sampled.partition("/")
        if task_id in self.unseen:
            return False
        return by == who or row.sampled not in self.doubted


@dataclass(frozen=True, slots=True)
class Said:
    """What was said to be true by now, and by the last look: what no model could answer is left out.

    ``until``: the time of the newest word. ``fresh``: the words since the last look. ``drawn``: who
    said of a row that it was drawn at random, and when.
    """

    now: labelled_rows.Truths
    before: labelled_rows.Truths
    until: float
    fresh: list[records.Feedback] = field(default_factory=list)
    drawn: dict[feedback.Named, records.Feedback] = field(default_factory=dict)

    def drawn_by(self, row: ProductionRow) -> records.Feedback | None:
        """Return the word that says that a row was drawn at random; None where nobody does."""
        return self.drawn.get((row.request_id, row.row)) or self.drawn.get(row.key)

    @property
    def corrected(self) -> int:
        """Of how many rows a truth was changed that a look had counted."""
        named = set(map(_name, self.fresh)).intersection(self.before)
        return sum(map(self._is_other, named))

    def _is_other(self, name: feedback.Named) -> bool:
        return self.before[name] != self.now[name]


def tries(tables: Tables, application: Application) -> list[records.Task]:
    """Return the looks at the model that serves that were asked for, however they ended.

    They may have been at an earlier version of the data: no row is tested twice.
    """
    ids = tables.versions.column("id", dataset_id=application.dataset_id)
    tasks = tables.tasks.list(subject=ids, kind=TaskGroup.ADVISE, limit=None)
    return list(filter(partial(_looks_at, application.live_model_id), tasks))


def under_way(looks: Iterable[records.Task]) -> records.Task | None:
    """Return what waits or runs of these that asks a monitor; the next goes on from what it finds."""
    return next(filter(_is_under_way, looks), None)


def window(looks: Iterable[records.Task], doubted: frozenset[str] = frozenset()) -> Window:
    """Return what was looked at. Looks that failed or were cancelled saw no row, and no truth."""
    by_sight = grouped(looks, _saw_nothing)
    blind = map(attrgetter("id"), by_sight[True])
    return Window(("", *blind), max(map(_told_until, by_sight[False]), default=0.0), doubted)


def since(tables: Tables, application: Application, seen: Window) -> list[ProductionRow]:
    """Return rows that the model that serves answered, and nobody has looked at."""
    return tables.production_rows.list(
        application_id=application.id,
        model_id=application.live_model_id,
        looked=seen.unseen,
        limit=MOST_ROWS,
    )


def number_since(tables: Tables, application: Application, seen: Window) -> int:
    """Return how many rows ``since`` has, without reading them."""
    number = tables.production_rows.count(
        application_id=application.id,
        model_id=application.live_model_id,
        looked=seen.unseen,
    )
    return min(number, MOST_ROWS)


def said(tables: Tables, application: Application, seen: Window) -> Said:
    """Return what was said of rows, the newest word on each.

    Words on rows that were chosen by what models say of them are left out: whose truth comes must
    not depend on that. Of very many new words the oldest come first. Words from shortly before the
    newest that was looked at are among the fresh ones again: they may have been committed later.
    """
    words = tables.feedback.list(application_id=application.id, chosen=False, limit=None)
    is_answer = partial(_is_answer, vocabulary.of_application(tables, application))
    usable = sorted(filter(is_answer, words), key=_AGE)
    times = list(map(_CREATED, usable))
    first = bisect_right(times, seen.told_until - _LATEST)
    begin = bisect_right(times, seen.told_until)
    end = len(times)
    if end - begin > MOST_ROWS:
        end = bisect_right(times, times[begin + MOST_ROWS - 1])
    return Said(
        now=_truths(usable[:end]),
        before=_truths(usable[:begin]),
        until=max(seen.told_until, *times[begin:end][-1:], 0.0),
        fresh=usable[first:end],
        drawn=_claimed(usable[:end]),
    )


def _claimed(words: Iterable[records.Feedback]) -> dict[feedback.Named, records.Feedback]:
    """Return the newest claims that rows were drawn at random, but for those that were withdrawn."""
    found: dict[feedback.Named, records.Feedback] = {}
    for word in words:
        if word.drawn == feedback.WITHDRAWN:
            found.pop(_name(word), None)
        elif word.drawn:
            found[_name(word)] = word
    return found


@dataclass(frozen=True, slots=True)
class Late:
    """Rows that were looked at before anybody had said what was true of them.

    ``again``: those whose truth a look counted before somebody said that they were drawn at random.
    """

    rows: list[ProductionRow]
    again: list[ProductionRow] = field(default_factory=list)

    @property
    def number(self) -> int:
        """How many rows there are."""
        return len(self.rows) + len(self.again)


def late(tables: Tables, application: Application, seen: Window, told: Said) -> Late:
    """Return rows that were looked at before their truth came, or before they joined a sample.

    Rows that were forgotten meanwhile are lost. A row whose truth was changed is not among them:
    the word that a look counted stays.
    """
    found = of_either(
        tables.production_rows,
        {"id": list(map(row_id, told.fresh))},
        {"key": list(filter(None, map(attrgetter("key"), told.fresh)))},
        application_id=application.id,
        model_id=application.live_model_id,
    )
    by_id = {row.id: row for row in filterfalse(seen.is_new, found)}
    known = sorted(filter(partial(_is_known, told.now), by_id.values()), key=_AGE)
    by_learned = grouped(known, seen.is_learned)
    joins = partial(_joins, seen, told)
    return Late(by_learned[False], list(filter(joins, by_learned[True])))


def _joins(seen: Window, told: Said, row: ProductionRow) -> bool:
    """Tell whether somebody says by now that a row was drawn at random, which no look has taken."""
    word = told.drawn_by(row)
    return word is not None and not seen.is_sampled(row, word.drawn)


def take(tables: Tables, task_id: str, rows: list[ProductionRow], told: Said, late: Late) -> None:
    """Mark what a look takes: new rows, and late ones and those of the new that have a truth."""
    is_known = partial(_is_known, told.now)
    with_truth = [*filter(is_known, rows), *late.rows, *late.again]
    sampled = {}
    for row in filter(told.drawn_by, with_truth):
        word = told.drawn_by(row)
        assert word is not None  # it was filtered by that
        sampled[row.id] = sample_mark(task_id, word.drawn)
    # What a look learned before stays its own: this one may fail.
    learned = with_truth[: len(with_truth) - len(late.again)]
    tables.production_rows.set_each("looked", dict.fromkeys(map(_ID, rows), task_id))
    tables.production_rows.set_each("learned", dict.fromkeys(map(_ID, learned), task_id))
    tables.production_rows.set_each("sampled", sampled)


def sample_mark(task_id: str, who: str) -> str:
    """Return what a row is marked with that a look took as one of somebody's sample."""
    return f"{task_id}/{who}"


def number_late(tables: Tables, application: Application, seen: Window, fewest: int = 1) -> int:
    """Return how many rows ``late`` has; 0 where fewer than ``fewest`` words came since."""
    since = seen.told_until - _LATEST
    words = tables.feedback.count(application_id=application.id, since=since)
    if words < fewest:
        return 0
    return late(tables, application, seen, said(tables, application, seen)).number


def numbers_of_looks(
    store: Store, tables: Tables, application: Application, task_ids: set[str]
) -> dict[str, int]:
    """Return the monitor's number of each of these looks, by the id of the task."""
    numbers = {}
    for report in tables.reports.list(kind=TOOL, subject=application.id, limit=None):
        task_id = tools.Answered.from_json(report.value).task_id
        if task_id in task_ids:
            shown = tools.numbers_of(tools.show(store, report))
            numbers[task_id] = int(shown["batch"].value)
    return numbers


def _truths(words: Iterable[records.Feedback]) -> labelled_rows.Truths:
    return {_name(word): word.value["value"] for word in words}


def _name(word: records.Feedback) -> feedback.Named:
    return word.key or (word.request_id, word.row)


def _told_until(look: records.Task) -> float:
    return Looked.from_json(look.payload).told_until or look.created


def _saw_nothing(look: records.Task) -> bool:
    return look.state in _SAW_NOTHING


def _is_known(truths: labelled_rows.Truths, row: ProductionRow) -> bool:
    return labelled_rows.truth_of(row, truths) is not None


def _is_under_way(task: records.Task) -> bool:
    return task.state in TASKS_UNDER_WAY and tools.asks(task, TOOL)


def _is_answer(words: vocabulary.Vocabulary, word: records.Feedback) -> bool:
    return words.has(word.value["value"])


def _looks_at(model_id: str, task: records.Task) -> bool:
    """Tell whether a task looks at what a model answered in production."""
    if not tools.asks(task, TOOL):
        return False
    told = Looked.from_json(task.payload)
    files = told.newer_artefact + told.late_artefact
    return files != "" and told.model_id == model_id
