"""Every table format goes all the way: uploaded, declared, learned from, and predicted again."""

import csv
import io
import json
from pathlib import Path

import pytest

from data.table_files import FORMATS, flowers
from service_process import EasemlProcess

pytestmark = pytest.mark.service


@pytest.mark.parametrize(
    "ending", ["parquet", "xlsx", "jsonl", "arff"]
)  # all of them: tests/data/test_formats.py
def test_from_a_file_of_any_format_to_predictions(
    easeml: EasemlProcess, tmp_path: Path, ending: str
):
    frame = flowers()
    path = tmp_path / f"flowers.{ending}"
    FORMATS[ending](frame, path)
    made = easeml.command(
        "app",
        "create",
        str(path),
        "--target",
        "kind",
        "--yes",
        "--json",
        "--models",
        "logistic",
        "--max-tasks",
        "1",
    )
    application = json.loads(made)["id"]
    easeml.wait(application, "first-model", 60)
    out = tmp_path / "out.csv"
    easeml.command("predict", application, str(path), "--out", str(out))
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert sum(row["prediction"] == row["kind"] for row in rows) > 0.9 * len(frame)


def test_declared_missing_codes_and_decimal_commas_hold_at_the_endpoint(
    easeml: EasemlProcess, tmp_path: Path
):
    path = tmp_path / "measured.csv"
    lines = [
        f"{-999 if i % 7 == 0 else i % 50};{i % 40},{i % 10};{'low' if i % 40 < 20 else 'high'}"
        for i in range(200)
    ]
    path.write_text("\n".join(["depth;width;kind", *lines]) + "\n")
    command = ["app", "create", str(path), "--target", "kind", "--yes", "--json"]
    command += ["--models", "decision-tree-classifier", "--max-tasks", "1"]
    shown = easeml.command(*command, "--set", "depth.missing=-999")
    application = json.loads(shown)["id"]
    easeml.wait(application, "first-model", 60)
    rows = [
        {"depth": -999, "width": "3,5"},
        {"depth": None, "width": "3,5"},
        {"depth": 12, "width": 35.5},
    ]
    answer = easeml.call("POST", f"/api/v1/applications/{application}/predict", {"rows": rows})
    assert answer["predictions"] == ["low", "low", "high"]
