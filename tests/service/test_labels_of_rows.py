"""Rows with several answers, from a file to a served model: labels in a cell, and columns together."""

import csv
import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest

from easeml.client import Client
from easeml.errors import Conflict
from service_process import LOOK_EVERY, EasemlProcess

pytestmark = pytest.mark.service

PASSWORD = "correct horse battery"
TOPICS = ("art", "chess", "sport")
FEW = ["--max-tasks", "1", "--yes", "--json"]
OF_LABELS = ["--models", "logistic", *FEW]


def articles(rows: int = 240) -> pd.DataFrame:
    """Rows whose numbers tell their topics; every one hundredth has none."""
    random = np.random.default_rng(1)
    told = random.normal(size=(rows, 3))
    has = told + random.normal(0, 0.3, size=told.shape) > 0.2
    has[~has.any(axis=1), 0] = True
    has[::100] = False
    frame = pd.DataFrame(told.round(3), columns=["a", "b", "c"])
    for place, name in enumerate(TOPICS):
        frame[name] = np.where(has[:, place], "yes", "no")
    named = [" | ".join(np.array(TOPICS)[own]) for own in has]
    price = 1000 * told[:, 0] + 50 * random.normal(size=rows) + 5000
    days = told[:, 1] + 0.05 * random.normal(size=rows)
    return frame.assign(topics=named, price=price.round(), days=days.round(3))


