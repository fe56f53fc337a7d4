"""An easeml signs what it knows of a model, and nothing else."""

import json

import pytest
from fastapi.testclient import TestClient
from furnish import furnish

from easeml import signing
from easeml.service.views import model_files
from easeml.store import Store

DIGEST = "0" * 64


def manifest_of(store: Store, person, model_id: str, **more) -> dict:
    with store.read() as tx:
        facts = model_files.facts_of(tx, person.caller, model_id)
    return {"facts": {**facts, **more}, "sha256": {"model/manifest.json": DIGEST}}


def test_what_is_known_of_a_model_is_signed(client: TestClient, store: Store, ann) -> None:
    model_id = furnish(store, ann.caller.tenant_id).model_id
    text = json.dumps(manifest_of(store, ann, model_id))
    address = f"/api/v1/models/{model_id}/signatures"
    answer = client.post(address, json={"manifest": text}, headers=ann.headers)
    key = client.get("/api/v1/signing-key", headers=ann.headers).json()["pem"]
    signature = json.dumps(answer.json()["bundle"]).encode()
    assert signing.signed_digests(signature, key) == {
        "model/manifest.json": DIGEST,
        "export.json": signing.digest_of(text.encode()),
    }
    again = client.get("/api/v1/signing-key", headers=ann.headers).json()["pem"]
    assert again == key


def test_nothing_else_is_signed(client: TestClient, store: Store, ann, bob) -> None:
    model_id = furnish(store, ann.caller.tenant_id).model_id
    address = f"/api/v1/models/{model_id}/signatures"
    better = json.dumps(manifest_of(store, ann, model_id, test_quality={"value": 1.0}))
    refused = client.post(address, json={"manifest": better}, headers=ann.headers)
    assert (refused.status_code, refused.json()["where"]) == (409, "facts")
    true = json.dumps(manifest_of(store, ann, model_id))
    assert client.post(address, json={"manifest": true}, headers=bob.headers).status_code == 404
    assert client.post(address, json={"manifest": true}).status_code == 401


@pytest.mark.parametrize("text", ["{", "[]", '{"facts": {}, "sha256": {"a": "b"}}', "[" * 100_000])
def test_what_is_no_manifest_is_refused(client: TestClient, store: Store, ann, text: str) -> None:
    address = f"/api/v1/models/{furnish(store, ann.caller.tenant_id).model_id}/signatures"
    answer = client.post(address, json={"manifest": text}, headers=ann.headers)
    assert (answer.status_code, answer.json()["where"]) == (422, "manifest")
