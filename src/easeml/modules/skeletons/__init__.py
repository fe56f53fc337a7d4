"""Working folders to begin a module with: one for each kind of module and language.

Each lies here as it is written, in ``KIND/LANGUAGE``; the name of the new folder stands in its
``module.toml`` as ``{name}``.
"""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from easeml.errors import Conflict, InvalidInput
from easeml.modules.packed import DESCRIPTION, PROGRAMS

LANGUAGES = ("python", "r", "shell")


def make(folder: Path, kind: str, language: str) -> list[Path]:
    """Write a working module into a new or empty folder, and return its files.

    Raises ``InvalidInput`` for a kind or language that there is no skeleton of, ``Conflict`` where
    the folder has files.
    """
    _check("kind", kind, tuple(PROGRAMS))
    _check("language", language, LANGUAGES)
    make_folder(folder)
    name = folder.resolve().name.lower()
    made = []
    for file in _files(kind, language):
        path = folder / file.name
        text = file.read_text("utf-8")
        if file.name == DESCRIPTION:
            path.write_text(text.replace("{name}", name), "utf-8")
        else:
            path.write_text(text, "utf-8")
            path.chmod(0o755)
        made.append(path)
    return made


def make_folder(folder: Path) -> None:
    """Make a folder. Raises ``Conflict`` where there is one with files."""
    if folder.exists() and any(folder.iterdir()):
        remedy = "Name a folder that is not there yet."
        raise Conflict("The folder is not empty.", where=str(folder), remedy=remedy)
    folder.mkdir(parents=True, exist_ok=True)


def _files(kind: str, language: str) -> Iterator[Traversable]:
    """Yield the files of a skeleton, its description first."""
    found = (files(__name__) / kind / language).iterdir()
    yield from sorted(found, key=lambda file: (file.name != DESCRIPTION, file.name))


def _check(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise InvalidInput(
            f"There is no skeleton of the {what} {given!r}.",
            where=f"--{what}",
            remedy=f"There are: {', '.join(known)}.",
        )
