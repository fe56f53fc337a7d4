"""``module``: the knowledge base."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from easeml.cli.exit_codes import fail_if
from easeml.cli.lookup import first_holding, first_that
from easeml.cli.options import Json
from easeml.cli.output import print_done, print_found, print_list, print_pairs, say
from easeml.cli.uploading import with_bar
from easeml.client import Client
from easeml.contract.knowledge import LARGEST_MODULE, RUNTIMES, KnowledgeBase, Module, ModuleChecks
from easeml.contract.states import CheckState, ModuleState
from easeml.errors import InvalidInput, NotFound, TooLarge

if TYPE_CHECKING:
    from easeml.modules import checking

modules = typer.Typer(no_args_is_help=True, help="The knowledge base: what can be plugged in.")

ModuleName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the module.")]
_LOOK_SECONDS = 0.3
_ENDED = (CheckState.PASSED, CheckState.FAILED)


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.add_typer(modules, name="module")


@modules.command("list")
def list_modules(
    kind: Annotated[
        str | None, typer.Option(help="model, transform, objective or optimizer.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List what can be plugged in, and how models have done."""
    with Client() as client:
        every = client.knowledge_base().modules
    found = [one for one in every if kind in (None, one.kind)]
    columns = {
        "name": "name",
        "kind": "kind",
        "title": "title",
        "version": "version",
        "state": _state,
        "tasks": _tasks,
    }
    print_list(found, columns, as_json=as_json)


def _tasks(one: Module) -> int:
    return one.record.tasks if one.record else 0


def _state(one: Module) -> str:
    """Return what is to be known of a module before it is used; empty for one that ships."""
    return first_holding(
        {
            f"superseded by {one.superseded_by}": one.archived and one.superseded_by,
            "archived": one.archived,
            f"needs {one.lacks}": one.lacks,
            "private": one.private,
            "added": one.added,
        }
    )


@modules.command("show")
def show_module(name: ModuleName, as_json: Json = False) -> None:
    """Show a module: what it takes, what can be tuned, where it fits."""
    with Client() as client:
        found = _named(client.knowledge_base(), name)
    print_found(found, _print_module, as_json=as_json)


def _print_module(found: Module) -> None:
    measure = found.measure.in_words if found.measure else ""
    install = f"pip install {found.lacks}" if found.lacks else ""
    print_pairs(
        [
            ("name", found.name),
            ("kind", found.kind),
            ("title", found.title),
            ("about", found.about),
            ("reference", found.reference),
            ("version", found.version),
            ("measure", measure),
            ("runs", RUNTIMES.get(found.runtime, found.runtime)),
            ("takes", found.schema_in),
            ("gives", found.schema_out),
            ("after", found.transforms),
            ("tuned", list(found.space)),
            ("fits", [one.name for one in found.fits]),
            ("archived", "yes" if found.archived else ""),
            ("to use it", install),
        ]
    )


@modules.command("init")
def init_module(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder that is made.")],
    kind: Annotated[str, typer.Option(help="model, transform, objective or optimizer.")] = "model",
    language: Annotated[str, typer.Option(help="python, r or shell.")] = "python",
    image: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The tar file of an image of ease.ml's prototype."),
    ] = None,
) -> None:
    """Write a working module to begin with: a folder with module.toml and its programs."""
    from easeml.modules import skeletons
    from easeml.modules.prototype import image as of_prototype

    if image is not None:
        written = of_prototype.make(path, kind, image)
    else:
        written = skeletons.make(path, kind, language)
    say(*map(str, written))


@modules.command("check")
def check_module(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="The folder of a module, or a zip file of it.")
    ],
    as_json: Json = False,
) -> None:
    """Check a folder with programs on this machine, as a service does: run them, and compare.

    Exit code 1 if it does not pass.
    """
    from easeml.modules import checking

    began = time.monotonic()
    tell = _keep_quiet if as_json else _say_check
    ended: list[checking.Ended] = []
    with _folder(path) as folder:
        for one in checking.check(folder):
            ended.append(one)
            tell(one)
    failed = sum(bool(one.error) for one in ended)
    failures = f", {failed} failed" if failed else ""
    seconds = time.monotonic() - began
    told = f"{len(ended) - failed} passed{failures} in {seconds:.1f} s."
    print_done({"checks": list(map(asdict, ended))}, told, as_json=as_json)
    fail_if(failed)


def _keep_quiet(one: "checking.Ended") -> None:
    """Print nothing: what checks found is printed as JSON at the end."""


def _say_check(one: "checking.Ended") -> None:
    """Print how a check of this machine ended, and where it failed what to do."""
    if not one.error:
        say(f"passed: {one.title}")
        return
    say(f"failed: {one.title}")
    say(f"  {one.error}\n  {one.remedy}".rstrip())


