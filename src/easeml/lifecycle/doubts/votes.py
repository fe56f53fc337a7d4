"""Weak supervision: what labelling functions say of the rows of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from easeml.data.errors import did_you_mean
from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.frames import Column
from easeml.lifecycle.doubts.dawid_skene import ABSTAINS
from easeml.lifecycle.labels import is_missing
from easeml.relation.expressions import parse

if TYPE_CHECKING:
    import pandas as pd

LabelFunction = Callable[[Any], Sequence[Any]] | Mapping[str, Any]
"""A function of a frame that gives a label or None a row, or a description (``votes_of``)."""


def votes_of(
    functions: Sequence[LabelFunction], frame: pd.DataFrame, classes: Sequence[Any]
) -> np.ndarray:
    """Return (N, L) what each function says: the number of a class, -1 where it abstains.

    A function takes the frame and gives a label or None for each row. A description has ``label``,
    and one of ``when`` (a condition over columns), ``pattern`` with ``column`` (a regular
    expression), or ``words`` with ``column`` (any of these, whatever their case).

    Raises:
        InvalidInput: naming the function, where it cannot be asked or names another label.
    """
    number = {label: place for place, label in enumerate(classes)}
    votes = np.full((len(frame), len(functions)), ABSTAINS)
    for place, function in enumerate(functions):
        where = f"labelling function {place}"
        said = _said(function, frame, where)
        for row, label in enumerate(said):
            if is_missing(label):
                continue
            if label not in number:
                raise InvalidInput(
                    f"says {label!r}, which is not a label.",
                    where=where,
                    remedy=f"Use {', '.join(map(repr, classes))}, or None to abstain.",
                )
            votes[row, place] = number[label]
    return votes


def _said(function: LabelFunction, frame: pd.DataFrame, where: str) -> Sequence[Any]:
    """Return what a function says of each row. Raises InvalidInput."""
    if callable(function):
        said = list(function(frame))
        if len(said) != len(frame):
            raise InvalidInput(f"gives {len(said)} labels for {len(frame)} rows.", where=where)
        return said
    if "label" not in function:
        raise InvalidInput("has no label.", where=where, remedy="Write label = ...")
    label = function["label"]
    return [label if meets else None for meets in _truths(function, frame, where)]


def _truths(function: Mapping[str, Any], frame: pd.DataFrame, where: str) -> list[bool]:
    """Return for each row whether a description fits."""
    if "when" in function:
        condition = parse(function["when"])
        columns = {name: pa.array(_column(frame, name, where)) for name in condition.columns}
        return condition.holds(columns, len(frame)).to_pylist()
    if "pattern" in function:
        pattern = re.compile(function["pattern"])
    elif "words" in function:
        words = "|".join(map(re.escape, function["words"]))
        pattern = re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    else:
        raise InvalidInput("says nothing.", where=where, remedy="Give when, pattern or words.")
    texts = _column(frame, function.get("column", ""), where).fillna("").astype(str)
    return [pattern.search(text) is not None for text in texts]


def _column(frame: pd.DataFrame, name: str, where: str) -> Column:
    if name not in frame:
        remedy = did_you_mean(name, map(str, frame))
        raise InvalidInput(f"There is no column {name!r}.", where=where, remedy=remedy)
    return frame[name]
