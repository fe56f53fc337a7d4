"""The rows of production by which a released model is compared with the one before.

Which rows count is said by ``lifecycle.released``: runs of rows of which nearly all truth came. So
whether a row counts does not depend on what the models say of it, whoever tells the truth of what.
Where the owner says that rows have a truth by chance, each counts as its truth comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from easeml.contract.states import TruthWay
from easeml.service.models.told_truths import Truths, said, target_of, truths_of
from easeml.service.rollouts import kept
from easeml.store import Tables, grouped
from easeml.store.records import ProductionRow, Rollout

if TYPE_CHECKING:
    from easeml.lifecycle.rollout import Outcome

_MOST_ROWS = 5_000  # that are looked at at once: truth of older ones came too late


def to_count(
    tables: Tables, rollout: Rollout, named: Sequence[ProductionRow]
) -> tuple[list[ProductionRow], str]:
    """Return rows that may count by now and have not, and the id of the last that is done with.

    ``named``: rows of which something was told since the last look.
    """
    application = tables.applications.get(rollout.application_id)
    if not named or kept.rule_of(tables, application).truth == TruthWay.BY_CHANCE:
        return list(named), ""
    rows = tables.production_rows.list(
        application_id=rollout.application_id,
        model_id=rollout.model_id,
        after=rollout.seen,
        limit=_MOST_ROWS,
    )
    left = _of_whole_runs(tables, rollout, rows)
    done = _done(rows)
    if not left:
        done = _given_up(rows, named) or done
    return left, done


def outcomes(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow], truths: Truths
) -> tuple[list[str], int, list[Outcome]]:
    """Return the ids of rows that count, of how many no truth is known, and what came of them.

    Rows of one key are one thing in the world, and one truth: the first of them counts.
    """
    from easeml.lifecycle import released
    from easeml.lifecycle.rollout import Outcome

    target = target_of(tables, rollout)
    found: list[Outcome] = []
    unknown = 0
    for row in _one_of_each_key(tables, rollout, rows):
        new, old = said(rollout, row)
        true = target.true(truths.get(row.id))
        if true is not None:
            before = target.quality(old, true)
            found.append(Outcome(target.quality(new, true) - before, before))
            continue
        unknown += 1
        if distance := target.distance(new, old):
            found.append(released.without_truth(distance))
    return [row.id for row in rows], unknown, found


def _of_whole_runs(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow]
) -> list[ProductionRow]:
    """Return the rows of runs that count which have not counted, in this comparison or another."""
    from easeml.lifecycle import released

    known = _known(tables, rollout, rows)
    found: list[ProductionRow] = []
    for start in released.whole_runs([row.id in known for row in rows]):
        run = rows[start : start + released.RUN]
        found += run
    own = ("", rollout.id)
    return [row for row in found if not row.counted and row.rollout_id in own]


def _known(tables: Tables, rollout: Rollout, rows: list[ProductionRow]) -> set[str]:
    """Return the rows whose truth is known, and those that have counted."""
    by_counted = grouped(rows, attrgetter("counted"))
    truths = truths_of(tables, rollout, by_counted[False])
    target = target_of(tables, rollout)
    known = set(map(attrgetter("id"), by_counted[True]))
    for id, truth in truths.items():
        if target.true(truth) is not None:
            known.add(id)
    return known


def _done(rows: list[ProductionRow]) -> str:
    """Return the id of the last row of the first runs that have counted whole; empty: of none."""
    from easeml.lifecycle.released import RUN

    counted = [row.counted for row in rows]
    first = [*counted, False].index(False)
    whole = first // RUN * RUN
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


def _one_of_each_key(
    tables: Tables, rollout: Rollout, rows: list[ProductionRow]
) -> list[ProductionRow]:
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
