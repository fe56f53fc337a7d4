"""Checking a folder of programs on one's own machine, as a service checks it."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from easeml.errors import EasemlError, InvalidInput
from easeml.folders import temporary_folder

from . import packed
from .conformance_suites import checks_of
from .containers import images
from .environments import building, placing, requirements
from .module import Module, parse
from .registry import Registry, load_registry
from .titles import title_of

_LONGEST = 600  # letters of an error
_IMAGES = "localhost/easeml-check"  # what the engine calls images that are checked here
_LARGEST_PACKAGES = 2 * 2**30  # bytes
_PIP_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Ended:
    """A check that came to an end; ``error`` is empty where it passed."""

    name: str
    title: str
    error: str = ""
    remedy: str = ""


def check(folder: Path) -> Iterator[Ended]:
    """Check the folder of a module: its description, then what its programs do, one by one.

    What stands on the first of the latter is left out where that fails. Raises ``InvalidInput`` for
    a folder that has no programs of a kind that is run, and for an image that is none, ``TooLarge``;
    ``Conflict`` where an image cannot be run on this machine.
    """
    source = packed.pack(folder)
    module = replace(parse(source, str(folder / packed.DESCRIPTION)), source=source)
    if not module.is_programs:
        raise InvalidInput(
            "Only folders of programs are checked so.",
            where=str(folder),
            remedy="Write runtime.kind = 'process' and put programs beside module.toml.",
        )
    image = packed.image_file(folder)
    needs_packages = module.needs_packages
    yield Ended("description", "The description is whole, and the programs are there.")
    if needs_packages:
        yield from _check_with_packages(source, module)
        return
    if image is not None:
        images.provide_file(image, _IMAGES)
    try:
        yield from _run_all(module)
    finally:
        if image is not None:
            images.remove([images.digest_of_file(image)], _IMAGES)


def _check_with_packages(source: str, module: Module) -> Iterator[Ended]:
    """Install what ``requirements.txt`` names, and run the checks in that environment."""
    with temporary_folder("packages-") as folder:
        file = folder / "file"
        needed = requirements.read(module.files)
        try:
            building.build(needed, building.Source.of(""), file, _LARGEST_PACKAGES, _PIP_SECONDS)
        except EasemlError as error:
            yield Ended(requirements.CHECK, requirements.TITLE, error.message, error.remedy)
            return
        digest = images.digest_of_file(file)
        yield Ended(requirements.CHECK, requirements.TITLE)
        reference = f"{placing.BY_DIGEST}{digest}"
        laid_out = placing.lay_out(reference, folder, lambda place: shutil.copyfile(file, place))
        placing.use({reference: str(laid_out)})
        text = packed.with_environment(source, digest)
        yield from _run_all(replace(parse(text, packed.DESCRIPTION), source=text))


def _run_all(module: Module) -> Iterator[Ended]:
    installed = load_registry()
    registry = replace(installed, modules=(*installed.modules, module))
    checks = checks_of(module)
    for one in checks:
        ended = _run(one, module, registry)
        yield ended
        if ended.error and one is checks[0]:
            return


def _run(
    check_it: Callable[[Module, Registry, Path], None], module: Module, registry: Registry
) -> Ended:
    title = title_of(check_it)
    with tempfile.TemporaryDirectory() as folder:
        try:
            check_it(module, registry, Path(folder))
        except EasemlError as error:
            return Ended(check_it.__name__, title, error.message, error.remedy)
        except Exception as error:
            text = str(error) or type(error).__name__
            return Ended(check_it.__name__, title, text[:_LONGEST])
    return Ended(check_it.__name__, title)
