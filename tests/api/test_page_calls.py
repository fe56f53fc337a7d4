"""A page makes one call for what it shows, beside the one that tells who looks at it."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from furnish import furnish

from easeml.store import Store
from easeml.web import create_pages

ASKER = "/api/v1/me"
TITLES = "/api/v1/modules/titles"  # asked for once a minute, by whatever page comes first

# Each asks for one thing beside who looks at it.
PAGES = (
    "/tasks",
    "/tasks?state=done&application={application}",
    "/new",
    "/applications",
    "/knowledge",
    "/account",
    "/account/usage",
    "/notifications",
    "/notifications/elsewhere",
    "/schedules",
    "/tasks/{task}",
    "/applications/{application}",
    "/applications/{application}/models",
    "/applications/{application}/history",
)


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


def test_a_page_makes_one_call(pages: tuple[TestClient, Counting], store: Store, ann: Any) -> None:
    browser, api = pages
    made = furnish(store, ann.caller.tenant_id)
    browser.get("/tasks")
    assert api.asked.count(TITLES) == 1
    for page in PAGES:
        api.asked.clear()
        answer = browser.get(page.format(application=made.application_id, task=made.task_id))
        assert answer.status_code == 200, (page, answer.text)
        assert api.asked.count(ASKER) == 1
        asked = [path for path in api.asked if path != ASKER]
        assert len(asked) == 1, (page, asked)


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
