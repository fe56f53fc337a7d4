"""The executors of clusters, each on a cluster of its own: endings, cancelling, lost nodes, and a
whole easeml on it.

Slurm's is started where its programs are installed, Ray's where ``make test-ray`` installed it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attacks_for_tests
import bodies_for_tests
import pytest
from sklearn.datasets import load_wine
from test_worker import attempts, caller, count_workers, submit, task, wait_for
from warm_bodies import WARM
from watching_processes import alive, eventually

import slurm_cluster
from easeml.client import Client
from easeml.contract.tasks import Limits, TaskSpec
from easeml.engine import task_main
from easeml.engine.executors import executor_named, slurm
from easeml.service.access.caller import Caller
from easeml.store import Store
from ray_cluster import RayCluster
from slurm_cluster import SlurmCluster
from warm_service import WarmService

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("clusters")]
LIMITS = Limits(seconds=60, memory=256 * 2**20, threads=1)

__all__ = ["caller"]


def _cluster(name: str, folder: Path) -> SlurmCluster | RayCluster:
    if name == "slurm":
        if lacks := slurm_cluster.lacks():
            pytest.skip(lacks)
        return SlurmCluster(folder)
    if find_spec("ray") is None:  # which reads its environment when it is imported
        pytest.skip("make test-ray runs it")
    return RayCluster(folder)


@pytest.fixture(scope="module", params=["slurm", "ray"])
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SlurmCluster | RayCluster]:
    """A cluster with one node."""
    made = _cluster(request.param, tmp_path_factory.mktemp("c"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in made.environment.items():
            patch.setenv(name, value)
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)  # of the bodies
        patch.setattr(slurm, "IDLE_SECONDS", 1.0)
        try:
            made.start()
            yield made
        finally:
            made.stop()


@pytest.fixture(scope="module")
def executor(cluster: SlurmCluster | RayCluster) -> Iterator[Any]:
    opened: Any = executor_named(cluster.name)
    made = opened(LIMITS, run=bodies_for_tests.run, preload=WARM, isolation="none")
    yield made
    made.close()


def work_folder(path: Path, behaviour: str) -> Path:
    path.mkdir(exist_ok=True)
    (path / "do").write_text(behaviour)
    return path


def body_of(cluster: SlurmCluster | RayCluster) -> int:
    """Return the process of a body that runs; its folder is one of the node's."""
    found: list[Path] = []
    eventually(lambda: found.extend(cluster.work.glob("*/attempt-*/pid")) or found)
    eventually(found[0].read_text)
    return int(found[0].read_text())


@pytest.mark.parametrize(
    ("behaviour", "ending", "said"),
    [
        ("finish", "finished", ""),
        ("linger", "finished", ""),
        ("eat-memory", "out-of-memory", "256 MiB"),
        ("fault", "crashed", "SIGSEGV"),
        ("leave", "crashed", "exit code 3"),
    ],
)
def test_a_body_ends_as_on_this_machine(
    executor: Any, tmp_path: Path, behaviour: str, ending: str, said: str
) -> None:
    outcome = executor.start(work_folder(tmp_path, behaviour), LIMITS).wait()
    assert outcome.ending == ending
    assert said in outcome.result.error
    assert outcome.result.cost == outcome.seconds > 0
    assert (tmp_path / "outputs" / "table" / "rows").exists() == outcome.result.ok
    if behaviour != "eat-memory":
        assert (tmp_path / task_main.LOG).read_text() == "the body runs\n"


def test_a_hanging_body_is_ended_when_its_time_is_up(
    executor: Any, cluster: SlurmCluster | RayCluster, tmp_path: Path
) -> None:
    limits = LIMITS.model_copy(update={"seconds": 2.0})
    execution = executor.start(work_folder(tmp_path, "hang"), limits)
    pid = body_of(cluster)
    outcome = execution.wait()
    assert outcome.ending == "timed-out"
    assert not outcome.result.retry
    assert not alive(pid)
    eventually(lambda: not list(cluster.work.glob("*/attempt-*")))


