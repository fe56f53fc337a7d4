"""Class labels from two sources, made comparable: files, arrays and models write them differently.

pandas writes ``1`` as ``1.0`` where a column has gaps, one file says ``yes`` where another says
``1``. Every tool that compares labels with predictions compares the names that are made here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from easeml.errors import InvalidInput

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
_EXACT = 2.0**53
"""Up to here, a float tells every whole number from its neighbours."""
_MOST_SHOWN = 8


def class_name(value: Any) -> str | None:
    """Return the name of a class: a number in its shortest form, else the text without margins.

    So ``1``, ``1.0``, ``True``, ``"1"``, ``" 1.00"`` and ``"1e0"`` are the same class. None and NaN
    are no class: they give None.
    """
    if value is None:
        return None
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else _number_name(float(value))
    return _name_of_text(str(value).strip())


def class_names(values: Iterable[Any]) -> np.ndarray:
    """Return the names of classes (N,) as objects, None where a value is missing."""
    column = values.tolist() if isinstance(values, np.ndarray) else list(values)
    names = np.empty(len(column), dtype=object)
    are_alike = len(set(map(type, column))) == 1
    names[:] = _names_of_alike(column) if are_alike else _names_of_mixed(column)
    return names


def is_missing(value: Any) -> bool:
    """Tell whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_number(value: Any) -> float | None:
    """Return the number that a class is named after; None where its name is no number."""
    name = class_name(value)
    if name is None or not _NUMBER.fullmatch(name):
        return None
    return float(name)


def check_vocabularies(
    labels: Sequence[Any], predictions: Sequence[Any], *, where: str = "labels, predictions"
) -> None:
    """Refuse labels and predictions of which no class is the same: one side speaks of other things.

    Args:
        labels: class names as ``class_names`` gives them; None where one is missing.
        predictions: likewise, of one or more models.
        where: names both sources in the message.

    Raises:
        InvalidInput: showing both vocabularies, where both have classes and share none.
    """
    true = set(labels) - {None}
    said = set(predictions) - {None}
    if not true or not said or true & said:
        return
    raise InvalidInput(
        f"No label is ever predicted: the labels are {_shown(true)}, the predictions {_shown(said)}.",
        where=where,
        remedy="Write both with the same names for the classes.",
    )


def _names_of_alike(column: list[Any]) -> list[str | None]:
    """Name values of one type: each distinct one once, in half the time of mixed ones."""
    known = {value: class_name(value) for value in dict.fromkeys(column)}
    return list(map(known.__getitem__, column))


def _names_of_mixed(column: list[Any]) -> list[str | None]:
    """Name values of several types: a whole number may equal a float that has another name."""
    known: dict[tuple[type, Any], str | None] = {}
    names = []
    for value in column:
        key = (type(value), value)
        if key not in known:
            known[key] = class_name(value)
        names.append(known[key])
    return names


def _shown(vocabulary: set[str]) -> str:
    shown = ", ".join(map(repr, sorted(vocabulary)[:_MOST_SHOWN]))
    if len(vocabulary) <= _MOST_SHOWN:
        return shown
    return f"{shown} and {len(vocabulary) - _MOST_SHOWN:,} more"


def _name_of_text(text: str) -> str:
    if _WHOLE.fullmatch(text):
        return str(int(text)) if len(text) < 1000 else text  # Python reads no longer ones
    if _NUMBER.fullmatch(text):
        return _number_name(float(text))
    return text


def _number_name(number: float) -> str:
    if number.is_integer() and abs(number) < _EXACT:
        return str(int(number))
    return repr(number)
