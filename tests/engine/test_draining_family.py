"""In which order the processes of a version end that gives way to the next."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from easeml.engine.managed_process import ManagedProcess
from easeml.engine.prefork import _Family
from easeml.settings import Settings

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


class Noted(ManagedProcess):
    """Notes what it is told."""

    def __init__(self, kind: str, told: list[tuple[str, str]]):
        self.kind = kind
        self._told = told

    def terminate(self) -> None:
        self._told.append((self.kind, "terminate"))

    def drain(self) -> None:
        self._told.append((self.kind, "drain"))

    def end(self, seconds: float) -> None:
        self._told.append((self.kind, "end"))


@pytest.fixture
def family(tmp_path: Path) -> Iterator[_Family]:
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    yield _Family(Settings(home=tmp_path))
    for number, handler in before.items():
        signal.signal(number, handler)


def test_tasks_are_given_back_while_the_controller_still_answers(family: _Family) -> None:
    told: list[tuple[str, str]] = []
    kinds = ("controller", "scheduler", "predictor", "worker")
    family._processes = [Noted(kind, told) for kind in kinds]
    family._controllers = family._processes[:1]
    family._stop.asked = family._stop.drains = True
    family.close()
    answered = told.index(("controller", "end"))
    assert told[0] == ("controller", "drain")
    assert set(told[:answered]) >= {("scheduler", "end"), ("worker", "end")}
    assert not set(told[:answered]) & {("predictor", "terminate"), ("predictor", "end")}
