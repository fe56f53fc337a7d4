"""All that the page of a task shows."""

from easeml.contract.evaluation import AttemptLog
from easeml.contract.permissions import in_order
from easeml.contract.task_views import TaskView
from easeml.service.access.caller import Caller
from easeml.service.advice import tools
from easeml.service.models import evaluation
from easeml.service.tasks import logs, task_views, traces
from easeml.settings import Settings
from easeml.store import Store

_NO_LOG = AttemptLog(attempt=0, text="", offset=0, next=0, ended=True)


def get(store: Store, settings: Settings, caller: Caller, task_id: str) -> TaskView:
    """Return a task and all that its page shows; raises ``NotFound``.

    It is its attempts, what the newest of them printed, how its model does, and what lifecycle
    tools answered about that.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        task = tables.tasks.get(task_id)
        shown = task_views.show_waiting(tx, caller, [task])[0]
        attempts = task_views.attempts_of(tables, task)
        model = tables.models.find(task_id=task.id)
        reports = tools.of_task(tables, task, model)
        application_ids = tables.jobs.column("application_id", id=task.job_id) or [task.subject]
    work = settings.home / "work"
    log = logs.read(store, work, attempts[-1]) if attempts else _NO_LOG
    return TaskView(
        task=shown,
        may=in_order(caller.may),
        shared_application="" if caller.granted is None else application_ids[0],
        detail=task_views.show_detail(task, attempts),
        log=log,
        report=evaluation.of_model(store, model),
        answers=tools.show_all(store, reports),
        trace=traces.picture(store, work, task, attempts),
    )
