"""Changes of a declared version: rows that join it, and train rows switched off or on.

Each change makes a new version.

No row ever changes its id. Only a row of the pool that was labelled changes its role (``answers``),
and a worn-out test row (``retired``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError
from easeml.data.types.cells import to_json
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.text_tables import ROW, ROWS_COUNT, noted
from easeml.data.versions import plausible
from easeml.data.versions.copies import compared_columns, content_keys, roles_of_copies
from easeml.data.versions.declared import Declared, report_named, split_values
from easeml.data.versions.fitting import fit_table
from easeml.data.versions.folds import with_folds
from easeml.data.versions.row_weights import (
    beside,
    left_out_notes,
    together,
    weight_report,
    weights_of_table,
)
from easeml.data.versions.splits import ALL_ROLES, ROLES, UNLABELLED, Split, group_roles, new_roles

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

_SHOWN = 12  # differences of a file that does not fit
# Of a summary: no change but its own touches it.
_LASTING = ("target", "seed", "split", "past_only", "retired", "corrected")


def feed(
    version: Declared,
    table: pa.Table,
    name: str,
    role: str | None = None,
    *,
    anyway: bool = False,
) -> Declared:
    """Return ``version`` with the rows of ``table`` under new ids in their order.

    ``table`` is as ``read_table`` gives it.

    ``role``: of all new rows; None: rows with an answer are divided as the version was, the others
    join the pool. Answers of rows that are fed as pool or production are not kept. ``name`` of the
    file, for messages. ``anyway``: rows join that look broken, too. A class of an input that was
    not there before counts as empty, with a note, in at most one of twenty cells, or one in all.

    Raises:
        DatasetError: naming every difference, if the table does not fit the version's schemas; and
            every column that is plainly broken in the new rows (``plausible``).
    """
    _check_role(role)
    _check_may_lack_answers(version, role)
    split = Split.of(version.summary)
    divided_by = split.column if role is None else ""
    frame, notes_on_cells = _typed_rows(version, table, name, role, divided_by)
    weights, counts = _weights_of_rows(version, table, role)
    frame = frame.loc[counts]
    # Production is watched as it comes; nothing learns from it.
    if not anyway and role != "production":
        plausible.check(version.columns, _labelled(version), frame, name)
    answered = frame[version.target].notna().to_numpy()
    by = None
    if divided_by:
        by = split_values(table, split, report_named(divided_by, version.columns))
        by = by[counts][answered]
    roles = _assigned_roles(version, frame, role, answered, split, by)

    notes = list(filter(None, [noted(table.schema, b"note")]))
    notes += [*notes_on_cells, *left_out_notes(~counts), *_feed_notes(version, role, answered)]
    notes += _known_rows(version, frame.loc[_are(roles, ROLES)])
    frame.loc[_are(roles, UNLABELLED), version.target] = None  # such rows are without answers
    grown = replace(
        version,
        next_row=version.next_row + table.num_rows,
        groups={**version.groups, **group_roles(split, by, roles[answered])},
        weights=together(version.weights, weights),
    )
    return _with_rows(grown, frame, roles, notes)


def _check_role(role: str | None) -> None:
    if role not in (None, *ALL_ROLES):
        raise DatasetError(
            f"{role!r} is not a role of a row.",
            where="role",
            remedy=f"One of {', '.join(ALL_ROLES)}.",
        )


def _check_may_lack_answers(version: Declared, role: str | None) -> None:
    """Raise DatasetError where rows were to be kept without the several answers that they have."""
    several = {*version.schema_out.parts, *version.schema_out.labels_of_rows}
    if role in UNLABELLED and several:
        raise DatasetError(
            f"{role.capitalize()} rows are kept without an answer, which rows cannot be that may "
            "have several.",
            where="role",
            remedy="Feed rows whose answers are known; for the others: easeml predict ID FILE.",
        )


def _typed_rows(
    version: Declared, table: pa.Table, name: str, role: str | None, divided_by: str
) -> tuple[pd.DataFrame, list[str]]:
    """The rows under their new ids, typed, and notes on their cells.

    ``divided_by``: the column that says their roles; empty if none does. Raises DatasetError with
    every difference.
    """
    import numpy as np
    import pandas as pd

    answers = role not in UNLABELLED
    fitted = fit_table(table, version.schema_in, version.schema_out, answers=answers, few_new=True)
    differences = list(fitted.differences)
    if divided_by not in ("", *table.column_names):
        differences.append(
            f"column '{divided_by}', by which rows were divided, is missing (or say a role)."
        )
    of_weights = _weights_wanted(version, role)
    if of_weights is not None and of_weights.name not in table.column_names:
        differences.append(f"column '{of_weights.name}', the weight of rows, is missing.")
    if differences:
        raise does_not_fit(differences, name)
    ids = version.next_row + np.arange(table.num_rows, dtype=np.int64)
    frame = pd.DataFrame({ROW: ids, **fitted.columns})
    if role in ROLES:
        _check_answers(frame[version.target].isna().to_numpy(), version.target, role, name)
    return frame, fitted.notes


def _weights_wanted(version: Declared, role: str | None) -> ColumnReport | None:
    """The column that new rows have to have for their weights; rows of production teach nothing."""
    return None if role == "production" else weight_report(version.columns)


def _weights_of_rows(
    version: Declared, table: pa.Table, role: str | None
) -> tuple[pd.Series | None, np.ndarray]:
    """The weights of new rows, and which of these count; see ``weights_of_table``."""
    import numpy as np

    of_weights = _weights_wanted(version, role)
    reports = [] if of_weights is None else [of_weights]
    return weights_of_table(table, reports, np.ones(table.num_rows, bool), version.next_row)


def _check_answers(empty: np.ndarray, target: str, role: str, name: str) -> None:
    """Raise DatasetError where a row has no answer."""
    if empty.any():
        row = int(empty.argmax())
        said = f"row {row}, column '{target}': a {role} row needs a value."
        raise does_not_fit([said], name)


def _assigned_roles(
    version: Declared,
    frame: pd.DataFrame,
    role: str | None,
    answered: np.ndarray,
    split: Split,
    by: np.ndarray | None,
) -> np.ndarray:
    """One role a row. ``by``: what rows with an answer are divided by, where they are."""
    import numpy as np
    import pandas as pd

    if role is not None:
        return np.full(len(frame), role, dtype=object)
    roles = np.full(len(frame), "pool", dtype=object)
    if not answered.any():
        return roles

    # Rows with an answer are divided as the version was; the others can be labelled.
    there = {one: pd.Series(version.frames[one][version.target]) for one in ROLES}
    labelled = pd.Series(frame.loc[answered, version.target])
    seed = version.summary["seed"]
    divided = new_roles(labelled, split, by, seed, there, version.groups)
    if split.way == "random":
        divided = _with_their_copies(version, frame.loc[answered], divided)
    roles[answered] = divided
    return roles


def _with_their_copies(version: Declared, frame: pd.DataFrame, roles: np.ndarray) -> np.ndarray:
    """Roles in which a copy of a row that is there already has the role of that row."""
    compared = compared_columns(version.schema_in, version.schema_out)
    if not compared:
        return roles
    there = {role: content_keys(version.frames[role], compared) for role in ROLES}
    return roles_of_copies(content_keys(frame, compared), roles, there)


def _feed_notes(version: Declared, role: str | None, answered: np.ndarray) -> list[str]:
    """What is said of rows without an answer, and of answers that are not kept."""
    unanswered = int((~answered).sum())
    joins_pool = role is None and unanswered
    if joins_pool:
        return [f"{counted(unanswered)} without a value of '{version.target}' joined the pool."]
    is_forgotten = role in UNLABELLED and answered.any()
    if is_forgotten:
        return [f"The values of '{version.target}' were not kept: {role} rows are without."]
    return []


def _are(roles: np.ndarray, some: Collection[str]) -> np.ndarray:
    import numpy as np

    return np.isin(roles, list(some))


def refine(version: Declared, off: Collection[int] = (), on: Collection[int] = ()) -> Declared:
    """Return ``version`` with the train rows ``off`` switched off and the rows ``on`` switched on.

    Raises:
        DatasetError: as ``switched``; and if what is left of the train rows cannot be learnt from.
    """
    import pandas as pd

    roles = {role: frame[ROW].to_numpy() for role, frame in version.frames.items()}
    made = switched(roles, version.off, off, on)
    train = version.frames["train"]
    left = train.loc[~train[ROW].isin(made), version.target]
    if _hashable(pd.Series(left)).nunique() < 2:
        raise DatasetError(
            f"of the train rows {counted(len(left))} would be left, with no two different answers.",
            where="off",
            remedy="Switch fewer rows off.",
        )
    return summed(replace(version, off=made, notes=lasting_notes(version)), {})


def switched(
    roles: Mapping[str, np.ndarray], now: Collection[int], off: Collection[int], on: Collection[int]
) -> tuple[int, ...]:
    """Return the ids that are off after a change.

    ``roles``: ids by role. ``now``: the ids that are off before it.

    Raises:
        DatasetError: for an id that is not there, is in both lists, or is no train row's.
    """
    import numpy as np

    both = sorted(set(off) & set(on))
    if both:
        raise DatasetError(
            f"the row with id {both[0]} is to be off and on.",
            where="off",
            remedy="Name it in one list.",
        )
    asked = np.array(sorted({*off, *on}), dtype=np.int64)
    others = asked[~np.isin(asked, roles["train"])].tolist()
    if others:
        raise _no_train_row(others[0], roles)
    return tuple(sorted({*now, *off}.difference(on)))


def _no_train_row(row: int, roles: Mapping[str, np.ndarray]) -> DatasetError:
    """The refusal to switch a row off or on that is not there, or has another role."""
    for role, ids in roles.items():
        if row in ids:
            return DatasetError(
                f"the row with id {row} is a {role} row; only train rows are switched off.",
                where="row",
                remedy="What models are measured on stays as it is, "
                "so that their qualities can be compared.",
            )
    return DatasetError(
        f"there is no row with id {row}.",
        where="row",
        remedy="See the ids with `easeml data refine`.",
    )


def _with_rows(
    version: Declared,
    frame: pd.DataFrame,
    roles: np.ndarray,
    notes: list[str],
) -> Declared:
    """The version with further rows, each under its role."""
    frames = dict(version.frames)
    added = {}
    for role in ALL_ROLES:
        new = frame.loc[roles == role]
        if len(new):
            added[role] = len(new)
            frames[role] = joined(frames.get(role), new)
    grown = replace(version, frames=frames, notes=[*lasting_notes(version), *notes])
    return summed(grown, added)


def joined(old: pd.DataFrame | None, new: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a role with new ones behind them."""
    import pandas as pd

    # An empty frame says nothing of types, and pandas warns of it.
    if old is None or old.empty:
        return new.reset_index(drop=True)
    return pd.concat([old, new], ignore_index=True)


