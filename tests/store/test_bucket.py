"""Artefacts in a bucket: a folder that machines share, and a real server that speaks S3."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from easeml.errors import Damaged, InvalidInput, NotFound, Unreachable
from easeml.store import ArtefactStore
from easeml.store.bucket import Bucket
from easeml.store.cached_files import CachedFiles

GIGABYTE = 2**30
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of a server with the bucket "lab-models"."""
    moto = pytest.importorskip("moto.server", reason="make test-s3 runs it")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    made = httpx.put(f"{address}/lab-models", timeout=60)  # what answers is imported only now
    assert made.status_code == 200
    yield address
    server.stop()


@pytest.fixture(params=["folder", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "folder":
        return f"file://{tmp_path}/shared"
    address = request.getfixturevalue("s3")
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT": address}.items():
        monkeypatch.setenv(name, value)
    return f"s3://lab-models/{tmp_path.name}"


def machine(url: str, folder: Path, limit: int = GIGABYTE) -> ArtefactStore:
    """The store as another machine sees it, with a folder of its own."""
    return ArtefactStore(CachedFiles(folder, Bucket(url), limit))


def model(folder: Path) -> Path:
    (folder / "parts" / "empty").mkdir(parents=True)
    (folder / "manifest.json").write_text('{"a": 1}')
    (folder / "parts" / "weights.bin").write_bytes(bytes(range(256)) * 9000)
    return folder


def content(folder: Path) -> dict[str, bytes | None]:
    found = {}
    for path in folder.rglob("*"):
        found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else None
    return found


def age_by_a_day(folder: Path) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (1e9, 1e9))


def test_what_one_machine_keeps_another_reads(url: str, tmp_path: Path) -> None:
    one, other = machine(url, tmp_path / "one"), machine(url, tmp_path / "other")
    made = model(tmp_path / "made")
    digest = one.put("t1", made)
    assert other.exists("t1", digest)
    assert not other.exists("t2", digest)
    assert other.size("t1", digest) == one.size("t1", digest)
    assert content(other.fetch("t1", digest, tmp_path / "copy")) == content(made)
    assert set(other.members("t1", digest)) == {"manifest.json", "parts/weights.bin"}
    other.verify("t1", digest)
    other.check_there("t1")
    other.check_writable()


def test_what_no_one_keeps_is_not_found(url: str, tmp_path: Path) -> None:
    store = machine(url, tmp_path / "one")
    with pytest.raises(NotFound):
        store.fetch("t1", "0" * 64, tmp_path / "copy")
    assert not list((tmp_path / "one" / ".incoming").iterdir())


def test_a_damaged_copy_is_fetched_again(url: str, tmp_path: Path) -> None:
    one, other = machine(url, tmp_path / "one"), machine(url, tmp_path / "other")
    digest, _ = one.put_stream("t1", [b"hello"], 5)
    copy = other.path("t1", digest)
    copy.chmod(0o644)
    copy.write_bytes(b"jello")
    assert other.fetch("t1", digest, tmp_path / "copy").read_bytes() == b"hello"


def test_a_damaged_object_is_never_taken(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/shared"
    digest, _ = machine(url, tmp_path / "one").put_stream("t1", [b"hello"], 5)
    kept = tmp_path / "shared" / "t1" / digest[:2] / digest
    kept.write_bytes(b"jello")
    with pytest.raises(Damaged):
        machine(url, tmp_path / "other").fetch("t1", digest, tmp_path / "copy")


def test_the_folder_holds_what_was_used_last(url: str, tmp_path: Path) -> None:
    store = machine(url, tmp_path / "one", limit=2500)
    digests = [store.put_stream("t1", [bytes([number]) * 1000], 1000)[0] for number in range(3)]
    age_by_a_day(tmp_path / "one")
    store.path("t1", digests[0])  # used now
    later, _ = machine(url, tmp_path / "other").put_stream("t1", [b"x" * 1000], 1000)
    assert store.path("t1", later).is_file()  # fetched: room is made
    here = {path.name for path in (tmp_path / "one" / "t1").glob("*/*")}
    assert here == {digests[0], later}
    for number, digest in enumerate(digests):
        assert store.path("t1", digest).read_bytes() == bytes([number]) * 1000


def test_a_store_that_is_gone_is_said(
    tmp_path: Path, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT": s3}.items():
        monkeypatch.setenv(name, value)
    store = machine("s3://no-such-bucket/x", tmp_path / "one")
    with pytest.raises(Unreachable, match="s3://no-such-bucket/x"):
        store.put_stream("t1", [b"hello"], 5)
    with pytest.raises(Unreachable, match="s3://no-such-bucket/x"):
        store.check_writable()


@pytest.mark.parametrize("url", ["nonsense", "ftp://host/x"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be kept there"):
        Bucket(url)


DAY = 24 * 3600.0


def test_what_nobody_names_is_found_and_removed(url: str, tmp_path: Path) -> None:
    one, other = machine(url, tmp_path / "one"), machine(url, tmp_path / "other")
    held = one.put("t1", model(tmp_path / "made"))
    stray, _ = one.put_stream("t2", [b"nobody's"], 100)
    aged = other.aged(0.0)
    assert {file.tenant_id for file in aged} == {"t1", "t2"}
    assert other.aged(DAY) == []  # what was stored a moment ago
    (found,) = other.strays(aged, {held})
    assert (found.digest, found.size) == (stray, 8)
    assert not other.remove(found, DAY)  # it was written anew meanwhile
    assert other.exists("t2", stray)
    assert other.remove(found, 0.0)
    assert other.remove(found, 0.0)  # whoever was killed before it was told
    assert not other.exists("t2", stray)
    assert content(other.fetch("t1", held, tmp_path / "copy")) == content(tmp_path / "made")


def test_what_lies_there_long_is_sent_again(tmp_path: Path) -> None:
    """It may be about to be removed: nobody refers to it yet."""
    store = machine(f"file://{tmp_path}/shared", tmp_path / "one")
    digest, _ = store.put_stream("t1", [b"hello"], 5)
    kept = tmp_path / "shared" / "t1" / digest[:2] / digest
    os.utime(kept, (1e9, 1e9))
    store.put_stream("t1", [b"hello"], 5)
    assert kept.stat().st_mtime > 1e9


def test_objects_that_are_not_easemls_stay(tmp_path: Path) -> None:
    store = machine(f"file://{tmp_path}/shared", tmp_path / "one")
    (tmp_path / "shared" / "notes").mkdir(parents=True)
    (tmp_path / "shared" / "notes" / "read-me.txt").write_text("ours")
    assert store.aged(0.0) == []


def test_what_the_bucket_has_no_more_goes_from_other_machines(url: str, tmp_path: Path) -> None:
    one, other = machine(url, tmp_path / "one"), machine(url, tmp_path / "other")
    (tmp_path / "erased").write_text("ann.smith@example.org")
    (tmp_path / "kept").write_text("others")
    erased, kept = (one.put("t1", tmp_path / name) for name in ("erased", "kept"))
    places = [other.path("t1", digest) for digest in (erased, kept)]
    (gone,) = [file for file in one.aged(0.0) if file.digest == erased]
    assert one.remove(gone, 0.0)
    assert other.drop_gone_copies() == 0  # it may be in use
    assert places[0].exists()
    age_by_a_day(tmp_path / "other")
    assert other.drop_gone_copies() == 1
    assert [place.exists() for place in places] == [False, True]
    assert one.drop_gone_copies() == 0
