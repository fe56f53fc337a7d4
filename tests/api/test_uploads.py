"""Uploads in pieces over REST: bytes arrive once and in order, whatever breaks; nothing
half-written is ever used.
"""

import os
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.errors import Conflict, InvalidInput
from easeml.service.retention import looks
from easeml.settings import Settings
from easeml.store import ArtefactStore, LocalFiles, Store, UploadStore

TUS = {"Tus-Resumable": "1.0.0"}
PIECE = {**TUS, "Content-Type": "application/offset+octet-stream"}
TABLE = b"a,b\n" + b"1,2\n" * 1000


@pytest.fixture
def begin(client: TestClient):
    def begin(person, length: int = len(TABLE)):
        return client.post(
            "/api/v1/uploads", headers={**TUS, "Upload-Length": str(length), **person.headers}
        )

    return begin


@pytest.fixture
def send(client: TestClient):
    def send(person, address: str, offset: int, content: bytes):
        return client.patch(
            address,
            content=content,
            headers={**PIECE, "Upload-Offset": str(offset), **person.headers},
        )

    return send


def test_a_file_in_pieces_becomes_what_it_would_be_at_once(
    client: TestClient, ann, begin, send, upload
) -> None:
    began = begin(ann)
    address, made = began.headers["location"], began.json()
    assert (began.status_code, made["offset"], made["length"]) == (201, 0, len(TABLE))
    assert send(ann, address, 0, TABLE[:1500]).headers["upload-offset"] == "1500"
    asked = client.head(address, headers={**TUS, **ann.headers})
    assert (asked.status_code, asked.headers["upload-offset"]) == (200, "1500")
    early = client.post(f"/api/v1/datasets?filename=t.csv&upload={made['id']}", headers=ann.headers)
    assert (early.status_code, early.json()["detail"]) == (409, "1,500 of 4,004 bytes are here.")
    assert send(ann, address, 1500, TABLE[1500:]).status_code == 204

    finish = {"params": {"filename": "t.csv", "upload": made["id"]}}
    first = client.post(
        "/api/v1/datasets", **finish, headers={**ann.headers, "Idempotency-Key": "k"}
    )
    again = client.post(
        "/api/v1/datasets", **finish, headers={**ann.headers, "Idempotency-Key": "k"}
    )
    assert (first.status_code, again.json()) == (201, first.json())
    store: Store = client.app.state.context.store  # type: ignore[attr-defined]
    with store.read() as tx:
        digests = [version.source_artefact for version in tx.unscoped().versions.list()]
    assert upload(ann, content=TABLE)
    with store.read() as tx:
        assert {version.source_artefact for version in tx.unscoped().versions.list()} == set(
            digests
        )


def test_pieces_elsewhere_are_refused_and_told_where(client: TestClient, ann, begin, send) -> None:
    address = begin(ann, 100).headers["location"]
    assert send(ann, address, 5, b"x").status_code == 409
    assert send(ann, address, 0, b"x" * 60).status_code == 204
    assert send(ann, address, 0, b"x" * 60).status_code == 409
    assert send(ann, address, 60, b"x" * 41).status_code == 422
    assert send(ann, address, 60, b"x" * 40).status_code == 204
    assert send(ann, address, 100, b"").status_code == 204


def test_who_does_not_speak_the_protocol_is_told(client: TestClient, ann, begin) -> None:
    answer = client.post("/api/v1/uploads", headers={"Upload-Length": "3", **ann.headers})
    assert (answer.status_code, answer.headers["tus-version"]) == (412, "1.0.0")
    for length in ("", "-1", "many", "1e9"):
        assert (
            client.post(
                "/api/v1/uploads", headers={**TUS, "Upload-Length": length, **ann.headers}
            ).status_code
            == 422
        )
    address = begin(ann, 3).headers["location"]
    headers = {**TUS, "Upload-Offset": "0", "Content-Type": "text/csv", **ann.headers}
    assert client.patch(address, content=b"abc", headers=headers).status_code == 415


