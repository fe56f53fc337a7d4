"""The store on both databases: SQLite in a temporary folder, and a private PostgreSQL cluster."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

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


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'easeml.db'}"
        return
    with database(request.getfixturevalue("postgres")) as made:
        yield made


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
