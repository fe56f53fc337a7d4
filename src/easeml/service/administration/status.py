"""The service in a few numbers."""

import easeml
from easeml.contract import resources
from easeml.contract.states import ProcessState, TaskState
from easeml.service.access.caller import Caller
from easeml.store import Store
from easeml.store.records import Process


def get(store: Store, caller: Caller) -> resources.Status:
    """Return the running processes and the counts of the caller's tenant; only a provider sees
    hosts and pids.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        processes = tx.processes.list(state=ProcessState.RUNNING, limit=None)
        return resources.Status(
            version=easeml.__version__,
            database=store.describe() if caller.is_provider else "",
            processes=[_show(process, caller.is_provider) for process in processes],
            tasks={state: tables.tasks.count(state=state) for state in TaskState},
            applications=tables.applications.count(),
        )


def _show(process: Process, whole: bool) -> resources.Process:
    return resources.Process(
        id=process.id,
        kind=process.kind,
        pid=process.pid if whole else 0,
        host=process.host if whole else "",
        state=process.state,
        heartbeat=process.heartbeat,
        created=process.created,
    )
