"""Looking at the data of an application: its versions, its train rows, what differs, and exports."""

from collections.abc import Mapping
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Annotated

from pydantic import Field

from easeml.contract import versions as contract
from easeml.contract.parameters import After, Limit, Offset
from easeml.contract.resources import Page
from easeml.contract.states import VersionState
from easeml.data import (
    ALL_ROLES,
    VERSION_FORMATS,
    Comparison,
    Wanted,
    compare,
    export_version,
    train_rows,
)
from easeml.errors import Conflict, InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.access.paging import next_offset, no_cursor, offset_of
from easeml.service.advice import suspicious_rows
from easeml.service.datasets import changing
from easeml.service.datasets.lines import line_of
from easeml.store import Store, Tables
from easeml.store.records import Application, DatasetVersion
from easeml.store.shapes import OperationName

_LISTED_IDS = 1000  # of rows switched off or on, in a comparison
_LISTED_RANGES = 100

Before = Annotated[
    str | None,
    Field(alias="before", max_length=100, description="the version it came from by default"),
]
TargetValue = Annotated[
    str | None, Field(max_length=1000, description="with this target value only")
]


def of_application(
    store: Store, caller: Caller, application_id: str, *, after: After = None, limit: Limit = 50
) -> Page[contract.VersionLine]:
    """Return a page of the versions of an application's data, newest first; raises ``NotFound``.

    Those that could not be made are among them, with the reason.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        found = _history(tables, application)
    start = _place_after(after, [version.id for version in found])
    page = found[start : start + limit]
    following = page[-1].id if start + limit < len(found) else None
    return Page(items=[_line(one, application) for one in page], next=following)


def _place_after(after: str | None, ids: list[str]) -> int:
    """Return how many ids are before a page. Raises ``InvalidInput`` for a cursor that is none."""
    if after is None:
        return 0
    if after not in ids:
        raise no_cursor(after)
    return ids.index(after) + 1


def train_rows_page(
    store: Store,
    caller: Caller,
    application_id: str,
    *,
    label: TargetValue = None,
    on: Annotated[bool | None, Field(description="only those that are on, or off")] = None,
    suspicious: Annotated[
        bool, Field(description="the most suspicious first, where somebody looked")
    ] = False,
    after: Offset = None,
    limit: Limit = 50,
) -> contract.TrainRows:
    """Return a page of the train rows of an application.

    They may be of one class, on or off, and the most suspicious first.

    Raises ``NotFound``, ``Conflict`` if there are no prepared rows.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        version = tables.versions.get(application.version_id)
        suspicion = suspicious_rows.newest(tables, application.id)
        checked = suspicious_rows.checked(tables, application)
        looking = suspicious_rows.is_under_way(tables, application)
        under_way = changing.is_changing(tables, application)
    _check_prepared(version)
    scores = None
    if suspicion is not None:
        scores = store.artefacts.path(caller.tenant_id, suspicion.artefact)
    files = store.artefacts.members(caller.tenant_id, version.artefact)
    skip = offset_of(after)
    found, total = train_rows(files, Wanted(label, on, suspicious), skip, limit, scores, checked)
    return contract.TrainRows(
        items=[contract.TrainRow(**asdict(row)) for row in found],
        next=next_offset(skip, limit, total),
        version_id=version.id,
        number=version.number,
        total=total,
        off=version.summary.off,
        classes=version.target_classes,
        scored=None if suspicion is None else suspicion.number,
        looking=looking,
        changing=under_way,
    )


