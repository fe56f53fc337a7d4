"""Work of people: one item at a time, answered with the keyboard."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.errors import EasemlError
from easeml.web.page_context import PageContext, back_to, signed_in
from easeml.web.views import application as pages

_KEYS = 9  # answers that have a digit


@signed_in
async def show(context: PageContext) -> Response:
    """Show the item that the visitor has now, or what there is to do instead."""
    return await _show(context)


@signed_in
async def answer(context: PageContext) -> Response:
    """Keep what the visitor did with an item, and show the next."""
    form = await context.form()
    way = str(form.get("way", "answer"))
    value = str(form.get("other", "")).strip() if way == "other" else str(form.get("value", ""))
    if way == "other" or value:
        way = "answer"
    try:
        if way == "use":
            await context.client.use_answers(context.path("application"))
        else:
            item_id = str(form.get("item", ""))
            await context.client.answer_work(item_id, value=value, way=way)  # type: ignore[arg-type]
    except EasemlError as error:
        return await _show(context, error)
    return back_to(f"/applications/{context.path('application')}/work")


async def _show(context: PageContext, problem: EasemlError | None = None) -> Response:
    application = await pages.load(context)
    turn = await context.client.next_work(application.id)
    item = turn.item
    offered = []
    if item is not None:
        likely = [option.value for option in item.options]
        others = [value for value in item.choices if value not in likely]
        offered = [*likely, *others][:_KEYS]
    return pages.render(
        context,
        application,
        "application_work.html",
        turn=turn,
        item=item,
        offered=offered,
        weights={one.value: one.weight for one in item.options} if item else {},
        problem=problem,
        status=422 if problem else 200,
    )


_HERE = "/applications/{application}/work"
routes = [
    Route(_HERE, show),
    Route(_HERE, answer, methods=["POST"]),
]
