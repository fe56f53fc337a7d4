"""Applications at rest cost the leading scheduler nothing: pickings say by an event that they begin."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from easeml.service.access.caller import Caller
from easeml.service.models import pickings
from easeml.service.models.running_pickings import RunningPickings
from easeml.store import Store
from easeml.store.records import RequestLog
from easeml.store.shapes import Picking


@contextmanager
def statements() -> Iterator[list[str]]:
    """Give the statements that are run meanwhile, without those that begin a transaction."""
    seen: list[str] = []

    def note(_connection, _cursor, statement: str, *_) -> None:
        if not statement.startswith("BEGIN"):
            seen.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    yield seen
    sa.event.remove(sa.Engine, "before_cursor_execute", note)


def test_only_pickings_that_run_are_read(
    store: Store, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[str] = []
    monkeypatch.setattr(pickings, "move_one_on", lambda _store, log: moved.append(log.id))
    with store.write() as tx:
        logs = tx.scoped(ann.tenant_id).request_logs
        for number in range(30):
            picking = Picking(rows=["row"] if number == 3 else [])
            logs.add(RequestLog(f"app_{number}", ann.tenant_id, 1.0, 30.0, picking=picking))
    running = RunningPickings(store)
    running.move_on()
    assert moved == ["app_3"]

    change(store, ann, "app_3", Picking(says="It ended."))
    running.move_on()
    with statements() as quiet:
        running.move_on()
    assert moved == ["app_3"]
    assert len(quiet) == 1
    assert "request_logs" not in quiet[0]

    change(store, ann, "app_7", Picking(rows=["row"]), pickings.BEGUN)
    change(store, ann, "app_8", Picking(rows=["row"]), "promotion.live")  # tells nothing
    running.move_on()
    assert moved == ["app_3", "app_7"]
    running.look_anew()
    running.move_on()
    assert moved == ["app_3", "app_7", "app_7", "app_8"]


def change(store: Store, ann: Caller, log_id: str, picking: Picking, event: str = "") -> None:
    with store.write() as tx:
        tx.scoped(ann.tenant_id).request_logs.update(log_id, picking=picking)
        if event:
            tx.events.append(event, log_id, {}, ann.tenant_id)
