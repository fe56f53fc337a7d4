"""Pictures, tensors and graphs in tables: kept as they are, told apart, and checked with row and
place.
"""

import base64
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from easeml.data import (
    DatasetError,
    EasemlDataset,
    cell_text,
    declare,
    from_json,
    infer_table,
    object_array,
    parse_rows,
    read_table,
    read_version,
    to_json,
    write_easeml,
    write_version,
)
from easeml.data.types.cells import from_arrow, tensor_report, to_arrow
from easeml.data.types.pictures import file_url
from easeml.schema import Sample, Samples, Schema

from . import sample_files

NUMBERS = st.floats(-1e9, 1e9) | st.just(float("nan"))
TENSORS = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=3, max_dims=3, max_side=4), elements=NUMBERS
)
LABEL = Schema.from_text("{label: category('a', 'b')}".replace("'", '"'))
JSON, FILE = "application/json", "application/octet-stream"


@settings(max_examples=50, deadline=None)
@given(st.lists(TENSORS, min_size=1, max_size=5))
def test_tensors_survive_arrow_and_json(arrays: list[np.ndarray]) -> None:
    table = pa.table({"x": to_arrow("tensor", arrays)})
    for back in (
        from_arrow("tensor", table["x"]),
        [from_json("tensor", to_json("tensor", one)) for one in arrays],
    ):
        for found, wanted in zip(back, arrays, strict=True):
            np.testing.assert_array_equal(found, wanted)
    sliced = from_arrow("tensor", table.slice(1)["x"])
    assert [one.shape for one in sliced] == [one.shape for one in arrays[1:]]


def declared(path: Path) -> Any:
    table = read_table(path)
    found = infer_table(table)
    return declare(table, found.columns, found.target)


@pytest.mark.parametrize(
    "kind", ["pictures", "pictures of all sizes", "texts", "series", "arrays", "molecules"]
)
def test_a_version_holds_what_was_brought_and_the_endpoint_takes_it(
    kind: str, tmp_path: Path
) -> None:
    makers: dict[str, Any] = {
        "pictures": lambda: sample_files.pictures(tmp_path / "p.zip"),
        "pictures of all sizes": lambda: sample_files.pictures(
            tmp_path / "p.zip", sizes=((12, 12), (20, 16))
        ),
        "texts": lambda: sample_files.texts(tmp_path / "t"),
        "series": lambda: sample_files.series(tmp_path / "s.ts"),
        "arrays": lambda: sample_files.arrays(tmp_path / "a.npz") and tmp_path / "a.npz",
        "molecules": lambda: sample_files.molecules(tmp_path / "m.zip"),
    }
    version = declared(makers[kind]())
    write_version(tmp_path / "v", version)
    read = read_version(tmp_path / "v")
    (column,) = [name for name in read.train.columns if name not in ("_row", read.target)]
    cell_kind = {"texts": "text", "series": "tensor", "arrays": "tensor", "molecules": "graph"}.get(
        kind, "image"
    )
    rows = []
    for one, other in zip(version.frames["train"][column], read.train[column], strict=True):
        shown = one if cell_kind == "text" else to_json(cell_kind, one)
        assert shown == (other if cell_kind == "text" else to_json(cell_kind, other))
        rows.append({column: shown})
    parsed = parse_rows(json.dumps(rows).encode(), JSON, read.schema_in, read.schema_out)
    assert len(parsed.table) == len(rows)


def refusal(body: bytes, kind: str, schema: str) -> str:
    with pytest.raises(DatasetError) as raised:
        parse_rows(body, kind, Schema.from_text(schema), LABEL)
    return str(raised.value)


PNG = base64.b64encode(sample_files.picture("blobs", 0)).decode()


