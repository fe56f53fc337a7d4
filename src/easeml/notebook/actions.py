"""What a person can do with a relation by a button."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from easeml.lifecycle.cleaning.frames import Frame
from easeml.lineage import StagedRelation, Suggestion
from easeml.relation import Candidate, RowCandidates, optional_row

_ROWS = 5  # offered at a time
_CLASSES = 10  # offered as buttons


@dataclass(frozen=True)
class Action:
    """A button. ``detail``: what it does and why; ``make``: the relation that comes out."""

    label: str
    detail: str
    make: Callable[[], StagedRelation]


@dataclass(frozen=True)
class Group:
    """Buttons that belong together."""

    title: str
    actions: tuple[Action, ...]


def next_steps(suggestions: Sequence[Suggestion]) -> Group:
    """Return a button a suggestion."""
    actions = []
    for each in suggestions:
        detail = str(each).removeprefix(f"{each.action}: ")
        actions.append(Action(each.action, detail, _given(each.step)))
    return Group("Next step", tuple(actions))


def to_accept(relation: StagedRelation, rows: Sequence[Any] = ()) -> list[Group]:
    """Return a group for each of the first cells in doubt, a button a candidate.

    ``rows``: ids of those to begin with, such as the rows of a plan. Cells that vary together are
    accepted together.
    """
    frame: Frame = relation.candidates()
    several = frame.groupby("block")["candidate"].transform("nunique") > 1
    doubtful = frame[several]
    wanted = doubtful
    if rows:
        wanted = doubtful[doubtful["row"].isin(list(rows))]
    groups = []
    for block in wanted["block"].unique()[:_ROWS]:
        lines = doubtful[doubtful["block"] == block]
        groups.append(_candidates(relation, lines))
    return groups


def to_label(relation: StagedRelation, rows: Sequence[Any]) -> list[Group]:
    """Return a group for each of the first rows without a label, a button a class.

    ``rows``: their ids, the most useful first.
    """
    frame: Frame = relation.to_frame()
    target = str(relation.target)
    classes = list(frame[target].dropna().unique())[:_CLASSES]
    unlabelled = frame.index[frame[target].isna()]
    waiting = list(filter(unlabelled.__contains__, rows))
    groups = []
    for row_id in waiting[:_ROWS]:
        shown = _cells_of(frame, row_id, target)
        detail = f"{target} of row {row_id}"
        actions = []
        for label in classes:
            changed = relation.with_candidates(row_id, target, {_plain(label): 1.0})
            actions.append(Action(str(label), detail, _given(changed)))
        groups.append(Group(f"Row {row_id}: {shown}"[:200], tuple(actions)))
    return groups


def to_check(relation: StagedRelation, answer: Mapping[str, Any]) -> list[Group]:
    """Return a group for each of the first labels that look wrong: what stands there, what may be.

    ``answer``: of ``check_labels``. Labels that somebody decided are left out.
    """
    frame: Frame = relation.to_frame()
    target = str(relation.target)
    candidates: Frame = relation.candidates()
    decided = set(candidates.loc[candidates["column"] == target, "row"])
    groups = []
    told = zip(answer["row_ids"], answer["labels"], answer["suggestions"], strict=True)
    for row_id, label, suggestion in told:
        if row_id in decided or row_id not in frame.index:
            continue
        actions = []
        for value in (label, suggestion):
            changed = relation.with_candidates(row_id, target, {value: 1.0})
            actions.append(Action(str(value), f"{target} of row {row_id}", _given(changed)))
        shown = _cells_of(frame, row_id, target)
        groups.append(Group(f"Row {row_id}, {target} {label}: {shown}"[:200], tuple(actions)))
    return groups[:_ROWS]


def _cells_of(frame: Frame, row_id: Any, target: str) -> str:
    """Return the cells of a row in words, but for the target."""
    cells = frame.loc[row_id].drop(target)
    return ", ".join([f"{name} {value}" for name, value in cells.items()])


def _candidates(relation: StagedRelation, lines: Frame) -> Group:
    """Return a button for each candidate of one block."""
    row_id = lines["row"].iloc[0]
    columns = ", ".join(lines["column"].dropna().unique()) or "exists"
    actions = []
    for _, cells in lines.groupby("candidate"):
        actions.append(_candidate(relation, row_id, cells))
    return Group(f"Row {row_id}, {columns}", tuple(actions))


def _candidate(relation: StagedRelation, row_id: Any, cells: Frame) -> Action:
    """Return the button that accepts one candidate; ``cells``: a line for each cell of it."""
    first = cells.iloc[0]
    exists = bool(first["exists"])
    # The line of a row that only may exist names no column.
    named = cells[cells["column"].notna()]
    values = dict(zip(named["column"], map(_plain, named["value"]), strict=True))
    told = optional_row(row_id, float(exists))
    label = "yes" if exists else "no"
    if values:
        told = RowCandidates(row_id, [Candidate(values, 1.0, exists)])
        label = ", ".join(map(str, values.values()))
    accepted = relation.with_all([told])
    return Action(label, _likely(float(first["weight"]), first["tool"]), _given(accepted))


def _likely(weight: float, tool: str | None) -> str:
    """Say how likely a candidate is, and which tool said so."""
    said = f"{weight:.0%} likely"
    if weight < 0.01:
        said = "less than 1% likely"
    if tool:
        said += f", by {tool}"
    return said


def _given(relation: StagedRelation) -> Callable[[], StagedRelation]:
    return lambda: relation


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
