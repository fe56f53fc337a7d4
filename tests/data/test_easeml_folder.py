"""The ease.ml data set as folder, tar and zip: every rule of reading and inferring, and round
trips.
"""

import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from easeml.data import (
    DatasetError,
    EasemlDataset,
    infer_easeml,
    is_easeml,
    read_easeml,
    read_table,
    write_easeml,
)
from easeml.schema import Schema, TensorShape, generate, schema_of_samples

ROOT = Path(__file__).resolve().parents[3] / "shared" / "conformance"
INDEX = (
    json.loads((ROOT / "index.json").read_text("utf-8"))["examples"]
    if (ROOT / "index.json").exists()
    else []
)


def examples(kind: str) -> list[Any]:
    found = [pytest.param(e, id=e["name"]) for e in INDEX if e["kind"] == kind]
    return found or [pytest.param(None, marks=pytest.mark.skip(reason="the examples are not here"))]


@pytest.mark.parametrize("example", examples("infer-positive"))
def test_public_examples_have_the_recommended_schema(example: dict[str, Any]) -> None:
    found = infer_easeml(ROOT / example["files"]["dataset"])
    wanted = Schema.from_json(json.loads((ROOT / example["files"]["schema"]).read_text("utf-8")))
    assert wanted.match(found.input) is not None
    assert found.input == Schema.from_json(example["inferred_recommended"])
    assert found.output is None


@pytest.mark.parametrize("example", examples("infer-negative"))
def test_public_examples_that_are_refused(example: dict[str, Any]) -> None:
    with pytest.raises(DatasetError) as caught:
        infer_easeml(ROOT / example["files"]["dataset"])
    assert caught.value.where


def npy(*shape: int, dtype: str = "float64") -> bytes:
    out = io.BytesIO()
    np.save(out, np.zeros(shape, dtype))
    return out.getvalue()


def put(folder: Path, files: dict[str, bytes | str]) -> Path:
    """Write files below a folder; a name that ends in / is a folder."""
    for name, held in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held.encode() if isinstance(held, str) else held)
    return folder


GOOD = {
    "colour.class.txt": "red\n blue \n\ngreen\n",
    ".DS_Store": "x",
    "1/.hidden": "x",
    "1/x.ten.npy": npy(2, 3),
    "1/v.ten.csv": "1,2.5,-3e2\n",
    "1/c.cat.txt": " red\n",
    "1/n/a.ten.npy": npy(2, 4),
    "1/n/b.cat.txt": "blue\r\ngreen\r\n",
    "1/links.csv": "n/0  n/1\n\nn/0\tn/1\n",
    "2/x.ten.npy": npy(2, 3),
    "2/v.ten.csv": "1,2,3",
    "2/c.cat.txt": "green",
    "2/n/a.ten.npy": npy(3, 4),
    "2/n/b.cat.txt": "red\nred\nred\n",
    "2/.links.csv": "",
}
GOOD_TEXT = (
    "{c: category of colour, n: [a: tensor[4], b: category of colour] links {n: 1..1}, v: tensor[3], x: tensor[2, 3]}"
    " classes {colour: 3}"
)


def test_a_folder_with_everything(tmp_path: Path) -> None:
    put(tmp_path, GOOD)
    found = infer_easeml(tmp_path)
    assert found.input == Schema.from_text(GOOD_TEXT)
    assert (found.rows, found.target, found.columns, found.output) == (2, "", [], None)
    samples = read_easeml(tmp_path).input
    assert samples.classes == {"colour": ("red", "blue", "green")}
    assert samples.samples["1"].links == frozenset({(("n", 0), ("n", 1))})
    assert np.array_equal(samples.samples["1"].values["v"], [1, 2.5, -300])  # pyright: ignore
    assert read_easeml(tmp_path, shapes_only=True).input.samples["1"].values["x"] == TensorShape(
        (2, 3)
    )
    assert is_easeml(tmp_path)


