"""Power is lost under PostgreSQL: its own log and the artefacts beside it hold what was said."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_for_power_loss import start, stop, url_of
from lost_power import record
from test_power_loss import SHARES, Recording, acknowledged_in

from easeml.errors import EasemlError
from easeml.store import Store
from postgres_cluster import REMEDY, as_owner, owner_of_clusters, programs
from session_files import shortest_folder

PROGRAM = Path(__file__).with_name("cluster_for_power_loss.py")
pytestmark = pytest.mark.postgres


def recorded(folder: Path, fsync: str = "on") -> Recording:
    """Record a cluster and a store that writes into it. What there was before is synced."""
    if shutil.which("strace") is None:
        pytest.skip("strace was not found: install it.")
    found = programs()
    if found is None:
        pytest.skip(REMEDY)
    home, sockets, data = folder / "home", folder / "sockets", folder / "home" / "cluster"
    for one in (home, sockets):
        one.mkdir()
        owned(one)
    command = [found / "initdb", "--pgdata", data, "--username=easeml", "--auth=trust"]
    command += ["--no-sync", "--locale=C.UTF-8", "--encoding=UTF8", "--wal-segsize=1"]
    subprocess.run(command, check=True, cwd="/tmp", stdout=subprocess.DEVNULL, **as_owner())
    start(found, data, sockets, "fsync=off")
    Store.open(url_of(sockets), home / "artefacts").close()
    stop(found, data, "fast")
    shutil.copytree(home, folder / "before")
    paths = f"{PROGRAM.parent}:{PROGRAM.parent.parent}"
    command = ["env", f"PYTHONPATH={paths}", sys.executable, PROGRAM, home, found, fsync]
    return Recording(home, folder / "before", record([str(one) for one in command], home))


def owned(path: Path) -> None:
    """Give a path to the user that clusters run as."""
    if os.geteuid() == 0:
        owner = owner_of_clusters()
        os.chown(path, owner.pw_uid, owner.pw_gid)


def faults(recording: Recording, count: int, folder: Path) -> Iterator[str]:
    """Give what is wrong after power was lost at some moments, where anything is."""
    for disk, seed in recording.losses(count):
        home = folder / f"home-{seed}"
        disk.write_after_a_loss(home, seed, SHARES[seed % len(SHARES)])
        for path in (home / "cluster", *(home / "cluster").rglob("*")):
            owned(path)
            path.chmod(0o700 if path.is_dir() else 0o600)
        sockets = folder / f"sockets-{seed}"
        wrong = fault(home, sockets, acknowledged_in(disk))
        if wrong:
            yield f"seed {seed}: {wrong}"
        shutil.rmtree(home)
        shutil.rmtree(sockets)


def fault(home: Path, sockets: Path, acknowledged: dict[str, str]) -> str:
    """Return what is wrong with what power left of a cluster and its artefacts; empty: nothing."""
    found = programs()
    assert found is not None
    sockets.mkdir()
    owned(sockets)
    (home / "cluster" / "postmaster.pid").unlink(missing_ok=True)  # that process is gone
    try:
        start(found, home / "cluster", sockets, "fsync=off")
    except subprocess.CalledProcessError:
        return f"the cluster does not start: {(sockets / 'log').read_text()[-400:]}"
    store = Store.open(url_of(sockets), home / "artefacts")
    try:
        with store.read() as tx:
            rows = {row.id: row.name for row in tx.scoped("t1").datasets.list(limit=None)}
        if not acknowledged.items() <= rows.items():
            return "an acknowledged row is lost"
        for digest in rows.values():  # also those that were not acknowledged yet
            store.artefacts.verify("t1", digest)
    except EasemlError as error:
        return str(error)
    finally:
        store.close()
        stop(found, home / "cluster", "immediate")
    return ""


@pytest.fixture(scope="module")
def recording(short_folder: Path) -> Recording:
    return recorded(short_folder)


@pytest.fixture(scope="module")
def short_folder() -> Iterator[Path]:
    """A folder with a short name, which the user of clusters may enter: of sockets names are short."""
    folder = shortest_folder() / f"easeml-power-{os.getpid()}"
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_nothing_acknowledged_is_lost_with_the_power_of_postgres(
    recording: Recording, short_folder: Path
) -> None:
    assert list(faults(recording, 6, short_folder)) == []


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_nothing_acknowledged_is_lost_with_the_power_of_postgres_at_many_moments(
    recording: Recording, short_folder: Path
) -> None:
    assert list(faults(recording, 300, short_folder)) == []


@pytest.mark.long
def test_a_cluster_that_does_not_sync_is_found(short_folder: Path) -> None:
    careless = short_folder / "careless"
    careless.mkdir()
    assert any(faults(recorded(careless, "off"), 20, careless))
