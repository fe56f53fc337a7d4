"""What may be tried of a model, as it is written on the command line."""

import json
from collections.abc import Iterable
from typing import Any

from easeml.errors import InvalidInput


def read_constraints(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return model -> parameter -> value, list of values or range of ``MODEL.PARAMETER=...``.

    Raises InvalidInput.
    """
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, equals, wish = text.partition("=")
        model, dot, parameter = name.strip().partition(".")
        if not (equals and dot and model and parameter and wish.strip()):
            remedy = "Write MODEL.PARAMETER=VALUE, =VALUE,VALUE or =LOW..HIGH."
            raise InvalidInput(f"{text!r} is no constraint.", where="--constrain", remedy=remedy)
        found.setdefault(model, {})[parameter] = _wish(wish.strip())
    return found


def _wish(text: str) -> Any:
    low, dots, high = text.partition("..")
    if dots:
        return {name: _value(part) for name, part in (("low", low), ("high", high)) if part}
    values = [_value(part) for part in text.split(",") if part]
    return values if len(values) > 1 else _value(text)


def _value(text: str) -> Any:
    """Return a number, true, false or null; everything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()
