"""Adding a module to a running easeml.

A worker checks it; then every search that a model fits goes on with it, and every model that an
objective fits is measured by it. A transform is put before the best models of every search; an
optimizer waits until a provider chooses it for all, or an application for itself.

What is added is a description, never code: it names a class of a package that the provider
installed and trusts.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NoReturn

from pydantic import ValidationError

from easeml.contract.knowledge import LARGEST_MODULE, Check, ModuleChecks, NewModule
from easeml.contract.parameters import OnceKey
from easeml.contract.states import SEARCHED_JOBS, CheckState, ModuleState
from easeml.contract.tasks import TaskResult
from easeml.errors import Conflict, InvalidInput, NotAllowed, NotFound, OverQuota, TooLarge
from easeml.modules import Module, Registry, load_registry
from easeml.search.optimizers import installed_optimizers
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.rules import allowed_models, kept_to
from easeml.service.knowledge.trials import cost_belief, finished_trials
from easeml.service.models import measuring
from easeml.service.modules import images
from easeml.service.search import candidates, jobs, variants
from easeml.service.tasks import logs, requests
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import Job, ModuleMark, Task
from easeml.store.shapes import Shape

KIND = "check-module"
_MODELS_BEHIND = 3  # of a search, that a new transform is put before
MOST_PRIVATE = 20  # modules of a tenant; each is read with the knowledge base
_TRUSTED = ("easeml.zoo", "sklearn", "xgboost", "catboost")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_FILE = "module.toml"


@dataclass(frozen=True, slots=True)
class Checked(Shape):
    """What a task that checks a module brings."""

    checks: list[Check]


def add(
    store: Store,
    settings: Settings,
    caller: Caller,
    wish: NewModule,
    idempotency_key: OnceKey = None,
) -> ModuleChecks:
    """Have a model or an objective checked that will join the knowledge base if it passes (providers only).

    One that is private to the caller's tenant may be added by everybody, if it is a folder of
    programs. Raises ``NotAllowed``, ``TooLarge``, ``InvalidInput`` for a text that describes no
    model of a trusted, installed package, and no folder of programs that are run, ``Conflict`` for a name that
    is taken and for programs where tasks are not confined, ``OverQuota`` for more private modules
    than a tenant may have. What has failed may be added anew under the same name.
    """
    if not (wish.private or caller.is_provider):
        raise NotAllowed(
            "Only a provider of this easeml adds modules for everybody.",
            remedy="Add a folder of programs with --private, for your tenant alone.",
        )
    owner = caller.tenant_id if wish.private else ""
    if len(wish.toml.encode()) > LARGEST_MODULE:
        raise TooLarge(f"A module file has at most {LARGEST_MODULE:,} bytes.", where=_FILE)
    once = Once(caller, "modules", idempotency_key, wish)
    trusted = _trusted(settings)
    source = images.whole_text(store, caller, wish, settings.upload_limit)
    module = knowledge_base.read_added(source)
    _check_kind(module)
    if module.kind == "optimizer":
        _check_optimizer(module)
    if module.is_programs:
        _check_isolation(settings)
    elif wish.private:
        raise InvalidInput(
            "Only a folder of programs can be private: programs run confined.",
            where=f"{_FILE}: runtime",
            remedy="Begin with `easeml module init`, or ask a provider to add the class.",
        )
    else:
        _check_trust(module, trusted)
    with store.read() as tx:
        if once.earlier(tx) is None:
            _check_new(tx, module, owner)
    size = images.keep(store, caller, module, wish.image_upload, settings.upload_limit)
    with store.write() as tx:
        if earlier := once.earlier(tx):
            return _show(tx, tx.module_marks.get(earlier["name"]), b"")
        _check_new(tx, module, owner)
        images.refer(tx, caller, module, size)
        task = requests.request(
            tx, caller.tenant_id, KIND, module.name, source=source, trusted=trusted
        )
        mark = _mark(
            tx,
            module.name,
            source=source,
            state=ModuleState.CHECKING,
            task_id=task.id,
            error="",
            archived=False,
            tenant_id=owner,
        )
        tx.events.append("module.checking", module.name, {"by": caller.user_id}, caller.tenant_id)
        once.remember(tx, {"name": module.name})
        shown = _show(tx, mark, b"")
    return shown.model_copy(update={"isolation": settings.isolation})


def checks(store: Store, settings: Settings, caller: Caller, name: str) -> ModuleChecks:
    """Return how far the checks of an added model are (providers, and whose it is alone).

    Raises ``NotAllowed``, ``NotFound``.
    """
    with store.read() as tx:
        mark = tx.module_marks.find(id=name)
        if not owns(caller, mark):
            caller.require_provider()
        if mark is None or not mark.state:
            raise NotFound(f"No module {name!r} was added here.", where=name)
        attempt = tx.unscoped().attempts.list(task_id=mark.task_id, newest_first=True, limit=1)
        text = logs.printed(store, settings.home / "work", attempt[0]) if attempt else b""
        shown = _show(tx, mark, text)
    return shown.model_copy(update={"isolation": settings.isolation})


def owns(caller: Caller, mark: ModuleMark | None) -> bool:
    """Is this module private to the caller's tenant?"""
    return mark is not None and mark.tenant_id == caller.tenant_id


