import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from service_for_tests import FakeService, running_service


@pytest.fixture
def service() -> Iterator[FakeService]:
    with running_service() as found:
        yield found


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the credentials of whoever runs it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("EASEML_URL", raising=False)
    monkeypatch.delenv("EASEML_API_KEY", raising=False)