def summed(version: Declared, added: dict[str, int]) -> Declared:
    """Return the version with what its summary and its columns count; ``added``: rows by role."""
    counts = {role: len(frame) for role, frame in version.frames.items()}
    summary: dict[str, Any] = {"rows": sum(counts[role] for role in ROLES), **counts}
    for name in filter(version.summary.__contains__, _LASTING):
        summary[name] = version.summary[name]
    summary["off"] = len(version.off)
    summary["added"] = added
    changed = replace(version, summary=summary, columns=_counted(version))
    if not version.summary.get("folds"):
        return changed  # its models are judged by validation rows alone for ever
    return replace(changed, summary=with_folds(changed))


def _labelled(version: Declared) -> pd.DataFrame:
    """The rows with answers."""
    import pandas as pd

    return pd.concat([version.frames[role] for role in ROLES if len(version.frames[role])])


def _counted(version: Declared) -> list[ColumnReport]:
    """The reports of the columns, with what the rows with answers hold; dropped ones stay."""
    import pandas as pd

    values = beside(_labelled(version), version.weights)

    def counted_again(report: ColumnReport) -> ColumnReport:
        if report.role == "drop":
            return report
        column = pd.Series(values[report.name])
        missing = float(column.isna().to_numpy().mean())
        distinct = int(_hashable(column).nunique())
        return replace(report, missing=missing, distinct=distinct)

    return list(map(counted_again, version.columns))


