"""easeml: a self-hosted, multi-tenant, declarative machine-learning service."""

from importlib import import_module

__version__ = "0.1.0"

_PUBLIC = {"Relation": "easeml.relation"}
"""Names of rooms that are also names of the package, with their rooms."""


def __getattr__(name: str) -> object:
    """Load what needs pandas when it is first asked for. No room is imported with the package."""
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
