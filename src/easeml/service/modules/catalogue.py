"""The knowledge base to look at: every module, where it fits, and how it has done."""

import inspect
from collections import Counter, defaultdict
from dataclasses import dataclass
from math import isfinite
from statistics import median

from easeml.contract import knowledge as contract
from easeml.contract.states import ModuleState, TaskGroup, TaskState
from easeml.errors import InvalidInput
from easeml.modules import Accepts, Module, Registry
from easeml.modules.scale import Scale, scale_of, why_no_measure
from easeml.search.optimizers import installed_optimizers
from easeml.search.policies import installed_policies
from easeml.service.access.caller import Caller
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.optimizers import title_of
from easeml.service.knowledge.trials import Trial, finished_trials
from easeml.service.modules import adding, faults, taking_up
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Json
from easeml.version import __version__

_KINDS = ("model", "transform", "objective", "optimizer")
_MOST_FAILURES = 500


def get(store: Store, caller: Caller) -> contract.KnowledgeBase:
    """Return all modules; what other tenants did with them shows in numbers only.

    Of private ones, only a provider sees those of other tenants.
    """
    with store.read() as tx:
        registry = _seen(tx, caller)
        own = registry.seen_by(caller.tenant_id)
        known = _Known(
            registry,
            records=_records(tx),
            fits=_fits(tx.scoped(caller.tenant_id), own),
            faults=faults.known(tx, caller),
            newer=_newer(registry),
        )
        arriving = adding.arriving(tx, caller)
    modules: list[contract.Module] = []
    for kind in _KINDS:
        modules += map(known.show, registry.of_kind(kind))
    problems = [
        *registry.problems,
        *installed_optimizers().problems,
        *installed_policies().problems,
    ]
    return contract.KnowledgeBase(
        modules=[*modules, *_optimizers()], arriving=arriving, problems=problems
    )


def titles(store: Store, caller: Caller) -> contract.Titles:
    """Return the titles of the modules that the caller sees, archived ones as well."""
    with store.read() as tx:
        registry = _seen(tx, caller)
    found = {module.name: module.title for module in registry.modules}
    return contract.Titles(titles=found)


def archive(store: Store, caller: Caller, name: str) -> contract.KnowledgeBase:
    """Let no new search use a module; what uses it goes on, and its trained models stay.

    Providers may, and whose private module it is. One that was added and failed its checks is no
    longer shown. Raises ``NotAllowed``, ``NotFound``, ``InvalidInput`` for a module of another
    kind.
    """
    return _set_archived(store, caller, name, True)


def restore(store: Store, caller: Caller, name: str) -> contract.KnowledgeBase:
    """Let new searches use an archived module again.

    Providers may, and whose private module it is. Raises ``NotAllowed``, ``NotFound``,
    ``InvalidInput`` for a module of another kind.
    """
    return _set_archived(store, caller, name, False)


def _set_archived(
    store: Store, caller: Caller, name: str, archived: bool
) -> contract.KnowledgeBase:
    with store.write() as tx:
        mark = tx.module_marks.find(id=name)
        adding.require_owner(caller, mark)
        has_failed = mark is not None and mark.state == ModuleState.FAILED
        if not has_failed:
            _check_can_be_archived(knowledge_base.current(tx).get(name))
        taking_up.mark(tx, name, archived=archived)
        if not archived and not has_failed:
            tx.module_marks.update(name, error="")  # another trial, whatever it did wrong before
        kind = "module.archived" if archived else "module.restored"
        tx.events.append(kind, name, {"by": caller.user_id}, caller.tenant_id)
    return get(store, caller)


def _check_can_be_archived(module: Module) -> None:
    """Raise ``InvalidInput`` for what is installed and others cannot do without."""
    if module.kind != "model" and not module.source:
        raise InvalidInput("Only models and added modules can be archived.", where=module.name)


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
    shown = []
    for name, optimizer in installed_optimizers().by_name.items():
        module = contract.Module(
            name=name,
            kind="optimizer",
            title=title_of(name),
            about=_first_line(optimizer),
            version=__version__,
        )
        shown.append(module)
    return shown


