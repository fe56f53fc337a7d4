"""One queue of human work: who is asked what, what becomes of answers, and the page."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from inline_worker import train, work_off
from test_asking_tools import ask, rows_of, toys, upload
from test_reports import APPLICATIONS

from easeml.data import is_reserved
from easeml.ids import new_id
from easeml.kinds.shared import work_items
from easeml.service.work import answers, queue
from easeml.store import Store
from easeml.store.shapes import WorkQuestion
from easeml.web import create_pages, session

UNLABELLED = 30


def partly_labelled(rows: int = 100) -> str:
    """Return a table whose kind follows from the size, without it in some rows."""
    sizes = [(37 * row) % 1000 / 10 for row in range(rows)]
    kinds = ["big" if size > 50 else "small" for size in sizes]
    kinds[:UNLABELLED] = [""] * UNLABELLED
    return rows_of(sizes, kinds)


def right(item: dict) -> str:
    return "big" if float(item["values"]["size"]) > 50 else "small"


def declared(client: TestClient, store: Store, person, folder: Path, content: str) -> str:
    dataset = upload(client, store, person, folder, content)
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    made = client.post(APPLICATIONS, json=wish, headers=person.headers)
    assert made.status_code == 201, made.text
    work_off(store, folder)
    return made.json()["id"]


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    """An application of whose 100 rows 30 have no answer, with items to label."""
    made = declared(client, store, ann, tmp_path, partly_labelled())
    turn = take(client, ann, made)
    assert turn["item"] is None
    assert turn["task_id"]
    found = work_off(store, tmp_path)
    assert [task.error for task in found] == [""]
    return made


def take(client: TestClient, person, application: str) -> dict:
    told = client.post(f"{APPLICATIONS}/{application}/work", headers=person.headers)
    assert told.status_code == 200, told.text
    return told.json()


def give(client: TestClient, person, item: dict, **body):
    place = f"/api/v1/work/{item['id']}/answer"
    return client.post(place, json=body, headers=person.headers)


def rows_by_role(client: TestClient, person, application: str) -> dict[str, int]:
    place = f"{APPLICATIONS}/{application}/versions"
    return client.get(place, headers=person.headers).json()["items"][0]["rows"]


def test_rows_without_an_answer_are_asked_and_become_train_rows(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    before = rows_by_role(client, ann, application)
    assert before["pool"] == UNLABELLED
    for place in range(answers.BATCH):
        item = take(client, ann, application)["item"]
        assert (item["kind"], item["column"]) == ("label", "kind")
        assert item["choices"] == ["big", "small"]
        done = give(client, ann, item, value=right(item), seconds=4.0)
        assert done.status_code == 200, done.text
        assert bool(done.json()["version_id"]) == (place == answers.BATCH - 1)
    made, looked = work_off(store, tmp_path)
    assert (made.error, looked.error) == ("", "")
    assert looked.spec_kind == "find-work"  # the order follows what was learned
    after = rows_by_role(client, ann, application)
    assert after["train"] == before["train"] + answers.BATCH
    assert after["pool"] == UNLABELLED - answers.BATCH
    assert (after["validation"], after["test"]) == (before["validation"], before["test"])
    shown = client.get(f"{APPLICATIONS}/{application}", headers=ann.headers).json()
    assert shown["version_id"] == done.json()["version_id"]
    rest = take(client, ann, application)["item"]
    assert rest["seconds"] == pytest.approx((5 * 10.0 + 20 * 4.0) / 25)  # learned from people


def test_who_asks_while_the_data_is_prepared_is_told_what_to_wait_for(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    dataset = upload(client, store, ann, tmp_path, partly_labelled())
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    made = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    early = take(client, ann, made)
    assert early["item"] is None
    prepared = work_off(store, tmp_path)
    assert [task.id for task in prepared] == [early["task_id"]]
    later = take(client, ann, made)
    assert later["task_id"] not in ("", early["task_id"])
    work_off(store, tmp_path)
    assert take(client, ann, made)["item"]["kind"] == "label"


def test_two_people_never_have_the_same_item(
    store: Store, ann, application: str, client: TestClient
) -> None:
    first, second = ann.caller, replace(ann.caller, user_id="usr_other")
    mine = queue.take_next(store, first, application).item
    theirs = queue.take_next(store, second, application).item
    assert mine is not None and theirs is not None
    assert mine.id != theirs.id
    again = queue.take_next(store, first, application).item
    assert again is not None and again.id == mine.id
    refused = give(client, ann, theirs.model_dump(), value="big")
    assert refused.status_code == 409
    assert "Somebody else" in refused.text


def test_skipping_not_knowing_and_undoing(client: TestClient, ann, application: str) -> None:
    first = take(client, ann, application)["item"]
    assert give(client, ann, first, way="skip").status_code == 200
    second = take(client, ann, application)["item"]
    assert second["id"] != first["id"]
    assert give(client, ann, second, way="unknown").json()["answers"] == 0
    third = take(client, ann, application)["item"]
    assert give(client, ann, third, value="small").json()["answers"] == 1
    assert give(client, ann, third, value="big").status_code == 409
    assert take(client, ann, application)["last_id"] == third["id"]
    assert give(client, ann, third, way="undo").json()["answers"] == 0
    assert take(client, ann, application)["item"]["id"] == third["id"]
    assert give(client, ann, third, way="undo").status_code == 409
    assert give(client, ann, third, value="big").json()["answers"] == 1


def test_who_does_not_know_is_not_asked_again_once_the_data_has_changed(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    first = take(client, ann, application)["item"]
    give(client, ann, first, way="unknown").raise_for_status()
    second = take(client, ann, application)["item"]
    give(client, ann, second, value=right(second)).raise_for_status()
    place = f"{APPLICATIONS}/{application}/work"
    client.post(f"{place}/use", headers=ann.headers).raise_for_status()
    work_off(store, tmp_path)
    items = client.get(place, headers=ann.headers).json()["items"]
    anew = [item["id"] for item in items if item["row"] == first["row"]]
    assert len(anew) == 1  # somebody else may know
    assert anew != [first["id"]]
    asked = []
    while item := take(client, ann, application)["item"]:
        asked.append(item["row"])
        give(client, ann, item, way="skip").raise_for_status()
    assert asked
    assert first["row"] not in asked


@pytest.mark.parametrize("value", ["", "huge"])
def test_a_value_that_cannot_be_is_refused(
    client: TestClient, ann, application: str, value: str
) -> None:
    item = take(client, ann, application)["item"]
    assert give(client, ann, item, value=value).status_code == 422


def test_few_answers_are_used_when_somebody_says_so(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    place = f"{APPLICATIONS}/{application}/work/use"
    assert client.post(place, headers=ann.headers).status_code == 409
    item = take(client, ann, application)["item"]
    give(client, ann, item, value=right(item))
    journey = client.get(f"{APPLICATIONS}/{application}/next", headers=ann.headers).json()
    assert "use-answers" in [action["kind"] for action in journey["actions"]]
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    form = {"csrf": session.csrf_token(ann.key), "way": "use"}
    shown = browser.post(f"/applications/{application}/work", data=form).text
    assert "Version 3 of the data is being made from the answers: 1 label. Started" in shown
    refused = give(client, ann, item, way="undo")
    assert refused.status_code == 409  # the version has it
    work_off(store, tmp_path)
    shown = browser.get(f"/applications/{application}/work").text
    assert "is being made from the answers" not in shown
    assert f'made <a href="/applications/{application}/data">version 3</a>' in shown
    assert rows_by_role(client, ann, application)["pool"] == UNLABELLED - 1


def test_labels_that_look_wrong_are_asked_and_corrected(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    made = declared(client, store, ann, tmp_path, toys(200))  # one of ten is wrong
    place = f"{APPLICATIONS}/{made}"
    job = client.get(place, headers=ann.headers).json()["job"]["id"]
    train(store, tmp_path, job, arm=1)
    work_off(store, tmp_path)
    ask(client, ann, made, "label-errors").raise_for_status()
    work_off(store, tmp_path)
    assert take(client, ann, made)["task_id"]
    work_off(store, tmp_path)
    items = client.get(f"{place}/work", headers=ann.headers).json()["items"]
    assert {item["kind"] for item in items} == {"check-label"}
    item = next(one for one in items if one["source"] == "label-errors")  # others judge models
    assert item["given"] in item["question"]
    other = "small" if item["given"] == "big" else "big"
    doubted = f"{place}/rows?suspicious=true&limit=200"
    found = client.get(doubted, headers=ann.headers).json()["items"]
    assert item["row"] in [row["row"] for row in found if row["suspicion"]]
    give(client, ann, item, value=other).raise_for_status()
    found = client.get(doubted, headers=ann.headers).json()["items"]
    assert item["row"] not in [row["row"] for row in found if row["suspicion"]]
    assert "1 such label so far, those that matter most first; 1 was" in clean(client, ann, place)
    client.post(f"{place}/work/use", headers=ann.headers).raise_for_status()
    work_off(store, tmp_path)
    rows = client.get(f"{place}/rows?limit=200", headers=ann.headers).json()["items"]
    assert {row["row"]: row["target"] for row in rows}[item["row"]] == other
    assert "1 such label so far, those that matter most first; 1 was" in clean(client, ann, place)


def clean(client: TestClient, who, place: str) -> str:
    """Return what the journey says of how clean the data is."""
    journey = client.get(f"{place}/next", headers=who.headers).json()
    return next(one["said"] for one in journey["stations"] if one["name"] == "Clean")


def test_a_page_asks_one_item_at_a_time(client: TestClient, ann, application: str) -> None:
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = f"/applications/{application}/work"
    shown = browser.get(page).text
    assert "What is &#39;kind&#39; of this row?" in shown
    item = take(client, ann, application)["item"]
    assert item["id"] in shown
    fields = {"csrf": session.csrf_token(ann.key), "item": item["id"]}
    following = browser.post(page, data={**fields, "value": "big"})
    assert following.url.path == page
    assert item["id"] in following.text  # in the form that undoes it
    assert "1 answer not in a version yet" in following.text
    undone = browser.post(page, data={**fields, "way": "undo"})
    assert "Undo the last" not in undone.text
    wrong = browser.post(page, data={**fields, "value": "huge"})
    assert wrong.status_code == 422
    assert "is not a class" in wrong.text


def test_a_page_that_was_left_open_overnight_says_nothing_of_how_long_answers_take(
    client: TestClient, store: Store, ann, application: str
) -> None:
    item = take(client, ann, application)["item"]
    with store.write() as tx:
        items = tx.scoped(ann.caller.tenant_id).work_items
        since = tx.now() - 40_000.0
        items.update(item["id"], held_since=since, held_until=since + queue.HELD_SECONDS)
    done = give(client, ann, item, value=right(item))
    assert (done.status_code, done.json()["seconds"]) == (200, 0.0)
    assert take(client, ann, application)["item"]["seconds"] == item["seconds"]


def test_people_see_by_what_they_know_a_row(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    """No model learns from a customer's number; who is asked about the customer looks it up."""
    lines = partly_labelled().splitlines()
    numbered = [f"C-{1000 + row},{line}" for row, line in enumerate(lines[1:])]
    content = "\n".join([f"customer_id,{lines[0]}", *numbered, ""])
    made = declared(client, store, ann, tmp_path, content)
    take(client, ann, made)
    assert [task.error for task in work_off(store, tmp_path)] == [""]
    item = take(client, ann, made)["item"]
    assert next(iter(item["values"].items())) == ("customer_id", f"C-{1000 + item['row']}")
    assert item["column"] == "kind"
    for _ in range(answers.BATCH):
        give(client, ann, take(client, ann, made)["item"], value="big").raise_for_status()
    assert [task.error for task in work_off(store, tmp_path)] == ["", ""]
    later = take(client, ann, made)["item"]
    assert later["values"]["customer_id"] == f"C-{1000 + later['row']}"


