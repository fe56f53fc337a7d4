"""One application: how its search does, its models, its tasks, what it served; and steering it."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.adaptation import NewAdaptation
from easeml.contract.applications import Application
from easeml.contract.gates import NewGate, Retirement
from easeml.contract.jobs import Job
from easeml.contract.label_budgets import NewLabelBudget
from easeml.contract.picking import NewPicking
from easeml.contract.production import FeedbackKept
from easeml.contract.resources import Page
from easeml.contract.rollouts import EndRollout, NewRollout, NewRolloutRule
from easeml.contract.states import AdaptWay, Permission, RolloutEnd
from easeml.contract.task_views import Task
from easeml.decimals import with_point
from easeml.errors import InvalidInput
from easeml.optional import if_known
from easeml.web import followed, formatting
from easeml.web.forms import positive_number
from easeml.web.page_context import PageContext, back_to, signed_in
from easeml.web.permissions import allowed
from easeml.web.quality_chart import quality_figure
from easeml.web.release_chart import release_figure
from easeml.web.release_page import needs_of, parts_of
from easeml.web.report_parts import shown

FORECAST_TAB = "/forecast"
TABS = (
    ("", "Overview", Permission.LOOK),
    ("/next", "Next", Permission.LOOK),
    ("/work", "Work", Permission.LABEL),
    (FORECAST_TAB, "Forecast", Permission.LOOK),
    ("/try", "Try it", Permission.LOOK),
    ("/models", "Models", Permission.LOOK),
    ("/tasks", "Tasks", Permission.LOOK),
    ("/endpoint", "Endpoint", Permission.LOOK),
    ("/data", "Data", Permission.LOOK),
    ("/ask", "Ask", Permission.CHANGE),
    ("/history", "Release and watch", Permission.LOOK),
    ("/settings", "Settings", Permission.CHANGE),
)

M = TypeVar("M", bound=BaseModel)
TOLD = tuple(FeedbackKept.model_fields)
"""What became of truths, in the order in which an address says it."""


def _tabs(application: Application, base: str) -> list[tuple[str, str]]:
    """Return addresses and names of the tabs that the visitor may see, and that tell something."""
    seen = []
    for path, name, need in TABS:
        is_empty = path == FORECAST_TAB and application.forecast is None
        if need in application.may and not is_empty:
            seen.append((base + path, name))
    return seen


async def load(context: PageContext) -> Application:
    """Return the application that the address names."""
    return await context.client.application(context.path("application"))


def render(
    context: PageContext, application: Application, template: str, status: int = 200, **values: Any
) -> Response:
    """Return a page about an application, with its head and the tabs that the visitor may see."""
    base = f"/applications/{application.id}"
    about = {
        "application": application,
        "base": base,
        "tabs": _tabs(application, base),
        "may": allowed(application.may),
        "several": formatting.several_of(application.schema_out),
        "followed_remedy": followed.told(
            context.request.query_params.get("followed", ""), application
        ),
    }
    return context.render(template, status, **about, **values)


@signed_in
async def overview(context: PageContext) -> Response:
    """Show quality over cost, the best models, and what happens now."""
    view = await context.client.application_view(context.path("application"))
    application = view.application
    chart = None
    if view.progress:
        chart = quality_figure(view.progress, application, context.site.titles.of)
    reports = list(map(partial(shown, context.site.titles), view.reports))
    values = {
        "chart": chart,
        "models": view.models,
        "reports": reports,
        "journey": view.journey,
        "ending": view.ending,
    }
    return render(context, application, "application.html", **values)


@signed_in
async def tasks(context: PageContext) -> Response:
    """Show the tasks of the search, the newest first, page by page."""
    application = await load(context)
    after = context.request.query_params.get("after")
    page: Page[Task] = Page(items=[])
    if application.job:
        page = await context.client.newest_tasks(job_id=application.job.id, after=after)
    return render(context, application, "application_tasks.html", page=page)


@signed_in
async def history(context: PageContext) -> Response:
    """Show what served over time, whether it is still right, and what has to be proven."""
    view = await context.client.serving_history(context.path("application"))
    models = {model.id: model for model in view.models}
    compared = [*view.rollouts.rollouts, *view.rollouts.released]
    names = {model.name for model in view.models}
    names.update(chain.from_iterable((one.challenger, one.champion) for one in compared))

    def titled(text: str) -> str:
        return context.site.titles.in_sentence(text, *names)

    told = _just_told(context.request.query_params.get("told", ""))
    values = {
        "titled": titled,
        "needs": needs_of(view, titled),
        "parts": parts_of(view, titled, was_told=told is not None),
        "promotions": view.promotions,
        "models": models,
        "gates": view.gates,
        "classes": formatting.classes_of(view.application.schema_out),
        "watch": view.watch,
        "debugged": shown(context.site.titles, view.debugged) if view.debugged else None,
        "rollouts": view.rollouts,
        "picking": view.picking,
        "labels": view.labels,
        "adaptation": view.adaptation,
        "ways": list(AdaptWay),
        "chart": release_figure(view, context.site.titles.of),
        "told": told,
        "kept": view.kept,
    }
    return render(context, view.application, "application_history.html", **values)


def _just_told(counts: str) -> FeedbackKept | None:
    """Return what became of truths that were just told, as an address says it; nothing without."""
    numbers = counts.split("-")
    if len(numbers) != len(TOLD) or not all(map(str.isdecimal, numbers)):
        return None
    return FeedbackKept(**dict(zip(TOLD, map(int, numbers), strict=True)))


@signed_in
async def steer(context: PageContext) -> Response:
    """Pause, resume or stop the search, or change its limits."""
    form = await context.form()
    action = str(form.get("action", ""))
    application = await load(context)
    if application.job is None:
        raise InvalidInput("This application has no search.", where=application.name)
    if action == "limits":
        await _limit(context, application.job, form)
    else:
        acts = {
            "pause": context.client.pause_job,
            "resume": context.client.resume_job,
            "stop": context.client.stop_job,
        }
        await _known(acts, action)(application.job.id)
    return back_to(f"/applications/{application.id}")


async def _limit(context: PageContext, job: Job, form: FormData) -> None:
    """Give a search the limits of a form; its deadline stays where none is said, 0 removes it."""
    seconds = _limited_seconds(job, form)
    count = _number(form.get("tasks"), "tasks")
    ends = job.limits.get("deadline")
    hours = str(form.get("hours", "")).strip()
    if hours == "0":
        ends = None
    elif hours:
        ends = time.time() + (_number(hours, "hours", unit=3600) or 0.0)
    await context.client.limit_job(
        job.id,
        max_tasks=if_known(count, int),
        max_seconds=seconds,
        deadline=datetime.fromtimestamp(ends, UTC) if ends else None,
    )


def _limited_seconds(job: Job, form: FormData) -> float | None:
    """Return the seconds of a form; a limit that stands there as it was shown, rounded, stays."""
    known = job.limits.get("seconds")
    if known and form.get("minutes") == formatting.minutes(known):
        return known
    return _number(form.get("minutes"), "minutes", unit=60)


@signed_in
async def include(context: PageContext) -> Response:
    """Let the search try a model, too, that was left out."""
    form = await context.form()
    application = await context.client.include_model(
        context.path("application"), str(form.get("model", ""))
    )
    return back_to(f"/applications/{application.id}/models")


@signed_in
async def serve(context: PageContext) -> Response:
    """Roll back, pin or unpin what is served."""
    form = await context.form()
    action = str(form.get("action", ""))
    application_id = context.path("application")
    if action == "rollback":
        await context.client.roll_back(application_id, str(form.get("model", "")) or None)
    else:
        acts = {"pin": context.client.pin, "unpin": context.client.unpin}
        await _known(acts, action)(application_id)
    return back_to(str(context.request.url.path).removesuffix("/serve") + "/history")


@signed_in
async def look(context: PageContext) -> Response:
    """Have the rows of production looked at that came since the last look."""
    application_id = context.path("application")
    await context.form()  # checks the token of the session
    await context.client.look_at_production(application_id)
    return back_to(f"/applications/{application_id}/history#watch")


@signed_in
async def gate(context: PageContext) -> Response:
    """Set or remove what has to be proven before a model serves, or retire worn-out test rows."""
    form = await context.form()
    application_id = context.path("application")
    action = str(form.get("action", ""))
    if action == "remove":
        await context.client.remove_gate(application_id)
    elif action == "retire":
        wish = _validated(Retirement, {"labels": str(form.get("labels", "")) or None})
        await context.client.retire_test_rows(application_id, wish)
    else:
        await context.client.set_gate(application_id, _gate(form))
    return back_to(f"/applications/{application_id}/history#gate")


@signed_in
async def pick(context: PageContext) -> Response:
    """Say when the models are compared on production, compare them now, or end that."""
    form = await context.form()
    application_id = context.path("application")
    action = str(form.get("action", ""))
    told = _texts(form, "way", "labels")
    wish = _validated(NewPicking, {**told, "end": action == "end"})
    await context.client.set_picking(application_id, wish)
    if action == "now":
        await context.client.pick_now(application_id)
    return back_to(f"/applications/{application_id}/history#picking")


@signed_in
async def buy_labels(context: PageContext) -> Response:
    """Say how many labels gate and comparisons may buy together; nothing said: no budget."""
    form = await context.form()
    application_id = context.path("application")
    labels = str(form.get("labels", "")).strip()
    wish = _validated(NewLabelBudget, {"labels": labels or None, **_texts(form, "days")})
    await context.client.set_label_budget(application_id, wish)
    return back_to(f"/applications/{application_id}/history#label-budget")


@signed_in
async def adapt(context: PageContext) -> Response:
    """Have what serves adapted to the newest rows of production."""
    form = await context.form()
    application_id = context.path("application")
    way = str(form.get("way", ""))
    told = {"ways": [way] if way else [], **_texts(form, "labels", "rows")}
    await context.client.adapt(application_id, _validated(NewAdaptation, told))
    return back_to(f"/applications/{application_id}/history#adapt")


@signed_in
async def roll_out(context: PageContext) -> Response:
    """Say how better models come to serve, compare one now, or end what is compared."""
    form = await context.form()
    action = str(form.get("action", ""))
    application_id = context.path("application")
    client = context.client
    if action == "start":
        await client.start_rollout(application_id, NewRollout(model_id=str(form.get("model", ""))))
    elif action in (RolloutEnd.PROMOTE, RolloutEnd.STOP):
        await client.end_rollout(application_id, EndRollout(end=RolloutEnd(action)))
    else:
        await client.set_rollout_rule(application_id, _rollout_rule(form))
    return back_to(f"/applications/{application_id}/history#rollout")


def _rollout_rule(form: Any) -> NewRolloutRule:
    """Return the rule of a form; raises InvalidInput."""
    told: dict[str, Any] = _texts(form, "way", "tolerance", "reliability", "days", "truth")
    written = str(form.get("shares", ""))
    told["shares"] = [one.strip() for one in written.split(",") if one.strip()]
    told["scale"] = str(form.get("scale", "")) or 0.0
    return _validated(NewRolloutRule, told)


def _gate(form: Any) -> NewGate:
    """Return the gate of a form; raises InvalidInput."""
    told: dict[str, Any] = _texts(form, "condition", "reliability", "steps")
    for name in ("labels", "rows"):
        told[name] = str(form.get(name, "")) or 0
    if "metric" in form:
        told |= {name: str(form.get(name, "")) for name in ("metric", "positive")}
    if "scale" in form:  # of a target that is a number, which is never exactly right
        scale = _texts(form, "scale")["scale"]
        told |= {"metric": "absolute-error", "scale": scale or 0}
    return _validated(NewGate, told)


def _texts(form: Any, *names: str) -> dict[str, str]:
    """Return fields of a form as text; numbers have a decimal point, also where a comma was typed."""
    return {name: with_point(str(form.get(name, "")).strip(), name) for name in names}


def _validated(kind: type[M], told: Mapping[str, Any]) -> M:
    """Return what a form asks for. Raises InvalidInput, naming the first field that is wrong."""
    try:
        return kind.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(first["msg"], where=str(first["loc"][0])) from error


def _known(acts: dict[str, Any], action: str) -> Any:
    if action not in acts:
        raise InvalidInput(f"There is no action {action!r}.", where="action")
    return acts[action]


def _number(text: Any, where: str, unit: float = 1.0) -> float | None:
    """Return a positive number, times its unit; None for nothing. Raises InvalidInput."""
    problem = InvalidInput("A limit is a positive number, or nothing.", where=where)
    return positive_number(str(text or ""), problem, unit=unit)


_HERE = "/applications/{application}"
routes = [
    Route(_HERE, overview),
    Route(f"{_HERE}/tasks", tasks),
    Route(f"{_HERE}/history", history),
    Route(f"{_HERE}/rollout", roll_out, methods=["POST"]),
    Route(f"{_HERE}/steer", steer, methods=["POST"]),
    Route(f"{_HERE}/include", include, methods=["POST"]),
    Route(f"{_HERE}/serve", serve, methods=["POST"]),
    Route(f"{_HERE}/gate", gate, methods=["POST"]),
    Route(f"{_HERE}/picking", pick, methods=["POST"]),
    Route(f"{_HERE}/label-budget", buy_labels, methods=["POST"]),
    Route(f"{_HERE}/adapt", adapt, methods=["POST"]),
    Route(f"{_HERE}/look", look, methods=["POST"]),
]
