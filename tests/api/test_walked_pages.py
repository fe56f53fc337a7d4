"""What people who have only pages see: of rows without a target, and of shared work."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from furnish import furnish
from inline_worker import work_off

from easeml.store import Store
from easeml.web import create_pages, session


def pages_of(client: TestClient, key: str) -> TestClient:
    return TestClient(create_pages(client.app), cookies={"easeml_session": key})


@pytest.fixture
def pages(client: TestClient, ann) -> TestClient:
    return pages_of(client, ann.key)


def partly_labelled() -> bytes:
    """200 rows of which 40 have no target; 120 of the others are 0."""
    rows = [f"{place}.5,{'' if place < 40 else int(place >= 160)}" for place in range(200)]
    return "\n".join(["size,sold", *rows]).encode()


def test_rows_without_a_target_and_shares_of_classes_are_told_before_start(
    pages: TestClient, store: Store, ann, upload, tmp_path: Path
) -> None:
    dataset = upload(ann, content=partly_labelled())
    work_off(store, tmp_path)
    shown = pages.get(f"/new/{dataset['id']}", params={"target": "sold"}).text
    assert "Rows without &#39;sold&#39;: 40 of 200. They are no part of training or tests" in shown
    assert '<li><span>0</span><span class="muted figures">75 %</span></li>' in shown
    other = pages.get(f"/new/{dataset['id']}", params={"target": "size"}).text
    assert "They are no part of training" not in other


def test_shared_applications_are_on_the_first_page(
    client: TestClient, store: Store, ann, bob
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    path = f"/api/v1/applications/{made.application_id}/share"
    for role, first in (("labeller", "/work"), ("viewer", "")):
        wish = {"user": bob.name, "role": role}
        assert client.post(path, json=wish, headers=ann.headers).status_code < 300
        shown = pages_of(client, bob.key).get("/applications").text
        assert f'href="/applications/{made.application_id}{first}"' in shown


def test_the_models_page_tells_how_a_model_is_taken_elsewhere(
    pages: TestClient, store: Store, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    shown = pages.get(f"/applications/{made.application_id}/models").text
    assert f"easeml model export {made.application_id}" in shown


def test_a_labeller_is_told_where_the_questions_are(
    client: TestClient, store: Store, ann, bob
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    here = f"/applications/{made.application_id}"
    wish = {"user": bob.name, "role": "labeller"}
    assert client.post(f"/api/v1{here}/share", json=wish, headers=ann.headers).status_code == 200
    refused = pages_of(client, bob.key).get(here)
    assert refused.status_code == 403
    assert "Its questions are on Work." in refused.text


def test_no_model_is_called_better_that_was_not_compared(
    pages: TestClient, store: Store, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    shown = pages.get(f"/applications/{made.application_id}/history").text
    assert "<td>new model</td>" in shown
    assert "<td>better</td>" not in shown


def test_downloaded_predictions_name_their_rows(
    pages: TestClient, store: Store, predictor, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    path = f"/applications/{made.application_id}/try"
    asked = {"csrf": session.csrf_token(ann.key), "download": "1"}
    file = {"file": ("rows.csv", b"size\n1\n")}
    answer = pages.post(path, data=asked, files=file)
    header, first, *_ = answer.text.splitlines()
    assert header.endswith("request_id,row")
    assert first.endswith(",0")


def test_downloaded_predictions_stand_behind_the_rows_that_were_sent(
    pages: TestClient, store: Store, predictor, ann
) -> None:
    """They came without: whose they are, nobody could tell."""
    made = furnish(store, ann.caller.tenant_id)
    path = f"/applications/{made.application_id}/try"
    asked = {"csrf": session.csrf_token(ann.key), "download": "1"}
    count = (
        len(pages.post(path, data=asked, files={"file": ("r.csv", b"size\n1\n")}).text.splitlines())
        - 1
    )
    lines = ["size;größe", *(f"1;ü{place}" for place in range(count))]
    sent = "\n".join(lines).encode("cp1252")
    answer = pages.post(path, data=asked, files={"file": ("rows.csv", sent)})
    header, first, *_ = answer.text.splitlines()
    assert header.startswith("\ufeffsize;größe;prediction;")
    assert first.startswith("1;ü0;")


def test_a_model_that_never_served_is_compared_on_requests_to_come(
    client: TestClient, pages: TestClient, store: Store, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    with store.read() as tx:
        live = tx.scoped(ann.caller.tenant_id).applications.get(made.application_id).live_model_id
    (other,) = set(made.model_ids) - {live}
    here = f"/applications/{made.application_id}"
    shown = pages.get(f"{here}/models").text
    # Searches on two versions may find models of one name: the time tells them apart.
    assert re.search(rf'<option value="{other}">[^<]+, ([^<]+ ago|just now)</option>', shown)
    assert f'<option value="{live}">' not in shown
    kept = client.put(f"/api/v1{here}/requests", json={"share": 1.0}, headers=ann.headers)
    assert kept.status_code == 200, kept.text
    fields = {"csrf": session.csrf_token(ann.key), "model": other, "action": "start"}
    assert pages.post(f"{here}/rollout", data=fields).status_code == 200
    found = client.get(f"/api/v1{here}/rollouts", headers=ann.headers).json()
    assert [one["model_id"] for one in found["rollouts"]] == [other]
