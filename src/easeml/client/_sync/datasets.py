# Made from ../_async/datasets.py by scripts/unasync.py: change that file, then run the script.
"""Uploads, datasets and their versions."""

from pathlib import Path
from typing import Any

from easeml.client._sync.uploads import Progress, Uploads, check_file
from easeml.contract.datasets import Dataset


class Datasets(Uploads):
    """What users bring."""

    def upload(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        header: bool | None = None,
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Dataset:
        """Upload a file as a new dataset; its version is ``ingesting`` then. A lost connection is
        taken up again.

        ``name``: the file's stem by default. ``progress`` is called with bytes sent and bytes in
        all. ``header``: whether the first row of a text table holds the names; None: that is found
        out. Raises InvalidInput where the file cannot be read, TooLarge.
        """
        path = check_file(path)
        params: dict[str, Any] = {"name": name or path.stem, "filename": path.name}
        if header is not None:
            params["header"] = header
        return self._create_from(
            Dataset, "/datasets", path, key=idempotency_key, params=params, progress=progress
        )
