"""Trials of other programs, of which the search of an application learns.

What a task read of a file stays in its result, and the rules of the application name the task. It
teaches the searches of this application alone: nobody can mislead another tenant's by it. The runs
are those of a job of their own, so their level and scale may differ from those of the search.
"""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePath
from typing import Any

from easeml.contract.states import JobState
from easeml.contract.task_views import Task as TaskAnswer
from easeml.contract.tasks import TaskResult
from easeml.errors import Conflict, InvalidInput, NotFound
from easeml.modules import Registry
from easeml.search import spaces
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.rules import allowed_models, matching, space_of
from easeml.service.knowledge.trials import cost_belief, finished_trials
from easeml.service.limits import quotas
from easeml.service.search.candidates import extend
from easeml.service.storage import uploads
from easeml.service.tasks import requests, task_views
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Job, Json, Task
from easeml.store.shapes import ModuleConfig, Rules, Shape

KIND = "import-history"
_MOST = 10  # of an application
_TRIED = 3  # configurations of a history that become candidates, the best


@dataclass(frozen=True, slots=True)
class Asked:
    """How a file is to be read; empty: as it says itself.

    ``model``: of ours, where the trials name none; ``study``: its name; ``value``: the column that
    says how good a trial was; ``direction``: which of its values are better.
    """

    model: str = ""
    study: str = ""
    value: str = ""
    direction: str = ""


@dataclass(frozen=True, slots=True)
class _Run(Shape):
    """A trial that was taken."""

    model: str
    config: Json
    quality: float


@dataclass(frozen=True, slots=True)
class _Read(Shape):
    """What a task read of a file."""

    taken: list[_Run] = field(default_factory=list)


def request(
    store: Store,
    caller: Caller,
    application_id: str,
    filename: str,
    asked: Asked,
    source: uploads.Source,
    idempotency_key: str | None,
    limit: int,
) -> TaskAnswer:
    """Keep the bytes of ``source``, and have them read as history of the application, by a task.

    Raises ``NotFound``, ``Conflict`` where the data is not ready, ``InvalidInput`` for an empty file
    or a model that is none of the application's, and what ``uploads.keep`` and
    ``quotas.check_computing`` raise.
    """
    filename = PurePath(filename.replace("\\", "/")).name.strip() or "history"
    with store.read() as tx:  # before a large file is taken
        _models(tx, tx.scoped(caller.tenant_id), application_id, asked.model)
    digest, size = uploads.keep(store, caller, source, limit)
    if size == 0:
        raise InvalidInput("The file is empty.", where=filename, remedy="Give a study, or a log.")
    told = {"application": application_id, "filename": filename, "file": digest, **asdict(asked)}
    once = Once(caller, KIND, idempotency_key, told)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        if earlier := once.earlier(tx):
            return task_views.show_all(tables, [tables.tasks.get(earlier["id"])])[0]
        quotas.check_computing(tx, caller.tenant_id)
        models = _models(tx, tables, application_id, asked.model)
        uploads.refer(tx, caller.tenant_id, digest, size)
        task = requests.request(
            tx,
            caller.tenant_id,
            KIND,
            application_id,
            max_attempts=1,
            filename=filename,
            source=digest,
            models=models,
            **asdict(asked),
        )
        once.remember(tx, {"id": task.id})
        return task_views.show_all(tables, [task])[0]


def record(tx: Transaction, task: Task, result: TaskResult) -> None:
    """Let the searches of the application learn from what was read, the running one at once."""
    tables = tx.scoped(task.tenant_id)
    application = tables.applications.get(task.subject)
    histories = [*application.rules.histories, task.id][-_MOST:]
    rules = replace(application.rules, histories=histories)
    tables.applications.update(application.id, rules=rules)
    registry = knowledge_base.current(tx)
    read = list(map(_Run.from_json, result.value["taken"]))
    searched = [JobState.RUNNING, JobState.RESTING]
    for job in tables.jobs.list(application_id=application.id, state=searched, limit=None):
        _try_best(tx, registry, job, _best(read, registry))
        tx.events.append("job.history", job.id, {"trials": len(read)}, job.tenant_id)


def runs(tables: Tables, registry: Registry, rules: Rules) -> list[list[Any]]:
    """Return the history of an application as the search learns from it, as JSON.

    One run: the study, the model, the features of its configuration, its quality. Runs whose model
    is gone or has another space by now are left out.
    """
    told: list[list[Any]] = []
    for study, one in _read_runs(tables, rules):
        with suppress(NotFound, InvalidInput):
            space = registry.get(one.model).space
            features = list(spaces.features(space, one.config))
            told.append([study, one.model, features, one.quality])
    return told


def best(tables: Tables, registry: Registry, rules: Rules) -> list[ModuleConfig]:
    """Return the configurations of a history that did best, to be tried as candidates."""
    return _best([one for _, one in _read_runs(tables, rules)], registry)


def _best(read: Sequence[_Run], registry: Registry) -> list[ModuleConfig]:
    found: list[ModuleConfig] = []
    for one in sorted(read, key=lambda one: -one.quality):
        with suppress(NotFound, InvalidInput):
            space = registry.get(one.model).space
            chosen = ModuleConfig(one.model, spaces.complete(space, one.config))
            if chosen not in found:
                found.append(chosen)
        if len(found) == _TRIED:
            break
    return found


def _try_best(tx: Transaction, registry: Registry, job: Job, best: Sequence[ModuleConfig]) -> None:
    """Add configurations to a search, of the models that it has."""
    configs: defaultdict[str, list[Json]] = defaultdict(list)
    for one in best:
        configs[one.module].append(one.config)
    if configs:
        extend(tx, registry, job, configs, cost_belief(registry, finished_trials(tx)))


def _read_runs(tables: Tables, rules: Rules) -> list[tuple[str, _Run]]:
    """Return the runs of all histories, each with its study."""
    results = dict(tables.tasks.pick("id", "result", id=rules.histories))
    found = []
    for id in rules.histories:
        if id in results:
            read = _Read.from_json(results[id])
            found += [(id, run) for run in read.taken]
    return found


def _models(tx: Transaction, tables: Tables, application_id: str, asked: str) -> dict[str, Json]:
    """Return the spaces of the models that an application may have, by name.

    Raises ``NotFound``, ``Conflict`` where its data is not ready, and ``InvalidInput`` where
    ``asked`` is none of them.
    """
    application = tables.applications.get(application_id)
    version = tables.versions.get(application.version_id)
    if not version.schema_in:
        raise Conflict(
            "The data of the application is not ready yet.",
            where=application_id,
            remedy="Wait until its search has begun: easeml app show.",
        )
    registry = knowledge_base.current(tx).seen_by(application.tenant_id)
    matches = matching(registry, version.schema_in, version.schema_out, application.rules)
    found: dict[str, Json] = {}
    for match in allowed_models(matches, application.rules):
        space = space_of(match.module, application.rules)
        if space is not None:
            found[match.module.name] = space
    if asked:
        message = f"The application has no model {asked!r}."
        knowledge_base.check_known(asked, found, message, "model")
    return found
