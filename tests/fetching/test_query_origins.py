"""Queries on databases: rows come as CSV, and nothing is ever changed or reached beside them."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from easeml.errors import EasemlError, InvalidInput, NotAllowed, TooLarge, Unreachable
from easeml.fetching import Connection, Grant, fetch, read_connections, read_origin
from easeml.fetching.connections import connection_for
from easeml.store import Store
from postgres_cluster import cluster, database

_ROWS = 'a,b\n1,\n2,"x,""y"\n'
_QUESTION = "SELECT a, b FROM t ORDER BY a"
_CHANGES = [
    "INSERT INTO t VALUES (3, 'z')",
    "DELETE FROM t",
    "SELECT 1; DELETE FROM t",
    "SELECT 1; COMMIT; DROP TABLE t",
    "COMMIT",
    "DROP TABLE t",
    "WITH gone AS (DELETE FROM t RETURNING a) SELECT a FROM gone",
]


def _asked(address: str, query: str, connection: Connection, path: Path, **more: float) -> str:
    limits = {"limit": 100_000, "seconds": 5, **more}
    grant = Grant(connection=connection, **limits)  # pyright: ignore[reportArgumentType]
    fetch(read_origin(address, query), path / "came", grant, lambda *_: None)
    return (path / "came").read_text()


@pytest.fixture
def file(tmp_path) -> Path:
    """A SQLite database of two rows."""
    path = tmp_path / "measured.db"
    with sqlite3.connect(path) as link:
        link.execute("CREATE TABLE t (a, b)")
        link.executemany("INSERT INTO t VALUES (?, ?)", [(1, None), (2, 'x,"y')])
    link.close()
    return path


@pytest.fixture(scope="module")
def postgres() -> Iterator[tuple[str, str]]:
    """URLs of a database of two rows, for its owner and for somebody who may only read."""
    with cluster() as template, database(template) as url:
        engine = sa.create_engine(url)
        with engine.begin() as link:
            link.execute(sa.text("CREATE TABLE t (a int, b text)"))
            link.execute(sa.text("INSERT INTO t VALUES (1, NULL), (2, 'x,\"y')"))
            link.execute(sa.text("CREATE ROLE reader LOGIN"))
            link.execute(sa.text("GRANT ALL ON t TO reader"))  # the transaction has to hold, too
            link.execute(sa.text("CREATE SEQUENCE s"))
            link.execute(sa.text("GRANT ALL ON s TO reader"))
        yield url, url.replace("easeml@", "reader@")
        with engine.begin() as link:
            assert link.execute(sa.text("SELECT count(*) FROM t")).scalar() == 2
            link.execute(sa.text("DROP OWNED BY reader"))
            link.execute(sa.text("DROP ROLE reader"))
        engine.dispose()


def _plain(url: str) -> str:
    return url.replace("+psycopg", "")


def test_rows_of_sqlite_come_as_csv(file, tmp_path):
    connection = Connection(url=f"sqlite://{file}", tenants=["*"])
    assert _asked("sqlite://lab", _QUESTION, connection, tmp_path) == _ROWS


@pytest.mark.parametrize(
    "query",
    [
        *_CHANGES,
        "ATTACH '/tmp/other.db' AS other",
        "VACUUM INTO '/tmp/other.db'",
        "PRAGMA journal_mode = wal",
        "SELECT load_extension('other')",
        "SELECT * FROM pragma_database_list",
        "DELETE FROM t RETURNING a",
    ],
)
def test_sqlite_is_only_asked(file, tmp_path, query):
    before = file.read_bytes()
    connection = Connection(url=f"sqlite://{file}", tenants=["*"])
    with pytest.raises(InvalidInput):
        _asked("sqlite://lab", query, connection, tmp_path)
    assert file.read_bytes() == before


_ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT {} FROM r"


def test_endless_queries_end(file, tmp_path):
    connection = Connection(url=f"sqlite://{file}", tenants=["*"])
    with pytest.raises(Unreachable):
        _asked("sqlite://lab", _ENDLESS.format("max(n)"), connection, tmp_path, seconds=0.2)
    with pytest.raises(TooLarge):
        _asked("sqlite://lab", _ENDLESS.format("n"), connection, tmp_path)
    with pytest.raises(TooLarge):
        _asked("sqlite://lab", _ENDLESS.format("n"), connection, tmp_path, rows=10)


def test_nobody_asks_the_database_of_the_service(tmp_path):
    Store.open(f"sqlite:///{tmp_path / 'easeml.db'}", tmp_path / "artefacts").close()
    connection = Connection(url=f"sqlite://{tmp_path / 'easeml.db'}", tenants=["*"])
    with pytest.raises(NotAllowed, match="easeml's own"):
        _asked("sqlite://lab", "SELECT * FROM users", connection, tmp_path)


@pytest.mark.postgres
def test_rows_of_postgres_come_as_csv(postgres, tmp_path):
    connection = Connection(url=_plain(postgres[1]), tenants=["*"])
    assert _asked("postgresql://lab", f"{_QUESTION};", connection, tmp_path) == _ROWS


@pytest.mark.postgres
@pytest.mark.parametrize(
    "query",
    [
        *_CHANGES,
        "SET TRANSACTION READ WRITE",
        "SELECT set_config('transaction_read_only', 'off', true)",
        "SELECT nextval('s')",
        "SELECT 1) TO PROGRAM 'touch /tmp/reached'",
        "COPY t TO '/tmp/reached'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT a INTO u FROM t",
        "SELECT 'x'::bytea",
    ],
)
def test_postgres_is_only_asked(postgres, tmp_path, query):
    connection = Connection(url=_plain(postgres[1]), tenants=["*"])
    with pytest.raises(InvalidInput):
        _asked("postgresql://lab", query, connection, tmp_path)


@pytest.mark.postgres
def test_a_role_with_powers_over_the_server_is_not_used(postgres, tmp_path):
    connection = Connection(url=_plain(postgres[0]), tenants=["*"])
    with pytest.raises(NotAllowed, match="files or programs"):
        _asked("postgresql://lab", _QUESTION, connection, tmp_path)


@pytest.mark.postgres
def test_a_slow_query_is_stopped(postgres, tmp_path):
    connection = Connection(url=_plain(postgres[1]), tenants=["*"])
    with pytest.raises(Unreachable, match="longer"):
        _asked("postgresql://lab", "SELECT pg_sleep(60)", connection, tmp_path, seconds=0.2)


_FILE = """
[lab]
url = "postgresql://reader:hush@db/rows"
tenants = ["physics"]
[files]
url = "s3://bucket/open"
secret_access_key = "hush"
tenants = ["*"]
"""


@pytest.mark.parametrize(
    ("address", "tenant", "is_there"),
    [
        ("postgresql://lab", "physics", True),
        ("postgresql://lab", "biology", False),
        ("sqlite://lab", "physics", False),
        ("postgresql://other", "physics", False),
        ("s3://bucket/open/a.csv", "biology", True),
        ("s3://bucket/opened/a.csv", "biology", False),
        ("s3://other/open/a.csv", "biology", False),
    ],
)
def test_a_connection_is_for_its_tenants_and_its_place(tmp_path, address, tenant, is_there):
    (tmp_path / "connections.toml").write_text(_FILE)
    held = read_connections(tmp_path)
    assert "hush" not in repr(held)
    query = "" if address.startswith("s3") else "SELECT 1"
    origin = read_origin(address, query)
    if is_there:
        assert connection_for(origin, held, ("ten_1", tenant)) is not None
    else:
        with pytest.raises(NotAllowed):
            connection_for(origin, held, ("ten_1", tenant))


@pytest.mark.parametrize("wrong", ['[lab]\nurl = "hush"', "[lab", '[lab]\nsecret = "hush"'])
def test_a_wrong_file_of_connections_is_told_without_its_values(tmp_path, wrong):
    (tmp_path / "connections.toml").write_text(wrong)
    with pytest.raises(EasemlError) as raised:
        read_connections(tmp_path)
    assert "hush" not in str(raised.value)
