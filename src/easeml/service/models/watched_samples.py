"""Rows of production of which somebody says that they were drawn at random, for a look at them."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain, compress, repeat
from operator import attrgetter, itemgetter
from typing import Any

from easeml.contract import reports as answers
from easeml.contract.watching import Claim
from easeml.service.advice import tools
from easeml.service.models import watched_rows
from easeml.store import Store, Tables, Transaction, grouped, records
from easeml.store.records import Application, Feedback, Json, ProductionRow

ITSELF = "easeml"
"""Who says it of rows that easeml has drawn, and asked people about."""
_TIMES, _FEWEST = 3, 100  # others for each row of a look that was drawn, at least so many
_LOOKED, _ID = attrgetter("looked"), attrgetter("id")
_OF_CLAIM = ("by", "rows", "p_value", "level", "where", "counts")


@dataclass(frozen=True, slots=True)
class LateFile:
    """The rows of a file of late truths, and what a task is told of them.

    ``looks``: how many rows each look saw, by the monitor's number of it, in the order of ``rows``.
    ``roles``: a letter a row, as of ``AdviseSpec``. ``truths``: the rows with one, by their ids.
    """

    rows: list[ProductionRow] = field(default_factory=list)
    looks: dict[str, int] = field(default_factory=dict)
    roles: str = ""


def late_file(
    store: Store,
    tables: Tables,
    application: Application,
    late: watched_rows.Late,
    said: watched_rows.Said,
) -> LateFile:
    """Return late rows in the order of their looks; behind the samples, rows to compare."""
    others = _others(tables, application, [*late.rows, *late.again], said)
    rows = [*late.rows, *late.again, *map(_nameless, others)]
    roles = "t" * len(late.rows) + "a" * len(late.again) + "o" * len(others)
    tasks = list(map(_LOOKED, rows))
    numbers = watched_rows.numbers_of_looks(store, tables, application, set(tasks))
    looks = list(map(numbers.get, tasks, repeat(0)))
    order = sorted(range(len(rows)), key=looks.__getitem__)
    return LateFile(
        list(map(rows.__getitem__, order)),
        dict(Counter(map(str, sorted(looks)))),
        "".join(map(roles.__getitem__, order)),
    )


def claims(
    tx: Transaction, rows: list[ProductionRow], late: LateFile, said: watched_rows.Said
) -> list[dict[str, Any]]:
    """Return who says of which rows that they were drawn at random, as a task is told it."""
    places: dict[str, dict[str, list[int]]] = {}
    words: dict[str, list[Feedback]] = {}
    for name, file in (("newer", rows), ("late", late.rows)):
        for place, row in enumerate(file):
            word = said.drawn_by(row)
            if word is not None:
                of_who = places.setdefault(word.drawn, {"newer": [], "late": []})
                of_who[name].append(place)
                words.setdefault(word.drawn, []).append(word)
    found = []
    for who in sorted(places):
        found.append({"who": who, "by": _named(tx, who, words[who]), **places[who]})
    return found


def seen(
    store: Store, tables: Tables, application: Application, looks: list[records.Task]
) -> watched_rows.Window:
    """Return what looks have seen, and which of the samples that they got were doubted."""
    claimed = dict(zip(map(_ID, looks), map(_claimed, looks), strict=True))
    doubted: set[str] = set()
    for report in tables.reports.list(kind=watched_rows.TOOL, subject=application.id, limit=None):
        task_id = tools.Answered.from_json(report.value).task_id
        drawn = claimed.get(task_id)
        if drawn:
            found = claims_of(tools.show(store, report))
            doubted.update(compress(_marks(task_id, drawn), map(_is_doubted, found)))
    return watched_rows.window(looks, frozenset(doubted))


def _claimed(look: records.Task) -> list[Json]:
    return watched_rows.Looked.from_json(look.payload).drawn


def _marks(task_id: str, drawn: list[Json]) -> Iterable[str]:
    """Give what rows of each sample of a look are marked with."""
    return map(partial(watched_rows.sample_mark, task_id), map(itemgetter("who"), drawn))


def _is_doubted(claim: Claim) -> bool:
    return not claim.counts


def claims_of(look: answers.Report) -> list[Claim]:
    """Return what became of the claims of a look; older answers have none."""
    rows = map(attrgetter("rows"), look.tables[2:])
    return list(map(_claim, chain.from_iterable(rows)))


def _claim(row: Iterable[object]) -> Claim:
    """Return a claim from its row in the third table of ``monitor``."""
    told = dict(zip(_OF_CLAIM, row, strict=True))
    told["counts"] = told["counts"] == "yes"
    return Claim.model_validate(told)


def _named(tx: Transaction, who: str, words: Iterable[Feedback]) -> str:
    """Return who says something, and on which day they last did."""
    day = datetime.fromtimestamp(max(map(attrgetter("created"), words)), UTC).date()
    name = ITSELF
    if who != ITSELF:
        user = tx.users.find(id=who)
        name = user.name if user else "somebody who has left"
    return f"{name}, {day.isoformat()}"


def _others(
    tables: Tables, application: Application, late: list[ProductionRow], said: watched_rows.Said
) -> list[ProductionRow]:
    """Return rows, drawn at random from looks of which some were said to be, but those.

    What is known of them does not matter.
    """
    drawn = grouped(filter(said.drawn_by, late), _LOOKED)
    if not drawn:
        return []
    ids = tables.production_rows.pick(
        "looked", "id", application_id=application.id, looked=list(drawn)
    )
    chosen: list[str] = []
    for look, pairs in grouped(ids, itemgetter(0)).items():
        of_look = set(map(itemgetter(1), pairs))
        left = sorted(of_look.difference(map(_ID, drawn[look])))
        number = min(len(left), max(_FEWEST, _TIMES * len(drawn[look])))
        chosen += random.sample(left, number)
    return list(tables.production_rows.by_id(id=chosen).values())


def _nameless(row: ProductionRow) -> ProductionRow:
    """Return a row that nothing was said of."""
    return replace(row, request_id="", key="")
