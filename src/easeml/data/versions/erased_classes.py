"""Classes of categories that only erased rows had: their places stay, their names go.

Models and codes count on the places of classes, so that none may be left out of a declared version.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, filterfalse
from typing import TYPE_CHECKING

from easeml.data.types import values as v
from easeml.data.types.column_report import ColumnReport
from easeml.data.versions.declared import Declared
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

Names = Mapping[str, str]
"""What classes of a column are called from now on, by what they were called."""

_ERASED = "(erased)"


def classes_had(frames: Mapping[str, pd.DataFrame]) -> dict[str, set[str]]:
    """Return the classes that rows have, by column; categories only."""
    had: dict[str, set[str]] = {}
    for frame in frames.values():
        for column in frame.select_dtypes("category"):
            classes = frame[column].dropna().unique()
            had.setdefault(str(column), set()).update(map(str, classes))
    return had


def without_names(version: Declared, gone: Mapping[str, Collection[str]]) -> Declared:
    """Return a version in which classes that are gone have other names; they keep their places.

    ``gone``: values, by column, that erased rows had. A class that some row has stays as it is.
    """
    had = classes_had(version.frames)
    columns = []
    names: dict[str, Names] = {}
    for report in version.columns:
        lost = set(gone.get(report.name, ())) - had.get(report.name, set())
        of_column = _new_names(report.classes, lost)
        if of_column:
            names[report.name] = of_column
        columns.append(replace(report, classes=_renamed(report.classes, of_column)))
    if not names:
        return version
    frames = {role: _relabelled(frame, names) for role, frame in version.frames.items()}
    return replace(
        version,
        frames=frames,
        columns=columns,
        schema_in=_schema(version.schema_in, names),
        schema_out=_schema(version.schema_out, names),
    )


def without_sentences(sentences: Sequence[str], gone: Collection[str]) -> list[str]:
    """Return the sentences in which no value that is gone stands as a word."""
    words = [re.escape(value) for value in gone if value]
    if not words:
        return list(sentences)
    told = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)")
    return [sentence for sentence in sentences if not told.search(sentence)]


def without_classes(report: ColumnReport, gone: Collection[str]) -> ColumnReport:
    """Return the report of an uploaded column without classes that are gone."""
    labels = {*gone, *map(v.plain_number, gone)}
    classes = list(filterfalse(labels.__contains__, report.classes))
    lost = len(report.classes) - len(classes)
    suspected = list(filterfalse(labels.__contains__, report.suspected_codes))
    distinct = report.distinct - lost
    return replace(report, classes=classes, distinct=distinct, suspected_codes=suspected)


def _new_names(classes: Sequence[str], lost: Collection[str]) -> Names:
    """Return new names of the classes that are lost."""
    free = _free_names(classes)
    return {label: next(free) for label in classes if label in lost}


def _free_names(classes: Sequence[str]) -> Iterator[str]:
    """Give names that no class has. Among numbers they are numbers: ``1.0`` has to mean ``1``."""
    are_numbers = v.numeric_labels(tuple(classes))
    for number in count(1):
        name = f"{-number}" if are_numbers else _numbered(number)
        if name not in classes:
            yield name


def _numbered(number: int) -> str:
    return _ERASED if number == 1 else f"{_ERASED[:-1]} {number})"


def _renamed(classes: Sequence[str], names: Names) -> list[str]:
    return [names.get(label, label) for label in classes]


def _relabelled(frame: pd.DataFrame, names: Mapping[str, Names]) -> pd.DataFrame:
    changed = {}
    for column, of_column in names.items():
        if column in frame:
            values = frame[column].cat
            labels = _renamed(list(map(str, values.categories)), of_column)
            changed[column] = v.categories(values.codes.to_numpy(), tuple(labels))
    return frame.assign(**changed)


def _schema(schema: Schema, names: Mapping[str, Names]) -> Schema:
    classes = dict(schema.classes)
    for column, of_column in names.items():
        node = schema.columns.get(column)
        if node is not None and node.class_name:
            one = classes[node.class_name]
            classes[node.class_name] = replace(one, labels=tuple(_renamed(one.labels, of_column)))
    return replace(schema, classes=classes)
