"""Tables that are read in parts are those that are read as a whole, with the same faults."""

import gzip
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from easeml.data import DatasetError, RowParts, declare, infer_table, read_table
from easeml.data.readers import delimited, json_rows
from easeml.data.readers import encoding as encoding_module
from easeml.data.readers.read import open_table
from easeml.data.rows.parsing import read_rows

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
CELLS = st.text("ab 1.é\"\n\r,;\t'", max_size=6)
PLAIN = st.sampled_from(["1", "2.5", "", "x", "é", " y "])


@st.composite
def csv_files(draw: st.DrawFn) -> bytes:
    """A text table, most often a good one: any quotes, line ends, encoding and border."""
    width = draw(st.integers(1, 4))
    delimiter = draw(st.sampled_from(",;\t|"))
    line_end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    rows = draw(st.lists(st.lists(CELLS | PLAIN, min_size=width, max_size=width), max_size=12))
    if rows and draw(st.booleans()):
        row = draw(st.sampled_from(rows))
        row.append("too many")
    header = [f"name {place}" for place in range(width)]
    lines = [delimiter.join(_quoted(cell, delimiter) for cell in row) for row in [header, *rows]]
    before = draw(st.sampled_from(["", "\n", "  \n", "\ufeff"]))
    text = before + line_end.join(lines) + draw(st.sampled_from(["", line_end, line_end * 2]))
    encoded = text.encode(draw(st.sampled_from(ENCODINGS)), "replace")
    return gzip.compress(encoded) if draw(st.booleans()) else encoded


def _quoted(cell: str, delimiter: str) -> str:
    if any(sign in cell for sign in f'"\n\r{delimiter}'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def outcome(read: Any) -> Any:
    """What came of reading: columns with their cells, or what was said."""
    try:
        table = read()
    except DatasetError as error:
        return str(error)
    return table.to_pydict()


def in_parts(path: Path, name: str, size: int) -> pa.Table:
    """The parts of a table together, each of which has to be full but for the last."""
    table = open_table(path, name)
    parts = list(table.slices(size))
    assert all(part.num_rows == size for part in parts[:-1])
    assert sum(part.num_rows for part in parts) == table.rows
    assert list(table.slices(size)) == parts
    return pa.concat_tables(parts)


# A line end within a cell that lies on the border of two blocks.
@example(b'name 0,name 1\r\n"11""",2.5\r\n,"11\r\n1"', 1, 16, False)
@given(csv_files(), st.integers(1, 7), st.sampled_from([16, 100, 1 << 20]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_csv(content: bytes, size: int, block: int, is_wide: bool) -> None:
    with pytest.MonkeyPatch.context() as patch, _File(content) as path:
        patch.setattr(delimited, "_SLICED", block)
        patch.setattr(delimited, "_WIDE", 1 if is_wide else 1000)
        patch.setattr(delimited, "_CELLS", 8)
        whole = outcome(lambda: read_table(path, "t.csv"))
        assert outcome(lambda: in_parts(path, "t.csv", size)) == whole


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["a", "b", "c.d", " e"]),
            st.none()
            | st.integers()
            | st.text(max_size=3)
            | st.dictionaries(st.just("f"), st.floats()),
            max_size=3,
        ),
        max_size=9,
    ),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.booleans(),
    st.integers(1, 5),
)
@settings(max_examples=60, deadline=None)
def test_json_lines_and_lists(rows: list[Any], line_end: str, is_list: bool, size: int) -> None:
    lines = [json.dumps(row) for row in rows]
    text = f"[{','.join(lines)}]" if is_list else line_end.join(lines)
    with pytest.MonkeyPatch.context() as patch, _File(text.encode()) as path:
        patch.setattr(json_rows, "_ROWS", 2)
        whole = outcome(lambda: read_table(path, "t.jsonl"))
        assert outcome(lambda: in_parts(path, "t.jsonl", size)) == whole


