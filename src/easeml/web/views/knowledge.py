"""The knowledge base: what can be plugged in, where it fits, and how it has done."""

from typing import Any
from urllib.parse import quote

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.knowledge import Module
from easeml.errors import NotFound
from easeml.web.page_context import PageContext, back_to, signed_in

_KINDS = {
    "model": "Models",
    "transform": "Transforms",
    "objective": "Objectives",
    "optimizer": "Optimizers",
}


@signed_in
async def show(context: PageContext) -> Response:
    """Show all modules by kind, or one of them."""
    base = await context.client.knowledge_base()
    wanted, word = (
        context.request.query_params.get("module", ""),
        context.request.query_params.get("word", "").strip(),
    )
    if wanted:
        module = next((one for one in base.modules if one.name == wanted), None)
        if module is None:
            raise NotFound(f"There is no module {wanted!r}.", where="module")
        return context.render("module.html", module=module, space=_space(module), base=base)
    found = [
        one for one in base.modules if word.lower() in f"{one.name} {one.title} {one.about}".lower()
    ]
    groups = {title: [one for one in found if one.kind == kind] for kind, title in _KINDS.items()}
    return context.render(
        "knowledge.html", groups=groups, word=word, problems=base.problems, arriving=base.arriving
    )


def _space(module: Module) -> list[tuple[str, str, Any]]:
    """Return name, what it may be in words, and default of each value of a configuration."""
    return [(name, *_told(domain)) for name, domain in module.space.items()]


def _told(domain: Any) -> tuple[str, Any]:
    if not isinstance(domain, dict):
        return "fixed", domain
    if ".choice" in domain:
        return "one of " + ", ".join(map(str, domain[".choice"])), domain.get(
            ".default", domain[".choice"][0]
        )
    kind = ".int" if ".int" in domain else ".float"
    low, high = domain[kind]
    noun = "a whole number" if kind == ".int" else "a number"
    scale = ", on a logarithmic scale" if domain.get(".scale") == "log" else ""
    return f"{noun} from {low:g} to {high:g}{scale}", domain.get(".default", "")


@signed_in
async def archive(context: PageContext) -> Response:
    """Archive a model, or take it back."""
    form = await context.form()
    name = str(form.get("module", ""))
    act = (
        context.client.restore_module
        if form.get("action") == "restore"
        else context.client.archive_module
    )
    await act(quote(name, safe=""))
    return back_to(f"/knowledge?module={quote(name)}")


routes = [Route("/knowledge", show), Route("/knowledge/archive", archive, methods=["POST"])]
