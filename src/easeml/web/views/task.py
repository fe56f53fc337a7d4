"""One task: what became of it, how the model that it trained does, and what it printed."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.evaluation import AttemptLog, TaskReport
from easeml.contract.states import TaskGroup
from easeml.web import model_charts
from easeml.web.page_context import PageContext, signed_in
from easeml.web.report_parts import shown

_PICTURES = {
    "confusion": model_charts.confusion,
    "residuals": model_charts.residuals,
    "roc": model_charts.roc,
    "calibration": model_charts.calibration,
    "learning": model_charts.learning,
}
_NO_LOG = AttemptLog(attempt=0, text="", offset=0, next=0, ended=True)


@signed_in
async def show(context: PageContext) -> Response:
    """Show a task with its result, or with what went wrong."""
    id = context.path("task")
    task = await context.client.task(id)
    report = await context.client.task_report(id) if task.kind == TaskGroup.TRAIN else TaskReport()
    found = report.evaluation
    return context.render(
        "task.html",
        task=task,
        detail=await context.client.task_detail(id),
        log=await context.client.task_log(id) if task.attempts else _NO_LOG,
        report=report,
        answers=[shown(one) async for one in context.client.task_reports(id)],
        pictures={name: draw(found) for name, draw in _PICTURES.items()} if found else {},
    )


routes = [Route("/tasks/{task}", show)]
