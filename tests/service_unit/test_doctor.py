"""The doctor finds what was broken, changes nothing unless told, and repairs what it says."""

import os
import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest

from easeml.contract.upkeep import Finding
from easeml.engine.checks import check_database
from easeml.errors import Conflict
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.retention import looks
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


def hide_last_row(path: Path, name: str) -> None:
    """Let the first leaf of a table end one row earlier: a page of before, which can be read."""
    content = bytearray(path.read_bytes())
    with closing(driver.connect(path)) as database:
        root = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,))
        (page,) = root.fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    while content[(page - 1) * size] == 0x05:  # a page of pages, the first of which is taken
        start = (page - 1) * size
        cell = start + int.from_bytes(content[start + 12 : start + 14])
        page = int.from_bytes(content[cell : cell + 4])
    place = slice((page - 1) * size + 3, (page - 1) * size + 5)  # how many rows a leaf has
    rows = int.from_bytes(content[place])
    content[place] = (rows - 1).to_bytes(2)
    path.write_bytes(content)


@pytest.mark.parametrize("table", ["tasks", "tenants"])
def test_a_database_that_lost_rows_without_a_trace_in_its_table_is_left_as_it_is(
    store: Store, settings: Settings, serving: str, table: str
):
    store.close()
    path = settings.home / "easeml.db"
    hide_last_row(path, table)
    before = path.read_bytes()
    finding = found(settings, repair=True)["database"]
    assert (finding.state, finding.repaired) == ("failing", False)
    assert "rows are lost" in finding.message
    assert path.read_bytes() == before


def stored_files(settings: Settings) -> set[Path]:
    """Return all stored files, which are made as old as if they were stored two days ago."""
    two_days_ago = time.time() - 48 * 3600
    files = {path for path in settings.artefacts.rglob("*") if path.is_file()}
    for path in files:
        os.utime(path, (two_days_ago, two_days_ago))
    return files


@pytest.mark.parametrize("is_empty", [False, True], ids=["missing", "empty"])
def test_a_home_whose_database_is_lost_is_left_as_it_is(
    store: Store, settings: Settings, serving: str, is_empty: bool
):
    store.close()
    path = settings.home / "easeml.db"
    path.unlink()
    if is_empty:
        path.touch()
    files = stored_files(settings)
    for repair in (False, True):
        finding = found(settings, repair=repair)["database"]
        assert (finding.state, finding.repaired) == ("failing", False)
        assert "easeml restore" in finding.remedy
    assert path.exists() == is_empty
    assert stored_files(settings) == files


def test_a_home_that_was_never_started_is_no_fault_and_nothing_is_made(settings: Settings):
    assert found(settings, repair=True)["database"].state == "warning"
    assert list(settings.home.iterdir()) == []


def test_files_of_tenants_whom_the_database_does_not_know_stay(
    store: Store, settings: Settings, serving: str, fresh_database: Path
):
    """As where ``database_url`` names another database than the one that refers to them."""
    store.close()
    shutil.copy(fresh_database, settings.home / "easeml.db")
    files = stored_files(settings)
    assert found(settings)["tenants"].state == "failing"
    findings = found(settings, repair=True)
    assert (findings["tenants"].repaired, findings["leftovers"].state) == (False, "ok")
    with closing(Store.of(settings)) as other:
        looks.look(other, settings)
        with pytest.raises(Conflict, match="of another one"):
            check_database(other)
    assert stored_files(settings) == files


def test_a_database_of_an_older_easeml_is_not_changed(store: Store, settings: Settings):
    """Else a doctor or a backup of a new version would stop the older one, which runs."""
    store.close()
    path = settings.home / "easeml.db"
    with closing(driver.connect(path)) as database:
        database.execute("UPDATE alembic_version SET version_num = '0048'")
        database.commit()
    finding = found(settings, repair=True)["database"]
    assert finding.state == "failing"
    assert "easeml upgrade" in finding.remedy
    with pytest.raises(Conflict, match="0048"):
        Store.found(settings)
    with closing(driver.connect(path)) as database:
        assert database.execute("SELECT version_num FROM alembic_version").fetchone() == ("0048",)
