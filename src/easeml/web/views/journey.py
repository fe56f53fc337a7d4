"""What to do next: the goal, the stations, the five questions, and actions with their buttons."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.errors import EasemlError
from easeml.web.page_context import PageContext, back_to, signed_in, status_of
from easeml.web.views import application as pages

# action -> what its button says, and where it leads below the application's page
_LINKS = {
    "set-goal": ("Set a goal", "/next#goal"),
    "lower-goal": ("Change the goal", "/next#goal"),
    "collect": ("Add rows", "/data"),
    "test-rows": ("Add rows", "/data"),
    "feed-told": ("See what came", "/history#kept"),
    "use-answers": ("See the answers", "/work"),
    "retire-test-rows": ("See the gate", "/history#gate"),
    "adapt": ("See what drifted", "/history#watch"),
    "check-labels": ("Check labels", "/work"),
    "search": ("See the search", ""),
    "label": ("Label rows", "/work"),
    "clean": ("See doubtful cells", "/data#doubts"),
    "pick": ("Pick a model", "/ask/pick"),
    "watch": ("Look at newer rows", "/ask/monitor"),
    "remedy": ("See the remedies", "/history#remedies"),
}


@signed_in
async def show(context: PageContext) -> Response:
    """Show where the application stands and what to do next."""
    return await _show(context)


@signed_in
async def set_goal(context: PageContext) -> Response:
    """Set or take back the goal; what is wrong is said above the form."""
    form = await context.form()
    text = str(form.get("goal", "")).strip()
    try:
        await context.client.set_goal(context.path("application"), text)
    except EasemlError as error:
        return await _show(context, text, error)
    return back_to(f"/applications/{context.path('application')}/next")


async def _show(
    context: PageContext, wanted: str = "", problem: EasemlError | None = None
) -> Response:
    view = await context.client.journey_view(context.path("application"))
    return pages.render(
        context,
        view.application,
        "application_next.html",
        journey=view.journey,
        suggested=[one for one in view.suggested if one.interval and one.interval[1] > 0],
        wanted=wanted or view.journey.goal.text,
        links=_LINKS,
        problem=problem,
        status=status_of(problem),
    )


_HERE = "/applications/{application}/next"
routes = [
    Route(_HERE, show),
    Route(_HERE, set_goal, methods=["POST"]),
]
