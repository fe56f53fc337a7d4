"""The gate and the comparisons of an application buy labels of people from one budget."""

from pathlib import Path

from fastapi.testclient import TestClient
from inline_worker import claim, do, work_off
from test_bought_labels import (
    application,  # noqa: F401 a fixture
    asked,
    labels,
    right,
    wait_for_labels,
)
from test_gated_applications import promotions
from test_pickings import answered
from test_reports import APPLICATIONS
from test_watching import seen
from test_work import give

from easeml.contract.states import WorkKind, WorkState, WorkWay
from easeml.ids import new_id
from easeml.service.models import gates
from easeml.store import Store
from easeml.store.records import WorkAnswer, WorkItem
from easeml.store.shapes import WorkQuestion
from easeml.web import create_pages, session


def budget(client: TestClient, person, app_id: str, **wish) -> dict:
    place = f"{APPLICATIONS}/{app_id}/label-budget"
    if wish:
        client.put(place, json=wish, headers=person.headers).raise_for_status()
    return client.get(place, headers=person.headers).json()


def test_what_the_gate_bought_is_missing_to_a_comparison_and_more_lets_both_go_on(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    assert budget(client, ann, application, labels=4)["left"] == 4
    model = wait_for_labels(client, store, ann, application, tmp_path)  # its own limit is 300
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "refused")
    assert "the 4 that may still be bought could not prove" in last["reason"]
    assert asked(client, ann, application) == []

    budget(client, ann, application, labels=200)  # the test goes on
    work_off(store, tmp_path)
    waiting = labels(client, ann, application)["waiting"]
    assert 0 < waiting["most"] <= 200
    found = budget(client, ann, application)
    first = asked(client, ann, application)
    assert (found["asked"], found["needed"]) == (len(first), waiting["about"])
    for item in first:
        give(client, ann, item, value=right(item)).raise_for_status()
    given = len(first)
    found = budget(client, ann, application)
    assert (found["bought"], found["by_gate"]) == (given, given)
    assert found["left"] == 200 - given - found["asked"]

    # A comparison may ask for no more than is left, whatever its own limit.
    requests = f"{APPLICATIONS}/{application}/requests"
    client.put(requests, json={"share": 1.0}, headers=ann.headers).raise_for_status()
    client.post(f"{APPLICATIONS}/{application}/gates/remove", headers=ann.headers)
    assert promotions(client, ann, application)[-1]["model_id"] == model  # what waited serves
    seen(store, ann, application, 60, first=1000)
    budget(client, ann, application, labels=given + 1)
    place = f"{APPLICATIONS}/{application}/picking"
    client.put(place, json={"way": "alert", "labels": 100}, headers=ann.headers).raise_for_status()
    client.post(f"{place}/now", headers=ann.headers).raise_for_status()
    ended = answered(client, store, ann, application, tmp_path)
    assert "budget of labels has too few left" in ended["says"]
    found = budget(client, ann, application)
    assert found["by_gate"] == given
    assert found["bought"] <= given + 1

    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    form = {"csrf": session.csrf_token(ann.key), "labels": "", "days": "7"}
    page = browser.post(f"/applications/{application}/label-budget", data=form).text
    assert "In 30 days people gave" in page
    assert "There is no budget" in page
    assert budget(client, ann, application)["left"] is None


def test_a_gate_goes_on_as_soon_as_labels_are_free_again_and_says_when_they_are_not(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    with store.write() as tx:  # what comparisons have bought
        given = [bought(ann.caller.tenant_id, application) for _ in range(196)]
        tx.scoped(ann.caller.tenant_id).work_items.add_all(given)
    assert budget(client, ann, application, labels=200, days=7)["left"] == 4
    model = wait_for_labels(client, store, ann, application, tmp_path)
    assert promotions(client, ann, application)[-1]["state"] == "refused"
    gates.go_on_with_free_labels(store)
    assert work_off(store, tmp_path) == []

    with store.write() as tx:
        eight_days_ago = tx.now() - 8 * 86_400
        created = {item.id: eight_days_ago for item in given}
        tx.scoped(ann.caller.tenant_id).work_items.set_each("created", created)
    gates.go_on_with_free_labels(store)
    claimed = claim(store)
    assert claimed is not None
    do(store, tmp_path, *claimed)  # by test rows
    claimed = claim(store)
    assert claimed is not None
    budget(client, ann, application, labels=0, days=7)
    do(store, tmp_path, *claimed)  # by labels, which it may buy no more
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "refused")
    assert "may not be bought any more" in last["reason"]
    assert asked(client, ann, application) == []

    budget(client, ann, application, labels=100, days=7)
    work_off(store, tmp_path)
    assert labels(client, ann, application)["waiting"]["model_id"] == model
    gates.go_on_with_free_labels(store)
    assert work_off(store, tmp_path) == []


def test_a_label_is_bought_when_it_is_given_though_it_was_asked_for_long_before(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
) -> None:
    assert budget(client, ann, application, labels=10, days=7)["left"] == 10
    tenant_id, item = ann.caller.tenant_id, bought(ann.caller.tenant_id, application)
    with store.write() as tx:
        tables = tx.scoped(tenant_id)
        tables.work_items.add(item)
        tables.work_items.set_each("created", {item.id: tx.now() - 8 * 86_400})
    assert budget(client, ann, application)["left"] == 10
    with store.write() as tx:
        word = WorkAnswer(
            id=new_id("ans"),
            tenant_id=tenant_id,
            application_id=application,
            item_id=item.id,
            kind=item.kind,
            user_id="",
            way=WorkWay.ANSWER,
            value="big",
        )
        tx.scoped(tenant_id).work_answers.add(word)
    found = budget(client, ann, application)
    assert (found["bought"], found["left"]) == (1, 9)


def bought(tenant_id: str, application_id: str) -> WorkItem:
    """Return a label that a comparison has bought."""
    return WorkItem(
        id=new_id("item"),
        tenant_id=tenant_id,
        application_id=application_id,
        version_id="",
        kind=WorkKind.PICK_LABEL,
        row=0,
        column="kind",
        information=0.0,
        question=WorkQuestion(values={}, source="pick"),
        state=WorkState.USED,
    )
