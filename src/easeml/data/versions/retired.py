"""Worn-out test rows of a declared version become rows that models learn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from easeml.data.types.text_tables import ROW
from easeml.data.versions.answers import answered
from easeml.data.versions.changes import counted, lasting_notes, summed
from easeml.data.versions.copies import compared_columns, content_keys
from easeml.data.versions.declared import Declared

if TYPE_CHECKING:
    import pandas as pd


def retire(version: Declared, rows: int, labels: Mapping[int, str]) -> Declared:
    """Return ``version`` whose first ``rows`` test rows, in the order of ids, are train rows.

    A row of which a copy stays a test row is switched off: what learned it would know the other.
    ``labels``: of rows of the pool, as of ``answered``; these become train rows as well. The
    summary counts under ``retired`` how many test rows were retired so far. No row changes its id.

    Raises:
        DatasetError: as ``answered``.
    """
    import pandas as pd

    with_labels = answered(version, labels, [])
    frames = dict(with_labels.frames)
    tests = frames["test"].sort_values(ROW, ignore_index=True)
    worn, left = tests.iloc[:rows], tests.iloc[rows:].reset_index(drop=True)
    frames["test"] = left
    frames["train"] = pd.concat([frames["train"], worn], ignore_index=True)
    twins = worn.loc[_have_copies(version, worn, left), ROW].tolist()
    retired = replace(
        with_labels,
        frames=frames,
        off=tuple(sorted({*version.off, *twins})),
        groups=_without_test_groups(version, left),
        summary={**with_labels.summary, "retired": retired_rows(version) + len(worn)},
        notes=[*lasting_notes(version), *_notes(len(worn), len(labels), len(twins))],
    )
    return summed(retired, {"train": len(worn) + len(labels)})


def retired_rows(version: Declared) -> int:
    """Return how many test rows of a version's line were retired."""
    return version.summary.get("retired", 0)


def _have_copies(version: Declared, worn: pd.DataFrame, left: pd.DataFrame) -> pd.Series:
    """Tell of which rows a copy stays a test row."""
    import pandas as pd

    compared = compared_columns(version.schema_in, version.schema_out)
    if not compared or worn.empty or left.empty:
        return pd.Series(data=False, index=worn.index)
    known = set(content_keys(left, compared).tolist())
    return pd.Series(content_keys(worn, compared), index=worn.index).isin(known)


def _without_test_groups(version: Declared, left: pd.DataFrame) -> dict[str, str]:
    """Return the roles of groups: those that were tested on learn, where no test row is left."""
    if len(left):
        return version.groups
    learn = {name: "train" for name, role in version.groups.items() if role == "test"}
    return {**version.groups, **learn}


def _notes(rows: int, labels: int, twins: int) -> list[str]:
    said = [f"{counted(rows)} on which models were tested are train rows: the tests wore them out."]
    if labels:
        said.append(f"{counted(labels)} whose label a gate had bought are train rows as well.")
    if twins:
        said.append(f"{counted(twins)} of them are off: a copy of each is still a test row.")
    return said
