"""The whole service on PostgreSQL, with artefacts in a folder that machines share: the same way from
a file to a prediction, through a killed process and a restart, with a second service beside it.
"""

import json
import secrets
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from postgres_cluster import cluster, database
from steady_client import SteadyClient
from warm_service import WarmService

pytestmark = [pytest.mark.service, pytest.mark.postgres]


def test_from_file_to_prediction_on_postgres(tmp_path: Path):
    frame = load_wine(as_frame=True).frame
    path = tmp_path / "wine.csv"
    frame.to_csv(path, index=False)
    rows = {"rows": frame.drop(columns="target").iloc[:3].to_dict("records")}
    with cluster() as template, database(template) as url:
        shared = f"file://{tmp_path}/shared"
        first = tmp_path / "secrets"
        first.mkdir()
        (first / "password").write_text("seven grey bicycles")
        (first / "key").write_text(key := f"eml_{secrets.token_hex(32)}")
        settings = {"database_url": url, "artefacts_url": shared, "first_secrets": str(first)}
        easeml = WarmService(tmp_path / "home", workers=1, machines="1", **settings)
        second = WarmService(tmp_path / "second", workers=1, **settings)
        easeml.start()
        easeml.key = second.key = key
        assert key not in "".join(easeml.output)
        try:
            command = [
                "app",
                "create",
                str(path),
                "--target",
                "target",
                "--max-tasks",
                "4",
                "--yes",
                "--json",
            ]
            application = json.loads(easeml.command(*command))["id"]
            easeml.wait(application, "first-model", 60)
            easeml.kill("scheduler")
            easeml.kill("worker")
            easeml.wait(application, "converged", 120)
            predict = f"/api/v1/applications/{application}/predict"
            second.start()
            try:
                assert second.call("POST", predict, rows)["model_id"]
                easeml.stop()
                assert len(second.call("POST", predict, rows)["predictions"]) == 3
                easeml.start()
                assert len(easeml.call("POST", predict, rows)["predictions"]) == 3
            finally:
                second.stop()
            table = b"".join(path.read_bytes().splitlines(keepends=True)[:4])
            with SteadyClient(easeml, application, table) as client:
                easeml.command("upgrade", "--home", str(easeml.home))
            assert client.wrong == []
            print(f"longest wait of a prediction in an upgrade: {client.longest:.2f} s")
            assert len(easeml.wait_for_devices(2)) == 2
            job = json.loads(easeml.command("app", "show", application, "--json"))["job"]
            decisions = easeml.call("GET", f"/api/v1/decisions?job_id={job['id']}&limit=200")[
                "items"
            ]
            assert 0 < job["tasks_done"] + job["tasks_failed"] == len(decisions) <= 4
        finally:
            easeml.stop()
        assert not list((tmp_path / "home").glob("*.db"))
        assert list((tmp_path / "shared").glob("*/*/*"))
