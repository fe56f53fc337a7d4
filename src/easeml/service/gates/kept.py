"""The gates of an application, as they are kept: the ledger is the only door to its test rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from easeml.contract.states import PromotionState
from easeml.store import Tables
from easeml.store.records import Application, DatasetVersion, Gate
from easeml.store.shapes import Reserve, WaitingTest

if TYPE_CHECKING:
    from easeml.lifecycle.ci import Ledger

KIND = "gate"


def active(tables: Tables, application_id: str) -> Gate | None:
    """Return the gate that models have to pass; None where there is none."""
    return tables.gates.newest(application_id=application_id, ended=False)


def of_application(tables: Tables, application_id: str) -> list[Gate]:
    """Return all gates that an application had, oldest first."""
    return tables.gates.list(application_id=application_id, limit=None)


def gated(tables: Tables, application_ids: list[str]) -> set[str]:
    """Return which of these applications have a gate."""
    found = tables.gates.column("application_id", application_id=application_ids, ended=False)
    return set(found)


def ledger_of(gate: Gate) -> Ledger:
    """Return the ledger of a gate."""
    from easeml.lifecycle.ci import Ledger

    return Ledger.from_json(gate.ledger)


def reserve_of(gate: Gate) -> Reserve:
    """Return where a gate may buy labels; it is one that may."""
    assert gate.reserve is not None
    return gate.reserve


def budget_of(gate: Gate) -> int:
    """Return how many labels a gate may buy in all."""
    return gate.reserve.labels if gate.reserve else 0


def is_short(gate: Gate) -> bool:
    """Tell whether a gate has refused a model for want of labels."""
    return gate.reserve is not None and gate.reserve.short is not None


def reserve_ledger_of(gate: Gate) -> Ledger | None:
    """Return the ledger of the rows on which a gate may buy labels; None where it may not."""
    from easeml.lifecycle.ci import Ledger

    return None if gate.reserve is None else Ledger.from_json(gate.reserve.ledger)


def waiting(gate: Gate | None, application: Application) -> WaitingTest | None:
    """Return the test that waits for labels; None where none does against what serves."""
    if gate is None or gate.reserve is None or gate.reserve.waiting is None:
        return None
    test = gate.reserve.waiting
    return test if test.old_id == application.live_model_id else None


def first_unspent(gates: list[Gate]) -> int:
    """Return the first test row that a new gate of an application may use, in the order of ids.

    ``gates``: all that it had. Rows that one of them wore out are not used again. Erased rows count
    here as if they were still there: ``unspent`` tells exactly which rows are left.
    """
    first = 0
    for gate in gates:
        if ledger_of(gate).is_exhausted:
            first = max(first, gate.first + gate.rows)
    return first


def unspent(version: DatasetVersion, gates: list[Gate], ids: list[int]) -> list[int]:
    """Return the test rows that a new gate may use, by id, in their order.

    ``gates``: all that the application had; ``ids``: of all test rows of the version.
    """
    worn = [gate for gate in gates if ledger_of(gate).is_exhausted]
    last = max((gate.last_id for gate in worn), default=-1)
    place = place_in(version, first_unspent([gate for gate in worn if gate.last_id < 0]))
    return [id for id in sorted(ids)[place:] if id > last]


def retirable(gates: list[Gate], version: DatasetVersion) -> int:
    """Return how many test rows of a version are worn out: the first ones, in the order of ids.

    ``gates``: all that the application had.
    """
    return min(place_in(version, first_unspent(gates)), version.summary.rows_of("test"))


def place_in(version: DatasetVersion, first: int) -> int:
    """Return the place among the test rows of a version of the ``first`` one of a gate.

    Gates count all test rows that there ever were: those that were retired came first.
    """
    return max(first - version.summary.retired, 0)


def rows_from(version: DatasetVersion, first: int) -> int:
    """Return how many test rows a version has from the ``first`` on, as gates count them."""
    return max(version.summary.rows_of("test") - place_in(version, first), 0)


def told(tables: Tables, application_id: str, first: int = 0, first_id: int = -1) -> float:
    """Return what gates have told of the test rows from the ``first`` on, in nats.

    ``first_id``: the id of that row, where it is known.
    """
    from easeml.lifecycle import gates

    total = 0.0
    for gate in of_application(tables, application_id):
        if _reaches(gate, first, first_id):
            total += gates.told_of(ledger_of(gate))
    return total


def _reaches(gate: Gate, first: int, first_id: int) -> bool:
    """Tell whether a gate has tested on a row, or on some that come after it."""
    if gate.last_id < 0:
        return gate.first + gate.rows > first
    return gate.last_id >= first_id


def compares_models(gate: Gate) -> bool:
    """Tell whether the condition of a gate is about the model that serves as well."""
    from easeml.lifecycle.ci import uses_old

    return uses_old(ledger_of(gate).config.condition)


def was_live(tables: Tables, application: Application, model_id: str) -> bool:
    """Tell whether a model has served an application before."""
    found = tables.promotions.find(
        application_id=application.id, model_id=model_id, state=PromotionState.LIVE
    )
    return found is not None
