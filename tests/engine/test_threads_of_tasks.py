"""What a task may have of the processor: as many threads as what it reads keeps busy, and less than
others where nobody waits for it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from warm_bodies import WARM

from easeml.contract.tasks import Limits, TaskSpec
from easeml.engine import task_main
from easeml.engine.executors import LocalExecutor

MEBIBYTE = 2**20
LIMITS = Limits(seconds=60, memory=2**30, threads=3)


@pytest.fixture(scope="module")
def granting_three() -> Iterator[LocalExecutor]:
    made = LocalExecutor(LIMITS, task_main.run, preload=WARM)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("sizes", "threads"), [([], 1), ([1, 2], 1), ([4, 5], 2), ([16], 3), ([90, 90], 3)]
)
def test_a_task_uses_one_more_thread_for_each_8_mebibytes_of_its_inputs(
    granting_three: LocalExecutor, tmp_path: Path, sizes: list[int], threads: int
) -> None:
    work = tmp_path / "work"
    spec = TaskSpec(module="kind_that_counts_threads", body={"kind": "count-threads"})
    task_main.prepare(work, spec)
    kept = tmp_path / "kept"
    kept.mkdir()
    for number, size in enumerate(sizes):
        with (kept / str(number)).open("wb") as file:
            file.truncate(size * MEBIBYTE)
    (work / "inputs" / "version").symlink_to(kept)

    outcome = granting_three.start(work, LIMITS).wait()

    assert outcome.result.ok, outcome.result.error
    assert outcome.result.value["told"] == str(threads)
    if threads == 1:  # more are capped by the cores that there are, as each library counts them
        assert outcome.result.value["used"] == 1


@pytest.mark.parametrize("in_background", [True, False])
def test_others_go_before_a_task_in_the_background(
    granting_three: LocalExecutor, tmp_path: Path, in_background: bool
) -> None:
    work = tmp_path / "work"
    spec = TaskSpec(
        module="kind_that_counts_threads",
        body={"kind": "count-threads"},
        in_background=in_background,
    )
    task_main.prepare(work, spec)
    outcome = granting_three.start(work, LIMITS).wait()
    assert outcome.result.ok, outcome.result.error
    gave_way = outcome.result.value["nice"] > os.nice(0)
    assert gave_way == in_background
