"""Where data sets came from."""

from easeml.contract.states import VersionState
from easeml.errors import Conflict, NotReady
from easeml.fetching import Origin, read_origin
from easeml.service.datasets import datasets, deleting
from easeml.store import Tables
from easeml.store.records import DatasetVersion


def origin_of(tables: Tables, dataset_id: str) -> Origin:
    """Return where a data set came from.

    Raises ``NotFound``, ``Conflict`` for one that came as a file, and as ``good_upload``.
    """
    told = good_upload(tables, dataset_id).operation.origin
    if not told:
        raise Conflict(
            "This data set came as a file: there is nowhere to fetch it again.",
            where=dataset_id,
            remedy="Feed an application the new rows: easeml app feed ID FILE.",
        )
    return read_origin(told["address"], told.get("query", ""))


def good_upload(tables: Tables, dataset_id: str) -> DatasetVersion:
    """Return the newest upload of a data set: those that cannot be read never become one.

    Raises ``NotFound``, and ``NotReady`` or ``Conflict`` where the first was not read (yet).
    """
    deleting.there(tables, dataset_id)
    upload = datasets.newest_upload(tables, dataset_id)
    if upload.state == VersionState.FAILED:
        raise Conflict(
            f"The data was never read: {upload.error}",
            where=dataset_id,
            remedy="Add it anew: easeml data add ADDRESS.",
        )
    if upload.state != VersionState.READY:
        raise NotReady("The data is being read for the first time.", where=dataset_id)
    return upload
