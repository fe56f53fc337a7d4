# Made from ../_async/uploads.py by scripts/unasync.py: change that file, then run the script.
"""Sending files: small ones with one request, larger ones in pieces that survive a lost connection."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from easeml.client._sync.calls import API, Calls
from easeml.client.timing import backoff, read, sleep
from easeml.errors import Conflict, InvalidInput, NotReady, Unreachable

PIECE = 4 * 2**20  # bytes; files up to this size go with one request
_CHUNK = 2**18
_PATIENCE = 60.0  # seconds without a new byte
_TUS = {"tus-resumable": "1.0.0"}

Progress = Callable[[int, int], None]
M = TypeVar("M", bound=BaseModel)


class Uploads(Calls):
    """How files get to the service."""

    def _create_from(
        self,
        model: type[M],
        address: str,
        path: Path,
        *,
        key: str | None,
        params: Mapping[str, Any],
        progress: Progress | None,
    ) -> M:
        """Make a thing of a file: the file is the body of the request, or an upload that it names.

        Raises what the service says, Unreachable where it is away for a minute.
        """
        if path.stat().st_size <= PIECE:
            content, body = "application/octet-stream", lambda: file_chunks(path, progress)
            return self._create(
                model, address, key=key, params=params, content=body, content_type=content
            )
        of_application = re.match(r"/applications/[^/]+", address)
        below = of_application[0] if of_application else ""
        upload_id = self.send_in_pieces(path, progress, below=below)
        return self._create(model, address, key=key, params={**params, "upload": upload_id})

    def send_in_pieces(
        self, path: Path, progress: Progress | None = None, *, below: str = ""
    ) -> str:
        """Send a file by the tus protocol; return the id of the upload, which requests name.

        ``below``: the address of the application that it is for, such as ``/applications/ID``.

        Raises what the service says, Unreachable where it is away for a minute.
        """
        size = path.stat().st_size
        headers = {**_TUS, "upload-length": str(size)}
        uploads = f"{API}{below}/uploads"
        began = self._transport.request("POST", uploads, repeatable=True, headers=headers)
        upload_id = str(began.json()["id"])
        address, offset, last = f"{uploads}/{upload_id}", 0, time.monotonic()
        failed = 0
        with path.open("rb") as file:
            while offset < size:
                file.seek(offset)
                piece = read(file, PIECE)
                if not piece:
                    raise InvalidInput(
                        "The file was cut while it was sent.",
                        where=str(path),
                        remedy="Send it again.",
                    )
                try:
                    offset = self._send_piece(address, offset, piece)
                    failed, last = 0, time.monotonic()
                except (Unreachable, NotReady, Conflict):
                    if time.monotonic() - last > _PATIENCE:
                        raise
                    sleep(backoff(failed))
                    failed += 1
                    offset = self._offset(address, offset)
                if progress is not None:
                    progress(offset, size)
        return upload_id

    def _send_piece(self, address: str, offset: int, piece: bytes) -> int:
        headers = {
            **_TUS,
            "upload-offset": str(offset),
            "content-type": "application/offset+octet-stream",
        }
        answer = self._transport.request(
            "PATCH", address, repeatable=False, content=piece, headers=headers
        )
        return int(answer.headers["upload-offset"])

    def _offset(self, address: str, known: int) -> int:
        """Ask how many bytes are there; what is known while the service is away."""
        try:
            answer = self._transport.request("HEAD", address, repeatable=True, headers=_TUS)
        except (Unreachable, NotReady):
            return known
        return int(answer.headers["upload-offset"])


def check_file(path: str | Path) -> Path:
    """Return the path of a file that can be sent. Raises InvalidInput where there is none."""
    path = Path(path)
    if not path.is_file():
        raise InvalidInput("There is no such file.", where=str(path), remedy="Check the path.")
    return path


def file_chunks(path: Path, progress: Progress | None) -> Iterator[bytes]:
    """Give the bytes of a file, telling how far it is."""
    size, sent = path.stat().st_size, 0
    with path.open("rb") as file:
        while chunk := read(file, _CHUNK):
            yield chunk
            sent += len(chunk)
            if progress is not None:
                progress(sent, size)
