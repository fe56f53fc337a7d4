"""Schedules: when data sets from elsewhere are fetched again, and perhaps predicted."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.client import made_request
from easeml.contract.sources import NewSchedule
from easeml.errors import EasemlError, InvalidInput
from easeml.web.page_context import PageContext, back_to, signed_in

_PAGE = "/schedules"
_EVERY = {
    "1 hours": "every hour",
    "6 hours": "every 6 hours",
    "12 hours": "every 12 hours",
    "day": "every day",
    "monday": "on Mondays",
    "tuesday": "on Tuesdays",
    "wednesday": "on Wednesdays",
    "thursday": "on Thursdays",
    "friday": "on Fridays",
    "saturday": "on Saturdays",
    "sunday": "on Sundays",
}


@signed_in
async def show(context: PageContext) -> Response:
    """Show the schedules, how each ended last, and where another is made."""
    return await _show(context)


@signed_in
async def add(context: PageContext) -> Response:
    """Make a schedule."""
    form = await context.form()
    names = ("dataset_id", "application_id", "every", "at", "zone")
    given = {name: str(form.get(name, "")) for name in names}
    try:
        await context.client.add_schedule(made_request(NewSchedule, **given))
    except EasemlError as error:
        return await _show(context, error, given)
    return back_to(_PAGE)


@signed_in
async def change(context: PageContext) -> Response:
    """Start, pause, resume or delete a schedule."""
    await context.form()
    client = context.client
    ways = {
        "start": client.start_schedule,
        "pause": client.pause_schedule,
        "resume": client.resume_schedule,
        "delete": client.delete_schedule,
    }
    way = context.path("way")
    if way not in ways:
        raise InvalidInput(f"A schedule is not {way!r}.", where="way")
    await ways[way](context.path("schedule"))
    return back_to(_PAGE)


async def _show(
    context: PageContext, problem: EasemlError | None = None, given: dict[str, str] | None = None
) -> Response:
    found = await context.client.schedules_view()
    values = {"found": found, "every": _EVERY, "problem": problem, "given": given or {}}
    return context.render("schedules.html", **values)


routes = [
    Route(_PAGE, show),
    Route(_PAGE, add, methods=["POST"]),
    Route(f"{_PAGE}/{{schedule}}/{{way}}", change, methods=["POST"]),
]