@pytest.mark.parametrize(
    ("change", "where", "said"),
    [
        ({"README.md": "x"}, "README.md", "sample folders and class files only"),
        ({"1/notes.txt": "x"}, "1/notes.txt", "expected a tensor or a category"),
        ({"1/n/deep/x.ten.npy": npy(2, 2)}, "1/n/deep/x.ten.npy", "no folder inside"),
        ({"1/n/z.links.csv": ""}, "1/n/z.links.csv", "expected a tensor or a category"),
        ({"1/z.links.csv": ""}, "1/z.links.csv", "one links file"),
        ({"1/x.ten.npy": npy(2, 3, dtype="float32")}, "1/x.ten.npy", "float64, found float32"),
        ({"1/x.ten.npy": npy(2, 3, dtype="int64")}, "1/x.ten.npy", "float64"),
        ({"1/x.ten.npy": b"nothing"}, "1/x.ten.npy", "not a NumPy file"),
        ({"1/x.ten.npy": b""}, "1/x.ten.npy", "not a NumPy file"),
        ({"1/x.ten.csv": "1,2"}, "1/x.ten.npy", "there twice"),
        ({"1/x.cat.txt": "red"}, "1/x.ten.npy", "there twice"),
        ({"1/v.ten.csv": "1,2\n3"}, "1/v.ten.csv, row 1", "expected 2 numbers"),
        ({"1/v.ten.csv": "1,x,3"}, "1/v.ten.csv, row 0", "'x' is not a number"),
        ({"1/v.ten.csv": ""}, "1/v.ten.csv", "no number"),
        ({"colour.class.txt": "red\nred\n"}, "colour.class.txt", "'red' occurs twice"),
        ({"colour.class.txt": "\n"}, "colour.class.txt", "no label"),
        ({"colour.class.txt": b"\xff\xfe\xff"}, "colour.class.txt", "not UTF-8"),
        ({"1/links.csv": "n/0, n/1"}, "1/links.csv, line 1", "expected 'node/index node/index'"),
        ({"1/links.csv": "n/0 n/1\nn/0 n/-1"}, "1/links.csv, line 2", "expected"),
        ({"1/links.csv": "n n/1"}, "1/links.csv, line 1", "expected"),
        ({"1/links.csv": "N/0 n/1"}, "1/links.csv, line 1", "expected"),
        ({"1/links.csv": "n/0 n/2"}, ": 1", "instance 2 of 'n'"),
        ({"1/c.cat.txt": "red\n\n"}, "1.c", "one label"),
        ({"3/": ""}, ": 3", "expected the node 'c'"),
        ({"1/empty/": "", "2/empty/": ""}, "1.empty", "at least one field"),
        ({"Big.class.txt": "x"}, "classes.Big", "expected a name"),
        ({"more.class.txt": "x"}, "classes.more", "no category uses"),
    ],
)
def test_faults_name_the_file(
    tmp_path: Path, change: dict[str, bytes | str], where: str, said: str
) -> None:
    put(tmp_path, {**GOOD, **change})
    with pytest.raises(DatasetError, match=said) as caught:
        infer_easeml(tmp_path)
    assert caught.value.where.endswith(where)


def test_no_samples_and_no_folder(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no sample folders"):
        infer_easeml(tmp_path)
    with pytest.raises(DatasetError, match="cannot be read"):
        infer_easeml(tmp_path / "nothing")
    assert not is_easeml(tmp_path / "nothing")


def test_a_file_that_claims_more_numbers_than_it_has(tmp_path: Path) -> None:
    whole = npy(2, 3)
    put(tmp_path, {"1/x.ten.npy": whole.replace(b"(2, 3)", b"(9, 3)")})
    with pytest.raises(DatasetError, match="expected 27 numbers, found 6"):
        read_easeml(tmp_path)


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("red\n")
    put(tmp_path / "data", GOOD)
    (tmp_path / "data" / "1" / "c.cat.txt").unlink()
    (tmp_path / "data" / "1" / "c.cat.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(DatasetError, match="found a link"):
        infer_easeml(tmp_path / "data")


FULL = {
    f"{part}/{side}/{name}": held
    for part in ("train", "val")
    for side, files in (
        ("input", {"1/x.ten.npy": npy(3), "2/x.ten.npy": npy(3)}),
        ("output", {"k.class.txt": "a\nb\n", "1/y.cat.txt": "a", "2/y.cat.txt": "b"}),
    )
    for name, held in files.items()
}


def test_a_full_dataset(tmp_path: Path) -> None:
    put(tmp_path, {**FULL, "README.md": "Example"})
    found = infer_easeml(tmp_path)
    assert found.input.to_text() == "{x: tensor[3]} undirected"
    assert found.output is not None
    assert found.output.to_text() == "{y: category of k} undirected classes {k: 2}"
    assert len(found.notes) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {
                "val/output/2/y.cat.txt": None,
                "val/output/1/y.cat.txt": None,
                "val/output/k.class.txt": None,
            },
            "'val/output'",
        ),
        ({"val/output/2/y.cat.txt": None}, "no counterpart"),
        (
            {"val/input/1/x.ten.npy": npy(4), "val/input/2/x.ten.npy": npy(4)},
            "does not fit the schema of the training",
        ),
        ({"val/output/k.class.txt": "a\nb\nc\n"}, "does not fit"),
    ],
    ids=range(4),
)
def test_faults_of_a_full_dataset(
    tmp_path: Path, change: dict[str, bytes | None], said: str
) -> None:
    put(tmp_path, {name: held for name, held in {**FULL, **change}.items() if held is not None})
    with pytest.raises(DatasetError, match=said):
        infer_easeml(tmp_path)


SCHEMA = Schema.from_text(
    '{v: tensor[2, 3], c: category(2), n: [t: tensor[2], d: category of k] links {n: 0..1, m: 1..2}, m: [u: tensor[1]]}'
    " fan-in classes {k: 3}"
)  # fmt: skip


