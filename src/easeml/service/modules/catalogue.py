"""The knowledge base to look at: every module, where it fits, and how it has done."""

import inspect
from collections import Counter, defaultdict
from math import isfinite
from statistics import median

from easeml.contract import knowledge as contract
from easeml.contract.states import ModuleState, TaskGroup, TaskState
from easeml.errors import InvalidInput
from easeml.modules import Module, Registry
from easeml.modules.scale import scale_of, why_no_measure
from easeml.search.optimizers import installed_optimizers
from easeml.search.policies import installed_policies
from easeml.service.access.caller import Caller
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.trials import Trial, finished_trials
from easeml.service.modules import adding, faults
from easeml.store import Store, Tables, Transaction
from easeml.store.records import ModuleMark
from easeml.version import __version__

_KINDS = ("model", "transform", "objective", "optimizer")


def get(store: Store, caller: Caller) -> contract.KnowledgeBase:
    """Return all modules; what other tenants did with them shows in numbers only.

    Of private ones, only a provider sees those of other tenants.
    """
    with store.read() as tx:
        registry = _seen(tx, caller)
        records = _records(tx)
        own = registry.seen_by(caller.tenant_id)
        fits = _fits(tx.scoped(caller.tenant_id), own)
        faulty = faults.known(tx, caller)
        arriving = adding.arriving(tx, caller)
    newer = _newer(registry)
    modules = [module for kind in _KINDS for module in registry.of_kind(kind)]
    shown = [
        _show(
            module,
            records.get(module.name),
            fits[module.name],
            registry,
            faulty.get(module.name, ""),
            newer.get(module.name, ""),
        )
        for module in modules
    ]
    problems = [
        *registry.problems,
        *installed_optimizers().problems,
        *installed_policies().problems,
    ]
    return contract.KnowledgeBase(
        modules=[*shown, *_optimizers()], arriving=arriving, problems=problems
    )


def titles(store: Store, caller: Caller) -> contract.Titles:
    """Return the titles of the modules that the caller sees, archived ones as well."""
    with store.read() as tx:
        registry = _seen(tx, caller)
    found = {module.name: module.title for module in registry.modules}
    return contract.Titles(titles=found)


def set_archived(store: Store, caller: Caller, name: str, archived: bool) -> contract.KnowledgeBase:
    """Let no new search use a module, or let them again; what uses it goes on.

    Providers may, and whose private module it is. One that was added and failed its checks is no
    longer shown. Raises ``NotAllowed``, ``NotFound``, ``InvalidInput`` for a module of
    another kind.
    """
    with store.write() as tx:
        mark = tx.module_marks.find(id=name)
        if not adding.owns(caller, mark):
            caller.require_provider()
        has_failed = mark is not None and mark.state == ModuleState.FAILED
        if not has_failed and not _can_be_archived(knowledge_base.current(tx).get(name)):
            raise InvalidInput("Only models and added modules can be archived.", where=name)
        if mark is None:
            tx.module_marks.add(ModuleMark(name))
        tx.module_marks.update(name, archived=archived)
        if not archived and not has_failed:
            tx.module_marks.update(name, error="")  # another trial, whatever it did wrong before
        kind = "module.archived" if archived else "module.restored"
        tx.events.append(kind, name, {"by": caller.user_id}, caller.tenant_id)
    return get(store, caller)


def _can_be_archived(module: Module) -> bool:
    """Tell whether a module is a model, or was added: others do without what is installed."""
    return module.kind == "model" or bool(module.source)


def share(store: Store, caller: Caller, name: str) -> contract.KnowledgeBase:
    """Make a private module everybody's (providers only); all searches that it fits go on with it.

    One that is everybody's stays so. Raises ``NotAllowed``, ``NotFound``, ``Conflict`` for one that
    has not passed its checks.
    """
    caller.require_provider()
    with store.write() as tx:
        mark = tx.module_marks.find(id=name)
        if mark is not None and mark.tenant_id:
            adding.share(tx, caller, mark)
        else:
            knowledge_base.current(tx).get(name)
    return get(store, caller)


def _seen(tx: Transaction, caller: Caller) -> Registry:
    """Return the knowledge base as the caller may see it: providers see private modules as well."""
    if caller.is_provider:
        return knowledge_base.current(tx)
    return knowledge_base.of_tenant(tx, caller.tenant_id)


