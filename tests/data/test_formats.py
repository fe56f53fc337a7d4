"""Every reader keeps one contract: the same table from every format, refusals with a place, no
crash on rubbish.
"""

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from easeml.data import (
    DatasetError,
    croissant,
    declare,
    infer,
    infer_table,
    parse_rows,
    read_table,
    write_table,
)
from easeml.data.readers import workbooks

from .table_files import FORMATS, flowers

BINARY = ("parquet", "feather", "arrows", "xlsx", "zip", "csv.gz")


def values(table: pa.Table) -> dict[str, list]:
    """Numbers as numbers, the rest as text, so that 1 and 1.0 are the same."""
    return {
        name: [
            float(cell)
            if name in ("length", "width") and cell not in ("", "?")
            else cell.strip("?")
            for cell in column
        ]
        for name, column in table.to_pydict().items()
    }


@pytest.fixture(scope="module", params=FORMATS)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("formats") / f"flowers.{request.param}"
    FORMATS[request.param](flowers(), path)
    return path


def test_the_same_table_from_every_format(file: Path, tmp_path: Path) -> None:
    flowers().to_csv(tmp_path / "plain.csv", index=False)
    table = read_table(file)
    assert values(table) == values(read_table(tmp_path / "plain.csv"))
    assert set(table.schema.types) == {pa.string()}


def test_the_same_inference_from_every_format(file: Path) -> None:
    found = infer(file, "kind")
    seen = {
        report.name: (report.type, report.role, round(report.missing, 3))
        for report in found.columns
    }
    assert seen == {
        "length": ("number", "input", 0.0),
        "width": ("number", "input", 0.1),
        "colour": ("category", "input", 0.0),
        "kind": ("category", "target", 0.0),
    }
    assert found.output is not None
    assert found.output.labels("kind") == ("big", "small")


def test_every_format_satisfies_the_schema_inferred_from_it(file: Path) -> None:
    table = read_table(file)
    made = declare(table, infer_table(table, "kind").columns)
    assert made.summary["rows"] == 120
    body = table.to_pylist()
    parsed = parse_rows(
        json.dumps(body).encode(), "application/json", made.schema_in, made.schema_out
    )
    assert parsed.notes == []


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        ("parquet", "application/vnd.apache.parquet"),
        ("arrows", "application/vnd.apache.arrow.stream"),
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("jsonl", "application/x-ndjson"),
    ],
)
def test_an_endpoint_takes_tables(tmp_path: Path, ending: str, kind: str) -> None:
    path = tmp_path / f"rows.{ending}"
    FORMATS[ending](flowers(), path)
    table = read_table(path)
    made = declare(table, infer_table(table, "kind").columns)
    parsed = parse_rows(path.read_bytes(), kind, made.schema_in, made.schema_out)
    pd.testing.assert_series_equal(parsed.frame["length"], flowers()["length"])
    assert parsed.labels is not None


