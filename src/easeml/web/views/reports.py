"""What is known of the model that an application serves, to keep and to pass on: as Markdown and as HTML."""

import re

from starlette.responses import Response
from starlette.routing import Route

from easeml.errors import NotFound, NotReady
from easeml.web import model_charts
from easeml.web.rendering import render
from easeml.web.views import application as pages
from easeml.web.visit import Visit, signed_in

_FORMS = {"md": ("model_card.md", "text/markdown"), "html": ("model_card.html", "text/html")}


@signed_in
async def download(visit: Visit) -> Response:
    """Give the model card of the live model as a file."""
    form = visit.path("form")
    if form not in _FORMS:
        raise NotFound("A model card is Markdown (md) or HTML (html).", where=form)
    template, media_type = _FORMS[form]
    application = await pages.load(visit)
    live = application.live_model
    if live is None:
        raise NotReady("Nothing serves yet.", remedy="Come back when the first model is trained.")
    version = await visit.client.version(application.version_id)
    detail = await visit.client.task_detail(live.task_id)
    report = await visit.client.task_report(live.task_id)
    text = render(
        visit.request,
        template,
        application=application,
        live=live,
        version=version,
        pipeline=detail.spec.get("pipeline") or {},
        report=report,
        confusion=model_charts.confusion(report.evaluation) if report.evaluation else [],
    )
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", application.name).strip("-.") or "model"
    headers = {"content-disposition": f'attachment; filename="{name}-model-card.{form}"'}
    return Response(text, media_type=media_type, headers=headers)


routes = [Route("/applications/{application}/model-card.{form}", download)]
