"""What devices did, one after the other, as anybody may see it."""

from easeml.contract.scheduling import DeviceTask
from easeml.service.access.tenant_view import TenantView
from easeml.store.records import Attempt, Task


def was_running(attempt: Attempt, since: float) -> bool:
    """Whether an attempt still runs, or had not ended at ``since``."""
    return attempt.finished is None or attempt.finished >= since


def device_task(
    attempt: Attempt, task: Task, device: int, view: TenantView, name: str = ""
) -> DeviceTask:
    """Return an attempt of a task on a device, by its number; others' tasks are not told apart."""
    is_own = view.is_own(task.tenant_id)
    return DeviceTask(
        device=device,
        lane=task.lane,
        tenant=view.name(task.tenant_id),
        place=view.place(task.tenant_id),
        own=is_own,
        task_id=task.id if is_own else "",
        name=name,
        state=attempt.state,
        started=attempt.started,
        finished=attempt.finished,
    )
