"""Each tool's tests run in one worker, so that its kernels are compiled once."""

from pathlib import Path

import pytest

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.xdist_group(item.path.relative_to(_HERE).parts[0]))
