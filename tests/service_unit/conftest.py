"""A real store on SQLite, a clock that the test moves, and two tenants."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from easeml.contract.accounts import NewUser
from easeml.service.access.caller import Caller
from easeml.service.accounts import keys, users
from easeml.store import Store

PASSWORD = "correct horse"


class Clock:
    """Seconds of the epoch, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def passwords_are_cheap(cheap_passwords: None) -> None:
    """In all tests of this folder."""


@pytest.fixture
def store(tmp_path: Path, clock: Clock, fresh_database: Path) -> Iterator[Store]:
    shutil.copy(fresh_database, tmp_path / "easeml.db")
    store = Store.open(f"sqlite:///{tmp_path / 'easeml.db'}", tmp_path / "artefacts", clock=clock)
    yield store
    store.close()


@pytest.fixture
def admin(store: Store) -> Caller:
    first = users.create_first_provider(store)
    assert first is not None
    return keys.authenticate(store, keys.sign_in(store, *first).secret or "")


def make_user(store: Store, admin: Caller, name: str) -> Caller:
    """A user with a tenant of their own, signed in."""
    user = users.create_user(store, admin, NewUser(name=name, password=PASSWORD))
    return Caller(user.id, user.tenant_id)


@pytest.fixture
def ann(store: Store, admin: Caller) -> Caller:
    return make_user(store, admin, "ann")


@pytest.fixture
def bob(store: Store, admin: Caller) -> Caller:
    return make_user(store, admin, "bob")
