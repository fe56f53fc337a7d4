"""Worn-out test rows: with their owner's leave they become train rows, and the gate goes on."""

from easeml.contract.gates import Gates, Retirement
from easeml.data import Split, row_ids
from easeml.errors import Conflict
from easeml.service.access.caller import Caller
from easeml.service.gates import bought_labels, kept, reserves
from easeml.service.models import gates
from easeml.service.tasks import requests
from easeml.service.versions import changes
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, DatasetVersion, Gate


def retire_test_rows(store: Store, caller: Caller, application_id: str, wish: Retirement) -> Gates:
    """Make a version in which the test rows that gates wore out are train rows.

    So are the rows whose labels a gate bought. The search starts anew there. Where the gate can
    test no model any more, it is set again on what is left: further test rows, and labels that are
    bought. What was told of the retired rows is never forgotten: they are test rows of no gate any
    more, not even in the version before.

    Raises ``NotFound``; ``Conflict`` where none are worn out, while a model is tested, or where
    rows of the same group would still be test rows; ``NotReady`` while the data is changed.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        version = tables.versions.get(application.version_id)
        _refuse_while_tested(tables, application)
        worn = kept.of_application(tables, application.id)
        ids = gates.test_rows(store, version)
        rows = len(ids) - len(kept.unspent(version, worn, ids))
        if not rows:
            raise Conflict(
                "No test rows are worn out.",
                where=application.id,
                remedy="A gate says when its test rows are: easeml app gates ID.",
            )
        _refuse_to_part_groups(version, rows)
        labels = _bought(store, tables, application, version)
        gate = kept.active(tables, application.id)
        if gate is not None and not gates.lasts_on(gate):
            _set_again(store, tx, application, version, gate, wish.labels)
        changes.retire(tx, application, rows, labels)
        return gates.show(tables, application)


def _refuse_while_tested(tables: Tables, application: Application) -> None:
    gate = kept.active(tables, application.id)
    is_waiting = kept.waiting(gate, application) is not None
    if is_waiting or requests.under_way(tables, kept.KIND, application.id):
        raise Conflict(
            "A model is being tested.", where=application.id, remedy="Try again when it is decided."
        )


def _refuse_to_part_groups(version: DatasetVersion, rows: int) -> None:
    """Refuse where a group could have train and test rows: the latter would tell nothing new."""
    way = Split.of(version.operation.division).way
    if way == "group" and rows < version.summary.rows_of("test"):
        raise Conflict(
            "Test rows of the same groups are not worn out.",
            where=version.id,
            remedy="Let the gate test on these as well: set it again. Then retire all.",
        )


def _bought(
    store: Store, tables: Tables, application: Application, version: DatasetVersion
) -> dict[str, str]:
    """Return the labels, by row, that gates bought of rows that still have none.

    Those of a gate that goes on stay where they are: it looks at its rows again in each test.
    """
    found: dict[str, str] = {}
    for gate in kept.of_application(tables, application.id):
        ledger = kept.reserve_ledger_of(gate)
        if ledger is None:
            continue
        spent = set(reserves.looked_at(gate, ledger))
        labels = bought_labels.labels(tables, application, kept.reserve_of(gate))
        found |= {row: label for row, label in labels.items() if int(row) in spent}
    files = store.artefacts.members(version.tenant_id, version.artefact)
    free = set(map(int, row_ids(files).get("pool", ()))).difference(_in_use(tables, application))
    return {row: label for row, label in found.items() if int(row) in free}


def _in_use(tables: Tables, application: Application) -> list[int]:
    """Return the rows on which the gate may still buy labels; none where it is worn out."""
    gate = kept.active(tables, application.id)
    if gate is None or gate.reserve is None or not gates.lasts_on(gate):
        return []
    return gate.reserve.rows


def _set_again(
    store: Store,
    tx: Transaction,
    application: Application,
    version: DatasetVersion,
    gate: Gate,
    labels: int | None,
) -> None:
    """Set a worn-out gate again, on rows that it has not seen; it stays as it is without any."""
    tables = tx.scoped(application.tenant_id)
    if labels is None:
        labels = kept.budget_of(gate)
    worn = kept.of_application(tables, application.id)
    if not labels and not kept.unspent(version, worn, gates.test_rows(store, version)):
        return
    config = kept.ledger_of(gate).config
    renewed = gates.opened(store, tx, application, version, config, labels, gate.most)
    tables.gates.update(gate.id, ended=True)
    tables.gates.add(renewed)
