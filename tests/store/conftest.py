"""The store on both databases: SQLite in a temporary folder, and a private PostgreSQL cluster."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from easeml.store import Store
from postgres_cluster import cluster, database


class Clock:
    """A clock that stands still until told."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a running cluster's databases, without the name."""
    with cluster() as template:
        yield template


@pytest.fixture(scope="session")
def fresh_postgres(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database in the cluster that has its tables and no rows, to copy."""
    with database(postgres) as made:
        Store.open(made, tmp_path_factory.mktemp("artefacts")).close()
        yield str(sa.make_url(made).database)


@pytest.fixture
def has_tables() -> bool:
    """Whether a test finds its tables; where all begins with an empty database, a file says no."""
    return True


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path, has_tables: bool) -> Iterator[str]:
    """The URL of a database without rows."""
    if request.param == "postgres":
        like = request.getfixturevalue("fresh_postgres") if has_tables else None
        with database(request.getfixturevalue("postgres"), like) as made:
            yield made
        return
    if has_tables:
        shutil.copy(request.getfixturevalue("fresh_database"), tmp_path / "easeml.db")
    yield f"sqlite:///{tmp_path / 'easeml.db'}"


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still until told."""
    return Clock()


@pytest.fixture
def open_store(url: str, tmp_path: Path) -> Iterator[Callable[..., Store]]:
    """Opens stores on the database; closes them after the test."""
    opened: list[Store] = []

    def open_one(**options: object) -> Store:
        opened.append(Store.open(url, tmp_path / "artefacts", **options))  # pyright: ignore[reportArgumentType]
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[..., Store], clock: Clock) -> Store:
    """A store whose clock stands still."""
    return open_store(clock=clock)
