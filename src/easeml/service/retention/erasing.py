"""Erasing rows, such as those of a person, everywhere that easeml has them."""

from collections import defaultdict
from collections.abc import Mapping
from itertools import compress, starmap
from operator import attrgetter, itemgetter
from typing import Any

from easeml.contract.erasures import ErasedModel, ErasedVersion, Erasure, NewErasure
from easeml.contract.parameters import After, Limit
from easeml.contract.resources import Page
from easeml.contract.states import ModelFate, VersionState
from easeml.contract.task_views import Task as TaskAnswer
from easeml.data import ROLES
from easeml.errors import NotAllowed, NotReady
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_records
from easeml.service.advice import rescoring
from easeml.service.gates import erased as erased_rows
from easeml.service.retention import erased_late, erased_texts, erased_traces
from easeml.service.retention.erased_remains import has_short_number, remains, telling
from easeml.service.retention.erased_traces import Found
from easeml.service.rollouts import kept
from easeml.service.search import jobs
from easeml.service.storage.releasing import GRACE_SECONDS
from easeml.service.tasks import requests, task_views
from easeml.store import Store, Tables, Transaction, grouped
from easeml.store.records import Application, Dataset, DatasetVersion, Report, Task, TrainedModel
from easeml.store.shapes import OperationName, VersionSummary

KIND = "erasure"
_TASK = "erase-rows"
_ROLES = frozenset(ROLES)
_FILES = ("artefact", "predictions", "evaluation", "refitted", "refitted_predictions")
_files_of = attrgetter(*_FILES)  # their digests
_REMOVED = "Its files are erased: it had learnt from rows that are erased."
_LOOK_EVERY = 600.0  # seconds between two looks of retention
_ELSEWHERE = (
    "Backups made before now still have the rows: make a new one, and remove the older ones.",
    "Files, models and messages that somebody received are out of reach.",
    "Requests that were answered just before and are written to the log in the next minutes are "
    "removed by the next look at what is kept.",
)
_SHORT_NUMBERS = (
    "What the rows were known by, or a class of theirs, is in part a number of fewer than six "
    "digits: such numbers stand everywhere, and the database was not searched for them."
)
_IN_GRAPHS = (
    "Labels of nodes within graphs that only these rows had are not searched for: their names may "
    "stand in what is said of the column, in schemas and in models."
)
_BESIDE = (
    "Other data sets have these columns too, and are not changed. Where they have the rows, erase "
    "them there as well: {names}."
)
_AT_ITS_SOURCE = "The data is fetched: erase the rows at their source too, or they come back."


def request(store: Store, caller: Caller, dataset_id: str, wish: NewErasure) -> TaskAnswer:
    """Ask for rows of a data set to be erased everywhere, or in a dry run what that would be.

    The task that does so has the report as its result. Raises ``NotFound``; ``NotAllowed`` for a key
    that may not do all; ``NotReady`` while a version of the data is being made.
    """
    if caller.is_limited:
        raise NotAllowed("This key may not erase.", remedy="Use a key without a narrower scope.")
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        dataset = tables.datasets.get(dataset_id)
        _check_still(tables, dataset)
        ready = tables.versions.list(dataset_id=dataset.id, state=VersionState.READY, limit=None)
        task = requests.request(
            tx,
            caller.tenant_id,
            _TASK,
            dataset.id,
            where=wish.where,
            models=wish.models,
            plan_only=wish.plan_only,
            by=caller.user_id,
            steps=_steps(tables, sorted(ready, key=lambda one: one.number)),
        )
        return task_views.show_all(tables, [task])[0]


