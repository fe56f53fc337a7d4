"""What feasibility, cleaning plan and labelling order keep, so that they can follow their data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.relation import Relation
from easeml.relation.operations import take_rows

if TYPE_CHECKING:
    import pandas as pd

    from easeml.lifecycle.feasibility import BayesError

_MOST_MOVED = 10  # labelled rows that a queue takes in at once; more cost as much as a new one


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
        """Take in changed rows. False where the verdict or a label could be another one."""
        moved = likeliest_moved(self.relation, relation, rows)
        if moved is None:
            return False
        before, after = moved
        target = str(relation.target)
        if not _same_cells(before.filter([target]), after.filter([target])).all():
            return False
        changed = set(self._moved)
        for place in rows[~_same_cells(before, after)]:
            if relation.roles is None or relation.roles[place] in ("train", "validation"):
                changed.add(int(place))
        shown = with_repairs(self._found, len(changed))
        if shown is None:
            return False
        self.relation = relation
        self._moved = changed
        self._shown = shown
        return True


def with_repairs(found: BayesError, repaired: int) -> BayesError | None:
    """Return a study whose bounds allow for the repair of some of its rows.

    None for numbers, whose error one row can change by any amount, where the bounds would be wider
    by more than a tenth, and where the verdict might change.
    """
    if not repaired:
        return found
    if not found.classes:
        return None
    share = repaired / found.rows
    widest = (found.upper - found.lower) / 10
    if share > widest:
        return None

    lower = max(0.0, found.lower - share)
    upper = min(1.0, found.upper + share)
    if found.goal is None or found.verdict not in ("realistic", "unrealistic"):
        return replace(found, lower=lower, upper=upper)

    error_allowed = 1 - found.goal
    is_realistic = found.verdict == "realistic"
    holds = upper <= error_allowed if is_realistic else lower > error_allowed
    if not holds:
        return None
    risk = (1 - found.confidence) / 2  # what each bound is wrong by, which decided
    return replace(found, lower=lower, upper=upper, risk=risk)


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
        roles = relation.roles
        if roles is None or any(roles[row] == "validation" for row in rows):
            return False
        train = [int(row) for row in rows if roles[row] == "train"]
        if not self._table.settle(relation, train):
            return False
        self.relation, self._changed = relation, self._changed + len(train)
        return True


class LabellingAnalysis:
    """Which rows of the pool to label first, over rows whose cells are repaired.

    Values are exact for the rows as they are now. Scales of columns, and the models that guess the
    labels of the pool, stay those of the first order.
    """

    def __init__(self, relation: Relation, n: int = 50, k: int = 5, seed: int = 0):
        from easeml.lifecycle.features import fitted_encoder
        from easeml.lifecycle.labeling import MovingQueue

        self.relation = relation
        self._n = n
        self._changed = 0
        target = target_of(relation)
        frames = {role: rows_in(relation, role) for role in ("train", "validation", "pool")}
        self._row_ids = {role: frame.index for role, frame in frames.items()}
        self._encode, X = fitted_encoder(frames["train"].drop(columns=target))
        self._spread = X.std(axis=0)
        self._queue = MovingQueue(
            X,
            frames["train"][target].astype(str),
            self._encode(frames["pool"].drop(columns=target)),
            self._encode(frames["validation"].drop(columns=target)),
            frames["validation"][target].astype(str),
            k,
            seed=seed,
        )

    @property
    def answer(self) -> dict[str, Any]:
        """The queue; rows are named by their ids (``row_ids``)."""
        queue = self._queue.queue(self._n)
        answer = queue.to_json()
        answer["row_ids"] = [plain(row_id) for row_id in self._row_ids["pool"][queue.rows]]
        if self._changed:
            answer["updated"] = (
                f"{_rows(self._changed)} changed since the first order. Distances are off by at "
                f"most {self._stretch():.2g} of themselves, as columns are scaled as they were "
                "then. Labels are guessed by the models of then."
            )
        return answer

    def follow(self, relation: Relation, rows: np.ndarray) -> bool:
        """Take in changed rows. False where a label changed, or too many rows."""
        if len(rows) > _MOST_MOVED:
            return False
        moved = likeliest_moved(self.relation, relation, rows)
        if moved is None or relation.roles is None:
            return False
        before, after = moved
        target = str(relation.target)
        is_asked = np.isin([relation.roles[row] for row in rows], list(self._row_ids))
        is_other = ~_same_cells(before, after) & is_asked
        same_label = _same_cells(before.filter([target]), after.filter([target]))
        if (is_other & ~same_label).any():
            return False
        for number in np.flatnonzero(is_other).tolist():
            place = self._encode(after.iloc[[number]].drop(columns=target))[0]
            self._move(relation.roles[rows[number]], after.index[number], place)
            self._changed += 1
        self.relation = relation
        return True

    def _move(self, role: str, row_id: Any, place: np.ndarray) -> None:
        row = int(self._row_ids[role].get_indexer([row_id])[0])
        if role == "train":
            self._queue.move_labelled(row, place)
        elif role == "pool":
            self._queue.move_unlabelled(row, place)
        else:
            self._queue.move_validation(row, place)

    def _stretch(self) -> float:
        """Return by which share distances would differ if columns were scaled anew, at most."""
        spread = self._queue.labelled.std(axis=0)
        there = (self._spread > 0) & (spread > 0)
        return float(np.abs(self._spread[there] / spread[there] - 1).max(initial=0.0))


def likeliest_moved(
    before: Relation, after: Relation, rows: np.ndarray
) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Return rows as they were and are likeliest, in the same order; None where one may not exist.

    Blocks that vary together over several rows are likeliest only together, so they give None, too.
    """
    if not (before.content.blocks.independent and after.content.blocks.independent):
        return None
    old = Relation(take_rows(before.content, rows)).to_frame()
    new = Relation(take_rows(after.content, rows)).to_frame()
    if len(old) != len(rows) or len(new) != len(rows):
        return None
    return old, new


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
    return value.item() if hasattr(value, "item") else value


def _same_cells(before: pd.DataFrame, after: pd.DataFrame) -> np.ndarray:
    """Tell for each row whether all its cells are the same; missing ones are."""
    left = before.astype(object)
    right = after.astype(object)
    same = (left == right) | (left.isna() & right.isna())
    return np.asarray(same.to_numpy(dtype=bool).all(axis=1))


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
