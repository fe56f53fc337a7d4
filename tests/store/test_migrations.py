import subprocess
import sys
from contextlib import closing
from importlib import import_module

import pytest
import sqlalchemy as sa

from easeml.errors import Conflict, EasemlError, InvalidInput, Unreachable
from easeml.settings import Settings
from easeml.store import Store, Tenant, tables
from easeml.store.database import connect
from easeml.store.migrate import SCHEMA_VERSION
from easeml.store.sqlite import driver


def test_migrations_make_the_tables_of_the_metadata(store, url):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    engine = connect(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, tables.metadata) == []
    engine.dispose()


def test_the_known_version_is_the_newest_migration():
    from pathlib import Path

    from alembic.script import ScriptDirectory

    folder = Path(tables.__file__).parent / "migrations"
    assert ScriptDirectory(str(folder)).get_current_head() == SCHEMA_VERSION


def test_opening_again_keeps_rows_and_needs_no_alembic(open_store, url, tmp_path):
    with open_store().write() as tx:
        tx.tenants.add(Tenant("t1", "one"))
    code = """
import sys
from pathlib import Path
from easeml.store import Store
with Store.open(sys.argv[1], Path(sys.argv[2])).read() as tx:
    print(tx.tenants.get("t1").name, "alembic" in sys.modules, "pandas" in sys.modules)
"""
    command = [sys.executable, "-c", code, url, str(tmp_path / "artefacts")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["one", "False", "False"]


def test_a_database_of_a_newer_easeml_is_refused(open_store, url, tmp_path):
    open_store()
    engine = connect(url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(Conflict, match="9999"):
        Store.open(url, tmp_path / "artefacts")


@pytest.mark.parametrize(
    "url", ["mysql://localhost/x", "sqlite://", "sqlite:///:memory:", "nonsense"]
)
def test_other_databases_are_refused(url, tmp_path):
    with pytest.raises(InvalidInput):
        Store.open(url, tmp_path)


@pytest.mark.parametrize(
    "url", ["postgresql://u:secret@127.0.0.1:1/x", "sqlite:////proc/nowhere.db"]
)
def test_a_database_that_cannot_be_opened_is_an_error_with_a_remedy(url, tmp_path):
    with pytest.raises(Unreachable) as caught:
        Store.open(url, tmp_path)
    assert "secret" not in str(caught.value)
    assert caught.value.remedy


def test_sqlite_is_durable(tmp_path):
    store = Store.open(f"sqlite:///{tmp_path / 'new' / 'easeml.db'}", tmp_path / "artefacts")
    with store._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    store.close()


def make_older(path):
    """Give a database the form that it had before the newest migration; return its number."""
    newest = import_module("easeml.store.migrations.versions.0049_quality_held_out")
    with closing(driver.connect(path)) as older:
        for place in ("models.held_out",):
            table, column = place.split(".")
            older.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        older.execute("UPDATE alembic_version SET version_num = ?", (newest.down_revision,))
        older.commit()
    return newest.down_revision


@pytest.fixture
def older_home(tmp_path):
    """A home with a tenant, whose database lacks the newest migration."""
    store = Store.open(f"sqlite:///{tmp_path}/easeml.db", tmp_path / "artefacts")
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "lab"))
    store.close()
    make_older(tmp_path / "easeml.db")
    return tmp_path


def test_a_migration_is_rehearsed_on_a_copy_while_another_easeml_writes(older_home):
    settings = Settings(home=older_home)
    path = older_home / "easeml.db"
    with closing(driver.connect(path)) as running:
        running.execute("INSERT INTO alembic_version VALUES ('0000')")  # its transaction is open
        Store.rehearse(settings)
        running.rollback()
    assert not Store.fits(settings)  # the database itself is as it was
    assert not list(older_home.glob("*rehears*"))


def test_a_migration_that_fails_does_so_on_the_copy(older_home):
    settings = Settings(home=older_home)
    path = older_home / "easeml.db"
    with closing(driver.connect(path)) as odd:
        odd.execute("ALTER TABLE models ADD COLUMN held_out TEXT")  # somebody was faster
    before = path.read_bytes()
    with pytest.raises(EasemlError, match="held_out"):
        Store.rehearse(settings)
    assert path.read_bytes() == before
    assert not list(older_home.glob("*rehears*"))


def test_a_database_is_kept_as_it_was_before_an_upgrade(tmp_path):
    url = f"sqlite:///{tmp_path}/easeml.db"
    store = Store.open(url, tmp_path / "artefacts")
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "lab"))
    store.close()
    assert not list(tmp_path.glob("*.before-*"))  # there was nothing to keep
    before_newest = make_older(tmp_path / "easeml.db")
    store = Store.open(url, tmp_path / "artefacts")
    with store.write() as tx:
        tx.tenants.add(Tenant("t2", "later"))
    store.close()
    (kept,) = tmp_path.glob(f"easeml.db.before-{SCHEMA_VERSION}")
    with closing(driver.connect(kept)) as before:
        (version,) = before.execute("SELECT version_num FROM alembic_version").fetchone()
        assert version == before_newest
        assert before.execute("SELECT id FROM tenants").fetchall() == [("t1",)]
