"""A table with more columns than rows is searched in other bounds."""

from pathlib import Path

import numpy as np
import pandas as pd
from fastapi.testclient import TestClient
from inline_worker import work_off
from test_asking_tools import upload
from test_reports import APPLICATIONS

from easeml.modules import load_registry
from easeml.search import CostBelief
from easeml.service.search import job_states
from easeml.store import Store


def table(rows: int, columns: int) -> str:
    """Return a table whose label follows from its first column."""
    numbers = np.random.default_rng(0).normal(size=(rows, columns))
    frame = pd.DataFrame(numbers.round(3)).add_prefix("gene")
    frame["state"] = np.where(numbers[:, 0] > 0, "ill", "well")
    return frame.to_csv(index=False)


def penalties(client: TestClient, store: Store, person, folder: Path, content: str) -> list[float]:
    """Declare a table, and return the penalties of the first elastic nets that may be tried."""
    dataset = upload(client, store, person, folder, content)
    wish = {"dataset_id": dataset["id"], "target": "state"}
    made = client.post(APPLICATIONS, json=wish, headers=person.headers)
    assert made.status_code == 201, made.text
    work_off(store, folder)
    with store.write() as tx:
        job_states.start_ready_jobs(tx, load_registry(), CostBelief.of(()))
    with store.read() as tx:
        candidates = tx.scoped(person.caller.tenant_id).candidates.list(limit=None)
    nets = [one for one in candidates if one.model == "elastic-net-classifier"]
    return [one.pipeline.model.config["alpha"] for one in nets]


def test_a_wide_table_is_searched_with_strong_penalties(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    found = penalties(client, store, ann, tmp_path, table(100, 150))
    assert len(found) == 4
    assert min(found) >= 0.05


def test_a_long_table_is_searched_with_all_penalties(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    found = penalties(client, store, ann, tmp_path, table(200, 5))
    assert len(found) == 4
    assert min(found) < 0.05
