"""One application: how its search does, its models, its tasks, what it served; and steering it."""

from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.resources import Application
from easeml.errors import InvalidInput
from easeml.web.charts import quality_chart
from easeml.web.visit import Visit, back_to, signed_in

TABS = (
    ("", "Overview"),
    ("/try", "Try it"),
    ("/models", "Models"),
    ("/tasks", "Tasks"),
    ("/endpoint", "Endpoint"),
    ("/data", "Data"),
    ("/history", "History"),
)
_BEST_MODELS = 5


async def load(visit: Visit) -> Application:
    """Return the application that the address names."""
    return await visit.client.application(visit.path("application"))


def render(visit: Visit, application: Application, template: str, **values: Any) -> Response:
    """Return a page about an application, with its head and tabs."""
    base = f"/applications/{application.id}"
    tabs = [(base + path, name) for path, name in TABS]
    return visit.render(template, application=application, base=base, tabs=tabs, **values)


@signed_in
async def overview(visit: Visit) -> Response:
    """Show quality over cost, the best models, and what happens now."""
    application = await load(visit)
    chart = (
        quality_chart(await visit.client.progress(application.job.id)) if application.job else None
    )
    models = [model async for model in visit.client.models(application.id, best=_BEST_MODELS)]
    return render(visit, application, "application.html", chart=chart, models=models)


@signed_in
async def leaderboard(visit: Visit) -> Response:
    """Show all trained models, the best first."""
    application = await load(visit)
    models = [model async for model in visit.client.models(application.id)]
    return render(visit, application, "application_models.html", models=models)


@signed_in
async def tasks(visit: Visit) -> Response:
    """Show the tasks of the search, the newest first, page by page."""
    application = await load(visit)
    after = visit.request.query_params.get("after")
    job_id = application.job.id if application.job else None
    page = await visit.client.newest_tasks(job_id=job_id, after=after)
    return render(visit, application, "application_tasks.html", page=page)


@signed_in
async def history(visit: Visit) -> Response:
    """Show the changes of what the endpoint serves, the newest first."""
    application = await load(visit)
    names = {model.id: model async for model in visit.client.models(application.id)}
    promotions = [one async for one in visit.client.promotions(application.id)]
    return render(
        visit, application, "application_history.html", promotions=promotions[::-1], models=names
    )


@signed_in
async def steer(visit: Visit) -> Response:
    """Pause, resume or stop the search, or change its limits."""
    form = await visit.form()
    action, application = str(form.get("action", "")), await load(visit)
    if application.job is None:
        raise InvalidInput("This application has no search.", where=application.name)
    if action == "limits":
        minutes, count = (
            _number(form.get("minutes"), "minutes"),
            _number(form.get("tasks"), "tasks"),
        )
        seconds = None if minutes is None else 60 * minutes
        ends = application.job.limits.get("deadline")
        deadline = datetime.fromtimestamp(ends, UTC) if ends else None  # not on this form; it stays
        most = None if count is None else int(count)
        await visit.client.limit_job(
            application.job.id, max_tasks=most, max_seconds=seconds, deadline=deadline
        )
    else:
        acts = {
            "pause": visit.client.pause_job,
            "resume": visit.client.resume_job,
            "stop": visit.client.stop_job,
        }
        await _known(acts, action)(application.job.id)
    return back_to(f"/applications/{application.id}")


@signed_in
async def include(visit: Visit) -> Response:
    """Let the search try a model, too, that was left out."""
    form = await visit.form()
    application = await visit.client.include_model(
        visit.path("application"), str(form.get("model", ""))
    )
    return back_to(f"/applications/{application.id}/models")


@signed_in
async def serve(visit: Visit) -> Response:
    """Roll back, pin or unpin what is served."""
    form = await visit.form()
    action, application_id = str(form.get("action", "")), visit.path("application")
    if action == "rollback":
        await visit.client.roll_back(application_id, str(form.get("model", "")) or None)
    else:
        await _known({"pin": visit.client.pin, "unpin": visit.client.unpin}, action)(application_id)
    return back_to(str(visit.request.url.path).removesuffix("/serve") + "/history")


def _known(acts: dict[str, Any], action: str) -> Any:
    if action not in acts:
        raise InvalidInput(f"There is no action {action!r}.", where="action")
    return acts[action]


def _number(text: Any, where: str) -> float | None:
    """Return a positive number, None for nothing. Raises InvalidInput."""
    if not str(text or "").strip():
        return None
    try:
        value = float(str(text))
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise InvalidInput("A limit is a positive number, or nothing.", where=where)
    return value


_HERE = "/applications/{application}"
routes = [
    Route(_HERE, overview),
    Route(f"{_HERE}/models", leaderboard),
    Route(f"{_HERE}/tasks", tasks),
    Route(f"{_HERE}/history", history),
    Route(f"{_HERE}/steer", steer, methods=["POST"]),
    Route(f"{_HERE}/include", include, methods=["POST"]),
    Route(f"{_HERE}/serve", serve, methods=["POST"]),
]
