"""Work of people: one item at a time, answered with the keyboard."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.keeping import Share
from easeml.contract.permissions import OF_SHARE
from easeml.contract.states import ShareRole, VersionState
from easeml.contract.work import WorkImported
from easeml.errors import EasemlError, InvalidInput, NotFound
from easeml.web.forms import chosen_file
from easeml.web.page_context import PageContext, back_to, signed_in, status_of
from easeml.web.permissions import allowed
from easeml.web.views import application as pages

_NOTHING_REFUSED: Mapping[str, str] = MappingProxyType({})
_KEYS = 9  # answers that have a digit
_FORMATS = {"csv": "csv", "json": "label-studio"}  # of files, by their ending


@signed_in
async def overview(context: PageContext) -> Response:
    """Show the applications that were given to the visitor; the only one opens at once."""
    shared = (await context.client.shared()).items
    if [one.role for one in shared] == [ShareRole.LABELLER]:
        return back_to(_page_of(shared[0].application_id))
    return context.render("work.html", shared=shared)


@signed_in
async def show(context: PageContext) -> Response:
    """Show the item that the visitor has now, or what there is to do instead."""
    return await _show(context)


@signed_in
async def answer(context: PageContext) -> Response:
    """Keep what the visitor did with an item, and show the next."""
    form = await context.form()
    application_id = context.path("application")
    way, value = _answered(form)
    try:
        if way == "import":
            return await _show(context, imported=await _imported(context, form))
        if way == "use":
            version = await context.client.use_answers(application_id)
            if version.state == VersionState.READY:  # the one that was there
                return back_to(f"{_page_of(application_id)}?used=none")
        else:
            item_id = str(form.get("item", ""))
            await context.client.answer_work(item_id, value=value, way=way)
    except EasemlError as error:
        refused = {str(form.get("item", "")): str(form.get("other", ""))}
        return await _show(context, error, refused=refused)
    return back_to(_page_of(application_id))


@signed_in
async def download(context: PageContext) -> Response:
    """Give all items as a file, to be answered elsewhere."""
    ending = context.path("ending")
    if ending not in _FORMATS:
        raise NotFound("Items come as CSV (csv) or for Label Studio (json).", where=ending)
    found = await context.client.export_work(context.path("application"), format=_FORMATS[ending])
    headers = {"content-disposition": f'attachment; filename="items.{ending}"'}
    media_type = {"csv": "text/csv", "json": "application/json"}[ending]
    return Response(found.text, media_type=media_type, headers=headers)


async def _imported(context: PageContext, form: FormData) -> WorkImported:
    """Take the answers of the file of a form; raises ``InvalidInput`` where there is none."""
    file = chosen_file(form.get("file"))
    if file is None:
        raise InvalidInput("Choose a file with answers.", where="file")
    text = (await file.read()).decode("utf-8-sig", errors="replace")
    return await context.client.import_work(context.path("application"), str(file.filename), text)


def _answered(form: FormData) -> tuple[str, str]:
    """Return in which way an item was answered, and with what; a value always answers."""
    way = str(form.get("way", "answer"))
    if way == "other":
        return "answer", str(form.get("other", "")).strip()
    value = str(form.get("value", ""))
    if value:
        way = "answer"
    return way, value


async def _show(
    context: PageContext,
    problem: EasemlError | None = None,
    imported: WorkImported | None = None,
    refused: Mapping[str, str] = _NOTHING_REFUSED,
) -> Response:
    """Show the page to owners of the application, or the little page to labellers.

    ``imported``: what became of a file of answers. ``refused``: what was typed, by the item that it
    was no answer to: it stands in the field again, to be corrected, as long as that item is asked.
    """
    application_id = context.path("application")
    shared = await _given(context, application_id)
    values = await _turn(context, application_id)
    values["refused"] = refused
    status = status_of(problem)
    if shared is not None:
        base = f"/applications/{application_id}"
        may = allowed(OF_SHARE[shared.role])
        about = {"name": shared.name, "base": base, "problem": problem, "may": may}
        return context.render("labelling.html", status, **about, **values)
    application = await pages.load(context)
    template = "application_work.html"
    told = {"problem": problem, "imported": imported, **values}
    return pages.render(context, application, template, status, **told)


async def _given(context: PageContext, application_id: str) -> Share | None:
    """Return the share of a person who may only label the application; None for all others."""
    shared = await context.client.shared()
    wanted = (application_id, ShareRole.LABELLER)
    return next((one for one in shared.items if (one.application_id, one.role) == wanted), None)


async def _turn(context: PageContext, application_id: str) -> dict[str, Any]:
    """Return what a page shows of the visitor's turn."""
    turn = await context.client.next_work(application_id)
    used_none = context.request.query_params.get("used") == "none"
    item = turn.item
    if item is None:
        return {
            "turn": turn,
            "item": None,
            "offered": [],
            "weights": {},
            "used_none": used_none,
        }
    weights = {option.value: option.weight for option in item.options}
    # What is likely comes first, then what stands; a dictionary keeps each value once.
    stands = filter(None, [item.given])
    offered = dict.fromkeys([*weights, *stands, *item.choices])
    return {
        "turn": turn,
        "item": item,
        "offered": list(offered)[:_KEYS],
        "weights": weights,
        "used_none": used_none,
    }


def _page_of(application_id: str) -> str:
    return f"/applications/{application_id}/work"


_HERE = "/applications/{application}/work"
routes = [
    Route("/work", overview),
    Route(_HERE, show),
    Route(_HERE, answer, methods=["POST"]),
    Route(f"{_HERE}/items.{{ending}}", download),
]
