"""The timeline of a traced task: who did what, from when to when."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from easeml.contract.task_views import TaskTrace, TraceBar, TraceTrack
from easeml.figures import Axis, Figure, Series, numbers
from easeml.web.charts import time_unit

_STEP, _OWN, _OTHER = "steps", "code of easeml", "code of libraries and models"
_TONES = {_STEP: "accent", _OWN: "second", _OTHER: "3"}
_GROUPS = {"": _STEP, "easeml": _OWN}  # by the package that code is of
_WIDTH = 0.8  # of a row
_LONGEST_NAME = 22


@dataclass(frozen=True, slots=True)
class _Placed:
    """A bar, and the row that it stands in."""

    bar: TraceBar
    row: int

    @property
    def group(self) -> str:
        """Which code the bar stands for."""
        package = self.bar.module.split(".")[0]
        return _GROUPS.get(package, _OTHER)

    @property
    def note(self) -> str:
        where = f" ({self.bar.module})" if self.bar.module else ""
        return f"{self.bar.name}{where}: {self.bar.end - self.bar.begin:.3g} s"


def trace_figure(trace: TaskTrace) -> Figure | None:
    """Return the timeline; None where there is nothing to show. A row stands for a depth of calls."""
    rows, placed = _placed(trace.tracks)
    if not placed:
        return None
    began = min(one.bar.begin for one in placed)
    ended = max(one.bar.end for one in placed)
    length, unit = time_unit(ended - began)
    groups: defaultdict[str, list[_Placed]] = defaultdict(list)
    for one in placed:
        groups[one.group].append(one)
    in_order = list(filter(groups.__contains__, _TONES))
    series = [_series(group, groups[group], began, length) for group in in_order]
    return Figure(
        "Timeline",
        Axis("since it was asked for", unit, low=0.0),
        Axis("what did it", scale="category", categories=tuple(rows)),
        tuple(series),
    )


def _placed(tracks: Sequence[TraceTrack]) -> tuple[list[str], list[_Placed]]:
    """Return the labels of all rows, of which the first of a track has its name, and all bars."""
    rows: list[str] = []
    placed: list[_Placed] = []
    for track in tracks:
        first = len(rows)
        deepest = max((bar.depth for bar in track.bars), default=0)
        rows.append(f"{track.process}: {track.name}"[:_LONGEST_NAME])
        rows += [""] * deepest
        placed += [_Placed(bar, first + bar.depth) for bar in track.bars]
    return rows, placed


def _series(group: str, own: Sequence[_Placed], began: float, length: float) -> Series:
    """Return the bars of a group, each between its two moments."""
    begins = []
    ends = []
    for one in own:
        begins.append((one.bar.begin - began) / length)
        ends.append((one.bar.end - began) / length)
    return Series(
        group,
        tuple(ends),
        numbers(one.row for one in own),
        kind="bars",
        tone=_TONES[group],
        base=tuple(begins),
        notes=tuple(one.note for one in own),
        width=_WIDTH,
    )