@pytest.mark.parametrize(
    "end", ["Total;;;9", "Summe;9", "as told by the office", "Total;9\n\nas told", "", "1.6.;K9"]
)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_totals_that_end_early_are_left_out_of_parts_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, encoding: str
) -> None:
    monkeypatch.setattr(encoding_module, "_TAIL", 60)
    row = "1.6.2024;K9;1,5;0;gut\n"
    text = f"Tag;Kunde;Menge;Rabatt;Note\n{row * 40}{end}\n"
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    assert outcome(lambda: in_parts(path, "t.csv", 7)) == outcome(lambda: read_table(path))
    if "K9" not in end:
        note = (read_table(path).schema.metadata or {}).get(b"note", b"").decode()
        assert open_table(path).note == note


def test_parquet_with_nested_columns_and_many_row_groups(tmp_path: Path) -> None:
    table = pa.table(
        {
            "n": [1.5, None, float("inf"), 4.0, 5.0],
            "s": [{"x": 1, "y": "a"}] * 5,
            "l": pa.array([[1, 2]] * 5, pa.list_(pa.int8(), 2)),
            "c": pa.array(["u", "v", "u", "v", "w"]).dictionary_encode(),
        }
    )
    path = tmp_path / "t.parquet"
    parquet.write_table(table, path, row_group_size=2)
    whole = read_table(path)
    for size in (1, 2, 3, 5, 6):
        assert in_parts(path, "t.parquet", size).to_pydict() == whole.to_pydict()
    path.write_bytes(path.read_bytes()[:-9])
    assert outcome(lambda: in_parts(path, "t", 2)) == outcome(lambda: read_table(path, "t"))


def test_a_table_without_line_ends_is_refused_before_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_LONGEST", 1 << 20)
    path = tmp_path / "t.csv"
    path.write_bytes(b"abc " * (1 << 20))
    with pytest.raises(DatasetError, match="its first line is longer than 1 MiB"):
        open_table(path)
    path.write_bytes(b"," * (1 << 20))
    with pytest.raises(DatasetError, match="columns"):
        open_table(path)


def test_a_list_that_is_too_long_to_hold_names_json_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_rows, "_LONGEST", 1000)
    path = tmp_path / "t.json"
    for text in (
        "[" + '{"a": 1},' * 200 + '{"a": 1}]',
        "[\n" + '{"a": 1},\n' * 200 + '{"a": 1}\n]',
    ):
        path.write_text(text)
        with pytest.raises(DatasetError, match="Write JSON lines"):
            open_table(path)


NUMBERS = [str(number / 4) for number in range(40)]
COLORS = ["red", "green", "blue", "grey"] * 10


@pytest.fixture(scope="module")
def schemas() -> Any:
    """Of a table with a number that is never missing, one that may be, a category and a day."""
    days = [f"2026-01-{1 + number % 28:02}" for number in range(40)]
    frame = pd.DataFrame({"x": NUMBERS, "z": ["", *NUMBERS[1:]], "color": COLORS, "day": days})
    frame["y"] = ["yes", "no"] * 20
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.cast(pa.schema([(name, pa.string()) for name in table.column_names]))
    version = declare(table, infer_table(table, "y").columns, target="y")
    return version.schema_in, version.schema_out


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["1", "2.5", "", "many", "1e99"]),
            st.sampled_from(["1", "", "2,5"]),
            st.sampled_from(["red", "pink", "", "blue"]),
            st.sampled_from(["2026-02-03", "never", ""]),
            st.sampled_from(["yes", "no", "perhaps"]),
        ),
        min_size=1,
        max_size=9,
    ),
    st.integers(1, 6),
    st.sets(st.integers(0, 3), max_size=1),
)
@settings(max_examples=60, deadline=None)
def test_rows_and_their_faults(schemas: Any, rows: list[Any], size: int, absent: set[int]) -> None:
    names = ["x", "z", "color", "day", "y"]
    kept = [place for place in range(5) if place not in absent]
    frame = pd.DataFrame([[row[place] for place in kept] for row in rows])
    frame.columns = pd.Index([names[place] for place in kept])
    out = io.StringIO()
    frame.to_csv(out, index=False)
    with _File(out.getvalue().encode()) as path:
        table = read_table(path, "t.csv").drop_columns(["y"])
        try:
            expected = read_rows(table, *schemas).frame
        except DatasetError as error:
            with pytest.raises(DatasetError) as caught:
                list(RowParts(path, "t.csv", *schemas).parts(size))
            assert str(caught.value) == str(error)
            return
        read = RowParts(path, "t.csv", *schemas)
        typed = [pd.DataFrame(dict(part.columns)) for _, part in read.parts(size)]
        pd.testing.assert_frame_equal(pd.concat(typed, ignore_index=True), expected)
        own = "The answers in 'y' were not compared with predictions."
        assert read.notes == [own, *read_rows(table, *schemas).notes]