@pytest.fixture(scope="module")
def folder(running: EasemlProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Files of a person of her own, and her key."""
    key = running.key
    person = {"name": "lena", "password": PASSWORD}
    running.call("POST", "/api/v1/users", person)
    running.key = running.call("POST", "/api/v1/login", person)["secret"]
    path = tmp_path_factory.mktemp("articles")
    rows = articles()
    rows.head(200)[["a", "b", "c", "topics"]].to_csv(path / "articles.csv", index=False)
    rows.tail(40)[["a", "b", "c", "topics"]].to_csv(path / "new.csv", index=False)
    rows.head(200).drop(columns=["topics"]).to_csv(path / "together.csv", index=False)
    rows.tail(40).drop(columns=["topics"]).to_csv(path / "new_together.csv", index=False)
    yield path
    running.key = key


@pytest.fixture(scope="module")
def application(running: EasemlProcess, folder: Path) -> str:
    told = ["--target", "topics", *OF_LABELS]
    made = running.command("app", "create", str(folder / "articles.csv"), *told)
    application = json.loads(made)["id"]
    running.wait(application, "converged", 120)
    return application


def rows_of(said: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(said)))


def test_what_a_file_holds_is_said_before_the_start(easeml: EasemlProcess, folder: Path) -> None:
    path = str(folder / "articles.csv")
    seen = easeml.command("schema", "infer", path, "--target", "topics", "--json")
    assert json.loads(seen)["output"]["nodes"]["topics"]["labels"] == list(TOPICS)
    with Client(url=easeml.url, key=easeml.key) as client:
        version = client.wait_version_ready(client.upload(Path(path)).version.id)
    column = next(one for one in version.columns if one.name == "topics")
    assert "'topics' has several labels a row: 3 of them, 1." in column.evidence
    assert "Empty cells are rows without a label (2 of them)" in column.evidence


def test_a_file_gets_its_labels_as_it_has_them(
    easeml: EasemlProcess, application: str, folder: Path
) -> None:
    rows = rows_of(easeml.command("predict", application, str(folder / "new.csv")))
    exact = sum(row["prediction"] == row["topics"] for row in rows)
    assert exact > 25
    assert all(0 <= float(row[f"probability_{name}"]) <= 1 for row in rows for name in TOPICS)
    assert any("|" in row["prediction"] for row in rows)
    shown = easeml.command("app", "show", application)
    assert "always guessing the commonest labels" in shown


def test_json_and_the_protocols_give_labels(easeml: EasemlProcess, application: str) -> None:
    row = {"a": 2.0, "b": -2.0, "c": 2.0}
    answer = easeml.call("POST", f"/api/v1/applications/{application}/predict", {"rows": [row]})
    assert answer["predictions"] == [["art", "sport"]]
    assert sum(answer["probabilities"][0].values()) > 1.5
    told = [
        {"name": name, "shape": [1], "datatype": "FP64", "data": [value]}
        for name, value in row.items()
    ]
    tensors = easeml.call("POST", f"/v2/models/{application}/infer", {"inputs": told})["outputs"]
    assert tensors[0]["data"] == ["art | sport"]
    assert tensors[1]["shape"] == [1, 3]


def test_pages_tell_each_label(easeml: EasemlProcess, application: str) -> None:
    with httpx.Client(base_url=easeml.url, trust_env=False, follow_redirects=True) as browser:
        person = {"name": "lena", "password": PASSWORD}
        browser.post("/sign-in", data=person).raise_for_status()
        overview = browser.get(f"/applications/{application}").text
        assert "F1 by row" in overview
        with Client(url=easeml.url, key=easeml.key) as client:
            task = next(client.models(application)).task_id
        page = browser.get(f"/tasks/{task}").text
    assert "How each label is found" in page
    assert "Precision" in page


def test_tools_that_look_at_one_answer_say_so(easeml: EasemlProcess, application: str) -> None:
    with Client(url=easeml.url, key=easeml.key) as client:
        why = {one.name: one.why_not for one in client.application_tools(application)}
        with pytest.raises(Conflict, match="one answer a row"):
            client.ask_tool(application, "feasibility")
        steps = client.next_actions(application)
    takes = {"difference", "evaluation", "importance"}
    assert all("one answer a row" in why[name] for name in why.keys() - takes)
    assert not why["evaluation"]
    assert not {"ask-feasibility", "ask-label-errors"} & {one.kind for one in steps.actions}


def test_nobody_is_asked_about_rows_with_several_answers(
    easeml: EasemlProcess, application: str
) -> None:
    assert "Nothing is left to ask you." in easeml.command("work", "next", application)
    with Client(url=easeml.url, key=easeml.key) as client:
        told = client.application(application)
        tasks = list(client.version_tasks(told.version_id, kind="find-work"))
        assert tasks == []


def test_what_was_true_comes_by_file_and_is_scored_by_row(
    easeml: EasemlProcess, application: str, folder: Path, tmp_path: Path
) -> None:
    easeml.command("app", "log", application, "--share", "1")
    said = tmp_path / "said.csv"
    asked = ["predict", application, str(folder / "new.csv"), "--name-rows", "--out", str(said)]
    deadline = time.monotonic() + 60
    with Client(url=easeml.url, key=easeml.key) as client:
        easeml.command(*asked)
        while not client.request_log(application).rows:  # it is not kept from the first one on
            assert time.monotonic() < deadline
            time.sleep(LOOK_EVERY)
            said.unlink()
            easeml.command(*asked)
        told = easeml.command("app", "feedback", application, str(said), "--value", "topics")
        assert "40 truths kept" in told
        assert "could answer" not in told
        while (found := client.watch_report(application).labelled) is None or found.rows < 40:
            assert time.monotonic() < deadline
            time.sleep(LOOK_EVERY)
    assert found.of_labels
    assert found.rows == 40
    scores = []
    for row in rows_of(said.read_text()):
        one, true = (set(filter(None, row[name].split(" | "))) for name in ("prediction", "topics"))
        scores.append(2 * len(one & true) / (len(one) + len(true)) if one | true else 1)
    assert found.quality == pytest.approx(sum(scores) / 40)
    assert "F1 by row where the truth came" in easeml.command("app", "watch-report", application)


def test_an_export_predicts_the_same_labels(
    easeml: EasemlProcess, application: str, folder: Path, tmp_path: Path
) -> None:
    with Client(url=easeml.url, key=easeml.key) as client:
        model = client.application(application).live_model
    assert model is not None
    easeml.command("model", "export", model.id, "--out", str(tmp_path / "taken"))
    code = (
        "import pandas as pd; from load import model;"
        f"print(model.predict(pd.read_csv({str(folder / 'new.csv')!r})).to_csv(index=False))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "taken",
        capture_output=True,
        text=True,
        check=True,
    )
    told = [row["prediction"] for row in rows_of(done.stdout.strip())]
    here = rows_of(easeml.command("predict", application, str(folder / "new.csv")))
    assert told == [row["prediction"] for row in here]
    refused = easeml.command(
        "model", "export", model.id, "--format", "onnx", "--out", "x", expect=2
    )
    assert "Several answers a row" in refused


def test_rows_are_fed_with_labels_and_not_without(
    easeml: EasemlProcess, application: str, folder: Path, tmp_path: Path
) -> None:
    fed = easeml.command("app", "feed", application, str(folder / "new.csv"))
    assert "24 train, 8 validation, 8 test added" in fed
    strange = tmp_path / "strange.csv"
    strange.write_text("a,b,c,topics\n1,2,3,art | golf\n")
    refused = easeml.command("app", "feed", application, str(strange), expect=2)
    assert "the label 'golf', which is none of the known ones" in refused


def test_columns_of_yes_and_no_are_one_application(easeml: EasemlProcess, folder: Path) -> None:
    targets = [word for name in TOPICS for word in ("--target", name)]
    told = [*targets, "--together", "--drop", "price", "--drop", "days", *OF_LABELS]
    made = json.loads(easeml.command("app", "create", str(folder / "together.csv"), *told))
    assert made["target"] == "art + chess + sport"
    easeml.wait(made["id"], "converged", 120)
    rows = rows_of(easeml.command("predict", made["id"], str(folder / "new_together.csv")))
    wanted = ["; ".join(name for name in TOPICS if row[name] == "yes") for row in rows]
    exact = [row["prediction"] == one for row, one in zip(rows, wanted, strict=True)]
    assert sum(exact) > 25


def test_numbers_together_are_one_application_in_which_none_drowns(
    easeml: EasemlProcess, folder: Path
) -> None:
    targets = ["--target", "price", "--target", "days", "--together"]
    told = [*targets, *(word for name in TOPICS for word in ("--drop", name))]
    told += ["--models", "ridge", *FEW]
    made = json.loads(easeml.command("app", "create", str(folder / "together.csv"), *told))
    easeml.wait(made["id"], "converged", 120)
    rows = rows_of(easeml.command("predict", made["id"], str(folder / "new_together.csv")))
    for name in ("price", "days"):
        off = [float(row[f"prediction_{name}"]) - float(row[name]) for row in rows]
        spread = np.std([float(row[name]) for row in rows])
        assert np.sqrt(np.mean(np.square(off))) < 0.2 * spread


def test_what_cannot_be_together_is_refused(easeml: EasemlProcess, folder: Path) -> None:
    told = ["--target", "price", "--target", "art", "--together", *FEW]
    said = easeml.command("app", "create", str(folder / "together.csv"), *told, expect=2)
    assert "together with others a target is a number, or yes or no in all" in said
    alone = ["--target", "price", "--together", *FEW]
    said = easeml.command("app", "create", str(folder / "together.csv"), *alone, expect=2)
    assert "One column is no several." in said
