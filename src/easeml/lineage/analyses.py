"""What feasibility, cleaning plan and labelling order keep, so that they can follow their data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.data import ALL_ROLES
from easeml.errors import InvalidInput
from easeml.lifecycle.questions.bounds import bounds_after
from easeml.relation import Relation
from easeml.relation.operations import take_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from easeml.lifecycle.feasibility import BayesError

_MOST_MOVED = 4  # rows that a queue takes in one by one; more cost as much as one pass over all


class FeasibilityAnalysis:
    """Whether a goal can be reached, over rows that are repaired.

    Repairs move the bounds of the error by at most their share of the rows: the least error of any
    model changes by no more than the distribution does (in total variation).
    """

    def __init__(
        self,
        relation: Relation,
        goal: float | None = None,
        confidence: float = 0.95,
        seed: int = 0,
    ):
        from easeml.lifecycle.feasibility import study

        self.relation = relation
        target = target_of(relation)
        asked = relation if relation.roles is None else relation.in_role("train", "validation")
        self._found = study(asked.to_frame(), target, goal, confidence=confidence, seed=seed)
        self._moved: set[int] = set()
        self._shown = self._found

    @property
    def answer(self) -> dict[str, Any]:
        """The answer of ``lifecycle.feasibility.study``; ``updated`` says what was repaired since."""
        answer = self._shown.to_json()
        if self._moved:
            share = len(self._moved) / self._found.rows
            answer["updated"] = (
                f"{_rows(len(self._moved))} changed since the study. "
                f"Each bound is wider by {share:.2g}, the most that this can make."
            )
        return answer

    def follow(self, relation: Relation, rows: np.ndarray) -> bool:
        """Take in rows that changed, were labelled or left. False where the verdict could be another one."""
        moved = likeliest_moved(self.relation, relation, rows)
        if moved is None:
            return False
        before, after = moved
        is_asked = _in_roles(relation, rows, "train", "validation")
        labels = after.loc[is_asked, target_of(relation)]
        if not set(labels.astype(str)) <= set(self._found.classes):
            return False  # a label that was in no row, or none

        is_asked |= _in_roles(self.relation, rows, "train", "validation")
        is_other = ~_same_cells(before, after) | ~_same_roles(self.relation, relation, rows)
        changed = self._moved.union(rows[is_other & is_asked].tolist())
        shown = with_repairs(self._found, len(changed))
        if shown is None:
            return False
        self.relation = relation
        self._moved = changed
        self._shown = shown
        return True


def with_repairs(found: BayesError, repaired: int) -> BayesError | None:
    """Return a study whose bounds allow for the repair of some of its rows.

    None for numbers, whose error one row can change by any amount, and where a new study would say
    more (``bounds_after``).
    """
    if not repaired:
        return found
    if not found.classes:
        return None
    share = repaired / found.rows
    verdict = found.verdict or ""
    bounds = bounds_after(1 - found.upper, 1 - found.lower, share, found.goal, verdict)
    if bounds is None:
        return None

    low, high = bounds
    wider = replace(found, lower=1 - high, upper=1 - low)
    if found.goal is None or verdict not in ("realistic", "unrealistic"):
        return wider  # nothing was decided by the bounds
    risk = (1 - found.confidence) / 2  # what each bound is wrong by, which decided
    return replace(wider, risk=risk)


class CleaningAnalysis:
    """Which rows to clean first, over rows whose doubts are settled.

    Equal to a new plan, but for the scale of columns, which stays that of the first.
    """

    def __init__(self, relation: Relation, n: int = 50, k: int = 3):
        from easeml.lifecycle.doubts import CleaningTable

        self.relation = relation
        self._n = n
        self._changed = 0
        self._table = CleaningTable(relation, k)
        self._place_of = relation.in_role("train").row_ids

    @property
    def answer(self) -> dict[str, Any]:
        """The plan; rows are named by their ids (``row_id``)."""
        answer = self._table.plan(self._n).to_json()
        for planned in answer["planned"]:
            planned["row_id"] = plain(self._place_of[planned["row"]])
        if self._changed:
            answer["updated"] = (
                f"{_rows(self._changed)} changed since the first plan. Distances are off by at "
                f"most {self._table.stretch:.2g} of themselves, as columns are scaled as they were "
                "then."
            )
        return answer

    def follow(self, relation: Relation, rows: np.ndarray) -> bool:
        """Take in rows that became certain. False where a label or a validation row changed."""
        if _in_roles(relation, rows, "validation").any():
            return False
        if not _same_roles(self.relation, relation, rows).all():
            return False
        train = rows[_in_roles(relation, rows, "train")].tolist()
        if not self._table.settle(relation, train):
            return False
        self.relation = relation
        self._changed += len(train)
        return True


class LabellingAnalysis:
    """Which rows of the pool to label first, over rows that are repaired and labelled.

    Values are exact for the rows as they are now. Scales of columns, and the models that guess the
    labels of the pool, stay those of the first order. A few rows whose cells changed are taken in
    one by one; a batch, and any new label, by one pass over all rows.
    """

    def __init__(self, relation: Relation, n: int = 50, k: int = 5, seed: int = 0):
        from easeml.lifecycle.features import fitted_encoder
        from easeml.lifecycle.labeling import MovingQueue

        self.relation = relation
        self._n = n
        self._changed = 0
        frames = _frames_of(relation)
        self._row_ids = {role: frame.index for role, frame in frames.items()}
        inputs = frames["train"].drop(columns=target_of(relation))
        self._encode, X = fitted_encoder(inputs)
        self._spread = X.std(axis=0)
        self._queue = MovingQueue(*self._arrays(frames), k, seed=seed)

    @property
    def answer(self) -> dict[str, Any]:
        """The queue; rows are named by their ids (``row_ids``)."""
        queue = self._queue.queue(self._n)
        answer = queue.to_json()
        answer["row_ids"] = list(map(plain, self._row_ids["pool"][queue.rows]))
        if self._changed:
            answer["updated"] = (
                f"{_rows(self._changed)} changed since the first order. Distances are off by at "
                f"most {self._stretch():.2g} of themselves, as columns are scaled as they were "
                "then. Labels are guessed by the models of then."
            )
        return answer

    def follow(self, relation: Relation, rows: np.ndarray) -> bool:
        """Take in changed rows. False where there are other classes, or no rows of a role any more."""
        moved = likeliest_moved(self.relation, relation, rows)
        roles = relation.roles
        if moved is None or roles is None:
            return False
        before, after = moved
        is_asked = _in_roles(relation, rows, *self._row_ids)
        is_asked |= _in_roles(self.relation, rows, *self._row_ids)
        is_moved = ~_same_roles(self.relation, relation, rows)
        is_moved |= ~_same_labels(before, after, relation)
        is_other = (~_same_cells(before, after) | is_moved) & is_asked
        others = np.flatnonzero(is_other).tolist()
        if (is_moved & is_asked).any() or len(others) > _MOST_MOVED:
            followed = self._renew(relation)
        else:
            self._take_in(after.iloc[others], np.asarray(roles)[rows[others]])
            followed = True
        if followed:
            self.relation = relation
            self._changed += len(others)
        return followed

    def _renew(self, relation: Relation) -> bool:
        """Take in any changes by one pass over all rows."""
        if not set(self._row_ids) <= set(relation.roles or ()):
            return False
        frames = _frames_of(relation)
        queue = self._queue.renewed(*self._arrays(frames))
        if queue is None:
            return False
        self._queue = queue
        self._row_ids = {role: frame.index for role, frame in frames.items()}
        return True

    def _take_in(self, rows: pd.DataFrame, roles: np.ndarray) -> None:
        """Take in rows whose cells changed, one by one."""
        for number, role in enumerate(roles.tolist()):
            row = rows.iloc[[number]]
            place = self._encode(row.drop(columns=target_of(self.relation)))[0]
            self._move(role, row.index[0], place)

    def _arrays(self, frames: Mapping[str, pd.DataFrame]) -> tuple[Any, Any, Any, Any, Any]:
        """Return what a queue is made of."""
        target = target_of(self.relation)
        inputs = {role: self._encode(frame.drop(columns=target)) for role, frame in frames.items()}
        labels = {role: frames[role][target].astype(str) for role in ("train", "validation")}
        return (
            inputs["train"],
            labels["train"],
            inputs["pool"],
            inputs["validation"],
            labels["validation"],
        )

    def _move(self, role: str, row_id: Any, place: np.ndarray) -> None:
        """Move a row to another place in the space of its encoded columns."""
        row = int(self._row_ids[role].get_indexer([row_id])[0])
        move_of = {
            "train": self._queue.move_labelled,
            "pool": self._queue.move_unlabelled,
            "validation": self._queue.move_validation,
        }
        move_of[role](row, place)

    def _stretch(self) -> float:
        """Return by which share distances would differ if columns were scaled anew, at most."""
        spread = self._queue.labelled.std(axis=0)
        there = (self._spread > 0) & (spread > 0)
        return float(np.abs(self._spread[there] / spread[there] - 1).max(initial=0.0))


def _frames_of(relation: Relation) -> dict[str, pd.DataFrame]:
    """Return the rows of a queue by role. Raises InvalidInput where there are none."""
    return {role: rows_in(relation, role) for role in ("train", "validation", "pool")}


def likeliest_moved(
    before: Relation, after: Relation, rows: np.ndarray
) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Return rows as they were and are likeliest, in the same order; None where one may not exist.

    Blocks that vary together over several rows are likeliest only together, so they give None, too.
    """
    old = _likeliest(before, rows)
    new = _likeliest(after, rows)
    if old is None or new is None:
        return None
    return old, new


