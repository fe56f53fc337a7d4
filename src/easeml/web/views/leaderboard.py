"""The models of an application: by what they are measured, which are best in some way, the rules."""

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from easeml.client import made_request
from easeml.contract.application_views import Leaderboard
from easeml.contract.model_rules import NewModelRules
from easeml.errors import InvalidInput
from easeml.web.forms import chosen_file, copied, positive_number
from easeml.web.page_context import PageContext, back_to, signed_in
from easeml.web.pareto_chart import pareto_figure
from easeml.web.views import application as pages

_HERE = "/applications/{application}"
_TAKEN = ("latency", "size")


@signed_in
async def show(context: PageContext) -> Response:
    """Show all trained models, the best first, and which are best by two measures at once."""
    asked = context.request.query_params
    axes = [asked.get("up", ""), asked.get("across", "")]
    chosen = axes if all(axes) else None
    board = await context.client.leaderboard(context.path("application"), axis=chosen)
    if board.pareto:
        axes = [axis.name for axis in board.pareto.axes]
    values = {
        "models": board.models,
        "measures": board.measures,
        "breaks": board.breaks,
        "pareto": board.pareto,
        "chart": pareto_figure(board.pareto, context.site.titles.of),
        "axes": _axes(board),
        "up": axes[0],
        "across": axes[1],
    }
    return pages.render(context, board.application, "application_models.html", **values)


def _axes(board: Leaderboard) -> list[str]:
    """Return what models can be compared by: the objective first, then what else was measured."""
    names = [board.application.objective, *board.measures.asked]
    for model in board.models[:1]:
        names += model.measures
    return [*dict.fromkeys(names), *_TAKEN]


@signed_in
async def measure(context: PageContext) -> Response:
    """Measure the models by more, or no more by something."""
    form = await context.form()
    application = context.path("application")
    dropped = str(form.get("drop", ""))
    if dropped:
        await context.client.drop_measure(application, dropped)
    else:
        name = str(form.get("measure", "")).strip() or str(form.get("offered", ""))
        if not name:
            raise InvalidInput("Name a measure, or choose one.", where="measure")
        await context.client.ask_measure(application, name)
    return back_to(f"/applications/{application}/models#measures")


@signed_in
async def bring(context: PageContext) -> Response:
    """Make a model that was trained elsewhere one of the application."""
    form = await context.form()
    application = context.path("application")
    file = chosen_file(form.get("model"))
    if file is None:
        raise InvalidInput("No file was chosen.", where="model", remedy="Choose a model's file.")
    name = str(form.get("name", "")).strip()
    async with copied(file) as path:
        task = await context.client.import_model(application, path, name=name)
    return back_to(f"/tasks/{task.id}")


@signed_in
async def learn(context: PageContext) -> Response:
    """Let the search of the application learn from trials of another program."""
    form = await context.form()
    application = context.path("application")
    file = chosen_file(form.get("trials"))
    if file is None:
        raise InvalidInput("No file was chosen.", where="trials", remedy="Choose a file of trials.")
    asked = {}
    for name in ("model", "study", "value", "direction"):
        asked[name] = str(form.get(name, "")).strip()
    async with copied(file) as path:
        task = await context.client.import_history(application, path, **asked)
    return back_to(f"/tasks/{task.id}")


@signed_in
async def rules(context: PageContext) -> Response:
    """Change what every model that serves has to keep."""
    form = await context.form()
    application = context.path("application")
    latency = _limit(form, "latency", "milliseconds")
    size = _limit(form, "size", "kilobytes")
    monotonic = {}
    for name, value in form.multi_items():
        column = name.removeprefix("way.")
        if column != name and value:
            monotonic[column] = value
    wish = made_request(
        NewModelRules,
        optimizer=str(form.get("optimizer", "")),
        max_latency=None if latency is None else latency / 1000,
        max_size=None if size is None else round(1000 * size),
        monotonic=monotonic,
    )
    await context.client.set_model_rules(application, wish)
    return back_to(f"/applications/{application}/settings#rules")


def _limit(form: FormData, name: str, unit: str) -> float | None:
    """Return the limit of a field; None for nothing. Raises ``InvalidInput``."""
    problem = InvalidInput(f"The limit is not a number of {unit} above 0.", where=name)
    return positive_number(str(form.get(name, "")), problem)


routes = [
    Route(f"{_HERE}/models", show),
    Route(f"{_HERE}/measures", measure, methods=["POST"]),
    Route(f"{_HERE}/import", bring, methods=["POST"]),
    Route(f"{_HERE}/learn", learn, methods=["POST"]),
    Route(f"{_HERE}/rules", rules, methods=["POST"]),
]
