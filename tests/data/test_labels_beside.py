"""Pictures in one folder, with a table beside them that says what each is."""

import zipfile
from pathlib import Path

import pytest

from easeml.data import DatasetError, declare, infer_table, parse_rows, read_table

from .sample_files import CLASSES, picture

ROWS = [(f"img/{number:02}.png", CLASSES[number % 2]) for number in range(30)]


def packed(path: Path, table: str, *, folder: str = "") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{folder}labels.csv", table)
        for number, (file, label) in enumerate(ROWS):
            archive.writestr(f"{folder}{file}", picture(label, number))
    return path


def told(rows: list[tuple[str, str]], head: str = "file,kind") -> str:
    return "\n".join([head, *map(",".join, rows)]) + "\n"


@pytest.mark.parametrize("called", ["{}", "./{}", "{name}", "{stem}"])
@pytest.mark.parametrize("folder", ["", "leaves/"])
def test_a_table_beside_pictures_has_their_labels(tmp_path: Path, called: str, folder: str) -> None:
    rows = []
    for file, label in ROWS:
        path = Path(file)
        rows.append((called.format(file, name=path.name, stem=f"{path.stem}"), label))
    if called == "{stem}":
        rows = [(f"{stem}", label) for stem, label in rows]
    table = read_table(packed(tmp_path / "leaves.zip", told(rows), folder=folder))
    seen = infer_table(table)
    assert (seen.target, seen.sure) == ("kind", True)
    assert table.column("kind").to_pylist() == [label for _, label in ROWS]
    version = declare(table, seen.columns)
    rows = parse_rows(picture("blobs", 99), "image/png", version.schema_in, version.schema_out)
    assert len(rows.table) == 1


def test_pictures_without_a_label_can_be_labelled_and_rows_without_one_are_told(
    tmp_path: Path,
) -> None:
    rows = [*ROWS[:20], (ROWS[20][0], ""), ("img/99.png", "blobs")]
    table = read_table(packed(tmp_path / "leaves.zip", told(rows)))
    seen = infer_table(table)
    note = (
        "Rows of the table whose file is not there: 1 ('img/99.png'). "
        "Files without a label in the table: 10."
    )
    assert note in seen.told
    assert len(declare(table, seen.columns).frames["pool"]) == 10


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (told([*ROWS, (ROWS[0][0], "blobs")]), "'img/00.png' has two labels: 'stripes', 'blobs'"),
        (
            told([(file, f"{label},3") for file, label in ROWS], "file,kind,size"),
            "two columns, 'file' and one of labels; it has 3: file, kind, size",
        ),
        (told([("a", "b"), ("c", "d")]), "all 30 of them are in one folder"),
    ],
)
def test_a_table_that_does_not_say_what_each_picture_is_is_refused(
    tmp_path: Path, table: str, said: str
) -> None:
    with pytest.raises(DatasetError, match=said):
        read_table(packed(tmp_path / "leaves.zip", table))


def test_a_picture_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text(
        "story,mood\n" + "".join(f"we went {n} miles,{'ab'[n % 2]}\n" for n in range(40))
    )
    table = read_table(path)
    version = declare(table, infer_table(table, "mood").columns, "mood")
    with pytest.raises(DatasetError, match="it holds images") as refused:
        parse_rows(picture("blobs", 1), "image/png", version.schema_in, version.schema_out)
    assert refused.value.remedy.startswith("Give text.")
