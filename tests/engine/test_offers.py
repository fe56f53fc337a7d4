"""What a worker offers of its machine, and what a task is measured to take of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from warm_bodies import WARM

from easeml.contract.tasks import Limits, TaskResult, TaskSpec
from easeml.engine import task_main
from easeml.engine.executors import LocalExecutor
from easeml.engine.limits import task_limits
from easeml.engine.offers import offer_of
from easeml.engine.sensors import memory_of_machine
from easeml.settings import Settings
from easeml.store.machine_room import Offer

MIB = 2**20
GIB = 2**30
LIMITS = Limits(seconds=60, memory=GIB, threads=1)


@pytest.fixture(scope="module")
def measuring() -> Iterator[LocalExecutor]:
    made = LocalExecutor(LIMITS, task_main.run, preload=WARM)
    yield made
    made.close()


def measured(executor: LocalExecutor, work: Path, memory: int, disk: int = 0) -> TaskResult:
    told = {"kind": "take-memory", "memory": memory, "disk": disk}
    task_main.prepare(work, TaskSpec(module="kind_that_takes_memory", body=told))
    return executor.start(work, LIMITS).wait().result


@pytest.mark.parametrize("memory", [0, 100 * MIB, 400 * MIB])
def test_a_task_is_measured_by_what_it_takes_beyond_what_it_began_with(
    measuring: LocalExecutor, tmp_path: Path, memory: int
) -> None:
    result = measured(measuring, tmp_path / "work", memory, 3 * MIB)
    assert result.ok, result.error
    assert memory <= result.memory < memory + 64 * MIB
    assert 3 * MIB <= result.disk < 4 * MIB
    assert not result.memory_exceeded


def test_a_task_that_runs_out_of_memory_says_so(measuring: LocalExecutor, tmp_path: Path) -> None:
    result = measured(measuring, tmp_path / "work", 2 * GIB)
    assert not result.ok
    assert result.memory_exceeded


def offered(home: Path, **chosen: object) -> Offer:
    settings = Settings.model_validate({"home": home, "workers": 1, **chosen})
    return offer_of(settings, task_limits(settings))


def test_a_machine_offers_what_it_has(tmp_path: Path) -> None:
    found = offered(tmp_path, task_memory=GIB, task_disk=5 * GIB, task_threads=3)
    assert found.memory == memory_of_machine()
    assert found.disk is not None
    assert found.disk > 0
    assert (found.memory_each, found.disk_each, found.threads) == (GIB, 5 * GIB, 3)
    assert found.machine == offered(tmp_path, workers=2).machine
    assert found.machine != offered(tmp_path / "..").machine


def test_a_machine_offers_no_more_than_it_is_told_to(tmp_path: Path) -> None:
    found = offered(tmp_path, offer_memory=300 * MIB, offer_disk=200 * MIB)
    assert (found.memory, found.memory_each) == (300 * MIB, 300 * MIB)
    assert (found.disk, found.disk_each) == (200 * MIB, 200 * MIB)
    small = offered(tmp_path, task_memory=100 * MIB, offer_memory=300 * MIB)
    assert (small.memory, small.memory_each) == (300 * MIB, 100 * MIB)


def test_clusters_place_tasks_themselves(tmp_path: Path) -> None:
    found = offered(tmp_path, executor="ray", task_memory=GIB)
    assert (found.memory, found.disk, found.memory_each) == (None, None, GIB)


@pytest.mark.parametrize(
    ("limit", "expected"), [("max", 16_000_000 * 1024), ("1000000", 1_000_000), ("", None)]
)
def test_a_container_has_the_memory_that_it_was_given(
    tmp_path: Path, limit: str, expected: int | None
) -> None:
    group = tmp_path / "sys" / "fs" / "cgroup"
    group.mkdir(parents=True)
    (tmp_path / "proc").mkdir()
    if limit:
        (tmp_path / "proc" / "meminfo").write_text("MemTotal:       16000000 kB\n")
        (group / "memory.max").write_text(f"{limit}\n")
    assert memory_of_machine(tmp_path / "proc", tmp_path / "sys") == expected
