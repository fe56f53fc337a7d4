"""Rows that are there twice are told before anything is trained."""

from pathlib import Path

import numpy as np
import pandas as pd

from easeml.data import declare, feed, infer, read_table
from easeml.data.versions.copies import first_copies

from .tables import write


def table(tmp_path: Path, rows: list[str]) -> Path:
    return write(tmp_path, "number,x,y\n" + "".join(f"{i},{row}\n" for i, row in enumerate(rows)))


def said(path: Path) -> list[str]:
    return [note for note in infer(path).notes if "copies" in note]


def test_copies_are_counted_though_they_are_numbered_anew(tmp_path: Path) -> None:
    rows = [f"{i * 1.5},{'ab'[i % 2]}" for i in range(50)]
    (note,) = said(table(tmp_path, rows + rows[:20]))
    assert note.startswith("20 of 70 rows are copies of other rows.")


def test_rows_that_differ_are_not_called_copies(tmp_path: Path) -> None:
    assert said(table(tmp_path, [f"{i * 1.5},{'ab'[i % 2]}" for i in range(70)])) == []


def test_one_copy_among_many_rows_is_not_worth_a_note(tmp_path: Path) -> None:
    rows = [f"{i * 1.5},{'ab'[i % 2]}" for i in range(300)]
    assert said(table(tmp_path, [*rows, rows[0]])) == []


def declared(tmp_path: Path, frame: pd.DataFrame):
    path = write(tmp_path, frame.to_csv(index=False))
    inference = infer(path, "y")
    return declare(read_table(path), inference.columns, "y")


def contents(made, role: str) -> set[tuple]:
    rows = made.frames[role][["x", "y"]].astype(str)
    return set(map(tuple, rows.to_numpy().tolist()))


def doubled(rows: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    one = pd.DataFrame({"x": rng.random(rows).round(6), "y": rng.choice(["a", "b"], rows)})
    return pd.concat([one, one], ignore_index=True)


def test_no_copy_of_a_training_row_is_a_test_row(tmp_path: Path) -> None:
    made = declared(tmp_path, doubled())
    roles = {role: contents(made, role) for role in ("train", "validation", "test")}
    assert not roles["train"] & roles["test"]
    assert not roles["train"] & roles["validation"]
    assert not roles["validation"] & roles["test"]
    assert [len(made.frames[role]) for role in roles] == [240, 80, 80]


def test_rows_fed_later_stay_with_what_they_are_copies_of(tmp_path: Path) -> None:
    first = doubled()
    made = declared(tmp_path, first)
    again = read_table(write(tmp_path, first.iloc[:50].to_csv(index=False)))
    grown = feed(made, again, "again.csv")
    for role in ("train", "validation", "test"):
        assert contents(grown, role) == contents(made, role)
    assert sum(map(len, grown.frames.values())) == 450


def test_many_equal_rows_are_the_nature_of_a_table_and_divided_as_others() -> None:
    keys = np.array([7] * 60 + [8, 8] + list(range(100, 138)))
    first = first_copies(keys)
    assert first[:60].tolist() == list(range(60))
    assert first[60:62].tolist() == [60, 60]