def list_page(
    store: Store, caller: Caller, dataset_id: str, *, after: After = None, limit: Limit = 50
) -> Page[Erasure]:
    """Return a page of the reports on what was erased from a data set; raises ``NotFound``.

    ``by``: the name of who did it.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        tables.datasets.get(dataset_id)
        found, following = page_records(tables.reports, after, limit, subject=dataset_id, kind=KIND)
        people = dict(tx.users.pick("id", "name"))
    items = []
    for report in found:
        told = Erasure.model_validate(report.value)
        name = people.get(told.by, told.by)
        items.append(told.model_copy(update={"by": name}))
    return Page(items=items, next=following)


def record(
    tx: Transaction,
    task: Task,
    brought: Mapping[str, Any],
    digests: Mapping[str, str],
    fed: Mapping[str, str],
) -> None:
    """Let nothing have the rows that a task found, and keep a report of it.

    ``brought``: what its body said of each of the ``versions`` that has such rows, and ``classes``
    that only they had; ``digests``: of those without them; ``fed``: of the files that they were
    read from, without them; empty where a file had none of them. In a dry run nothing changes but
    the result of the task.
    """
    tables = tx.scoped(task.tenant_id)
    spec = task.payload
    dataset = tables.datasets.get(task.subject)
    classes = frozenset(brought["classes"])
    found = erased_traces.find(tables, dataset, spec["where"], brought["versions"], classes)
    found.values = telling([*spec["where"].values(), *classes])
    affected = _models(tables, found)
    report = _report(tx, tables, task, found, affected)
    forget_question(tables, task, spec["where"])
    if not spec["plan_only"]:
        for version_id in found.versions:
            _replace(tables, found, version_id, digests[version_id], fed[version_id])
        erased_traces.remove(tx, tables, found)
        erased_texts.remove(tx, tables, found)
        _settle(tx, tables, found, affected, ModelFate(spec["models"]))
        _let_gates_follow(tx, tables, found)
        _tell(tx, dataset, report, found)
        report.remains = remains(tx, task.tenant_id, found.values)
        value = report.model_dump() | erased_late.watch(spec["where"])
        tables.reports.add(Report(new_id("rep"), task.tenant_id, KIND, dataset.id, "", value))
    tables.tasks.update(task.id, result={"report": report.model_dump()})


def forget_question(tables: Tables, task: Task, where: Mapping[str, str]) -> None:
    """Forget what rows were known by, and what was found: it is the very data that is to be erased."""
    forgotten = {"where": dict.fromkeys(where, "(erased)"), "steps": []}
    tables.tasks.update(task.id, payload={**task.payload, **forgotten}, result={})


def _tell(tx: Transaction, dataset: Dataset, report: Erasure, found: Found) -> None:
    told = {
        "rows": sum(one.rows for one in report.versions),
        "by": report.by,
        "models": len(report.models),
        "name": erased_texts.without_values(dataset.name, found.values),
    }
    tx.events.append("data.erased", dataset.id, told, dataset.tenant_id)


def finish(store: Store) -> int:
    """Erase the models that only served until another one did; return how many."""
    with store.read() as tx:
        reports = tx.unscoped().reports.list(kind=KIND, limit=None)
    waiting = list(filter(_has_served_on, reports))
    return sum(_finish(store, report) for report in waiting)


def _has_served_on(report: Report) -> bool:
    """Whether a model of a report was left to serve for the time being."""
    return any(model.serves for model in Erasure.model_validate(report.value).models)


def _finish(store: Store, report: Report) -> int:
    """Erase the models of a report that served, and do no more; return how many."""
    count = 0
    with store.write() as tx:
        tables = tx.scoped(report.tenant_id)
        value = tables.reports.get(report.id).value
        told = Erasure.model_validate(value)
        for model in told.models:
            application = tables.applications.get(model.application_id)
            if model.serves and application.live_model_id != model.model_id:
                _erase_model(tables, model.model_id, tx.now())
                kept.end_of_erased(tx, application, [model.model_id])
                model.serves = False
                count += 1
        if count:
            tables.reports.update(report.id, value={**value, **told.model_dump()})
    return count


def _check_still(tables: Tables, dataset: Dataset) -> None:
    is_made = tables.versions.count(dataset_id=dataset.id, state=VersionState.INGESTING)
    if is_made or requests.under_way(tables, _TASK, dataset.id):
        raise NotReady(
            "A version of this data is being made.",
            where=dataset.id,
            remedy="Try again when it is ready.",
        )


def _steps(tables: Tables, versions: list[DatasetVersion]) -> list[dict[str, Any]]:
    """Return how each version was made, parents first."""
    uploads: dict[str, str] = {}  # of each version, the upload that it has the rows of
    steps = []
    for version in versions:
        operation = version.operation
        parent = version.parents[0] if version.parents else ""
        before = uploads.get(parent, parent)
        uploads[version.id] = operation.upload_id or before
        if operation.name == OperationName.UPLOAD:
            uploads[version.id] = version.id
        step = {
            "id": version.id,
            "operation": str(operation.name),
            "parent_id": parent,
            "upload_id": operation.upload_id,
            "before_id": before,
            "filename": operation.told.get("filename", ""),
            "slice": _has_slice(tables, version),
        }
        steps.append(step)
    return steps


def _has_slice(tables: Tables, version: DatasetVersion) -> bool:
    if version.operation.name != OperationName.FEED:
        return False
    payloads = tables.tasks.column("payload", subject=version.id)
    return any(payload.get("where") for payload in payloads)


def _models(tables: Tables, found: Found) -> list[TrainedModel]:
    """Return the models that learnt from, or were measured on, rows that were found.

    Those that forecast are among them if they were told the values of such rows.
    """
    learnt = [id for id, said in found.versions.items() if not _ROLES.isdisjoint(said["roles"])]
    jobs_of_rows = tables.jobs.column("id", version_id=learnt)
    models = tables.models.list(job_id=jobs_of_rows, limit=None)
    forecasting = [one.id for one in found.applications if one.rules.forecast]
    told = rescoring.told(tables, forecasting, learnt)
    told.difference_update(map(attrgetter("id"), models))
    models += tables.models.list(id=list(told), limit=None)
    return [model for model in models if any(_files_of(model))]


def _report(
    tx: Transaction, tables: Tables, task: Task, found: Found, affected: list[TrainedModel]
) -> Erasure:
    spec = task.payload
    rows = tables.versions.list(id=list(found.versions), limit=None)
    versions = []
    for version in rows:
        said = found.versions[version.id]
        one = ErasedVersion(
            version_id=version.id, number=version.number, rows=said["rows"], roles=said["roles"]
        )
        versions.append(one)
    return Erasure(
        dataset_id=task.subject,
        plan_only=spec["plan_only"],
        models_are=spec["models"],
        by=spec["by"],
        when=tx.now(),
        versions=versions,
        models=_erased_models(affected, found, spec["models"]),
        bytes_gone_by=tx.now() + GRACE_SECONDS + 2 * _LOOK_EVERY,
        elsewhere=[
            *_beside(tables, task.subject, spec["where"]),
            *_elsewhere(rows, [*spec["where"].values(), *found.classes]),
        ],
        remains=[],
        **found.counts,
    )


def _beside(tables: Tables, dataset_id: str, where: Mapping[str, str]) -> list[str]:
    """Return a sentence on other data sets of the tenant that may have the same rows."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for id, columns in tables.versions.pick("dataset_id", "columns", state=VersionState.READY):
        found[id].update(map(itemgetter("name"), columns))
    found.pop(dataset_id, None)
    beside = [id for id, names in found.items() if where.keys() <= names]
    others = tables.datasets.pick("name", "id", id=beside)
    if not others:
        return []
    names = ", ".join(starmap("{} ({})".format, others))
    return [_BESIDE.format(names=names)]