def test_uploads_are_limited_and_called_off(client: TestClient, provider, ann, begin) -> None:
    assert begin(ann, 1_000_001).status_code == 413
    addresses = [begin(ann, 10).headers["location"] for _ in range(20)]
    assert begin(ann, 10).json()["code"] == "too-many"
    assert client.delete(addresses[0], headers={**TUS, **ann.headers}).status_code == 204
    assert client.delete(addresses[0], headers={**TUS, **ann.headers}).status_code == 404
    limits = f"/api/v1/tenants/{ann.caller.tenant_id}/limits"
    assert client.put(limits, json={"storage": 300}, headers=provider.headers).status_code == 200
    assert (
        begin(ann, 111).json()["where"] == "storage"
    )  # 19 unfinished ones of 10 bytes are counted
    assert begin(ann, 110).status_code == 201


@pytest.mark.parametrize("named", ["{id}", "up_00000000000000000000", "..", "up_%2e%2e", "é"])
def test_uploads_of_others_do_not_exist(
    client: TestClient, ann, bob, begin, send, named: str
) -> None:
    made = begin(ann, 3).json()["id"]
    address = f"/api/v1/uploads/{named.format(id=made)}"
    assert client.head(address, headers=TUS).status_code == 401
    assert client.head(address, headers={**TUS, **bob.headers}).status_code == 404
    assert send(bob, address, 0, b"x").status_code == 404
    assert client.delete(address, headers={**TUS, **bob.headers}).status_code in (404, 405)
    finish = {"filename": "t.csv", "upload": named.format(id=made)}
    assert client.post("/api/v1/datasets", params=finish, headers=bob.headers).status_code == 404


def test_what_nobody_goes_on_with_expires(
    client: TestClient, store: Store, ann, begin, send
) -> None:
    address = begin(ann, 3).headers["location"]
    (upload,) = store.uploads.open_ones(ann.caller.tenant_id)
    day_ago = time.time() - 24 * 3600 - 1
    os.utime(upload.path, (day_ago, day_ago))
    assert send(ann, address, 0, b"x").status_code == 404
    assert store.uploads.open_ones(ann.caller.tenant_id) == []
    looks.look(store, Settings())
    assert not upload.path.exists()


def test_what_came_before_a_break_is_kept(store: Store, ann) -> None:
    def breaking():
        yield TABLE[:700]
        yield TABLE[700:900]
        raise ConnectionResetError

    upload = store.uploads.begin(ann.caller.tenant_id, len(TABLE))
    with pytest.raises(ConnectionResetError):
        store.uploads.append(ann.caller.tenant_id, upload.id, 0, breaking())
    assert store.uploads.get(ann.caller.tenant_id, upload.id).offset == 900


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20))))
def test_whatever_is_sent_in_whatever_order_the_bytes_are_the_files(
    content: bytes, tries: list[tuple[int, int]]
) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        uploads, artefacts = (
            UploadStore(Path(folder, "up")),
            ArtefactStore(LocalFiles(Path(folder, "art"))),
        )
        upload = uploads.begin("t1", len(content))
        for offset, size in tries:
            try:
                uploads.append("t1", upload.id, offset, [content[offset : offset + size]])
            except (Conflict, InvalidInput):
                assert offset != uploads.get("t1", upload.id).offset
        here = uploads.get("t1", upload.id).offset
        assert upload.path.read_bytes() == content[:here]
        uploads.append("t1", upload.id, here, [content[here:]])
        digest, size = uploads.take("t1", upload.id, artefacts)
        assert uploads.take("t1", upload.id, artefacts) == (digest, size)
        assert artefacts.path("t1", digest).read_bytes() == content
        assert [
            path.stat().st_size for path in Path(folder, "up").rglob("*") if path.is_file()
        ] == [0]