@pytest.mark.parametrize(
    ("rows", "schema", "said"),
    [
        (
            [{"x": [1, 2]}, {"x": [1]}],
            "{x: tensor[2]}",
            "row 1, column 'x': the value has the shape [1], expected [2]",
        ),
        ([{"x": [[1, 2], [3]]}], "{x: tensor[2, 2]}", "the lists are of different lengths"),
        ([{"x": ["a", "b"]}], "{x: tensor[2]}", "it holds text"),
        ([{"x": [True, False]}], "{x: tensor[2]}", "it holds no numbers"),
        ([{"x": [1, None]}], "{x: tensor[2]}", "holds no number (NaN, null or infinite) at [1]"),
        ([{"x": [1, 1e999]}], "{x: tensor[2]?}", "holds no number (NaN, null or infinite) at [1]"),
        (
            [{"x": [None, 1e999]}],
            "{x: tensor[2]?}",
            "holds no number (NaN, null or infinite) at [1]",
        ),
        ([{"x": {"a": 1}}], "{x: tensor[2]}", "is not nested lists of numbers (found dict)"),
        ([{"x": []}], "{x: tensor[n]}", "has the shape [0], expected [n]"),
        ([{"x": None}], "{x: tensor[2]}", "row 0, column 'x': the value is missing"),
        ([{}], "{x: image[12, 12, 1]}", "row 0, column 'x': the column is not there"),
        (
            [{"x": PNG}, {"x": PNG[:40]}],
            "{x: image[12, 12, 1]}",
            "row 1, column 'x': the value is not a picture",
        ),
        ([{"x": "%%"}], "{x: image[12, 12, 1]}", "is not base64 text of a picture file"),
        ([{"x": 5}], "{x: image[12, 12, 1]}", "is not base64 text of a picture file"),
        ([{"x": PNG}], "{x: image[h, w, 3]}", "has the shape [12, 12, 1], expected [h, w, 3]"),
    ],
    ids=range(15),
)
def test_what_does_not_fit_is_said_with_row_and_field(
    rows: list[Any], schema: str, said: str
) -> None:
    assert said in refusal(json.dumps(rows).encode(), JSON, schema)


ATOMS = 'atom: [element: category("C", "O"), place: tensor[2]] links {atom: 0..3}'


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (5, "is not a graph (found int)"),
        ({"atom": [1]}, "is not a graph ('atom' is not an object of its fields)"),
        ({}, "has no node 'atom'"),
        ({"atom": {"element": ["C"], "place": [[0, 1]]}, "bond": {}}, "has a node 'bond'"),
        ({"atom": {"element": ["C"]}}, "field 'place' is not there"),
        (
            {"atom": {"element": ["C"], "place": [[0, 1]], "mass": [[1]]}},
            "there is no field 'mass'",
        ),
        ({"atom": {"element": ["N"], "place": [[0, 1]]}}, "field 'element' holds 'N'"),
        ({"atom": {"element": [[1]], "place": [[0, 1]]}}, "field 'element' holds numbers"),
        ({"atom": {"element": ["C"], "place": ["C"]}}, "field 'place' holds labels"),
        ({"atom": {"element": ["C"], "place": [[0, 1, 2]]}}, "expected [instances, 2]"),
        ({"atom": {"element": ["C"], "place": [[0, None]]}}, "field 'place' holds NaN"),
        ({"atom": {"element": ["C", "O"], "place": [[0, 1]]}}, "different numbers of instances"),
        (
            {"atom": {"element": ["C"], "place": [[0, 1]]}, "links": [["atom", 0, "atom", 1]]},
            "but there are 1 and 1",
        ),
        (
            {"atom": {"element": ["C"], "place": [[0, 1]]}, "links": [["atom", 0, "x", 0]]},
            "from 'atom' to 'x'",
        ),
        ({"atom": {"element": ["C"], "place": [[0, 1]]}, "links": [["atom", 0]]}, "is not a graph"),
        ({"atom": {"element": ["C"], "place": [[0, 1]]}, "links": 7}, "is not a graph"),
    ],
    ids=range(16),
)
def test_graphs_that_do_not_fit(graph: Any, said: str) -> None:
    found = refusal(json.dumps([{"graph": graph}]).encode(), JSON, f"{{{ATOMS}}}")
    assert found.startswith("row 0, column 'graph'")
    assert said in found


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from([FILE, "application/zip", "image/png", "multipart/form-data", JSON]),
)
def test_rubbish_is_refused_and_nothing_else(body: bytes, kind: str) -> None:
    for schema in ("{x: image[h, w, 1]}", "{x: tensor[2, 2]}", f"{{{ATOMS}}}"):
        with pytest.raises(DatasetError):
            parse_rows(body, kind, Schema.from_text(schema), LABEL)


