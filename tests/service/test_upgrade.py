"""A home that an earlier easeml wrote is taken up: its data, models and searches.

``scripts/keep_home.py`` made the archives; one is added for each release, and none is made anew.
"""

import tarfile
from pathlib import Path

import pandas as pd
import pytest

from easeml.client import Client
from easeml.contract.applications import Declaration
from easeml.service.accounts import keys
from easeml.store import Store
from easeml.store.migrate import SCHEMA_VERSION
from service_process import EasemlProcess

pytestmark = pytest.mark.service
HOMES = sorted((Path(__file__).parents[1] / "homes").glob("*.tar.gz"))


def key_of_first_user(home: Path) -> str:
    """Return a new key of the person who installed an easeml."""
    store = Store.open(f"sqlite:///{home / 'easeml.db'}", home / "artefacts")
    try:
        with store.write() as tx:
            first = min(tx.users.list(limit=None), key=lambda user: user.created)
            secret = keys.sign_in_as(tx, first, "").secret
    finally:
        store.close()
    assert secret is not None
    return secret


def learn_anew(client: Client, dataset_id: str) -> None:
    """Let another application learn from a dataset; raises where none of its models serves."""
    wish = Declaration(dataset_id=dataset_id, target="churn", models=["logistic"], max_tasks=1)
    application = client.create_application(wish)
    client.wait(application.id, until="first-model", timeout=90)


@pytest.mark.parametrize("archive", HOMES, ids=lambda path: path.name)
def test_an_older_home_is_taken_up(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    home, kept = tmp_path / "home", tmp_path / "kept"
    application_id = (kept / "application").read_text()
    service = EasemlProcess(home, workers=1)
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
