"""Time series in ``.ts`` files (the UEA and UCR archives).

There is one sample a line, with channels between colons.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.readers.encoding import decoded
from easeml.data.readers.source import Source
from easeml.data.types.cells import reported, tensor_report, to_arrow
from easeml.data.types.values import is_number

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_STAMPED = re.compile(r"\([^()]*,([^(),]*)\)")
_MISSING = frozenset({"?", "nan", ""})


def read_series(source: Source) -> pa.Table:
    """Read the series of a ``.ts`` file.

    The column ``series`` holds tensors (channels, steps), ``label`` the answer.

    A shorter channel of a series ends in missing values. Of given times the order alone is kept.

    Raises: DatasetError: with the line, for values that are no numbers, or lines with other
        channels than the first.
    """
    import pyarrow as pa

    text, _ = decoded(source.read(), source.name)
    labelled, lines = _header(text, source.name)
    samples: list[list[list[float]]] = []
    labels: list[str] = []
    for number, line in lines:
        where = f"{source.name}, line {number}"
        channels = line.split(":")
        if labelled:
            labels.append(channels.pop().strip())
        samples.append([_steps(channel, where) for channel in channels])
        _check_channels(len(channels), len(samples[0]), where)
    if not samples:
        raise DatasetError(
            "there is no series.",
            where=source.name,
            remedy="Write one a line below @data.",
        )

    series = list(map(_padded, samples))
    report = tensor_report("series", series)
    report = replace(report, evidence=f"Series of {len(samples[0])} channels; {report.evidence}")
    field, column = reported(report, to_arrow("tensor", series))
    table = pa.table([column], schema=pa.schema([field]))
    if labelled:
        table = table.append_column(pa.field("label", pa.string()), pa.array(labels))
    return table


def _check_channels(found: int, wanted: int, where: str) -> None:
    if found != wanted or not found:
        raise DatasetError(
            f"{found} channels, the first has {wanted}.",
            where=where,
        )


def _padded(sample: list[list[float]]) -> np.ndarray:
    import numpy as np

    steps = max([1, *map(len, sample)])
    made = np.full((len(sample), steps), np.nan)
    for place, channel in enumerate(sample):
        made[place, : len(channel)] = channel
    return np.where(np.isfinite(made), made, np.nan)


def _header(text: str, name: str) -> tuple[bool, list[tuple[int, str]]]:
    """Whether lines end in an answer, and the numbered lines below ``@data``."""
    labelled = False
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        words = line.lower().split()
        if words[:1] in (["@classlabel"], ["@targetlabel"]):
            labelled = words[1:2] == ["true"]
        if words[:1] == ["@data"]:
            return labelled, _below(lines, number)
    raise DatasetError(
        "there is no line @data.",
        where=name,
        remedy="Write the series below a line @data.",
    )


def _below(lines: list[str], first: int) -> list[tuple[int, str]]:
    """The lines from the ``first`` place on with their numbers, without empty ones and comments."""
    numbered = enumerate(map(str.strip, lines[first:]), first + 1)
    return list(filter(_has_values, numbered))


def _has_values(numbered: tuple[int, str]) -> bool:
    """Whether a line, which comes with its number, is neither empty nor a comment."""
    _, line = numbered
    return line[:1] not in ("", "#", "%")


def _steps(channel: str, where: str) -> list[float]:
    """The values of a channel, which are given with their times or alone."""
    values = _STAMPED.findall(channel) or channel.split(",")
    return [_number(value.strip(), where) for value in values]


def _number(value: str, where: str) -> float:
    if value.lower() in _MISSING:
        return nan
    if not is_number(value):
        raise DatasetError(
            f"{value[:60]!r} is not a number.",
            where=where,
            remedy="Write ? for a missing value.",
        )
    return float(value)
