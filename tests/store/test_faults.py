"""A full disk and a damaged database are named, and leave what was kept as it was."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from easeml.errors import Damaged, DatabaseAway, StorageFull, Unreachable
from easeml.store import Store, Tenant

MEBIBYTE = 2**20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        if "CI" in os.environ:
            pytest.fail("CI must be able to mount a small disk.")
        pytest.skip("Only root can mount a small disk.")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A folder that nobody can write to through its name."""
    bind = ["mount", "--bind", str(folder), str(folder)]
    if os.geteuid() != 0 or subprocess.run(bind, capture_output=True, check=False).returncode:
        if "CI" in os.environ:
            pytest.fail("CI must be able to mount a folder.")
        pytest.skip("Only root can mount a folder.")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass


def test_a_full_disk_refuses_files_and_rows_and_keeps_the_others(small_disk: Path):
    store = Store.open(f"sqlite:///{small_disk}/easeml.db", small_disk / "artefacts")
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "one"))
    digest, _ = store.artefacts.put_stream("t1", [b"kept"], MEBIBYTE)
    fill(small_disk)

    with pytest.raises(StorageFull, match="disk is full"):
        store.artefacts.put_stream("t1", [b"y" * MEBIBYTE], 2 * MEBIBYTE)
    with pytest.raises(StorageFull):
        store.artefacts.check_writable()
    with pytest.raises(StorageFull), store.write() as tx:
        for number in range(2000):
            tx.tenants.add(Tenant(f"more-{number}", "x" * 500))

    (small_disk / "filler").unlink()
    with store.write() as tx:
        tx.tenants.add(Tenant("t2", "two"))
    with store.read() as tx:
        assert {tenant.id for tenant in tx.tenants.list(limit=None)} == {"t1", "t2"}
    assert store.artefacts.path("t1", digest).read_bytes() == b"kept"
    store.close()


def test_a_disk_that_is_read_only_for_a_while_is_named_and_written_afterwards(
    tmp_path: Path,
) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/easeml.db", tmp_path / "artefacts")
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "one"))
    with read_only(tmp_path):
        # Who reads has the connection that was there: another one is made.
        with store.read(), pytest.raises(DatabaseAway, match="read-only"), store.write() as tx:
            tx.tenants.add(Tenant("t2", "two"))
        with pytest.raises(DatabaseAway, match="read-only"):
            store.artefacts.put_stream("t1", [b"x"], MEBIBYTE)
        with pytest.raises(DatabaseAway, match="read-only"):
            store.artefacts.check_writable()
    with store.read(), store.write() as tx:
        tx.tenants.add(Tenant("t2", "two"))
    with store.read() as tx:
        assert tx.tenants.column("id") == ["t1", "t2"]
    store.close()


def test_an_upload_on_a_full_disk_says_so_and_goes_on_later(small_disk: Path, tmp_path: Path):
    store = Store.open(f"sqlite:///{tmp_path}/easeml.db", small_disk / "artefacts")
    upload = store.uploads.begin("t1", MEBIBYTE)
    fill(small_disk)
    with pytest.raises(StorageFull):
        store.uploads.append("t1", upload.id, 0, [b"z" * MEBIBYTE])
    (small_disk / "filler").unlink()
    kept = store.uploads.get("t1", upload.id).offset
    assert store.uploads.append("t1", upload.id, kept, [b"z" * (MEBIBYTE - kept)]) == MEBIBYTE
    store.close()


def test_a_broken_page_is_found_and_named(tmp_path: Path):
    path = tmp_path / "easeml.db"
    store = Store.open(f"sqlite:///{path}", tmp_path / "artefacts")
    with store.write() as tx:
        for number in range(500):
            tx.tenants.add(Tenant(f"t{number}", "x" * 200))
    store.check_integrity()
    store.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    with pytest.raises(Damaged, match="database is damaged"):
        Store.open(f"sqlite:///{path}", tmp_path / "artefacts")


def test_a_broken_page_of_a_running_service_is_found_and_named(tmp_path: Path):
    path = tmp_path / "easeml.db"
    store = Store.open(f"sqlite:///{path}", tmp_path / "artefacts")
    with store.write() as tx:
        for number in range(500):
            tx.tenants.add(Tenant(f"t{number}", "x" * 200))
    store.close()  # the WAL is now part of the file
    with path.open("r+b") as file:
        file.seek(path.stat().st_size - 4096)
        file.write(os.urandom(4096))
    store = Store.open(f"sqlite:///{path}", tmp_path / "artefacts")
    with pytest.raises(Damaged, match="restore the newest backup"):
        store.check_integrity()
    store.close()


def test_a_missing_folder_is_named(tmp_path: Path):
    store = Store.open(f"sqlite:///{tmp_path}/easeml.db", tmp_path / "artefacts")
    store.artefacts.check_writable()
    (tmp_path / "artefacts" / ".incoming").rmdir()
    with pytest.raises(Unreachable, match="cannot be written"):
        store.artefacts.check_writable()
    store.close()
