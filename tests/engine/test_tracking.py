"""An MLflow server is told of runs, once each, and one that is away hurts nothing.

The server here is a stand-in that keeps to the REST API; the real one was asked the same by hand.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from easeml.contract.states import TaskState
from easeml.engine.tracking.mlflow_server import SEQ, MlflowServer
from easeml.engine.tracking.reporter import Reporter, reporter_of
from easeml.errors import InvalidInput, Unreachable
from easeml.settings import Settings
from easeml.store import Store, Tenant
from easeml.store.records import Application, Candidate, DatasetVersion, Job, Task
from easeml.store.shapes import CandidatePipeline, ModuleConfig, Operation, OperationName

MEASURED = {"value": 0.8, "lower_is_better": False, "in_unit_of_target": False}


class Mlflow:
    """Experiments and runs, kept as MLflow's server keeps them."""

    def __init__(self) -> None:
        self.experiments: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, dict[str, Any]] = {}
        self.refuse_from: int | None = None  # the number of a request from which on all are refused
        self.asked = 0
        self.authorization = ""

    def answer(self, path: str, told: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked += 1
        if self.refuse_from is not None and self.asked >= self.refuse_from:
            return 503, {"error_code": "TEMPORARILY_UNAVAILABLE", "message": "later"}
        reply: tuple[int, dict[str, Any]] = 404, {"error_code": "ENDPOINT_NOT_FOUND"}
        match path.removeprefix("/api/2.0/mlflow/"):
            case "experiments/get-by-name":
                found = [
                    e for e in self.experiments.values() if e["name"] == told["experiment_name"]
                ]
                missing = {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no such"}
                reply = (200, {"experiment": found[0]}) if found else (404, missing)
            case "experiments/get":
                reply = 200, {"experiment": self.experiments[told["experiment_id"]]}
            case "experiments/create":
                id = str(len(self.experiments))
                self.experiments[id] = {
                    "experiment_id": id,
                    "name": told["name"],
                    "tags": told["tags"],
                }
                reply = 200, {"experiment_id": id}
            case "experiments/set-experiment-tag":
                tags = self.experiments[told["experiment_id"]]["tags"]
                tags[:] = [tag for tag in tags if tag["key"] != told["key"]]
                tags.append({"key": told["key"], "value": told["value"]})
                reply = 200, {}
            case "runs/search":
                wanted = told["filter"].rpartition("= ")[2].strip("'")
                found = [run for run in self.runs.values() if run["task"] == wanted]
                reply = 200, {"runs": [{"info": {"run_id": run["id"]}} for run in found]}
            case "runs/create":
                id = f"run{len(self.runs)}"
                tags = {tag["key"]: tag["value"] for tag in told["tags"]}
                run = {"id": id, "tags": tags, "task": tags["easeml.task_id"], "status": "RUNNING"}
                self.runs[id] = {
                    **run,
                    "experiment": told["experiment_id"],
                    "name": told["run_name"],
                }
                reply = 200, {"run": {"info": {"run_id": id}}}
            case "runs/log-batch":
                run = self.runs[told["run_id"]]
                run["metrics"] = {one["key"]: one["value"] for one in told["metrics"]}
                run["params"] = {one["key"]: one["value"] for one in told["params"]}
                reply = 200, {}
            case "runs/update":
                self.runs[told["run_id"]]["status"] = told["status"]
                reply = 200, {}
        return reply


@pytest.fixture
def mlflow() -> Iterator[tuple[Mlflow, str]]:
    """A server, and its address."""
    kept = Mlflow()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(dict(parse_qsl(urlsplit(self.path).query)))

        def do_POST(self) -> None:
            self.reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def reply(self, told: dict[str, Any]) -> None:
            kept.authorization = self.headers.get("authorization", "")
            status, answer = kept.answer(urlsplit(self.path).path, told)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield kept, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def searched(store: Store) -> Store:
    """A store with a search that has no runs yet."""
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "ann"))
        tables = tx.scoped("t1")
        tables.applications.add(
            Application("app_1", "t1", "wine", "d", "v", "y", "accuracy", state="serving")
        )
        declared = Operation(OperationName.DECLARE)
        tables.versions.add(DatasetVersion("v", "t1", "d", 1, declared, state="ready"))
        tables.jobs.add(Job("job_1", "t1", "app_1", "v", state="running"))
        pipeline = CandidatePipeline([], ModuleConfig("logistic", {"C": 2.0}))
        tables.candidates.add(
            Candidate("cand_1", "t1", "job_1", 0, "logistic", "logistic", pipeline, 1.0)
        )
    return store


