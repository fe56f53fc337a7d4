"""The data of an application: its versions, rows that join, and training pairs that are off or on."""

from itertools import islice
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.datasets import most_telling
from easeml.errors import EasemlError, InvalidInput
from easeml.web.page_context import PageContext, back_to, listed, signed_in
from easeml.web.views import application as pages

_SHOWN_VERSIONS = 30
_SHOWN_COLUMNS = 8
_MOST_COLUMNS = 200  # of what is told of each
_SHOWN_DOUBTS = 10
_PAGE = 50
_ROLES = {
    "": "as the rows before were divided",
    "train": "to train",
    "validation": "to validate",
    "test": "to test",
    "pool": "pool: without answers, could be labelled",
    "production": "production: without answers, what the endpoint sees",
}
_STATES = {"": "on and off", "on": "on only", "off": "off only"}
_EXPORTS = {
    "csv": "CSV",
    "parquet": "Parquet",
    "jsonl": "JSON lines",
    "arff": "ARFF",
    "zip": "ease.ml dataset",
}


@signed_in
async def show(context: PageContext) -> Response:
    """Show the columns as declared, the versions and their changes, and where rows are added."""
    application = await pages.load(context)
    version = await context.client.version(application.version_id)
    versions = await listed(context.client.versions(application.id))
    doubts = await context.client.doubts(application.id, limit=_SHOWN_DOUBTS)
    source = await context.client.source(application.id)
    return pages.render(
        context,
        application,
        "application_data.html",
        version=version,
        columns=most_telling(version.columns, _MOST_COLUMNS),
        doubts=doubts,
        source=source if source.address else None,
        versions=versions[:_SHOWN_VERSIONS],
        more=max(0, len(versions) - _SHOWN_VERSIONS),
        roles=_ROLES,
        exports=_EXPORTS,
    )


@signed_in
async def rows(context: PageContext) -> Response:
    """Show a page of the training pairs."""
    return await _show_rows(context)


@signed_in
async def switch(context: PageContext) -> Response:
    """Switch the chosen rows off or on, in a new version; the next page offers the way back."""
    form = await context.form()
    way = str(form.get("way", ""))
    if way not in ("off", "on"):
        raise InvalidInput(f"Rows are switched off or on, not {way!r}.", where="way")
    chosen = [_row(str(value)) for value in form.getlist("row")]
    if not chosen:
        problem = InvalidInput("No row was chosen.", remedy="Tick the rows first.")
        return await _show_rows(context, problem=problem)
    switched: dict[str, list[int]] = {"off": [], "on": []}
    switched[way] = chosen
    seen = str(form.get("version", "")) or None
    try:
        await context.client.refine(
            context.path("application"), off=switched["off"], on=switched["on"], version_id=seen
        )
    except EasemlError as error:
        return await _show_rows(context, problem=error)
    # The page that follows is the one that was left, with the way back.
    fields = {}
    for name in ("label", "only", "after"):
        if form.get(name):
            fields[name] = str(form[name])
    fields["switched"] = way
    fields["rows"] = ",".join(map(str, chosen))
    return back_to(f"{context.request.url.path}?{urlencode(fields)}")


@signed_in
async def look(context: PageContext) -> Response:
    """Have a task look for suspicious rows."""
    await context.form()
    await context.client.ask_tool(context.path("application"), "label-errors")
    return back_to(f"/applications/{context.path('application')}/data/rows")


@signed_in
async def export(context: PageContext) -> Response:
    """Give the rows of a version as a file."""
    form = context.request.query_params.get("format", "csv")
    version = await context.client.version(context.path("version"))
    content = await context.client.export(version.id, form)
    name = f"version-{version.number}.{form}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


@signed_in
async def refresh(context: PageContext) -> Response:
    """Fetch the data set again from where it came."""
    await context.form()
    application = await context.client.application(context.path("application"))
    await context.client.refresh_dataset(application.dataset_id)
    return back_to(f"/applications/{application.id}/data#source")


@signed_in
async def use(context: PageContext) -> Response:
    """Let the application go on with another version of its data."""
    await context.form()
    application_id = context.path("application")
    await context.client.use_version(application_id, context.path("version"))
    return back_to(f"/applications/{application_id}/data#versions")


@signed_in
async def set_follows(context: PageContext) -> Response:
    """Say whether new rows of the source join the application's data."""
    follows = str((await context.form()).get("follows", "")) == "1"
    application = await context.client.set_follows(context.path("application"), follows)
    return back_to(f"/applications/{application.id}/data#source")


@signed_in
async def look_for_doubts(context: PageContext) -> Response:
    """Have a task look for doubtful cells."""
    await context.form()
    await context.client.look_for_doubts(context.path("application"))
    return back_to(f"/applications/{context.path('application')}/data")


@signed_in
async def export_doubts(context: PageContext) -> Response:
    """Give the doubtful cells as a file."""
    form = context.request.query_params.get("format", "csv")
    content = await context.client.export_doubts(context.path("application"), form)
    headers = {"content-disposition": f'attachment; filename="doubts.{form}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


async def _show_rows(context: PageContext, problem: EasemlError | None = None) -> Response:
    application = await pages.load(context)
    asked = context.request.query_params
    label = asked.get("label", "")
    only = asked.get("only", "")
    after = asked.get("after", "")
    after = after if after.isdigit() else ""
    page = await context.client.train_rows_page(
        application.id,
        label=label or None,
        on={"on": True, "off": False}.get(only),
        suspicious=True,
        after=after or None,
        limit=_PAGE,
    )
    columns = list(islice(page.items[0].values, _SHOWN_COLUMNS)) if page.items else []
    filters = {name: value for name, value in (("label", label), ("only", only)) if value}
    switched: dict[str, Any] = {"way": "", "rows": []}
    if asked.get("switched") in ("off", "on"):
        ids = asked.get("rows", "").split(",")
        switched = {"way": asked["switched"], "rows": [one for one in ids if one.isdigit()]}
    return pages.render(
        context,
        application,
        "application_rows.html",
        page=page,
        columns=columns,
        label=label,
        only=only,
        states=_STATES,
        after=after,
        older=str(max(0, int(after) - _PAGE)) if after else "",
        query=urlencode(filters),
        switched=switched,
        problem=problem,
    )


def _row(text: str) -> int:
    if not text.isdecimal():
        raise InvalidInput(f"{text!r} is not the id of a row.", where="row")
    return int(text)


_HERE = "/applications/{application}/data"
routes = [
    Route(_HERE, show),
    Route(f"{_HERE}/rows", rows),
    Route(f"{_HERE}/rows", switch, methods=["POST"]),
    Route(f"{_HERE}/look", look, methods=["POST"]),
    Route(f"{_HERE}/refresh", refresh, methods=["POST"]),
    Route(f"{_HERE}/follows", set_follows, methods=["POST"]),
    Route(f"{_HERE}/use/{{version}}", use, methods=["POST"]),
    Route(f"{_HERE}/doubts", export_doubts),
    Route(f"{_HERE}/doubts", look_for_doubts, methods=["POST"]),
    Route(f"{_HERE}/export/{{version}}", export),
]