def with_a_slip(rows: int = 100) -> str:
    """Return a table whose kind follows from the size; one size slipped by a factor of hundred."""
    sizes = [(37 * row) % 1000 / 10 for row in range(rows)]
    kinds = ["big" if size > 50 else "small" for size in sizes]
    sizes[:] = [7_000.0 if row in (1, 2, 3) else size for row, size in enumerate(sizes)]
    return rows_of(sizes, kinds)


def test_doubtful_cells_are_shown_exported_asked_and_put_right(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    made = declared(client, store, ann, tmp_path, with_a_slip())
    place = f"{APPLICATIONS}/{made}"
    before = client.get(f"{place}/doubts", headers=ann.headers).json()
    assert (before["looked"], before["items"]) == (False, [])
    refused = client.get(f"{place}/doubts/export", headers=ann.headers)
    assert refused.status_code == 409
    assert client.post(f"{place}/doubts", headers=ann.headers).json()["looking"]
    assert [task.error for task in work_off(store, tmp_path)] == [""]
    found = client.get(f"{place}/doubts", headers=ann.headers).json()
    cell = next(one for one in found["items"] if one["given"] == "7000")
    for wrong in ("-1", "\N{SUPERSCRIPT TWO}", "9" * 30):
        asked = client.get(f"{place}/doubts", params={"after": wrong}, headers=ann.headers)
        assert asked.status_code == 422
    assert sum(one["weight"] for one in cell["candidates"]) == pytest.approx(1)
    lines = client.get(f"{place}/doubts/export", headers=ann.headers).text
    assert f'{cell["row"]},"size","7000"' in lines
    items = client.get(f"{place}/work", headers=ann.headers).json()["items"]
    item = next(one for one in items if one["row"] == cell["row"] and one["column"] == "size")
    assert item["kind"] == "repair-cell"
    assert give(client, ann, item, value="seven").status_code == 422
    give(client, ann, item, value="70.5").raise_for_status()
    client.post(f"{place}/work/use", headers=ann.headers).raise_for_status()
    assert [task.error for task in work_off(store, tmp_path)] == ["", ""]
    rows = client.get(f"{place}/rows?limit=200", headers=ann.headers).json()["items"]
    assert {row["row"]: row["values"]["size"] for row in rows}[cell["row"]] == 70.5
    left = client.get(f"{place}/doubts", headers=ann.headers).json()
    assert (left["looked"], left["total"]) == (True, found["total"] - 1)  # nobody looked again
    turn = take(client, ann, made)
    assert (turn["brought"]["cells"], turn["brought"]["labels"]) == (1, 0)


def test_an_owner_overrules_a_second_person_and_agreement_is_told(
    store: Store, ann, application: str, client: TestClient
) -> None:
    other = replace(ann.caller, user_id="usr_other")
    item = queue.take_next(store, other, application).item
    assert item is not None
    answers.give(store, other, item.id, value="big")
    give(client, ann, item.model_dump(), value="small").raise_for_status()
    assert give(client, ann, item.model_dump(), value="small").status_code == 409
    shown = client.get(f"{APPLICATIONS}/{application}/work", headers=ann.headers).json()
    assert (shown["agreement"]["pairs"], shown["agreement"]["same"]) == (1, 0)
    made = client.post(f"{APPLICATIONS}/{application}/work/use", headers=ann.headers)
    assert made.json()["operation"]["labels"] == {str(item.row): "small"}


def test_who_owns_it_is_asked_first_where_two_people_differ(
    store: Store, ann, application: str, client: TestClient
) -> None:
    others = [replace(ann.caller, user_id=f"usr_{name}") for name in ("other", "third")]
    item = queue.take_next(store, others[0], application).item
    assert item is not None
    answers.give(store, others[0], item.id, value="big")
    answers.give(store, others[1], item.id, value="small")
    assert queue.take_next(store, others[1], application).item != item  # it is not theirs to decide
    asked = take(client, ann, application)
    assert (asked["item"]["id"], asked["disputed"]) == (item.id, 1)
    assert asked["item"]["disputed"] == ["big", "small"]
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = browser.get(f"/applications/{application}/work").text
    assert "People disagree:</strong> big, small. You decide" in page
    give(client, ann, item.model_dump(), value="big").raise_for_status()
    assert take(client, ann, application)["disputed"] == 0
    give(client, ann, item.model_dump(), way="undo").raise_for_status()
    assert take(client, ann, application)["item"]["id"] == item.id
    made = client.post(f"{APPLICATIONS}/{application}/work/use", headers=ann.headers)
    assert made.json()["operation"]["labels"] == {str(item.row): "small"}  # the newest of equals


def test_an_owner_by_a_share_overrules_those_who_label(
    store: Store, ann, bob, application: str, client: TestClient
) -> None:
    wish = {"user": bob.name, "role": "owner"}
    client.post(f"{APPLICATIONS}/{application}/share", json=wish, headers=ann.headers)
    item = take(client, bob, application)["item"]
    give(client, bob, item, value="big").raise_for_status()
    other = replace(ann.caller, user_id="usr_other")
    answers.give(store, other, item["id"], value="small")  # later, so that it counts among equals
    made = client.post(f"{APPLICATIONS}/{application}/work/use", headers=ann.headers)
    assert made.json()["operation"]["labels"] == {str(item["row"]): "big"}


@pytest.mark.parametrize("form", ["csv", "label-studio"])
def test_what_somebody_else_answered_is_not_taken_again_with_a_file_that_has_it(
    store: Store, ann, application: str, client: TestClient, form: str
) -> None:
    other = replace(ann.caller, user_id="usr_other")
    item = queue.take_next(store, other, application).item
    assert item is not None
    answers.give(store, other, item.id, value="big")
    place = f"{APPLICATIONS}/{application}/work"
    told = client.get(f"{place}/export", params={"format": form}, headers=ann.headers).json()
    name = {"csv": "items.csv", "label-studio": "items.json"}[form]
    body = {"filename": name, "text": told["text"]}
    found = client.post(f"{place}/import", json=body, headers=ann.headers).json()
    assert (found["taken"], found["same"], found["refused"]) == (0, 1, [])
    agreement = client.get(place, headers=ann.headers).json()["agreement"]
    assert agreement["pairs"] == 0


@pytest.mark.parametrize("form", ["csv", "label-studio"])
def test_items_go_out_and_answers_come_back(
    client: TestClient, ann, application: str, form: str
) -> None:
    place = f"{APPLICATIONS}/{application}/work"
    told = client.get(f"{place}/export", params={"format": form}, headers=ann.headers).json()
    assert told["items"] == UNLABELLED - is_reserved(np.arange(UNLABELLED)).sum()
    filename, text = filled[form](told["text"])
    for taken, same in ((2, 0), (0, 2)):
        body = {"filename": filename, "text": text}
        found = client.post(f"{place}/import", json=body, headers=ann.headers).json()
        assert (found["taken"], found["same"], len(found["refused"])) == (taken, same, 2)
        keys = [one["key"] for one in found["refused"]]
        assert keys in (["answer", "item"], ["answer", "data.item"])
        assert all(one["place"] and one["message"] and one["remedy"] for one in found["refused"])
    for name, wrong in (("a.json", "{"), ("a.json", "{}"), ("a.csv", "x,y\n1,2\n"), ("a.pdf", "")):
        body = {"filename": name, "text": wrong}
        refused = client.post(f"{place}/import", json=body, headers=ann.headers)
        assert refused.status_code == 422, (name, refused.text)


@pytest.mark.parametrize("form", ["csv", "label-studio"])
def test_items_go_out_and_answers_come_back_by_the_page(
    client: TestClient, ann, application: str, form: str
) -> None:
    ending = {"csv": "csv", "label-studio": "json"}[form]
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    here = f"/applications/{application}/work"
    assert f'href="{here}/items.{ending}"' in browser.get(here).text
    given = browser.get(f"{here}/items.{ending}")
    assert f'filename="items.{ending}"' in given.headers["content-disposition"]
    filename, text = filled[form](given.text)
    fields = {"csrf": session.csrf_token(ann.key), "way": "import"}
    shown = browser.post(here, data=fields, files={"file": (filename, text.encode())})
    assert "2 answers imported, 0 already there, 2 refused." in shown.text
    assert "&#39;huge&#39; is not a class of &#39;kind&#39;." in shown.text
    nothing = browser.post(here, data=fields)
    assert nothing.status_code == 422
    assert "Choose a file with answers." in nothing.text
    assert browser.get(f"{here}/items.pdf").status_code == 404


def filled_csv(text: str) -> tuple[str, str]:
    lines = list(csv.DictReader(io.StringIO(text)))
    lines[0]["answer"], lines[1]["answer"], lines[2]["answer"] = "big", "small", "huge"
    lines[3].update(item="item_of_others", answer="big")
    out = io.StringIO()
    writer = csv.DictWriter(out, lines[0])
    writer.writeheader()
    writer.writerows(lines)
    return "answers.csv", out.getvalue()


def filled_label_studio(text: str) -> tuple[str, str]:
    tasks = json.loads(text)
    for task, value in zip(tasks, ("big", "small", "huge"), strict=False):
        task["annotations"] = [{"result": [{"value": {"choices": [value]}}]}]
    tasks[3] = {"data": {}}
    return "answers.json", json.dumps(tasks)


filled = {"csv": filled_csv, "label-studio": filled_label_studio}


def test_another_value_has_a_form_of_its_own(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    """Enter in a field presses the first button of its form, which must not be a candidate."""
    made = declared(client, store, ann, tmp_path, with_a_slip())
    client.post(f"{APPLICATIONS}/{made}/doubts", headers=ann.headers).raise_for_status()
    work_off(store, tmp_path)
    while (item := take(client, ann, made)["item"])["kind"] != "repair-cell":
        give(client, ann, item, way="skip").raise_for_status()
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    shown = browser.get(f"/applications/{made}/work").text
    form = next(one for one in shown.split("<form") if 'name="other"' in one).split("</form>")[0]
    assert form.count("<button") == 1
    assert 'name="way" value="other"' in form
    assert '"asked"' in shown  # the cell in its row
    typed = {"csrf": session.csrf_token(ann.key), "item": item["id"], "other": '70,5 <cm> "'}
    page = f"/applications/{made}/work"
    refused = browser.post(page, data={**typed, "way": "other"})
    assert refused.status_code == 422
    assert "is not a number" in refused.text
    assert 'value="70,5 &lt;cm&gt; &#34;"' in refused.text  # to be corrected, not typed again
    gone = browser.post(page, data={**typed, "item": "item_other", "way": "other"})
    assert "70,5" not in gone.text  # it was said of something else


def test_what_a_remedy_asks_is_no_squared_error(
    client: TestClient, store: Store, ann, application: str
) -> None:
    """A remedy promises mistakes; how suspicious its cells are adds up to nothing."""
    before = take(client, ann, application)
    fewer = 1000 * before["promise"] / 2
    assert before["says"].startswith(f"improve as much as by {fewer:.2g} fewer mistakes")
    with store.write() as tx:
        tables = tx.scoped(ann.caller.tenant_id)
        (first, *_) = tables.work_items.list(application_id=application, limit=None)
        question = WorkQuestion(given="1")
        asked = {"information": 5.0, "question": question, "column": "x", "kind": "repair-cell"}
        tables.work_items.add(replace(first, id=new_id("item"), **asked))
    after = take(client, ann, application)
    assert after["open"] == before["open"] + 1
    assert after["promise"] == pytest.approx(before["promise"])


def test_what_models_say_is_offered_as_people_write_numbers() -> None:
    """A button says 9.9, not 9.874027228; the value that stands is offered as it is."""
    answers = pd.Series([8.5, 4.1, 12.0, *[2.5] * 40, 1.234567])
    assert work_items.decimals_of(answers) == 1
    assert work_items.decimals_of(pd.Series(["big", "small"])) is None
    options = ((9.874027228, 0.9), (1.234567, 0.1))
    assert work_items.as_written(options, 1, given=1.234567) == ((9.9, 0.9), (1.234567, 0.1))
