"""Uploads, datasets and their versions."""

from pathlib import Path

from easeml.client._async.uploads import AsyncUploads, Progress, check_file
from easeml.contract.resources import Dataset


class AsyncDatasets(AsyncUploads):
    """What users bring."""

    async def upload(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Dataset:
        """Upload a file as a new dataset; its version is ``ingesting`` then. A lost connection is
        taken up again.

        ``name``: the file's stem by default. ``progress`` is called with bytes sent and bytes in
        all. Raises InvalidInput where the file cannot be read, TooLarge.
        """
        path = check_file(path)
        params = {"name": name or path.stem, "filename": path.name}
        return await self._create_from(
            Dataset, "/datasets", path, key=idempotency_key, params=params, progress=progress
        )