def arriving(tx: Transaction, caller: Caller) -> list[ModuleChecks]:
    """Return what is being checked and what failed, the newest first, without single checks.

    A provider sees all, everybody else what is private to their tenant.
    """
    seen: dict[str, Any] = {} if caller.is_provider else {"tenant_id": caller.tenant_id}
    found = tx.module_marks.list(
        state=[ModuleState.CHECKING, ModuleState.FAILED], archived=False, limit=None, **seen
    )
    return [_show(tx, mark, b"") for mark in sorted(found, key=lambda mark: -mark.created)]


def record(tx: Transaction, task: Task, result: TaskResult) -> None:
    """Take in a module whose checks all passed, and use it wherever it fits."""
    checks = Checked.from_json(result.value).checks
    failed = [check for check in checks if check.state != CheckState.PASSED]
    if failed:
        _fail(tx, task, failed[0].error)
        return
    tx.module_marks.update(task.subject, state=ModuleState.READY)
    tx.events.append("module.ready", task.subject, {}, task.tenant_id)
    _take_up(tx, task.subject)


def share(tx: Transaction, caller: Caller, mark: ModuleMark) -> None:
    """Make a private module everybody's. Raises ``Conflict`` unless it has passed its checks."""
    if mark.state != ModuleState.READY:
        raise Conflict(
            f"The module {mark.id} is {mark.state}; only what passed its checks can be shared.",
            where=mark.id,
        )
    tx.module_marks.update(mark.id, tenant_id="")
    tx.events.append("module.shared", mark.id, {"by": caller.user_id}, mark.tenant_id)
    tx.events.append("module.ready", mark.id, {}, caller.tenant_id)  # searches hear of it by this
    _take_up(tx, mark.id)


def record_failure(tx: Transaction, task: Task) -> None:
    """Note that the checks did not come to an end.

    The class hangs, crashes or takes too much memory.
    """
    _fail(tx, task, task.error)


def _trusted(settings: Settings) -> list[str]:
    """Return the packages that a class may come from.

    They are those of every easeml, those that the installed modules need, as who installed these
    has trusted them, and those of the settings.
    """
    of_modules = [name.partition(".")[0] for name in load_registry().libraries]
    of_settings = [name.strip() for name in settings.module_packages.split(",") if name.strip()]
    return list(dict.fromkeys([*_TRUSTED, *of_modules, *of_settings]))


def _check_isolation(settings: Settings) -> None:
    """Raise ``Conflict`` unless the provider has tasks confined: programs are anybody's code."""
    if settings.isolation == "none":
        raise Conflict(
            "This service takes no programs: its isolation level is none.",
            where="isolation",
            remedy="Ask the provider to start it with --isolation process.",
        )


