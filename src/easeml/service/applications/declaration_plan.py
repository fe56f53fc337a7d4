"""Declaring an application: everything is checked before anything is written.

The declaration is checked against the inferred columns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from easeml.contract.applications import Declaration, ModelOption, Proposal
from easeml.contract.datasets import Column
from easeml.contract.states import VersionState
from easeml.data import (
    FEWEST_ROWS,
    ColumnReport,
    Columns,
    Split,
    class_counts,
    declare_columns,
)
from easeml.errors import Conflict, InvalidInput, NotReady
from easeml.ids import new_id
from easeml.modules import ModelMatch, Module, Registry, labels_of
from easeml.search import spaces
from easeml.service.access.caller import Caller
from easeml.service.applications import forecasts, objectives
from easeml.service.datasets import datasets, deleting
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.optimizers import optimizer_of
from easeml.service.knowledge.rules import allowed_models, check_fits, check_monotonic, matching
from easeml.service.knowledge.trials import Trial, cost_belief, default_work, width
from easeml.service.search import jobs
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Dataset, DatasetVersion, Job, Json
from easeml.store.shapes import ColumnSeen, Operation, OperationName, Rules


@dataclass(frozen=True, slots=True)
class Plan:
    """What a declaration means, checked."""

    declaration: Declaration
    dataset: Dataset
    upload: DatasetVersion
    columns: Columns
    objectives: list[Module]
    objective: Module
    models: list[ModelMatch]
    rules: Rules


def plan(tables: Tables, declaration: Declaration, registry: Registry) -> Plan:
    """Check a declaration against its data and the knowledge base; writes nothing.

    Raises ``NotFound`` for the data, ``NotReady`` while the upload is being read, ``Conflict`` if
    it could not be read, and ``InvalidInput`` for a column, type, objective, model or optimizer that
    is unknown or does not fit.
    """
    dataset, upload = _find_upload(tables, declaration)
    _check_rows(upload)
    declaration = forecasts.split_by_time(declaration, upload)
    columns = _declare_columns(upload, declaration)
    _check_classes(columns)
    forecasts.check(declaration, columns, upload.summary.rows or 0)
    fitting = objectives.fitting(registry, columns, weighted=bool(declaration.weight))
    objective = objectives.chosen(declaration, fitting, registry, columns.schema_out)
    rules = _rules(declaration)
    if rules.optimizer:
        optimizer_of(registry, rules.optimizer, dataset.tenant_id)
    asked = forecasts.asked_schema(columns.schema_in.to_json(), rules)
    check_monotonic(rules, asked, columns.schema_out.to_json())
    models = matching(registry, columns.schema_in, columns.schema_out, rules)
    _check_models(declaration, models, rules)
    return Plan(declaration, dataset, upload, columns, fitting, objective, models, rules)


def show(plan: Plan, registry: Registry, trials: list[Trial]) -> Proposal:
    """Return the resource of a plan, with the chosen objective as the default.

    ``trials`` help to predict costs.
    """
    columns = plan.columns
    notes = list(columns.rare_notes)
    if plan.declaration.split == "random":
        notes += columns.group_notes
    costs = _predicted_costs(plan, registry, trials)
    return Proposal(
        columns=[Column(**report.to_json()) for report in columns.columns],
        target=columns.target,
        schema_in=columns.schema_in.to_json(),
        schema_out=columns.schema_out.to_json(),
        objectives=objectives.options(plan.objectives, plan.objective),
        families=objectives.families(registry, columns.schema_out),
        labels=labels_of(columns.schema_out.to_json()) or [],
        models=[_option(match, costs.get(match.module.name)) for match in plan.models],
        forecast=forecasts.shown(plan.rules),
        notes=notes,
    )


def _predicted_costs(plan: Plan, registry: Registry, trials: list[Trial]) -> dict[str, float]:
    """Return the device seconds that models that fit are believed to take, by name."""
    rows = plan.upload.summary.rows or 0
    inputs = width([report.to_json() for report in plan.columns.columns])
    fitting = {match.module.name: match.module for match in plan.models if match.fits}
    works = [default_work(module, rows, inputs) for module in fitting.values()]
    costs = cost_belief(registry, trials).predict(works).expected.tolist()
    return dict(zip(fitting, costs, strict=True))


def _option(match: ModelMatch, predicted_cost: float | None) -> ModelOption:
    return ModelOption(
        name=match.module.name,
        title=match.module.title,
        about=match.module.about,
        fits=match.fits,
        why_not=match.why_not,
        predicted_cost=predicted_cost,
        space=dict(match.module.space),
    )


def write(tx: Transaction, caller: Caller, plan: Plan) -> Application:
    """Write what a plan declares: version, ingest task, application and job.

    The job is in the state ``preparing``.
    """
    tables = tx.scoped(caller.tenant_id)
    version = tables.versions.add(_declared_version(tables, caller, plan))
    declaration = plan.declaration
    application = tables.applications.add(
        Application(
            id=new_id("app"),
            tenant_id=caller.tenant_id,
            name=declaration.name or plan.dataset.name,
            dataset_id=plan.dataset.id,
            version_id=version.id,
            target=plan.columns.target,
            objective=plan.objective.name,
            rules=plan.rules,
        )
    )
    tables.jobs.add(
        Job(
            id=new_id("job"),
            tenant_id=caller.tenant_id,
            application_id=application.id,
            version_id=version.id,
            limits=jobs.limits(
                declaration.max_tasks, declaration.max_seconds, declaration.deadline
            ),
            tolerance=declaration.tolerance,
        )
    )
    requests.request(tx, caller.tenant_id, "ingest-declare", version.id, **told(plan))
    tx.events.append(
        "application.declared", application.id, {"name": application.name}, caller.tenant_id
    )
    return application


def _find_upload(tables: Tables, declaration: Declaration) -> tuple[Dataset, DatasetVersion]:
    dataset = deleting.there(tables, declaration.dataset_id)
    if declaration.version_id is None:
        upload = datasets.newest_upload(tables, dataset.id)
    else:
        upload = tables.versions.get(declaration.version_id)
    if upload.dataset_id != dataset.id or upload.operation.name != OperationName.UPLOAD:
        raise InvalidInput("This is not an upload of the dataset.", where=upload.id)
    if upload.state == VersionState.FAILED:
        raise Conflict(
            f"The upload could not be read: {upload.error}", remedy="Upload a corrected file."
        )
    if upload.state != VersionState.READY:
        raise NotReady(
            "The upload is still being read.", remedy="Try again shortly.", where=upload.id
        )
    return dataset, upload


def _check_rows(upload: DatasetVersion) -> None:
    rows = upload.summary.rows
    if rows is None or rows >= FEWEST_ROWS:
        return
    count = "1 row" if rows == 1 else f"{rows} rows"
    raise InvalidInput(
        f"The table has {count}: too few to learn from and to test.",
        where=upload.id,
        remedy=f"Upload at least {FEWEST_ROWS} rows with a value of the target, "
        "several of each class.",
    )


def _check_classes(columns: Columns) -> None:
    answer = next(one for one in columns.columns if one.name == columns.target)
    counts = sorted(class_counts(answer).values())
    if len(counts) != answer.distinct or counts[-2] > 1:
        return
    raise InvalidInput(
        "One class alone has more than one row: the others can be learned or tested, not both.",
        where=f"column '{columns.target}'",
        remedy="Add rows of the other classes, or name another target.",
    )


def _declare_columns(upload: DatasetVersion, declaration: Declaration) -> Columns:
    reports = list(map(ColumnReport.from_json, upload.columns))
    target = declaration.target or upload.summary.target or None
    split = Split.from_text(declaration.split, [report.name for report in reports])
    drop = list(declaration.drop)
    if split.way == "given":
        drop.append(split.column)
    return declare_columns(
        reports,
        target=target,
        set=declaration.set,
        drop=drop,
        keep=declaration.keep,
        weight=declaration.weight,
        together=declaration.together,
    )


def _rules(declaration: Declaration) -> Rules:
    return Rules(
        declaration.models,
        declaration.exclude,
        declaration.constrain,
        declaration.max_latency,
        declaration.max_size,
        dict(declaration.monotonic),
        optimizer=declaration.optimizer,
        weight=declaration.weight or "",
        forecast=forecasts.rule_of(declaration),
    )


def _check_models(declaration: Declaration, models: list[ModelMatch], rules: Rules) -> None:
    """Check the models that a declaration names, and that any is left to search."""
    by_name = {match.module.name: match for match in models}
    asked_for = declaration.models or []
    _check_known(asked_for, by_name, "models")
    _check_known(declaration.exclude, by_name, "exclude")
    _check_known(declaration.constrain, by_name, "constrain")
    for name, wishes in declaration.constrain.items():
        spaces.narrow(by_name[name].module.space, wishes, f"constrain.{name}")
    for name in asked_for:
        check_fits(by_name[name], "models")
    _check_any_fits(models)
    if not allowed_models(models, rules):
        raise InvalidInput(
            "No model is left to search.", where="models", remedy="Allow more models."
        )


def _check_any_fits(models: list[ModelMatch]) -> None:
    if not any(match.fits for match in models):
        said = " ".join(sorted({match.why_not for match in models}))
        raise InvalidInput(
            f"No model of the knowledge base fits. {said}", remedy="Bring data of another form."
        )


def _check_known(names: Iterable[str], by_name: Mapping[str, ModelMatch], where: str) -> None:
    for name in names:
        knowledge_base.check_known(name, by_name, f"There is no model {name!r}.", where)


def told(plan: Plan) -> Json:
    """What the ingest task is told, and the version remembers."""
    declaration = plan.declaration
    weight = {} if declaration.weight is None else {"weight": declaration.weight}
    together = {"together": declaration.together} if declaration.together else {}
    return {
        "target": _first_target(plan),
        "set": declaration.set,
        "drop": declaration.drop,
        "keep": declaration.keep,
        "seed": declaration.seed,
        "split": declaration.split,
        **weight,
        **together,
        **forecasts.told(declaration),
    }


def _first_target(plan: Plan) -> str:
    """Return the target, or the first of the columns that are one answer together."""
    parts = plan.columns.schema_out.parts
    return next(iter(parts), plan.columns.target)


def _declared_version(tables: Tables, caller: Caller, plan: Plan) -> DatasetVersion:
    return DatasetVersion(
        id=new_id("ver"),
        tenant_id=caller.tenant_id,
        dataset_id=plan.dataset.id,
        number=tables.versions.count(dataset_id=plan.dataset.id) + 1,
        operation=Operation(OperationName.DECLARE, told(plan)),
        parents=[plan.upload.id],
        columns=[ColumnSeen(**report.to_json()) for report in plan.columns.columns],
        schema_in=plan.columns.schema_in.to_json(),
        schema_out=plan.columns.schema_out.to_json(),
    )
