"""Time series in ``.ts`` files (the UEA and UCR archives): one sample a line, channels between colons."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from easeml.data._csv import decoded
from easeml.data._errors import DatasetError
from easeml.data._source import Source
from easeml.data._typed import MOST_COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

_STAMPED = re.compile(r"\(([^()]*),([^(),]*)\)")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")
_MISSING = frozenset({"?", "nan", ""})


def read_series(source: Source) -> pa.Table:
    """Read the series as one column for each channel and step, ``channel 1[0]``, and the answer as ``label``.

    Shorter series end in missing values, and so do those that are measured at given times, of which the order alone
    is kept; a note says so.

    Raises:
        DatasetError: with the line, for values that are no numbers, or lines with other channels than the first.
    """
    import pyarrow as pa

    text, _ = decoded(source.read(), source.name)
    labelled, lines = _header(text, source.name)
    samples: list[list[list[str]]] = []
    labels: list[str] = []
    for number, line in lines:
        *channels, last = line.split(":")
        if labelled:
            labels.append(last.strip())
        else:
            channels.append(last)
        samples.append([_steps(channel, f"{source.name}, line {number}") for channel in channels])
        if len(channels) != len(samples[0]) or not channels:
            found, wanted = len(channels), len(samples[0])
            raise DatasetError(f"{found} channels, the first has {wanted}.", where=f"{source.name}, line {number}")
    if not samples:
        raise DatasetError("there is no series.", where=source.name, remedy="Write one a line below @data.")
    lengths = [max(len(sample[c]) for sample in samples) for c in range(len(samples[0]))]
    if sum(lengths) > MOST_COLUMNS:
        raise DatasetError(f"more than {MOST_COLUMNS:,} steps.", where=source.name, remedy="Shorten the series.")
    columns = {
        f"channel {c + 1}[{step}]": pa.array([sample[c][step] if step < len(sample[c]) else "" for sample in samples])
        for c, length in enumerate(lengths)
        for step in range(length)
    }
    if labelled:
        columns["label"] = pa.array(labels)
    shorter = any(len(sample[c]) != length for sample in samples for c, length in enumerate(lengths))
    table = pa.table(columns)
    note = "The series are of unequal length; the shorter ones end in missing values." if shorter else ""
    return table.replace_schema_metadata({"note": note}) if note else table


def _header(text: str, name: str) -> tuple[bool, list[tuple[int, str]]]:
    """Whether lines end in an answer, and the numbered lines below ``@data``."""
    labelled, lines = False, text.split("\n")
    for number, line in enumerate(lines, 1):
        words = line.strip().lower().split()
        if words and words[0] in ("@classlabel", "@targetlabel"):
            labelled = len(words) > 1 and words[1] == "true"
        if words and words[0] == "@data":
            rest = ((i, row.strip()) for i, row in enumerate(lines[number:], number + 1))
            return labelled, [(i, row) for i, row in rest if row and not row.startswith(("#", "%"))]
    raise DatasetError("there is no line @data.", where=name, remedy="Write the series below a line @data.")


def _steps(channel: str, where: str) -> list[str]:
    stamped = _STAMPED.findall(channel)
    values = [value for _, value in stamped] if stamped else channel.split(",")
    made = []
    for value in map(str.strip, values):
        if value.lower() in _MISSING:
            made.append("")
        elif _NUMBER.fullmatch(value):
            made.append(value)
        else:
            raise DatasetError(f"{value[:60]!r} is not a number.", where=where, remedy="Write ? for a missing value.")
    return made
