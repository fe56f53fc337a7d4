"""Applications whose rows may have several answers: what was true of them, and what pages show."""

import random

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient
from furnish import Furniture, furnish

from easeml.data import Declared, declare, infer_table
from easeml.store import Store
from easeml.store.records import ProductionRow
from easeml.web import create_pages, session

TOPICS = ("art", "chess", "sport")
PANELS = ("remedies", "gate", "rollout", "released", "picking", "adapt", "label-budget")


def of_labels(between: str = " | ") -> Declared:
    """Rows with the labels of TOPICS in a cell."""
    cells = ["art", between.join(["art", "chess"]), between.join(["chess", "sport"]), "sport", ""]
    table = pa.table({"size": [f"{size}.5" for size in range(40)], "topics": cells * 8})
    return declare(table, infer_table(table, "topics").columns, "topics")


def of_numbers() -> Declared:
    """Rows with two numbers together."""
    numbers = range(40)
    columns = {"size": numbers, "price": [7 * one for one in numbers], "days": numbers}
    table = pa.table({name: [f"{one}.5" for one in cells] for name, cells in columns.items()})
    return declare(table, infer_table(table, "price").columns, "price", together=["days"])


@pytest.fixture
def made(store: Store, ann) -> Furniture:
    return furnish(store, ann.caller.tenant_id, of_labels())


def answered(store: Store, person, made: Furniture, said: list[list[str]]) -> None:
    """Let the endpoint have been asked about rows, in a request, and have said these labels."""
    with store.write() as tx:
        tables = tx.scoped(person.caller.tenant_id)
        for number, labels in enumerate(said):
            tables.production_rows.add(
                ProductionRow(
                    id=f"req_1.{number:06}",
                    tenant_id=person.caller.tenant_id,
                    application_id=made.application_id,
                    request_id="req_1",
                    row=number,
                    key="",
                    model_id=made.model_id,
                    inputs={"size": float(number)},
                    answer={"prediction": labels, "probabilities": None},
                )
            )


def tell(client: TestClient, person, made: Furniture, truths: list) -> dict:
    told = [{"request_id": "req_1", "row": row, "value": one} for row, one in enumerate(truths)]
    address = f"/api/v1/applications/{made.application_id}/feedback"
    return client.post(address, json=told, headers=person.headers).json()


def watch(client: TestClient, person, made: Furniture) -> dict:
    address = f"/api/v1/applications/{made.application_id}/watch"
    return client.get(address, headers=person.headers).json()


def pages(client: TestClient, person) -> TestClient:
    return TestClient(create_pages(client.app), cookies={"easeml_session": person.key})  # type: ignore[arg-type]


def test_labels_come_as_lists_or_texts_and_are_scored_by_row(
    client: TestClient, store: Store, ann, made: Furniture
) -> None:
    before = watch(client, ann, made)
    assert before["status"] == "cannot tell"
    assert f"easeml app log {made.application_id} --share 1" in before["reason"]
    said = [["art"], ["art", "chess"], ["chess"], [], ["art"], ["art"]]
    answered(store, ann, made, said)
    truths = [["art"], "chess | art", ["chess", "sport"], "", [], "art | golf"]
    kept = tell(client, ann, made, truths)
    assert (kept["kept"], kept["known"], kept["foreign"]) == (6, 6, 1)
    found = watch(client, ann, made)
    scores = [1, 1, 2 / 3, 1, 0, 2 / 3]  # golf counts as a label that was missed
    labelled = found["labelled"]
    assert labelled["of_labels"]
    assert (labelled["rows"], labelled["quality"]) == (6, pytest.approx(sum(scores) / 6))
    assert labelled["low"] < labelled["quality"] < labelled["high"]
    assert "told below" in found["reason"]


def test_what_is_no_list_counts_as_wrong_where_cells_are_lists(
    client: TestClient, store: Store, ann
) -> None:
    lists = ['["art"]', '["art", "chess"]', '["sport"]', "[]"]
    table = pa.table({"size": [f"{size}.5" for size in range(40)], "topics": lists * 10})
    data = declare(table, infer_table(table, "topics").columns, "topics")
    made = furnish(store, ann.caller.tenant_id, data)
    answered(store, ann, made, [["art"], ["art"], ["art"]])
    assert tell(client, ann, made, [["art"], "art", 3])["foreign"] == 2
    assert watch(client, ann, made)["labelled"]["quality"] == pytest.approx(1 / 3)


