"""A home that an earlier easeml wrote is taken up: its data, models and searches.

``scripts/keep_home.py`` made the archives; one is added for each release, and none is made anew.
"""

from pathlib import Path

import pandas as pd
import pytest

from easeml.client import Client
from easeml.contract.applications import Declaration
from easeml.store.migrate import SCHEMA_VERSION
from older_homes import HOMES, key_of_first_user, unpack
from warm_service import WarmService

pytestmark = pytest.mark.service


def learn_anew(client: Client, dataset_id: str) -> None:
    """Let another application learn from a dataset; raises where none of its models serves."""
    wish = Declaration(dataset_id=dataset_id, target="churn", models=["logistic"], max_tasks=1)
    application = client.create_application(wish)
    client.wait(application.id, until="first-model", timeout=90)


@pytest.mark.parametrize("archive", HOMES, ids=lambda path: path.name)
def test_an_older_home_is_taken_up(archive: Path, tmp_path: Path) -> None:
    home, kept = unpack(archive, tmp_path)
    application_id = (kept / "application").read_text()
    service = WarmService(home, workers=1)
    service.start()
    try:
        service.key = key_of_first_user(home)
        table, out = kept / "customers.csv", tmp_path / "again.csv"
        service.command("predict", application_id, str(table), "--out", str(out))
        pd.testing.assert_frame_equal(pd.read_csv(out), pd.read_csv(kept / "predicted.csv"))
        with Client(service.url, service.key) as client:
            assert client.next_actions(application_id).actions
            learn_anew(client, client.application(application_id).dataset_id)
        service.command("doctor", "--home", str(home))
    finally:
        service.stop()
    assert (home / f"easeml.db.before-{SCHEMA_VERSION}").exists()