def test_numbers_that_end_in_the_last_row_are_told_with_that_row(
    schemas: Any, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    lines = ["x,z,color,day", *["1,2,red,2026-01-01"] * 5000, "many,2,red,2026-01-01"]
    path.write_text("\n".join(lines))
    given = []
    with pytest.raises(DatasetError) as caught:
        for part, _ in RowParts(path, "t.csv", *schemas).parts(1000):
            given.append(part.num_rows)
    assert caught.value.where == "row 5000, column 'x'"
    assert sum(given) == 5000


def test_columns_may_be_absent_where_that_is_allowed(schemas: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,color,day\n1,red,2026-01-01\n2,red,2026-01-01\n")
    with pytest.raises(DatasetError) as caught:
        list(RowParts(path, "t.csv", *schemas).parts(1))
    assert str(caught.value).count("the column is not there") == 1
    read = RowParts(path, "t.csv", *schemas, fill_absent=True)
    assert [typed.rows for _, typed in read.parts(1)] == [1, 1]
    assert read.notes == ["The column 'z' is not there; it is treated as missing."]


def test_a_file_without_names_for_a_model_of_numbered_columns(tmp_path: Path) -> None:
    rows = [[number / 7, number % 5 + 0.5, number % 3 + 0.25] for number in range(60)]
    lines = [",".join(str(cell) for cell in row) for row in rows]
    path = tmp_path / "train.csv"
    path.write_text("\n".join(lines))
    table = read_table(path)
    made = declare(table, infer_table(table, "column 3").columns, target="column 3")
    path.write_text("\n".join(lines[:3]))  # too few to tell that there is no header
    read = RowParts(path, "t.csv", made.schema_in, made.schema_out)
    found = [cell for _, typed in read.parts(2) for cell in typed["column 1"]]
    assert found == [row[0] for row in rows[:3]]
    path.write_text("1.5\n2.5\n")
    with pytest.raises(DatasetError, match="1 columns without names"):
        RowParts(path, "t.csv", made.schema_in, made.schema_out)


class _File:
    """A file with some content, while the block runs."""

    def __init__(self, content: bytes):
        self._content = content

    def __enter__(self) -> Path:
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / "t"
        path.write_bytes(self._content)
        return path

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def test_a_dot_means_the_same_in_all_parts(tmp_path: Path) -> None:
    """The decimals of the first rows tell; those of a later part are no others."""
    rows = [f"{place},5;1.{place + 100};{'ab'[place % 2]}" for place in range(40)]
    trained = tmp_path / "trained.csv"
    trained.write_text("\n".join(["x;z;y", *rows]))
    table = read_table(trained)
    version = declare(table, infer_table(table, "y").columns, target="y")
    schemas = (version.schema_in, version.schema_out)
    path = tmp_path / "t.csv"
    path.write_text("x;z\n" + "1,5;7\n" * 4 + "2;1.234\n" * 4)
    whole = read_rows(read_table(path), *schemas).frame["z"].tolist()
    parts = [typed["z"].tolist() for _, typed in RowParts(path, "t.csv", *schemas).parts(4)]
    assert [*parts[0], *parts[1]] == whole == [7.0] * 4 + [1234.0] * 4
