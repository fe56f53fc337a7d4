"""A machine that joins waits for a service that is starting again."""

import pytest

from easeml.cli.devices import answered
from easeml.contract.devices import Joined
from easeml.errors import Unreachable

TOLD = Joined(
    database_url="sqlite:///home/easeml.db",
    artefacts_url="",
    task_seconds=1.0,
    task_memory=1,
    isolation="none",
    lease_seconds=1.0,
    module_packages="",
)


class Starting:
    """Does not answer the first times that it is asked."""

    def __init__(self, refusals: int):
        self.refusals = refusals

    def __call__(self) -> Joined:
        if self.refusals:
            self.refusals -= 1
            raise Unreachable("The easeml service does not answer.")
        return TOLD


def test_a_machine_waits_for_a_service_that_starts_again() -> None:
    assert answered(Starting(3), patience=60.0, pause=0.0) == TOLD


def test_a_machine_gives_up_a_service_that_stays_away() -> None:
    service = Starting(3)
    with pytest.raises(Unreachable):
        answered(service, patience=0.0, pause=0.0)
    assert service.refusals == 2
