"""Rows of production are learned from and judged by; those that they contradict are set aside."""

from pathlib import Path

import numpy as np
import pytest

from easeml.data import ROW, Declared, learn_from, read_declared, read_table, refine, write_version

from .tables import declared, write

HEADER = "id,age,job,story,born,country,kind"


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Declared:
    """60 rows, of which 12 are test rows."""
    return declared(tmp_path_factory.mktemp("start"))


def new_rows(folder: Path, count: int = 40):
    """Rows of production, each of them twice."""
    lines = [f"v{i},{20 + i}.5,cook,{i} sang,3/4/1991,CH,{'abc'[i % 3]}" for i in range(count // 2)]
    path = write(folder, "\n".join([HEADER, *lines, *lines]) + "\n", "more.csv")
    return read_table(path, "more.csv")


def ids(version: Declared, role: str) -> set[int]:
    return set(version.frames[role][ROW].tolist())


def is_old_cook(frame) -> np.ndarray:
    return (frame["job"] == "cook").to_numpy()


def test_models_learn_from_most_new_rows_and_are_chosen_by_the_others(
    start: Declared, tmp_path: Path
) -> None:
    grown = learn_from(start, new_rows(tmp_path), "more.csv")
    assert grown.summary["added"] == {"train": 30, "validation": 10}
    assert ids(grown, "test") == ids(start, "test")
    assert grown.off == start.off
    learned = {row["story"] for row in grown.frames["train"].iloc[-30:].to_dict("records")}
    judged = {row["story"] for row in grown.frames["validation"].iloc[-10:].to_dict("records")}
    assert not learned & judged


def test_rows_that_are_learned_from_again_do_not_come_to_judge(
    start: Declared, tmp_path: Path
) -> None:
    rows = new_rows(tmp_path)
    grown = learn_from(learn_from(start, rows, "more.csv"), rows, "more.csv")
    new = {row["story"] for row in rows.to_pylist()}
    teach, judge = (set(grown.frames[role]["story"]) & new for role in ("train", "validation"))
    assert (len(teach), len(judge)) == (15, 5)


def test_rows_of_before_that_they_contradict_neither_teach_nor_judge(
    start: Declared, tmp_path: Path
) -> None:
    roles = ("train", "validation", "test")
    grown = learn_from(start, new_rows(tmp_path), "more.csv", roles, is_old_cook)
    assert grown.summary["added"] == {"train": 24, "validation": 8, "test": 8}
    old = set[int]()
    for role in roles:
        frame = start.frames[role]
        old |= set(frame.loc[is_old_cook(frame), ROW].tolist())
    assert old
    assert set(grown.off) == old
    assert old <= ids(grown, "train")
    assert grown.summary["off"] == len(old)
    assert any(f"{len(old)} rows of before are off" in note for note in grown.notes)
    folder = tmp_path / "kept"
    folder.mkdir()
    write_version(folder, grown)
    assert set(refine(read_declared(folder), on=sorted(old)).off) == set()


def test_test_rows_that_are_counted_on_stay(start: Declared, tmp_path: Path) -> None:
    grown = learn_from(start, new_rows(tmp_path), "more.csv", outdated=is_old_cook)
    assert ids(grown, "test") == ids(start, "test")


def test_where_all_of_before_is_contradicted_some_rows_are_left_to_judge_by(
    start: Declared, tmp_path: Path
) -> None:
    """Two new rows teach, and none of them judges: what judged before goes on."""
    roles = ("train", "validation", "test")
    rows = new_rows(tmp_path, count=4)
    grown = learn_from(start, rows, "more.csv", roles, lambda frame: np.ones(len(frame), bool))
    assert grown.summary["added"] == {"train": 4}
    for role in ("validation", "test"):
        assert ids(grown, role) == ids(start, role)
    assert set(grown.off) == ids(start, "train")
    assert "The validation and test rows stay, too: there are no newer ones to judge by." in (
        " ".join(grown.notes)
    )
