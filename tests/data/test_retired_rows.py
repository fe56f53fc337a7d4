"""Worn-out test rows that become train rows: nothing of them is a test row afterwards."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.data import (
    ROW,
    Declared,
    feed,
    read_declared,
    read_table,
    read_version,
    refine,
    retire,
    write_version,
)

from .tables import declared, people, write


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Declared:
    """60 rows, of which 12 are test rows."""
    return declared(tmp_path_factory.mktemp("start"))


def fed(version: Declared, folder: Path, rows: str, role: str | None = None) -> Declared:
    return feed(version, read_table(write(folder, rows, "more.csv"), "more.csv"), "more.csv", role)


def ids(version: Declared, role: str) -> list[int]:
    return version.frames[role][ROW].tolist()


@settings(max_examples=15)
@given(first=st.integers(1, 12), second=st.integers(0, 12))
def test_the_first_test_rows_learn_and_no_row_is_lost(
    start: Declared, tmp_path_factory: pytest.TempPathFactory, first: int, second: int
) -> None:
    tests = sorted(ids(start, "test"))
    version = retire(retire(start, first, {}), second, {})
    gone = min(first + second, len(tests))
    assert ids(version, "test") == tests[gone:]
    assert set(ids(version, "train")) == {*ids(start, "train"), *tests[:gone]}
    assert version.summary["retired"] == gone
    assert version.summary["rows"] == start.summary["rows"]
    folder = tmp_path_factory.mktemp("kept")
    write_version(folder, version)
    read = read_version(folder)
    assert set(read.train[ROW]) == set(ids(version, "train"))  # none is off
    assert read.test[ROW].tolist() == tests[gone:]
    assert read_declared(folder).summary["retired"] == gone


def test_later_changes_keep_how_many_were_retired(start: Declared, tmp_path: Path) -> None:
    version = fed(retire(start, 12, {}), tmp_path, people(5), "test")
    version = refine(version, off=ids(version, "train")[:1])
    assert version.summary["retired"] == 12
    assert len(ids(version, "test")) == 5


def test_what_learned_a_row_is_not_tested_on_its_copy(start: Declared, tmp_path: Path) -> None:
    header, *lines = people().splitlines()
    worn = sorted(ids(start, "test"))[:3]
    copy = "\n".join([header, lines[worn[1]], ""])
    version = retire(fed(start, tmp_path, copy, "test"), 12, {})
    assert ids(version, "test") == [60]
    assert version.off == (worn[1],)
    assert any("a copy of each is still a test row" in note for note in version.notes)


def test_rows_with_labels_that_a_gate_bought_learn_as_well(start: Declared, tmp_path: Path) -> None:
    with_pool = fed(start, tmp_path, people(4), "pool")
    version = retire(with_pool, 2, {60: "b", 62: "a"})
    train = version.frames["train"].set_index(ROW)
    assert (train.loc[60, "kind"], train.loc[62, "kind"]) == ("b", "a")
    assert ids(version, "pool") == [61, 63]
    assert version.summary["added"] == {"train": 4}


def test_groups_that_were_tested_on_learn_from_then_on(tmp_path: Path) -> None:
    start = declared(tmp_path, split="group:job")
    tested = [name for name, role in start.groups.items() if role == "test"]
    assert tested
    version = retire(start, len(ids(start, "test")), {})
    assert not ids(version, "test")
    after = fed(version, tmp_path, people(30))
    assert {after.groups[name] for name in tested} == {"train"}
    assert not after.frames["test"].get("job", after.frames["test"].iloc[:, 0]).isin(tested).any()
