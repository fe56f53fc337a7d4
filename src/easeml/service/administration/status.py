"""The service in a few numbers."""

from easeml.contract.states import ProcessState, TaskState
from easeml.contract.status import Process as ProcessAnswer
from easeml.contract.status import Status
from easeml.modules.containers import engines
from easeml.service.access.caller import Caller
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Process
from easeml.version import __version__


def get(store: Store, settings: Settings, caller: Caller) -> Status:
    """Return the running processes and the counts of the caller's tenant.

    Only a provider sees hosts, process ids, and what the service is made of.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        processes = tx.processes.list(state=ProcessState.RUNNING, limit=None)
        tasks: dict[str, int] = dict.fromkeys(TaskState, 0)
        tasks.update(tables.tasks.count_by("state"))
        database = containers = isolation = ""
        if caller.is_provider:
            database, containers = store.describe(), engines.described()
            isolation = settings.isolation
        return Status(
            version=__version__,
            database=database,
            containers=containers,
            isolation=isolation,
            processes=[_show(process, caller.is_provider) for process in processes],
            tasks=tasks,
            applications=tables.applications.count(deleted=None),
        )


def _show(process: Process, whole: bool) -> ProcessAnswer:
    pid, host = (process.pid, process.host) if whole else (0, "")
    return ProcessAnswer(
        id=process.id,
        kind=process.kind,
        pid=pid,
        host=host,
        state=process.state,
        heartbeat=process.heartbeat,
        created=process.created,
    )
