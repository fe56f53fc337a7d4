"""Rows that are there twice are told before anything is trained."""

from pathlib import Path

from easeml.data import infer

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