def test_quality_is_the_mean_of_f1_by_brute_force(
    client: TestClient, store: Store, ann, made: Furniture
) -> None:
    drawn = random.Random(0)
    said, truths, scores = [], [], []
    for _ in range(60):
        one, true = ([name for name in TOPICS if drawn.random() < 0.4] for _ in "ab")
        said.append(one)
        truths.append(true)
        right = sum(name in true for name in one)
        false, missed = len(one) - right, len(true) - right
        either = 2 * right + false + missed
        scores.append(2 * right / either if either else 1)
    answered(store, ann, made, said)
    tell(client, ann, made, truths)
    labelled = watch(client, ann, made)["labelled"]
    assert labelled["quality"] == pytest.approx(sum(scores) / 60)


def test_the_newest_word_counts_and_no_label_may_be_it(
    client: TestClient, store: Store, ann, made: Furniture
) -> None:
    answered(store, ann, made, [[]])
    tell(client, ann, made, [["art"]])
    assert watch(client, ann, made)["labelled"]["quality"] == 0
    tell(client, ann, made, [""])
    assert watch(client, ann, made)["labelled"]["quality"] == 1


@pytest.mark.parametrize(("value", "message"), [(["setosa"], "not a list"), (" ", "It is empty")])
def test_rows_of_one_answer_have_one_and_have_it(
    client: TestClient, store: Store, ann, value: object, message: str
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    refused = tell(client, ann, made, ["setosa", value])
    assert refused["status"] == 422
    assert message in refused["detail"]
    assert "row 1" in str(refused)
    assert watch(client, ann, made)["labelled"] is None  # nothing was kept


def test_no_word_is_taken_on_rows_with_several_numbers(
    client: TestClient, store: Store, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id, of_numbers())
    refused = tell(client, ann, made, [[1, 2]])
    assert refused["status"] == 422  # texts are labels
    refused = tell(client, ann, made, ["1; 2"])
    assert refused["status"] == 409
    assert "easeml app feed" in str(refused)
    assert "easeml app feed ID FILE" in watch(client, ann, made)["reason"]
    shown = pages(client, ann).get(f"/applications/{made.application_id}/history").text
    assert 'id="of-several"' in shown
    assert 'id="kept"' in shown
    assert 'id="truth-file"' not in shown


@pytest.mark.parametrize(
    "wish",
    [
        ("rollouts/rule", {"way": "shadow"}),
        ("rollouts/rule", {"way": "at-once", "days": 7}),
        ("picking", {"way": "daily"}),
    ],
)
def test_what_compares_one_answer_is_refused(
    client: TestClient, ann, made: Furniture, wish: tuple[str, dict]
) -> None:
    path, told = wish
    address = f"/api/v1/applications/{made.application_id}/{path}"
    refused = client.put(address, json=told, headers=ann.headers)
    assert refused.status_code == 409, refused.text


def test_pages_show_what_there_is_for_several_answers_and_say_why_no_more(
    client: TestClient, store: Store, ann, bob, made: Furniture
) -> None:
    here = f"/applications/{made.application_id}"
    browser = pages(client, ann)
    shown = browser.get(f"{here}/history").text
    assert 'id="of-several"' in shown
    assert not [name for name in PANELS if f'id="{name}"' in shown]
    assert "No requests are recorded." in shown
    data = browser.get(f"{here}/data").text
    assert 'id="doubts"' not in data
    assert 'value="pool"' not in data
    assert "one answer a row" in browser.get(f"{here}/work").text
    token = {"csrf": session.csrf_token(ann.key)}
    browser.post(f"{here}/keeping", data={**token, "share": "1", "days": "7"})

    answered(store, ann, made, [["art"], []])
    file = {"file": ("told.csv", b"request_id,row,value\nreq_1,0,art | chess\n", "text/csv")}
    told = browser.post(f"{here}/truth", data=token, files=file).text
    assert "1 truth kept" in told
    one = {**token, "request_id": "req_1", "row": "1"}
    told = browser.post(f"{here}/truth", data=one).text  # no label
    assert "F1 by row, where the truth is known" in told
    assert "0.833" in told
    assert "Add them to the data" not in told


@pytest.mark.parametrize("several", [False, True])
def test_who_may_only_look_sees_what_serves_and_nothing_to_fill_in(
    client: TestClient, store: Store, ann, bob, several: bool
) -> None:
    made = furnish(store, ann.caller.tenant_id, of_labels() if several else None)
    address = f"/api/v1/applications/{made.application_id}/share"
    grant = {"user": "bob", "role": "viewer"}
    client.post(address, json=grant, headers=ann.headers).raise_for_status()
    shown = pages(client, bob).get(f"/applications/{made.application_id}/history")
    assert shown.status_code == 200
    assert 'id="kept"' not in shown.text
    assert ('id="of-several"' in shown.text) == several
    assert ('id="gate"' in shown.text) != several