def test_a_file_that_is_cut_off_or_changed_is_refused_or_read(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    rng = np.random.default_rng(1)
    for data in [whole[: len(whole) // 2], whole[:20], *(_changed(whole, rng) for _ in range(15))]:
        path = tmp_path / file.name
        path.write_bytes(data)
        try:
            assert read_table(path).num_rows
        except DatasetError as error:
            assert error.message


def _changed(data: bytes, rng: np.random.Generator) -> bytes:
    made = bytearray(data)
    for at in rng.integers(0, len(data), 5):
        made[at] = int(rng.integers(0, 256))
    return bytes(made)


DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
MARKS = [b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff", b"\x93NUMPY\x01\0", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b'{"a":',
         b"[{", b"@relation x\n@attribute a real\n@data\n", b"@problemname x\n@data\n", b"%PDF"]  # fmt: skip


@settings(
    max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.sampled_from(MARKS), st.binary(max_size=200))
def test_rubbish_behind_any_mark_only_ever_raises_dataset_errors(
    tmp_path: Path, mark: bytes, rest: bytes
) -> None:
    path = tmp_path / "rubbish"
    path.write_bytes(mark + rest)
    try:
        assert infer(path).rows
    except DatasetError as error:
        assert error.message


@settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(DOCUMENTS)
def test_any_json_is_read_or_refused(tmp_path: Path, document: object) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([document, document]))
    try:
        infer(path)
    except DatasetError as error:
        assert error.message


def test_json_nested_missing_and_named_faults(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": {"b": 1, "c": true}}\n\n{"a": {"b": 2.5}, "d": [1, 2]}\n')
    assert read_table(path).to_pydict() == {
        "a.b": ["1", "2.5"],
        "a.c": ["true", ""],
        "d": ["", "[1, 2]"],
    }
    path.write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(DatasetError, match="line 2: this is not JSON"):
        read_table(path)
    path.write_text('{"a": 1}\n[2]\n')
    with pytest.raises(DatasetError, match="line 2: this is not a JSON object"):
        read_table(path)


def test_long_files_are_read_in_parts(tmp_path: Path) -> None:
    numbers = range(40_000)
    lines = [{"a": i, **({"late": i} if i == 39_000 else {})} for i in numbers]
    with gzip.open(tmp_path / "t.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    read = read_table(tmp_path / "t.jsonl.gz")
    assert read["a"].to_pylist() == [str(i) for i in numbers]
    assert read["late"].to_pylist() == ["39000" if i == 39_000 else "" for i in numbers]
    names = [f"x{i}" for i in range(30)]
    head = "@relation t\n" + "".join(f"@attribute {name} {{n,y}}\n" for name in names) + "@data\n"
    (tmp_path / "t.arff").write_text(head + "".join(f"{{{i % 30} y}}\n" for i in numbers))
    read = read_table(tmp_path / "t.arff")
    assert read["x7"].to_pylist() == ["y" if i % 30 == 7 else "n" for i in numbers]
    (tmp_path / "t.arff").write_text(head + "{0 y}\n" * 36_000 + "{0 x}\n")
    with pytest.raises(DatasetError, match="line 36033: this is not ARFF: Data value x not found"):
        read_table(tmp_path / "t.arff")


def test_damaged_and_cut_gzip_files_are_named(tmp_path: Path) -> None:
    whole = gzip.compress(b'{"a": 1}\n' * 5000, mtime=0)
    for data, said in ((whole[:-20], "cut off"), (whole[:30] + b"rubbish" + whole[37:], "damaged")):
        for name in ("t.jsonl.gz", "t.csv.gz"):
            (tmp_path / name).write_bytes(data)
            with pytest.raises(DatasetError, match=f"{name}: the gzip file is {said}"):
                read_table(tmp_path / name)


def test_parquet_types(tmp_path: Path) -> None:
    moments = pd.to_datetime(["2020-01-05 10:00", "2021-03-01 00:00"])
    columns = {
        "when": moments,
        "day": moments.date,
        "yes": [True, None],
        "big": [2**60, -1],
        "sort": pa.array(["b", "a"]).dictionary_encode(),
        "place": pa.array([[1.5, 2.0], [3.0, 4.0]], pa.list_(pa.float64(), 2)),
        "inner": [{"x": 1}, {"x": 2}],
        "wild": [float("inf"), 1.0],
    }
    table = pa.table(columns)
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").to_pydict() == {
        "when": ["2020-01-05 10:00:00.000000", "2021-03-01 00:00:00.000000"],
        "day": ["2020-01-05", "2021-03-01"],
        "yes": ["true", ""],
        "big": ["1152921504606846976", "-1"],
        "sort": ["b", "a"],
        "place[0]": ["1.5", "3"],
        "place[1]": ["2", "4"],
        "inner.x": ["1", "2"],
        "wild": ["", "1"],
    }


@pytest.mark.parametrize(
    "table",
    [
        pa.table([[1, 2], [3, 4]], ["a.b", "a.b"]),
        pa.table({"a": [{"b": 1}, {"b": 2}], "a.b": [3, 4]}),
    ],
    ids=["named", "nested"],
)
def test_a_typed_column_that_is_there_twice_is_told(tmp_path: Path, table: pa.Table) -> None:
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as file:
        file.write_table(table)
    with pytest.raises(DatasetError, match=r"'a\.b' occurs more than once \(columns 1, 2\)"):
        read_table(tmp_path / "t.arrow")


def test_structures_in_a_batch_without_rows(tmp_path: Path) -> None:
    schema = pa.schema({"a": pa.struct({"x": pa.int64(), "y": pa.struct({"z": pa.int64()})})})
    with pa.ipc.new_file(tmp_path / "t.arrow", schema) as file:
        file.write_batch(pa.RecordBatch.from_pylist([], schema))
        file.write_batch(pa.RecordBatch.from_pylist([{"a": {"x": 1, "y": {"z": 2}}}], schema))
    assert values(read_table(tmp_path / "t.arrow")) == {"a.x": ["1"], "a.y.z": ["2"]}


def test_a_column_of_bytes_is_refused_by_name(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": [1], "raw": [b"\xff"]}), tmp_path / "t.parquet")
    with pytest.raises(DatasetError, match=r"column 'raw'.*holds bytes"):
        read_table(tmp_path / "t.parquet")


def _write_ods(path: Path, rows: int, columns: int) -> None:
    """Write a sheet of one number, repeated in a few bytes."""
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    table = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    cell = '<table:table-cell office:value-type="float" office:value="1"'
    content = (
        f'<office:document-content xmlns:office="{office}" xmlns:table="{table}"'
        f' xmlns:text="{text}"><office:body><office:spreadsheet><table:table table:name="s">'
        f'<table:table-row table:number-rows-repeated="{rows}">'
        f'{cell} table:number-columns-repeated="{columns}"><text:p>1</text:p></table:table-cell>'
        "</table:table-row></table:table></office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        kind = "application/vnd.oasis.opendocument.spreadsheet"
        file.writestr("mimetype", kind, zipfile.ZIP_STORED)
        file.writestr("content.xml", content)
        file.writestr("META-INF/manifest.xml", "<manifest></manifest>")


@pytest.mark.parametrize(("rows", "columns"), [(100, 200), (1_000_000, 16_000)])
def test_a_sheet_of_another_kind_that_fills_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, columns: int
) -> None:
    _write_ods(tmp_path / "small.ods", 3, 1)
    assert read_table(tmp_path / "small.ods").num_rows > 0
    monkeypatch.setattr(workbooks, "_MOST_CELLS", 1000)
    _write_ods(tmp_path / "t.ods", rows, columns)
    with pytest.raises(DatasetError, match=r"too much to hold|cannot be read"):
        read_table(tmp_path / "t.ods")


def test_a_workbook_with_a_title_and_two_sheets(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "empty"
    rows = book.create_sheet("rows")
    for row in [
        ["Report 2020"],
        [],
        ["a", "b", "when"],
        [1, "x", pd.Timestamp("2020-01-05")],
        [2.5, None, None],
    ]:
        rows.append(row)
    book.create_sheet("more").append([1, 2])
    book.worksheets[2].append([3, 4])
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    assert table.to_pydict() == {"a": ["1", "2.5"], "b": ["x", ""], "when": ["2020-01-05", ""]}
    assert any("'rows' was read" in note for note in infer(tmp_path / "t.xlsx").notes)


def test_sparse_arff_and_dates(tmp_path: Path) -> None:
    path = tmp_path / "t.arff"
    path.write_text(
        "@relation t\n@attribute a numeric\n@attribute k {n,y}\n@attribute d date 'yyyy-MM-dd'\n"
        "@data\n{0 3, 2 2020-01-05}\n{1 y}\n"
    )
    assert read_table(path).to_pydict() == {
        "a": ["3", "0"],
        "k": ["n", "y"],
        "d": ["2020-01-05", "0"],
    }


def test_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", X=np.arange(8.0).reshape(2, 2, 2), y=np.array(["cat", "dog"]))
    table = read_table(tmp_path / "t.npz")
    assert table["X"].to_pylist()[1] == {"shape": [2, 2], "data": [4.0, 5.0, 6.0, 7.0]}
    assert table["y"].to_pylist() == ["cat", "dog"]
    assert infer(tmp_path / "t.npz").input.to_text() == '{x "X": tensor[2, 2]}'
    np.save(tmp_path / "t.npy", np.array([[1], [3]], dtype=">i2"))
    assert read_table(tmp_path / "t.npy").to_pydict() == {"x": ["1", "3"]}
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DatasetError, match="pickle"):
        read_table(tmp_path / "o.npy")


def test_an_array_whose_description_is_cut_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.arange(3.0))
    data = (tmp_path / "t.npy").read_bytes().replace(b"(3,)", b"(3, ")
    (tmp_path / "t.npy").write_bytes(data)
    with pytest.raises(DatasetError, match="the arrays cannot be read"):
        read_table(tmp_path / "t.npy")


def test_series_of_several_channels_and_unequal_length(tmp_path: Path) -> None:
    path = tmp_path / "t.ts"
    path.write_text(
        "#c\n@problemName t\n@univariate false\n@classLabel true a b\n@data\n1,2,3:4,5,6:a\n7,?:8:b\n"
    )
    table = read_table(path)
    assert table["label"].to_pylist() == ["a", "b"]
    assert table["series"].to_pylist()[0] == {"shape": [2, 3], "data": [1, 2, 3, 4, 5, 6]}
    second = table["series"].to_pylist()[1]
    assert second["shape"] == [2, 2]
    np.testing.assert_array_equal(second["data"], [7, np.nan, 8, np.nan])
    found = infer(path, "label")
    assert found.input.to_text() == '{series "series": tensor[2, d2]?}'
    assert "2 x 2 to 3" in found.columns[0].evidence
    path.write_text("@problemName t\n@classLabel true a\n@data\n1,x:a\n")
    with pytest.raises(DatasetError, match="line 4: 'x' is not a number"):
        read_table(path)


@pytest.mark.parametrize("packed", ["folder", "zip", "tar.gz"])
def test_texts_by_class(tmp_path: Path, packed: str) -> None:
    files = {
        f"{label}/{i}.txt": f"{label} text number {i}\nas written"
        for label in ("good", "bad")
        for i in range(6)
    }
    path = tmp_path / f"texts.{packed}"
    if packed == "folder":
        for name, text in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text)
    elif packed == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
    else:
        with tarfile.open(path, "w:gz") as archive:
            for name, text in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))
    found = infer(path)
    assert (found.rows, found.target) == (12, "label")
    assert found.input.to_text() == '{text "text": text}'
    assert read_table(path)["text"][0].as_py() == "bad text number 0 as written"


