"""Stored bytes by content: files under ``<root>/<tenant>/<ab>/<sha256>``, written once and verified
when fetched.

A folder is a manifest, ``<sha256>.folder``, of the files in it. Only ``put`` writes manifests: an
uploaded file never is one, whatever its bytes.
"""

import hashlib
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

from easeml.errors import Damaged, InvalidInput, NotFound, TooLarge, Unreachable
from easeml.store.faults import storage_faults

_CHUNK = 2**20
_WRITERS = 8  # files of a folder that are flushed to disk at once: the disk does several for the price of one
_STALE_SECONDS = 24 * 3600
_TENANT = re.compile(r"[A-Za-z0-9_-]{1,128}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class ArtefactStore:
    """A local folder of artefacts. Any number of processes may use it at once."""

    def __init__(self, root: Path):
        """Make the folder if needed, and clear what interrupted writers left there more than a day
        ago.
        """
        self._root = root
        self._incoming = root / ".incoming"
        self._incoming.mkdir(parents=True, exist_ok=True)
        for path in self._incoming.iterdir():
            if _age(path) > _STALE_SECONDS:
                path.unlink(missing_ok=True)

    def put(self, tenant_id: str, path: Path) -> str:
        """Store a file or a folder; returns its digest. Durable on return.

        Raises ``InvalidInput`` for anything else, links included: what a task left behind must not
        reach out.
        """
        if stat.S_ISDIR(os.lstat(path).st_mode):
            manifest = json.dumps(self._put_members(tenant_id, path), sort_keys=True).encode()
            return self._put_bytes(tenant_id, [manifest], suffix=".folder")[0]
        with _open_plain(path) as file:
            return self._put_bytes(tenant_id, _chunks(file))[0]

    def put_stream(self, tenant_id: str, chunks: Iterable[bytes], limit: int) -> tuple[str, int]:
        """Store bytes as they come; returns digest and size.

        Raises ``TooLarge`` beyond ``limit`` bytes.
        """
        return self._put_bytes(tenant_id, _limited(chunks, limit))

    def fetch(self, tenant_id: str, digest: str, destination: Path) -> Path:
        """Copy an artefact to ``destination`` (a file or a folder, not there yet), verifying every
        byte.

        Raises ``NotFound``, and ``Damaged`` if stored bytes do not match their digest.
        """
        manifest = self._manifest(tenant_id, digest)
        destination.parent.mkdir(parents=True, exist_ok=True)
        if manifest is None:
            return _copy_verified(self.path(tenant_id, digest), digest, destination)
        destination.mkdir()
        for name in manifest["folders"]:
            (destination / name).mkdir(parents=True, exist_ok=True)
        for member in manifest["files"]:
            self.fetch(tenant_id, member["digest"], destination / member["path"])
        return destination

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
        place = self._place(tenant_id, digest, suffix)
        if other._place(tenant_id, digest, suffix).is_file():
            return 0
        if not place.is_file():
            raise NotFound("There is no such artefact.", where=digest)
        with place.open("rb") as file:
            found, size = other._put_bytes(tenant_id, _chunks(file), suffix)
        if found != digest:
            raise _damaged(digest)
        return size

    def heal(self, source: "ArtefactStore", tenant_id: str, digest: str) -> None:
        """Fetch from another store what of an artefact is gone or damaged here.

        Raises ``NotFound`` where the other has it not, and ``Damaged`` where it is damaged there.
        """
        if not source._place(tenant_id, digest, ".folder").is_file():
            return self._heal_file(source, tenant_id, digest)
        self._heal_file(source, tenant_id, digest, ".folder")
        manifest = self._manifest(tenant_id, digest) or {}
        for member in manifest.get("files", ()):
            self._heal_file(source, tenant_id, member["digest"])
        return None

    def _heal_file(
        self, source: "ArtefactStore", tenant_id: str, digest: str, suffix: str = ""
    ) -> None:
        place = self._place(tenant_id, digest, suffix)
        if place.is_file():
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
            raise _damaged(digest)

    def path(self, tenant_id: str, digest: str) -> Path:
        """Where a plain file's bytes lie, for reading only; not verified. Raises ``NotFound``."""
        path = self._place(tenant_id, digest)
        if not path.is_file():
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
        """Write and remove a few bytes; raises ``StorageFull``, or ``Unreachable`` with the reason
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

    def strays(self, held: Set[str], least_age: float) -> list[Path]:
        """Return the stored files that none of the digests ``held`` needs, ``least_age`` s old.

        A folder needs its manifest and its files. What was stored a moment ago may be held soon.
        """
        needed = set(held)
        for path in self._stored():
            if path.suffix == ".folder" and path.stem in held:
                document = json.loads(path.read_bytes())
                needed.update(member["digest"] for member in document["files"])
        return [
            path for path in self._stored() if path.stem not in needed and _age(path) >= least_age
        ]

    def _stored(self) -> Iterator[Path]:
        for tenant in self._root.iterdir():
            if not tenant.name.startswith("."):
                yield from tenant.glob("[0-9a-f][0-9a-f]/*")

    def exists(self, tenant_id: str, digest: str) -> bool:
        """Whether a file or folder with this digest is stored."""
        return any(self._place(tenant_id, digest, suffix).is_file() for suffix in ("", ".folder"))

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
                digest, size = self._put_bytes(tenant_id, _chunks(file))
            return {"path": path.relative_to(folder).as_posix(), "digest": digest, "size": size}

        with ThreadPoolExecutor(_WRITERS) as pool:
            files = list(pool.map(put_member, [path for path in paths if path not in folders]))
        return {
            "files": files,
            "folders": [path.relative_to(folder).as_posix() for path in paths if path in folders],
        }

    def _put_bytes(
        self, tenant_id: str, chunks: Iterable[bytes], suffix: str = ""
    ) -> tuple[str, int]:
        """Write beside, flush to disk, then rename: a name stands for whole, durable bytes, and
        heals damaged ones.
        """
        hashed, size = hashlib.sha256(), 0
        with storage_faults():
            descriptor, temporary = tempfile.mkstemp(dir=self._incoming)
        try:
            with storage_faults(), os.fdopen(descriptor, "wb") as file:
                for chunk in chunks:
                    hashed.update(chunk)
                    size += file.write(chunk)
                file.flush()
                os.fchmod(file.fileno(), 0o444)
                os.fsync(file.fileno())
            place = self._place(tenant_id, hashed.hexdigest(), suffix)
            self._make_durable(place.parent)
            Path(temporary).replace(place)
            _sync_folder(place.parent)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return hashed.hexdigest(), size

    def _make_durable(self, folder: Path) -> None:
        """Make a folder of the store, its name flushed to disk."""
        if folder == self._root or folder.is_dir():
            return
        self._make_durable(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)

    def _manifest(self, tenant_id: str, digest: str) -> dict[str, Any] | None:
        """The manifest of a folder, ``None`` if there is no folder with this digest."""
        try:
            content = self._place(tenant_id, digest, ".folder").read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(content).hexdigest() != digest:
            raise _damaged(digest)
        return json.loads(content)

    def _place(self, tenant_id: str, digest: str, suffix: str = "") -> Path:
        if not _TENANT.fullmatch(tenant_id):
            raise InvalidInput("This is no tenant's id.", where=tenant_id)
        if not _DIGEST.fullmatch(digest):
            raise InvalidInput("This is no digest: 64 hexadecimal digits are.", where=digest)
        return self._root / tenant_id / digest[:2] / f"{digest}{suffix}"


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


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


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
        for chunk in _chunks(file):
            hashed.update(chunk)
            copy.write(chunk)
    if hashed.hexdigest() != digest:
        destination.unlink()
        raise _damaged(digest)
    return destination


def _damaged(digest: str) -> Damaged:
    return Damaged(remedy="Restore it from a backup, or make it again.", where=digest)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
