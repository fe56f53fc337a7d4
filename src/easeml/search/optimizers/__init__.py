"""Optimizers: which configurations of a model to try next.

Each is a module's part of the search, not of tenants; declared in ``OPTIMIZERS`` of a file here, or
of a file that an entry point of the group ``easeml.optimizers`` names.
"""

from functools import cache

from easeml.search.installed import Installed, find_installed
from easeml.search.optimizers.base import Optimizer, Tried, fresh

__all__ = ["Optimizer", "Tried", "fresh", "installed_optimizers", "optimizer_named"]

DEFAULT = "guided"


@cache
def installed_optimizers() -> Installed[Optimizer]:
    """Return every optimizer that is installed; looked for once a process."""
    return find_installed("optimizer", DEFAULT, __name__, "easeml.optimizers", "OPTIMIZERS")


def optimizer_named(name: str = "default") -> Optimizer:
    """Return the optimizer called ``name``; ``default`` is easeml's own.

    Raises ``InvalidInput``.
    """
    return installed_optimizers().named(name)
