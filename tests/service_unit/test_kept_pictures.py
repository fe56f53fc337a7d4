"""Requests of pictures are kept as rows, and read again as the pictures that they were."""

import io
import json
import zipfile

import numpy as np
import pytest
from PIL import Image

from easeml.data import DatasetError, parse_rows, pictures_sent
from easeml.schema import Schema
from easeml.service.production import labelled_rows, request_log
from easeml.service.production.request_log import Seen
from easeml.store import Store
from easeml.store.records import RequestLog

PICTURE = {"singleton": True, "type": "tensor", "dim": [4, 4, 1], "format": "image"}
LABEL = {"singleton": True, "type": "category", "class": "c"}
SCHEMA_IN = Schema.from_json({"nodes": {"image": PICTURE}})
SCHEMA_OUT = Schema.from_json(
    {"nodes": {"label": LABEL}, "classes": {"c": {"dim": 2, "labels": ["dark", "light"]}}}
)


def picture(shade: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.full((4, 4), shade, dtype=np.uint8)).save(file, "PNG")
    return file.getvalue()


def packed(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def answer(rows: int) -> bytes:
    said = {
        "predictions": ["dark"] * rows,
        "model_id": "mod_1",
        "probabilities": [[0.9, 0.1]] * rows,
    }
    return json.dumps(said).encode()


def kept(store: Store, *seen: Seen):
    with store.write() as tx:
        tx.unscoped().request_logs.add(RequestLog("app_1", "ten_1", 1.0, 30.0))
    request_log.keep(store, list(seen))
    with store.read() as tx:
        tables = tx.unscoped()
        rows = tables.production_rows.list(application_id="app_1", limit=None)
        return sorted(rows, key=lambda row: row.row), tables.request_logs.get("app_1").missed


@pytest.fixture
def store(tmp_path) -> Store:
    return Store.open(f"sqlite:///{tmp_path / 'easeml.db'}", tmp_path / "artefacts")


def test_a_zip_of_pictures_becomes_rows_that_are_named_by_their_files(store: Store) -> None:
    body = packed({"b.png": picture(9), "a.png": picture(250)})
    rows, missed = kept(store, Seen("req_1", "ten_1", "app_1", "application/zip", body, answer(2)))
    assert missed == 0
    assert [row.key for row in rows] == ["a.png", "b.png"]  # in the order of the answers
    table = labelled_rows.as_csv(rows, {"a.png": "light", "b.png": "dark"}, "label")
    read = parse_rows(table, "text/csv", SCHEMA_IN, SCHEMA_OUT)
    assert list(read.frame["image"]) == [picture(250), picture(9)]
    assert read.labels is not None
    assert read.labels.tolist() == ["light", "dark"]


def test_a_picture_alone_has_no_name(store: Store) -> None:
    seen = Seen("req_1", "ten_1", "app_1", "image/png", picture(3), answer(1))
    (row,), missed = kept(store, seen)
    assert (row.key, missed) == ("", 0)


def test_what_is_too_large_unpacked_is_counted_and_not_kept(store: Store) -> None:
    bomb = packed({"a.png": picture(1)})
    with zipfile.ZipFile(file := io.BytesIO(bomb), "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b.png", b"\0" * 64 * 2**20)
    body = file.getvalue()
    assert len(body) < 2**20
    seen = Seen("req_1", "ten_1", "app_1", "application/zip", body, answer(2))
    assert kept(store, seen) == ([], 1)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (packed({"a.csv": b"x,y\n1,2\n"}), "application/zip"),
        (packed({"a.png": picture(1), "b.txt": b"no"}), "application/zip"),
        (packed({}), "application/zip"),
        (b"not a zip file", "application/octet-stream"),
        (b"", "multipart/form-data; boundary=x"),
    ],
)
def test_other_files_are_not_taken_for_pictures(body: bytes, kind: str) -> None:
    with pytest.raises(DatasetError):
        pictures_sent(body, kind, 2**20)