def test_pictures_by_class_keep_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "pictures.zip"
    written = {}
    with zipfile.ZipFile(path, "w") as archive:
        for i, size in enumerate([(4, 6), (4, 6), (5, 6)]):
            file = io.BytesIO()
            Image.new("RGB", size, (i, 0, 0)).save(file, "PNG")
            name = f"{'ab'[i % 2]}/{i}.png"
            written[name] = file.getvalue()
            archive.writestr(name, file.getvalue())
    assert read_table(path)["image"].to_pylist() == [written[name] for name in sorted(written)]
    found = infer(path)
    assert found.input.to_text() == '{image "image": image[6, w, 3]}'
    assert found.output is not None
    assert found.output.labels("label") == ("a", "b")
    with pytest.raises(DatasetError, match="holds more than single values"):
        write_table(tmp_path / "t.csv", read_table(path), found.columns)


def test_bombs_and_ways_out_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("easeml.data.readers.source.LARGEST", 1 << 20)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", b"0" * (2 << 20))
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"0" * (2 << 20)))
    with zipfile.ZipFile(tmp_path / "out.zip", "w") as archive:
        archive.writestr("a/1.txt", "x")
        archive.writestr("../b/2.txt", "x")
    for name, message in (
        ("bomb.zip", "unpacks"),
        ("bomb.csv.gz", "unpacks"),
        ("out.zip", "leads out"),
    ):
        with pytest.raises(DatasetError, match=message):
            read_table(tmp_path / name)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow", ".jsonl", ".arff"])