def _first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _newer(registry: Registry) -> dict[str, str]:
    """Return what has taken the place of archived modules, by the name of the older one."""
    newer: dict[str, str] = {}
    for module in registry.modules:
        gone = registry.archived.intersection(module.replaces)
        newer.update(dict.fromkeys(gone, module.name))
    return newer


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of modules, by their names.

    ``newer``: what has taken the place of an archived one.
    """

    registry: Registry
    records: dict[str, contract.Record]
    fits: dict[str, list[contract.FittingApplication]]
    faults: dict[str, str]
    newer: dict[str, str]

    def show(self, module: Module) -> contract.Module:
        name = module.name
        return contract.Module(
            name=name,
            kind=module.kind,
            title=module.title,
            about=module.about,
            version=module.version,
            schema_in=_text(module.schema_in),
            schema_out=_text(module.schema_out),
            transforms=list(module.transforms),
            space=dict(module.space),
            record=self.records.get(name),
            fits=self.fits.get(name, []),
            archived=name in self.registry.archived,
            superseded_by=self.newer.get(name, ""),
            fault=self.faults.get(name, ""),
            reference=module.reference,
            added=bool(module.source),
            private=name in self.registry.private,
            runtime=module.runtime,
            measure=_measure(module),
            lacks=self.registry.lacking.get(name, ""),
        )


def _text(schema: Accepts | None) -> str:
    return schema.to_text() if schema else ""


def _measure(module: Module) -> contract.MeasureFacts | None:
    """Return what the values of an objective mean, where its description says so."""
    if not module.measure:
        return None
    if why_no_measure(module.measure, unbounded=True):
        return None
    scale = scale_of(module.measure)
    low, high = sorted((scale.worst, scale.best))
    return contract.MeasureFacts(
        best=_best(scale) if module.sought else "",
        low=_finite(low),
        high=_finite(high),
        unit=_unit(module, scale),
        needs="probabilities" if scale.needs_probabilities else "labels",
    )


def _best(scale: Scale) -> str:
    return "highest" if scale.best > scale.worst else "lowest"


def _finite(end: float) -> float | None:
    return end if isfinite(end) else None


def _unit(module: Module, scale: Scale) -> str:
    """Return what the values of an objective are counted in; empty where they have no unit."""
    if "costs" in module.takes:
        return "the unit of the costs"
    if scale.in_unit_of_target:
        return "the unit of the target"
    return ""


def _records(tx: Transaction) -> dict[str, contract.Record]:
    """Return how each model did in the newest finished tasks of all tenants."""
    trials = finished_trials(tx)
    failed = _failures(tx)
    best: dict[str, float] = {}
    by_model: defaultdict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        best[trial.job_id] = max(best.get(trial.job_id, trial.quality), trial.quality)
        by_model[trial.candidate.model].append(trial)
    models = {*by_model, *failed}
    return {model: _record(by_model[model], failed[model], best) for model in models}


def _record(trials: list[Trial], failed: int, best: dict[str, float]) -> contract.Record:
    """Return how a model did. ``best``: the quality of the best model of each search."""
    won = {trial.job_id for trial in trials if trial.quality == best[trial.job_id]}
    return contract.Record(
        tasks=len(trials) + failed,
        failed=failed,
        searches=len({trial.job_id for trial in trials}),
        best=len(won),
        seconds=median(trial.cost for trial in trials) if trials else None,
    )


def _failures(tx: Transaction) -> Counter[str]:
    """Return how many of the newest training tasks failed, by model."""
    tables = tx.unscoped()
    ids = tables.tasks.column("candidate_id", kind=TaskGroup.TRAIN, state=TaskState.FAILED)
    models = dict(tables.candidates.pick("id", "model", id=ids[-_MOST_FAILURES:]))
    return Counter(models[id] for id in ids if id in models)


def _fits(
    tables: Tables, registry: Registry
) -> defaultdict[str, list[contract.FittingApplication]]:
    """Return the tenant's applications that each model or objective fits."""
    found: defaultdict[str, list[contract.FittingApplication]] = defaultdict(list)
    applications = tables.applications.list(limit=None)
    used = [application.version_id for application in applications]
    picked = tables.versions.pick("id", "schema_in", "schema_out", id=used)
    schemas = {id: both for id, *both in picked}
    for application in applications:
        schema_in, schema_out = schemas[application.version_id]
        if not schema_out:
            continue
        shown = contract.FittingApplication(id=application.id, name=application.name)
        for module in _fitting(registry, schema_in, schema_out):
            found[module.name].append(shown)
    return found


def _fitting(registry: Registry, schema_in: Json, schema_out: Json) -> list[Module]:
    """Return the models and objectives that fit data of these schemas."""
    matches = registry.models_for(schema_in, schema_out)
    models = [match.module for match in matches if match.fits]
    return [*models, *registry.objectives_for(schema_out)]
