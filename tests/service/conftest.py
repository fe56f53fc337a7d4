from collections.abc import Iterator

import pytest

from service_process import EasemlProcess
from warm_service import WarmService


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EasemlProcess]:
    """One running easeml for all tests here that do not harm it.

    It has one worker: searches that go on behind a test take one core from it, not both.
    """
    service = WarmService(tmp_path_factory.mktemp("service") / "home", workers=1)
    service.start()
    yield service
    service.stop()


@pytest.fixture
def easeml(running: EasemlProcess) -> Iterator[EasemlProcess]:
    """A running easeml; what a test leaves it searching for does not take the processor from the
    next test.
    """
    yield running
    running.stop_searches()