def _check_kind(module: Module) -> None:
    """Raise ``InvalidInput`` for a kind that cannot be added, and a name that is none."""
    if module.kind != "model" and not module.is_programs:
        raise InvalidInput(
            f"This is a {module.kind} that is a class: only models can be added so.",
            where=f"{_FILE}: kind",
            remedy="Install its package, or write it as a folder of programs.",
        )
    if not _NAME.fullmatch(module.name):
        raise InvalidInput(
            "The name has lower-case letters, digits and dashes.", where=f"{_FILE}: name"
        )


def _check_optimizer(module: Module) -> None:
    """Raise ``Conflict`` for an optimizer with the name of an installed one."""
    if module.name == "default" or module.name in installed_optimizers().by_name:
        _refuse_name(module, "")


def _check_trust(module: Module, trusted: list[str]) -> None:
    """Raise ``InvalidInput`` unless the class is of an installed, trusted package.

    Nothing is imported.
    """
    package = module.entry.partition(":")[0]
    if not any(package == one or package.startswith(f"{one}.") for one in trusted):
        remedy = f"Name a class of {', '.join(trusted)}; the setting module_packages names more."
        raise InvalidInput(
            f"The package of {module.entry} is not trusted.", where=f"{_FILE}: entry", remedy=remedy
        )
    top = package.partition(".")[0]
    if find_spec(top) is None:
        remedy = f"Install {top} on every machine with a worker, or name another class."
        raise InvalidInput(
            f"The package {top} is not installed.", where=f"{_FILE}: entry", remedy=remedy
        )


def _check_new(tx: Transaction, module: Module, owner: str) -> None:
    """Raise ``Conflict`` for a name that is taken, ``OverQuota`` for one private module too many.

    ``owner``: the tenant it will be private to; empty: it will be everybody's. Raises
    ``InvalidInput`` for transforms that do not exist, and for what it cannot replace.
    """
    registry = knowledge_base.current(tx)
    mark = tx.module_marks.find(id=module.name)
    if mark is not None and mark.tenant_id != owner:
        _refuse_name(module, "")  # no more is said of it: whoever asks may not see it
    same = next((one for one in registry.modules if one.name == module.name), None)
    if same is not None:
        _refuse_name(module, f" {same.version}")
    if mark is not None and mark.state in (ModuleState.CHECKING, ModuleState.READY):
        _refuse_name(module, ", which is being checked")
    if mark is None and owner and tx.module_marks.count(tenant_id=owner) >= MOST_PRIVATE:
        raise OverQuota(
            f"A tenant may have {MOST_PRIVATE} private modules, archived and failed ones as well.",
            where=f"{_FILE}: name",
            remedy="Mend one that failed, or ask a provider to add this one for everybody.",
        )
    for name in module.replaces:
        _check_replaced(registry, module, name, owner)
    known = {one.name for one in registry.of_kind("transform")}
    for name in module.transforms:
        if name not in known:
            remedy = knowledge_base.likely(name, known)
            raise InvalidInput(
                f"There is no transform {name!r}.", where=f"{_FILE}: transforms", remedy=remedy
            )


def _check_replaced(registry: Registry, module: Module, name: str, owner: str) -> None:
    """Raise ``InvalidInput`` unless a new module may replace another: of its kind and its owner."""
    seen = registry.seen_by(owner) if owner else registry
    older = next((one for one in seen.modules if one.name == name), None)
    is_fixed = older is not None and older.kind == "objective" and not older.source
    is_another = older is None or older.kind != module.kind
    if is_another or is_fixed or registry.private.get(name, "") != owner:
        whose = "private to your tenant" if owner else "everybody's"
        raise InvalidInput(
            f"There is no {module.kind} {name!r} that this one can replace.",
            where=f"{_FILE}: replaces",
            remedy=f"Name a {module.kind} that is {whose}.",
        )


