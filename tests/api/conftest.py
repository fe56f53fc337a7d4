"""A real service on SQLite behind the REST application; only the predictor is a stand-in."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from furnish import PASSWORD

from easeml.api.app import create_app
from easeml.api.context import Context
from easeml.contract.accounts import NewUser
from easeml.protocols.answered import Answered
from easeml.service.access.caller import Caller
from easeml.service.accounts import keys, users
from easeml.settings import Settings
from easeml.store import Store


@dataclass
class StandInPredictor:
    """Keeps what it was sent and answers what it was told to."""

    status: int = 200
    content: bytes = b'{"model_id":"m","model_name":"n","predictions":[1]}'
    seen: list[tuple[str, str, str, bytes]] = field(default_factory=list)

    async def predict(
        self, tenant_id: str, application_id: str, content_type: str, body: bytes
    ) -> Answered:
        self.seen.append((tenant_id, application_id, content_type, body))
        return Answered(self.status, self.content)


@dataclass(frozen=True)
class Person:
    """A user with a key."""

    caller: Caller
    name: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


@pytest.fixture(scope="session")
def furnished(
    tmp_path_factory: pytest.TempPathFactory, cheap_passwords: None
) -> tuple[Path, dict[str, Person]]:
    """A home with a provider and two users, made once."""
    home = tmp_path_factory.mktemp("home")
    settings = Settings(home=home)
    store = Store.open(settings.database, settings.artefacts)
    made = users.create_first_provider(store)
    assert made is not None
    provider = _signed_in(store, *made)
    people = {"provider": provider}
    for name in ("ann", "bob"):
        users.create_user(store, provider.caller, NewUser(name=name, password=PASSWORD))
        people[name] = _signed_in(store, name, PASSWORD)
    store.close()
    return home, people


LIMITS = {"upload_limit": 1_000_000, "request_limit": 5_000}


@pytest.fixture(scope="session")
def app() -> FastAPI:
    """The application, put together once: that takes longer than most tests.

    ``client`` gives it what it serves.
    """
    nothing: Any = SimpleNamespace()
    return create_app(nothing, Settings.model_construct(**LIMITS), nothing)


@pytest.fixture
def settings(tmp_path: Path, furnished: tuple[Path, dict[str, Person]]) -> Settings:
    shutil.copytree(furnished[0], tmp_path, dirs_exist_ok=True)
    return Settings(home=tmp_path, **LIMITS)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    store = Store.open(settings.database, settings.artefacts)
    yield store
    store.close()


@pytest.fixture
def predictor() -> StandInPredictor:
    return StandInPredictor()


@pytest.fixture
def client(
    app: FastAPI, store: Store, settings: Settings, predictor: StandInPredictor
) -> Iterator[TestClient]:
    app.state.context = Context.over(store, settings, predictor)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def provider(furnished: tuple[Path, dict[str, Person]]) -> Person:
    return furnished[1]["provider"]


@pytest.fixture
def ann(furnished: tuple[Path, dict[str, Person]]) -> Person:
    return furnished[1]["ann"]


@pytest.fixture
def bob(furnished: tuple[Path, dict[str, Person]]) -> Person:
    return furnished[1]["bob"]


def _signed_in(store: Store, name: str, password: str) -> Person:
    secret = keys.sign_in(store, name, password).secret
    assert secret is not None
    return Person(keys.authenticate(store, secret), name, secret)


@pytest.fixture
def upload(client: TestClient) -> Callable[..., dict]:
    def upload(person: Person, name: str = "table", content: bytes = b"a,b\n1,2\n") -> dict:
        answer = client.post(
            "/api/v1/datasets",
            params={"name": name, "filename": "table.csv"},
            content=content,
            headers=person.headers,
        )
        assert answer.status_code == 201, answer.text
        return json.loads(answer.content)

    return upload