def _likeliest(relation: Relation, rows: np.ndarray) -> pd.DataFrame | None:
    """Return some rows as they are likeliest; None where they are likeliest only with others."""
    content = relation.content
    if not content.blocks.independent:
        return None
    frame = Relation(take_rows(content, rows)).to_frame()
    if len(frame) != len(rows):
        return None  # one of them likeliest does not exist
    return frame


def rows_in(relation: Relation, role: str) -> pd.DataFrame:
    """Return the rows of a role, as they are likeliest. Raises InvalidInput where there are none."""
    found = relation.in_role(role).to_frame()
    if found.empty:
        raise InvalidInput(f"There are no {role} rows.", remedy="Use split(), or give roles.")
    return found


def target_of(relation: Relation) -> str:
    """Return the column of labels. Raises InvalidInput where there is none."""
    if relation.target is None:
        raise InvalidInput("The relation has no target.", remedy="Name one in from_frame.")
    return relation.target


def plain(value: Any) -> Any:
    """Return a row id as a plain value, which JSON holds."""
    if isinstance(value, np.generic):
        return value.item()
    return value


def _in_roles(relation: Relation, rows: np.ndarray, *roles: str) -> np.ndarray:
    """Tell of some rows whether their role is one of some; all are where there are no roles."""
    role_of = relation.content.roles
    if role_of is None:
        return np.ones(len(rows), dtype=bool)
    numbers = list(map(ALL_ROLES.index, roles))
    return np.isin(role_of[rows], numbers)


def _same_roles(before: Relation, after: Relation, rows: np.ndarray) -> np.ndarray:
    """Tell for each of some rows whether its role is the same."""
    old = np.asarray(before.content.roles_at(rows))
    new = np.asarray(after.content.roles_at(rows))
    return np.broadcast_to(old == new, len(rows))  # without roles it is one True


def _same_labels(before: pd.DataFrame, after: pd.DataFrame, relation: Relation) -> np.ndarray:
    """Tell for each row whether its label is the same."""
    target = [str(relation.target)]
    return _same_cells(before.filter(target), after.filter(target))


def _same_cells(before: pd.DataFrame, after: pd.DataFrame) -> np.ndarray:
    """Tell for each row whether all its cells are the same; missing ones are."""
    left = before.astype(object)
    right = after.astype(object)
    same = (left == right) | (left.isna() & right.isna())
    return np.asarray(same.to_numpy(dtype=bool).all(axis=1))


def _rows(count: int) -> str:
    """Return a number of rows in words."""
    if count == 1:
        return "1 row"
    return f"{count:,} rows"