def _refuse_name(module: Module, which: str) -> NoReturn:
    raise Conflict(
        f"There is a module {module.name}{which} already.",
        where=f"{_FILE}: name",
        remedy="Give the new one another name, such as NAME-v2, and write replaces = ['NAME'] to have "
        "it take the place of the old one.",
    )


def _mark(tx: Transaction, name: str, **changes: Any) -> ModuleMark:
    if tx.module_marks.find(id=name) is None:
        tx.module_marks.add(ModuleMark(name))
    return tx.module_marks.update(name, **changes)


def _fail(tx: Transaction, task: Task, error: str) -> None:
    tx.module_marks.update(task.subject, state=ModuleState.FAILED, error=error)
    tx.events.append("module.failed", task.subject, {"error": error}, task.tenant_id)


def _take_up(tx: Transaction, name: str) -> None:
    """Let open searches go on with a new model, or measure what is trained by a new objective."""
    registry = knowledge_base.current(tx)
    module = registry.get(name)
    for older in module.replaces:
        _mark(tx, older, archived=True)
        tx.events.append("module.archived", older, {"by": name}, registry.private.get(name, ""))
    if module.kind == "objective":
        measuring.request(tx, registry, module)
    if module.kind == "model":
        _join_searches(tx, registry, module)
    if module.kind == "transform":
        _put_before_models(tx, registry, module)


def _put_before_models(tx: Transaction, registry: Registry, transform: Module) -> None:
    """Let open searches go on with their best models behind a new transform.

    Those that have no result yet do so when they have.
    """
    costs = cost_belief(registry, finished_trials(tx))
    owner = registry.private.get(transform.name)
    seen: dict[str, Any] = {} if owner is None else {"tenant_id": owner}
    for job in tx.unscoped().jobs.list(state=SEARCHED_JOBS, limit=None, **seen):
        models = variants.best_models(tx, job, _MODELS_BEHIND)
        if variants.add_variants(tx, registry, job, models, costs):
            _tell_owner(tx, transform, job)


def _tell_owner(tx: Transaction, module: Module, job: Job) -> None:
    data = {
        "model": module.name,
        "title": module.title,
        "job_id": job.id,
        "application_id": job.application_id,
    }
    tx.events.append("application.new-model", job.application_id, data, job.tenant_id)


def _join_searches(tx: Transaction, registry: Registry, model: Module) -> None:
    name = model.name
    costs = cost_belief(registry, finished_trials(tx))
    owner = registry.private.get(name)
    seen: dict[str, Any] = {} if owner is None else {"tenant_id": owner}
    for job in tx.unscoped().jobs.list(state=SEARCHED_JOBS, limit=None, **seen):
        tables = tx.scoped(job.tenant_id)
        application = tables.applications.get(job.application_id)
        version, newest = tables.versions.get(job.version_id), jobs.current(tables, application.id)
        rules = application.rules
        match = registry.match(model, version.schema_in, version.schema_out)
        if newest != job or not allowed_models([kept_to(match, rules)], rules):
            continue
        candidates.add_model(tx, registry, application, job, name, costs)
        _tell_owner(tx, model, job)


def _checks(task: Task, printed: bytes) -> list[Check]:
    """Return the checks of a model that is being added.

    They are what the task brought, or, while there is no result, what it has printed.
    """
    if task.result:
        return Checked.from_json(task.result).checks
    found: dict[str, Check] = {}
    for line in printed.splitlines():
        with suppress(ValidationError):  # what the class itself prints
            check = Check.model_validate_json(line)
            found[check.name] = check
    return list(found.values())


def _show(tx: Transaction, mark: ModuleMark, printed: bytes) -> ModuleChecks:
    tables = tx.unscoped()
    return ModuleChecks(
        name=mark.id,
        module_kind=knowledge_base.read_added(mark.source).kind,
        private=mark.tenant_id != "",
        state=mark.state,
        checks=_checks(tables.tasks.get(mark.task_id), printed),
        error=mark.error,
        toml=mark.source,
        task_id=mark.task_id,
        joined=len(variants.jobs_with(tx, mark.id)),
        created=mark.created,
    )
