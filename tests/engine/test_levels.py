"""Levels of isolation: what reaches them, what refuses them, and what serving children see."""

import asyncio
import os
from pathlib import Path

import bodies_for_tests
import pytest
from warm_bodies import WARM

from easeml import namespaces
from easeml.confinement import Isolation, check_available
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine.executors import LocalExecutor
from easeml.engine.serving.tenant import TenantChild, warm_up
from easeml.errors import Conflict, EasemlError
from isolation_levels import LEVELS, needs_level

CONFINED = LEVELS[1:]
LIMITS = Limits(seconds=30, memory=2**28, threads=1)
ENDINGS = {
    "finish": "finished",
    "hang": "timed-out",
    "eat-memory": "out-of-memory",
    "fault": "crashed",
    "leave": "crashed",
}


def test_who_is_not_root_gives_nobody_a_user_id(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    needs_level("process")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Conflict, match="only root") as refused:
        check_available(tmp_path, "user")
    assert "--isolation process" in refused.value.remedy


@pytest.mark.parametrize("refused", ["enter_namespaces", "see_only", "become_user"])
def test_a_sandbox_that_the_system_refuses_is_not_replaced_by_less(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, refused: str
) -> None:
    needs_level("process")

    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(1, "unshare: Operation not permitted")

    monkeypatch.setattr(namespaces, refused, refuse)
    with pytest.raises(Conflict, match="unshare: Operation not permitted") as failure:
        check_available(tmp_path, "sandbox")
    assert "namespaces" in failure.value.remedy


@pytest.mark.parametrize("level", LEVELS)
def test_forests_and_boosted_trees_grow_on_two_threads_at_each_level(
    tmp_path: Path, level: Isolation
) -> None:
    needs_level(level)
    limits = Limits(seconds=60, memory=2**31, threads=2)
    executor = LocalExecutor(
        limits, bodies_for_tests.run, preload=(*WARM, "sklearn.ensemble"), isolation=level
    )
    outcomes = []
    try:
        for behaviour in ("fit-forest", "fit-boosted-trees"):
            folder = tmp_path / behaviour
            (folder / "outputs").mkdir(parents=True)
            (folder / "do").write_text(behaviour)
            outcomes.append(executor.start(folder, limits).wait())
    finally:
        executor.close()
    for outcome in outcomes:
        assert outcome.ending == "finished", outcome.result.error


@pytest.mark.parametrize("level", LEVELS)
def test_a_task_ends_alike_at_each_level(tmp_path: Path, level: Isolation) -> None:
    needs_level(level)
    executor = LocalExecutor(LIMITS, bodies_for_tests.run, preload=WARM, isolation=level)
    endings = {}
    try:
        for behaviour in ENDINGS:
            folder = tmp_path / behaviour
            (folder / "outputs").mkdir(parents=True)
            (folder / "do").write_text(behaviour)
            seconds = 1.0 if behaviour == "hang" else 30.0
            limits = LIMITS.model_copy(update={"seconds": seconds})
            endings[behaviour] = executor.start(folder, limits).wait().ending
    finally:
        executor.close()
    assert endings == ENDINGS


def test_links_that_a_body_left_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the secret of the service")
    other = TaskResult(ok=True, value={"of": "another tenant"})
    (tmp_path / "other-result.json").write_text(other.model_dump_json())
    executor = LocalExecutor(LIMITS, bodies_for_tests.run, preload=WARM)
    results = []
    try:
        for behaviour in ("leave-a-link", "leave-a-link-as-log"):
            folder = tmp_path / behaviour
            folder.mkdir()
            (folder / "do").write_text(behaviour)
            results.append(executor.start(folder, LIMITS).wait().result)
    finally:
        executor.close()
    assert [result.ok for result in results] == [False, False]
    assert "the secret" not in (results[1].error or "")


@pytest.mark.parametrize("level", CONFINED)
def test_a_serving_child_reads_the_models_of_its_tenant_only(
    tmp_path: Path, level: Isolation
) -> None:
    needs_level(level)
    for tenant in ("ann", "bob"):
        model = tmp_path / tenant / "models" / "m1"
        model.mkdir(parents=True)
        (model / "manifest.json").write_text("no JSON")
    assert "Expecting value" in _said_of("ann", tmp_path, level)
    said = _said_of("bob", tmp_path, level)
    assert "Permission denied" in said or "No such file" in said, said


def _said_of(asked: str, folder: Path, level: Isolation) -> str:
    """Return what the child of tenant ann says when it is to load a broken model of ``asked``."""
    warm_up()

    async def ask() -> str:
        child = TenantChild(2**30, folder / "ann" / "models", level)
        await child.start()
        try:
            await child.load("m1", "m", "accuracy", folder / asked / "models" / "m1")
        except EasemlError as error:
            return error.message
        finally:
            await child.stop()
        return "loaded"

    return asyncio.run(ask())
