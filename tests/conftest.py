"""What all tests share: examples that differ in every session, compiled kernels that are kept, an
order that keeps all cores busy, and names that are the same in all workers.
"""

import gc
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

import session_files
from kernel_cache import keep_kernels, restore_kernels

_HERE = Path(__file__).parent
_OWN_SERVICE = ("faults", "postgres")  # marks of tests that start, and harm, a service of their own
_EXAMPLES = DirectoryBasedExampleDatabase(_HERE.parent / ".hypothesis" / "examples")

_LONGEST_IN_A_NAME = 80  # characters of a parameter

_GARBAGE_OBJECTS = 50_000  # new objects before garbage is looked for: a tenth less processor time
gc.set_threshold(_GARBAGE_OBJECTS)

# This process has the memory that it asked for. What it starts is no test: processes that fork for
# each task pay for large pages (decision 0155), and a service is started as users start theirs.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("PYTHONMALLOC", None)
    os.environ.pop("GLIBC_TUNABLES", None)

_IN_CI = bool(os.environ.get("CI"))

# People's sessions look for new faults. CI judges a change: there, a fault that was always there and
# is found by chance must not refuse it. What failed is tried first in the next session.
settings.register_profile(
    "easeml",
    derandomize=_IN_CI,
    database=None if _IN_CI else _EXAMPLES,
    print_blob=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no fault
)
settings.load_profile("easeml")


@pytest.fixture(scope="session")
def fresh_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with its tables and no rows, to copy: all migrations would take most of the
    time of a test.
    """
    from easeml.store import Store

    folder = tmp_path_factory.mktemp("fresh")
    Store.open(f"sqlite:///{folder / 'easeml.db'}", folder / "artefacts").close()
    return folder / "easeml.db"


@pytest.fixture(scope="session", autouse=True)
def statements_are_compiled_once() -> Iterator[None]:
    """All stores on databases of one kind take the dialect of the first that was connected, and with
    it the statements that it compiled.

    SQLAlchemy compiles each statement once for an engine, and a process of easeml has one engine. A
    worker opens thousands, and compiled the same statements for each: a fifth of its time. What is
    compiled depends on the statement and the dialect alone, which are those of the product.
    """
    import sqlalchemy as sa

    from easeml.store import store

    connect = store.connect
    dialects: dict[str, sa.Dialect] = {}
    compiled: dict[Any, Any] = {}

    def keep_dialect(connection: sa.Connection) -> None:
        dialects.setdefault(connection.dialect.name, connection.dialect)

    def connect_alike(url: str) -> sa.Engine:
        engine = connect(url)
        engine.update_execution_options(compiled_cache=compiled)
        if engine.dialect.name in dialects:
            engine.dialect = dialects[engine.dialect.name]
        else:
            sa.event.listen(engine, "engine_connect", keep_dialect, once=True)
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "connect", connect_alike)
        yield


@pytest.fixture(scope="session")
def cheap_passwords() -> Iterator[None]:
    """The same algorithm at a cost that fits tests."""
    from argon2 import PasswordHasher

    cheap = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("easeml.service.accounts.passwords.hasher", cheap)
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Make room for the files that tests share, before workers start.

    A worker imports skops before all else: it looks for each of 844 functions in all that is
    loaded, which takes 3 s after the tests were collected.
    """
    if hasattr(config, "workerinput"):
        import_module("skops.io")
    elif _runs_tests(config):
        session_files.begin()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing on the machine: the images of containers alone are a gigabyte."""
    if _runs_tests(config):
        session_files.end()


def _runs_tests(config: pytest.Config) -> bool:
    """Return whether this is the process that begins and ends a session."""
    return not hasattr(config, "workerinput") and not config.option.collectonly


def pytest_sessionstart(session: pytest.Session) -> None:
    """Take the kernels that another session has compiled, once for all workers."""
    if _runs_tests(session.config):
        restore_kernels()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the compiled kernels for other sessions, once for all workers."""
    if _runs_tests(session.config):
        keep_kernels()


def pytest_collection_finish() -> None:
    """Look for no garbage among the thousands of tests and all that they import."""
    gc.freeze()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Call bytes and long texts by their argument.

    Packed bytes hold the second in which they were made: workers that collect at different times
    would find different tests, and none would run.
    """
    is_long = isinstance(val, str) and len(val) > _LONGEST_IN_A_NAME
    return argname if is_long or isinstance(val, bytes) else None


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first what takes longest and waits most, and together what shares something."""
    items.sort(key=_turn)  # keeps the order within
    for item in items:
        group = _group(item)
        if group:
            item.add_marker(pytest.mark.xdist_group(group))


def _turn(item: pytest.Item) -> int:
    if _has(item, *_OWN_SERVICE):
        return 2  # not at once, where other services start
    if _has(item, "service"):
        return 0  # long rows of tests that wait for a service: others compute meanwhile
    is_lifecycle = item.path.is_relative_to(_HERE / "lifecycle")
    return 1 if is_lifecycle else 3  # kernels are compiled, which others use too


def _group(item: pytest.Item) -> str | None:
    """Return the name of what a test shares with others, which then run in the same worker."""
    if _has(item, "xdist_group", *_OWN_SERVICE):
        return None  # it says itself, or shares nothing
    folders = item.path.relative_to(_HERE).parts[:-1]
    if folders == ("lifecycle", "doubts"):
        return "lifecycle/cleaning"  # doubts are ranked by its kernels
    if folders[:1] == ("lifecycle",):
        return "/".join(folders)  # kernels
    if _has(item, "service"):
        return "browser" if folders[:1] == ("web",) else "service"
    file = item.path.relative_to(_HERE).with_suffix("")
    return str(file) if _shares_within_its_file(item) else None


def _shares_within_its_file(item: pytest.Item) -> bool:
    """Tell whether a test uses what is made once for its file: once a worker, where it has many."""
    assert isinstance(item, pytest.Function)
    used = item._fixtureinfo.name2fixturedefs.values()
    return any(fixture.scope == "module" for *_, fixture in used)


def _has(item: pytest.Item, *marks: str) -> bool:
    return any(item.get_closest_marker(mark) for mark in marks)