def test_what_is_printed_is_read_while_the_body_runs_and_kill_ends_it(
    executor: Any, cluster: SlurmCluster | RayCluster, tmp_path: Path
) -> None:
    execution = executor.start(work_folder(tmp_path, "hang"), LIMITS)
    log = tmp_path / task_main.LOG
    eventually(lambda: log.exists() and log.read_text() == "the body runs\n")
    pid = body_of(cluster)
    execution.kill()
    execution.kill()
    outcome = execution.wait()
    assert outcome.ending == "killed"
    assert outcome.result.retry
    assert not alive(pid)


@pytest.mark.parametrize(
    ("behaviour", "grace", "ending"),
    [("end-when-asked", 30.0, "finished"), ("hang", 0.1, "suspended")],
)
def test_a_body_that_is_asked_to_end(
    executor: Any,
    cluster: SlurmCluster | RayCluster,
    tmp_path: Path,
    behaviour: str,
    grace: float,
    ending: str,
) -> None:
    execution = executor.start(work_folder(tmp_path, behaviour), LIMITS)
    pid = body_of(cluster)
    execution.ask_to_end(grace)
    assert execution.wait().ending == ending
    assert not alive(pid)


def test_inputs_travel_and_more_than_fit_wait_their_turn(executor: Any, tmp_path: Path) -> None:
    spec = TaskSpec(module="m", body={}, inputs={"source": "sha256-of-it"})
    executions = []
    for number in range(4):
        folder = tmp_path / str(number)
        task_main.prepare(folder, spec)
        (folder / task_main.INPUTS / "source").write_text("finish")
        executions.append(executor.start(folder, LIMITS))
    assert [execution.wait().ending for execution in executions] == ["finished"] * 4


