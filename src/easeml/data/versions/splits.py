"""Which rows train, validate and test: at random, by time, whole groups together, or as given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, did_you_mean, first_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from easeml.data.types.column_report import ColumnReport
    from easeml.data.types.declared_columns import Columns

ROLES = ("train", "validation", "test")
UNLABELLED = ("pool", "production")  # roles of rows that have no answer
ALL_ROLES = (*ROLES, *UNLABELLED)
WAYS = ("random", "time", "group", "given")
_SHARES = {"train": 0.6, "validation": 0.2, "test": 0.2}
_CYCLE = ("train", "test", "train", "validation", "train")  # any two neighbours have a train row
FEWEST_ROWS = 5  # rows: one validation row, one test row, and as many again to learn from
_NAMES = {
    **dict.fromkeys(("train", "training", "fit"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("test", "testing", "holdout"), "test"),
}


_SURE_OF_NATURE = 0.75  # that the rows are in the order of a time, or several to a group
_RESERVED = 4  # of the rows without an answer, one of so many is kept to test models


def scattered(ids: np.ndarray) -> np.ndarray:
    """Return a number (N,) for each row id that is as good as random, and always the same.

    The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    """
    import numpy as np

    mixed = np.asarray(ids).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def is_reserved(ids: np.ndarray) -> np.ndarray:
    """Tell for each row of the pool (N,) whether its answer would test models, and teach none.

    One of four, by its id alone: so it is kept from the day it came, and nobody is asked for its
    answer because it looks useful, which would make the test rows a choice.
    """
    import numpy as np

    return scattered(ids) % np.uint64(_RESERVED) == 0


@dataclass(frozen=True)
class Split:
    """``way``: one of ``WAYS``; ``column``: by which, empty where at random."""

    way: str = "random"
    column: str = ""

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> Split:
        """Return the split of a version, by its summary."""
        way, _, column = summary.get("split", "random").partition(":")
        return cls(way, column)

    @classmethod
    def from_text(cls, text: str, columns: Collection[str]) -> Split:
        """Read ``random``, ``time:COLUMN``, ``group:COLUMN`` or ``given:COLUMN``.

        Raises DatasetError.
        """
        way, _, column = text.partition(":")
        needs_column = way != "random"
        if way not in WAYS or needs_column != bool(column):
            raise DatasetError(
                f"{text!r} is not a split.",
                where="split",
                remedy="Use random, time:COLUMN, group:COLUMN or given:COLUMN.",
            )
        if column not in ("", *columns):
            raise DatasetError(
                f"there is no column '{column}'.",
                where="split",
                remedy=did_you_mean(column, columns),
            )
        return cls(way, column)


def row_roles(
    answers: pd.Series,
    split: Split,
    by: np.ndarray | None,
    seed: int,
    notes: list[str],
    first: np.ndarray | None = None,
) -> np.ndarray:
    """Return the role of each row: 60 % train, 20 % validation and 20 % test, or as given.

    ``first``: of each row the place of the first of its copies; at random all copies of a row get
    one role.

    ``by``: the values of the column of the split: a number a row for ``time``, text for others. The
    rows without a time are the first. Of ``notes`` what is unusual is appended to.

    Raises: DatasetError: if a role has no row, or ``by`` holds something else than roles that are
        given.
    """
    if by is None:
        roles = _at_random(answers, seed, notes, first)
    else:
        roles = _by_column(by, split, seed, Counter(), {})

    has_all_roles = set(ROLES).issubset(roles)
    if len(roles) < FEWEST_ROWS or not has_all_roles:
        raise _too_few(len(roles), str(answers.name), split)
    return roles


def _too_few(rows: int, target: str, split: Split) -> DatasetError:
    return DatasetError(
        f"{rows_told(rows)} with a value of '{target}': too few to learn from and to test.",
        where=f"column '{split.column or target}'",
        remedy=(
            f"Add rows: at least {FEWEST_ROWS}, several of each class, "
            f"and some for {', '.join(ROLES)}."
        ),
    )


def split_notes(way: Split, columns: Columns) -> list[str]:
    """What is said of a random split where rows hang together: test quality flatters there."""
    if way.way != "random":
        return []
    inputs = [report for report in columns.columns if report.role == "input"]
    sure = [report for report in inputs if report.nature_confidence >= _SURE_OF_NATURE]
    times = [report.name for report in sure if report.nature == "time"]
    groups = [report.name for report in sure if _only_called_group(report, columns.target)]
    return [*map(_said_of_time, times[:1]), *map(_said_of_group, groups), *columns.group_notes]


def _only_called_group(report: ColumnReport, target: str) -> bool:
    """Whether nothing but the name says that rows of one value belong together."""
    return report.nature == "group" and target not in report.alike


def _said_of_time(name: str) -> str:
    return (
        f"The rows are in the order of '{name}', and test rows were drawn at random from among "
        "them. If you will predict later rows, the test quality flatters: make an application "
        f"that is tested on the latest (--split 'time:{name}')."
    )


def _said_of_group(name: str) -> str:
    return (
        f"Rows of the same '{name}' are among training and test rows. If you will predict for "
        "others, the test quality flatters: make an application that is tested on others "
        f"(--split 'group:{name}')."
    )


def rows_told(count: int) -> str:
    """A number of rows in words."""
    return "1 row" if count == 1 else f"{count:,} rows"


def group_roles(split: Split, by: np.ndarray | None, roles: np.ndarray) -> dict[str, str]:
    """Return the role of each group where rows are split by group, else nothing."""
    if by is None or split.way != "group":
        return {}
    return dict(zip(by.astype(str).tolist(), roles.tolist(), strict=True))


def new_roles(
    answers: pd.Series,
    split: Split,
    by: np.ndarray | None,
    seed: int,
    there: Mapping[str, pd.Series],
    groups: Mapping[str, str],
) -> np.ndarray:
    """Return the roles of rows that join others, by the split that these were divided by.

    ``there``: by role, the answers that are there. At random, of each five rows of a class three
    train, whatever the pieces in which they come. By time, the new rows are divided among
    themselves. A row of a known group has its group's role (``groups``).

    Raises:
        DatasetError: if ``by`` holds something else than roles that are given.
    """
    if by is None:
        return _continued(answers, seed, there)
    rows = {role: len(there[role]) for role in ROLES}
    return _by_column(by, split, seed, rows, groups)


def _by_column(
    by: np.ndarray, split: Split, seed: int, rows: Mapping[str, int], groups: Mapping[str, str]
) -> np.ndarray:
    """Roles by the values of a column; ``rows`` and ``groups`` that have roles count for groups."""
    if split.way == "time":
        return _in_order(by)
    if split.way == "given":
        return _as_given(by, split.column)
    return _known_groups(by, seed, rows, groups)


def _continued(answers: pd.Series, seed: int, there: Mapping[str, pd.Series]) -> np.ndarray:
    """Roles that go on with a cycle: the k-th row of a class takes the k-th place of it.

    The cycle is ``_CYCLE`` after ``_CYCLE``, each shuffled for its class.
    """
    import numpy as np
    import pandas as pd

    codes = np.zeros(len(answers), int)
    earlier = np.array([sum(map(len, there.values()))])  # rows of each class that are there
    if isinstance(answers.dtype, pd.CategoricalDtype):
        codes = answers.cat.codes.to_numpy()
        classes = len(answers.cat.categories)
        earlier = np.sum(
            [np.bincount(one.cat.codes, minlength=classes) for one in there.values()], axis=0
        )
    roles = np.empty(len(answers), dtype=object)
    cycle = np.array(_CYCLE, dtype=object)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        turn, place = np.divmod(earlier[code] + np.arange(len(rows)), len(cycle))
        turns = int(turn[-1]) + 1
        draws = np.random.default_rng([seed, int(code)]).random((turns, len(cycle)))
        order = draws.argsort(axis=1)
        roles[rows] = cycle[order[turn, place]]
    return roles


def _known_groups(
    by: np.ndarray, seed: int, rows: Mapping[str, int], groups: Mapping[str, str]
) -> np.ndarray:
    """The roles of groups that have one; others go where rows are lacking.

    ``rows``: how many each role has already; ``groups``: the roles of known ones.
    """
    import numpy as np

    names = by.astype(str)
    roles = np.array([groups.get(name, "") for name in names], dtype=object)
    is_new = roles == ""
    if is_new.any():
        counts = {role: rows[role] + int((roles == role).sum()) for role in ROLES}
        roles[is_new] = _whole_groups(names[is_new], seed, counts)
    return roles


def _at_random(
    answers: pd.Series, seed: int, notes: list[str], first: np.ndarray | None
) -> np.ndarray:
    """The rows in random order, sorted by class, take the roles of ``_CYCLE`` in turn.

    A copy has the role of the first row that it equals.
    """
    import numpy as np

    if first is None:
        return _in_turn(answers, seed, notes)
    heads, head_of = np.unique(first, return_inverse=True)
    return _in_turn(answers.iloc[heads], seed, notes)[head_of]


def _in_turn(answers: pd.Series, seed: int, notes: list[str]) -> np.ndarray:
    """Roles in turn; the only row of a class is a train row, and ``notes`` say so."""
    import numpy as np
    import pandas as pd

    order = np.random.default_rng(seed).permutation(len(answers))
    roles = np.full(len(answers), "train", dtype=object)
    if isinstance(answers.dtype, pd.CategoricalDtype):
        codes = answers.cat.codes.to_numpy()
        counts = np.bincount(codes, minlength=len(answers.cat.categories))
        single = answers.cat.categories[counts == 1]
        notes += _single_notes(list(map(str, single)), str(answers.name))
        order = order[counts[codes[order]] > 1]
        order = order[np.argsort(codes[order], kind="stable")]
    roles[order] = np.resize(np.array(_CYCLE, dtype=object), len(order))
    return roles


def _single_notes(single: list[str], target: str) -> list[str]:
    """What is said of classes with a single row."""
    if not single:
        return []
    return [
        f"Classes of '{target}' with one row only, which is used for training: "
        f"{first_of(single, 5)}."
    ]


def _in_order(moments: np.ndarray) -> np.ndarray:
    """The earliest rows train, the latest test; rows of the same moment have the same role."""
    import numpy as np

    known = np.where(np.isnan(moments), -np.inf, moments)
    _, moment = np.unique(known, return_inverse=True)
    before = np.concatenate([[0], np.cumsum(np.bincount(moment))[:-1]])
    place = before[moment] / len(known)  # share of the rows before this one's moment
    roles = np.full(len(known), "validation", dtype=object)
    roles[place < _SHARES["train"]] = "train"
    roles[place >= 1 - _SHARES["test"]] = "test"
    return roles


def _whole_groups(groups: np.ndarray, seed: int, there: Mapping[str, int]) -> np.ndarray:
    """Groups in random order go, each as a whole, to the role that lacks most of its share.

    ``there``: how many rows each role has already.
    """
    import numpy as np

    _, group = np.unique(groups, return_inverse=True)
    sizes = np.bincount(group)
    rows = len(groups) + sum(there.values())
    lacking = {role: share * rows - there[role] for role, share in _SHARES.items()}
    of_group = np.empty(len(sizes), dtype=object)
    for one in np.random.default_rng(seed).permutation(len(sizes)):
        role = max(lacking, key=lambda name: lacking[name] / _SHARES[name])
        of_group[one] = role
        lacking[role] -= int(sizes[one])
    return of_group[group]


def _as_given(given: np.ndarray, column: str) -> np.ndarray:
    import numpy as np

    texts = list(map(str, given))
    roles = list(map(_NAMES.get, map(str.lower, texts)))
    if None in roles:
        raise DatasetError(
            f"{texts[roles.index(None)]!r} is not a role of a row.",
            where=f"column '{column}'",
            remedy=f"Write {', '.join(ROLES)}.",
        )
    return np.array(roles, dtype=object)
