"""Files that come in pieces: what of them is here lies on disk, and the size of what lies there is
all that is known.

An upload is one file, ``<root>/<tenant>/<id>.<length>``, so no record can say anything else than
the bytes. Taken, it leaves ``<id>.<length>.<digest>``, empty: whoever missed the answer can take it
again.
"""

import fcntl
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from easeml.errors import Conflict, InvalidInput, NotFound
from easeml.ids import new_id
from easeml.store.artefacts import ArtefactStore
from easeml.store.faults import storage_faults

KEPT_SECONDS = 24 * 3600  # without a new byte; then an upload is given up
_ID = re.compile(r"up_[0-9a-z]{20}")
_TENANT = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True)
class Upload:
    """``offset`` of ``length`` bytes are here; gone after ``expires`` (seconds of the epoch) if
    none follow.
    """

    id: str
    length: int
    offset: int
    expires: float
    path: Path
    digest: str = ""  # of the stored bytes, once it was taken


class UploadStore:
    """The unfinished uploads of all tenants. Any number of processes may use it at once."""

    def __init__(self, root: Path):
        """Use the folder ``root``, made when it is needed."""
        self._root = root

    def begin(self, tenant_id: str, length: int) -> Upload:
        """Make an upload of ``length`` bytes, of which none is here."""
        folder = self._folder(tenant_id)
        path = folder / f"{new_id('up')}.{length}"
        with storage_faults():
            folder.mkdir(parents=True, exist_ok=True)
            path.touch(0o600, exist_ok=False)
        return _upload(path)

    @contextmanager
    def one_at_a_time(self, tenant_id: str) -> Iterator[None]:
        """Keep others from beginning an upload of the tenant so: what is counted inside stays so."""
        folder = self._folder(tenant_id)
        with storage_faults():
            folder.mkdir(parents=True, exist_ok=True)
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield
        finally:
            os.close(held)  # gives the lock back

    def get(self, tenant_id: str, upload_id: str) -> Upload:
        """Return an upload as it is now. Raises ``NotFound``, also after it expired."""
        found = [one for one in self._all(tenant_id, upload_id) if one.expires > time.time()]
        if not found or not _ID.fullmatch(upload_id):
            raise NotFound(
                "There is no such upload; it may have expired.",
                where=upload_id,
                remedy="Upload anew.",
            )
        return max(found, key=lambda one: one.digest)

    def open_ones(self, tenant_id: str) -> list[Upload]:
        """Return the uploads of a tenant that may go on: not taken yet, and not expired."""
        return [one for one in self._all(tenant_id) if not one.digest and one.expires > time.time()]

    def append(self, tenant_id: str, upload_id: str, offset: int, chunks: Iterable[bytes]) -> int:
        """Add bytes that begin at ``offset``; return how many are here, durable. What came before a
        break is kept.

        Raises ``NotFound``, ``Conflict`` where the upload is not at ``offset`` (any more),
        ``InvalidInput`` for more bytes than were announced, ``StorageFull``.
        """
        upload = self.get(tenant_id, upload_id)
        if upload.digest:
            raise Conflict("This upload was used already.", where=upload_id)
        try:
            descriptor = os.open(upload.path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        except FileNotFoundError:  # taken or called off in this moment
            raise NotFound("There is no such upload.", where=upload_id) from None
        try:
            with storage_faults():
                for chunk in chunks:
                    _append(descriptor, upload, offset, chunk)
                    offset += len(chunk)
                _append(descriptor, upload, offset, b"")
        finally:
            os.fsync(descriptor)
            os.close(descriptor)
        return offset

    def take(self, tenant_id: str, upload_id: str, artefacts: ArtefactStore) -> tuple[str, int]:
        """Put a whole upload among the artefacts; return digest and size, the same if it is taken
        again.

        Raises ``NotFound``, ``Conflict`` while bytes are missing.
        """
        upload = self.get(tenant_id, upload_id)
        if upload.digest:
            return upload.digest, upload.length
        if upload.offset < upload.length:
            text = f"{upload.offset:,} of {upload.length:,} bytes are here."
            raise Conflict(text, where=upload_id, remedy="Send the others first.")
        digest = artefacts.put(tenant_id, upload.path)
        upload.path.with_name(f"{upload.path.name}.{digest}").touch(0o600)
        upload.path.unlink(missing_ok=True)
        return digest, upload.length

    def remove(self, tenant_id: str, upload_id: str) -> None:
        """Forget an upload and its bytes. Raises ``NotFound``."""
        self.get(tenant_id, upload_id)
        for one in self._all(tenant_id, upload_id):
            one.path.unlink(missing_ok=True)

    def expired(self) -> Iterator[tuple[str, Upload]]:
        """Give tenant and upload of what was given up."""
        for folder in self._root.glob("*"):
            for one in self._all(folder.name):
                if one.expires <= time.time():
                    yield folder.name, one

    def _all(self, tenant_id: str, upload_id: str = "") -> Iterator[Upload]:
        for path in sorted(self._folder(tenant_id).glob("*")):
            if path.name.partition(".")[0] == upload_id or not upload_id:
                try:
                    yield _upload(path)
                except FileNotFoundError:
                    continue  # taken or called off in this moment

    def _folder(self, tenant_id: str) -> Path:
        if not _TENANT.fullmatch(tenant_id):
            raise InvalidInput("This is not a tenant's id.", where=tenant_id)
        return self._root / tenant_id


def _upload(path: Path) -> Upload:
    upload_id, length, *digest = path.name.split(".")
    found = path.stat()
    offset = int(length) if digest else found.st_size
    return Upload(upload_id, int(length), offset, found.st_mtime + KEPT_SECONDS, path, *digest)


def _append(descriptor: int, upload: Upload, offset: int, chunk: bytes) -> None:
    """Write one chunk, if the file ends at ``offset``: of two connections that send the same bytes
    one goes on.
    """
    if offset + len(chunk) > upload.length:
        raise InvalidInput(
            f"The upload was announced with {upload.length:,} bytes; more came.", where=upload.id
        )
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        size = os.fstat(descriptor).st_size
        if size != offset:
            raise Conflict(
                f"The upload is at byte {size:,}, not {offset:,}.",
                where=upload.id,
                remedy="Ask for it.",
            )
        left = memoryview(chunk)
        while left:
            left = left[os.write(descriptor, left) :]
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
