"""Asking any lifecycle tool about an application: a form each, made of what the tool takes."""

from collections.abc import Callable
from functools import partial

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.reports import ApplicationTool, ToolParameter
from easeml.contract.states import TaskGroup, TaskState
from easeml.errors import Conflict, EasemlError, InvalidInput
from easeml.web.forms import chosen_file, copied
from easeml.web.page_context import PageContext, back_to, first, listed, signed_in, status_of
from easeml.web.report_parts import shown
from easeml.web.views import application as pages

_MODELS = 20  # that a tool can be asked about
_TASKS = 10
_REPORTS = 20
_ROWS = "rows"  # the field of a file
_MODEL, _AGAINST = "model", "against"
_PLACES = {  # where the remedies of a report lead
    "retrain": "/data",
    "search": "",
    "collect": "/data",
    "repair-source": "/data",
}
Value = str | float | bool
_NUMBERS: dict[str, tuple[Callable[[str], float], str]] = {
    "integer": (int, "a whole number"),
    "number": (float, "a number"),
}


@signed_in
async def show(context: PageContext) -> Response:
    """Show the tools, with the form of one open where the address names it, and their answers."""
    return await _show(context, context.request.path_params.get("tool", ""))


@signed_in
async def ask(context: PageContext) -> Response:
    """Ask a tool; what is wrong is said above its form."""
    form = await context.form()
    application_id = context.path("application")
    name = context.path("tool")
    try:
        tool = await _tool(context, application_id, name)
        parameters = _parameters(tool, form)
        if tool.why_not:
            raise Conflict(tool.why_not, where=name)
        newer_id = ""
        if tool.takes_newer:
            newer_id = await _uploaded(context, form, tool.needs_newer)
        await context.client.ask_tool(
            application_id,
            name,
            newer_id=newer_id,
            model_id=str(form.get(_MODEL, "")),
            against_id=str(form.get(_AGAINST, "")),
            **parameters,
        )
    except EasemlError as error:
        return await _show(context, name, error)
    return back_to(f"/applications/{application_id}/ask")


@signed_in
async def follow(context: PageContext) -> Response:
    """Follow a remedy of a report, and show where that leads."""
    form = await context.form()
    application_id = context.path("application")
    report_id = str(form.get("report", ""))
    number = str(form.get("number", ""))
    if not number.isdecimal():
        raise InvalidInput(f"{number!r} is not the number of a remedy.", where="number")
    found = await context.client.follow_remedy(application_id, report_id, int(number))
    place = "/work" if found.task_id else _PLACES[found.kind]
    outcome = f"{found.kind}-{'done' if found.done else 'open'}"
    if found.left_out:
        place, outcome = "/models", f"{outcome}-narrow"
    return back_to(f"/applications/{application_id}{place}?followed={outcome}")


async def _show(
    context: PageContext, asked: str = "", problem: EasemlError | None = None
) -> Response:
    application = await pages.load(context)
    tools = await listed(context.client.application_tools(application.id))
    asking = context.client.version_tasks(
        application.version_id, newest_first=True, kind=TaskGroup.ADVISE
    )
    tasks = await first(asking, _TASKS)
    reports = await first(context.client.reports(application.id), _REPORTS)
    return pages.render(
        context,
        application,
        "application_ask.html",
        tools=tools,
        models=await listed(context.client.models(application.id, best=_MODELS)),
        tasks=[task for task in tasks if task.state != TaskState.DONE],
        reports=list(map(partial(shown, context.site.titles), reports)),
        asked=asked,
        problem=problem,
        status=status_of(problem),
    )


async def _tool(context: PageContext, application_id: str, name: str) -> ApplicationTool:
    async for tool in context.client.application_tools(application_id):
        if tool.name == name:
            return tool
    raise InvalidInput(f"There is no tool named {name!r}.", where="tool")


async def _uploaded(context: PageContext, form: FormData, is_needed: bool) -> str:
    """Upload the file of a form; return the id of its version, nothing where none is needed."""
    file = chosen_file(form.get(_ROWS))
    if file is not None:
        async with copied(file) as path:
            dataset = await context.client.upload(path)
        return dataset.version.id
    if is_needed:
        raise InvalidInput("No file was chosen.", where="newer rows", remedy="Choose a table.")
    return ""


def _parameters(tool: ApplicationTool, form: FormData) -> dict[str, Value]:
    """Return the parameters that were filled in; the others keep their defaults."""
    found: dict[str, Value] = {}
    for one in tool.parameters:
        text = str(form.get(f"set-{one.name}", "")).strip()
        if one.type == "boolean":
            found[one.name] = bool(text)
        elif text:
            found[one.name] = _value(one, text)
    return found


def _value(parameter: ToolParameter, text: str) -> Value:
    """Return what was typed as the type of a parameter. Raises InvalidInput."""
    if parameter.type not in _NUMBERS:
        return text
    read, kind = _NUMBERS[parameter.type]
    try:
        return read(text)
    except ValueError:
        raise InvalidInput(f"{text!r} is not {kind}.", where=parameter.name) from None


routes = [
    Route("/applications/{application}/ask", show),
    Route("/applications/{application}/remedy", follow, methods=["POST"]),
    Route("/applications/{application}/ask/{tool}", show),
    Route("/applications/{application}/ask/{tool}", ask, methods=["POST"]),
]
