"""Uploads, datasets and their versions."""

from collections.abc import AsyncIterator
from pathlib import Path

from easeml.client._async.uploads import AsyncUploads, Progress, check_file
from easeml.contract.resources import Dataset, Version


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

    async def dataset(self, dataset_id: str) -> Dataset:
        """Return a dataset with its newest version. Raises NotFound."""
        return await self._get(Dataset, f"/datasets/{dataset_id}")

    def datasets(self) -> AsyncIterator[Dataset]:
        """Give all datasets of the tenant, oldest first."""
        return self._list(Dataset, "/datasets")

    async def version(self, version_id: str) -> Version:
        """Return a version of a dataset. Raises NotFound."""
        return await self._get(Version, f"/versions/{version_id}")
