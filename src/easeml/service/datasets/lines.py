"""The line of a version: what it was made of."""

from collections.abc import Mapping

from easeml.store.records import DatasetVersion


def line_of(version_id: str, versions: Mapping[str, DatasetVersion]) -> set[str]:
    """Return the ids of a version and of all that it was made of, parents of parents too.

    ``versions``: those of its data set, by id.
    """
    line = set[str]()
    at = [version_id]
    while at:
        version = versions.get(at.pop())
        if version is not None and version.id not in line:
            line.add(version.id)
            at += version.parents
    return line
