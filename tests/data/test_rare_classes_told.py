"""Classes with few rows: what is said of them before anything is trained."""

from pathlib import Path

from easeml.data import declare, declare_columns, infer, read_table

from .tables import write


def table(tmp_path: Path, labels: list[str]) -> Path:
    rows = [f"{place * 7 % 31},{label}" for place, label in enumerate(labels)]
    return write(tmp_path, "x,kind\n" + "\n".join(rows) + "\n")


def rare_notes(path: Path) -> list[str]:
    return declare_columns(infer(path, "kind").columns, "kind").rare_notes


def test_classes_with_few_rows_are_named_with_how_many(tmp_path: Path) -> None:
    """Of three "yes" among 300 nothing was said, and a model that always says "yes" served."""
    (note,) = rare_notes(table(tmp_path, ["no"] * 297 + ["yes"] * 3))
    assert note.startswith("Classes of 'kind' with fewer than 10 rows: yes (3). Models hardly")
    labels = ["no"] * 60 + [name for name in "abcd" for _ in range(4)]
    (note,) = rare_notes(table(tmp_path, labels))
    assert "10 rows: a (4), b (4), c (4) and more." in note
    assert rare_notes(table(tmp_path, ["no"] * 60 + ["yes"] * 10)) == []


def test_a_version_says_so_as_well(tmp_path: Path) -> None:
    path = table(tmp_path, ["no"] * 97 + ["yes"] * 3)
    made = declare(read_table(path), infer(path, "kind").columns, "kind")
    assert any("fewer than 10 rows" in note for note in made.notes)
