"""The client against the real API over a real store: nothing stands in for anything but the
workers.
"""

import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
import uvicorn
from cutting_proxy import cutting_proxy

from easeml.api.app import create_app
from easeml.client import Client, made_request
from easeml.contract.applications import Declaration
from easeml.errors import Conflict, InvalidInput, NotAllowed, NotFound, NotReady, NotSignedIn
from easeml.protocols.answered import Answered
from easeml.service.accounts import users
from easeml.settings import Settings
from easeml.store import Store


class EchoPredictor:
    """Answers each request with what reached it."""

    async def predict(
        self, tenant_id: str, application_id: str, content_type: str, body: bytes
    ) -> Answered:
        seen = [tenant_id, application_id, content_type, body.decode()]
        answer = {"model_id": "mod_1", "model_name": "echo", "predictions": seen}
        return Answered(200, json.dumps(answer).encode())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Give address and provider's password of a running controller."""
    home = tmp_path_factory.mktemp("home")
    settings = Settings(home=home)  # pyright: ignore
    store = Store.open(settings.database, settings.artefacts)
    first = users.create_first_provider(store)
    assert first is not None
    server = uvicorn.Server(
        uvicorn.Config(create_app(store, settings, EchoPredictor()), log_level="warning")
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", first[1]
        server.should_exit = True
        thread.join()
    store.close()


@pytest.fixture
def provider(service: tuple[str, str]) -> Iterator[Client]:
    with Client(service[0]) as client:
        client.login("admin", service[1])
        yield client


@pytest.fixture
def tenant(provider: Client, request: pytest.FixtureRequest) -> Iterator[Client]:
    name = request.node.name.replace("_", "-")[:40]
    provider.create_user(name, "long enough")
    with Client(provider.url, retries=0) as client:
        client.login(name, "long enough")
        yield client


def test_users_keys_and_passwords(provider: Client, tenant: Client):
    me = tenant.me()
    assert me.id in [user.id for user in provider.users()]
    assert [(one.tenant_id, one.role) for one in me.tenants] == [(me.tenant_id, "owner")]
    assert [user.id for user in tenant.users()] == [me.id]
    with pytest.raises(NotAllowed):
        tenant.create_user("another", "long enough")
    with pytest.raises(Conflict):
        provider.create_user(me.name, "long enough")

    key = tenant.create_key("script", expires_in=60)
    assert key.id in [one.id for one in tenant.api_keys()]
    with Client(provider.url, key.secret) as by_key:
        assert by_key.me() == me
        tenant.revoke_key(key.id)
        with pytest.raises(NotSignedIn):
            by_key.me()

    with pytest.raises((NotAllowed, NotSignedIn)):
        tenant.change_password(me.id, "even longer", old="wrong one")
    tenant.change_password(me.id, "even longer", old="long enough")
    tenant.login(me.name, "even longer")
    assert tenant.me() == me


def test_uploads_of_one_tenant_are_not_seen_by_another(
    provider: Client, tenant: Client, tmp_path: Path
):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n" + "1,a\n" * 200_000)
    dataset = tenant.upload(path, idempotency_key="once")
    assert tenant.upload(path, idempotency_key="once").id == dataset.id
    with pytest.raises((Conflict, InvalidInput)):
        tenant.upload(path, name="another name", idempotency_key="once")
    assert [one.id for one in tenant.datasets()] == [dataset.id]
    assert tenant.version(dataset.version.id).state == "ingesting"
    with pytest.raises(NotFound):
        provider.dataset(dataset.id)
    with pytest.raises(NotReady):
        tenant.propose(made_request(Declaration, dataset_id=dataset.id))
    assert [task.kind for task in tenant.tasks(state="waiting")] == ["ingest"]
    assert tenant.status().tasks["waiting"] == 1
    seen = list(tenant.past_events())
    assert seen
    assert list(islice(tenant.events(after=0), len(seen))) == seen


def test_an_upload_goes_on_where_the_connection_broke(tenant: Client, tmp_path: Path):
    path = tmp_path / "large.csv"
    path.write_bytes(b"x,y\n" + b"".join(b"%d,a\n" % row for row in range(1_200_000)))
    size = path.stat().st_size
    told: list[tuple[int, int]] = []
    secret = tenant.create_key("script").secret
    port = int(tenant.url.rpartition(":")[2])
    with (
        cutting_proxy(port, cuts=[5_000_000, 6_000_000]) as network,
        Client(network.url, secret) as client,
    ):
        dataset = client.upload(path, progress=lambda sent, whole: told.append((sent, whole)))
    assert network.cuts == []
    assert network.passed < size + 2 * 2**20  # what was there was not sent again
    assert told[-1] == (size, size)
    assert tenant.dataset(dataset.id).name == "large"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert list(tmp_path.parent.glob(f"home*/artefacts/*/*/{digest}"))


def test_what_is_not_there_and_who_is_nobody(tenant: Client):
    with pytest.raises(NotFound):
        tenant.application("app_00000000000000000000")
    with pytest.raises(NotSignedIn):
        tenant.login("", "")
    assert tenant.is_healthy()


def test_predictions_pass_through(tenant: Client):
    answer = tenant.predict("app_1", csv="x\n1\n").predictions
    assert answer[1:] == ["app_1", "text/csv", "x\n1\n"]