@pytest.mark.parametrize("name", ["folder", "data.tar", "data.tar.gz", "data.zip"])
def test_written_datasets_are_read_back(tmp_path: Path, name: str) -> None:
    samples = generate(SCHEMA, np.random.default_rng(1), samples=3, instances=5)
    write_easeml(tmp_path / name, EasemlDataset(samples))
    again = read_easeml(tmp_path / name).input
    assert again.classes == samples.classes
    assert list(again.samples) == list(samples.samples)
    for sample, written in samples.samples.items():
        read = again.samples[sample]
        assert read.links == written.links
        assert read.values["c"] == written.values["c"]
        assert np.array_equal(read.values["v"], written.values["v"])  # pyright: ignore
        assert np.array_equal(read.values["n"]["t"], written.values["n"]["t"])  # pyright: ignore
    assert infer_easeml(tmp_path / name).input == schema_of_samples(samples)
    assert SCHEMA.match(infer_easeml(tmp_path / name).input) is not None
    assert is_easeml(tmp_path / name)
    with pytest.raises(DatasetError, match="something already"):
        write_easeml(tmp_path / name, EasemlDataset(samples))


def test_a_full_dataset_is_written_and_read(tmp_path: Path) -> None:
    one, two = (
        generate(Schema.from_text(t), np.random.default_rng(1))
        for t in ("{a: tensor[3]}", "{b: category(2)}")
    )
    write_easeml(tmp_path / "x.zip", EasemlDataset(one, two, one, two))
    found = infer_easeml(tmp_path / "x.zip")
    assert found.output is not None
    assert found.output.nodes["b"].type == "category"
    with pytest.raises(DatasetError, match="validation data"):
        write_easeml(tmp_path / "y", EasemlDataset(one, two))


@pytest.mark.parametrize("wrapper", ["", "data/", "./", "./data/"])
def test_an_archive_may_have_a_folder_around_all(tmp_path: Path, wrapper: str) -> None:
    with tarfile.open(tmp_path / "x.tar.xz", "w:xz") as archive:
        for name, held in GOOD.items():
            member = tarfile.TarInfo(wrapper + name)
            member.size = len(held.encode() if isinstance(held, str) else held)
            archive.addfile(member, io.BytesIO(held.encode() if isinstance(held, str) else held))
    assert infer_easeml(tmp_path / "x.tar.xz").input == Schema.from_text(GOOD_TEXT)


@pytest.mark.parametrize("name", ["../x.class.txt", "/x.class.txt", "a/../../x.class.txt"])
def test_paths_out_of_an_archive_are_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(name, "a")
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    for file in ("x.zip", "x.tar"):
        with pytest.raises(DatasetError, match="leads out of the archive"):
            infer_easeml(tmp_path / file)


def test_a_file_without_a_name_is_refused(tmp_path: Path) -> None:
    packed = tmp_path / "x.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("1/x.ten.npy", npy(40))
        archive.writestr("to-be-nameless", b"")
    ends_at_once = packed.read_bytes().replace(b"to-be-nameless", b"\0o-be-nameless")
    packed.write_bytes(ends_at_once)
    with pytest.raises(DatasetError, match="has no name"):
        infer_easeml(packed)
    with pytest.raises(DatasetError, match="has no name"):
        read_table(packed)


def test_devices_and_links_in_an_archive_are_refused(tmp_path: Path) -> None:
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        with tarfile.open(tmp_path / "x.tar", "w") as archive:
            member = tarfile.TarInfo("1/x.ten.npy")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        with pytest.raises(DatasetError, match="found a link or device"):
            infer_easeml(tmp_path / "x.tar")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from(["zip", "tar", "gz", "none"]),
    st.integers(0, 3000),
    st.binary(min_size=1, max_size=20),
)
def test_broken_files_are_refused_and_crash_nothing(
    tmp_path: Path, form: str, at: int, junk: bytes
) -> None:
    out = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("1/x.ten.npy", npy(40))
    elif form != "none":
        with tarfile.open(fileobj=out, mode="w:gz" if form == "gz" else "w") as archive:
            member = tarfile.TarInfo("1/x.ten.npy")
            member.size = len(npy(40))
            archive.addfile(member, io.BytesIO(npy(40)))
    data = bytearray(out.getvalue())
    data[at % (len(data) + 1) : at % (len(data) + 1) + len(junk)] = junk
    (tmp_path / "x").write_bytes(bytes(data))
    try:
        read_easeml(tmp_path / "x")
        infer_easeml(tmp_path / "x")
    except DatasetError:
        return


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from(["x.ten.npy", "v.ten.csv", "c.cat.txt", "links.csv"]),
    st.binary(max_size=60),
    st.booleans(),
)
def test_random_bytes_in_a_file_crash_nothing(
    tmp_path: Path, name: str, junk: bytes, head: bool
) -> None:
    put(tmp_path, GOOD)
    (tmp_path / "1" / name).write_bytes(npy(2, 3)[:80] + junk if head else junk)
    try:
        infer_easeml(tmp_path)
        read_easeml(tmp_path)
    except DatasetError:
        return