def _hashable(column: pd.Series) -> pd.Series:
    """The column, with pictures, tensors and graphs as text that differs where they do."""
    if column.dtype != object:
        return column
    first = next((cell for cell in column if cell is not None), "")
    return column if isinstance(first, str) else column.map(_digest)


def _digest(cell: Any) -> str:
    """What a picture, a graph or an array is known by."""
    return _DIGESTS.get(type(cell), _digest_of_array)(cell)


def _digest_of_array(cell: np.ndarray) -> str:
    return f"{cell.shape} {sha256(cell.tobytes()).hexdigest()}"


_DIGESTS: dict[type, Callable[[Any], str]] = {
    bytes: lambda cell: sha256(cell).hexdigest(),
    dict: lambda cell: json.dumps(to_json("graph", cell), sort_keys=True),
}
"""What cells are known by, by their types; others are arrays."""


def _known_rows(version: Declared, labelled: pd.DataFrame) -> list[str]:
    """A note on new rows with the very values of others.

    In train and test rows at once, they flatter the quality.
    """
    import pandas as pd
    from pandas import util

    hashed: Any = util.hash_pandas_object

    def digests(frame: pd.DataFrame) -> Any:
        return hashed(frame.drop(columns=ROW).apply(_hashable), index=False)

    if labelled.empty:
        return []
    there = pd.concat(map(digests, [version.frames[role] for role in ROLES]))
    same = int(digests(labelled).isin(there).sum())
    if not same:
        return []
    are = "is" if same == 1 else "are"
    return [
        f"{counted(same)} of the new ones {are} there already: "
        "a row that both trains and tests flatters the quality."
    ]


def lasting_notes(version: Declared) -> list[str]:
    """Return the notes about columns: what else was said is about the rows of one change."""
    return [note for note in version.notes if note.startswith("Column ")]


def does_not_fit(differences: list[str], name: str) -> DatasetError:
    """Return the error of a file whose rows do not fit, with the first differences."""
    lines = [f"the rows do not fit the data; nothing was changed ({ROWS_COUNT})."]
    lines += map("- {}".format, differences[:_SHOWN])
    more = len(differences) - _SHOWN
    if more > 0:
        lines.append(f"- and {more} more.")
    return DatasetError(
        "\n".join([*lines, ""]),
        where=name,
        remedy="Correct the file and feed it again, or declare a new application with all rows.",
    )


def counted(rows: int) -> str:
    """A number of rows in words, with commas between thousands."""
    return f"{rows:,} row{'' if rows == 1 else 's'}"