def test_what_is_written_is_read_again(tmp_path: Path, ending: str) -> None:
    flowers().assign(
        when="05.01.2020", note=[f"said {i} times over and over" for i in range(120)]
    ).to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv")
    first = infer_table(table, "kind")
    write_table(tmp_path / f"out{ending}", table, first.columns)
    again = infer(tmp_path / f"out{ending}", "kind")
    for one, other in zip(first.columns, again.columns, strict=True):
        assert (one.name, one.type, one.missing, one.classes) == (
            other.name,
            other.type,
            other.missing,
            other.classes,
        )
    with pytest.raises(DatasetError, match="something already"):
        write_table(tmp_path / f"out{ending}", table, first.columns)


def test_croissant(tmp_path: Path) -> None:
    path = tmp_path / "flowers.csv"
    flowers().to_csv(path, index=False)
    made = json.loads(json.dumps(croissant(path, infer(path, "kind"))))
    assert made["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    kinds = {field["name"]: field["dataType"] for field in made["recordSet"][0]["field"]}
    assert kinds == {
        "length": "sc:Float",
        "width": "sc:Float",
        "colour": "sc:Text",
        "kind": "sc:Text",
    }
    assert len(made["distribution"][0]["sha256"]) == 64


def test_a_wide_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.csv"
    names = {
        i: f"{'long name ' * 10}c{i}" for i in range(3000)
    }  # the header is longer than what is looked at first
    frame = (
        pd.DataFrame(rng.normal(size=(30, 3000)).round(3))
        .rename(columns=names)
        .assign(y=["a", "b"] * 15)
    )
    frame.to_csv(path, index=False)
    table = read_table(path)
    assert (table.num_rows, table.num_columns) == (30, 3001)
    np.testing.assert_array_equal(
        [float(cell) for cell in table[names[2999]].to_pylist()], frame[names[2999]]
    )
    path.write_text(path.read_text().replace("\n", ",1\n", 3).replace(",1\n", "\n", 2))
    with pytest.raises(DatasetError, match=r"row 1 \(the first row of values is row 0\)"):
        read_table(path)