def _optimizers() -> list[contract.Module]:
    """Return what proposes configurations.

    It is installed, and the provider chooses one in the settings.
    """
    found = installed_optimizers().by_name
    titles = {name: name.upper() if len(name) == 3 else name.capitalize() for name in found}
    return [
        contract.Module(
            name=name,
            kind="optimizer",
            title=titles[name],
            about=_first_line(one),
            version=__version__,
        )
        for name, one in found.items()
    ]


def _first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _newer(registry: Registry) -> dict[str, str]:
    """Return what has taken the place of archived modules, by the name of the older one."""
    newer = {}
    for module in registry.modules:
        for name in module.replaces:
            if name in registry.archived:
                newer[name] = module.name
    return newer


def _show(
    module: Module,
    record: contract.Record | None,
    fits: list[contract.FittingApplication],
    registry: Registry,
    fault: str,
    newer: str,
) -> contract.Module:
    return contract.Module(
        name=module.name,
        kind=module.kind,
        title=module.title,
        about=module.about,
        version=module.version,
        schema_in=module.schema_in.to_text() if module.schema_in else "",
        schema_out=module.schema_out.to_text() if module.schema_out else "",
        transforms=list(module.transforms),
        space=dict(module.space),
        record=record,
        fits=fits,
        archived=module.name in registry.archived,
        superseded_by=newer,
        fault=fault,
        reference=module.reference,
        added=bool(module.source),
        private=module.name in registry.private,
        runtime=module.runtime,
        measure=_measure(module),
        lacks=registry.lacking.get(module.name, ""),
    )


def _measure(module: Module) -> contract.MeasureFacts | None:
    """Return what the values of an objective mean, where its description says so."""
    if not module.measure or why_no_measure(module.measure, unbounded=True):
        return None
    scale = scale_of(module.measure)
    direction = "highest" if scale.best > scale.worst else "lowest"
    low, high = sorted((scale.worst, scale.best))
    unit = "the unit of the target" if scale.in_unit_of_target else ""
    if "costs" in module.takes:
        unit = "the unit of the costs"
    return contract.MeasureFacts(
        best=direction if module.sought else "",
        low=low if isfinite(low) else None,
        high=high if isfinite(high) else None,
        unit=unit,
        needs="probabilities" if scale.needs_probabilities else "labels",
    )


def _records(tx: Transaction) -> dict[str, contract.Record]:
    """Return how each model did in the newest finished tasks of all tenants."""
    trials = finished_trials(tx)
    failed = _failures(tx)
    best: dict[str, float] = {}
    for trial in trials:
        best[trial.job_id] = max(best.get(trial.job_id, trial.quality), trial.quality)
    by_model: defaultdict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_model[trial.candidate.model].append(trial)
    return {
        model: contract.Record(
            tasks=len(by_model[model]) + failed[model],
            failed=failed[model],
            searches=len({trial.job_id for trial in by_model[model]}),
            best=len(
                {trial.job_id for trial in by_model[model] if trial.quality == best[trial.job_id]}
            ),
            seconds=median(trial.cost for trial in by_model[model]) if by_model[model] else None,
        )
        for model in {*by_model, *failed}
    }


def _failures(tx: Transaction) -> Counter[str]:
    tables = tx.unscoped()
    ids = tables.tasks.column("candidate_id", kind=TaskGroup.TRAIN, state=TaskState.FAILED)
    model = dict(tables.candidates.pick("id", "model", id=ids[-500:])) if ids else {}
    return Counter(model[id] for id in ids if id in model)


def _fits(
    tables: Tables, registry: Registry
) -> defaultdict[str, list[contract.FittingApplication]]:
    """Return the tenant's applications that each model or objective fits."""
    found: defaultdict[str, list[contract.FittingApplication]] = defaultdict(list)
    applications = tables.applications.list(limit=None)
    used = [application.version_id for application in applications]
    picked = tables.versions.pick("id", "schema_in", "schema_out", id=used)
    schemas = {id: (schema_in, schema_out) for id, schema_in, schema_out in picked}
    for application in applications:
        schema_in, schema_out = schemas[application.version_id]
        if not schema_out:
            continue
        shown = contract.FittingApplication(id=application.id, name=application.name)
        models = [
            match.module for match in registry.models_for(schema_in, schema_out) if match.fits
        ]
        for module in (*models, *registry.objectives_for(schema_out)):
            found[module.name].append(shown)
    return found
