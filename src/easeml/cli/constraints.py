"""What may be tried of a model, as it is written on the command line."""

import json
from collections.abc import Iterable
from typing import Any

from easeml.errors import InvalidInput


def read_constraints(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return model -> parameter -> value, list of values or range of ``MODEL.PARAMETER=...``.

    Raises:
        InvalidInput: for a text that is not of this form.
    """
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, _, wish = text.partition("=")
        model, _, parameter = name.strip().partition(".")
        if not all((model, parameter, wish.strip())):
            remedy = "Write MODEL.PARAMETER=VALUE, =VALUE,VALUE or =LOW..HIGH."
            raise InvalidInput(f"{text!r} is not a constraint.", where="--constrain", remedy=remedy)
        found.setdefault(model, {})[parameter] = _wish(wish.strip())
    return found


def _wish(text: str) -> Any:
    """Return what a parameter may be: a range, a list of values, or one value."""
    low, dots, high = text.partition("..")
    if dots:
        ends = {"low": low, "high": high}
        return {name: _value(end) for name, end in ends.items() if end}
    values = list(map(_value, filter(None, text.split(","))))
    return values if len(values) > 1 else _value(text)


def _value(text: str) -> Any:
    """Return a number, true, false or null; everything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()
