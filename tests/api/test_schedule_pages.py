"""The page of schedules, and where an application's data comes from, as a visitor uses them."""

import re

from fastapi.testclient import TestClient
from furnish import Furniture, furnish

from easeml.store import Store
from easeml.store.shapes import Operation, OperationName
from easeml.web import create_pages

_ORIGIN = {"address": "https://lab.example/rows.csv", "query": "", "digest": "0" * 64}


def _fetched(store: Store, tenant_id: str) -> Furniture:
    """What a tenant has whose data came from an address."""
    made = furnish(store, tenant_id)
    with store.write() as tx:
        versions = tx.scoped(tenant_id).versions
        upload = versions.get(versions.get(made.version_id).parents[0])
        told = {"filename": "rows.csv", "origin": _ORIGIN}
        versions.update(upload.id, operation=Operation(OperationName.UPLOAD, told))
    return made


def test_a_schedule_is_made_paused_and_deleted_on_its_page(
    client: TestClient, store: Store, ann
) -> None:
    made = _fetched(store, ann.caller.tenant_id)
    visitor = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    token = _token(visitor.get("/schedules").text)
    wish = {"csrf": token, "dataset_id": made.dataset_id, "application_id": made.application_id}
    wish |= {"every": "monday", "at": "07:30", "zone": "Europe/Zürich"}
    refused = visitor.post("/schedules", data=wish).text
    assert "Did you mean Europe/Zurich?" in refused
    assert 'value="07:30"' in refused  # what was written stays
    shown = visitor.post("/schedules", data={**wish, "zone": "Europe/Zurich"}).text
    assert "on Mondays at 07:30 Europe/Zurich" in shown
    (pause,) = re.findall(r'action="(/schedules/[^"]+/pause)"', shown)
    assert visitor.post(pause).status_code == 403  # without the token
    paused = visitor.post(pause, data={"csrf": token}).text
    (resume,) = re.findall(r'action="(/schedules/[^"]+/resume)"', paused)
    visitor.post(resume.replace("resume", "delete"), data={"csrf": token})
    assert "on Mondays at" not in visitor.get("/schedules").text


def test_the_data_is_fetched_again_and_followed_from_the_page_of_the_application(
    client: TestClient, store: Store, ann
) -> None:
    made = _fetched(store, ann.caller.tenant_id)
    visitor = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = f"/applications/{made.application_id}/data"
    first = visitor.get(page).text
    assert "https://lab.example/rows.csv" in first
    sent = {"csrf": _token(first)}
    assert "Fetching" in visitor.post(f"{page}/refresh", data=sent).text
    with store.read() as tx:
        assert tx.scoped(ann.caller.tenant_id).retrievals.count(state="running") == 1
    assert "do not join" in visitor.post(f"{page}/follows", data={**sent, "follows": "0"}).text


def test_data_that_came_as_a_file_has_no_place_to_be_fetched_from(
    client: TestClient, store: Store, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    visitor = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = visitor.get(f"/applications/{made.application_id}/data").text
    assert "Where it comes from" not in page
    answer = client.post(f"/api/v1/datasets/{made.dataset_id}/refresh", headers=ann.headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def _token(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]*)"', page)
    assert found is not None
    return found[1]
