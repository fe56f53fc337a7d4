"""Work of people: one item at a time, answered with the keyboard."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.keeping import Share
from easeml.contract.states import ShareRole
from easeml.errors import EasemlError
from easeml.web.page_context import PageContext, back_to, signed_in
from easeml.web.views import application as pages

_KEYS = 9  # answers that have a digit


@signed_in
async def overview(context: PageContext) -> Response:
    """Show the applications that were given to the visitor; the only one opens at once."""
    shared = (await context.client.shared()).items
    to_label = [one for one in shared if one.role == ShareRole.LABELLER]
    if len(shared) == 1 and to_label:
        return back_to(_page_of(to_label[0].application_id))
    return context.render("work.html", shared=shared)


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
            await context.client.answer_work(item_id, value=value, way=way)
    except EasemlError as error:
        return await _show(context, error)
    return back_to(_page_of(context.path("application")))


async def _show(context: PageContext, problem: EasemlError | None = None) -> Response:
    """Show the page to who owns the application, or the little page to who only labels."""
    application_id = context.path("application")
    shared = await _given(context, application_id)
    values = await _turn(context, application_id)
    status = 422 if problem else 200
    if shared is not None:
        base = f"/applications/{application_id}"
        about = {"name": shared.name, "base": base, "problem": problem}
        return context.render("labelling.html", status, **about, **values)
    application = await pages.load(context)
    template = "application_work.html"
    return pages.render(context, application, template, status, problem=problem, **values)


async def _given(context: PageContext, application_id: str) -> Share | None:
    """Return the share of who may only label the application; None for all others."""
    for one in (await context.client.shared()).items:
        if one.application_id == application_id and one.role == ShareRole.LABELLER:
            return one
    return None


async def _turn(context: PageContext, application_id: str) -> dict[str, Any]:
    """Return what a page shows of the visitor's turn."""
    turn = await context.client.next_work(application_id)
    item = turn.item
    offered = []
    if item is not None:
        likely = [option.value for option in item.options]
        others = [value for value in item.choices if value not in likely]
        offered = [*likely, *others][:_KEYS]
    weights = {one.value: one.weight for one in item.options} if item else {}
    return {"turn": turn, "item": item, "offered": offered, "weights": weights}


def _page_of(application_id: str) -> str:
    return f"/applications/{application_id}/work"


_HERE = "/applications/{application}/work"
routes = [
    Route("/work", overview),
    Route(_HERE, show),
    Route(_HERE, answer, methods=["POST"]),
]
