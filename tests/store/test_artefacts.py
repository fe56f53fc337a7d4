import hashlib
import os
import threading

import pytest

from easeml.errors import Damaged, InvalidInput, NotFound, TooLarge
from easeml.store import ArtefactStore, LocalFiles


@pytest.fixture
def artefacts(tmp_path):
    return ArtefactStore(LocalFiles(tmp_path / "artefacts"))


def _folder(tmp_path):
    folder = tmp_path / "model"
    (folder / "parts" / "empty").mkdir(parents=True)
    (folder / "manifest.json").write_text('{"a": 1}')
    (folder / "parts" / "weights.bin").write_bytes(bytes(range(256)) * 9000)
    (folder / "parts" / "nothing").write_bytes(b"")
    return folder


def _content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_a_stream_is_stored_by_its_digest(artefacts, tmp_path):
    digest, size = artefacts.put_stream("t1", [b"hello ", b"world"], 11)
    assert (digest, size) == (hashlib.sha256(b"hello world").hexdigest(), 11)
    assert artefacts.exists("t1", digest)
    assert artefacts.size("t1", digest) == 11
    assert artefacts.path("t1", digest) == tmp_path / "artefacts" / "t1" / digest[:2] / digest
    assert artefacts.fetch("t1", digest, tmp_path / "a" / "copy").read_bytes() == b"hello world"


def test_too_large_a_stream_leaves_nothing(artefacts, tmp_path):
    with pytest.raises(TooLarge):
        artefacts.put_stream("t1", [b"hello ", b"world"], 10)
    assert [path for path in (tmp_path / "artefacts").rglob("*") if path.is_file()] == []


def test_a_folder_comes_back_whole(artefacts, tmp_path):
    folder = _folder(tmp_path)
    digest = artefacts.put("t1", folder)
    assert artefacts.put("t1", folder) == digest
    assert artefacts.exists("t1", digest)
    assert artefacts.size("t1", digest) == 8 + 256 * 9000
    assert _content(artefacts.fetch("t1", digest, tmp_path / "copy")) == _content(folder)
    with pytest.raises(NotFound):
        artefacts.path("t1", digest)


def test_a_small_folder_that_lies_here_is_copied_without_starting_threads(
    artefacts, tmp_path, monkeypatch
):
    digest = artefacts.put("t1", _folder(tmp_path))
    monkeypatch.setattr(threading.Thread, "start", lambda thread: pytest.fail("a thread"))
    fetched = artefacts.fetch("t1", digest, tmp_path / "fetched")
    assert _content(fetched) == _content(tmp_path / "model")


def test_a_file_that_looks_like_a_manifest_is_a_file(artefacts, tmp_path):
    folder = _folder(tmp_path)
    digest = artefacts.put("t1", folder)
    manifest = tmp_path / "artefacts" / "t1" / digest[:2] / f"{digest}.folder"
    forged = artefacts.put("t2", manifest)
    assert artefacts.fetch("t2", forged, tmp_path / "copy").is_file()


def test_tenants_do_not_share(artefacts, tmp_path):
    digest, _ = artefacts.put_stream("t1", [b"secret"], 10)
    assert not artefacts.exists("t2", digest)
    with pytest.raises(NotFound):
        artefacts.path("t2", digest)
    with pytest.raises(NotFound):
        artefacts.fetch("t2", digest, tmp_path / "copy")


@pytest.mark.parametrize(
    ("tenant", "digest"),
    [("../t1", "0" * 64), ("", "0" * 64), ("t1", "../../etc/passwd"), ("t1", "A" * 64)],
)
def test_names_that_reach_out_are_refused(artefacts, tenant, digest):
    with pytest.raises(InvalidInput):
        artefacts.path(tenant, digest)


def test_damage_is_found_and_healed_by_storing_again(artefacts, tmp_path):
    digest, _ = artefacts.put_stream("t1", [b"hello"], 10)
    path = artefacts.path("t1", digest)
    path.chmod(0o644)
    path.write_bytes(b"hellO")
    with pytest.raises(Damaged):
        artefacts.fetch("t1", digest, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    artefacts.put_stream("t1", [b"hello"], 10)
    assert artefacts.fetch("t1", digest, tmp_path / "copy").read_bytes() == b"hello"


@pytest.mark.parametrize("broken", ["manifest", "member"])
def test_damage_in_a_folder_is_found(artefacts, tmp_path, broken):
    digest = artefacts.put("t1", _folder(tmp_path))
    member = hashlib.sha256(b'{"a": 1}').hexdigest()
    name = f"{digest}.folder" if broken == "manifest" else member
    path = next((tmp_path / "artefacts").rglob(name))
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    with pytest.raises(Damaged):
        artefacts.fetch("t1", digest, tmp_path / "copy")


def test_links_and_pipes_are_refused(artefacts, tmp_path):
    folder = _folder(tmp_path)
    (folder / "link").symlink_to("/etc/hostname")
    with pytest.raises(InvalidInput):
        artefacts.put("t1", folder)
    with pytest.raises(InvalidInput):
        artefacts.put("t1", folder / "link")
    (folder / "link").unlink()
    os.mkfifo(folder / "pipe")
    with pytest.raises(InvalidInput):
        artefacts.put("t1", folder)


def test_leftovers_of_interrupted_writers_are_cleared_after_a_day(tmp_path):
    incoming = tmp_path / "artefacts" / ".incoming"
    incoming.mkdir(parents=True)
    (incoming / "old").write_bytes(b"x")
    os.utime(incoming / "old", (1e9, 1e9))
    (incoming / "new").write_bytes(b"x")
    ArtefactStore(LocalFiles(tmp_path / "artefacts"))
    assert [path.name for path in incoming.iterdir()] == ["new"]


def test_the_files_of_a_folder_can_be_read_where_they_lie(artefacts, tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a.txt").write_text("one")
    (tmp_path / "in" / "deep" / "b.txt").write_text("two")
    digest = artefacts.put("t1", tmp_path / "in")
    found = artefacts.members("t1", digest)
    assert {name: path.read_text() for name, path in found.items()} == {
        "a.txt": "one",
        "deep/b.txt": "two",
    }
    for tenant, one in (("t2", digest), ("t1", artefacts.put("t1", tmp_path / "in" / "a.txt"))):
        with pytest.raises(NotFound):
            artefacts.members(tenant, one)
