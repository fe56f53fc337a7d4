"""A gate of a target that is a number: which errors count, and which way a condition points."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import train, work_off
from test_asking_tools import upload
from test_gated_applications import gates, job_of, put
from test_reports import APPLICATIONS

from easeml.store import Store
from easeml.web import create_pages, session

PRICES = "".join(
    f"{37 * row % 400},{37 * row % 400 * 1000 + 9000 * (row % 7)}\n" for row in range(400)
)


@pytest.fixture
def prices(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    """An application of prices up to 450,000 that serves a model."""
    dataset = upload(client, store, ann, tmp_path, f"size,price\n{PRICES}")
    wish = {"dataset_id": dataset["id"], "target": "price"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    work_off(store, tmp_path)
    train(store, tmp_path, job_of(client, ann, declared))
    work_off(store, tmp_path)
    return declared


def test_errors_count_up_to_twice_those_of_what_serves_where_nobody_says(
    client: TestClient, ann, prices: str
) -> None:
    """With 1, each error of a price counted as 1, and no model was better or worse."""
    wish = {"metric": "absolute-error"}
    told = put(client, ann, prices, "o - n > -2000 +/- 3000", **wish)
    assert told.status_code == 200, told.text
    promise = told.json()["promise"]
    assert "n and o are mean errors; one larger than " in promise
    largest = float(promise.partition("larger than ")[2].partition(" counts")[0].replace(",", ""))
    assert 1_000 < largest < 1_000_000
    (before,) = told.json()["gates"]
    put(client, ann, prices, "o - n > -2000 +/- 3000", **wish).raise_for_status()
    (after,) = gates(client, ann, prices)["gates"]
    assert after["id"] == before["id"]


@pytest.mark.parametrize("condition", ["n - o > -0.02 +/- 0.05", "o - n < 2000 +/- 900"])
def test_a_condition_that_asks_for_larger_errors_is_refused(
    client: TestClient, ann, prices: str, condition: str
) -> None:
    refused = put(client, ann, prices, condition, metric="absolute-error", scale=100_000.0)
    assert refused.status_code == 422, refused.text
    assert "worse" in refused.text
    assert "o - n" in refused.json()["remedy"]


def test_another_condition_does_not_keep_a_scale_that_somebody_said(
    client: TestClient, ann, prices: str
) -> None:
    wish = {"metric": "absolute-error"}
    put(client, ann, prices, "o - n > -2 +/- 3", **wish, scale=1.0).raise_for_status()
    told = put(client, ann, prices, "o - n > -2000 +/- 3000", **wish)
    assert "larger than 1 counts" not in told.json()["promise"]


def test_a_page_needs_no_scale(client: TestClient, ann, prices: str) -> None:
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    told = {"csrf": session.csrf_token(ann.key), "condition": "o - n > -2000 +/- 3000"}
    told |= {"reliability": "0.9", "steps": "3", "scale": "", "action": "set"}
    shown = browser.post(f"/applications/{prices}/gate", data=told).text
    assert "n and o are mean errors; one larger than " in shown
