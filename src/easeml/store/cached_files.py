"""Artefacts in a bucket, and beside it a folder of this machine with those that were used last."""

import fcntl
import os
import re
import time
from collections.abc import Iterable, Iterator
from itertools import filterfalse
from operator import attrgetter
from pathlib import Path

from easeml.store.bucket import Bucket
from easeml.store.files import LocalFiles, StoredFile, damaged

_FRESH_SECONDS = 12 * 3600.0  # half of the grace after which what nobody refers to is removed
_IN_USE_SECONDS = 3600.0  # how long a file may still be read after its place was asked for
_KEPT = re.compile(r"[A-Za-z0-9_-]{1,128}/[0-9a-f]{2}/[0-9a-f]{64}(\.folder)?")


class CachedFiles(LocalFiles):
    """Files of a bucket. What is read lies in the folder, verified when it was fetched."""

    are_near = False

    def __init__(self, root: Path, bucket: Bucket, limit: int):
        """``limit``: bytes that the folder holds, but for files that may be in use."""
        super().__init__(root)
        self._bucket = bucket
        self._limit = limit

    def write(self, tenant_id: str, chunks: Iterable[bytes], suffix: str = "") -> tuple[str, int]:
        """Keep bytes in the bucket and here, durable on return; returns their digest and size."""
        digest, size = super().write(tenant_id, chunks, suffix)
        place = self.place(tenant_id, digest, suffix)
        there = self._bucket.about(self.key(place))
        # What lies there long may be about to be removed, because nobody refers to it yet.
        is_fresh = there is not None and time.time() - there.written < _FRESH_SECONDS
        if there is None or there.size != size or not is_fresh:
            self._bucket.send(self.key(place), place)
        return digest, size

    def find(self, tenant_id: str, digest: str, suffix: str = "") -> Path | None:
        """Return where a file lies here, fetched if need be; None where the bucket has it not.

        Raises ``Damaged`` where what the bucket gives does not match the digest.
        """
        place = self.place(tenant_id, digest, suffix)
        try:
            os.utime(place)  # it was used last
        except FileNotFoundError:
            return self._fetch(place, digest)
        return place

    def has(self, tenant_id: str, digest: str, suffix: str = "") -> bool:
        """Tell whether the bucket has a file."""
        return self._bucket.has(self.key(self.place(tenant_id, digest, suffix)))

    def forget(self, tenant_id: str, digest: str) -> bool:
        """Remove a damaged file from the folder: the bucket has it."""
        self.place(tenant_id, digest).unlink(missing_ok=True)
        return True

    def kept(self) -> Iterator[StoredFile]:
        """Give all files of the bucket."""
        for file in self._bucket.list():
            if _KEPT.fullmatch(file.key):
                yield file

    def remove(self, file: StoredFile, least_age: float) -> bool:
        """Remove a file from the bucket and from the folder, as ``LocalFiles`` does."""
        there = self._bucket.about(file.key)
        if there is not None and time.time() - there.written < least_age:
            return False
        self._bucket.delete(file.key)
        (self._root / file.key).unlink(missing_ok=True)
        return True

    def drop_gone_copies(self) -> int:
        """Remove from the folder what the bucket has no more, but for what may be in use."""
        there = set(map(attrgetter("key"), self._bucket.list()))
        dropped = 0
        for path in filterfalse(lambda path: self.key(path) in there, list(self.stored())):
            with self._nobody(fcntl.LOCK_EX):  # who keeps the same bytes now comes before or after
                if time.time() - path.stat().st_mtime > _IN_USE_SECONDS:
                    path.unlink()
                    dropped += 1
        return dropped

    def check_writable(self) -> None:
        """Write and remove a few bytes here and in the bucket; raises as ``LocalFiles`` does."""
        super().check_writable()
        self._bucket.check_writable()

    def check_there(self, tenant_id: str) -> None:
        """Raise ``Unreachable`` if the bucket is gone; nothing need be in the folder."""
        self._bucket.check_writable()

    def _fetch(self, place: Path, digest: str) -> Path | None:
        try:
            temporary, found, _ = self.receive(self._bucket.read(self.key(place)))
        except FileNotFoundError:
            return None
        try:
            if found != digest:
                raise damaged(digest)
            place.parent.mkdir(parents=True, exist_ok=True)
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)
        self._make_room()
        return place

    def _make_room(self) -> None:
        """Remove what was not used for longest, until the folder is as small as it should be."""
        files = []
        for path in self.stored():
            about = path.stat()
            files.append((about.st_mtime, about.st_size, path))
        total = sum(size for _, size, _ in files)
        for used, size, path in sorted(files):
            if total <= self._limit or time.time() - used < _IN_USE_SECONDS:
                return
            path.unlink(missing_ok=True)
            total -= size
