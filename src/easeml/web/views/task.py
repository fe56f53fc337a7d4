"""One task: what became of it, how the model that it trained does, and what it printed."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.states import TaskState
from easeml.contract.task_progress import share_done
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


@signed_in
async def show(context: PageContext) -> Response:
    """Show a task with its result, or with what went wrong."""
    view = await context.client.task_view(context.path("task"))
    found = view.report.evaluation
    pictures = {name: draw(found) for name, draw in _PICTURES.items()} if found else {}
    return context.render(
        "task.html",
        task=view.task,
        detail=view.detail,
        log=view.log,
        report=view.report,
        answers=[shown(answer) for answer in view.answers],
        pictures=pictures,
        share=share_done(view.log.text) if view.task.state == TaskState.RUNNING else None,
    )


routes = [Route("/tasks/{task}", show)]
