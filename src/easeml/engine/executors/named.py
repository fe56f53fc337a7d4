"""Executors by name: easeml's own, and those that other packages bring by an entry point.

An entry point of the group ``easeml.executors`` has the executor's name; its value is what opens
it: a class or function that takes ``(limits, *, isolation)``. It is imported only if it is chosen.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from easeml.confinement import Isolation
from easeml.contract.tasks import Limits
from easeml.errors import InvalidInput

from .base import Executor

GROUP = "easeml.executors"
_ROOM = "easeml.engine.executors"
_OWN = {
    "local": EntryPoint("local", f"{_ROOM}.local:LocalExecutor", GROUP),
    "ray": EntryPoint("ray", f"{_ROOM}.ray:RayExecutor", GROUP),
    "slurm": EntryPoint("slurm", f"{_ROOM}.slurm:SlurmExecutor", GROUP),
}


class OpenExecutor(Protocol):
    """What opens an executor, in the main thread of a worker."""

    def __call__(self, limits: Limits, *, isolation: Isolation) -> Executor:
        """Return an executor that is warm for tasks with ``limits``.

        ``isolation``: what the provider demands of it; from ``process`` on bodies reach neither
        network nor other files nor other processes. Raises ``Conflict`` where the executor cannot
        see to that.
        """
        ...


def executor_named(name: str) -> OpenExecutor:
    """Return what opens the executor called ``name``; ``local``, ``ray`` and ``slurm`` are easeml's.

    Raises ``InvalidInput``, which names all that there are, for a name that none has and for one
    whose package cannot be imported.
    """
    installed = _installed()
    if name not in installed:
        raise InvalidInput(
            f"There is no executor {name!r}.",
            where="executor",
            remedy=f"There are: {', '.join(installed)}. A package may bring another.",
        )
    try:
        return installed[name].load()
    except Exception as error:  # whatever the code of others raises
        needs = f"easeml[{name}]" if name in _OWN else installed[name].module
        raise InvalidInput(
            f"The executor {name!r} cannot be used: {error}.",
            where="executor",
            remedy=f"Install what it needs ({needs}), or use local.",
        ) from error


def check_executor(name: str) -> None:
    """Raise ``EasemlError`` where workers of this machine could not open an executor.

    Its class may say so by a method ``check_reachable``.
    """
    check_reachable = getattr(executor_named(name), "check_reachable", None)
    if check_reachable is not None:
        check_reachable()


def _installed() -> dict[str, EntryPoint]:
    """Return the entry points by name; easeml's own names cannot be taken."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    others = {point.name: point for point in points if point.name not in _OWN}
    return _OWN | others
