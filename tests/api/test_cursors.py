"""A cursor that no page of a list gave is refused, with place and remedy."""

from fastapi.testclient import TestClient
from test_isolation import things
from test_problems import problem

from easeml.ids import new_id
from easeml.store import Store


def lists(client: TestClient) -> list[str]:
    """The addresses of all lists that are paged by ``after``, but for events, which have numbers."""
    found = []
    for path, item in client.get("/api/v1/openapi.json").json()["paths"].items():
        for parameter in item.get("get", {}).get("parameters", ()):
            is_text = "anyOf" in parameter["schema"] or parameter["schema"].get("type") == "string"
            if parameter["name"] == "after" and is_text:
                found.append(path)
    return found


def test_every_list_refuses_what_is_no_cursor(
    client: TestClient, store: Store, ann, provider
) -> None:
    ids = things(client, store, ann)
    paths = lists(client)
    assert len(paths) > 20
    for path in paths:
        address = path.format(**ids)
        for after in ("zzz", "9" * 30):
            answer = client.get(address, params={"after": after}, headers=ann.headers)
            if answer.status_code == 403:  # for providers only
                answer = client.get(address, params={"after": after}, headers=provider.headers)
            found = problem(answer, 422, "invalid-input")
            assert found.where == "after", (path, answer.text)
            assert found.remedy


def test_an_id_of_another_kind_is_no_cursor_and_one_that_is_gone_is(
    client: TestClient, store: Store, ann
) -> None:
    made = things(client, store, ann)
    for path in ("datasets", "jobs", "tasks", f"applications/{made['application_id']}/versions"):
        answer = client.get(f"/api/v1/{path}", params={"after": new_id("upl")}, headers=ann.headers)
        found = problem(answer, 422, "invalid-input")
        assert found.where == "after"
        assert "`next` of the page before" in found.remedy
    gone = {"after": new_id("data")}
    answer = client.get("/api/v1/datasets", params=gone, headers=ann.headers)
    assert answer.json() == {"items": [], "next": None}
