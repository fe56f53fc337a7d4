"""How the data of an application came about: a picture to walk through, one version at a time."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.applications import Application
from easeml.contract.states import VersionState
from easeml.contract.versions import Comparison, FlowStep, VersionLine
from easeml.errors import NotFound
from easeml.figures import Box
from easeml.web.lineage_graph import live_box, step_boxes, version_boxes
from easeml.web.page_context import PageContext, listed, signed_in
from easeml.web.views import application as pages

_SHOWN = 40  # versions in a picture
_PAGE = "/applications/{application}/data/lineage"


@signed_in
async def show(context: PageContext) -> Response:
    """Show the versions as a graph, and of one what changed, what learned from it, and its steps."""
    history = await context.client.serving_history(context.path("application"))
    application = history.application
    versions = await listed(context.client.versions(application.id))
    chosen = _chosen(versions, context.request.query_params.get("version", ""), application)
    here = _PAGE.format(application=application.id)
    shown = _shown(versions, chosen)
    steps = list(map(FlowStep.model_validate, chosen.operation.get("steps", ())))
    return pages.render(
        context,
        application,
        "application_lineage.html",
        boxes=_boxes(context, application, shown, chosen, here),
        hidden=len(versions) - len(shown),
        chosen=chosen,
        compared=await _compared(context, chosen),
        models=[model for model in history.models if model.version == chosen.number],
        steps=step_boxes(steps, {one.number: one.id for one in versions}, here),
    )


def _boxes(
    context: PageContext,
    application: Application,
    shown: list[VersionLine],
    chosen: VersionLine,
    here: str,
) -> dict[str, Box]:
    """Return a box for each version, and one for the model that serves, where its version is shown."""
    boxes = version_boxes(shown, chosen.id, here)
    live = application.live_model
    if live is None:
        return boxes
    for one in shown:
        if one.number == live.version:
            title = context.site.titles.of(live.name)
            boxes[live.id] = live_box(title, one.id)
    return boxes


def _chosen(versions: list[VersionLine], asked: str, application: Application) -> VersionLine:
    """Return the version that is looked at: the one in use, where none is asked for."""
    wanted = asked or application.version_id
    for one in versions:
        if one.id == wanted:
            return one
    raise NotFound("There is no such version.", where=wanted, remedy="Choose one of the picture.")


def _shown(versions: list[VersionLine], chosen: VersionLine) -> list[VersionLine]:
    """Return the newest versions, or those from the chosen one on, where it is older."""
    first = max(0, versions.index(chosen) - _SHOWN + 1)
    return versions[first : first + _SHOWN]


async def _compared(context: PageContext, chosen: VersionLine) -> Comparison | None:
    """Return what the version has that its parent had not; None where it has no prepared rows."""
    is_prepared = chosen.state == VersionState.READY and bool(chosen.rows)
    return await context.client.compare(chosen.id) if is_prepared else None


routes = [Route(_PAGE, show)]
