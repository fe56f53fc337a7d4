"""Running a program of a module where its module says: as a confined process, with packages of its own
or without, or in a container.
"""

from collections.abc import Callable
from pathlib import Path

from . import programs
from .containers import asking
from .environments import placing
from .programs import Limits


def run(
    place: Path,
    program: str,
    arguments: list[str],
    limits: Limits,
    told: Callable[[bytes], None] = programs.nobody,
    image: str = "",
    by_entry: bool = False,
) -> None:
    """Run a program with the folder ``place`` and nothing else; both runtimes behave alike.

    ``image``: what it runs in, a container image or an environment of packages; empty: neither.
    ``by_entry``: what the image starts by
    itself is given the name of the program. Raises as ``programs.run``, and
    ``Conflict`` where containers cannot be run.
    """
    if not image or placing.is_environment(image):
        packages = placing.folder_of(image) if image else None
        programs.run(place, program, arguments, limits, told, packages)
        return
    programs.judge(program, asking.run(image, place, program, arguments, limits, told, by_entry))
