"""The doctor finds what was broken, changes nothing unless told, and repairs what it says."""

import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from easeml.contract.upkeep import Finding
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.upkeep.doctor import examine
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.backup import back_up
from easeml.store.sqlite import driver

from .test_story import searching, train


def nothing(share: float) -> None:
    pass


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    tmp_path.chmod(0o700)
    return Settings(home=tmp_path)


def found(
    settings: Settings, *, repair: bool = False, backup: Path | None = None
) -> dict[str, Finding]:
    findings = examine(settings, repair=repair, backup=backup, progress=nothing)
    return {one.check: one for one in findings}


def states(findings: dict[str, Finding]) -> set[str]:
    return {one.state for one in findings.values()}


@pytest.fixture
def serving(store: Store, ann: Caller) -> str:
    app = searching(store, ann)
    for arm, quality in enumerate((0.6, 0.9, 0.7)):
        train(store, app, arm, quality)
    return app.id


def lose_live_model(store: Store, caller: Caller, application_id: str) -> None:
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        live = tables.applications.get(application_id).live_model_id
        digest = tables.models.get(live).served
    store.artefacts.path(caller.tenant_id, digest).unlink()


def test_a_healthy_home_is_well(store: Store, settings: Settings, serving: str):
    assert states(found(settings)) == {"ok"}


def test_a_lost_live_model_is_named_then_gives_way(
    store: Store, ann: Caller, settings: Settings, serving: str
):
    lose_live_model(store, ann, serving)
    before = found(settings)
    assert before["live model"].state == before["artefacts"].state == "failing"
    live = applications.get(store, ann, serving).live_model
    assert live is not None
    assert live.quality == 0.9  # looking changed nothing
    after = found(settings, repair=True)
    assert after["live model"].repaired
    live = applications.get(store, ann, serving).live_model
    assert live is not None
    assert live.quality == 0.7


def test_a_lost_live_model_comes_back_from_a_backup(
    store: Store, ann: Caller, settings: Settings, serving: str, tmp_path_factory
):
    backup = tmp_path_factory.mktemp("backup")
    back_up(store, settings.home / "config.toml", backup, nothing)
    lose_live_model(store, ann, serving)
    assert found(settings, repair=True, backup=backup)["artefacts"].repaired
    assert states(found(settings)) == {"ok"}
    live = applications.get(store, ann, serving).live_model
    assert live is not None
    assert live.quality == 0.9


def test_what_others_could_read_is_closed(store: Store, settings: Settings):
    secret = settings.home / "internal.secret"
    secret.write_text("x")
    secret.chmod(0o644)
    settings.home.chmod(0o755)
    before = found(settings)
    assert (before["home"].state, before["secret"].state) == ("warning", "warning")
    after = found(settings, repair=True)
    assert after["home"].repaired
    assert after["secret"].repaired
    assert secret.stat().st_mode & 0o077 == 0
    assert states(found(settings)) == {"ok"}


def test_leftovers_go_only_after_a_day_and_nothing_else_goes(
    store: Store, ann: Caller, settings: Settings, serving: str
):
    old, _ = store.artefacts.put_stream(ann.tenant_id, [b"nobody needs this"], 100)
    young, _ = store.artefacts.put_stream(ann.tenant_id, [b"somebody may need this soon"], 100)
    a_day_ago = time.time() - 25 * 3600
    for path in (settings.home / "artefacts").rglob("*"):
        if path.is_file() and path.name != young:
            os.utime(path, (a_day_ago, a_day_ago))
    assert found(settings)["leftovers"].state == "warning"
    assert found(settings, repair=True)["leftovers"].repaired
    assert not store.artefacts.exists(ann.tenant_id, old)
    assert store.artefacts.exists(ann.tenant_id, young)
    assert states(found(settings)) == {"ok"}  # all that is needed is there


def test_a_broken_database_is_told_in_words(store: Store, settings: Settings):
    store.close()
    path = settings.home / "easeml.db"
    content = bytearray(path.read_bytes())
    for page in range(2, len(content) // 4096, 3):
        content[4096 * page : 4096 * page + 64] = b"\xee" * 64
    path.write_bytes(content)
    finding = found(settings)["database"]
    assert finding.state == "failing"
    assert finding.remedy


def break_page_of(path: Path, name: str) -> None:
    """Overwrite the first page of a table or an index."""
    with closing(driver.connect(path)) as database:
        root = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,))
        (page,) = root.fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xee" * size)


def test_a_database_whose_rows_can_be_read_is_written_anew(
    store: Store, settings: Settings, serving: str, ann: Caller
):
    store.close()
    path = settings.home / "easeml.db"
    break_page_of(path, "tasks_by_subject_tenant_id_id")
    assert found(settings)["database"].state == "failing"
    assert (
        examine(settings, repair=True, backup=None, progress=nothing, in_use=True)[-1].state
        == "failing"
    )
    findings = found(settings, repair=True)
    assert findings["database"].repaired
    assert states(findings) == {"ok"}
    again = Store.of(settings)
    assert applications.get(again, ann, serving).live is not None
    again.close()
    assert (settings.home / "easeml.db.damaged").exists()


def test_a_database_that_lost_rows_is_left_as_it_is(store: Store, settings: Settings, serving: str):
    store.close()
    path = settings.home / "easeml.db"
    break_page_of(path, "tasks")
    before = path.read_bytes()
    finding = found(settings, repair=True)["database"]
    assert (finding.state, finding.repaired) == ("failing", False)
    assert "rows are lost" in finding.message
    assert path.read_bytes() == before
    assert not list(settings.home.glob("*.rebuilt"))
