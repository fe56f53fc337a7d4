"""Workers are killed while rows join: the data is the old version or the new one, never something
between.
"""

import json
import random
import time
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from easeml.client import Client
from service_process import EasemlProcess

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600), pytest.mark.xdist_group("faults")]
KILLS, START, PIECE = 5, 98, 16


def test_killed_workers_leave_whole_versions(easeml: EasemlProcess, tmp_path: Path):
    wines = load_wine(as_frame=True).frame.sample(frac=1, random_state=0)
    wines[:START].to_csv(tmp_path / "first.csv", index=False)
    command = [
        "app",
        "create",
        str(tmp_path / "first.csv"),
        "--target",
        "target",
        "--models",
        "naive-bayes",
    ]
    application = json.loads(easeml.command(*command, "--yes", "--json"))["id"]
    easeml.wait(application, "first-model", 60)
    client = Client(easeml.url, easeml.key)
    for number in range(KILLS):
        before = START + PIECE * number
        piece = tmp_path / f"more{number}.csv"
        wines[before : before + PIECE].to_csv(piece, index=False)
        made = client.feed(application, piece, idempotency_key=f"feed-{number}")
        time.sleep(random.Random(number).uniform(0.0, 0.5))  # the random moment
        easeml.kill("worker")
        used = client.version(client.application(application).version_id)
        assert used.state == "ready"
        assert used.summary["rows"] == (before + PIECE if used.id == made.id else before)
        client.wait_version_ready(made.id, timeout=120)
        assert client.application(application).version_id == made.id
    exported = client.export(made.id).decode().splitlines()
    assert len(exported) == 1 + START + PIECE * KILLS
    ids = [int(line.split(",")[-2]) for line in exported[1:]]
    assert ids == list(range(START + PIECE * KILLS))
