"""A page makes few calls for what it shows: who looks at it, and what it is about."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from furnish import furnish

from easeml.store import Store
from easeml.web import create_pages

ASKER = "/api/v1/me"

# page -> what it asks for beside who looks at it; lower it with the change that allows it
MOST = {
    "/tasks": 1,
    "/tasks?state=done&application={application}": 1,
    "/new": 1,
    "/applications": 1,
    "/knowledge": 1,
    "/account": 1,
    "/notifications": 1,
    "/tasks/{task}": 5,
    "/applications/{application}": 4,
    "/applications/{application}/models": 2,
    "/applications/{application}/history": 3,
}


class Counting:
    """The API, with the paths that it was asked for."""

    def __init__(self, api: Any):
        self.api = api
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.asked.append(scope["path"])
        await self.api(scope, receive, send)


@pytest.fixture
def pages(client: TestClient, ann: Any) -> tuple[TestClient, Counting]:
    api = Counting(client.app)
    return TestClient(create_pages(api), cookies={"easeml_session": ann.key}), api


def test_a_page_makes_few_calls(pages: tuple[TestClient, Counting], store: Store, ann: Any) -> None:
    browser, api = pages
    made = furnish(store, ann.caller.tenant_id)
    for page, most in MOST.items():
        api.asked.clear()
        answer = browser.get(page.format(application=made.application_id, task=made.task_id))
        assert answer.status_code == 200, (page, answer.text)
        assert api.asked.count(ASKER) == 1
        asked = [path for path in api.asked if path != ASKER]
        assert len(asked) <= most, (page, asked)


def test_the_page_of_tasks_has_names_and_counts(
    pages: tuple[TestClient, Counting], store: Store, ann: Any
) -> None:
    browser, _ = pages
    made = furnish(store, ann.caller.tenant_id)
    text = browser.get("/tasks").text
    assert f'<option value="{made.application_id}">irises</option>' in text
    assert "2 done" in text


def test_only_data_that_nothing_was_made_of_is_offered(
    pages: tuple[TestClient, Counting], store: Store, ann: Any, upload: Any
) -> None:
    browser, _ = pages
    made = furnish(store, ann.caller.tenant_id)
    other = upload(ann, "unused")
    text = browser.get("/new").text
    assert other["id"] in text
    assert made.dataset_id not in text
