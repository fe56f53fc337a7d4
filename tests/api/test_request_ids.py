"""Each request has an id, and a line in the access log where that is wanted."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from fastapi.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from easeml.api import request_ids
from easeml.api.app import create_app
from easeml.api.asgi import create_asgi_app
from easeml.engine.logs import name_request
from easeml.engine.networks import networks_of
from easeml.errors import InvalidInput
from easeml.settings import Settings
from easeml.store import Store
from easeml.version import __version__


@pytest.fixture
def site(store: Store, tmp_path: Path) -> Iterator[TestClient]:
    settings = Settings(home=tmp_path, access_log=True)
    app = create_app(store, settings, None)  # type: ignore[arg-type]  nothing is predicted

    @app.get("/api/v1/boom")
    def boom() -> None:
        raise RuntimeError("boom")

    with TestClient(create_asgi_app(app, settings), raise_server_exceptions=False) as client:
        yield client


def lines(tmp_path: Path) -> list[dict]:
    return [
        json.loads(line) for line in (tmp_path / "logs" / "access.log").read_text().splitlines()
    ]


def test_an_id_is_made_or_taken_and_logged(site: TestClient, ann, tmp_path: Path) -> None:
    made = site.get("/api/v1/me?secret=swordfish", headers=ann.headers).headers["x-request-id"]
    assert made.startswith("req_")
    headers = {**ann.headers, "x-request-id": "trace-7"}
    assert site.get("/api/v1/me", headers=headers).headers["x-request-id"] == "trace-7"
    unknown = site.get("/api/v1/of-another-version", headers=ann.headers)
    assert unknown.headers["x-easeml-version"] == __version__  # also where nothing is found
    first, second, _ = lines(tmp_path)
    assert (first["request"], first["method"], first["path"]) == (made, "GET", "/api/v1/me")
    assert (first["status"], first["user"], first["key"]) == (
        200, ann.caller.user_id, ann.caller.key_id or first["key"],
    )  # fmt: skip
    assert first["bytes"] > 0
    assert first["ms"] > 0
    assert second["client_request"] == "trace-7"
    assert second["request"] != made
    assert "swordfish" not in (tmp_path / "logs" / "access.log").read_text()
    assert ann.key not in (tmp_path / "logs" / "access.log").read_text()


@pytest.mark.parametrize("given", ["x" * 101, "a b", "a\tb", "é", "{}", ""])
def test_an_id_that_could_be_something_else_is_not_taken(site: TestClient, ann, given: str) -> None:
    headers = [(b"authorization", f"Bearer {ann.key}".encode()), (b"x-request-id", given.encode())]
    assert site.get("/api/v1/me", headers=headers).headers["x-request-id"].startswith("req_")


def test_strangers_pages_and_secrets_in_paths(site: TestClient, tmp_path: Path) -> None:
    assert site.get("/api/v1/me").status_code == 401
    assert "x-request-id" in site.get("/sign-in").headers
    site.get("/join/inv_very-secret")
    first, second, third = lines(tmp_path)
    assert (first["status"], first["user"]) == (401, "")
    assert (second["path"], second["status"]) == ("/sign-in", 200)
    assert third["path"] == "/join/..."
    assert "very-secret" not in (tmp_path / "logs" / "access.log").read_text()


def test_what_went_wrong_is_found_by_the_id_of_its_request(site: TestClient, ann) -> None:
    with structlog.testing.capture_logs(processors=[name_request]) as logged:
        answer = site.get("/api/v1/boom", headers=ann.headers)
    assert answer.status_code == 500
    id = answer.headers["x-request-id"]
    assert id in answer.json()["remedy"]
    (line,) = [one for one in logged if one["event"] == "request failed"]
    assert line["request"] == id


def test_the_task_that_a_request_asked_for_is_found_by_the_name_that_a_proxy_gave_it(
    site: TestClient, ann
) -> None:
    def upload(name: str, headers: dict[str, str]) -> list[Any]:
        processors = [structlog.contextvars.merge_contextvars, name_request]
        with structlog.testing.capture_logs(processors=processors) as logged:
            address = f"/api/v1/datasets?name={name}&filename=t.csv"
            answer = site.post(address, content=b"a,b\n1,2\n", headers={**ann.headers, **headers})
        assert answer.status_code == 201, answer.text
        return [line for line in logged if line["event"] == "task asked for"]

    (line,) = upload("named", {"x-request-id": "of-nginx-8"})
    assert line["client_request"] == "of-nginx-8"
    assert line["request"].startswith("req_")
    assert line["task"].startswith("task_")
    (line,) = upload("unnamed", {})
    assert "client_request" not in line


def test_a_long_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_ids, "_LARGEST", 1000)
    note = request_ids.access_log(tmp_path)
    for number in range(100):
        note(number=number, path="/" + "x" * 50)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 5
    assert all(file.stat().st_size <= 1000 for file in files)
    newest = (tmp_path / "access.log").read_text().splitlines()
    assert json.loads(newest[-1])["number"] == 99
    logging.shutdown()


def test_an_access_log_that_somebody_took_away_begins_anew(tmp_path: Path) -> None:
    note = request_ids.access_log(tmp_path / "logs")
    path = tmp_path / "logs" / "access.log"

    def numbers(path: Path) -> list[int]:
        return [json.loads(line)["number"] for line in path.read_text().splitlines()]

    note(number=0)
    kept = path.rename(tmp_path / "kept.log")
    note(number=1)
    note(number=2)
    assert (numbers(kept), numbers(path)) == ([0], [1, 2])
    path.unlink()
    path.parent.rmdir()
    note(number=3)
    assert numbers(path) == [3]
    logging.shutdown()


@pytest.mark.parametrize(
    ("peer", "forwarded", "believed"),
    [
        ("10.1.2.3", "192.0.2.7", "192.0.2.7"),
        ("10.1.2.3", "6.6.6.6, 192.0.2.7, 10.9.9.9", "192.0.2.7"),  # what a client wrote is not
        ("192.0.2.1", "6.6.6.6", "192.0.2.1"),
        ("2001:db8::1", "6.6.6.6", "6.6.6.6"),
    ],
)
def test_only_named_proxies_are_believed_who_asks(peer: str, forwarded: str, believed: str) -> None:
    import asyncio

    seen = {}

    async def app(scope, receive, send) -> None:
        seen.update(client=scope["client"][0], scheme=scope["scheme"])

    proxies = networks_of("10.0.0.0/8, 2001:db8::/32")
    headers = [(b"x-forwarded-for", forwarded.encode()), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "client": (peer, 1), "scheme": "http", "headers": headers}
    asyncio.run(ProxyHeadersMiddleware(app, trusted_hosts=proxies)(scope, None, None))  # type: ignore[arg-type]
    assert seen["client"] == believed
    assert seen["scheme"] == ("http" if believed == peer else "https")


@pytest.mark.parametrize("setting", ["*", "proxy.lab", "10.0.0.0/33", "10.0.0.1;10.0.0.2"])
def test_what_would_believe_anybody_is_refused(setting: str) -> None:
    with pytest.raises(InvalidInput, match="nor a network"):
        networks_of(setting)


def test_networks_are_read() -> None:
    assert networks_of("") == []
    assert networks_of("10.0.0.5/8, 192.0.2.7 ,::1") == ["10.0.0.0/8", "192.0.2.7/32", "::1/128"]


def test_a_task_knows_the_request_that_asked_for_it(site: TestClient, store: Store, ann) -> None:
    query = {"filename": "t.csv", "name": "toys"}
    answer = site.post("/api/v1/datasets", params=query, content=b"a,b\n1,2\n", headers=ann.headers)
    assert answer.status_code < 300, answer.text
    with store.read() as tx:
        (task,) = tx.unscoped().tasks.list(limit=None)
    assert task.request == answer.headers["x-request-id"]
