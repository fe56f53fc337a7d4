"""Power is lost at any moment: what was acknowledged is there, and what is there is whole."""

import hashlib
import random
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from lost_power import Call, Disk, record

from easeml.errors import EasemlError
from easeml.store import Store

WRITER = Path(__file__).with_name("writer_for_power_loss.py")
SHARES = (1.0, 0.5, 0.9, 0.1)
"""How likely a change that was not synced is lost."""


@dataclass(frozen=True)
class Recording:
    """Calls of a program that wrote into a home, which was as ``before``."""

    home: Path
    before: Path
    calls: list[Call]

    def losses(self, count: int) -> Iterator[tuple[Disk, int]]:
        """Give a disk at moments of the recording; each with a number to draw by what is lost."""
        draw = random.Random(count)
        moments = sorted(draw.choices(range(1, len(self.calls) + 1), k=count))
        disk = Disk(self.home, self.before)
        played = 0
        for seed, moment in enumerate(moments):
            for call in self.calls[played:moment]:
                disk.play(call)
            played = moment
            yield disk, seed


def recorded(folder: Path, *careless: str) -> Recording:
    if shutil.which("strace") is None:
        pytest.skip("strace was not found: install it.")
    home, before = folder / "home", folder / "before"
    opened(home).close()
    shutil.copytree(home, before)
    return Recording(
        home, before, record([sys.executable, str(WRITER), str(home), *careless], home)
    )


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return recorded(tmp_path_factory.mktemp("power"))


def opened(home: Path) -> Store:
    return Store.open(f"sqlite:///{home / 'easeml.db'}", home / "artefacts")


def fault(home: Path, acknowledged: dict[str, str]) -> str:
    """Return what is wrong with what power left of a home; empty: nothing."""
    store = opened(home)
    try:
        store.check_integrity()
        with store.read() as tx:
            rows = {row.id: row.name for row in tx.scoped("t1").datasets.list(limit=None)}
        if not acknowledged.items() <= rows.items():
            return "an acknowledged row is lost"
        for digest in rows.values():  # also those that were not acknowledged yet
            store.artefacts.verify("t1", digest)
        for file in store.artefacts.aged(0.0):
            content = (home / "artefacts" / file.key).read_bytes()
            if hashlib.sha256(content).hexdigest() != file.digest:
                return "a stored file is not what its name says"
    except EasemlError as error:
        return str(error)
    finally:
        store.close()
    return ""


def acknowledged_in(disk: Disk) -> dict[str, str]:
    """Return the rows that the program said are kept: ids and the digests that they name."""
    said = [line.partition(" ") for line in disk.said.decode().splitlines()]
    return {f"ds_{int(number):03}": digest for number, _, digest in said if number.isdigit()}


def faults(recording: Recording, count: int, folder: Path) -> Iterator[str]:
    """Give what is wrong after power was lost at some moments, where anything is."""
    for disk, seed in recording.losses(count):
        acknowledged = acknowledged_in(disk)
        home = folder / f"home-{seed}"
        disk.write_after_a_loss(home, seed, SHARES[seed % len(SHARES)])
        wrong = fault(home, acknowledged)
        if wrong:
            yield f"{len(acknowledged)} acknowledged, seed {seed}: {wrong}"
        shutil.rmtree(home)


def test_the_recording_played_to_its_end_is_what_the_program_wrote(
    recording: Recording, tmp_path: Path
) -> None:
    disk = Disk(recording.home, recording.before)
    for call in recording.calls:
        disk.play(call)
    disk.write_after_a_loss(tmp_path / "home", 0, 0.0)  # nothing is lost
    for path in recording.home.rglob("*"):
        played = tmp_path / "home" / path.relative_to(recording.home)
        assert played.exists(), path.name
        if path.is_file() and not path.name.endswith("-shm"):  # which is mapped, not written
            assert played.read_bytes() == path.read_bytes(), path.name
    assert disk.said.count(b"\n") == 12


def test_nothing_acknowledged_is_lost_with_the_power(recording: Recording, tmp_path: Path) -> None:
    assert list(faults(recording, 30, tmp_path)) == []


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_nothing_acknowledged_is_lost_with_the_power_at_many_moments(
    recording: Recording, tmp_path: Path
) -> None:
    assert list(faults(recording, 2000, tmp_path)) == []


@pytest.mark.parametrize("careless", ["files", "database"])
def test_who_forgets_to_sync_is_found(careless: str, tmp_path: Path) -> None:
    assert any(faults(recorded(tmp_path, careless), 20, tmp_path))
