"""Backups of a store on both databases: one state, every byte, all or nothing."""

import threading
from pathlib import Path

import pytest

from easeml.errors import Conflict, Damaged, InvalidInput, NotFound
from easeml.store import Artefact, Store, Tenant
from easeml.store.backup import back_up, choose, move_to_database, restore, snapshots
from postgres_cluster import database


def no_progress(share: float) -> None:
    assert 0 <= share <= 1


def keep(store: Store, *contents: bytes, tenant: str = "t1") -> list[str]:
    """Store bytes, and refer to them."""
    digests = []
    for content in contents:
        digest, size = store.artefacts.put_stream(tenant, [content], 1_000)
        with store.write() as tx:
            if tx.tenants.find(id=tenant) is None:
                tx.tenants.add(Tenant(tenant, tenant))
            tx.scoped(tenant).artefacts.add(Artefact(f"{tenant}:{digest}", tenant, digest, size))
            tx.events.append("kept", digest, {"size": size}, tenant)
        digests.append(digest)
    return digests


def everything(store: Store) -> tuple[list[Tenant], list[Artefact], list[object]]:
    with store.read() as tx:
        tables = tx.unscoped()
        return (
            list(tx.tenants.list(limit=None)),
            list(tables.artefacts.list(limit=None)),
            list(tx.events.after(0, limit=1_000_000)),
        )


def opened(home: Path) -> Store:
    return Store.open(f"sqlite:///{home / 'easeml.db'}", home / "artefacts")


def test_what_was_backed_up_comes_back(store: Store, tmp_path: Path):
    keep(store, b"one", b"two")
    model = tmp_path / "model"
    (model / "parts").mkdir(parents=True)
    (model / "parts" / "weights").write_bytes(b"weights")
    digest = store.artefacts.put("t1", model)
    with store.write() as tx:
        tx.scoped("t1").artefacts.add(Artefact(f"t1:{digest}", "t1", digest, 7))
    config = tmp_path / "config.toml"
    config.write_text("workers = 3\n")

    made = back_up(store, config, tmp_path / "backup", no_progress)
    assert (made.artefacts, made.size, made.lost) == (3, 13, [])
    restore(tmp_path / "backup", choose(tmp_path / "backup", None), tmp_path / "new", no_progress)

    assert (tmp_path / "new" / "config.toml").read_text() == "workers = 3\n"
    copy = opened(tmp_path / "new")
    assert everything(copy) == everything(store)
    fetched = copy.artefacts.fetch("t1", digest, tmp_path / "fetched")
    assert (fetched / "parts" / "weights").read_bytes() == b"weights"
    keep(copy, b"three")  # it goes on where it was
    copy.close()


def test_a_second_snapshot_copies_only_what_is_new(store: Store, tmp_path: Path):
    keep(store, b"one", b"two")
    first = back_up(store, tmp_path / "none", tmp_path / "backup", no_progress)
    keep(store, b"three")
    second = back_up(store, tmp_path / "none", tmp_path / "backup", no_progress)
    assert (first.added, second.added) == (6, 5)
    assert [one.name for one in snapshots(tmp_path / "backup")] == [first.name, second.name]
    restore(
        tmp_path / "backup", choose(tmp_path / "backup", first.name), tmp_path / "old", no_progress
    )
    copy = opened(tmp_path / "old")
    assert len(everything(copy)[1]) == 2
    copy.close()


def test_a_snapshot_is_one_state_while_others_write(open_store, tmp_path: Path):
    store, writing = open_store(), open_store()
    keep(store, b"first")
    stop = threading.Event()
    written = []

    def write() -> None:
        while not stop.is_set():
            written.extend(keep(writing, f"{len(written)}".encode()))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            made = back_up(store, tmp_path / "none", tmp_path / "backup", no_progress)
            assert made.lost == []
    finally:
        stop.set()
        writer.join()
    for number, one in enumerate(snapshots(tmp_path / "backup")):
        home = tmp_path / f"home-{number}"
        restore(tmp_path / "backup", one, home, no_progress)
        copy = opened(home)
        _, artefacts, events = everything(copy)
        assert len(artefacts) == len(events) == one.artefacts  # each was written with its event
        for artefact in artefacts:
            copy.artefacts.verify("t1", artefact.digest)
        copy.check_integrity()
        copy.close()


