"""Lifecycle tools on a live application that compare models, look at newer rows, and remember."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import train, work_off
from test_reports import APPLICATIONS, reports

from easeml.store import Store
from easeml.web import create_pages, session


def rows_of(sizes, kinds) -> str:
    lines = [f"{size},{kind}" for size, kind in zip(sizes, kinds, strict=True)]
    return "\n".join(["size,kind", *lines]) + "\n"


def toys(rows: int, first: int = 0) -> str:
    """Return a table whose kind follows from the size, but for one row in ten."""
    sizes = [(37 * row) % 1000 / 10 for row in range(first, first + rows)]
    kinds = []
    for place, size in enumerate(sizes):
        is_big = (size > 50) != (place % 10 == 3)
        kinds.append("big" if is_big else "small")
    return rows_of(sizes, kinds)


def upload(client: TestClient, store: Store, person, folder: Path, content: str) -> dict:
    told = client.post(
        "/api/v1/datasets",
        params={"filename": "rows.csv"},
        content=content,
        headers=person.headers,
    )
    told.raise_for_status()
    work_off(store, folder)
    return told.json()


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    """An application with 400 rows that serves a model."""
    dataset = upload(client, store, ann, tmp_path, toys(400))
    wish = {"dataset_id": dataset["id"], "target": "kind"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers)
    assert declared.status_code == 201, declared.text
    work_off(store, tmp_path)
    job = client.get(f"{APPLICATIONS}/{declared.json()['id']}", headers=ann.headers).json()["job"]
    train(store, tmp_path, job["id"])
    work_off(store, tmp_path)
    return declared.json()["id"]


def ask(client: TestClient, person, application: str, tool: str, **wish):
    place = f"{APPLICATIONS}/{application}/reports"
    return client.post(place, json={"tool": tool, **wish}, headers=person.headers)


def newest(client: TestClient, store: Store, person, folder: Path, application: str) -> dict:
    (task,) = work_off(store, folder)
    assert task.error == ""
    return reports(client, person, application)[0]


def named(report: dict) -> dict[str, float]:
    return {one["name"]: one["value"] for one in report["numbers"]}


def test_a_live_model_is_monitored_file_by_file(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    calm = upload(client, store, ann, tmp_path, toys(200, first=1000))["version"]["id"]
    asked = ask(client, ann, application, "monitor", newer_id=calm)
    assert asked.status_code == 201, asked.text
    first = newest(client, store, ann, tmp_path, application)
    assert first["tool"] == "monitor"
    assert named(first)["batch"] == 1
    assert abs(named(first)["labelled"] - 0.9) < 0.05

    wrong = toys(200, first=1000).replace("big", "BIG").replace("small", "big")
    turned = upload(client, store, ann, tmp_path, wrong.replace("BIG", "small"))["version"]["id"]
    ask(client, ann, application, "monitor", newer_id=turned).raise_for_status()
    second = newest(client, store, ann, tmp_path, application)
    assert named(second)["batch"] == 2  # it goes on from the first
    assert second["verdict"] == "alert"
    assert named(second)["labelled"] < 0.2


def test_a_live_model_is_evaluated_on_validation_rows(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    asked = ask(client, ann, application, "evaluation", parameters={"worst": 5})
    assert asked.status_code == 201, asked.text
    report = newest(client, store, ann, tmp_path, application)
    assert abs(named(report)["right"] - 0.9) < 0.06
    confusion, worst = report["tables"]
    counts = [sum(row[1:]) for row in confusion["rows"]]
    assert sum(counts) == named(report)["rows"] == 80
    assert len(worst["rows"]) == 5
    assert {figure["title"] for figure in report["figures"]} >= {"ROC curves"}


def test_monitoring_says_what_is_wrong_with_the_rows(
    client: TestClient, store: Store, ann, bob, application: str, tmp_path: Path
) -> None:
    nothing = ask(client, ann, application, "monitor")
    assert nothing.status_code == 422
    assert "Upload a table" in nothing.text
    other = upload(client, store, bob, tmp_path, toys(60))["version"]["id"]
    assert ask(client, ann, application, "monitor", newer_id=other).status_code == 404
    strange = upload(client, store, ann, tmp_path, "weight,colour\n1,red\n2,blue\n")
    strange = strange["version"]["id"]
    ask(client, ann, application, "monitor", newer_id=strange).raise_for_status()
    (failed,) = work_off(store, tmp_path)
    assert failed.state == "failed"
    assert "'size'" in failed.error
    told = ask(client, ann, application, "feasibility", newer_id=strange)
    assert told.status_code == 422
    assert "looks at no newer rows" in told.text


def test_a_second_file_waits_for_the_first(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    one = upload(client, store, ann, tmp_path, toys(60, first=1000))["version"]["id"]
    two = upload(client, store, ann, tmp_path, toys(60, first=2000))["version"]["id"]
    first = ask(client, ann, application, "monitor", newer_id=one)
    assert ask(client, ann, application, "monitor", newer_id=one).json()["id"] == first.json()["id"]
    refused = ask(client, ann, application, "monitor", newer_id=two)
    assert refused.status_code == 409
    assert "when it has answered" in refused.text


def test_a_page_learns_which_tools_fit(client: TestClient, ann, application: str) -> None:
    found = client.get(f"{APPLICATIONS}/{application}/tools", headers=ann.headers).json()["items"]
    tools = {one["name"]: one for one in found}
    assert tools["monitor"]["takes_newer"]
    assert tools["monitor"]["why_not"] == ""
    drop = next(one for one in tools["monitor"]["parameters"] if one["name"] == "drop")
    assert (drop["type"], drop["default"], drop["least"]) == ("number", 0.05, 0.0)


def another_model(client: TestClient, store: Store, person, folder: Path, application: str) -> None:
    """Train a second candidate of the application's search."""
    place = f"{APPLICATIONS}/{application}"
    job = client.get(place, headers=person.headers).json()["job"]["id"]
    train(store, folder, job, arm=1)
    work_off(store, folder)


