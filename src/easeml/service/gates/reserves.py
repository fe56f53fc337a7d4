"""The rows without labels on which a gate of an application may buy some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from easeml.data import is_reserved, row_ids, scattered
from easeml.errors import Conflict
from easeml.service.gates import kept
from easeml.store import Store
from easeml.store.records import DatasetVersion, Gate
from easeml.store.shapes import Reserve

if TYPE_CHECKING:
    from easeml.lifecycle.ci import Config, Ledger

_MOST_ROWS = 5_000


def open_reserve(
    store: Store,
    version: DatasetVersion,
    config: Config,
    before: list[Gate],
    labels: int,
    now: float,
) -> Reserve:
    """Return the reserve of a gate: rows of the pool that are kept for tests, and never were asked.

    ``before``: all gates that the application had. Raises ``Conflict`` where no row is left.
    """
    import numpy as np

    from easeml.lifecycle import gates

    pool = row_ids(store.artefacts.members(version.tenant_id, version.artefact)).get("pool")
    ids = np.array([] if pool is None else pool, dtype=np.int64)
    ids = ids[is_reserved(ids)]
    ids = ids[np.argsort(scattered(ids), kind="stable")]
    told = 0.0
    for gate in before:
        ledger = kept.reserve_ledger_of(gate)
        if ledger is not None:
            ids = ids[~np.isin(ids, looked_at(gate, ledger))]
            told += ledger.given_away().nats
    ids = ids[:_MOST_ROWS]
    if not len(ids):
        raise Conflict(
            "There are no rows without labels that are kept for tests.",
            where=version.id,
            remedy="Feed rows without labels: a quarter of them is kept for tests.",
        )
    ledger = gates.open_reserve(config, len(ids), told)
    return Reserve(ledger=ledger.to_json(), rows=ids.tolist(), labels=labels, opened=now)


def is_whole(store: Store, version: DatasetVersion, gate: Gate) -> bool:
    """Tell whether all rows of a gate's reserve are rows without labels still.

    None may have been erased, or have got a label elsewhere. A gate without a reserve lacks none.
    """
    if gate.reserve is None:
        return True
    ids = row_ids(store.artefacts.members(version.tenant_id, version.artefact))
    pool = set(map(int, ids.get("pool", ())))
    return pool.issuperset(gate.reserve.rows)


def looked_at(gate: Gate, ledger: Ledger) -> list[int]:
    """Return the rows of a gate's reserve of which more was shown than an answer."""
    shown = ledger.given_away().rows
    rows = kept.reserve_of(gate).rows
    return [rows[place] for place in ledger.order()[:shown]]
