"""The order of the queue follows each answer at once, for all who ask, and survives what is lost."""

from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import work_off
from test_asking_tools import rows_of
from test_reports import APPLICATIONS
from test_work import declared, give, partly_labelled, right, take

from easeml.service.work import answers, kept_order, queue
from easeml.store import Store


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    """An application with 30 rows to label, whose items are found."""
    made = declared(client, store, ann, tmp_path, partly_labelled())
    take(client, ann, made)
    work_off(store, tmp_path)
    return made


def told(client: TestClient, person, application: str) -> dict[int, float]:
    """Return what each open item should bring, by its row."""
    answer = client.get(f"{APPLICATIONS}/{application}/work", headers=person.headers)
    return {item["row"]: item["information"] for item in answer.json()["items"]}


def test_each_answer_moves_what_others_should_bring_and_undoing_takes_that_back(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    before = told(client, ann, application)
    assert len(before) > 10
    item = take(client, ann, application)["item"]
    assert item["information"] == before[item["row"]]
    give(client, ann, item, value=right(item)).raise_for_status()
    after = told(client, ann, application)
    assert after.keys() == before.keys() - {item["row"]}
    assert sum(after.values()) < sum(before.values())  # what was learned is not to learn any more
    turn = take(client, ann, application)
    assert turn["item"]["information"] == after[turn["item"]["row"]]
    assert turn["promise"] == pytest.approx(sum(after.values()))
    assert work_off(store, tmp_path) == []  # nothing was looked for anew
    give(client, ann, item, way="undo").raise_for_status()
    assert told(client, ann, application) == before


def test_two_people_work_in_one_order(
    client: TestClient, store: Store, ann, application: str
) -> None:
    bob = replace(ann.caller, user_id="usr_bob")
    mine = take(client, ann, application)["item"]
    theirs = queue.take_next(store, bob, application).item
    assert theirs is not None
    answers.give(store, bob, theirs.id, value=right(theirs.model_dump()))
    give(client, ann, mine, value=right(mine)).raise_for_status()
    shown = queue.show_queue(store, bob, application).items
    assert {item.row: item.information for item in shown} == told(client, ann, application)


def test_what_is_lost_is_looked_for_anew_and_no_answer_with_it(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    for loss in ("row", "code", "file", "bytes"):
        item = take(client, ann, application)["item"]
        give(client, ann, item, value=right(item)).raise_for_status()
        before = told(client, ann, application)
        lose(store, ann, application, loss)
        turn = take(client, ann, application)
        assert turn["item"] is not None  # nobody waits for it
        assert turn["task_id"], loss
        (looked,) = work_off(store, tmp_path)
        assert (looked.spec_kind, looked.error) == ("find-work", "")
        assert told(client, ann, application) == pytest.approx(before, rel=1e-6)
        assert take(client, ann, application)["task_id"] == ""


def lose(store: Store, person, application: str, loss: str) -> None:
    """Lose what is kept of an order, as a fault would, or another version of this program."""
    with store.write() as tx:
        tables = tx.scoped(person.caller.tenant_id)
        report = tables.reports.newest(kind=kept_order.KIND, subject=application)
        assert report is not None
        if loss == "row":
            tables.reports.forget(tx.now() + 1.0, id=report.id)
        if loss == "code":
            tables.reports.update(report.id, value={**report.value, "code": -1})
    path = store.artefacts.path(person.caller.tenant_id, report.value["order"])
    if loss == "file":
        path.unlink()
    if loss == "bytes":
        path.chmod(0o600)
        path.write_bytes(b"PK" + path.read_bytes()[9:])
    kept_order.read_order.cache_clear()  # as a process does that ends
    kept_order.gains_after.cache_clear()


def test_what_any_model_can_reach_allows_for_answers_and_is_not_asked_again(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    sizes = [(37 * row) % 1000 / 10 for row in range(300)]
    kinds = ["big" if (size > 50) != (row % 5 == 1) else "small" for row, size in enumerate(sizes)]
    kinds[:20] = [""] * 20
    application = declared(client, store, ann, tmp_path, rows_of(sizes, kinds))
    place = f"{APPLICATIONS}/{application}"
    client.post(f"{place}/goal", json={"goal": "0.6"}, headers=ann.headers).raise_for_status()
    take(client, ann, application)
    work_off(store, tmp_path)
    before = reachable(client, ann, application)
    assert "since then" not in before
    item = take(client, ann, application)["item"]
    give(client, ann, item, value=right(item)).raise_for_status()
    after = reachable(client, ann, application)
    assert after.endswith("This includes 1 answer of a person since then.")
    client.post(f"{place}/work/use", headers=ann.headers).raise_for_status()
    done = [task.spec_kind for task in work_off(store, tmp_path)]
    assert done == ["ingest-answers", "find-work"]  # and no study
    assert reachable(client, ann, application) == after


def reachable(client: TestClient, person, application: str) -> str:
    """Return what the page says of the best that any model can reach."""
    asked = client.get(f"{APPLICATIONS}/{application}/next", headers=person.headers)
    return asked.json()["questions"][0]["answer"]
