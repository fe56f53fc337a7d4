"""A table whose rows have weights: declared by a command, learned from, measured, and predicted."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from easeml.client import Client
from service_process import EasemlProcess

pytestmark = pytest.mark.service


def test_rows_count_by_a_column_from_the_command_to_the_card(
    easeml: EasemlProcess, tmp_path: Path
) -> None:
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"size": random.normal(size=150), "age": random.normal(size=150)})
    rows["people"] = random.integers(1, 900, 150) / 8
    rows["kind"] = np.where(rows["size"] + random.normal(size=150) > 0.3, "large", "small")
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    told = ["--target", "kind", "--weight", "people", "--objective", "balanced-accuracy"]
    limits = ["--models", "logistic", "--max-tasks", "1", "--yes", "--json"]
    refused = [*told, "--models", "knn-classifier", "--yes"]
    said = easeml.command("app", "create", str(path), *refused, expect=2)
    assert "does not learn from weights" in said
    application = json.loads(easeml.command("app", "create", str(path), *told, *limits))["id"]
    easeml.wait(application, "converged", 120)

    with Client(easeml.url, easeml.key) as client:
        shown = client.application(application)
        assert shown.weight == "people"
        test = client.export(shown.version_id, "csv")
        (tmp_path / "version.csv").write_bytes(test)
        exported = pd.read_csv(tmp_path / "version.csv").set_index("easeml.row")
        assert exported["people"].to_dict() == rows["people"].to_dict()
        unseen = rows.loc[exported.index[exported["easeml.role"] == "test"]]
        found = client.predict(application, unseen.drop(columns="kind"))
        without = client.predict(application, unseen[["size", "age"]])
        pd.testing.assert_frame_equal(found, without)
        wanted = balanced_accuracy_score(
            unseen["kind"], found["prediction"], sample_weight=unseen["people"]
        )
        assert shown.test_quality is not None
        assert shown.test_quality.value == pytest.approx(wanted)
        path.write_text("size,age,people,kind\n1,2,-5,large\n")
        failed = easeml.command("app", "feed", application, str(path), expect=2)
        assert "column 'people', row 0" in failed
        assert "negative" in failed
    out = tmp_path / "taken"
    easeml.command("model", "export", application, "--format", "python", "--out", str(out))
    assert "Rows count by their weights, of column 'people'" in (out / "card.md").read_text()
    assert "people" in (out / "data.croissant.json").read_text()
