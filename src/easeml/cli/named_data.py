"""What an application is made of: a file, an address, or a data set that the service has."""

from pathlib import Path

from easeml.cli.uploading import upload_with_progress
from easeml.client import Client, made_request
from easeml.contract.datasets import Dataset
from easeml.contract.sources import NewOrigin
from easeml.errors import InvalidInput

_ID = "data_"  # how the ids of data sets begin


def dataset_of(
    client: Client,
    data: str,
    *,
    query: str = "",
    header: bool | None = None,
    table: int | None = None,
    quiet: bool = False,
) -> Dataset:
    """Return the data set that ``data`` names; it may still be read then.

    ``data``: a file or folder, which is uploaded; an address as for ``easeml data add``, from which
    it is fetched; or the id of a data set. ``query``: which rows of a database. ``header``,
    ``table``: how a file is read. ``quiet``: show no progress.

    Raises ``InvalidInput`` for options that say nothing of such data, ``NotFound``, and what
    ``Client.upload`` and ``Client.add_origin`` raise.
    """
    if "://" in data:
        wish = made_request(NewOrigin, address=data, query=query, header=header, table=table)
        return client.add_origin(wish)
    if query:
        raise InvalidInput(
            "Only a database is asked.",
            where="--query",
            remedy="Name its address, such as postgresql://CONNECTION.",
        )
    path = Path(data)
    if path.exists() or not data.startswith(_ID):
        return upload_with_progress(client, path, quiet=quiet, header=header, table=table)
    if header is not None or table is not None:
        raise InvalidInput(
            f"{data} is read already: --header and --table are for files.", where=data
        )
    return client.dataset(data)
