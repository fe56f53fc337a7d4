"""What is known of the model that an application serves, as Markdown and as HTML.

To keep and to pass on.
"""

import re
from functools import partial
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from easeml.errors import NotFound, NotReady
from easeml.web import model_charts
from easeml.web.page_context import PageContext, listed, signed_in
from easeml.web.rendering import render
from easeml.web.report_parts import shown
from easeml.web.views import application as pages

_FORMS = {"md": ("model_card.md", "text/markdown"), "html": ("model_card.html", "text/html")}


@signed_in
async def download(context: PageContext) -> Response:
    """Give the model card of the live model as a file."""
    form = context.path("form")
    if form not in _FORMS:
        raise NotFound("A model card is Markdown (md) or HTML (html).", where=form)
    template, media_type = _FORMS[form]
    known = await _known(context)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", known["application"].name).strip("-.") or "model"
    headers = {"content-disposition": f'attachment; filename="{name}-model-card.{form}"'}
    return Response(
        render(context.request, template, **known), media_type=media_type, headers=headers
    )


@signed_in
async def show(context: PageContext) -> Response:
    """Show the model card of the live model as a page that prints well: browsers save it as PDF."""
    return context.render("model_card_page.html", **await _known(context))


async def _known(context: PageContext) -> dict[str, Any]:
    """Return what the templates of the card need.

    Raises NotFound, NotReady while nothing serves.
    """
    application = await pages.load(context)
    live = application.live_model
    if live is None:
        raise NotReady("Nothing serves yet.", remedy="Come back when the first model is trained.")
    view = await context.client.task_view(live.task_id)
    evaluation = view.report.evaluation
    answers = await listed(context.client.task_reports(live.task_id))
    return {
        "application": application,
        "live": live,
        "version": await context.client.version(application.version_id),
        "pipeline": view.detail.spec.get("pipeline") or {},
        "report": view.report,
        "answers": list(map(partial(shown, context.site.titles), answers)),
        "confusion": model_charts.confusion(evaluation) if evaluation else [],
    }


routes = [
    Route("/applications/{application}/model-card", show),
    Route("/applications/{application}/model-card.{form}", download),
]