def test_several_pictures_come_in_parts() -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="f"; filename="%s"\r\n\r\n%s\r\n'
    picture = sample_files.picture("blobs", 0)
    body = part % (b"a.png", picture) + part % (b"a.png", picture) + b"--x--\r\n"
    kind = "multipart/form-data; boundary=x"
    found = parse_rows(body, kind, Schema.from_text("{x: image[12, 12, 1]}"), LABEL)
    assert found.names == ["a.png", "a.png (2)"]
    assert found.table["x"].tolist() == [picture, picture]
    wide = (
        part % (b"a.png", picture)
        + part % (b"b.png", sample_files.picture("blobs", 0, (9, 9)))
        + b"--x--\r\n"
    )
    assert "row 1 (b.png), column 'x'" in refusal(wide, kind, "{x: image[12, 12, 1]}")


@pytest.mark.parametrize(("folder", "labelled"), [("a", True), ("new", False), ("", False)])
def test_pictures_below_folders_of_classes_have_labels(folder: str, labelled: bool) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(2):
            archive.writestr(
                f"{folder}/{number}.png".lstrip("/"), sample_files.picture("blobs", number)
            )
    found = parse_rows(
        out.getvalue(), "application/zip", Schema.from_text("{x: image[12, 12, 1]}"), LABEL
    )
    assert len(found.table) == 2
    assert (found.labels is not None) == labelled


def test_channels_that_differ_are_a_variable(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for number, mode in enumerate(["L", "RGB", "L", "RGBA"]):
            out = io.BytesIO()
            Image.new(mode, (4, 4)).save(out, "PNG")
            archive.writestr(f"{'ab'[number % 2]}/{number}.png", out.getvalue())
    assert (
        infer_table(read_table(tmp_path / "p.zip")).input.to_text()
        == '{image "image": image[4, 4, c]}'
    )


def test_a_damaged_picture_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        archive.writestr("a/1.png", sample_files.picture("blobs", 1))
        archive.writestr("b/2.png", sample_files.picture("blobs", 1)[:60])
    with pytest.raises(DatasetError, match=r"b/2\.png: this is not a picture"):
        read_table(tmp_path / "p.zip")


def test_all_damaged_pictures_are_named_at_once(tmp_path: Path) -> None:
    whole = sample_files.picture("blobs", 1)
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for n in range(9):
            archive.writestr(f"{'ab'[n % 2]}/{n}.png", whole[:60] if n % 4 == 0 else whole)
    with pytest.raises(DatasetError, match=r"Of 2 more it is so: a/4\.png, a/8\.png\.") as caught:
        read_table(tmp_path / "p.zip")
    assert caught.value.where == "a/0.png"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["bees/1.png", "bees/2.png"], "all 2 of them are in one folder"),
        (["1.png", "2.png", "labels.csv"], r"labels\.csv: this is not a text table"),
        (["a.csv", "b/c.csv", "1.png"], r"there are 2 tables, a\.csv, b/c\.csv"),
    ],
)
def test_files_that_are_no_classes_say_what_they_are(
    tmp_path: Path, names: list[str], told: str
) -> None:
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for name in names:
            archive.writestr(name, sample_files.picture("blobs", 1))
    with pytest.raises(DatasetError, match=told):
        read_table(tmp_path / "p.zip")


def test_the_type_of_a_cell_column_cannot_be_set(tmp_path: Path) -> None:
    table = read_table(sample_files.pictures(tmp_path / "p.zip"))
    with pytest.raises(DatasetError, match="each row holds an image"):
        declare(table, infer_table(table).columns, "label", set={"image": "text"})


