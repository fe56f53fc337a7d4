"""Files to tables of text: what is read, and what is refused with which place."""

import gzip
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from easeml.data import DatasetError, infer, read_table

from .tables import write

PLAIN = {"a": ["1", "2"], "b": ["x", "y"]}


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,x\n2,y\n",
        b"a;b\n1;x\n2;y",
        b"a\tb\r\n1\tx\r\n2\ty\r\n",
        b"a|b\r1|x\r2|y\r",
        b"\xef\xbb\xbfa,b\n1,x\n2,y\n",
        "a,b\n1,x\n2,y\n".encode("utf-16"),
        b'"a","b"\n"1","x"\n" 2 ","y"\n',
        b"\n\na,b\n\n1,x\n\n2,y\n\n",
        gzip.compress(b"a,b\n1,x\n", mtime=0) + gzip.compress(b"2,y\n", mtime=0),
    ],
)
def test_forms_of_the_same_table(tmp_path: Path, content: bytes) -> None:
    assert read_table(write(tmp_path, content)).to_pydict() == PLAIN


def test_quotes_hold_delimiters_lines_and_quotes(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, 'a;b\n"x;y";"one\ntwo"\n"say ""so""";2,5\n'))
    assert table.to_pydict() == {"a": ["x;y", 'say "so"'], "b": ["one\ntwo", "2,5"]}


def test_an_old_encoding_is_read_and_noted(tmp_path: Path) -> None:
    path = write(tmp_path, "ville,y\nGenève,1\nZürich,2\nGenève,2\n".encode("latin-1"))
    assert read_table(path)["ville"].to_pylist() == ["Genève", "Zürich", "Genève"]
    assert any("not UTF-8" in note for note in infer(path).notes)


def test_a_column_without_a_name_gets_one(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, ",b\n0,1\n")).column_names == ["column 1", "b"]


def test_one_column_is_a_table(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "x\n1\n2\n")).to_pydict() == {"x": ["1", "2"]}


@pytest.mark.parametrize(
    ("content", "where", "message", "remedy"),
    [
        (b"", "t.csv", "empty", "header and rows"),
        (b" \n\n", "t.csv", "empty", "header and rows"),
        (b"a,b\n", "t.csv", "no row", "column names"),
        (
            b"a,b\n1,2\n3\n4,5\n",
            "t.csv, row 1 (the first row of values is row 0)",
            "2 columns, and this row has 1",
            "Add or",
        ),
        (
            b"a,b\n1,2,3\n",
            "t.csv, row 0 (the first row of values is row 0)",
            "2 columns, and this row has 3",
            "quotes",
        ),
        (b"a,b,a\n1,2,3\n", "t.csv", "'a' occurs more than once (columns 1, 3)", "name of its own"),
        (b"_row,b\n1,2\n", "t.csv", "'_row'", "Rename"),
        (b"PK\x03\x04....", "t.csv", "zip file is damaged", "again"),
        (b"a,b\n\x00,1\n", "t.csv", "not a text table", "CSV"),
        (b"SQLite format 3\0..", "t.db", "an SQLite database, and no text table", "CSV"),
        (b"\x00\x01cut", "t.parquet", "no whole Parquet file", "Write it again"),
        (gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-20], "t.csv", "cut off", "again"),
        (b"\x1f\x8bgarbage-garbage", "t.csv", "damaged", "again"),
    ],
)
def test_what_is_no_table_is_refused(
    tmp_path: Path, content: bytes, where: str, message: str, remedy: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        read_table(write(tmp_path, content), where.partition(",")[0])
    assert caught.value.where == where
    assert message in caught.value.message
    assert remedy in caught.value.remedy


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        read_table(tmp_path / "nothing.csv")


@settings(
    max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.one_of(
        st.binary(max_size=300),
        st.text(alphabet='ab,;\t"\n\r1.é ', max_size=120).map(str.encode),
        st.binary(max_size=60).map(zlib.compress).map(lambda data: b"\x1f\x8b\x08" + data),
        st.binary(max_size=60).map(gzip.compress),
    )
)
@example(b".\r\x01\x01\r\x01")  # a name that Arrow would read as a path
def test_random_bytes_only_ever_raise_dataset_errors(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, content)
    try:
        inference = infer(path)
    except DatasetError as error:
        assert error.message
    else:
        assert inference.rows >= 1
