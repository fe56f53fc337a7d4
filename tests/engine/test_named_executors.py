"""Executors by name: easeml's own, a plug-in's, and names that none has."""

import sys
from pathlib import Path

import pytest

from easeml.contract.tasks import Limits
from easeml.engine.executors import LocalExecutor, check_executor, executor_named
from easeml.errors import InvalidInput, Unreachable

PLUG_IN = """
import bodies_for_tests
from easeml.engine.executors import LocalExecutor

class Mirror(LocalExecutor):
    def __init__(self, limits, *, isolation):
        super().__init__(limits, bodies_for_tests.run, preload=(), isolation=isolation)
"""


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with an executor that works, one that is gone, and a wrong ``local``."""
    (tmp_path / "mirror_for_tests.py").write_text(PLUG_IN)
    installed = tmp_path / "mirror_for_tests-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: mirror-for-tests\nVersion: 1.0\n"
    )
    (installed / "entry_points.txt").write_text(
        "[easeml.executors]\n"
        "mirror = mirror_for_tests:Mirror\n"
        "gone = no_such_package_at_all:Executor\n"
        "local = mirror_for_tests:Mirror\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


def test_local_is_easemls_own(plug_in: None) -> None:
    assert executor_named("local") is LocalExecutor


def test_a_plug_in_runs_a_body(plug_in: None, tmp_path: Path) -> None:
    limits = Limits(seconds=60, memory=2**30, threads=1)
    executor = executor_named("mirror")(limits, isolation="none")
    (tmp_path / "do").write_text("finish")
    try:
        outcome = executor.start(tmp_path, limits).wait()
    finally:
        executor.close()
    assert outcome.ending == "finished"
    assert outcome.result.outputs == ["table"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("unknown", "There are: local, ray, slurm, gone, mirror."),
        ("gone", "no_such_package_at_all"),
        ("ray", "easeml[ray]"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_there_is(
    plug_in: None, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # it is not installed
    with pytest.raises(InvalidInput) as refused:
        executor_named(name)
    assert said in refused.value.message + refused.value.remedy
    assert refused.value.where == "executor"


def test_a_slurm_that_does_not_answer_is_refused_in_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, does in {"srun": "exit 0", "scontrol": "echo its controller is DOWN; exit 1"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unreachable) as refused:
        check_executor("slurm")
    assert "its controller is DOWN" in refused.value.message
    assert "slurmctld" in refused.value.remedy