def _elsewhere(versions: list[DatasetVersion], values: list[str]) -> list[str]:
    """Return the sentences on what is not reached.

    ``values``: what the rows were known by, and classes that only they had.
    """
    types = {column["type"] for version in versions for column in version.columns}
    applies = {
        _AT_ITS_SOURCE: any(version.operation.origin for version in versions),
        _SHORT_NUMBERS: has_short_number(values),
        _IN_GRAPHS: "graph" in types,
    }
    return [*_ELSEWHERE, *compress(applies, applies.values())]


def _erased_models(
    affected: list[TrainedModel], found: Found, fate: ModelFate
) -> list[ErasedModel]:
    """Return what the report says of models; where others are trained, what is live goes later."""
    serving = _live(found) if fate == ModelFate.RETRAIN else set()
    models = []
    for model in affected:
        one = ErasedModel(
            model_id=model.id,
            name=model.name,
            application_id=model.application_id,
            serves=model.id in serving,
        )
        models.append(one)
    return models


def _live(found: Found) -> set[str]:
    return {one.live_model_id for one in found.applications}


def _replace(tables: Tables, found: Found, version_id: str, digest: str, fed: str) -> None:
    """Let a version have the bytes without the rows, and nothing else of them."""
    said = found.versions[version_id]
    version = tables.versions.get(version_id)
    changed: dict[str, Any] = {"artefact": digest, "doubts": ""}
    if fed or version.operation.name == OperationName.FLOW:
        changed["source_artefact"] = fed
    changed["columns"] = said["columns"]
    if "summary" in said:  # a declared version
        changed["summary"] = VersionSummary(said["summary"])
        changed |= {"schema_in": said["schema_in"], "schema_out": said["schema_out"]}
    changed["operation"] = erased_texts.without_rows(
        version.operation, set(said["ids"]), found.values
    )
    tables.versions.update(version_id, **changed)


