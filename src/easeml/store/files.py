"""Where the bytes of artefacts lie: files under ``<root>/<tenant>/<ab>/<sha256>``."""

import fcntl
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from easeml.errors import Damaged, InvalidInput, Unreachable
from easeml.store.faults import storage_faults

_CHUNK = 2**20
_STALE_SECONDS = 24 * 3600
_TENANT = re.compile(r"[A-Za-z0-9_-]{1,128}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FOLDER = ".folder"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is kept. ``key``: its name below the root; ``written``: seconds of the epoch."""

    key: str
    size: int
    written: float

    @property
    def tenant_id(self) -> str:
        """Whose it is."""
        return self.key.partition("/")[0]

    @property
    def digest(self) -> str:
        """Of its bytes."""
        return Path(self.key).name.removesuffix(_FOLDER)

    @property
    def is_folder(self) -> bool:
        """Whether it is the manifest of a folder."""
        return self.key.endswith(_FOLDER)


class LocalFiles:
    """Files in a folder of this machine, which several processes may use at once."""

    are_near = True
    """Are all that are kept on this machine, so that none is waited for?"""

    def __init__(self, root: Path):
        """Make the folder if needed, and clear what interrupted writers left there more than a day
        ago.
        """
        self._root = root
        self._incoming = root / ".incoming"
        self._incoming.mkdir(parents=True, exist_ok=True)
        for path in self._incoming.iterdir():
            if age(path) > _STALE_SECONDS:
                path.unlink(missing_ok=True)

    def write(self, tenant_id: str, chunks: Iterable[bytes], suffix: str = "") -> tuple[str, int]:
        """Keep bytes, durable on return; returns their digest and size.

        Written beside, flushed to disk, then renamed: a name stands for whole bytes, and heals
        damaged ones.
        """
        temporary, digest, size = self.receive(chunks)
        try:
            _flush(temporary)
            place = self.place(tenant_id, digest, suffix)
            self._make_durable(place.parent)
            with self._nobody(fcntl.LOCK_SH):
                temporary.replace(place)
            _flush(place.parent)
        finally:
            temporary.unlink(missing_ok=True)
        return digest, size

    def receive(self, chunks: Iterable[bytes]) -> tuple[Path, str, int]:
        """Write bytes to a file that has no name yet; returns it with their digest and size."""
        hashed, size = hashlib.sha256(), 0
        with storage_faults():
            descriptor, name = tempfile.mkstemp(dir=self._incoming)
        temporary = Path(name)
        try:
            with storage_faults(), os.fdopen(descriptor, "wb") as file:
                for chunk in chunks:
                    hashed.update(chunk)
                    size += file.write(chunk)
                file.flush()
                os.fchmod(file.fileno(), 0o444)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        return temporary, hashed.hexdigest(), size

    def find(self, tenant_id: str, digest: str, suffix: str = "") -> Path | None:
        """Return where a file lies, for reading only; not verified. None where it is not."""
        place = self.place(tenant_id, digest, suffix)
        return place if place.is_file() else None

    def has(self, tenant_id: str, digest: str, suffix: str = "") -> bool:
        """Tell whether a file is kept."""
        return self.place(tenant_id, digest, suffix).is_file()

    def forget(self, tenant_id: str, digest: str) -> bool:
        """Remove a damaged file if it can be had again from elsewhere; False: it cannot."""
        return False

    def stored(self) -> Iterator[Path]:
        """Give all files in the folder."""
        for tenant in self._root.iterdir():
            if not tenant.name.startswith("."):
                yield from tenant.glob("[0-9a-f][0-9a-f]/*")

    def drop_gone_copies(self) -> int:
        """Remove copies of what is kept no more; return how many. Here are no copies."""
        return 0

    def kept(self) -> Iterator[StoredFile]:
        """Give all files that are kept, wherever they lie."""
        for path in self.stored():
            try:
                about = path.stat()
            except FileNotFoundError:  # removed in this moment
                continue
            yield StoredFile(self.key(path), about.st_size, about.st_mtime)

    def remove(self, file: StoredFile, least_age: float) -> bool:
        """Remove a kept file unless it was written anew less than ``least_age`` s ago; tell whether.

        Nobody writes a file meanwhile: what is written again is not removed with what it was.
        """
        place = self._root / file.key
        with self._nobody(fcntl.LOCK_EX):
            if age(place) < least_age:
                return False
            place.unlink(missing_ok=True)
        return True

    @contextmanager
    def _nobody(self, kind: int) -> Iterator[None]:
        """Keep removing apart from giving names: many may name files at once, or one removes."""
        held = os.open(self._incoming, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(held, kind)
            yield
        finally:
            os.close(held)  # gives the lock back

    def check_writable(self) -> None:
        """Write and remove a few bytes; raises ``StorageFull``, ``DatabaseAway`` where the disk is
        read-only, or ``Unreachable`` with the reason
        if the folder is gone or may not be written to.
        """
        try:
            with storage_faults(), tempfile.NamedTemporaryFile(dir=self._incoming) as file:
                file.write(b"easeml")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise Unreachable(
                f"The folder of data and models cannot be written to: {error.strerror}.",
                remedy="The provider has to bring the folder back, or its permissions.",
            ) from error

    def check_there(self, tenant_id: str) -> None:
        """Raise ``Unreachable`` if nothing of a tenant is here: a disk may not be mounted."""
        if not (self._root / tenant_id).is_dir():
            raise Unreachable(
                "The folder of data and models is empty.",
                remedy="The provider has to bring it back, as by mounting its disk.",
            )

    def place(self, tenant_id: str, digest: str, suffix: str = "") -> Path:
        """Return where a file lies if it is there. Raises ``InvalidInput`` for what is no name."""
        if not _TENANT.fullmatch(tenant_id):
            raise InvalidInput("This is not a tenant's id.", where=tenant_id)
        if not _DIGEST.fullmatch(digest):
            raise InvalidInput("This is not a digest: 64 hexadecimal digits are.", where=digest)
        return self._root / tenant_id / digest[:2] / f"{digest}{suffix}"

    def key(self, place: Path) -> str:
        """Return the name of a file below the folder, with slashes."""
        return place.relative_to(self._root).as_posix()

    def _make_durable(self, folder: Path) -> None:
        """Make a folder of the store, its name flushed to disk."""
        if folder == self._root or folder.is_dir():
            return
        self._make_durable(folder.parent)
        folder.mkdir(exist_ok=True)
        _flush(folder.parent)


def chunks_of(file: BinaryIO) -> Iterator[bytes]:
    """Give the bytes of a file, piece by piece."""
    while chunk := file.read(_CHUNK):
        yield chunk


def age(path: Path) -> float:
    """Return the seconds since a file was written; 0 if it is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def damaged(digest: str) -> Damaged:
    """Return the error of bytes that do not match their digest."""
    return Damaged(remedy="Restore it from a backup, or make it again.", where=digest)


def _flush(path: Path) -> None:
    """Have the bytes of a file, or the names in a folder, written to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with storage_faults():
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
