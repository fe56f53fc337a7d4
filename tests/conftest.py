"""What all tests share: examples that are the same in every session, and an order that keeps all
cores busy.
"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

settings.register_profile("easeml", derandomize=True, deadline=None)
settings.load_profile("easeml")

_HERE = Path(__file__).parent
_OWN_SERVICE = ("faults", "postgres")  # marks of tests that start, and harm, a service of their own


class ByService(LoadScopeScheduling):
    """Tests that share a service, or compile the same kernels, run in one worker; all others
    wherever one is free.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        folders = Path(file).parts[1:-1]
        if folders[:1] == ("lifecycle",) or folders == ("web",):
            return "/".join(folders)
        if folders == ("service",) and Path(file).stem not in (
            "test_on_postgres",
            "test_tutorials",
        ):
            return "service"
        return "service" if "[service-" in test else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Give tests to workers in the way of this house where ``--dist loadgroup`` asks for groups."""
    return ByService(config, log) if config.getoption("dist") == "loadgroup" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first what takes longest."""
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
