"""What was found of production is of the model that answered, not of one that serves instead."""

from pathlib import Path

from fastapi.testclient import TestClient
from test_asking_tools import another_model, application, ask, newest, toys, upload
from test_reports import APPLICATIONS

from easeml.store import Store

__all__ = ["application"]


def test_another_model_that_serves_was_not_watched(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    """After a rollback *Next* said "Newer rows: ok" of a model that no rows were held against."""
    another_model(client, store, ann, tmp_path, application)
    rows = upload(client, store, ann, tmp_path, toys(200, first=500))["version"]["id"]
    ask(client, ann, application, "monitor", newer_id=rows).raise_for_status()
    newest(client, store, ann, tmp_path, application)
    place = f"{APPLICATIONS}/{application}"
    assert _watch(client, ann, place).startswith("Newer rows: ")
    live = client.get(place, headers=ann.headers).json()["live_model"]["id"]
    models = client.get(f"{place}/models", headers=ann.headers).json()["items"]
    (other,) = [one["id"] for one in models if one["id"] != live]
    turned = client.post(f"{place}/rollback", json={"model_id": other}, headers=ann.headers)
    assert turned.is_success, turned.text
    assert _watch(client, ann, place) == "No newer rows were checked."


def _watch(client: TestClient, person, place: str) -> str:
    stations = client.get(f"{place}/next", headers=person.headers).json()["stations"]
    return next(one["said"] for one in stations if one["name"] == "Watch")