@modules.command("add")
def add_module(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="The module.toml that describes it, a folder with programs, or a zip file of one.",
        ),
    ],
    private: Annotated[
        bool, typer.Option("--private", help="For your tenant alone; a folder with programs.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add a module to the knowledge base, and wait for its checks.

    Providers add modules for everybody; others add them for their own tenant. Exit code 1 if it
    does not pass.
    """
    with _folder(file) as path:
        text, image = _text(path), _image(path)
    with Client() as client:
        upload = ""
        if image is not None:
            upload = with_bar(partial(client.send_in_pieces, image), image, quiet=as_json)
        made = client.add_module(text, private=private, image_upload=upload)
        found = _checked(client, made.name, quiet=as_json)
    print_found(found, _say_added, as_json=as_json)
    fail_if(found.state != ModuleState.READY)


def _checked(client: Client, name: str, *, quiet: bool) -> ModuleChecks:
    """Return the checks of a module when all have ended; each is told as it ends."""
    told: set[str] = set()
    while True:
        found = client.module_checks(name)
        if not quiet:
            _tell(found, told)
        if found.state != ModuleState.CHECKING:
            return found
        time.sleep(_LOOK_SECONDS)


def _say_added(found: ModuleChecks) -> None:
    if found.state != ModuleState.READY:
        say(f"{found.name} did not pass: {found.error}")
        return
    say(_joined(found))
    say(f"Tasks of this service have the isolation level {found.isolation}.")


@modules.command("archive")
def archive_module(name: ModuleName, as_json: Json = False) -> None:
    """Let nothing new use a module (your own, or any as a provider); what uses it now goes on."""
    with Client() as client:
        base = client.archive_module(name)
    _print_change(base, name, f"{name} is archived.", as_json=as_json)


@modules.command("restore")
def restore_module(name: ModuleName, as_json: Json = False) -> None:
    """Let new searches use an archived module again (your own, or any as a provider)."""
    with Client() as client:
        base = client.restore_module(name)
    _print_change(base, name, f"{name} is in the knowledge base.", as_json=as_json)


@modules.command("share")
def share_module(name: ModuleName, as_json: Json = False) -> None:
    """Make a private module everybody's (providers only)."""
    with Client() as client:
        base = client.share_module(name)
    _print_change(base, name, f"{name} is everybody's.", as_json=as_json)


def _print_change(base: KnowledgeBase, name: str, sentence: str, *, as_json: bool) -> None:
    changed = [one for one in base.modules if one.name == name]
    print_found(changed, lambda _: say(sentence), as_json=as_json)


def _joined(found: ModuleChecks) -> str:
    joined = f"{found.name} is in the knowledge base"
    if found.module_kind == "objective":
        return f"{joined}: `easeml app create --objective {found.name}`."
    if found.module_kind == "optimizer":
        for_one = f"`easeml app rules ID --optimizer {found.name}` for a search"
        return f"{joined}: {for_one}, `easeml config set optimizer {found.name}` for all."
    return f"{joined}; {found.joined} open searches go on with it."


def _tell(found: ModuleChecks, told: set[str]) -> None:
    """Print the checks that came to an end since the last time."""
    for check in found.checks:
        if check.name in told or check.state not in _ENDED:
            continue
        told.add(check.name)
        say(f"{check.state}: {check.title}")
        if check.error:
            say(f"  {check.error}\n  {check.remedy}")


def _named(base: KnowledgeBase, name: str) -> Module:
    no_such = NotFound(f"There is no module {name!r}.", remedy="See `easeml module list`.")
    return first_that(lambda one: one.name == name, base.modules, no_such)


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """Yield the folder of a module; that of a zip file is there for as long as it is used."""
    if path.suffix.lower() != ".zip":
        yield path
        return
    from easeml.contract import zipped_module
    from easeml.modules import packed

    if not path.is_file():
        raise InvalidInput("There is no such file.", where=str(path), remedy="Check the path.")
    with path.open("rb") as file, TemporaryDirectory() as folder:
        packed.unpack(zipped_module.read(file.read(zipped_module.LARGEST_ZIP + 1)), Path(folder))
        yield Path(folder)


def _text(file: Path) -> str:
    """Return the text of a module file or folder. Raises InvalidInput, TooLarge."""
    if file.is_dir():
        from easeml.modules import packed

        return packed.pack(file)
    if not file.is_file():
        raise InvalidInput("There is no such file.", where=str(file), remedy="Check the path.")
    if file.stat().st_size > LARGEST_MODULE:
        raise TooLarge(f"A module file has at most {LARGEST_MODULE:,} bytes.", where=str(file))
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "This file is not text.", where=str(file), remedy="Name a module.toml."
        ) from error


def _image(file: Path) -> Path | None:
    """Return the tar file of the image of a folder whose programs run in a container."""
    if not file.is_dir():
        return None
    from easeml.modules import packed

    return packed.image_file(file)
