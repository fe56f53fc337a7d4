"""What an endpoint keeps of its requests, and what was true of the rows that it was asked about."""

from collections import Counter

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from easeml.client import made_request
from easeml.client.feedback_files import parts_of, told_of_part
from easeml.contract.production import Feedback, NewRequestLog
from easeml.contract.watching import NewWatchLabels
from easeml.decimals import with_point
from easeml.errors import InvalidInput
from easeml.web.forms import chosen_file
from easeml.web.page_context import PageContext, back_to, signed_in
from easeml.web.views.application import TOLD

_AT_RANDOM = {"yes": True, "no": False}
_HERE = "/applications/{application}"


@signed_in
async def keep(context: PageContext) -> Response:
    """Keep a share of the requests from now on, or none."""
    form = await context.form()
    application_id = context.path("application")
    columns = str(form.get("mask", "")).split(",")
    wish = made_request(
        NewRequestLog,
        share=with_point(str(form.get("share", "")).strip(), "share"),
        days=with_point(str(form.get("days", "")).strip(), "days"),
        mask=[one.strip() for one in columns if one.strip()],
    )
    await context.client.set_request_log(application_id, wish)
    return back_to(f"/applications/{application_id}/history#kept")


@signed_in
async def ask_for_watching(context: PageContext) -> Response:
    """Ask people about rows of the newest look, drawn at random."""
    form = await context.form()
    application_id = context.path("application")
    wish = made_request(NewWatchLabels, rows=str(form.get("rows", "")).strip())
    await context.client.ask_for_watching(application_id, wish)
    return back_to(f"/applications/{application_id}/history#watch")


@signed_in
async def tell(context: PageContext) -> Response:
    """Say what was true of the rows of a file, or of one row; the page then says how many were known.

    It has an address of its own, so that it can be followed and loaded again.
    """
    form = await context.form()
    application_id = context.path("application")
    found = Counter[str]()
    sent = 0
    target = (await context.client.application(application_id)).target
    for part in await _told(form, target):
        with told_of_part(sent):
            answer = await context.client.give_feedback(application_id, part)
        found.update(answer.model_dump())
        sent += len(part.root)
    counts = "-".join(str(found[name]) for name in TOLD)
    return back_to(f"/applications/{application_id}/history?told={counts}#kept")


async def _told(form: FormData, target: str) -> list[Feedback]:
    """Return what a form says was true of ``target``; raises ``InvalidInput``."""
    file, at_random = chosen_file(form.get("file")), _AT_RANDOM.get(str(form.get("at_random")))
    if file is not None:
        content = (await file.read()).decode("utf-8-sig", errors="replace")
        return list(parts_of(content, str(file.filename), target=target, at_random=at_random))
    named: dict[str, str | bool] = {} if at_random is None else {"at_random": at_random}
    for name in ("request_id", "row", "key", "value"):
        text = str(form.get(name, "")).strip()
        if text:
            named[name] = text
    if not {"request_id", "key", "value"} & named.keys():
        raise InvalidInput("Choose a file, or say what was true of a row.", where="value")
    named.setdefault("value", "")  # a row may have no label
    return [made_request(Feedback, root=[named])]


@signed_in
async def feed(context: PageContext) -> Response:
    """Let the rows whose truth came join the data."""
    await context.form()
    application_id = context.path("application")
    await context.client.feed_told(application_id)
    return back_to(f"/applications/{application_id}/data")


routes = [
    Route(f"{_HERE}/feed-told", feed, methods=["POST"]),
    Route(f"{_HERE}/keeping", keep, methods=["POST"]),
    Route(f"{_HERE}/watch-labels", ask_for_watching, methods=["POST"]),
    Route(f"{_HERE}/truth", tell, methods=["POST"]),
]
