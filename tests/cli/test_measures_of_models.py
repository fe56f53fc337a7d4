"""A measure by which models cannot be measured is taken back."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from easeml.cli import leaderboard
from easeml.client import Client
from easeml.errors import Conflict, EasemlError


class _Failing:
    """A client of a service on which every measuring fails."""

    def __init__(self) -> None:
        self.dropped: list[str] = []

    def models(self, _application_id: str) -> list[Any]:
        return []

    def ask_measure(self, _application_id: str, _name: str) -> Any:
        return SimpleNamespace(task_id="task_1")

    def wait_task(self, task_id: str) -> Any:
        raise Conflict("The column 'sex' is not there.\n", where=task_id)

    def drop_measure(self, _application_id: str, name: str) -> None:
        self.dropped.append(name)


def test_a_measure_that_cannot_be_computed_is_taken_back_and_said() -> None:
    client = _Failing()
    with pytest.raises(EasemlError, match=r"cannot be measured by gap\(sex\)\. The column 'sex'"):
        leaderboard._measure(cast(Client, client), "app_1", ["gap(sex)"])
    assert client.dropped == ["gap(sex)"]
