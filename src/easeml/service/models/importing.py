"""Models that were trained elsewhere: files that become models of an application.

What is imported is judged on the validation rows as models of a search are, and is promoted through
the same gates. It belongs to the newest search of the data's version in use; it is never fitted
again, and no member of an ensemble.
"""

import re
from collections.abc import Mapping
from pathlib import PurePath

from easeml.contract.task_views import Task as TaskAnswer
from easeml.contract.tasks import TaskResult
from easeml.errors import Conflict, InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.limits import quotas
from easeml.service.models import kept_models
from easeml.service.storage import uploads
from easeml.service.tasks import requests, task_views
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, Job, Task

KIND = "import-model"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_. -]{0,63}")
_STRANGE = re.compile(r"[^A-Za-z0-9_. -]+")


def request(
    store: Store,
    caller: Caller,
    application_id: str,
    filename: str,
    name: str,
    source: uploads.Source,
    idempotency_key: str | None,
    limit: int,
) -> TaskAnswer:
    """Keep the bytes of ``source``, and have them read as a model of the application, by a task.

    ``name``: of the model; empty: that of the file. At most ``limit`` bytes are taken. Raises
    ``NotFound``, ``InvalidInput`` for a name or an empty file, ``Conflict`` where the data was
    never searched, and what ``uploads.keep`` and ``quotas.check_computing`` raise.
    """
    filename = PurePath(filename.replace("\\", "/")).name.strip() or "model"
    name = _checked_name(name or _STRANGE.sub("-", PurePath(filename).stem)[:64])
    with store.read() as tx:  # before a large file is taken
        tables = tx.scoped(caller.tenant_id)
        _newest_job(tables, tables.applications.get(application_id))
    digest, size = uploads.keep(store, caller, source, limit)
    if size == 0:
        raise InvalidInput("The file is empty.", where=filename, remedy="Give a model's file.")
    asked = {"application": application_id, "filename": filename, "file": digest, "name": name}
    once = Once(caller, KIND, idempotency_key, asked)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        if earlier := once.earlier(tx):
            return task_views.show_all(tables, [tables.tasks.get(earlier["id"])])[0]
        quotas.check_computing(tx, caller.tenant_id)
        application = tables.applications.get(application_id)
        job = _newest_job(tables, application)
        version = tables.versions.get(job.version_id)
        uploads.refer(tx, caller.tenant_id, digest, size)
        task = requests.request(
            tx,
            caller.tenant_id,
            KIND,
            application_id,
            job_id=job.id,
            max_attempts=1,
            name=name,
            filename=filename,
            source=digest,
            objective=application.objective,
            schema_in=version.schema_in,
            schema_out=version.schema_out,
            measures=application.rules.measures,
        )
        once.remember(tx, {"id": task.id})
        return task_views.show_all(tables, [task])[0]


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep what was imported as a trained model; the scheduler considers it as any other."""
    kept_models.keep(tx, task, result, digests, str(result.value["name"]))


def _checked_name(name: str) -> str:
    if _NAME.fullmatch(name):
        return name
    remedy = "Use up to 64 letters, digits, spaces, dots, lines and underscores."
    raise InvalidInput("This is not the name of a model.", where="name", remedy=remedy)


def _newest_job(tables: Tables, application: Application) -> Job:
    """Return the newest search of the application's data. Raises ``Conflict``."""
    version = tables.versions.get(application.version_id)
    job = tables.jobs.newest(application_id=application.id, version_id=version.id)
    if job is not None and version.artefact:
        return job
    raise Conflict(
        "The data of the application is not ready yet.",
        where=application.id,
        remedy="Wait until its search has begun: easeml app show.",
    )
