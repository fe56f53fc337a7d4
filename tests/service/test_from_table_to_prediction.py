"""The spine, as a person uses it: a CSV file, three commands, predictions."""

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from easeml.export import load_exported
from easeml.settings import Settings
from easeml.store import Store
from service_process import EasemlProcess

pytestmark = pytest.mark.service


def write_table(folder: Path, name: str) -> Path:
    loaders = {"cancer": load_breast_cancer, "wine": load_wine, "diabetes": load_diabetes}
    frame = loaders[name](as_frame=True).frame
    if name == "cancer":
        frame["target"] = frame["target"].map({0: "malignant", 1: "benign"})
    path = folder / f"{name}.csv"
    frame.to_csv(path, index=False)
    return path


def create(easeml: EasemlProcess, path: Path, *more: str) -> dict:
    return json.loads(
        easeml.command("app", "create", str(path), "--target", "target", "--yes", "--json", *more)
    )


def check_exported(
    easeml: EasemlProcess, application_id: str, path: Path, rows: list[dict], out: Path
) -> None:
    """The live model, taken elsewhere, predicts what its endpoint predicts."""
    told = easeml.command("model", "export", application_id, "--out", str(out), "--json")
    assert json.loads(told)["facts"]["application_id"] == application_id
    assert "Yes: " in easeml.command("model", "verify", str(out))
    predicted = load_exported(out / "model").predict(pd.read_csv(path))
    assert list(predicted["prediction"]) == [row["prediction"] for row in rows]
    shares = [float(row["probability_malignant"]) for row in rows]
    assert list(predicted["probability_malignant"]) == pytest.approx(shares, abs=1e-9)


def check_difference(easeml: EasemlProcess, application_id: str) -> None:
    """The worst model beside the live one, by its id and by its name."""
    models = easeml.call("GET", f"/api/v1/applications/{application_id}/models?limit=200")["items"]
    first, last = models[0], models[-1]
    command = ("app", "diff", application_id, last["id"], first["id"], "--json")
    told = json.loads(easeml.command(*command))
    assert (told["old"]["id"], told["new"]["id"]) == (last["id"], first["id"])
    with Store.of(Settings(home=easeml.home)).read() as tx:  # folds have judged by more rows
        on_validation_rows = tx.unscoped().models.get(last["id"]).on_validation_rows
    assert told["old"]["quality"]["value"] == pytest.approx(on_validation_rows)
    assert told["gain"]["low"] <= told["gain"]["value"] <= told["gain"]["high"]
    assert len(told["changed_rows"]) <= 20
    assert told["new"]["size"] > 0
    assert any(column["old"] == "yes" for column in told["columns"])
    by_name = easeml.command("app", "diff", application_id, last["name"], first["id"])
    assert "Predictions that change" in by_name
    refused = easeml.command("app", "diff", application_id, "nobody", expect=2)
    assert last["id"] in refused


def test_classification_from_file_to_prediction(easeml: EasemlProcess, tmp_path: Path):
    path = write_table(tmp_path, "cancer")
    application = create(easeml, path, "--max-tasks", "6")
    easeml.command("app", "wait", application["id"], "--until", "first-model", "--timeout", "60")
    easeml.command("app", "wait", application["id"], "--until", "converged", "--timeout", "120")

    shown = json.loads(easeml.command("app", "show", application["id"], "--json"))
    assert shown["state"] == "serving"
    assert shown["live"]["model"] == shown["live_model"]["name"]
    assert shown["job"]["settled"]
    assert isinstance(shown["live"]["refitted"], bool)
    assert isinstance(shown["live"]["ensemble"], list)
    assert shown["live_model"]["quality"] > 0.85
    assert shown["job"]["tasks_done"] >= 6
    assert 0.8 < shown["test_quality"]["value"] <= 1.0
    assert (
        shown["test_quality"]["low"]
        <= shown["test_quality"]["value"]
        <= shown["test_quality"]["high"]
    )

    out = tmp_path / "out.csv"
    easeml.command("predict", application["id"], str(path), "--out", str(out))
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert len(rows) == 569
    check_exported(easeml, application["id"], path, rows, tmp_path / "taken")
    predicted = [row["prediction"] for row in rows]
    assert set(predicted) <= {"malignant", "benign"}
    assert sum(p == row["target"] for p, row in zip(predicted, rows, strict=True)) > 0.85 * 569
    shares = [float(row["probability_malignant"]) for row in rows]
    told = ["malignant" if share > 0.5 else "benign" for share in shares]
    assert told == predicted

    check_difference(easeml, application["id"])
    decisions = easeml.call("GET", f"/api/v1/decisions?job_id={shown['job']['id']}&limit=200")[
        "items"
    ]
    assert len(decisions) == shown["job"]["tasks_done"] + shown["job"]["tasks_failed"]
    assert all(d["explanation"] for d in decisions)