def _settle(
    tx: Transaction,
    tables: Tables,
    found: Found,
    affected: list[TrainedModel],
    fate: ModelFate,
) -> None:
    """Let models go that learnt from the rows, and search on what is left where that is wished."""
    retrains = fate == ModelFate.RETRAIN
    concerned = grouped(affected, lambda model: model.application_id)
    for application in found.applications:
        models = concerned[application.id]
        if application.version_id in found.versions:
            _end_search(tx, tables, application, retrains=retrains)
        if retrains and models:
            rescoring.request(tx, application)
        _let_go(tx, tables, application, models, retrains=retrains)
        rescoring.request(tx, tables.applications.get(application.id))  # a forecast is to forget


def _let_gates_follow(tx: Transaction, tables: Tables, found: Found) -> None:
    """Let gates have no row that is erased, and no model wait for an answer about one."""
    for one in found.applications:
        erased_rows.count_rows_left(tables, one, found.versions)
        application = tables.applications.get(one.id)  # what served may be gone by now
        said = found.versions.get(application.version_id, {})
        erased_rows.wait_for_none(tx, application, said.get("ids", []))


def _let_go(
    tx: Transaction,
    tables: Tables,
    application: Application,
    models: list[TrainedModel],
    *,
    retrains: bool,
) -> None:
    """Erase models of an application; where it ``retrains``, what serves goes later: ``finish``."""
    gone = []
    for model in models:
        is_live = model.id == application.live_model_id
        if is_live and retrains:
            continue
        if is_live:
            tables.applications.update(application.id, live_model_id="", pinned=False)
            told = {"model_id": model.id}
            tx.events.append("promotion.withdrawn", application.id, told, application.tenant_id)
        _erase_model(tables, model.id, tx.now())
        gone.append(model.id)
    kept.end_of_erased(tx, application, gone)


def _end_search(
    tx: Transaction, tables: Tables, application: Application, *, retrains: bool
) -> None:
    """End a search on rows that are erased; where it ``retrains``, another one begins."""
    job = jobs.current(tables, application.id)
    if job is None:
        return
    # What is under way would bring models of the data as it was.
    requests.cancel(tx, tables, "Rows of its data were erased.", job_id=job.id)
    if retrains and application.deleted is None:
        jobs.begin_again(tx, job, application.version_id)
    else:
        jobs.end(tx, tables, job)


def _erase_model(tables: Tables, model_id: str, now: float) -> None:
    tables.models.update(model_id, error=_REMOVED, **dict.fromkeys(_FILES, ""))
    tables.retirements.forget(now + 1.0, id=model_id)
