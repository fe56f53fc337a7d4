"""What a step changed, as it is sent: rows that came back are not sent as new ones again."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from easeml.errors import InvalidInput
from easeml.lineage.pulled import changes_between, write_changes
from easeml.relation import Relation


def relation(rows: dict[int, float], role: str = "train") -> Relation:
    frame = pd.DataFrame({"size": list(rows.values())}, index=list(rows))
    frame["kind"] = "x"
    return Relation.from_frame(frame, "kind", [role] * len(frame))


def sent(path: Path) -> dict[str, list]:
    return pq.read_table(path, columns=["easeml.row", "easeml.role"]).to_pydict()


def test_rows_are_sent_that_are_new_other_or_gone(tmp_path: Path):
    before = relation({1: 0.1, 2: 0.2, 3: 0.3})
    after = relation({1: 0.1, 2: 0.9, 70: 0.7})
    changes = changes_between(before, after, {})
    assert write_changes(changes, tmp_path / "rows.parquet", {1, 2, 3}) == [70]
    assert sent(tmp_path / "rows.parquet") == {
        "easeml.row": ["2", "", "3"],
        "easeml.role": ["train", "train", "off"],
    }
    assert changes_between(before, before, {}).is_none


def test_only_columns_that_differ_are_sent(tmp_path: Path):
    before = relation({1: 0.1, 2: 0.2, 3: 0.3})
    after = relation({1: 0.5, 2: 0.9, 3: 0.3, 70: 0.7})
    changes = changes_between(before, after, {})
    write_changes(changes, tmp_path / "rows.parquet", {1, 2, 3})
    assert pq.read_table(tmp_path / "rows.parquet").to_pydict() == {
        "size": [0.5, 0.9, 0.7],
        "kind": [None, None, "x"],
        "easeml.row": ["1", "2", ""],
        "easeml.role": ["train"] * 3,
        "easeml.cells": ['["size"]', '["size"]', ""],
    }


def test_a_row_that_was_sent_as_new_is_known_by_the_id_that_it_got(tmp_path: Path):
    pulled = relation({1: 0.1, 2: 0.2, 3: 0.7})  # the third was sent as row 70
    again = relation({1: 0.1, 2: 0.2, 3: 0.7, 70: 0.7})
    assert changes_between(pulled, again, {70: 3}).is_none
    other = relation({1: 0.1, 2: 0.2, 3: 0.7, 70: 0.8, 71: 0.9})
    changes = changes_between(pulled, other, {70: 3})
    assert write_changes(changes, tmp_path / "rows.parquet", {1, 2, 3}) == [71]
    assert sent(tmp_path / "rows.parquet")["easeml.row"] == ["3", ""]


def test_only_gone_rows_are_sent_without_cells(tmp_path: Path):
    changes = changes_between(relation({1: 0.1, 2: 0.2}), relation({1: 0.1}), {})
    assert write_changes(changes, tmp_path / "rows.parquet", {1, 2}) == []
    assert sent(tmp_path / "rows.parquet") == {"easeml.row": ["2"], "easeml.role": ["off"]}


def test_rows_without_roles_are_refused():
    rows = Relation.from_frame(pd.DataFrame({"kind": ["x"]}), "kind")
    with pytest.raises(InvalidInput, match="no roles"):
        changes_between(relation({1: 0.1}), rows, {})
