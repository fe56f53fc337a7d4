"""One easeml that the tests here kill processes of: killed ones come back, so one serves all."""

from collections.abc import Iterator

import pytest

from service_process import EasemlProcess


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EasemlProcess]:
    """One running easeml for all tests here."""
    service = EasemlProcess(tmp_path_factory.mktemp("faults") / "home")
    service.start()
    yield service
    service.stop()


@pytest.fixture
def easeml(running: EasemlProcess) -> Iterator[EasemlProcess]:
    """A running easeml, all of whose processes may be killed."""
    running.wait_until_answering()
    yield running
    running.stop_searches()
