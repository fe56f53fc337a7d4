"""Files without a header, workbooks that are too large, and formulas in what is written."""

import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from easeml.data import DatasetError, infer, infer_table, parse_rows, read_table, write_table
from easeml.data.readers.read import open_table
from easeml.schema import Schema

from .tables import write

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "more_tables"
HEADERLESS = {
    "mammography": 11183,
    "phoneme": 5404,
    "oil-spill": 937,
    "horse-colic": 300,
    "auto_imports": 201,
    "banknote_authentication": 1372,
}
NUMBERS = "".join(f"{i}.25,{i % 7},?,{'ab'[i % 2]}\n" for i in range(20))


def test_a_first_row_of_values_is_a_row(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, NUMBERS))
    assert table.num_rows == 20
    assert table.column_names == ["column 1", "column 2", "column 3", "column 4"]
    assert "--header in commands" in infer_table(table).notes[0]


def test_the_caller_decides(tmp_path: Path) -> None:
    path = write(tmp_path, NUMBERS.replace("?", "2"))
    assert read_table(path, header=True).column_names[0] == "0.25"
    named = write(tmp_path, "a,b\n1,2\n3,4\n")
    assert read_table(named, header=False).num_rows == 3
    assert infer(named, header=False).notes[0].startswith("What to predict")


@pytest.mark.parametrize(
    "names", ["0,1,2,3", "2019,2020,2021,2022", "a,b,c,d", "a,1,2,3", ",x,1,2"]
)
def test_names_of_numbers_are_names(tmp_path: Path, names: str) -> None:
    rows = "".join(f"{i}.5,{i},{i % 3},{i % 5}\n" for i in range(20))
    assert read_table(write(tmp_path, f"{names}\n{rows}")).num_rows == 20


def test_a_row_that_is_too_short_is_told_whatever_the_first_row_is(tmp_path: Path) -> None:
    path = write(tmp_path, "1,a\n3\n" + 12 * "2,b\n")
    with pytest.raises(DatasetError, match="the header has 2 columns, and this row has 1"):
        read_table(path)


@pytest.mark.skipif(not SHARED.exists(), reason="the tables are not here")
@pytest.mark.parametrize(("name", "rows"), HEADERLESS.items())
def test_public_tables_without_a_header(name: str, rows: int) -> None:
    assert read_table(SHARED / f"{name}.csv").num_rows == rows


@pytest.mark.skipif(not SHARED.exists(), reason="the tables are not here")
def test_public_tables_with_a_header_keep_it() -> None:
    for path in sorted(SHARED.glob("*.csv")):
        if path.stem not in HEADERLESS:
            assert read_table(path).column_names[0] != "column 1", path.name


def test_far_cells_do_not_fill_memory(tmp_path: Path) -> None:
    path = tmp_path / "far.xlsx"
    pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(path, index=False)
    assert read_table(path).num_rows == 2
    far = tmp_path / "farther.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(far, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.startswith("xl/worksheets/"):
                cell = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
                content = content.replace(b"</sheetData>", cell)
            new.writestr(name, content)
    with pytest.raises(DatasetError, match=r"row 1,048,576 and column 16,384") as caught:
        read_table(far)
    assert "CSV" in caught.value.remedy


def test_formulas_are_escaped_unless_they_are_wanted(tmp_path: Path) -> None:
    words = ["=1+1", "+x", "-y", "@z", "plain", "a=b"]
    text = "v,n\n" + "".join(
        f"{word} words that differ {i},-{i}.5\n" for i, word in enumerate(words * 3)
    )
    table = read_table(write(tmp_path, text))
    columns = infer_table(table, "n").columns
    write_table(tmp_path / "safe.csv", table, columns)
    safe = pd.read_csv(tmp_path / "safe.csv")
    assert safe["v"].str.startswith("'").tolist() == [True, True, True, True, False, False] * 3
    assert safe["n"].tolist() == [-float(f"{i}.5") for i in range(18)]
    write_table(tmp_path / "raw.csv", table, columns, escape_formulas=False)
    assert pd.read_csv(tmp_path / "raw.csv")["v"].tolist() == table["v"].to_pylist()
    assert isinstance(table, pa.Table)


