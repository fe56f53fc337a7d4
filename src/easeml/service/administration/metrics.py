"""What monitoring systems ask for: the service in numbers, over all tenants."""

from collections import Counter
from dataclasses import dataclass

from easeml.contract.states import AttemptState, Lane, ProcessState, TaskState
from easeml.service.access.caller import Caller
from easeml.store import Store, Tables

from . import devices

Labels = tuple[str, ...]
_Counts = dict[Labels, float]
_ENDED = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Family:
    """One metric: its values by the values of its labels.

    ``is_total``: it only grows while the database lives (a counter), else it is a gauge.
    """

    name: str
    about: str
    labels: Labels
    values: dict[Labels, float]
    is_total: bool = False


def read(store: Store, caller: Caller, silence: float) -> list[Family]:
    """Return the metrics that the database tells (providers only); raises ``NotAllowed``.

    ``silence``: seconds after which a process without a heartbeat counts as gone. It counts in the
    database: a constant number of statements, whatever the number of tasks.
    """
    caller.require_provider()
    with store.read() as tx:
        tables = tx.unscoped()
        earliest = tx.now() - silence
        processes = tx.processes.list(state=ProcessState.RUNNING, limit=None)
        alive = [str(one.kind) for one in processes if one.heartbeat >= earliest]
        of_devices = _counted(list(map(str, devices.states(tx, silence))))
        open_now, over = _tasks(tables)
        lost = tables.attempts.count(state=AttemptState.LOST)
        return [
            _gauge("processes", "Processes that give signs of life.", "kind", _counted(alive)),
            _gauge("devices", "Devices, by what they do.", "state", of_devices),
            Family("tasks", "Tasks that wait or run.", ("lane", "state"), open_now),
            Family("tasks_ended", "Tasks that ended.", ("lane", "state"), over, is_total=True),
            _total("attempts_lost", "Attempts that ended with their worker.", lost),
            _total("decisions", "Choices of the scheduler.", tables.decisions.count()),
            _total("models_trained", "Models that were trained.", tables.models.count()),
            _total("promotions", "Changes of what an endpoint serves.", tables.promotions.count()),
            _total("events", "Events.", tx.events.last()),
            _gauge("jobs", "Searches.", "state", tables.jobs.count_by("state")),
            _gauge("applications", "Applications.", "state", tables.applications.count_by("state")),
            Family("tenants", "Tenants.", (), {(): float(tx.tenants.count())}),
        ]


def _tasks(tables: Tables) -> tuple[_Counts, _Counts]:
    """Return the numbers of tasks that wait or run, and of those that ended, by lane and state."""
    open_now: _Counts = {}
    over: _Counts = {}
    for lane in Lane:
        for state, count in tables.tasks.count_by("state", lane=lane).items():
            counts = over if state in _ENDED else open_now
            counts[str(lane), str(state)] = float(count)
    return open_now, over


def _counted(kinds: list[str]) -> dict[str, int]:
    return dict(Counter(kinds))


def _gauge(name: str, about: str, label: str, counts: dict[str, int]) -> Family:
    """Return numbers by a label."""
    values = {(str(key),): float(count) for key, count in counts.items()}
    return Family(name, about, (label,), values)


def _total(name: str, about: str, count: int) -> Family:
    return Family(name, about, (), {(): float(count)}, is_total=True)
