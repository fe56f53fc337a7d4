"""Adding a module to the knowledge base: a description or a folder of programs, and the checks as
they run.

Providers add for everybody; everybody adds folders for their own tenant.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import quote

from starlette.datastructures import UploadFile
from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.knowledge import LARGEST_MODULE, ModuleChecks
from easeml.contract.states import CheckState, Role
from easeml.contract.zipped_module import LARGEST_ZIP
from easeml.contract.zipped_module import read as read_zip
from easeml.errors import EasemlError, InvalidInput, TooLarge
from easeml.web.forms import chosen_file
from easeml.web.page_context import PageContext, back_to, signed_in

_DESCRIPTION = "module.toml"
_CHUNK = 2**20
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
    """Ask for the description of a model, with an example to begin with, or a folder of programs."""
    return context.render("module_add.html", toml=EXAMPLE, problem=None)


@signed_in
async def add(context: PageContext) -> Response:
    """Have the module checked."""
    form = await context.form()
    toml = str(form.get("toml", "")).replace("\r\n", "\n")
    is_private = not _is_provider(context) or bool(form.get("private"))
    try:
        folder = _named(form.getlist("folder"))
        zip_file = chosen_file(form.get("zip"))
        file = chosen_file(form.get("file"))
        if folder:
            image = str(form.get("image", ""))
            made = await _add_folder(context, folder, is_private, image)
        elif zip_file is not None:
            made = await _add_zip(context, zip_file, is_private)
        else:
            if file is not None:
                toml = await _text(file)
            made = await context.client.add_module(toml, private=is_private)
    except EasemlError as error:
        return context.render("module_add.html", 422, toml=toml, problem=error)
    return back_to(f"/knowledge/added/{quote(made.name, safe='')}")


async def _add_folder(
    context: PageContext, folder: dict[str, UploadFile], is_private: bool, image: str
) -> ModuleChecks:
    """Have a folder of programs checked: its texts, and the tar file of its image if it has one.

    ``image``: the id of the upload that is this file, where the page has sent it before.
    """
    if _DESCRIPTION not in folder:
        raise InvalidInput(
            f"There is no {_DESCRIPTION} in the folder.",
            where="folder",
            remedy="Begin with `easeml module init`.",
        )
    toml = await _text(folder.pop(_DESCRIPTION))
    files = {}
    for name, file in folder.items():
        if name.endswith(".tar"):
            image = await _sent(context, file)
        else:
            files[name] = await _text(file)
    return await context.client.add_module(
        toml, private=is_private, files=files, image_upload=image
    )


async def _add_zip(context: PageContext, file: UploadFile, is_private: bool) -> ModuleChecks:
    """Have a folder of programs checked that comes as a zip file."""
    texts = read_zip(await file.read(LARGEST_ZIP + 1))
    toml = texts.pop(_DESCRIPTION)
    return await context.client.add_module(toml, private=is_private, files=texts)


def _named(given: Sequence[UploadFile | str]) -> dict[str, UploadFile]:
    """Return the files of a folder by their names in it, without hidden ones.

    Raises ``InvalidInput`` for one that lies in another folder.
    """
    found = {}
    for field in given:
        file = chosen_file(field)
        if file is None:
            continue
        path = str(file.filename)
        *folders, name = path.split("/")
        if name.startswith("."):
            continue
        if len(folders) > 1:
            raise InvalidInput(
                "This lies in a folder of its own.",
                where=path,
                remedy=f"Put all files beside {_DESCRIPTION}.",
            )
        found[name] = file
    return found


async def _sent(context: PageContext, file: UploadFile) -> str:
    """Hand a file on to the service as an upload; return its id."""
    with NamedTemporaryFile() as copy:
        while chunk := await file.read(_CHUNK):
            await asyncio.to_thread(copy.write, chunk)
        copy.flush()
        return await context.client.send_in_pieces(Path(copy.name))


@signed_in
async def show(context: PageContext) -> Response:
    """Show the checks of a model that was added: to providers, and to those whose it is alone."""
    name = quote(context.path("name"), safe="")
    found = await context.client.module_checks(name)
    done = sum(one.state == CheckState.PASSED for one in found.checks)
    return context.render("module_checks.html", module=found, done=done)


async def _text(file: UploadFile) -> str:
    """Return the text of a file. Raises TooLarge, InvalidInput for what is no text."""
    where = file.filename or ""
    content = await file.read(LARGEST_MODULE + 1)
    if len(content) > LARGEST_MODULE:
        raise TooLarge(f"A module file has at most {LARGEST_MODULE:,} bytes.", where=where)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        remedy = "Choose a module.toml, saved as UTF-8."
        raise InvalidInput("This file is not text.", where=where, remedy=remedy) from error


def _is_provider(context: PageContext) -> bool:
    return context.user.role == Role.PROVIDER


routes = [
    Route("/knowledge/add", ask),
    Route("/knowledge/add", add, methods=["POST"]),
    Route("/knowledge/added/{name}", show),
]
