"""The local executor against bodies that misbehave: how each ends, what is kept, and that nothing
is left.
"""

import os
from pathlib import Path

import pytest
from watching_processes import alive, eventually

from easeml.contract.tasks import Limits
from easeml.engine.executors import LocalExecutor

LIMITS = Limits(seconds=30, memory=256 * 2**20, threads=1)


def work_folder(path: Path, behaviour: str) -> Path:
    path.mkdir(exist_ok=True)
    (path / "do").write_text(behaviour)
    return path


def test_a_result_comes_back_with_its_cost(executor: LocalExecutor, tmp_path: Path) -> None:
    outcome = executor.start(work_folder(tmp_path, "finish"), LIMITS).wait()
    assert outcome.ending == "finished"
    assert outcome.result.ok
    assert outcome.result.outputs == ["table"]
    assert outcome.result.cost == outcome.seconds > 0


def test_a_task_with_a_time_limit_of_its_own_is_run_by_the_child_that_waits(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    usual = Limits(seconds=60, memory=2**30, threads=1)
    executor.start(work_folder(tmp_path / "first", "finish"), usual).wait()
    waiting = children_of_children()
    limits = usual.model_copy(update={"seconds": 17.0})
    executor.start(work_folder(tmp_path / "second", "finish"), limits).wait()
    assert int((tmp_path / "second" / "pid").read_text()) in waiting


def children_of_children() -> set[int]:
    """Return the processes that fork servers of this process have forked."""
    found: set[int] = set()
    for server in children(os.getpid()):
        found |= children(server)
    return found


def children(pid: int) -> set[int]:
    """Return the children of a process."""
    found: set[int] = set()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        found |= {int(child) for child in (thread / "children").read_text().split()}
    return found


def test_a_hanging_body_is_ended_when_its_time_is_up(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    limits = LIMITS.model_copy(update={"seconds": 0.5})
    outcome = executor.start(work_folder(tmp_path, "hang"), limits).wait()
    assert outcome.ending == "timed-out"
    assert not outcome.result.ok
    assert not outcome.result.retry
    assert "0.5 s" in outcome.result.error
    assert not alive(int((tmp_path / "pid").read_text()))


def test_what_was_kept_first_is_the_result_when_the_time_is_up(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    limits = LIMITS.model_copy(update={"seconds": 1.0})
    outcome = executor.start(work_folder(tmp_path, "finish-first-and-hang"), limits).wait()
    assert outcome.ending == "timed-out"
    assert outcome.result.ok
    assert outcome.result.outputs == ["table"]
    assert outcome.result.cost >= 1.0
    assert "stopped at its limit of 1 s" in outcome.result.notes[-1]


@pytest.mark.parametrize("behaviour", ["hang", "finish-first-and-hang"])
def test_a_body_that_does_not_end_when_asked_is_suspended_after_its_grace(
    executor: LocalExecutor, tmp_path: Path, behaviour: str
) -> None:
    execution = executor.start(work_folder(tmp_path, behaviour), LIMITS)
    eventually((tmp_path / "pid").exists)
    execution.ask_to_end(grace=0.1)
    execution.ask_to_end(grace=0.1)
    outcome = execution.wait()
    assert outcome.ending == "suspended"
    assert not outcome.result.ok
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_body_that_ends_when_asked_has_its_result(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    execution = executor.start(work_folder(tmp_path, "end-when-asked"), LIMITS)
    execution.ask_to_end(grace=20.0)
    outcome = execution.wait()
    assert outcome.ending == "finished"
    assert outcome.result.ok


def test_a_lingering_child_is_killed_with_the_end(executor: LocalExecutor, tmp_path: Path) -> None:
    outcome = executor.start(work_folder(tmp_path, "linger"), LIMITS).wait()
    assert outcome.ending == "finished"
    child = int((tmp_path / "lingering").read_text())
    eventually(lambda: not alive(child))


def test_memory_is_limited_and_others_are_not_affected(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    greedy = executor.start(work_folder(tmp_path / "greedy", "eat-memory"), LIMITS)
    beside = executor.start(work_folder(tmp_path / "beside", "finish"), LIMITS)
    assert beside.wait().ending == "finished"
    outcome = greedy.wait()
    assert outcome.ending == "out-of-memory"
    assert not outcome.result.retry
    assert "256 MiB" in outcome.result.error
    assert "MemoryError" in outcome.result.error


def test_a_crash_keeps_the_signal_and_the_tail_of_the_log(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    outcome = executor.start(work_folder(tmp_path, "fault"), LIMITS).wait()
    assert outcome.ending == "crashed"
    assert outcome.result.retry
    assert "SIGSEGV" in outcome.result.error
    assert "the body runs" in outcome.result.error


def test_an_end_without_a_result_is_a_crash(executor: LocalExecutor, tmp_path: Path) -> None:
    outcome = executor.start(work_folder(tmp_path, "leave"), LIMITS).wait()
    assert outcome.ending == "crashed"
    assert "exit code 3" in outcome.result.error


def test_kill_ends_a_running_body(executor: LocalExecutor, tmp_path: Path) -> None:
    execution = executor.start(work_folder(tmp_path, "hang"), LIMITS)
    eventually((tmp_path / "pid").exists)
    execution.kill()
    outcome = execution.wait()
    execution.kill()
    assert outcome.ending == "killed"
    assert outcome.result.retry


@pytest.mark.parametrize("behaviour", ["fault", "eat-memory", "leave"])
def test_the_zygote_survives_what_its_children_do(
    executor: LocalExecutor, tmp_path: Path, behaviour: str
) -> None:
    executor.start(work_folder(tmp_path / "bad", behaviour), LIMITS).wait()
    assert (
        executor.start(work_folder(tmp_path / "good", "finish"), LIMITS).wait().ending == "finished"
    )
