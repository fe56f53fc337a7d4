"""Uploads are streamed, bounded and made once."""

import asyncio
import hashlib
import tracemalloc
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from easeml.api.app import create_app
from easeml.settings import Settings
from easeml.store import Store

TABLE = b"a,b\n" + b"1,2\n" * 1000


def test_upload_and_look(client: TestClient, store: Store, ann, upload) -> None:
    dataset = upload(ann, "numbers", TABLE)
    assert dataset["name"] == "numbers"
    assert dataset["version"]["state"] == "ingesting"
    shown = client.get(f"/api/v1/datasets/{dataset['id']}", headers=ann.headers).json()
    assert shown == dataset
    version = client.get(f"/api/v1/versions/{dataset['version']['id']}", headers=ann.headers).json()
    assert version == dataset["version"]
    with store.read() as tx:
        kept = tx.scoped(ann.caller.tenant_id).versions.get(version["id"]).source_artefact
    path = store.artefacts.path(ann.caller.tenant_id, kept)
    assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(TABLE).digest()
    tasks = client.get("/api/v1/tasks", params={"kind": "ingest"}, headers=ann.headers).json()[
        "items"
    ]
    assert [(task["subject"], task["state"]) for task in tasks] == [(version["id"], "waiting")]


def test_an_upload_repeated_is_one_dataset(client: TestClient, ann) -> None:
    def send(content: bytes):
        headers = {**ann.headers, "Idempotency-Key": "k1"}
        return client.post("/api/v1/datasets?filename=t.csv", content=content, headers=headers)

    first, second = send(TABLE), send(TABLE)
    assert first.status_code == second.status_code == 201
    assert first.json()["id"] == second.json()["id"]
    assert send(b"other,table\n1,2\n").status_code == 409
    assert len(client.get("/api/v1/datasets", headers=ann.headers).json()["items"]) == 1


@pytest.mark.parametrize("declared", [True, False])
def test_an_upload_over_the_limit(client: TestClient, ann, declared: bool) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(11):
            yield b"1" * 100_000

    content = b"".join(chunks()) if declared else chunks()
    answer = client.post("/api/v1/datasets?filename=t.csv", content=content, headers=ann.headers)
    assert answer.status_code == 413
    assert answer.json()["code"] == "too-large"
    assert client.get("/api/v1/datasets", headers=ann.headers).json()["items"] == []


def test_an_empty_upload(client: TestClient, ann) -> None:
    answer = client.post("/api/v1/datasets?filename=t.csv", headers=ann.headers)
    assert answer.status_code == 422
    assert answer.json()["where"] == "t.csv"


class _Upload:
    """The ASGI side of one upload; ``broken``: the sender goes away in the middle."""

    chunk, chunks = b"1,2,3,4\n" * 2**16, 128  # 64 MiB in all

    def __init__(self, key: str, broken: bool):
        self.sent: list[dict] = []
        self._left = self.chunks // 2 if broken else self.chunks
        self._broken = broken
        headers = [(b"authorization", f"Bearer {key}".encode())]
        path = "/api/v1/datasets"
        self.scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"filename=big.csv",
            "root_path": "",
            "headers": headers,
        }

    async def receive(self) -> dict:
        if self._left == 0 and self._broken:
            return {"type": "http.disconnect"}
        self._left -= 1
        return {
            "type": "http.request",
            "body": bytes(self.chunk),
            "more_body": self._broken or self._left > 0,
        }

    async def send(self, message) -> None:
        self.sent.append(message)


def test_an_upload_is_never_held_whole(store: Store, tmp_path, predictor, ann) -> None:
    app = create_app(store, Settings(home=tmp_path), predictor)
    one = _Upload(ann.key, broken=False)
    tracemalloc.start()
    try:
        asyncio.run(app(one.scope, one.receive, one.send))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert one.sent[0]["status"] == 201
    assert peak < 16 * 2**20


def test_an_upload_that_breaks_off_leaves_nothing(store: Store, tmp_path, predictor, ann) -> None:
    app = create_app(store, Settings(home=tmp_path), predictor)
    one = _Upload(ann.key, broken=True)
    asyncio.run(app(one.scope, one.receive, one.send))
    assert one.sent == []
    with store.read() as tx:
        assert tx.unscoped().datasets.count() == 0
    assert [path for path in (tmp_path / "artefacts").rglob("*") if path.is_file()] == []


def test_pages(client: TestClient, ann, upload) -> None:
    made = [upload(ann, f"table {number}")["id"] for number in range(5)]
    found, after = [], None
    while True:
        params = {"limit": 2} | ({"after": after} if after else {})
        page = client.get("/api/v1/datasets", params=params, headers=ann.headers).json()
        found += [dataset["id"] for dataset in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert found == made
