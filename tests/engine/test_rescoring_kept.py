"""A model is scored again by what it said of the rows that judged it: an ensemble was chosen by them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.data import VersionTables, declare, infer_table, read_table, read_version, write_version
from easeml.kinds.rescore import RescoreSpec, score_again
from easeml.kinds.shared.predictions import write_predictions
from easeml.modules import Predictions
from easeml.modules.pipeline import fit, save

SPEC = RescoreSpec(objective="r2", version_id="ver_1")
OFF = 3.0  # by which the model was said to be off, by rows that did not choose it


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A version whose y is twice its x, and a model that has learned that."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(size=200).round(3)})
    rows.assign(y=2 * rows["x"]).to_csv(tmp_path / "rows.csv", index=False)
    table = read_table(tmp_path / "rows.csv")
    version = declare(table, infer_table(table).columns, "y", keep=["x"])
    folder = tmp_path / "inputs"
    folder.mkdir()
    write_version(folder / "version", version)
    schemas = version.schema_in.to_json(), version.schema_out.to_json()
    pipeline = {"transforms": [{"module": "table-onehot"}], "model": {"module": "ridge"}}
    save(fit(pipeline, version.frames["train"], *schemas), folder / "model", quality=0.5)
    return folder


def keep_predictions(inputs: Path, version: VersionTables, count: int) -> None:
    """Keep of so many validation rows what is off."""
    rows = version.validation[:count]
    said = Predictions(rows["y"].to_numpy() + OFF, None, None)
    write_predictions(inputs / "predictions", {"validation": rows["_row"]}, {"validation": said})


def r2(answers: "pd.Series[float]", said: np.ndarray) -> float:
    left = float(((answers - said) ** 2).sum())
    return 1 - left / float(((answers - answers.mean()) ** 2).sum())


@pytest.mark.parametrize("count", [100, 25])
def test_of_rows_that_judged_it_counts_what_was_kept(
    inputs: Path, tmp_path: Path, count: int
) -> None:
    """Rows that joined since have chosen nothing, and are predicted."""
    version = read_version(inputs / "version")
    answers = version.validation["y"]
    keep_predictions(inputs, version, count)
    found = score_again(SPEC, inputs, tmp_path / "outputs")
    said = answers.to_numpy() + np.where(np.arange(len(answers)) < count, OFF, 0.0)
    assert found.value["quality"] == pytest.approx(r2(answers, said), abs=0.02)
    assert found.value["rows"] == len(answers)


def test_a_model_that_kept_nothing_is_asked(inputs: Path, tmp_path: Path) -> None:
    assert score_again(SPEC, inputs, tmp_path / "outputs").value["quality"] > 0.99
