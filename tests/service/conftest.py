from collections.abc import Iterator

import pytest

from service_process import EasemlProcess


@pytest.fixture(scope="session")
def easeml(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EasemlProcess]:
    """One running easeml for all tests here that do not harm it."""
    service = EasemlProcess(tmp_path_factory.mktemp("service") / "home")
    service.start()
    yield service
    service.stop()
