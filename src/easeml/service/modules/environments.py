"""Packages of modules: built by a task, kept as artefacts, and laid out where they are needed."""

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from easeml.contract.states import TASKS_UNDER_WAY, TaskGroup, TaskState
from easeml.errors import NotFound
from easeml.modules import Module
from easeml.modules.environments import placing, requirements
from easeml.service.modules import images, surroundings
from easeml.service.storage import artefact_references
from easeml.service.tasks import requests
from easeml.store import Store, Transaction
from easeml.store.records import Task
from easeml.store.shapes import Shape

KIND = "build-environment"


@dataclass(frozen=True, slots=True)
class _Built(Shape):
    """What the task tells that has built one; ``size``: bytes of the artefact."""

    digest: str
    size: int


def known(tx: Transaction, tenant_id: str, module: Module) -> str:
    """Return the digest of an environment that the tenant has stored already; empty: it has none."""
    for task in _builds(tx, tenant_id, module, (TaskState.DONE,)):
        built = _Built.from_json(task.result)
        if tx.scoped(tenant_id).artefacts.find(digest=built.digest) is not None:
            artefact_references.keep(tx, tenant_id, built.digest, built.size)
            return built.digest
    return ""


def have_built(tx: Transaction, tenant_id: str, module: Module) -> Task:
    """Return the task that builds what a module needs: one that waits or runs, or a new one."""
    under_way = _builds(tx, tenant_id, module, TASKS_UNDER_WAY)
    if under_way:
        return under_way[0]
    return requests.request(
        tx,
        tenant_id,
        KIND,
        _key(module),
        requirements=requirements.read(module.files),
        interpreter=requirements.interpreter(),
    )


def _builds(
    tx: Transaction, tenant_id: str, module: Module, states: tuple[TaskState, ...]
) -> list[Task]:
    tables = tx.scoped(tenant_id)
    found = tables.tasks.list(kind=TaskGroup.ADVISE, subject=_key(module), state=states, limit=None)
    return [task for task in found if task.spec_kind == KIND]


def _key(module: Module) -> str:
    return requirements.key_of(requirements.read(module.files), requirements.interpreter())


@dataclass(frozen=True, slots=True)
class MachineEnvironments:
    """The environments that are laid out on this machine for tasks, below its home."""

    store: Store
    home: Path

    def provide(self, tenant_id: str, texts: bytes, folder: Path | None = None) -> dict[str, str]:
        """Lay out the environments that ``texts`` name and a tenant may use: name -> where it is.

        ``folder``: below which; by default where tasks find them. Raises as ``placing.lay_out``, and
        ``NotFound`` for one that is not stored.
        """
        target = folder or self._own
        with self.store.read() as tx:
            usable = surroundings.usable(tx, tenant_id, texts)
        found = {}
        for one in sorted(filter(placing.is_environment, usable)):
            found[one] = str(placing.lay_out(one, target, partial(self._fetch, one)))
        return found

    def of_model(
        self, tenant_id: str, model: Path, objective_source: str, folder: Path
    ) -> dict[str, str]:
        """Lay out below ``folder`` what a tenant's trained model needs; see ``provide``.

        ``model``: its files; ``objective_source``: the text of an objective that is not installed.
        """
        return self.provide(tenant_id, images.texts_of_model(model, objective_source), folder)

    def remove_unneeded(self) -> None:
        """Remove what no module needs any more: see ``surroundings.in_use``."""
        if not self._own.is_dir():
            return
        with self.store.read() as tx:
            needed = surroundings.in_use(tx)
        kept = {one.removeprefix(placing.BY_DIGEST) for one in needed}
        for place in self._own.iterdir():
            if place.name not in kept:
                shutil.rmtree(place, ignore_errors=True)

    @property
    def _own(self) -> Path:
        return self.home.resolve() / "environments"

    def _fetch(self, reference: str, path: Path) -> None:
        digest = reference.removeprefix(placing.BY_DIGEST)
        with self.store.read() as tx:
            kept = tx.unscoped().artefacts.find(digest=digest)
        if kept is None:
            raise NotFound("The packages of this module are no longer stored.", where=digest)
        self.store.artefacts.fetch(kept.tenant_id, digest, path)
