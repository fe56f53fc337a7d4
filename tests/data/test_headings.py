"""Workbooks as people leave them: a cover first, names in two rows, totals and remarks below."""

from pathlib import Path

import openpyxl
import pytest

from easeml.data import DatasetError, bare_text, infer, read_table
from easeml.data.readers.read import open_table

ROWS = [[n, f"2024-01-{n:02}", n * 1.5, n * 2.5, n * 10] for n in range(1, 29)]
HEADINGS = ["Order", None, "Parcel", None, "Cost"]
NAMES = ["No", "Date", "Weight", "Distance", None]


def workbook(folder: Path, **sheets: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    path = folder / "report.xlsx"
    book.save(path)
    return path


def test_a_report_is_read_as_its_table(tmp_path: Path) -> None:
    total = [["Total", None, 609.0, 1015.0, 4060], ["Source: the office, Bern"]]
    report = [["Parcels"], [], HEADINGS, NAMES, *ROWS, [], *total]
    cover = [["Made by"], ["Jane"]]
    path = workbook(tmp_path, Cover=cover, Parcels=report, Places=[["place"], ["Bern"], ["Zug"]])
    table = read_table(path)
    names = ["Order No", "Order Date", "Parcel Weight", "Parcel Distance", "Cost"]
    assert table.column_names == names
    assert table.num_rows == len(ROWS)
    (note, *_) = infer(path).notes
    assert "stand in two rows" in note
    assert "left out: Total, Source: the office, Bern." in note
    assert "'Parcels' was read" in note
    assert read_table(path, table=1).num_rows == 1


def test_totals_and_remarks_below_a_text_table_are_left_out(tmp_path: Path) -> None:
    """As a whole and in parts."""
    rows = "".join(f"{n % 9}.6.2024;K{n};{n},5;{n % 3}\n" for n in range(3000))
    path = tmp_path / "t.csv"
    path.write_text(f"Tag;Kunde;Kosten;x\n{rows}Summe;;{1500 * 2999},0;\nQuelle: das Amt;;;\n")
    table = read_table(path)
    assert table.num_rows == 3000
    assert any("left out: Summe, Quelle: das Amt." in note for note in infer(path).notes)
    sliced = open_table(path)
    assert (sliced.rows, sliced.note) == (3000, table.schema.metadata[b"note"].decode())
    parts = list(sliced.slices(700))
    assert [len(part) for part in parts] == [700, 700, 700, 700, 200]
    assert parts[-1].column("Kunde").to_pylist() == table.column("Kunde").to_pylist()[2800:]


@pytest.mark.parametrize(
    ("end", "beginnings", "count"),
    [
        ("Total;;;1.234\n", "Total", 30),
        ("Total;;;1.234\n", "Total", 400_000),  # read in blocks
        ("\r\n\r\nSumme\r\nStand: 3. Mai\r\n\r\n", "Summe, Stand: 3. Mai", 30),
        ("Gesamt:;;9", "Gesamt:", 30),
        ("Summe;;9,5;;\nQuelle: das Amt\n", "Summe, Quelle: das Amt", 30),
    ],
)
def test_a_total_that_ends_early_is_left_out(
    tmp_path: Path, end: str, beginnings: str, count: int
) -> None:
    rows = "".join(f"{n % 9}.6.2024;K{n};{n},5;{n % 3};a b\n" for n in range(count))
    path = tmp_path / "t.csv"
    path.write_text(f"Tag;Kunde;Kosten;x;y\n{rows}{end}")
    table = read_table(path)
    assert table.num_rows == count
    assert f"left out: {beginnings}." in table.schema.metadata[b"note"].decode()
    bare = bare_text(path.read_bytes(), "t.csv")
    assert bare.text.count("\n") == count + 1
    assert f"left out: {beginnings}." in bare.left_out


@pytest.mark.parametrize(
    "end",
    [
        "Total;;;;;;9\n",  # too long
        "2.6.2024;K9\n",
        "Bern\n",  # one word
        '3.6.2024;K9;1,5;0;"he said\nTotal"\nTotal;1\n2.6.2024;K9\n',
    ],
)
def test_other_rows_of_another_width_are_refused_with_their_place(tmp_path: Path, end: str) -> None:
    rows = "".join(f"{n % 9}.6.2024;K{n};{n},5;{n % 3};a b\n" for n in range(30))
    path = tmp_path / "t.csv"
    path.write_text(f"Tag;Kunde;Kosten;x;y\n{rows}{end}")
    with pytest.raises(DatasetError, match=r"row 3\d.*the header has 5 columns, and this row has"):
        read_table(path)


def test_the_first_of_sheets_that_are_alike_is_read(tmp_path: Path) -> None:
    sheets = {"Y2022": [["a", "b"], *[[1, 2]] * 20], "Y2023": [["a", "b"], *[[3, 4]] * 90]}
    assert read_table(workbook(tmp_path, **sheets)).num_rows == 20


def test_rows_stay_where_they_may_be_rows(tmp_path: Path) -> None:
    """Texts without labels, a category called total, and a column without a name."""
    texts = [["text", "mood", "topic"], *[["it was good", "up", "x"]] * 8, *[["all is well"]] * 3]
    totals = [["kind", "n", "m"], *[["part", n, n] for n in range(8)], ["total", 28, 28]]
    unnamed = [[None, "name", "age"], *[[n, "Bob", n] for n in range(8)]]
    assert read_table(workbook(tmp_path, t=texts)).num_rows == 11
    assert read_table(workbook(tmp_path, t=totals)).num_rows == 9
    assert read_table(workbook(tmp_path, t=unnamed)).column_names == ["column 1", "name", "age"]
    only = [["kind", "n", "m"], ["Total", 28]]
    assert read_table(workbook(tmp_path, t=only)).num_rows == 1


@pytest.mark.parametrize(
    "around", [("", ""), ("Bericht;;\n\n", "Summe;;9\n;;\nQuelle: das Amt;;\n")]
)
def test_the_bare_text_of_a_table_has_the_rows_that_are_read(
    tmp_path: Path, around: tuple[str, str]
) -> None:
    above, below = around
    rows = "".join(f'K{n};"ä, {n}\nb";{n},5\n' for n in range(90))
    path = tmp_path / "t.csv"
    path.write_bytes(f"{above}Kunde;Straße;Kosten\n{rows}{below}".encode("cp1252"))
    text, delimiter, *_ = bare_text(path.read_bytes(), path.name)
    assert (text, delimiter) == (f"Kunde;Straße;Kosten\n{rows}", ";")
    assert read_table(path).num_rows == 90
