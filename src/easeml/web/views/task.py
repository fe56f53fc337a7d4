"""One task: what became of it."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.web.visit import Visit, signed_in


@signed_in
async def show(visit: Visit) -> Response:
    """Show a task with its result, or with what went wrong."""
    id = visit.path("task")
    return visit.render("task.html", task=await visit.client.task(id), detail=await visit.client.task_detail(id))


routes = [Route("/tasks/{task}", show)]
