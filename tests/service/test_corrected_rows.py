"""Somebody puts right what is wrong in rows that judge models, from the command to what serves."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from easeml.client import Client
from service_process import EasemlProcess

pytestmark = pytest.mark.service

ROWS = 240
MOST = 60  # answers


def houses() -> pd.DataFrame:
    """Return houses whose price follows from their size and age."""
    random = np.random.default_rng(3)
    rows = pd.DataFrame({"size": random.uniform(40, 200, ROWS), "age": random.uniform(0, 90, ROWS)})
    rows = rows.round(1)
    rows["price"] = (3.0 * rows["size"] - rows["age"] + 200 + random.normal(0, 10, ROWS)).round(1)
    return rows


def test_slipped_prices_of_rows_that_judge_are_asked_and_what_serves_is_measured_by_the_right_ones(
    easeml: EasemlProcess, tmp_path: Path
) -> None:
    true = houses()
    dirty = true.copy()
    dirty.loc[::14, "price"] *= 10.0
    path = tmp_path / "houses.csv"
    dirty.to_csv(path, index=False)
    wish = ["--target", "price", "--models", "ridge", "--max-tasks", "2", "--yes", "--json"]
    application = json.loads(easeml.command("app", "create", str(path), *wish))["id"]
    easeml.wait(application, "converged", 120)

    with Client(easeml.url, easeml.key) as client:
        before = client.application(application)
        assert before.test_quality is not None
        said = easeml.command("work", "next", application)
        asked = set()
        for _ in range(MOST):
            item = client.next_work(application).item
            if item is None:
                break
            asked.add(item.row)
            value = f"{true.at[item.row, item.column]:.10g}"
            client.answer_work(item.id, value=value)
        if client.work(application).answers:
            client.wait_version_ready(client.use_answers(application).id, timeout=60)
        easeml.wait(application, "converged", 120)
        wrong = roles_of(client, application, tmp_path).loc[dirty["price"] != true["price"]]
        for role in ("validation", "test"):
            assert set(wrong.index[wrong == role]) <= asked
        assert "This row judges models" in said or "This row tests models" in said

        after = client.application(application)
        assert after.test_quality is not None
        assert after.test_quality.corrected == (wrong == "test").sum()
        assert after.test_quality.value > before.test_quality.value
        unseen = houses().assign(size=lambda rows: rows["size"] + 0.3)
        told = client.predict(application, unseen[["size", "age"]])["prediction"]
        assert r2_score(true["price"], told) > 0.95


def roles_of(client: Client, application: str, folder: Path) -> pd.Series:
    """Return the role of each row of an application, by id."""
    version = client.application(application).version_id
    path = folder / "version.csv"
    path.write_bytes(client.export(version, "csv"))
    return pd.read_csv(path).set_index("easeml.row")["easeml.role"].sort_index()
