"""Every benchmark works: its short form, on little, run to its end.

Those that start a service share one here: its start costs more than most of them measure, and the
numbers of a short form mean nothing.
"""

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import service_process
from service_process import EasemlProcess
from warm_service import WarmService

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SHARED = BENCHMARKS.parents[1] / "shared" / "data"
SCRIPTS = {
    path.stem: path.read_text("utf-8")
    for path in sorted(BENCHMARKS.glob("*.py"))
    if "    main()\n" in path.read_text("utf-8") and "read_options(" in path.read_text("utf-8")
}
PEERS_ONLY = {"search_decision_peers"}
"""Benchmarks that measure nothing without libraries that they install from the network."""
RUN_ELSEWHERE = {
    "adviser",  # tests/lineage/test_suggestions.py, tests/lifecycle/journey
    "backup_cycles",  # tests/faults, tests/store/test_backup.py
    "cluster_at_rest",  # tests/engine/test_rested_searches.py
    "cluster_faults",  # tests/faults, tests/service/test_joined_machine.py and test_on_postgres.py
    "container_overhead",  # tests/modules/test_containers.py, tests/service/test_adding_containers.py
    "database_stress",  # tests/store/test_sqlite.py is its short form
    "debugging",  # tests/lifecycle/debugging
    "documents",  # tests/data/test_documents.py; it makes PDFs with libraries of others
    "executors",  # tests/engine
    "exports",  # tests/export
    "fuzzed_requests",  # tests/api: it ends and changes what a service shared with others has
    "headline_live",  # live_search asks the same
    "hundred_devices",  # tests/store/test_work_hints.py, tests/service/test_on_postgres.py
    "kill_processes",  # tests/faults
    "resting_endpoints",  # tests/engine/test_resting_endpoints.py
    "return_live",  # tests/api/test_returns.py
    "mutants",  # tests/lifecycle/ci, which it runs once for each fault
    "large_predictions",  # tests/service/test_predicted_files.py
    "logged_predictions",  # tests/service/test_rollouts.py, tests/api/test_log_writer.py
    "pages_in_browser",  # tests/web
    "prediction_latency",  # tests/service/test_swap.py
    "serving_costs",  # tests/service/test_swap.py
    "serving_replicas",  # tests/service/test_joined_machine.py, tests/engine/test_replicas.py
    "taken_home",  # tests/export, tests/api/test_protocols.py: the clients of others are installed
    "tables_beside_flaml",  # live_search searches the same
}
"""Those whose way through the service is the subject of other tests: here they only start."""
PARTS = {"picking_report", "column_types_tools", "taken_home_client"}
"""Parts of other benchmarks."""


def own_marks(name: str) -> list[pytest.MarkDecorator]:
    """Return the marks of tests that start a service, as the script does."""
    text = SCRIPTS[name]
    marks = []
    if "EasemlProcess(" in text:
        marks = [pytest.mark.faults, pytest.mark.xdist_group("short forms")]
    if "sync_playwright" in text:
        marks.append(pytest.mark.browser)
    return marks


NOT_HERE = PEERS_ONLY | RUN_ELSEWHERE
CASES = [pytest.param(name, marks=own_marks(name)) for name in SCRIPTS if name not in NOT_HERE]


class Lent:
    """A running easeml in the place of one that a benchmark would start and stop."""

    def __init__(self, running: EasemlProcess):
        self._running = running
        self._key = running.key

    def __call__(self, home: Path, workers: int = 2, **settings: str) -> "Lent":
        assert not settings, "what needs other settings starts an easeml of its own"
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._running, name)

    @property
    def key(self) -> str:
        return self._running.key

    @key.setter
    def key(self, key: str) -> None:
        self._running.key = key

    def start(self) -> None:
        self._running.wait_until_answering()

    def stop(self) -> None:
        """End all searches: those of the provider, and those of who is signed in."""
        self._running.stop_searches()
        self._running.key = self._key
        self._running.stop_searches()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EasemlProcess]:
    """One easeml for all short forms."""
    service = WarmService(tmp_path_factory.mktemp("benchmarks") / "home", workers=1)
    service.start()
    yield service
    service.stop()


@pytest.fixture
def lent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lend the running easeml to a benchmark that would start one."""
    if "EasemlProcess(" in SCRIPTS[request.getfixturevalue("name")]:
        shared = Lent(request.getfixturevalue("running"))
        monkeypatch.setattr(service_process, "EasemlProcess", shared)


@pytest.mark.timeout(600)  # some wait for what gives way to all others
@pytest.mark.usefixtures("lent")
@pytest.mark.parametrize("name", CASES)
def test_the_short_form_of_a_benchmark_runs_to_its_end(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    if "data=True" in SCRIPTS[name] and not SHARED.is_dir():
        pytest.skip("the public data sets are not beside this folder")
    script = str(BENCHMARKS / f"{name}.py")
    monkeypatch.setattr(sys, "argv", [script, "--short", "--out", str(tmp_path)])
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    runpy.run_path(script, run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) >= 2


@pytest.mark.parametrize("name", sorted(RUN_ELSEWHERE))
def test_a_benchmark_that_others_cover_starts(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    script = str(BENCHMARKS / f"{name}.py")
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    with pytest.raises(SystemExit, match="0"):
        runpy.run_path(script, run_name="__main__")
    assert "--short" in capsys.readouterr().out


def test_every_script_with_a_main_has_a_short_form():
    mains = {path.stem for path in BENCHMARKS.glob("*.py") if "def main(" in path.read_text()}
    assert mains - PARTS <= set(SCRIPTS)
