"""What all tests share: examples that are the same in every session, and an order that keeps all cores busy."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("easeml", derandomize=True, deadline=None)
settings.load_profile("easeml")

_HERE = Path(__file__).parent
_OWN_SERVICE = ("faults", "postgres")  # marks of tests that start, and harm, a service of their own


@pytest.hookimpl(tryfirst=True)  # before xdist notes the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes longest first: tests with a service, a worker a folder, so that they share one; then kernels."""
    for item in items:
        if _has_service(item):
            alone = any(item.get_closest_marker(mark) for mark in _OWN_SERVICE)
            item.add_marker(pytest.mark.xdist_group(item.path.stem if alone else item.path.parent.name))
    items.sort(key=_turn)  # keeps the order within


def _turn(item: pytest.Item) -> tuple[bool, bool, bool]:
    compiles = item.path.is_relative_to(_HERE / "lifecycle")
    follows = item.path.stem == "test_tutorials"
    return not _has_service(item), not compiles, not follows


def _has_service(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(mark) for mark in ("service", "faults"))
