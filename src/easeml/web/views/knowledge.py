"""The knowledge base: what can be plugged in, where it fits, and how it has done."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.knowledge import RUNTIMES, Module
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
    asked = context.request.query_params
    wanted = asked.get("module", "")
    if wanted:
        module = _named(base.modules, wanted)
        return context.render(
            "module.html", module=module, space=_space(module), base=base, runtimes=RUNTIMES
        )
    word = asked.get("word", "").strip()
    return context.render(
        "knowledge.html",
        groups=_groups(base.modules, word.lower()),
        word=word,
        problems=base.problems,
        arriving=base.arriving,
    )


def _groups(modules: Iterable[Module], word: str) -> dict[str, list[Module]]:
    """Return the modules that speak of a word, by the title of their kind."""
    groups: dict[str, list[Module]] = {title: [] for title in _KINDS.values()}
    for one in modules:
        text = f"{one.name} {one.title} {one.about}".lower()
        if one.kind in _KINDS and word in text:
            groups[_KINDS[one.kind]].append(one)
    return groups


def _named(modules: Iterable[Module], name: str) -> Module:
    for one in modules:
        if one.name == name:
            return one
    raise NotFound(f"There is no module {name!r}.", where="module")


def _space(module: Module) -> list[tuple[str, str, Any]]:
    """Return name, what it may be in words, and default of each value of a configuration."""
    return [(name, *_told(domain)) for name, domain in module.space.items()]


def _told(domain: Any) -> tuple[str, Any]:
    """Return what a value may be, in words, and its default."""
    if not isinstance(domain, dict):
        return "fixed", domain
    if ".choice" in domain:
        options = domain[".choice"]
        words = f"one of {', '.join(map(str, options))}"
        return words, domain.get(".default", options[0])
    if ".int" in domain:
        noun = "a whole number"
        low, high = domain[".int"]
    else:
        noun = "a number"
        low, high = domain[".float"]
    words = f"{noun} from {low:g} to {high:g}"
    if domain.get(".scale") == "log":
        words += ", on a logarithmic scale"
    return words, domain.get(".default", "")


@signed_in
async def archive(context: PageContext) -> Response:
    """Archive a model, or take it back."""
    form = await context.form()
    name = str(form.get("module", ""))
    quoted = quote(name, safe="")
    if form.get("action") == "restore":
        await context.client.restore_module(quoted)
    else:
        await context.client.archive_module(quoted)
    return back_to(f"/knowledge?module={quote(name)}")


routes = [Route("/knowledge", show), Route("/knowledge/archive", archive, methods=["POST"])]
