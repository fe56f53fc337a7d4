"""The scripts that measure the zoo on tables that they generate, and write hints of its costs."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

from generated_tables import generated_table  # noqa: E402
from write_costs import read_runs, rewritten  # noqa: E402

LIGHTGBM = SCRIPTS.parent / "src" / "easeml" / "zoo" / "models" / "lightgbm-classifier.toml"


@pytest.mark.parametrize("number", [0, 1, 7, 12])
def test_a_number_is_one_table_for_ever(number: int) -> None:
    first, again = generated_table(number), generated_table(number)
    pd.testing.assert_frame_equal(first.rows, again.rows)
    assert (first.answers == again.answers).all()
    assert first.kind == ("regression" if number % 2 else "classification")
    assert 300 <= len(first.rows) <= 9000
    if first.kind == "classification":
        assert 2 <= len(set(first.answers)) <= 10
    else:
        assert np.isfinite(first.answers.astype(float)).all()


@pytest.mark.long
def test_a_table_is_measured_once(tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    command = [sys.executable, str(SCRIPTS / "measure_zoo.py"), str(runs)]
    command += ["--first", "5", "--last", "5"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    written = runs.read_text(encoding="utf-8")
    facts, by_table = read_runs(runs)
    assert facts["generated-5"]["kind"] == "regression"
    of_lightgbm = by_table["generated-5"]["lightgbm-regressor"]
    assert len({json.dumps(run["config"]) for run in of_lightgbm}) == len(of_lightgbm) > 15
    assert all(run["seconds"] > 0 and run["quality"] <= 1 for run in of_lightgbm)
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert runs.read_text(encoding="utf-8") == written


def test_a_module_file_gets_other_hints() -> None:
    text = LIGHTGBM.read_text(encoding="utf-8")
    hints = {"seconds": 0.5, "rows": 1.0, "columns": 0.3, "classes": 0.0, "trees": 0.9, "l2": 0.01}
    changed = rewritten(text, hints)
    lines = (
        "[cost]\nseconds = 0.5\nrows = 1\ncolumns = 0.3\n\n[cost.powers]\ntrees = 0.9\n\n[space]"
    )
    assert lines in changed
    assert rewritten(changed, hints) == changed
