"""Build an environment: what ``requirements.txt`` of a module names is installed, once."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from easeml.contract.knowledge import Check
from easeml.contract.states import CheckState
from easeml.contract.tasks import GRANT, Spec, TaskResult
from easeml.errors import Conflict, EasemlError
from easeml.service.tasks.kinds import INGEST_SECONDS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.settings import Settings
    from easeml.store import Store, Transaction
    from easeml.store.records import Task

_PIP_SECONDS = 270.0  # less than an attempt may take, so that it is said why it ended


class BuildEnvironmentSpec(Spec):
    """Build an environment: install packages, once for all modules that name the same.

    ``interpreter``: for which Python (``requirements.interpreter``). Output ``environment``, a file.
    """

    kind: Literal["build-environment"] = "build-environment"
    requirements: list[str]
    interpreter: str


class _Granted(BaseModel):
    """What pip may do. ``index``: the setting ``package_index``; ``limit``: most bytes that are
    stored.
    """

    index: str
    limit: int
    seconds: float


def build_environment(spec: BuildEnvironmentSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``environment``; return ``{digest, size, packages}``.

    Raises as ``building.build``, and ``Conflict`` on a machine with another Python.
    """
    handed = inputs.parent / GRANT
    granted = _Granted.model_validate_json(handed.read_bytes())
    handed.unlink()
    out = outputs / "environment"
    _tell(CheckState.RUNNING)
    try:
        packages = _build(spec, granted, out)
    except EasemlError as error:
        _tell(CheckState.FAILED, error.message, error.remedy)
        raise
    with out.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    value = {"digest": digest, "size": out.stat().st_size, "packages": packages}
    return TaskResult(ok=True, value=value, outputs=["environment"])


def _build(spec: BuildEnvironmentSpec, granted: _Granted, out: Path) -> list[str]:
    from easeml.modules.environments import building, requirements

    own = requirements.interpreter()
    if own != spec.interpreter:
        raise Conflict(f"This machine has {own}, and not {spec.interpreter}.", where="interpreter")
    source = building.Source.of(granted.index)
    return building.build(spec.requirements, source, out, granted.limit, granted.seconds)


def _tell(state: CheckState, error: str = "", remedy: str = "") -> None:
    """Print how far it is, as a check of the module that waits for it."""
    from easeml.modules.environments import requirements

    known = {"name": requirements.CHECK, "title": requirements.TITLE}
    check = Check(**known, state=state, error=error, remedy=remedy)
    print(check.model_dump_json(), flush=True)


def grant(store: Store, settings: Settings, task: Task) -> _Granted:
    """Return what pip may do for a tenant."""
    from easeml.service.limits import quotas

    with store.read() as tx:
        left = quotas.storage_left(tx, task.tenant_id)
    limit = settings.upload_limit if left is None else min(left, settings.upload_limit)
    seconds = min(_PIP_SECONDS, settings.task_seconds)
    return _Granted(index=settings.package_index, limit=limit, seconds=seconds)


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Have the modules that wait for it checked."""
    from easeml.service.modules import adding

    adding.go_on(tx, task, digests["environment"])


def failed(tx: Transaction, task: Task) -> None:
    """Let the modules that wait for it fail."""
    from easeml.service.modules import adding

    adding.record_failure(tx, task)


KIND = Kind(
    name="build-environment",
    title="Install packages for a module",
    about="Installs the packages that a folder of programs names, once for all that name the same.",
    group="advise",
    spec=BuildEnvironmentSpec,
    body=build_environment,
    record=record,
    failed=failed,
    outputs=("environment",),
    values=("digest", "size", "packages"),
    seconds=INGEST_SECONDS,
    grant=grant,
)
