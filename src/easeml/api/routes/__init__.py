"""A file a resource, found by its being here: its operations, and the routes that do more than ask.

A file has a ``router``; ``OPERATIONS`` are those that are described (``api.operations``).
"""

import pkgutil
from importlib import import_module
from types import ModuleType


def all_resources() -> list[ModuleType]:
    """Return the files of this package, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [import_module(f"{__name__}.{name}") for name in names]
