"""What is committed after a look, in a transaction that began before it, is taken by the next look."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from furnish import Furniture, furnish

from easeml.contract.states import TaskState
from easeml.service.access.caller import Caller
from easeml.service.models import watching
from easeml.store import Store, Tables
from easeml.store.records import Feedback, ProductionRow, Tenant
from postgres_cluster import cluster, database

pytestmark = pytest.mark.postgres
LAB = Caller("", "t1")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with cluster() as template, database(template) as url:
        yield url


@pytest.fixture
def store(address: str, tmp_path: Path) -> Iterator[Store]:
    store = Store.open(address, tmp_path / "artefacts")
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "lab"))
    yield store
    store.close()


def answered(tables: Tables, made: Furniture, number: int) -> ProductionRow:
    row = ProductionRow(
        id=f"req_{number}.000000",
        tenant_id=LAB.tenant_id,
        application_id=made.application_id,
        request_id=f"req_{number}",
        row=0,
        key="",
        model_id=made.model_id,
        inputs={"size": number + 0.5},
        answer={"prediction": "setosa", "probabilities": None},
    )
    return tables.production_rows.add(row)


def told(tables: Tables, made: Furniture, number: int, value: str = "virginica") -> Feedback:
    word = Feedback(
        id=f"told_{number}_{value}",
        tenant_id=LAB.tenant_id,
        application_id=made.application_id,
        request_id=f"req_{number}",
        row=0,
        key="",
        value={"value": value},
    )
    return tables.feedback.add(word)


def look(store: Store, made: Furniture) -> dict:
    """Look at production, as if a worker had done it; return what the task was told."""
    asked = watching.look(store, LAB, made.application_id)
    with store.write() as tx:
        return tx.scoped("t1").tasks.update(asked.id, state=TaskState.DONE).payload


def rows_of(store: Store, digest: str) -> list[str]:
    """Return the lines of a table that a look got."""
    return store.artefacts.path(LAB.tenant_id, digest).read_text().splitlines()[1:]


@contextmanager
def begun(store: Store, made: Furniture, number: int) -> Iterator[None]:
    """Write a row, and a word on the row before it, in a transaction that ends after the block."""
    has_written, may_end = threading.Event(), threading.Event()

    def write() -> None:
        with store.write() as tx:
            answered(tx.scoped("t1"), made, number)
            told(tx.scoped("t1"), made, number - 1)
            has_written.set()
            may_end.wait(60)

    writer = threading.Thread(target=write)
    writer.start()
    assert has_written.wait(60)
    try:
        yield
    finally:
        may_end.set()
        writer.join()


def test_a_row_and_a_word_that_are_committed_late_are_taken_by_the_next_look(
    store: Store,
) -> None:
    made = furnish(store, LAB.tenant_id)
    with store.write() as tx:
        answered(tx.scoped("t1"), made, 1)
        answered(tx.scoped("t1"), made, 2)
    look(store, made)
    with begun(store, made, 3):
        with store.write() as tx:
            answered(tx.scoped("t1"), made, 4)
            told(tx.scoped("t1"), made, 1, "setosa")
        first = look(store, made)
        assert rows_of(store, first["newer_artefact"]) == ["4.5,"]
        assert rows_of(store, first["late_artefact"]) == ["1.5,setosa"]
    report = watching.report(store, LAB, made.application_id)
    assert (report.waiting, report.late) == (1, 1)
    second = look(store, made)
    assert rows_of(store, second["newer_artefact"]) == ["3.5,"]
    assert rows_of(store, second["late_artefact"]) == ["2.5,virginica"]
    report = watching.report(store, LAB, made.application_id)
    assert (report.waiting, report.late) == (0, 0)  # each counts once
