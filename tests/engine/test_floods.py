"""Bodies and serving children that take without end: each ends at a limit, at each level of isolation."""

import asyncio
import os
import platform
import sys
from pathlib import Path
from types import SimpleNamespace

import floods_for_tests
import pytest
from warm_bodies import WARM
from watching_processes import alive

from easeml.confinement import Isolation
from easeml.contract.tasks import Limits
from easeml.engine import flood
from easeml.engine.executors import LocalExecutor, local
from easeml.engine.flood import FloodWatch
from easeml.engine.serving import said, tenant
from easeml.folders import holds_more, remove_folder
from isolation_levels import LEVELS, needs_level

LIMITS = Limits(seconds=30, memory=2**28, threads=1, disk=32 * 2**20)
ENDINGS = {
    "fill-one-file": {"flooded"},
    "fill-many-files": {"flooded"},
    "fill-its-temporary-folder": {"flooded"},
    "fill-with-names": {"flooded"},
    "nest-folders": {"flooded"},
    "hide-a-folder": {"flooded"},
    "print-without-end": {"flooded"},
    "start-processes": {"flooded", "crashed"},
    "start-processes-that-start-processes": {"flooded", "crashed"},
    "take-all-memory": {"out-of-memory"},
    "bring-a-long-result": {"crashed"},
    "bring-a-pipe-as-result": {"crashed"},
}

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="the limits are those of Linux on x86-64",
)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a flood be small."""
    monkeypatch.setattr(flood, "MOST_FILES", 2000)
    monkeypatch.setattr(local, "LARGEST_RESULT", 2**20)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", sorted(floods_for_tests.FLOODS))
def test_a_body_that_takes_without_end_is_ended(
    tmp_path: Path, name: str, level: Isolation
) -> None:
    needs_level(level)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "do").write_text(name)
    executor = LocalExecutor(LIMITS, floods_for_tests.run, preload=WARM, isolation=level)
    try:
        outcome = executor.start(folder, LIMITS).wait()
    finally:
        executor.close()
    assert outcome.ending in ENDINGS[name], outcome
    assert not outcome.result.ok
    assert outcome.seconds < LIMITS.seconds  # a flood ended it, not time
    assert not holds_more(folder, 2**30, 50_000) or name in ("nest-folders", "hide-a-folder")
    remove_folder(folder)
    assert not folder.exists()


def test_processes_that_a_body_started_end_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "do").write_text("start-processes")
    executor = LocalExecutor(LIMITS, floods_for_tests.run, preload=WARM, isolation="none")
    try:
        execution = executor.start(folder, LIMITS)
        pid = execution._process.pid
        outcome = execution.wait()
    finally:
        executor.close()
    assert outcome.ending == "flooded"
    assert "more than 256 processes" in outcome.result.error
    assert pid is not None
    assert not alive(pid)


def test_looks_take_a_small_share_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick_look, slow_look = (0.0, 0.001), (1.0, 1.05)
    clock = iter(quick_look + slow_look)
    monkeypatch.setattr(flood, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    watch = FloodWatch(os.getpid(), tmp_path, 2**20)
    assert watch.fault() == ""
    assert watch.pause == flood.LOOK_EVERY
    assert watch.fault() == ""
    assert watch.pause == pytest.approx(20 * 0.05)


@pytest.mark.parametrize("level", LEVELS)
def test_a_serving_child_that_leaves_files_without_end_is_ended(
    tmp_path: Path, level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_level(level)
    monkeypatch.setattr(tenant, "MOST_WRITTEN", 2**20)
    (tmp_path / "models").mkdir()
    tenant.warm_up()

    async def fill() -> bool:
        child = tenant.TenantChild(2**30, tmp_path / "models", level)
        await child.start()
        (own,) = tmp_path.glob("child-*")
        (own / "big").write_bytes(b"x" * 2**21)
        for _ in range(100):
            if not child.alive:
                break
            await asyncio.sleep(0.1)
        ended = not child.alive
        await child.stop()
        return ended

    assert asyncio.run(fill())
    assert not list(tmp_path.glob("child-*"))


def test_what_serving_children_print_is_bounded() -> None:
    written: list[bytes] = []

    async def flood_it() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(b"x" * (10 * said.MOST_A_SECOND))
        reader.feed_eof()
        await said.pass_on(reader, written.append)

    asyncio.run(flood_it())
    text = b"".join(written)
    assert len(text) < 2 * said.MOST_A_SECOND + 200
    assert b"bytes more that a serving child printed are left out" in text
