"""easeml: a self-hosted, multi-tenant, declarative machine-learning service."""

from importlib import import_module

from easeml.version import __version__ as __version__

_PUBLIC = {
    "AutoMLClassifier": ("easeml.estimators", "AutoMLClassifier"),
    "AutoMLRegressor": ("easeml.estimators", "AutoMLRegressor"),
    "Relation": ("easeml.lineage", "StagedRelation"),
}
"""Names of the package, with the room of each and its name there."""


def __dir__() -> list[str]:
    """Return the names of the package, for completion and ``dir``; nothing is loaded."""
    return sorted({*globals(), *_PUBLIC})


def __getattr__(name: str) -> object:
    """Load what needs pandas when it is first asked for. No room is imported with the package."""
    if name in _PUBLIC:
        room, there = _PUBLIC[name]
        return getattr(import_module(room), there)
    if name == "lineage":
        return import_module("easeml.lineage")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
