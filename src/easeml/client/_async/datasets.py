"""Uploads, datasets and their versions."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from easeml.client._async.calls import AsyncCalls
from easeml.client.timing import async_read
from easeml.contract.resources import Dataset, Version
from easeml.errors import InvalidInput

_CHUNK = 2**18

Progress = Callable[[int, int], None]


class AsyncDatasets(AsyncCalls):
    """What users bring."""

    async def upload(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Dataset:
        """Upload a file, in a stream, as a new dataset; its version is ``ingesting`` then.

        ``name``: the file's stem by default. ``progress`` is called with bytes sent and bytes in all.
        Raises InvalidInput where the file cannot be read, TooLarge.
        """
        path = check_file(path)
        return await self._create(
            Dataset,
            "/datasets",
            key=idempotency_key,
            params={"name": name or path.stem, "filename": path.name},
            content=lambda: file_chunks(path, progress),
            content_type="application/octet-stream",
        )

    async def dataset(self, dataset_id: str) -> Dataset:
        """Return a dataset with its newest version. Raises NotFound."""
        return await self._get(Dataset, f"/datasets/{dataset_id}")

    def datasets(self) -> AsyncIterator[Dataset]:
        """Give all datasets of the tenant, oldest first."""
        return self._list(Dataset, "/datasets")

    async def version(self, version_id: str) -> Version:
        """Return a version of a dataset. Raises NotFound."""
        return await self._get(Version, f"/versions/{version_id}")


def check_file(path: str | Path) -> Path:
    """Return the path of a file that can be sent. Raises InvalidInput where there is none."""
    path = Path(path)
    if not path.is_file():
        raise InvalidInput("There is no such file.", where=str(path), remedy="Check the path.")
    return path


async def file_chunks(path: Path, progress: Progress | None) -> AsyncIterator[bytes]:
    """Give the bytes of a file, telling how far it is."""
    size, sent = path.stat().st_size, 0
    with path.open("rb") as file:
        while chunk := await async_read(file, _CHUNK):
            yield chunk
            sent += len(chunk)
            if progress is not None:
                progress(sent, size)
