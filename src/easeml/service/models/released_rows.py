"""The rows of production by which a released model is compared with the one before.

Which rows count is said by ``lifecycle.released``: runs of rows of which nearly all truth came. So
whether a row counts does not depend on what the models say of it, whoever tells the truth of what.
Where the owner says that rows have a truth by chance, each counts as its truth comes, or runs of
those that have one. By balanced accuracy a run counts as one (``lifecycle.balanced``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from easeml.contract.states import TruthWay
from easeml.service.models.told_truths import (
    Number,
    Truths,
    named_rows,
    said,
    target_of,
    truths_of,
)
from easeml.service.rollouts import kept
from easeml.store import Tables, grouped
from easeml.store.records import ProductionRow, Rollout

if TYPE_CHECKING:
    from easeml.lifecycle.rollout import Outcome

_ID = attrgetter("id")
_MOST_ROWS = 5_000  # that are looked at at once: truth of older ones came too late


def to_count(
    tables: Tables, rollout: Rollout, named: Sequence[ProductionRow]
) -> tuple[list[ProductionRow], str]:
    """Return rows that may count by now and have not, and the id of the last that is done with.

    ``named``: rows of which something was told since the last look.
    """
    if not named:
        return [], ""
    if _is_by_chance(tables, rollout):
        return _by_chance(tables, rollout, named), ""
    rows = _rows_since(tables, rollout)
    left = _of_whole_runs(tables, rollout, rows)
    done = _done(rows, _length(rollout))
    if not left:
        done = _given_up(rows, named) or done
    return left, done


def complete(tables: Tables, rollout: Rollout, rows: list[ProductionRow]) -> list[ProductionRow]:
    """Return the rows that count now, of ``rows``, which both models have predicted.

    Where a run counts as one, those of all runs that both have predicted whole.
    """
    run = rollout.plan.run
    if not run:
        return rows
    look = _told_by_chance if _is_by_chance(tables, rollout) else _rows_since
    left = _of_whole_runs(tables, rollout, look(tables, rollout))
    found = []
    for start in range(0, len(left), run):
        rows = left[start : start + run]
        if None not in map(attrgetter("other"), rows):
            found += rows
    return found


def outcomes(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], truths: Truths
) -> tuple[list[str], int, list[Outcome]]:
    """Return the ids of rows that count, of how many no truth is known, and what came of them.

    Rows of one key are one thing in the world, and one truth: the first of them counts.
    """
    from easeml.lifecycle import released
    from easeml.lifecycle.rollout import Outcome

    if rollout.plan.run:
        return _of_runs(tables, rollout, rows, truths)
    target = target_of(tables, rollout)
    counting = one_of_each_key(tables, rollout, rows)
    spared = _spared(tables, rollout, counting)
    found: list[Outcome] = []
    unknown = 0
    for row in counting:
        new, old = said(rollout, row)
        true = target.true(truths.get(row.id))
        if true is not None:
            before = target.quality(old, true)
            gain = target.quality(new, true) - before
            if gain >= 0 or row.id not in spared:
                found.append(Outcome(gain, before))
            continue
        unknown += 1
        if distance := target.distance(new, old):
            found.append(released.without_truth(distance))
    return list(map(_ID, rows)), unknown, found


def _of_runs(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], truths: Truths
) -> tuple[list[str], int, list[Outcome]]:
    """Return what ``outcomes`` does, where a run counts as one."""
    from easeml.lifecycle import balanced
    from easeml.lifecycle.labels import class_name

    target = target_of(tables, rollout)
    assert not isinstance(target, Number)
    counting = one_of_each_key(tables, rollout, rows)
    spared = _spared(tables, rollout, counting)
    seen: dict[str, balanced.Answered] = {}
    for row in counting:
        new, old = map(class_name, said(rollout, row))
        true = target.true(truths.get(row.id))
        seen[row.id] = balanced.Answered(new, old, true, row.id in spared)
    found: list[Outcome] = []
    for start in range(0, len(rows), rollout.plan.run):
        run = rows[start : start + rollout.plan.run]
        answered = list(filter(None, map(seen.get, map(_ID, run))))
        found += balanced.outcomes(answered, target.classes, rollout.plan.least)
    by_truth = Counter(map(attrgetter("true"), seen.values()))
    return list(map(_ID, rows)), by_truth[None], found


def _is_by_chance(tables: Tables, rollout: Rollout) -> bool:
    application = tables.applications.get(rollout.application_id)
    return kept.rule_of(tables, application).truth == TruthWay.BY_CHANCE


def _rows_since(tables: Tables, rollout: Rollout) -> list[ProductionRow]:
    """Return the rows that the released model answered, from those that are not done with on."""
    return tables.production_rows.list(
        application_id=rollout.application_id,
        model_id=rollout.model_id,
        after=rollout.seen,
        limit=_MOST_ROWS,
    )


def _told_by_chance(tables: Tables, rollout: Rollout) -> list[ProductionRow]:
    """Return the rows that have a truth of late and have not counted, in their order."""
    words = tables.feedback.list(
        application_id=rollout.application_id, newest_first=True, limit=_MOST_ROWS
    )
    named = named_rows(tables, rollout, words)
    known = _known(tables, rollout, named)
    rows = [row for row in named if row.id in known]
    return sorted(rows, key=_ID)


def _by_chance(
    tables: Tables, rollout: Rollout, named: Sequence[ProductionRow]
) -> list[ProductionRow]:
    """Return the rows that may count where truth comes by chance."""
    if not rollout.plan.run:
        return list(named)
    return _of_whole_runs(tables, rollout, _told_by_chance(tables, rollout))


def _spared(tables: Tables, rollout: Rollout, rows: list[ProductionRow]) -> set[str]:
    """Return the rows that may not speak against the released model: too many were the same.

    Whoever says by a key what a row is may ask as often as they like: it counts once.
    """
    from easeml.lifecycle.released import MOST_ALIKE

    before = tables.production_rows.list(
        application_id=rollout.application_id,
        rollout_id=rollout.id,
        counted=True,
        key="",
        newest_first=True,
        limit=_MOST_ROWS,
    )
    times = Counter(map(_inputs_of, before))
    spared: set[str] = set()
    for row in rows:
        if row.key:
            continue
        inputs = _inputs_of(row)
        if times[inputs] >= MOST_ALIKE:
            spared.add(row.id)
        times[inputs] += 1
    return spared


def _inputs_of(row: ProductionRow) -> str:
    return json.dumps(row.inputs, sort_keys=True)


def _of_whole_runs(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow]
) -> list[ProductionRow]:
    """Return the rows of runs that count which have not counted, in this comparison or another."""
    from easeml.lifecycle import released

    known = _known(tables, rollout, rows)
    length = _length(rollout)
    found: list[ProductionRow] = []
    is_known = list(map(known.__contains__, map(_ID, rows)))
    waits = rollout.plan.run > 0  # a row without truth costs much where a class is rare
    for start in released.whole_runs(is_known, length, waits=waits):
        run = rows[start : start + length]
        own = [row for row in run if not row.counted and row.rollout_id in ("", rollout.id)]
        if len(own) >= rollout.plan.run:
            found += own
    return found


def _length(rollout: Rollout) -> int:
    """Return the rows of a run."""
    from easeml.lifecycle.released import RUN

    return rollout.plan.run or RUN


def _known(tables: Tables, rollout: Rollout, rows: list[ProductionRow]) -> set[str]:
    """Return the rows whose truth is known, and those that have counted."""
    by_counted = grouped(rows, attrgetter("counted"))
    truths = truths_of(tables, rollout, by_counted[False])
    target = target_of(tables, rollout)
    known = set(map(attrgetter("id"), by_counted[True]))
    return known.union(id for id, truth in truths.items() if target.true(truth) is not None)


def _done(rows: list[ProductionRow], length: int) -> str:
    """Return the id of the last row of the first runs that have counted whole; empty: of none."""
    counted = [row.counted for row in rows]
    first = [*counted, False].index(False)
    whole = first // length * length
    if not whole:
        return ""
    return rows[whole - 1].id


def _given_up(rows: list[ProductionRow], named: Sequence[ProductionRow]) -> str:
    """Return the id up to which no truth is waited for: it comes of rows far behind these."""
    if len(rows) < _MOST_ROWS:
        return ""
    newest = max(named, key=attrgetter("id"))
    if newest.id <= rows[-1].id:
        return ""
    middle = _MOST_ROWS // 2 - 1
    return rows[middle].id


def one_of_each_key(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow]
) -> list[ProductionRow]:
    """Return the first row of each key that has not counted yet, and all rows without a key."""
    keys = set(filter(None, map(attrgetter("key"), rows)))
    before = tables.production_rows.column(
        "key",
        application_id=rollout.application_id,
        key=sorted(keys),
        rollout_id=rollout.id,
        counted=True,
    )
    seen = set(before)
    found = []
    for row in rows:
        if row.key not in seen:
            found.append(row)
        seen.add(row.key)
        seen.discard("")  # who has no key is another thing each time
    return found
