"""A file with several tables: which one is read is chosen before, after, and for later rows."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import work_off

from easeml.store import Store
from easeml.web import create_pages, session

HEAD = "<tr><th>size</th><th>kind</th></tr>"


def page(*tables: range) -> bytes:
    """Return a web page with a table for each range of sizes."""
    parts = []
    for sizes in tables:
        rows = "".join(f"<tr><td>{n}.5</td><td>{'ab'[n % 2]}</td></tr>" for n in sizes)
        parts.append(f"<table>{HEAD}{rows}</table>")
    return f"<html><body>{''.join(parts)}</body></html>".encode()


class Desk:
    """Ann, who brings web pages."""

    def __init__(self, client: TestClient, store: Store, person, folder: Path):
        self.client, self.store, self.person, self.folder = client, store, person, folder

    def send(self, path: str, content: bytes, **params) -> dict:
        told = self.client.post(
            f"/api/v1{path}",
            params={"filename": "page.html", **params},
            content=content,
            headers=self.person.headers,
        )
        assert told.status_code == 201, told.text
        work_off(self.store, self.folder)
        return told.json()

    def rows(self, version_id: str) -> int:
        told = self.client.get(f"/api/v1/versions/{version_id}", headers=self.person.headers)
        assert told.json()["error"] == ""
        return told.json()["summary"]["rows"]


@pytest.fixture
def desk(client: TestClient, store: Store, ann, tmp_path: Path) -> Desk:
    return Desk(client, store, ann, tmp_path)


def test_another_table_is_chosen_on_the_page_after_the_upload(desk: Desk, ann) -> None:
    dataset = desk.send("/datasets", page(range(30), range(80)))
    assert desk.rows(dataset["version"]["id"]) == 80
    browser = TestClient(create_pages(desk.client.app), cookies={"easeml_session": ann.key})
    place = f"/new/{dataset['id']}"
    assert "Number of another table in the file" in browser.get(place).text
    form = {"csrf": session.csrf_token(ann.key)}
    browser.post(f"{place}/table", data={**form, "table": "9"})
    work_off(desk.store, desk.folder)
    wrong = browser.get(place).text
    assert "there is no table 9" in wrong
    assert "Number of another table in the file" in wrong  # the way back
    assert browser.post(f"{place}/table", data={**form, "table": "two"}).status_code == 422
    browser.post(f"{place}/table", data={**form, "table": "1"})
    work_off(desk.store, desk.folder)
    assert "30 rows" in browser.get(place).text


def test_rows_come_from_the_table_that_is_named(desk: Desk, ann) -> None:
    dataset = desk.send("/datasets", page(range(60)))
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    made = desk.client.post("/api/v1/applications", json=wish, headers=ann.headers).json()
    work_off(desk.store, desk.folder)
    place = f"/applications/{made['id']}"
    fed = desk.send(f"{place}/feed", page(range(40), range(7)), table=2)
    assert desk.rows(fed["id"]) == 67
    replaced = desk.send(f"{place}/replace", page(range(50), range(90)), table=1)
    assert desk.rows(replaced["id"]) == 50
    refused = desk.client.post(
        f"/api/v1/datasets/{dataset['id']}/table", json={"table": 1}, headers=ann.headers
    )
    assert refused.status_code == 409
