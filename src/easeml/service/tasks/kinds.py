"""Kinds of tasks: each is one declaration, a file of ``easeml.kinds``, found by its name.

A kind says what a task is told (its spec) and given (inputs), what runs (its body), what that has
to bring, what is recorded then, and how it is shown. Nothing imports the kinds: a file added to the
package, or named by an entry point of the group ``easeml.kinds``, is a kind more. Bodies run in a
child that knows no database, so a kind's file imports the store, the use cases and heavy libraries
only inside the functions that need them.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from easeml.contract.states import Lane
from easeml.contract.tasks import Spec, TaskResult
from easeml.errors import InvalidInput
from easeml.optional import if_known

if TYPE_CHECKING:
    from pydantic import BaseModel

    from easeml.settings import Settings
    from easeml.store import Store, Tables, Transaction
    from easeml.store.records import Task

    Inputs = Callable[[Tables, Task], dict[str, str]]
    Record = Callable[[Transaction, Task, TaskResult, Mapping[str, str]], None]
    Failed = Callable[[Transaction, Task], None]
    Grant = Callable[[Store, Settings, Task], BaseModel]
    Provided = Callable[[Settings, Task], dict[str, list[Path]]]
    Called = Callable[[Mapping[str, Any]], str]

Body = Callable[[Any, Path, Path], TaskResult]
"""``body(spec, inputs, outputs)``: reads files below ``inputs``, writes files below ``outputs``."""

PACKAGES = ["easeml.kinds"]  # where kinds are looked for, in this order
_NAME = re.compile(r"[a-z][a-z0-9-]*")


def _no_inputs(tables: Tables, task: Task) -> dict[str, str]:
    return {}


def _none_provided(settings: Settings, task: Task) -> dict[str, list[Path]]:
    return {}


def _nothing_more(tx: Transaction, task: Task) -> None:
    """A failure that concerns the task alone."""


INGEST_SECONDS = 300.0  # longest run of an attempt: what is read holds up what others upload


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of task, declared as ``KIND`` in the file that its name says: train, test_quality."""

    name: str
    title: str  # for people: what a task is called in lists, events and on pages
    about: str  # a sentence on what it does, for people
    group: Literal["ingest", "train", "advise"]
    spec: type[Spec]
    body: Body
    record: Record  # keeps what a task brought: digests of its outputs by name
    inputs: Inputs = _no_inputs  # name -> digest of an artefact
    failed: Failed = _nothing_more  # carries a failure for good to what the task was for
    outputs: tuple[str, ...] = ()  # that a result has to bring
    values: tuple[str, ...] = ()  # likewise; numbers among them have to be finite
    lane: Lane = Lane.SHORT
    seconds: float | None = None  # a limit below the worker's usual one
    grant: Grant | None = None  # what its body may do that is on the network: see ``reaches_out``
    provided: Provided = _none_provided  # files of this machine that its body reads
    called: Called | None = None  # a title that depends on what the task is told

    @property
    def reaches_out(self) -> bool:
        """Whether its body is on the network, for which it reads nothing of what users bring."""
        return self.grant is not None

    @property
    def module(self) -> str:
        """The module that declares it, from which a child loads it."""
        return self.spec.__module__


def find_kind(name: str) -> Kind | None:
    """Return the kind of that name, None where there is none."""
    if not _NAME.fullmatch(name):
        return None
    file = name.replace("-", "_")
    modules = [f"{package}.{file}" for package in PACKAGES]
    module = next(filter(_is_file, modules), _brought().get(name))
    return if_known(module, load_kind)


def _is_file(module: str) -> bool:
    """Whether there is such a module, and it is no package."""
    found = find_spec(module)
    return found is not None and found.submodule_search_locations is None


def kind_named(name: str) -> Kind:
    """Return the kind of that name; raises ``InvalidInput`` naming all that there are."""
    kind = find_kind(name)
    if kind is None:
        remedy = f"There are: {', '.join(one.name for one in all_kinds())}."
        raise InvalidInput(f"There is no kind of task named {name!r}.", remedy=remedy)
    return kind


def called(payload: Mapping[str, Any]) -> str:
    """Return what people call a task that is told ``payload``.

    It is the bare name of a kind that is gone.
    """
    kind = find_kind(payload["kind"])
    if kind is None:
        return payload["kind"]
    if kind.called is None:
        return kind.title
    return kind.called(payload)


def load_kind(module: str) -> Kind:
    """Return the kind that a module declares; raises ``InvalidInput`` if it declares none."""
    kind = getattr(import_module(module), "KIND", None)
    if not isinstance(kind, Kind):
        raise InvalidInput(f"{module} declares no kind of task.", remedy="Give it a KIND.")
    return kind


def all_kinds() -> list[Kind]:
    """Return every kind, by name; sub-packages hold what kinds share."""
    modules: list[str] = []
    for package in PACKAGES:
        there = pkgutil.iter_modules(import_module(package).__path__, f"{package}.")
        modules += [module.name for module in there if not module.ispkg]
    modules += _brought().values()
    return sorted(map(load_kind, modules), key=lambda kind: kind.name)


@cache
def _brought() -> dict[str, str]:
    """Return the modules of kinds that other packages bring, by the names of the kinds."""
    return {point.name: point.value for point in entry_points(group="easeml.kinds")}