def are_enclosed(answer: dict) -> bool:
    """Tell whether every prediction lies within its interval."""
    ends = zip(answer["lower"], answer["predictions"], answer["upper"], strict=True)
    return all(lower < value < upper for lower, value, upper in ends)


def test_regression_serves_and_reports_quality_where_labels_are_sent(
    easeml: EasemlProcess, tmp_path: Path
):
    path = write_table(tmp_path, "diabetes")
    application = create(easeml, path, "--max-tasks", "4")
    easeml.wait(application["id"], "first-model", 60)
    answer = json.loads(easeml.command("predict", application["id"], str(path), "--json"))
    assert len(answer["predictions"]) == 442
    assert all(isinstance(value, float) for value in answer["predictions"])
    assert answer["coverage"] == 0.9
    assert are_enclosed(answer)
    quality = answer["quality"]
    learned, others = quality["training_rows"], quality["others"]["rows"]
    assert quality["rows"] == learned + others == 442
    assert learned in (265, 353)  # before and after it was fitted on validation rows, too
    (said,) = [note for note in answer["notes"] if "trained on" in note]
    assert said.startswith(f"{learned} of 442 rows are rows that the model was trained on")
    assert f"On the other {others} rows: " in said


def test_a_request_names_the_row_and_the_column_that_do_not_fit(
    easeml: EasemlProcess, tmp_path: Path
):
    path = write_table(tmp_path, "wine")
    application = create(easeml, path, "--max-tasks", "3")
    easeml.wait(application["id"], "first-model", 60)
    row = next(csv.DictReader(path.open()))
    wrong = tmp_path / "wrong.csv"
    with wrong.open("w", newline="") as file:
        writer = csv.DictWriter(file, row.keys())
        writer.writeheader()
        writer.writerows([row, {**row, "alcohol": "plenty"}])
    message = easeml.command("predict", application["id"], str(wrong), expect=2)
    assert "row 1, column 'alcohol'" in message


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.csv", "", "empty"),
        ("header.csv", "a,b,target\n", "no row"),
        ("deep.html", "<table><tr><td>" * 60, "more than 50 tables are within each other"),
        ("ragged.csv", "a,b,target\n1,2,x\n1,2\n3,4,y\n", "row"),
    ],
)
def test_a_bad_file_is_refused_with_its_name(
    easeml: EasemlProcess, tmp_path: Path, name: str, content: str, says: str
):
    path = tmp_path / name
    path.write_text(content)
    message = easeml.command("app", "create", str(path), "--target", "target", "--yes", expect=2)
    assert name in message
    assert says in message


def test_a_missing_target_is_refused_with_the_likely_one(easeml: EasemlProcess, tmp_path: Path):
    path = write_table(tmp_path, "wine")
    message = easeml.command("app", "create", str(path), "--target", "alcool", "--yes", expect=2)
    assert "alcohol" in message


def test_waiting_ends_with_its_own_exit_code(easeml: EasemlProcess, tmp_path: Path):
    application = create(easeml, write_table(tmp_path, "diabetes"), "--max-tasks", "30")
    easeml.wait(application["id"], "first-model", 60)
    easeml.command(
        "job", "pause", application["id"]
    )  # or it might converge before the command has started
    easeml.command(
        "app", "wait", application["id"], "--until", "converged", "--timeout", "0.1", expect=3
    )
    easeml.command("job", "stop", application["id"])
    easeml.command(
        "app", "wait", "app_does_not_exist", "--until", "converged", "--timeout", "5", expect=2
    )


def test_a_goal_that_few_rows_cannot_judge_keeps_nobody_from_searching(
    easeml: EasemlProcess, tmp_path: Path
) -> None:
    """24 rows with a goal were refused: "19 rows are too few to say anything"."""
    rows = [f"{dose},{30 + dose % 7},{'yes' if dose % 3 else 'no'}" for dose in range(24)]
    path = tmp_path / "mice.csv"
    path.write_text("dose,weight,tumour\n" + "\n".join(rows))
    options = ("--target", "tumour", "--yes", "--max-tasks", "1")
    said = easeml.command("app", "create", str(path), *options, "--goal", "accuracy >= 0.9")
    assert "Whether accuracy >= 0.9 can be reached cannot be told. 19 rows are too few" in said
    assert "Started app_" in said
