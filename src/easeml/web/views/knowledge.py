"""The knowledge base: what easeml can try, where it fits, and how it has done."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.web.visit import Visit, signed_in

_KINDS = {"model": "Models", "transform": "Transforms", "objective": "Objectives"}


@signed_in
async def show(visit: Visit) -> Response:
    """Show the modules, kind by kind."""
    modules = [one async for one in visit.client.modules()]
    kinds = [(title, [one for one in modules if one.kind == kind]) for kind, title in _KINDS.items()]
    return visit.render("knowledge.html", kinds=kinds)


routes = [Route("/knowledge", show)]