def test_links_that_lead_out_are_not_laid_out(executor: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of this machine")
    folder = work_folder(tmp_path / "work", "link-in-outputs")
    outcome = executor.start(folder, LIMITS).wait()
    assert outcome.ending == "crashed"
    assert not outcome.result.retry
    assert "is a link to" in outcome.result.error
    assert not (folder / "outputs" / "table").exists()


@pytest.mark.usefixtures("executor")  # one stays when the other is closed
def test_a_confined_body_reaches_neither_files_nor_the_cluster(
    request: pytest.FixtureRequest, cluster: SlurmCluster | RayCluster, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of another tenant")
    opened: Any = executor_named(cluster.name)
    confined = opened(LIMITS, run=attacks_for_tests.run, preload=WARM, isolation="process")
    request.addfinalizer(confined.close)
    for attack in ("read-file", "connect"):
        folder = work_folder(tmp_path / attack, attack)
        (folder / "target").write_text(str(secret))
        (folder / "pid").write_text(str(cluster.port))
        outcome = confined.start(folder, LIMITS).wait()
        assert outcome.ending == "finished", outcome.result.error
        assert "stopped" in outcome.result.value, outcome.result.value


def test_a_node_with_another_easeml_is_refused(executor: Any, tmp_path: Path) -> None:
    usual = executor._told
    limits = LIMITS.model_copy(update={"memory": LIMITS.memory + 2**20})  # of no earlier attempt
    executor._told = usual.model_copy(update={"version": "0.0.1"})
    try:
        outcome = executor.start(work_folder(tmp_path, "finish"), limits).wait()
    finally:
        executor._told = usual
    assert (outcome.ending, outcome.result.retry) == ("crashed", False)
    assert "Install the same on all nodes" in outcome.result.error


def test_a_lost_node_costs_an_attempt_and_a_cancelled_task_is_killed(
    cluster: SlurmCluster | RayCluster, store: Store, caller: Caller, tmp_path: Path
) -> None:
    script = Path(__file__).with_name("worker_for_tests.py")
    worker = subprocess.Popen([sys.executable, str(script), str(tmp_path), cluster.name])
    marker = cluster.work / "hung"
    try:
        eventually(lambda: count_workers(store))
        lost = submit(store, caller, "once")
        eventually(lambda: marker.exists() and marker.read_text())
        cluster.replace_node()
        assert wait_for(store, lost, "done", "failed").state == "done"
        assert attempts(store, lost) == ["lost", "done"]

        cancelled = submit(store, caller, "hang")
        body = body_of(cluster)
        with store.write() as tx:
            tx.queue.cancel(cancelled)
        eventually(lambda: not alive(body))
        assert task(store, cancelled).state == "cancelled"
    finally:
        worker.terminate()
        assert worker.wait(60) == 0


def test_an_easeml_on_a_cluster_trains_and_serves(
    cluster: SlurmCluster | RayCluster, tmp_path: Path
) -> None:
    wine: Any = load_wine(as_frame=True)
    frame = wine.frame
    frame.to_csv(tmp_path / "wine.csv", index=False)
    easeml = WarmService(
        tmp_path / "home", 1, executor=cluster.name, isolation="process", task_memory=str(2**30)
    )
    easeml.start()
    try:
        arguments = ["app", "create", str(tmp_path / "wine.csv"), "--target", "target"]
        easeml.command(*arguments, "--max-tasks", "1", "--yes")
        with Client(easeml.url, easeml.key) as client:
            application = next(iter(client.applications()))
            client.wait(application.id, until="converged", timeout=120)
            rows = frame.drop(columns="target").iloc[:3].to_dict("records")
            assert len(client.predict(application.id, rows).predictions) == 3
            trained = [one for one in client.tasks() if one.kind == "train"]
        assert {one.state for one in trained} == {"done"}
    finally:
        assert easeml.stop() == 0


@pytest.mark.parametrize("cluster", ["slurm"], indirect=True)
def test_what_slurm_allocated_runs_one_attempt_after_the_other_and_is_given_back(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    opened: Any = executor_named("slurm")
    executor = opened(LIMITS, run=bodies_for_tests.run, preload=WARM)
    try:
        jobs = []
        for number in range(2):
            folder = work_folder(tmp_path / str(number), "finish")
            assert executor.start(folder, LIMITS).wait().ending == "finished"
            jobs.append(cluster.queue())
    finally:
        executor.close()
    assert len(jobs[0]) == 1
    assert jobs[0] == jobs[1]
    eventually(lambda: not cluster.queue())


@pytest.mark.parametrize("cluster", ["slurm"], indirect=True)
def test_nodes_of_slurm_get_no_settings_of_easeml(
    cluster: SlurmCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EASEML_DATABASE_URL", "postgresql://easeml:secret@somewhere/easeml")
    opened: Any = executor_named("slurm")
    executor = opened(LIMITS, run=attacks_for_tests.run, preload=WARM)
    folder = work_folder(tmp_path, "read-file")
    (folder / "target").write_text("/proc/self/environ")
    try:
        found = executor.start(folder, LIMITS).wait().result.value["got"]
    finally:
        executor.close()
    assert "SLURM_JOB_ID=" in found
    assert "secret" not in found


@pytest.mark.parametrize("cluster", ["slurm"], indirect=True)
def test_what_slurm_never_allocates_is_told_in_its_words(
    cluster: SlurmCluster, executor: Any, tmp_path: Path
) -> None:
    limits = LIMITS.model_copy(update={"memory": 2**44})
    outcome = executor.start(work_folder(tmp_path, "finish"), limits).wait()
    assert outcome.ending == "lost"
    assert "Memory specification can not be satisfied" in outcome.result.error


@pytest.mark.parametrize("cluster", ["ray"], indirect=True)
def test_memory_that_ends_on_a_node_is_told_and_worth_another_attempt(
    cluster: RayCluster, executor: Any, tmp_path: Path
) -> None:
    cluster.replace_node(RAY_memory_usage_threshold="0.01", RAY_memory_monitor_refresh_ms="100")
    try:
        outcome = executor.start(work_folder(tmp_path, "hang"), LIMITS).wait()
    finally:
        cluster.replace_node()
    assert outcome.ending == "out-of-memory"
    assert outcome.result.retry
    assert "node" in outcome.result.error
