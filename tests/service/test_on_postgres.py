"""The whole service on PostgreSQL, with artefacts in a folder that two machines share: the same
way from a file to a prediction, through a killed process and a restart.
"""

import json
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from postgres_cluster import cluster, database
from service_process import EasemlProcess

pytestmark = [pytest.mark.service, pytest.mark.postgres]


def test_from_file_to_prediction_on_postgres(tmp_path: Path):
    frame = load_wine(as_frame=True).frame
    path = tmp_path / "wine.csv"
    frame.to_csv(path, index=False)
    rows = {"rows": frame.drop(columns="target").iloc[:3].to_dict("records")}
    with cluster() as template, database(template) as url:
        shared = f"file://{tmp_path}/shared"
        easeml = EasemlProcess(
            tmp_path / "home", workers=1, database_url=url, artefacts_url=shared, machines="1"
        )
        easeml.start()
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
            easeml.stop()
            easeml.start()
            answer = easeml.call("POST", f"/api/v1/applications/{application}/predict", rows)
            assert len(answer["predictions"]) == 3
            devices = easeml.call("GET", "/api/v1/devices")["items"]
            assert len(devices) == 2
            job = json.loads(easeml.command("app", "show", application, "--json"))["job"]
            decisions = easeml.call("GET", f"/api/v1/decisions?job_id={job['id']}&limit=200")[
                "items"
            ]
            assert 0 < job["tasks_done"] + job["tasks_failed"] == len(decisions) <= 4
        finally:
            easeml.stop()
        assert not list((tmp_path / "home").glob("*.db"))
        assert list((tmp_path / "shared").glob("*/*/*"))
