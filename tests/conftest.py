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
    """Let the tests of a folder that share a service run in one worker, and put first what takes longest."""
    for item in items:
        if _has(item, "service", "faults"):
            group = item.path.stem if _has(item, *_OWN_SERVICE) else item.path.parent.name
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=_turn)  # keeps the order within


def _turn(item: pytest.Item) -> int:
    if _has(item, *_OWN_SERVICE):
        return 2  # not at once, where other services start
    if _has(item, "service"):
        return 0
    if item.path.is_relative_to(_HERE / "lifecycle"):
        return 1  # compiles kernels, that tutorials use too
    return 3 if item.path.stem == "test_tutorials" else 4


def _has(item: pytest.Item, *marks: str) -> bool:
    return any(item.get_closest_marker(mark) for mark in marks)