def test_tools_that_compare_say_that_there_is_one_model(
    client: TestClient, ann, application: str
) -> None:
    for tool in ("ci", "pick"):
        refused = ask(client, ann, application, tool)
        assert refused.status_code == 409
        assert "there is one only" in refused.text


def test_models_are_compared_on_test_rows_and_on_newer_ones(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    another_model(client, store, ann, tmp_path, application)
    place = f"{APPLICATIONS}/{application}"
    live = client.get(place, headers=ann.headers).json()["live_model"]["id"]
    itself = ask(client, ann, application, "ci", model_id=live)
    assert itself.status_code == 422
    assert "serves already" in itself.text

    condition = {"condition": "n - o > -0.6 +/- 0.3"}
    ask(client, ann, application, "ci", parameters=condition).raise_for_status()
    while_open = ask(client, ann, application, "meter")
    assert while_open.status_code == 409  # what ci tells of the test rows, the meter counts
    assert "'May a new model replace it?' (ci) is being asked" in while_open.text
    tested = newest(client, store, ann, tmp_path, application)
    assert tested["verdict"] == "pass"
    assert named(tested)["step"] == 1
    ask(client, ann, application, "meter").raise_for_status()
    read = newest(client, store, ann, tmp_path, application)
    assert read["verdict"] in ("fresh", "overfitted")
    assert named(read)["readings"] == 1
    again = ask(client, ann, application, "ci", parameters=condition)
    again.raise_for_status()
    repeated = newest(client, store, ann, tmp_path, application)
    assert named(repeated)["step"] == 1  # the same two models: no step is spent
    assert "other uses" in repeated["advice"]  # that of the meter

    rows = toys(120, first=1000)
    file = upload(client, store, ann, tmp_path, rows.replace("big", "").replace("small", ""))
    ask(client, ann, application, "pick", newer_id=file["version"]["id"]).raise_for_status()
    picked = newest(client, store, ann, tmp_path, application)
    if picked["verdict"] == "label more":
        whole = upload(client, store, ann, tmp_path, rows)["version"]["id"]
        ask(client, ann, application, "pick", newer_id=whole).raise_for_status()
        picked = newest(client, store, ann, tmp_path, application)
    assert picked["verdict"] == "chosen"


def test_a_form_asks_any_tool_and_says_what_is_wrong(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = f"/applications/{application}/ask"
    shown = browser.get(page).text
    assert 'id="tool-monitor"' in shown
    assert 'name="set-seed" inputmode="numeric" value="0"' in shown
    assert '<option value="">not set</option><option>balanced-accuracy</option>' in shown
    assert "It compares trained models" in shown
    token = {"csrf": session.csrf_token(ann.key)}
    wrong = browser.post(f"{page}/feasibility", data={**token, "set-goal": "high"})
    assert wrong.status_code == 422
    assert "is not a number" in wrong.text
    assert '<details id="tool-feasibility" open>' in wrong.text
    assert browser.get(f"{page}/feasibility").status_code == 200  # where a refused form stays
    nothing = browser.post(f"{page}/monitor", data=token)
    assert "No file was chosen." in nothing.text
    unknown = browser.post(f"{page}/oracle", data=token)
    assert unknown.status_code == 422

    rows = {"rows": ("newer.csv", toys(60, first=1000))}
    asked = browser.post(f"{page}/monitor", data={**token, "set-drop": "0.1"}, files=rows)
    assert asked.url.path == page
    assert "In progress" in asked.text
    work_off(store, tmp_path)
    answered = browser.get(page).text
    assert "Quality on the newer rows" in answered
    assert "In progress" not in answered


def test_what_compares_classes_is_not_offered_where_numbers_are_predicted(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    """It took a file of newer rows, and failed afterwards."""
    rows = "".join(f"{37 * row % 400 / 4},{37 * row % 400 / 3:.2f}\n" for row in range(200))
    dataset = upload(client, store, ann, tmp_path, f"size,price\n{rows}")
    wish = {"dataset_id": dataset["id"], "target": "price"}
    declared = client.post(APPLICATIONS, json=wish, headers=ann.headers).json()["id"]
    work_off(store, tmp_path)
    place = f"{APPLICATIONS}/{declared}"
    tools = client.get(f"{place}/tools", headers=ann.headers).json()["items"]
    [pick] = [tool for tool in tools if tool["name"] == "pick"]
    assert "compares predicted classes, and this application predicts numbers" in pick["why_not"]
    asked = ask(client, ann, declared, "pick", newer_id=dataset["version"]["id"])
    assert asked.status_code == 409
    accuracy = ask(client, ann, declared, "ci")
    assert (accuracy.status_code, "absolute-error" in accuracy.text) == (422, True)
    rule = client.get(f"{place}/picking", headers=ann.headers).json()
    assert rule["why_not"] == pick["why_not"]
    kept = client.put(f"{place}/requests", json={"share": 1.0}, headers=ann.headers)
    assert kept.status_code == 200, kept.text
    daily = client.put(f"{place}/picking", json={"way": "daily"}, headers=ann.headers)
    assert "predicts numbers" in daily.text

    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    shown = browser.get(f"/applications/{declared}/ask").text
    assert "Not yet" not in shown.partition('id="tool-pick"')[2].partition("</details>")[0]
    assert 'id="picking-way"' not in browser.get(f"/applications/{declared}/history").text


def test_any_two_models_are_compared(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    another_model(client, store, ann, tmp_path, application)
    place = f"{APPLICATIONS}/{application}"
    live = client.get(place, headers=ann.headers).json()["live_model"]["id"]
    models = client.get(f"{place}/models", headers=ann.headers).json()["items"]
    (other,) = [one["id"] for one in models if one["id"] != live]

    ask(client, ann, application, "difference").raise_for_status()
    found = newest(client, store, ann, tmp_path, application)
    assert (found["against_id"], found["model_id"]) == (live, other)

    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    chosen = {"csrf": session.csrf_token(ann.key), "model": live, "against": other}
    page = f"/applications/{application}/ask"
    browser.post(f"{page}/difference", data=chosen).raise_for_status()
    by_page = newest(client, store, ann, tmp_path, application)
    assert (by_page["against_id"], by_page["model_id"]) == (other, live)
    with store.read() as tx:  # it compares them on the validation rows alone
        kept = tx.unscoped().models.list(application_id=application, limit=None)
    qualities = {one.id: one.on_validation_rows for one in kept}
    assert named(found)["old"] == pytest.approx(qualities[live])
    assert named(found)["new"] == pytest.approx(qualities[other])

    ask(client, ann, application, "difference", model_id=live, against_id=other).raise_for_status()
    turned = newest(client, store, ann, tmp_path, application)
    assert (turned["against_id"], turned["model_id"]) == (other, live)
    assert named(turned)["gain"] == pytest.approx(-named(found)["gain"])
    assert named(turned)["changed"] == named(found)["changed"]

    same = ask(client, ann, application, "difference", model_id=other, against_id=other)
    assert same.status_code == 422
    assert "is the same" in same.text
    ledger = ask(client, ann, application, "ci", model_id=live, against_id=other)
    assert ledger.status_code == 422
    assert "does not compare a model with any other" in ledger.text
    unknown = ask(client, ann, application, "difference", against_id="model_nobody")
    assert unknown.status_code == 404