@pytest.mark.parametrize("sign", ["~", "^", "\x01", " "])
def test_a_delimiter_that_is_not_read_is_named(tmp_path: Path, sign: str) -> None:
    rows = "".join(f"{i}{sign}{i * 7 % 5}{sign}x\n" for i in range(20))
    path = write(tmp_path, f"a{sign}b{sign}c\n{rows}")
    notes = " ".join(infer(path).notes)
    assert f"Its cells seem to be separated by {sign!r}" in notes
    schema_in = Schema.from_text("{a: number, b: number}")
    with pytest.raises(DatasetError, match="read as one column"):
        parse_rows(path.read_bytes(), "text/csv", schema_in, Schema.from_text("{c: text}"))


def test_a_file_of_one_column_has_no_delimiter(tmp_path: Path) -> None:
    rows = "".join(f"a~b {'c ' * i}\n" for i in range(20))
    assert not any("separated" in note for note in infer(write(tmp_path, f"said\n{rows}")).notes)


def _record(kind: int, body: bytes) -> bytes:
    """Return a record of a binary sheet: kind, length and body, all of them short."""
    return bytes([kind, len(body)]) + body


def _binary_book(path: Path, row: int, column: int) -> Path:
    """Write what easeml reads first of an .xlsb whose sheet has one far cell."""
    head = bytes([0x81, 0x01, 0])  # a record of another kind, of two bytes, without a body
    far_row = _record(0, row.to_bytes(4, "little") + bytes(12))
    cell = _record(5, column.to_bytes(4, "little") + bytes(12))
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("xl/worksheets/sheet1.bin", head + far_row + cell)
    return path


def test_far_cells_of_a_binary_workbook_are_refused_in_words(tmp_path: Path) -> None:
    path = _binary_book(tmp_path / "far.xlsb", 1_048_575, 16_383)
    with pytest.raises(DatasetError, match="reaches to row 1,048,576 and column 16,384"):
        read_table(path)


def test_a_binary_workbook_of_usual_size_passes_the_check(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):  # there is nothing else in it
        read_table(_binary_book(tmp_path / "small.xlsb", 10, 3))


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_single_line_is_a_header_without_rows(tmp_path: Path, end: str) -> None:
    with pytest.raises(DatasetError, match="a header but no row") as caught:
        read_table(write(tmp_path, f"a,b,c{end}"))
    assert "column names" in caught.value.remedy


TABLE = "name;age;pay\n" + "".join(f"n{i};{i};1,{i}\n" for i in range(20))


@pytest.mark.parametrize(
    ("above", "told"),
    [
        ("sep=;\r\n", ""),
        ('"sep=;"\n', ""),
        ("Report of 2024\n\nBy: the office, Bern\n\n", "Report of 2024, By: the office, Bern"),
        ("Report of 2024;;\n;;\n", "Report of 2024"),
        ("# made by a tool\n# 2024-01-05;12:00\n", "# made by a tool, # 2024-01-05 12:00"),
        ('"A title\nof two lines";;\n', "A title"),
    ],
)
def test_text_above_the_header_is_left_out_and_told(tmp_path: Path, above: str, told: str) -> None:
    path = write(tmp_path, above + TABLE)
    table = read_table(path)
    assert table.column_names == ["name", "age", "pay"]
    assert table.num_rows == 20
    assert read_table(write(tmp_path, above.encode("utf-16") + TABLE.encode("utf-16-le"))) == table
    notes = [note for note in infer_table(table).notes if "Above the header" in note]
    assert all(told in note for note in notes)
    assert len(notes) == bool(told)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_text_above_the_header_of_a_long_file(tmp_path: Path, separator: str) -> None:
    """The file is read in blocks, as a whole and in parts."""
    row = "1;2;3\n".replace(";", separator)
    path = write(tmp_path, "Title\n\na;b;c\n".replace(";", separator) + row * 2_000_000)
    sliced = open_table(path)
    assert sliced.names == ("a", "b", "c")
    assert sliced.rows == 2_000_000
    assert "Title" in sliced.note
    assert read_table(path).num_rows == 2_000_000


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n" + "1,2\n" * 20,
        ",,c\n" + "1,2,3\n" * 20,
        "text\n" + "Hello, you\n" * 20,
        "a,b\n" + "x,1,2\n" * 20,
    ],
)
def test_what_is_no_text_above_a_header_is_kept(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    try:
        names = read_table(path).column_names
    except DatasetError as error:
        assert "the header has" in str(error)
    else:
        assert len(names) == text.partition("\n")[0].count(",") + 1
