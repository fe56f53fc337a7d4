"""The line of a version: what it was made of."""

from collections.abc import Mapping

from easeml.store import Tables
from easeml.store.records import Application, DatasetVersion
from easeml.store.shapes import OperationName


def line_of(version_id: str, versions: Mapping[str, DatasetVersion]) -> set[str]:
    """Return the ids of a version and of all that it was made of, parents of parents too.

    ``versions``: those of its data set, by id.
    """
    return _line(version_id, versions, is_of_rows=False)


def line_of_rows(version_id: str, versions: Mapping[str, DatasetVersion]) -> set[str]:
    """Return the ids of a version and of all before it whose rows it may still have.

    Where a file took the place of all rows, the line ends. ``versions``: as for ``line_of``.
    """
    return _line(version_id, versions, is_of_rows=True)


def _line(version_id: str, versions: Mapping[str, DatasetVersion], *, is_of_rows: bool) -> set[str]:
    line = set[str]()
    at = [version_id]
    while at:
        version = versions.get(at.pop())
        if version is None or version.id in line:
            continue
        line.add(version.id)
        has_others = version.operation.name == OperationName.REPLACE
        if not (is_of_rows and has_others):
            at += version.parents
    return line


def made_by_remedy(tables: Tables, application: Application, remedy: str) -> DatasetVersion | None:
    """Return the version that a remedy made, if the data of an application still has its rows."""
    versions = tables.versions.by_id(dataset_id=application.dataset_id)
    for id in line_of_rows(application.version_id, versions):
        if versions[id].operation.told.get("remedy") == remedy:
            return versions[id]
    return None