def end_run(store: Store, id: str, state: TaskState = TaskState.DONE) -> None:
    """Write a training task that has ended, and its event."""
    is_done = state == TaskState.DONE
    task = Task(id, "t1", "train", "search", {"kind": "train", "objective": "accuracy"})  # pyright: ignore[reportArgumentType]
    with store.write() as tx:
        tx.scoped("t1").tasks.add(task)
        tx.scoped("t1").tasks.update(
            id,
            job_id="job_1",
            candidate_id="cand_1",
            state=state,
            quality=0.8 if is_done else None,
            measure=MEASURED if is_done else {},
            error="" if is_done else "it failed",
            cost=1.5,
        )
        tx.events.append(f"task.{state}", id, {"job_id": "job_1"}, "t1")


def reporter(store: Store, address: str, holder: str = "a") -> Reporter:
    return Reporter(store, MlflowServer(address), holder, 10.0)


def test_runs_that_end_are_told_once_with_what_they_tried_and_reached(
    searched: Store, mlflow: tuple[Mlflow, str]
):
    kept, address = mlflow
    end_run(searched, "task_before")  # of what was before, nothing is told
    telling = reporter(searched, address)
    end_run(searched, "task_1")  # what ends before the server first answers is
    end_run(searched, "task_2", TaskState.FAILED)
    assert telling.report() == 2
    assert telling.report() == 0
    first, second = kept.runs.values()
    assert kept.experiments[first["experiment"]]["name"] == "easeml/ann/wine (app_1)"
    assert (first["name"], first["status"], second["status"]) == ("logistic", "FINISHED", "FAILED")
    assert first["params"] == {"model": "logistic", "C": "2.0"}
    assert first["metrics"]["quality"] == first["metrics"]["validation_accuracy"] == 0.8
    assert second["tags"]["easeml.error"] == "it failed"


def test_another_process_goes_on_where_the_first_one_ended(
    searched: Store, mlflow: tuple[Mlflow, str]
):
    kept, address = mlflow
    reporter(searched, address).report()
    end_run(searched, "task_1")
    assert reporter(searched, address).report() == 1
    assert reporter(searched, address).report() == 0
    assert len(kept.runs) == 1


def test_a_server_that_goes_away_half_way_is_told_the_rest_later_and_nothing_twice(
    searched: Store, mlflow: tuple[Mlflow, str]
):
    kept, address = mlflow
    telling = reporter(searched, address)
    telling.report()
    for number in range(3):
        end_run(searched, f"task_{number}")
    failures = 0
    for number in range(20):
        kept.refuse_from = kept.asked + 1 + number
        try:
            telling.report()
        except Unreachable as error:
            failures += 1
            assert "503" in str(error)
    kept.refuse_from = None
    telling.report()
    assert failures > 3
    assert [run["task"] for run in kept.runs.values()] == ["task_0", "task_1", "task_2"]
    assert all(run["status"] == "FINISHED" for run in kept.runs.values())
    book = next(one for one in kept.experiments.values() if one["name"] == "easeml")
    with searched.read() as tx:
        assert book["tags"] == [{"key": SEQ, "value": str(tx.events.last())}]


def test_of_two_schedulers_one_tells(searched: Store, mlflow: tuple[Mlflow, str]):
    kept, address = mlflow
    leading, standing_by = reporter(searched, address, "a"), reporter(searched, address, "b")
    leading.report()
    end_run(searched, "task_1")
    assert standing_by.report() == 0
    assert leading.report() == 1
    assert len(kept.runs) == 1


def test_a_server_that_is_not_there_is_no_more_than_a_line_in_the_log(searched: Store):
    with pytest.raises(Unreachable, match="does not answer"):
        reporter(searched, "http://127.0.0.1:9").report()


def test_the_address_may_have_a_name_and_a_password(mlflow: tuple[Mlflow, str]):
    kept, address = mlflow
    server = MlflowServer(address.replace("http://", "http://ann:s%3Acret@"))
    server.experiment("e", {})
    assert kept.authorization == "Basic YW5uOnM6Y3JldA=="


def test_without_an_address_nothing_is_told(store: Store):
    assert reporter_of(store, Settings(), "a") is None
    with pytest.raises(InvalidInput, match="tracking server"):
        reporter_of(store, Settings(mlflow_tracking_uri="file:///runs"), "a")