def dataset(path: Path, output: dict[str, Any]) -> Path:
    side = Samples(
        {"c": ("u", "v")},
        {str(i): Sample({"x": np.full(3, float(i)), "k": ("uv"[i % 2],)}) for i in range(8)},
    )
    answers = Samples(
        {"c": ("u", "v")} if "k" in output else {}, {str(i): Sample(output) for i in range(8)}
    )
    write_easeml(path, EasemlDataset(side, answers, side, answers))
    return path


def test_outputs_that_nothing_predicts_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="the output has several nodes: output k, z"):
        read_table(dataset(tmp_path / "several", {"k": ("u",), "z": np.ones(2)}))
    sequence = read_table(dataset(tmp_path / "sequence", {"steps": {"z": np.ones((3, 2))}}))
    with pytest.raises(DatasetError, match="the target is a graph; no model predicts that"):
        infer_table(sequence)


def test_a_dataset_of_singletons_is_a_table(tmp_path: Path) -> None:
    table = read_table(dataset(tmp_path / "d", {"x": np.ones(1)}))
    assert table.column_names == ["k", "x", "output x"]
    assert table.num_rows == 16
    assert table["k"].to_pylist()[:2] == ["u", "v"]


def test_targets_whose_size_differs_are_refused() -> None:
    rows = [np.ones((2, k)) for k in (1, 2, 3)]
    from easeml.data.types.cells import reported, tensor_report

    field, array = reported(tensor_report("y", rows), to_arrow("tensor", rows))
    table = pa.table(
        [array, pa.array(["1", "2", "3"])], schema=pa.schema([field, pa.field("a", pa.string())])
    )
    with pytest.raises(DatasetError, match="the target's size differs from row to row"):
        declare(table, [tensor_report("y", rows), infer_table(table.select(["a"])).columns[0]], "y")


def test_cells_alike_stay_cells() -> None:
    assert object_array([np.ones(2), np.ones(2)]).shape == (2,)


def test_cells_in_a_few_words():
    dot = io.BytesIO()
    Image.new("L", (2, 2)).save(dot, "PNG")
    assert cell_text(dot.getvalue()).startswith("data:image/png;base64,")
    assert cell_text(np.zeros((3, 4))) == "3 x 4 numbers"
    assert cell_text({"a": {}, "links": []}) == "a graph"


@pytest.mark.parametrize(
    ("shapes", "shown"),
    [
        ([(100, 6)] * 3, (100, 6)),
        ([(2, 9_000), (2, 8_000)], (2, 714)),
        ([(9_000, 2), (8_000, 2)], (714, 2)),
        ([(50_000,), (49_999,)], (1428,)),
        ([(3, 0), (3, 4)], (3, 0)),
    ],
)
def test_a_long_array_is_shown_by_what_can_be_sent(
    shapes: list[tuple[int, ...]], shown: tuple[int, ...]
) -> None:
    random = np.random.default_rng(0)
    arrays = [random.normal(size=shape) * 1e-7 for shape in shapes]
    report = tensor_report("x", arrays)
    [example] = report.examples
    assert len(example) <= 20_000
    found = from_json("tensor", json.loads(example))
    assert found.shape == shown
    begins = tuple(map(slice, shown))
    np.testing.assert_allclose(found, arrays[0][begins], rtol=1e-3)


def test_a_long_array_of_one_size_is_not_shown() -> None:
    assert tensor_report("x", [np.zeros((1000, 100)) + 0.125] * 2).examples == []


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP"])
def test_a_browser_is_given_the_file_of_a_picture(kind: str) -> None:
    """Rows of pictures said "829 bytes" where a picture was no small PNG."""
    file = io.BytesIO()
    Image.new("RGB", (40, 30), (200, 10, 10)).save(file, kind)
    address = file_url(file.getvalue())
    assert address is not None
    beginning, _, text = address.partition(",")
    assert beginning == f"data:image/{kind.lower()};base64"
    assert base64.b64decode(text) == file.getvalue()


@pytest.mark.parametrize(
    "data", [b"", b"<svg onload='alert(1)'/>", b"\xff\xd8\xff" + bytes(70_000)]
)
def test_no_other_file_is_given_to_a_browser(data: bytes) -> None:
    assert file_url(data) is None
