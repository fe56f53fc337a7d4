"""Adding a model to the knowledge base: its description, and the checks as they run.

For providers; private ones are added by command.
"""

from urllib.parse import quote

from starlette.datastructures import UploadFile
from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.knowledge import LARGEST_MODULE
from easeml.contract.states import CheckState, Role
from easeml.errors import EasemlError, InvalidInput, NotFound, TooLarge
from easeml.web.page_context import PageContext, back_to, signed_in

EXAMPLE = """\
name = "adaboost"
kind = "model"
version = "1.0"
contract = 1
title = "AdaBoost"
about = "Many small trees, each with an eye on what those before got wrong."
reference = "Y. Freund and R. Schapire, 1997"
accepts = "classification"

[runtime]
kind = "python"
entry = "sklearn.ensemble:AdaBoostClassifier"

[space]
n_estimators = { ".int" = [10, 300], ".scale" = "log", ".default" = 50 }
learning_rate = { ".float" = [0.01, 2.0], ".scale" = "log", ".default" = 1.0 }
"""


@signed_in
async def ask(context: PageContext) -> Response:
    """Ask for the description of a model, with an example to begin with."""
    _require_provider(context)
    return context.render("module_add.html", toml=EXAMPLE, problem=None)


@signed_in
async def add(context: PageContext) -> Response:
    """Have the model checked."""
    form = await context.form()
    _require_provider(context)
    toml = str(form.get("toml", "")).replace("\r\n", "\n")
    try:
        file = form.get("file")
        if isinstance(file, UploadFile) and file.filename:
            toml = await _text(file)
        made = await context.client.add_module(toml)
    except EasemlError as error:
        return context.render("module_add.html", 422, toml=toml, problem=error)
    return back_to(f"/knowledge/added/{quote(made.name, safe='')}")


@signed_in
async def show(context: PageContext) -> Response:
    """Show the checks of a model that was added: to providers, and to those whose it is alone."""
    found = await context.client.module_checks(quote(context.path("name"), safe=""))
    return context.render(
        "module_checks.html",
        module=found,
        done=sum(one.state == CheckState.PASSED for one in found.checks),
    )


async def _text(file: UploadFile) -> str:
    """Return the text of a file. Raises TooLarge, InvalidInput for what is no text."""
    content = await file.read(LARGEST_MODULE + 1)
    if len(content) > LARGEST_MODULE:
        raise TooLarge(
            f"A module file has at most {LARGEST_MODULE:,} bytes.", where=file.filename or ""
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        remedy = "Choose a module.toml, saved as UTF-8."
        raise InvalidInput(
            "This file is not text.", where=file.filename or "", remedy=remedy
        ) from error


def _require_provider(context: PageContext) -> None:
    """Raise NotFound for others: they need not know of these pages."""
    if context.user.role != Role.PROVIDER:
        raise NotFound("There is no such page.", where=context.request.url.path)


routes = [
    Route("/knowledge/add", ask),
    Route("/knowledge/add", add, methods=["POST"]),
    Route("/knowledge/added/{name}", show),
]
