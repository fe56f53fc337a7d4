import subprocess
import sys
from contextlib import closing
from importlib import import_module

import pytest
import sqlalchemy as sa

from easeml.errors import Conflict, EasemlError, InvalidInput, Unreachable
from easeml.settings import Settings
from easeml.store import Store, Tenant, migrate, tables
from easeml.store.database import connect
from easeml.store.migrate import SCHEMA_VERSION
from easeml.store.records import Feedback, ProductionRow, Task
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
    newest = import_module("easeml.store.migrations.versions.0055_rows_that_were_fed")
    with closing(driver.connect(path)) as older:
        older.execute("ALTER TABLE production_rows DROP COLUMN fed")
        older.execute("UPDATE alembic_version SET version_num = ?", (newest.down_revision,))
        older.commit()
    return newest.down_revision


@pytest.fixture
def older(store, url, tmp_path):
    """Settings that name a database with a tenant, which lacks the newest migration."""
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "lab"))
    older_form(url)
    return Settings(home=tmp_path, database_url=url)


def older_form(url):
    """Give a database of either kind the form that it had before the newest migration."""
    newest = import_module("easeml.store.migrations.versions.0055_rows_that_were_fed")
    change(url, "ALTER TABLE production_rows DROP COLUMN fed")
    change(url, f"UPDATE alembic_version SET version_num = '{newest.down_revision}'")


def change(url, statement):
    engine = connect(url)
    with engine.begin() as connection:
        connection.execute(sa.text(statement))
    engine.dispose()


def tables_of(url):
    """Return the tables of a database with their columns, and its tenants."""
    engine = connect(url)
    with engine.connect() as connection:
        look = sa.inspect(connection)
        columns = {name: str(look.get_columns(name)) for name in look.get_table_names()}
        tenants = connection.execute(sa.text("SELECT id, name FROM tenants")).all()
    engine.dispose()
    return columns, tenants


def test_a_migration_is_rehearsed_on_a_copy_while_another_easeml_writes(older, url, tmp_path):
    before = tables_of(url)
    running = connect(url)
    with running.connect() as connection, connection.begin() as open_one:
        connection.execute(sa.text("UPDATE tenants SET name = 'changed'"))
        Store.rehearse(older)
        open_one.rollback()
    running.dispose()
    assert not Store.fits(older)  # the database itself is as it was
    assert tables_of(url) == before
    assert not list(tmp_path.glob("*rehears*"))


def test_who_holds_a_table_of_postgres_keeps_no_service_from_answering(
    older, url, tmp_path, monkeypatch
):
    """A dump, or a session that was left open, would be waited for while nobody is answered."""
    if url.startswith("sqlite"):
        pytest.skip("SQLite is locked as a whole")
    monkeypatch.setattr(migrate, "_TABLE_SECONDS", 0.1)
    before = tables_of(url)
    other = connect(url)
    with other.connect() as connection, connection.begin():
        connection.execute(sa.text("SELECT count(*) FROM production_rows"))
        with pytest.raises(Conflict, match="another program works with its tables"):
            Store.of(older)
    other.dispose()
    assert tables_of(url) == before
    Store.of(older).close()
    assert Store.fits(older)


@pytest.mark.postgres
def test_a_copy_of_postgres_has_all_that_the_tables_have(store, url):
    """Migrations name constraints and indexes, and fail where rows do not fit."""
    from easeml.store.postgres_copy import copy_tables

    if url.startswith("sqlite"):
        pytest.skip("SQLite copies its file")
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "lab"))
    engine = connect(url)
    with engine.connect() as connection, connection.begin() as trial:
        before = facts_of(connection, "public")
        copy_tables(connection)
        copied = facts_of(connection, "pg_temp")
        assert copied == before
        assert len(copied["constraints"]) > 40
        assert connection.execute(sa.text("SELECT name FROM tenants")).all() == [("lab",)]
        trial.rollback()
    engine.dispose()


def facts_of(connection, schema):
    """Return columns, constraints and indexes of a schema's tables, as PostgreSQL tells them."""
    place = "pg_my_temp_schema()" if schema == "pg_temp" else f"'{schema}'::regnamespace"
    columns = f"""SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
        replace(pg_get_expr(d.adbin, d.adrelid), 'public.', '')
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE c.relnamespace = {place} AND c.relkind = 'r' AND NOT a.attisdropped"""
    constraints = f"""SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = {place}"""
    indexes = f"""SELECT c.relname, regexp_replace(pg_get_indexdef(c.oid), ' ON [a-z0-9_]+[.]', ' ON ')
        FROM pg_class c WHERE relnamespace = {place} AND relkind = 'i'"""
    found = {"columns": columns, "constraints": constraints, "indexes": indexes}
    return {
        name: sorted(map(str, connection.execute(sa.text(question))))
        for name, question in found.items()
    }


def test_a_migration_that_fails_does_so_on_the_copy(older, url, tmp_path):
    change(url, "ALTER TABLE production_rows ADD COLUMN fed TEXT")  # somebody was faster
    before = tables_of(url)
    with pytest.raises(EasemlError, match="fed"):
        Store.rehearse(older)
    assert tables_of(url) == before
    assert not list(tmp_path.glob("*rehears*"))


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


def before_rows_were_marked(url):
    """Give a database of either kind the form that it had before 0054."""
    older_form(url)
    for place in (
        "production_rows.looked",
        "production_rows.learned",
        "production_rows.sampled",
        "feedback.drawn",
    ):
        table, column = place.split(".")
        change(url, f"ALTER TABLE {table} DROP COLUMN {column}")
    change(url, "UPDATE alembic_version SET version_num = '0053'")


def test_rows_that_earlier_looks_took_stay_taken(store, url, tmp_path):
    """Looks kept the time of the newest row and word; since 0054 each row is marked."""
    owner = {"tenant_id": "t1", "application_id": "app"}

    def row(number, created):
        id = f"req_{number}.000000"
        said = {"prediction": "a", "probabilities": None}
        return ProductionRow(id, "t1", "app", f"req_{number}", 0, "", "m", {}, said, created)

    def look(id, state, **told):
        payload = {"kind": "advise", "tool": "monitor", "application_id": "app", "model_id": "m"}
        return Task(id, "t1", "advise", "cpu", {**payload, **told}, state=state, created=100.0)

    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "lab"))
        tables = tx.scoped("t1")
        tables.production_rows.add_all([row(1, 10.0), row(2, 20.0), row(3, 30.0)])
        told = {"request_id": "req_1", "row": 0, "key": "", "value": {"value": "a"}}
        tables.feedback.add(Feedback("w1", **owner, **told, created=12.0))
        tables.feedback.add(
            Feedback("w2", **owner, **{**told, "request_id": "req_2"}, created=90.0)
        )
        tables.tasks.add_all(
            [
                look("k1", "done", newer_artefact="x", rows_until=10.0, told_until=12.0),
                look("k2", "done", newer_artefact="x", rows_until=20.0, told_until=21.0),
                look("k3", "failed", newer_artefact="x", rows_until=30.0, told_until=95.0),
            ]
        )
    before_rows_were_marked(url)
    settings = Settings(home=tmp_path, database_url=url)
    Store.rehearse(settings)
    with Store.of(settings).read() as tx:
        rows = tx.scoped("t1").production_rows.by_id()
    marks = [(one.looked, one.learned) for one in rows.values()]
    assert marks == [("k1", "k1"), ("k2", ""), ("", "")]
