"""The page of what serves: requests are kept or not; what was true is told, by file or row."""

import re

import pytest
from fastapi.testclient import TestClient
from furnish import furnish

from easeml.store import Store
from easeml.web import create_pages, session

PARTS = ["remedies", "gate", "rollout", "released", "picking", "adapt", "label-budget", "kept"]
FOLD = re.compile(r'<details class="fold" id="(.+?)-fold"( open)?>')


def opened(page: str) -> dict[str, bool]:
    """Return which of the parts that can be folded are open, in their order."""
    return {name: bool(is_open) for name, is_open in FOLD.findall(page)}


def test_an_owner_keeps_requests_and_tells_what_was_true(
    client: TestClient, store: Store, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    here = f"/applications/{made.application_id}"
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})  # type: ignore[arg-type]
    token = {"csrf": session.csrf_token(ann.key)}
    shown = browser.get(f"{here}/history").text
    assert "No requests are recorded." in shown
    assert f'href="{here}/history#kept">Record requests</a>' in shown  # first of all
    assert opened(shown) == dict.fromkeys(PARTS, False)

    kept = {"share": "0,5", "days": "7", "mask": "size"}
    shown = browser.post(f"{here}/keeping", data={**token, **kept})
    assert "50 % of the requests are recorded, for 7 days" in shown.text
    assert "Nothing needs you now" in shown.text
    assert "50% of the requests, for 7 days: 0 rows, 0 truths." in shown.text  # while it is folded
    log = client.get(f"/api/v1{here}/requests", headers=ann.headers).json()
    assert (log["share"], log["days"], log["mask"]) == (0.5, 7.0, ["size"])

    table = {"file": ("truth.csv", b"key,value\n7,setosa\n8,virginica\n", "text/csv")}
    told = browser.post(f"{here}/truth", data=token, files=table)
    assert "2 truths kept; 0 of them name rows" in told.text
    assert "A request is kept some seconds after its answer" in told.text
    assert opened(told.text) == {**dict.fromkeys(PARTS, False), "kept": True}
    one = {"request_id": "req_1", "value": "setosa"}
    assert "1 truth kept" in browser.post(f"{here}/truth", data={**token, **one}).text
    assert client.get(f"/api/v1{here}/requests", headers=ann.headers).json()["told"] == 3

    # The answer has an address that can be followed: a live page fetches itself again.
    one = {"request_id": "req_2", "value": "daisy"}
    told = browser.post(f"{here}/truth", data={**token, **one})
    assert "Nothing that a model could answer, so that they count as mistakes: 1." in told.text
    again = browser.get(told.url)
    assert again.status_code == 200
    assert "Nothing that a model could answer, so that they count as mistakes: 1." in again.text
    assert browser.get(f"{here}/history", params={"told": "many-1"}).status_code == 200

    none = {"share": "0", "days": "7"}
    assert (
        "No requests are recorded." in browser.post(f"{here}/keeping", data={**token, **none}).text
    )


@pytest.mark.parametrize(
    ("path", "sent", "said"),
    [
        ("keeping", {"share": "many", "days": "7"}, "share"),
        ("truth", {}, "Choose a file"),
        ("truth", {"value": "setosa"}, "key"),
    ],
)
def test_what_cannot_be_kept_is_said(
    client: TestClient, store: Store, ann, path: str, sent: dict[str, str], said: str
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})  # type: ignore[arg-type]
    fields = {"csrf": session.csrf_token(ann.key), **sent}
    answer = browser.post(f"/applications/{made.application_id}/{path}", data=fields)
    assert answer.status_code == 422
    assert said in answer.text