def comparison(
    store: Store, caller: Caller, version_id: str, before_id: Before = None
) -> contract.Comparison:
    """Return what a version has that ``before_id`` (None: its parent) had not.

    Raises ``NotFound``, ``InvalidInput`` for versions of different datasets, ``Conflict`` without
    prepared rows.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        version = tables.versions.get(version_id)
        before = _before(tables, version, before_id)
    _check_prepared(version)
    old = None
    if before is not None:
        _check_prepared(before)
        old = store.artefacts.members(caller.tenant_id, before.artefact)
    found = compare(old, store.artefacts.members(caller.tenant_id, version.artefact))
    return _show(found, version, before)


def export(
    store: Store,
    caller: Caller,
    version_id: str,
    ending: str,
    folder: Path,
    since: str | None = None,
    *,
    cells: bool = False,
) -> Path:
    """Write the rows of a version into a file in ``folder``, and return its path.

    ``ending``: csv, parquet, zip ... ``since``: another version of the same data; only what differs
    from it is written. ``cells``: of that, only columns in which a row differs
    (``data.export_version``).

    Raises ``NotFound``, ``Conflict`` without prepared rows, ``InvalidInput`` for another ending,
    for versions of different data, and for rows that the format cannot hold.
    """
    if f".{ending}" not in VERSION_FORMATS:
        known = ", ".join(form.removeprefix(".") for form in VERSION_FORMATS)
        raise InvalidInput(
            f"{ending!r} is not a format of an export.", where="format", remedy=f"One of {known}."
        )
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        version = tables.versions.get(version_id)
        before = None if since is None else _before(tables, version, since)
    kept = _fetched(store, caller, version, folder / "version")
    other = None if before is None else _fetched(store, caller, before, folder / "before")
    out = folder / f"version-{version.number}.{ending}"
    export_version(kept, out, other, cells=cells)
    return out


def _fetched(store: Store, caller: Caller, version: DatasetVersion, folder: Path) -> Path:
    _check_prepared(version)
    return store.artefacts.fetch(caller.tenant_id, version.artefact, folder)


def _history(tables: Tables, application: Application) -> list[DatasetVersion]:
    """Return the versions of an application's data, newest first.

    They are those that led to the one in use, and changes that are under way or failed.
    """
    found = tables.versions.by_id(dataset_id=application.dataset_id)
    own = line_of(application.version_id, found)
    own |= {id for id, one in found.items() if one.operation.application_id == application.id}
    return sorted([found[id] for id in own], key=lambda version: -version.number)


def _line(version: DatasetVersion, application: Application) -> contract.VersionLine:
    summary = version.summary
    return contract.VersionLine(
        id=version.id,
        number=version.number,
        state=version.state,
        current=version.id == application.version_id,
        operation=version.operation.to_json(),
        parents=version.parents,
        rows={role: summary.rows_of(role) for role in ALL_ROLES if summary.rows_of(role)},
        off=summary.off,
        added=summary.added,
        notes=summary.notes,
        error=version.error,
        created=version.created,
    )


def _before(
    tables: Tables, version: DatasetVersion, before_id: str | None
) -> DatasetVersion | None:
    if before_id is None:
        return _prepared_parent(tables, version)
    before = tables.versions.get(before_id)
    if before.dataset_id != version.dataset_id:
        raise InvalidInput("These versions are of different datasets.", where=before_id)
    return before


def _prepared_parent(tables: Tables, version: DatasetVersion) -> DatasetVersion | None:
    """Return the first parent with prepared rows, which an upload has not."""
    for parent_id in version.parents:
        parent = tables.versions.get(parent_id)
        if parent.operation.name != OperationName.UPLOAD:
            return parent
    return None


def _check_prepared(version: DatasetVersion) -> None:
    if version.operation.name == OperationName.UPLOAD:
        raise Conflict(
            "An upload has no prepared rows.", where=version.id, remedy="Name a version made of it."
        )
    if version.state != VersionState.READY or not version.artefact:
        raise Conflict(
            f"The version is {version.state}: there are no prepared rows.", where=version.id
        )


def _show(
    found: Comparison, version: DatasetVersion, before: DatasetVersion | None
) -> contract.Comparison:
    ranges = []
    for role, ids in found.added.items():
        for first, last in _ranges(ids):
            ranges.append(contract.RowRange(role=role, first=first, last=last))
    return contract.Comparison(
        version_id=version.id,
        before=before.id if before else None,
        added=_counted(found.added),
        removed=_counted(found.removed),
        ranges=ranges[:_LISTED_RANGES],
        switched_off=found.switched_off[:_LISTED_IDS],
        switched_on=found.switched_on[:_LISTED_IDS],
        schema_differences=found.schema,
    )


def _counted(ids_by_role: Mapping[str, list[int]]) -> dict[str, int]:
    return {role: len(ids) for role, ids in ids_by_role.items()}


def _ranges(ids: list[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of ids that follow one another."""
    ranges = []
    for _, run in groupby(enumerate(ids), lambda placed: placed[1] - placed[0]):
        _, members = zip(*run, strict=True)
        ranges.append((members[0], members[-1]))
    return ranges
