"""Rows of production whose truth came join the data of an application."""

from operator import attrgetter

from easeml.contract.datasets import Version
from easeml.errors import Conflict
from easeml.service.access.caller import Caller
from easeml.service.advice import asked_models
from easeml.service.datasets import datasets, lines
from easeml.service.production import feedback, labelled_rows
from easeml.service.storage import artefact_references
from easeml.service.versions import changes
from easeml.store import Store, Tables
from easeml.store.records import Application, ProductionRow

_MOST = 5_000  # at once, the oldest first
_LARGEST = 2**28  # bytes of these


def feed_told(store: Store, caller: Caller, application_id: str) -> Version:
    """Make a version that has as train rows what an endpoint was asked about, with its truth.

    These are the rows whose truth came and that the data has not: at most 5,000, the oldest first.
    They judge no model, as whose truth comes may depend on the row. A forecast knows their values
    from then on; rows whose truth was corrected since come again, and the later value counts.
    Raises ``NotFound``; ``NotReady`` while the data is changed by somebody else; ``Conflict`` where
    there are none, or not all columns of requests are kept.
    """
    tenant_id = caller.tenant_id
    with store.read() as tx:
        tables = tx.scoped(tenant_id)
        application = tables.applications.get(application_id)
        rows, truths = _not_fed(tables, application)
    content = labelled_rows.as_csv(rows, truths, application.target)
    digest, size = store.artefacts.put_stream(tenant_id, [content], _LARGEST)
    with store.write() as tx:
        artefact_references.keep(tx, tenant_id, digest, size)
        version = changes.learn_from(tx, application.id, digest, [], tenant_id, roles=("train",))
        tables = tx.scoped(tenant_id)
        ids = map(attrgetter("id"), rows)
        tables.production_rows.set_each("fed", dict.fromkeys(ids, version.id))
        return datasets.show_version(version)


def _not_fed(
    tables: Tables, application: Application
) -> tuple[list[ProductionRow], labelled_rows.Truths]:
    """Return rows whose truth came and that the data has not, and what was said to be true."""
    _check_columns(tables, application)
    _check_target(tables, application)
    truths = feedback.answers(tables, application)
    versions = tables.versions.by_id(dataset_id=application.dataset_id)
    has = lines.line_of_rows(application.version_id, versions)
    told = feedback.times(tables, application.id)
    rows = []
    for row in tables.production_rows.list(application_id=application.id, limit=None):
        truth = labelled_rows.truth_of(row, truths)
        if truth is None:
            continue
        is_fed = row.fed in has
        if is_fed and application.rules.forecast:
            newest = labelled_rows.truth_of(row, told)
            assert newest is not None
            is_fed = newest <= versions[row.fed].created
        if not is_fed:
            rows.append(row)
    if not rows:
        raise Conflict(
            "There is no row of production whose truth came and that the data has not.",
            where=application.id,
            remedy="Say what was true: easeml app feedback ID, or POST .../feedback.",
        )
    oldest = rows[:_MOST]
    return oldest, truths


def _check_target(tables: Tables, application: Application) -> None:
    version = tables.versions.get(application.version_id)
    if version.target_type in asked_models.SEVERAL:
        raise Conflict(
            "What was true of a row is one label or number, and these have several.",
            where=application.id,
            remedy="Feed a file with them: easeml app feed ID FILE",
        )


def _check_columns(tables: Tables, application: Application) -> None:
    log = tables.request_logs.find(id=application.id)
    if log is not None and log.masked:
        raise Conflict(
            f"Values of {', '.join(map(repr, log.masked))} are not kept, so rows lack them.",
            where=application.id,
            remedy="Feed a file with all columns: easeml app feed ID FILE",
        )
