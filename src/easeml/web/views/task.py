"""One task: what became of it, how the model that it trained does, and what it printed."""

from functools import partial

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.states import TASKS_UNDER_WAY, TaskState
from easeml.contract.task_progress import share_done
from easeml.errors import NotFound
from easeml.web import model_charts
from easeml.web.page_context import PageContext, back_to, signed_in
from easeml.web.permissions import allowed
from easeml.web.report_parts import shown
from easeml.web.trace_chart import trace_figure

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
        may=allowed(view.may),
        shared_application=view.shared_application,
        detail=view.detail,
        log=view.log,
        report=view.report,
        answers=list(map(partial(shown, context.site.titles), view.answers)),
        pictures=pictures,
        trace=view.trace,
        timeline=trace_figure(view.trace) if view.trace else None,
        is_under_way=view.task.state in TASKS_UNDER_WAY,
        share=share_done(view.log.text) if view.task.state == TaskState.RUNNING else None,
    )


@signed_in
async def trace(context: PageContext) -> Response:
    """Trace the task from now on, or no more."""
    form = await context.form()
    task_id = context.path("task")
    await context.client.trace_task(task_id, on=form.get("on") == "yes")
    return back_to(f"/tasks/{task_id}")


@signed_in
async def steer(context: PageContext) -> Response:
    """Cancel a task, or try it again; show its page, or that of the one that tries again."""
    await context.form()
    ways = {"cancel": context.client.cancel_task, "retry": context.client.retry_task}
    way = ways.get(context.path("way"))
    if way is None:
        raise NotFound("There is no such page.", where=context.path("way"))
    task = await way(context.path("task"))
    return back_to(f"/tasks/{task.id}")


routes = [
    Route("/tasks/{task}", show),
    Route("/tasks/{task}/tracing", trace, methods=["POST"]),
    Route("/tasks/{task}/{way}", steer, methods=["POST"]),
]