def test_what_is_lost_already_is_named_and_the_rest_kept(store: Store, tmp_path: Path):
    lost, damaged, _ = keep(store, b"one", b"two", b"three")
    store.artefacts.path("t1", lost).unlink()
    path = store.artefacts.path("t1", damaged)
    path.chmod(0o644)
    path.write_bytes(b"twO")
    made = back_up(store, tmp_path / "none", tmp_path / "backup", no_progress)
    assert sorted(made.lost) == sorted([f"t1/{lost}", f"t1/{damaged}"])
    restore(tmp_path / "backup", made, tmp_path / "new", no_progress)
    copy = opened(tmp_path / "new")
    assert [copy.artefacts.exists("t1", one.digest) for one in everything(copy)[1]].count(True) == 1
    copy.close()


@pytest.mark.parametrize("part", ["easeml.db", "artefact"])
def test_a_damaged_backup_is_refused_and_leaves_nothing(store: Store, tmp_path: Path, part: str):
    (digest,) = keep(store, b"one")
    made = back_up(store, tmp_path / "none", tmp_path / "backup", no_progress)
    path = tmp_path / "backup" / "snapshots" / made.name / "easeml.db"
    if part == "artefact":
        path = tmp_path / "backup" / "artefacts" / "t1" / digest[:2] / digest
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Damaged):
        restore(tmp_path / "backup", made, tmp_path / "new", no_progress)
    assert sorted(tmp_path.iterdir()) == before


def test_an_interrupted_snapshot_counts_as_none(store: Store, tmp_path: Path):
    keep(store, b"one")
    whole = back_up(store, tmp_path / "none", tmp_path / "backup", no_progress)

    def die(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(store, tmp_path / "none", tmp_path / "backup", die)
    assert snapshots(tmp_path / "backup") == [whole]
    assert choose(tmp_path / "backup", None) == whole


def test_a_home_that_holds_something_is_not_touched(store: Store, tmp_path: Path):
    made = back_up(store, tmp_path / "none", tmp_path / "backup", no_progress)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(Conflict, match="something"):
        restore(tmp_path / "backup", made, tmp_path / "full", no_progress)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.txt"]
    with pytest.raises(InvalidInput, match=r"thesis\.txt"):
        back_up(store, tmp_path / "none", tmp_path / "full", no_progress)


def test_a_snapshot_of_a_newer_easeml_is_refused(store: Store, tmp_path: Path):
    made = back_up(store, tmp_path / "none", tmp_path / "backup", no_progress)
    newer = made.model_copy(update={"schema_version": "9999"})
    with pytest.raises(Conflict, match="9999"):
        restore(tmp_path / "backup", newer, tmp_path / "new", no_progress)


def test_where_there_is_no_backup_the_command_is_named(tmp_path: Path):
    with pytest.raises(NotFound, match="easeml backup"):
        choose(tmp_path, None)


@pytest.mark.postgres
def test_a_restored_home_moves_to_an_empty_database_once(
    store: Store, tmp_path: Path, postgres: str
):
    keep(store, b"one", b"two")
    made = back_up(store, tmp_path / "none", tmp_path / "backup", no_progress)
    restore(tmp_path / "backup", made, tmp_path / "new", no_progress)
    restore(tmp_path / "backup", made, tmp_path / "again", no_progress)
    with database(postgres) as url:
        move_to_database(tmp_path / "new", url)
        copy = Store.open(url, tmp_path / "new" / "artefacts")
        assert everything(copy) == everything(store)
        keep(copy, b"three")  # the next event has a number of its own
        assert len(everything(copy)[2]) == 3
        copy.close()
        with pytest.raises(Conflict, match="EASEML_DATABASE_URL"):
            move_to_database(tmp_path / "again", url)
    assert (tmp_path / "again" / "easeml.db").exists()
    assert not (tmp_path / "new" / "easeml.db").exists()
