"""Doubtful cells of an application's data: found by a task, kept with the version, exported."""

from collections import Counter
from pathlib import Path
from zipfile import ZipFile

from easeml.contract.parameters import Limit, Offset
from easeml.contract.work import CellOption, Doubts
from easeml.contract.work import DoubtfulCell as CellAnswer
from easeml.data import DoubtfulCell, doubtful_cells, write_cells
from easeml.errors import Conflict, InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.access.paging import next_offset, offset_of
from easeml.service.advice import asked_models
from easeml.service.datasets import changing
from easeml.service.work import finding
from easeml.store import Store
from easeml.store.records import DatasetVersion


def show(
    store: Store, caller: Caller, application_id: str, *, after: Offset = None, limit: Limit = 50
) -> Doubts:
    """Return a page of the doubtful cells of an application's data, the most doubtful first.

    Cells that people have answered are none any more. Raises ``NotFound``.
    """
    version, cells, looking = _found(store, caller, application_id)
    start = offset_of(after)
    page = cells[start : start + limit]
    return Doubts(
        items=list(map(_show, page)),
        next=next_offset(start, limit, len(cells)),
        version_id=version.id,
        number=version.number,
        looked=bool(version.doubts),
        looking=looking,
        total=len(cells),
        by_column=dict(Counter(cell.column for cell in cells).most_common()),
        by_source=dict(Counter(cell.source for cell in cells).most_common()),
    )


def look(store: Store, caller: Caller, application_id: str) -> Doubts:
    """Have a task look for doubtful cells and for what people should be asked.

    Where that was done just so already, nothing more happens. Raises ``NotFound``, ``Conflict``
    while the data is being prepared, and where rows may have several answers.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        asked_models.check_one_answer(tables, application)
        if not changing.can_change(tables, application):
            remedy = "Ask again when it is ready."
            raise Conflict("The data is being prepared.", where=application.id, remedy=remedy)
        finding.request(tx, application)
    return show(store, caller, application_id)


def export(store: Store, caller: Caller, application_id: str, form: str, folder: Path) -> Path:
    """Write the doubtful cells into a file in ``folder``, and return its path.

    ``form``: ``csv``, a line a candidate of a cell that nobody answered; ``zip``, the relation as
    ``easeml.relation.Relation.load`` reads it, as it was found. Raises ``NotFound``, ``Conflict``
    where nobody looked yet, ``InvalidInput`` for another format.
    """
    if form not in ("csv", "zip"):
        raise InvalidInput(f"{form!r} is not a format.", where="format", remedy="Use csv or zip.")
    version, cells, _ = _found(store, caller, application_id)
    if not version.doubts:
        remedy = f"Have them looked for: easeml data doubts {application_id} --look"
        raise Conflict("Nobody has looked for doubtful cells yet.", where="doubts", remedy=remedy)
    path = folder / f"doubts-version-{version.number}.{form}"
    if form == "csv":
        write_cells(path, cells)
        return path
    files = store.artefacts.members(caller.tenant_id, version.doubts)
    with ZipFile(path, "w") as archive:
        for name, file in files.items():
            if name.endswith(".parquet"):
                archive.write(file, name)
    return path


def _found(
    store: Store, caller: Caller, application_id: str
) -> tuple[DatasetVersion, list[DoubtfulCell], bool]:
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        version = tables.versions.get(application.version_id)
        known = finding.known_cells(tables, application)
        looking = finding.under_way(tables, application) is not None
    if not version.doubts:
        return version, [], looking
    files = store.artefacts.members(caller.tenant_id, version.doubts)
    return version, doubtful_cells(files, known), looking


def _show(cell: DoubtfulCell) -> CellAnswer:
    options = [CellOption(value=value, weight=weight) for value, weight in cell.candidates]
    return CellAnswer(
        row=cell.row, column=cell.column, given=cell.given, source=cell.source, candidates=options
    )
