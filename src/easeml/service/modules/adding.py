"""Adding a module to a running easeml.

A worker checks it; then every search that a model fits goes on with it, and every model that an
objective fits is measured by it. A transform is put before the best models of every search; an
optimizer waits until a provider chooses it for all, or an application for itself.

What is added is a description, never code: it names a class of a package that the provider
installed and trusts.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import ValidationError

from easeml.contract.knowledge import Check, ModuleChecks, NewModule
from easeml.contract.parameters import OnceKey
from easeml.contract.states import CheckState, ModuleState
from easeml.contract.tasks import TaskResult
from easeml.errors import Conflict, NotFound
from easeml.modules import Module, packed
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.knowledge import gpus, knowledge_base
from easeml.service.modules import admission, environments, images, surroundings, taking_up
from easeml.service.search import variants
from easeml.service.tasks import logs, requests
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import ModuleMark, Task
from easeml.store.shapes import Shape

KIND = "check-module"


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
    admission.check_wish(caller, wish)
    once = Once(caller, "modules", idempotency_key, wish)
    trusted = admission.trusted_packages(settings)
    source = images.whole_text(store, caller, wish, settings.upload_limit)
    module = knowledge_base.read_added(source)
    surroundings.check_unnamed(module)
    admission.check_module(module, settings, trusted, is_private=wish.private)
    owner = caller.tenant_id if wish.private else ""
    with store.read() as tx:  # before a large image is taken
        if once.earlier(tx) is None:
            admission.check_new(tx, module, owner)
            gpus.check(tx, module)
    size = images.keep(store, caller, module, wish.image_upload, settings.upload_limit)
    with store.write() as tx:
        if earlier := once.earlier(tx):
            return _show(tx, tx.module_marks.get(earlier["name"]), b"")
        admission.check_new(tx, module, owner)
        images.refer(tx, caller, module, size)
        begun = _begin(tx, caller.tenant_id, module, trusted)
        mark = taking_up.mark(
            tx,
            module.name,
            state=ModuleState.CHECKING,
            error="",
            archived=False,
            tenant_id=owner,
            **begun,
        )
        tx.events.append("module.checking", module.name, {"by": caller.user_id}, caller.tenant_id)
        once.remember(tx, {"name": module.name})
        shown = _show(tx, mark, b"")
    return shown.model_copy(update={"isolation": settings.isolation})


def _begin(tx: Transaction, tenant_id: str, module: Module, trusted: list[str]) -> dict[str, str]:
    """Have a module checked; or first have the packages installed that it needs, if they are not yet.

    Returns its text, and the id of the task. Raises ``InvalidInput`` for packages that cannot be
    named so.
    """
    source = module.source
    if module.needs_packages:
        digest = environments.known(tx, tenant_id, module)
        if not digest:
            building = environments.have_built(tx, tenant_id, module)
            return {"source": source, "task_id": building.id}
        source = packed.with_environment(source, digest)
    name = module.name
    task = requests.request(tx, tenant_id, KIND, name, source=source, trusted=trusted)
    return {"source": source, "task_id": task.id}


def go_on(tx: Transaction, built: Task, digest: str) -> None:
    """Have the modules checked that waited for packages, which are stored by now."""
    for mark in tx.module_marks.list(task_id=built.id, limit=None):
        source = packed.with_environment(mark.source, digest)
        request = partial(requests.request, tx, built.tenant_id, KIND, mark.id)
        task = request(source=source, trusted=[])  # packages of classes: there are none
        tx.module_marks.update(mark.id, source=source, task_id=task.id)


def checks(store: Store, settings: Settings, caller: Caller, name: str) -> ModuleChecks:
    """Return how far the checks of an added model are (providers, and whose it is alone).

    Raises ``NotAllowed``, ``NotFound``.
    """
    with store.read() as tx:
        mark = tx.module_marks.find(id=name)
        require_owner(caller, mark)
        if mark is None or not mark.state:
            raise NotFound(f"No module {name!r} was added here.", where=name)
        attempt = tx.unscoped().attempts.newest(task_id=mark.task_id)
        text = logs.printed(store, settings.home / "work", attempt) if attempt else b""
        shown = _show(tx, mark, text)
    return shown.model_copy(update={"isolation": settings.isolation})


def require_owner(caller: Caller, mark: ModuleMark | None) -> None:
    """Raise ``NotAllowed`` for everybody but a provider, and whose private module it is."""
    if mark is None or mark.tenant_id != caller.tenant_id:
        caller.require_provider()


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
    for check in checks:
        if check.state != CheckState.PASSED:
            _fail(tx, task, check.error)
            return
    tx.module_marks.update(task.subject, state=ModuleState.READY)
    tx.events.append("module.ready", task.subject, {}, task.tenant_id)
    taking_up.take_up(tx, task.subject)


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
    taking_up.take_up(tx, mark.id)


def record_failure(tx: Transaction, task: Task) -> None:
    """Note that the checks did not come to an end, or that packages could not be installed.

    The class hangs, crashes or takes too much memory.
    """
    _fail(tx, task, task.error)


def _fail(tx: Transaction, task: Task, error: str) -> None:
    for mark in tx.module_marks.list(task_id=task.id, limit=None):
        tx.module_marks.update(mark.id, state=ModuleState.FAILED, error=error)
        tx.events.append("module.failed", mark.id, {"error": error}, task.tenant_id)


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
