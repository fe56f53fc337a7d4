"""The service in a few numbers."""

from easeml.contract.states import ProcessState, TaskState
from easeml.contract.status import Process as ProcessAnswer
from easeml.contract.status import Status
from easeml.modules.containers import engines
from easeml.service.access.caller import Caller
from easeml.store import Store
from easeml.store.records import Process
from easeml.version import __version__


def get(store: Store, caller: Caller) -> Status:
    """Return the running processes and the counts of the caller's tenant.

    Only a provider sees hosts and process ids.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        processes = tx.processes.list(state=ProcessState.RUNNING, limit=None)
        return Status(
            version=__version__,
            database=store.describe() if caller.is_provider else "",
            containers=engines.described() if caller.is_provider else "",
            processes=[_show(process, caller.is_provider) for process in processes],
            tasks={state: tables.tasks.count(state=state) for state in TaskState},
            applications=tables.applications.count(deleted=None),
        )


def _show(process: Process, whole: bool) -> ProcessAnswer:
    return ProcessAnswer(
        id=process.id,
        kind=process.kind,
        pid=process.pid if whole else 0,
        host=process.host if whole else "",
        state=process.state,
        heartbeat=process.heartbeat,
        created=process.created,
    )
