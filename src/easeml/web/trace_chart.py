"""The timeline of a traced task: who did what, from when to when."""

from collections.abc import Sequence
from dataclasses import dataclass

from easeml.contract.task_views import TaskTrace, TraceBar
from easeml.figures import Axis, Figure, Series
from easeml.web.charts import time_unit

_STEP, _OWN, _OTHER = "steps", "code of easeml", "code of libraries and models"
_TONES = {_STEP: "accent", _OWN: "second", _OTHER: "3"}
_WIDTH = 0.8  # of a row
_LONGEST_NAME = 22


@dataclass(frozen=True, slots=True)
class _Placed:
    """A bar, and the row that it stands in."""

    bar: TraceBar
    row: int

    @property
    def group(self) -> str:
        if not self.bar.module:
            return _STEP
        return _OWN if self.bar.module.split(".")[0] == "easeml" else _OTHER


def trace_figure(trace: TaskTrace) -> Figure | None:
    """Return the timeline; None where there is nothing to show. A row stands for a depth of calls."""
    rows: list[str] = []
    placed: list[_Placed] = []
    for track in trace.tracks:
        first = len(rows)
        depth = 1 + max((bar.depth for bar in track.bars), default=0)
        name = f"{track.process}: {track.name}"[:_LONGEST_NAME]
        rows += [name, *[""] * (depth - 1)]
        placed += [_Placed(bar, first + bar.depth) for bar in track.bars]
    if not placed:
        return None
    began = min(one.bar.begin for one in placed)
    ended = max(one.bar.end for one in placed)
    length, unit = time_unit(ended - began)
    groups = [_series(group, placed, began, length) for group in _TONES]
    return Figure(
        "Timeline",
        Axis("since it was asked for", unit, low=0.0),
        Axis("what did it", scale="category", categories=tuple(rows)),
        tuple(series for series in groups if series.x),
    )


def _series(group: str, placed: Sequence[_Placed], began: float, length: float) -> Series:
    """Return the bars of a group, each between its two moments."""
    own = [one for one in placed if one.group == group]
    return Series(
        group,
        tuple((one.bar.end - began) / length for one in own),
        tuple(float(one.row) for one in own),
        kind="bars",
        tone=_TONES[group],
        base=tuple((one.bar.begin - began) / length for one in own),
        notes=tuple(_note(one.bar) for one in own),
        width=_WIDTH,
    )


def _note(bar: TraceBar) -> str:
    where = f" ({bar.module})" if bar.module else ""
    return f"{bar.name}{where}: {bar.end - bar.begin:.3g} s"
