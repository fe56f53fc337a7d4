"""Keys of the JSON form: which are known where, and what an unknown one was likely meant to be."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from easeml.schema.structure import SchemaWarning

DOCUMENT = ("nodes", "classes", "ref-constraints", "src-dims", "dropped")
SINGLETON = (
    "singleton",
    "fields",
    "links",
    "repeat",
    "column",
    "missing",
    "src-name",
    "labels",
    "separator",
    "parts",
)
NON_SINGLETON = ("singleton", "fields", "links", "src-name")
CLASS = ("dim", "labels", "src-name")
CONSTRAINTS = ("cyclic", "undirected", "fan-in")
_VALUE = ("type", "optional", "src-name")
_OF_TYPE = {
    "tensor": ("dim", "format", "src-dim"),
    "category": ("class",),
    "timestamp": ("format",),
    "text": (),
    "document": (),
}
_OF_ANY_TYPE = ("dim", "format", "src-dim", "class")


def value_keys(kind: Any) -> tuple[str, ...]:
    """The keys of a value of this type; of any type, where it is none."""
    if not isinstance(kind, str):
        return (*_VALUE, *_OF_ANY_TYPE)

    own = _OF_TYPE.get(kind, _OF_ANY_TYPE)
    return (*_VALUE, *own)


def warn_of_unknown(mapping: Mapping[Any, Any], known: Collection[str], path: str) -> None:
    """Emit a ``SchemaWarning`` for each key of ``mapping`` that is not ``known``."""
    free = [name for name in known if name not in mapping]
    for key in mapping:
        if key in known:
            continue

        close = _close(key, free)
        if close:
            meant = f"Did you mean '{close}'?"
        else:
            meant = f"Known here: {', '.join(sorted(known))}."

        place = f"{path}.{key}".removeprefix(".")  # the document itself has no path
        warnings.warn(
            f"{place}: this key has no meaning and is ignored. {meant}",
            SchemaWarning,
            stacklevel=2,
        )


def meant_by(mapping: Mapping[Any, Any], missing: str, known: Collection[str]) -> str:
    """A remedy for a missing key: the unknown one that was likely meant to be it; else empty."""
    for key in mapping:
        if key not in known and _close(key, [missing]):
            return f"Write '{missing}' for '{key}'."
    return ""


def _close(key: Any, names: list[str]) -> str:
    word = str(key).lower().replace("_", "-")[:40]
    found = get_close_matches(word, names, n=1, cutoff=0.6)
    return next(iter(found), "")
