"""Checking a folder of programs on one's own machine, as a service checks it."""

import inspect
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from easeml.errors import EasemlError, InvalidInput

from . import packed
from .conformance import checks_of
from .module import Module, parse
from .registry import Registry, load_registry

_LONGEST = 600  # letters of an error


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
    a folder that has no programs of a kind that is run, ``TooLarge``.
    """
    source = packed.pack(folder)
    module = replace(parse(source, str(folder / packed.DESCRIPTION)), source=source)
    if not module.is_programs or module.kind not in packed.RUN:
        raise InvalidInput(
            "Only folders of programs are checked so: models and objectives.",
            where=str(folder),
            remedy="Write runtime.kind = 'process' and put programs beside module.toml.",
        )
    yield Ended("description", "The description is whole, and the programs are there.")
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
    title = (inspect.getdoc(check_it) or "").partition("\n")[0]
    with tempfile.TemporaryDirectory() as folder:
        try:
            check_it(module, registry, Path(folder))
        except EasemlError as error:
            return Ended(check_it.__name__, title, error.message, error.remedy)
        except Exception as error:
            text = str(error) or type(error).__name__
            return Ended(check_it.__name__, title, text[:_LONGEST])
    return Ended(check_it.__name__, title)
