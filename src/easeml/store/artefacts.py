"""Stored bytes by content, written once and verified when fetched.

A folder is a manifest, ``<sha256>.folder``, of the files in it. Only ``put`` writes manifests: an
uploaded file never is one, whatever its bytes.
"""

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

from easeml.errors import Damaged, InvalidInput, NotFound, TooLarge
from easeml.store.files import LocalFiles, StoredFile, chunks_of, damaged

_WRITERS = 8  # files of a folder at once: a disk does several for the price of one
_SMALL = 2**22  # bytes that are copied in less time than threads take to start


class ArtefactStore:
    """Artefacts in a folder, or in a bucket. Any number of processes may use it at once."""

    def __init__(self, files: LocalFiles):
        """``files``: where the bytes lie."""
        self._files = files

    def put(self, tenant_id: str, path: Path) -> str:
        """Store a file or a folder; returns its digest. Durable on return.

        Raises ``InvalidInput`` for anything else, links included: what a task left behind must not
        reach out.
        """
        if stat.S_ISDIR(os.lstat(path).st_mode):
            manifest = json.dumps(self._put_members(tenant_id, path), sort_keys=True).encode()
            return self._files.write(tenant_id, [manifest], ".folder")[0]
        with _open_plain(path) as file:
            return self._files.write(tenant_id, chunks_of(file))[0]

    def put_stream(self, tenant_id: str, chunks: Iterable[bytes], limit: int) -> tuple[str, int]:
        """Store bytes as they come; returns digest and size.

        Raises ``TooLarge`` beyond ``limit`` bytes.
        """
        return self._files.write(tenant_id, _limited(chunks, limit))

    def fetch(self, tenant_id: str, digest: str, destination: Path) -> Path:
        """Copy an artefact to ``destination`` (a file or a folder, not there yet), verifying every
        byte.

        Raises ``NotFound``, and ``Damaged`` if stored bytes do not match their digest.
        """
        manifest = self._manifest(tenant_id, digest)
        destination.parent.mkdir(parents=True, exist_ok=True)
        if manifest is None:
            return self._fetch_file(tenant_id, digest, destination)
        destination.mkdir()
        for name in manifest["folders"]:
            (destination / name).mkdir(parents=True, exist_ok=True)

        def fetch_member(member: dict[str, Any]) -> None:
            place = destination / member["path"]
            place.parent.mkdir(parents=True, exist_ok=True)
            self._fetch_file(tenant_id, member["digest"], place)

        size = sum(member["size"] for member in manifest["files"])
        if self._files.are_near and size < _SMALL:
            list(map(fetch_member, manifest["files"]))
            return destination
        with ThreadPoolExecutor(_WRITERS) as pool:
            list(pool.map(fetch_member, manifest["files"]))
        return destination

    def _fetch_file(self, tenant_id: str, digest: str, destination: Path) -> Path:
        try:
            return _copy_verified(self.path(tenant_id, digest), digest, destination)
        except Damaged:
            if not self._files.forget(tenant_id, digest):
                raise
        return _copy_verified(self.path(tenant_id, digest), digest, destination)

    def copy_to(self, other: "ArtefactStore", tenant_id: str, digest: str) -> int:
        """Copy an artefact to another store, verified; return the bytes that were not there yet.

        Raises ``NotFound``, and ``Damaged`` as ``fetch`` does.
        """
        manifest = self._manifest(tenant_id, digest)
        if manifest is None:
            return self._copy_file(other, tenant_id, digest)
        copied = 0
        for member in manifest["files"]:
            copied += self._copy_file(other, tenant_id, member["digest"])
        # The manifest comes last: a folder that is there has all of its files.
        return copied + self._copy_file(other, tenant_id, digest, ".folder")

    def _copy_file(
        self, other: "ArtefactStore", tenant_id: str, digest: str, suffix: str = ""
    ) -> int:
        if other._files.has(tenant_id, digest, suffix):
            return 0
        with self._place(tenant_id, digest, suffix).open("rb") as file:
            found, size = other._files.write(tenant_id, chunks_of(file), suffix)
        if found != digest:
            raise damaged(digest)
        return size

    def heal(self, source: "ArtefactStore", tenant_id: str, digest: str) -> None:
        """Fetch from another store what of an artefact is gone or damaged here.

        Raises ``NotFound`` where the other has it not, and ``Damaged`` where it is damaged there.
        """
        if not source._files.has(tenant_id, digest, ".folder"):
            return self._heal_file(source, tenant_id, digest)
        self._heal_file(source, tenant_id, digest, ".folder")
        manifest = self._manifest(tenant_id, digest) or {}
        for member in manifest.get("files", ()):
            self._heal_file(source, tenant_id, member["digest"])
        return None

    def _heal_file(
        self, source: "ArtefactStore", tenant_id: str, digest: str, suffix: str = ""
    ) -> None:
        place = self._files.find(tenant_id, digest, suffix)
        if place is not None:
            with place.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == digest:
                    return
            place.unlink()
        source._copy_file(self, tenant_id, digest, suffix)

    def verify(self, tenant_id: str, digest: str) -> None:
        """Read every byte of an artefact; raises ``NotFound``, and ``Damaged`` as ``fetch`` does."""
        manifest = self._manifest(tenant_id, digest)
        if manifest is not None:
            for member in manifest["files"]:
                self.verify(tenant_id, member["digest"])
            return
        with self.path(tenant_id, digest).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != digest:
            raise damaged(digest)

    def path(self, tenant_id: str, digest: str) -> Path:
        """Where a plain file's bytes lie, for reading only; not verified. Raises ``NotFound``."""
        return self._place(tenant_id, digest)

    def _place(self, tenant_id: str, digest: str, suffix: str = "") -> Path:
        path = self._files.find(tenant_id, digest, suffix)
        if path is None:
            raise NotFound("There is no such artefact.", where=digest)
        return path

    def members(self, tenant_id: str, digest: str) -> dict[str, Path]:
        """Where the files of a folder lie, by their path in it, for reading only; not verified.

        Raises ``NotFound`` if there is no folder with this digest.
        """
        manifest = self._manifest(tenant_id, digest)
        if manifest is None:
            raise NotFound("There is no such artefact.", where=digest)
        return {
            member["path"]: self.path(tenant_id, member["digest"]) for member in manifest["files"]
        }

    def check_writable(self) -> None:
        """Write and remove a few bytes; raises ``StorageFull``, or ``Unreachable`` with the reason."""
        self._files.check_writable()

    def check_there(self, tenant_id: str) -> None:
        """Raise ``Unreachable`` if nothing of a tenant is here: a disk may not be mounted."""
        self._files.check_there(tenant_id)

    def is_empty(self) -> bool:
        """Whether nothing is stored."""
        return next(self._files.kept(), None) is None

    def aged(self, least_age: float) -> list[StoredFile]:
        """Return the stored files that were written at least ``least_age`` s ago.

        Ask before it is read which digests are held: what was stored a moment ago may be held soon.
        """
        newest = time.time() - least_age
        return [file for file in self._files.kept() if file.written <= newest]

    def strays(self, aged: Sequence[StoredFile], held: Set[str]) -> list[StoredFile]:
        """Return those of the files ``aged`` that none of the digests ``held`` needs.

        A folder needs its manifest and its files. Where a manifest that is held cannot be read,
        nobody knows what it needs, and all of its tenant is needed.
        """
        needed = set(held)
        unsure: set[str] = set()
        for file in self._files.kept():
            if not file.is_folder or file.digest not in held:
                continue
            try:
                manifest = self._manifest(file.tenant_id, file.digest)
            except Damaged:
                manifest = None
            if manifest is None:
                unsure.add(file.tenant_id)
                continue
            needed.update(member["digest"] for member in manifest["files"])
        return [file for file in aged if file.digest not in needed and file.tenant_id not in unsure]

    def drop_gone_copies(self) -> int:
        """Remove this machine's copies of files that the bucket has no more; return how many.

        Raises ``Unreachable``.
        """
        return self._files.drop_gone_copies()

    def remove(self, file: StoredFile, least_age: float) -> bool:
        """Remove a stray unless it was written anew less than ``least_age`` s ago; tell whether."""
        return self._files.remove(file, least_age)

    def exists(self, tenant_id: str, digest: str) -> bool:
        """Whether a file or folder with this digest is stored."""
        return any(self._files.has(tenant_id, digest, suffix) for suffix in ("", ".folder"))

    def size(self, tenant_id: str, digest: str) -> int:
        """Bytes of a file, or of all files of a folder. Raises ``NotFound``, ``Damaged``."""
        manifest = self._manifest(tenant_id, digest)
        if manifest is None:
            return self.path(tenant_id, digest).stat().st_size
        return sum(member["size"] for member in manifest["files"])

    def _put_members(self, tenant_id: str, folder: Path) -> dict[str, Any]:
        """Store the files of a folder; returns its manifest."""
        paths = sorted(folder.rglob("*"))
        folders = {path for path in paths if stat.S_ISDIR(os.lstat(path).st_mode)}

        def put_member(path: Path) -> dict[str, Any]:
            with _open_plain(path) as file:
                digest, size = self._files.write(tenant_id, chunks_of(file))
            return {"path": path.relative_to(folder).as_posix(), "digest": digest, "size": size}

        with ThreadPoolExecutor(_WRITERS) as pool:
            files = list(pool.map(put_member, [path for path in paths if path not in folders]))
        return {
            "files": files,
            "folders": [path.relative_to(folder).as_posix() for path in paths if path in folders],
        }

    def _manifest(self, tenant_id: str, digest: str) -> dict[str, Any] | None:
        """The manifest of a folder, ``None`` if there is no folder with this digest."""
        place = self._files.find(tenant_id, digest, ".folder")
        if place is None:
            return None
        content = place.read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            raise damaged(digest)
        return json.loads(content)


def _open_plain(path: Path) -> BinaryIO:
    """Open a regular file, and nothing else: no link, no pipe, no device."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise InvalidInput(
            f"This file cannot be stored: {error.strerror}.", where=str(path)
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidInput("Only plain files and folders can be stored.", where=str(path))
    return os.fdopen(descriptor, "rb")


def _limited(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise TooLarge(
                f"The upload has more than {limit} bytes.",
                remedy="Send less, or ask for a higher limit.",
            )
        yield chunk


def _copy_verified(source: Path, digest: str, destination: Path) -> Path:
    hashed = hashlib.sha256()
    with source.open("rb") as file, destination.open("xb") as copy:
        for chunk in chunks_of(file):
            hashed.update(chunk)
            copy.write(chunk)
    if hashed.hexdigest() != digest:
        destination.unlink()
        raise damaged(digest)
    return destination
