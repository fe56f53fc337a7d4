"""Whether the service can do its whole work now: storage, scheduler, workers and predictor."""

from easeml.contract.states import ProcessKind, ProcessState
from easeml.contract.status import Health, Readiness
from easeml.errors import EasemlError
from easeml.store import Store, Transaction
from easeml.store.records import Process

SCHEDULER_LEASE = "scheduler"
_NEEDED = (ProcessKind.SCHEDULER, ProcessKind.WORKER, ProcessKind.PREDICTOR)


def ask(store: Store, health: Health, silence: float, host: str) -> Readiness:
    """Return which parts are there.

    ``health``: of the storage. ``silence``: seconds after which a process without a heartbeat
    counts as gone. ``host``: of the controller that asks; only its own predictor counts. Where the
    database does not answer, no other part is asked for.
    """
    checks = {"storage": " ".join(health.problems)}
    if not health.problems:
        try:
            with store.read() as tx:
                checks |= _parts(tx, silence, host)
        except EasemlError as error:  # since the storage was looked at
            checks["storage"] = f"{error.message} {error.remedy}".strip()
    return Readiness(ready=not any(checks.values()), checks=checks)


def _parts(tx: Transaction, silence: float, host: str) -> dict[str, str]:
    """Return what is wrong with each part, in a sentence; nothing where it is well."""
    earliest = tx.now() - silence
    running = tx.processes.list(state=ProcessState.RUNNING, limit=None)
    alive = [process for process in running if process.heartbeat >= earliest]
    there = {process.kind for process in alive if _is_within_reach(process, host)}
    found = dict.fromkeys(map(str, _NEEDED), "")
    for kind in set(_NEEDED) - there:
        found[kind] = f"No {kind} gave a sign of life."
    if not found["scheduler"] and not tx.leases.is_held(SCHEDULER_LEASE):
        found["scheduler"] = "No scheduler leads."
    return found


def _is_within_reach(process: Process, host: str) -> bool:
    """Can the controller of a machine rely on it? Predictors of others may be gone at any time."""
    is_own = process.host == host and not process.certificate
    return process.kind != ProcessKind.PREDICTOR or is_own
