"""The page of an upload, and the page that predicts, as people who have only pages see them."""

import random
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from furnish import furnish
from inline_worker import work_off

from easeml.store import Store
from easeml.web import create_pages, session

PREDICT = "/api/v1/applications/{}/predict"


def table_of_an_unsure_target() -> bytes:
    """Numbers with decimal commas between semicolons: the target is a guess."""
    drawn = random.Random(0)
    rows = []
    for place in range(200):
        one, two = drawn.randint(10, 99), drawn.randint(10, 99)
        rows.append(f"{one / 10};{two / 10};{place % 2}".replace(".", ","))
    return "\n".join(["Gene One;Gene Two;Cancer Present", *rows]).encode()


@pytest.fixture
def pages(client: TestClient, ann) -> TestClient:
    return TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})


def test_the_doubt_about_the_target_ends_when_one_is_chosen(
    pages: TestClient, store: Store, ann, upload, tmp_path: Path
) -> None:
    dataset = upload(ann, content=table_of_an_unsure_target())
    work_off(store, tmp_path)
    place = f"/new/{dataset['id']}"
    unsure = pages.get(place).text
    assert "What to predict is not sure" in unsure
    assert "Choose the target first." in unsure
    assert ">Goal</label>" in unsure  # of no measure: which it is depends on the target
    chosen = pages.get(place, params={"target": "Gene Two"}).text
    assert "What to predict is not sure" not in chosen
    assert "Choose the target first." not in chosen
    assert ">Goal: R²</label>" in chosen
    asked = {"csrf": session.csrf_token(ann.key)}
    for goal in ("0,9", "90 %"):
        found = pages.post(
            f"{place}/question?target=Gene+Two",
            data={**asked, "goal": goal},
            follow_redirects=False,
        )
        assert found.status_code == 303
    with store.read() as tx:
        tasks = tx.unscoped().tasks.list(kind="advise", limit=None)
    assert {task.payload["parameters"]["goal"] for task in tasks} == {0.9}
    asked_of_errors = pages.post(
        f"{place}/question?target=Gene+Two", data={**asked, "goal": "error below 5000"}
    )
    assert asked_of_errors.status_code == 200
    assert 'value="error below 5000"' in asked_of_errors.text
    with store.read() as tx:
        last = tx.unscoped().tasks.newest(kind="advise")
    assert last.payload["parameters"] == {"goal": 5000.0, "of": "rmse"}
    pages.post(
        f"{place}?target=Gene+Two&goal=error+below+5000", data={**asked, "name": "genes"}
    ).raise_for_status()
    with store.read() as tx:
        goal = tx.unscoped().goals.newest()
    assert (goal.text, goal.objective, goal.value) == ("error below 5000", "rmse", 5000.0)
    for goal, why in (
        ("much", "is not a goal"),
        ("error above 5", "the wrong side"),
        ("balanced-accuracy above 0.9", "does not fit the target"),
        ("1,000", "may mean"),
        ("80", "beyond the best"),
    ):
        told = pages.post(f"{place}/question?target=Gene+Two", data={**asked, "goal": goal})
        assert told.status_code == 422
        assert why in told.text
        assert f'value="{goal}" required' in told.text  # the page stays, with what was typed
        assert 'data-events=""' in told.text  # and fetches itself no more: that would wipe it


@pytest.mark.parametrize("form", ["question", "table"])
def test_the_page_is_shown_where_the_address_of_its_form_is_asked_for(
    pages: TestClient, store: Store, ann, upload, tmp_path: Path, form: str
) -> None:
    """A page that a form answered looks anew at its own address, by GET."""
    dataset = upload(ann, content=table_of_an_unsure_target())
    work_off(store, tmp_path)
    place = f"/new/{dataset['id']}"
    shown = pages.get(f"{place}/{form}?target=Gene+Two")
    assert shown.status_code == 200
    assert str(shown.url).endswith(f"{place}?target=Gene+Two")
    assert ">Goal: R²</label>" in shown.text


def test_several_columns_are_predicted_each_by_an_application_of_its_own(
    pages: TestClient, store: Store, ann, upload, tmp_path: Path
) -> None:
    dataset = upload(ann, content=table_of_an_unsure_target())
    work_off(store, tmp_path)
    place = f"/new/{dataset['id']}"
    wish = {"target": "Gene One", "role1": "target"}
    shown = pages.get(place, params=wish).text
    assert "2 applications will be started: Gene One, Gene Two." in shown
    assert "Gene Two: predicted too" in shown

    token = {"csrf": session.csrf_token(ann.key)}
    started = pages.post(f"{place}?target=Gene+One&role1=target", data={**token, "name": "cells"})
    assert started.url.path == "/applications"
    with store.read() as tx:
        made = tx.scoped(ann.caller.tenant_id).applications.list(limit=None)
    assert {one.name: one.target for one in made} == {
        "cells: Gene One": "Gene One",
        "cells: Gene Two": "Gene Two",
    }
    work_off(store, tmp_path)
    with store.read() as tx:
        for one in made:
            version = tx.unscoped().versions.get(tx.unscoped().applications.get(one.id).version_id)
            inputs = [column["name"] for column in version.columns if column["role"] == "input"]
            assert inputs == ["Cancer Present"]


@pytest.mark.parametrize("asked", ["", "?fill_empty=true", "?fill_absent=true&fill_empty=true"])
def test_the_permissions_of_a_request_reach_the_predictor(
    client: TestClient, store: Store, predictor, ann, asked: str
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    path = PREDICT.format(made.application_id)
    headers = {**ann.headers, "content-type": "text/csv"}
    assert client.post(path + asked, content=b"size\n1\n", headers=headers).status_code == 200
    kind = predictor.seen[-1][2]
    assert ("fill-empty=true" in kind) is ("fill_empty" in asked)
    assert ("fill-absent=true" in kind) is ("fill_absent" in asked)


@pytest.mark.parametrize("form", ["one row", "file"])
def test_the_boxes_of_the_page_are_those_permissions(
    pages: TestClient, store: Store, predictor, ann, form: str
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    path = f"/applications/{made.application_id}/try"
    asked = {"csrf": session.csrf_token(ann.key), "value0": ""}
    # A form of the page is sent in parts, also where it has no file.
    table = {"file": ("rows.csv", b"size\n1\n")} if form == "file" else {"none": ("", b"")}
    shown = pages.get(path).text
    assert shown.count('name="fill_empty"') == 2
    for box in ({}, {"fill_empty": "1"}):
        pages.post(path, data={**asked, **box}, files=table)
        assert ("fill-empty=true" in predictor.seen[-1][2]) is bool(box)
