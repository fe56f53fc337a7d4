"""Gates after an erasure: they count the rows that are left; nobody waits for answers about others."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from easeml.service.gates import bought_labels, kept
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Gate


def count_rows_left(
    tables: Tables, application: Application, versions: Mapping[str, Mapping[str, Any]]
) -> None:
    """Let the gates of an application count those of their test rows alone that are left.

    ``versions``: by id, what an erasure found; ``test_ids``: of its test rows. Which models were
    tested on the rows, and what was answered, stays. Gates that are older than ids go by place,
    and count erased rows as if they were there.
    """
    gone = versions.get(application.version_id, {}).get("test_ids", [])
    if not gone:
        return
    for gate in filter(_knows_its_rows, kept.of_application(tables, application.id)):
        left = _without(gate, gone)
        tables.gates.update(gate.id, first=left.first, rows=left.rows)


def _knows_its_rows(gate: Gate) -> bool:
    return gate.last_id >= 0


def _without(gate: Gate, gone: Sequence[int]) -> Gate:
    """Return a gate without some rows, in order, of which those before its first one move it up."""
    before = bisect_left(gone, gate.first_id)
    within = bisect_right(gone, gate.last_id) - before
    return replace(gate, first=gate.first - before, rows=gate.rows - within)


def wait_for_none(tx: Transaction, application: Application, gone: Collection[int]) -> None:
    """Let no model wait for labels of rows that are ``gone``, nor one whose files are gone.

    One that still can is tested again, which says that the gate has to be set again.
    """
    tables = tx.scoped(application.tenant_id)
    gate = kept.active(tables, application.id)
    if gate is None or gate.reserve is None or gate.reserve.waiting is None:
        return
    test = kept.waiting(gate, application)
    if test is None or not tables.models.get(test.new_id).artefact:
        bought_labels.stop(tx, application)
    elif not set(gone).isdisjoint(gate.reserve.rows):
        bought_labels.go_on(tx, application)
