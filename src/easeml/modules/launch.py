"""Run as a program: limits and confines itself for ever, and then becomes a program of a module.

``python -I launch.py FOLDER MEMORY PROGRAM ARGUMENTS...``: it may read and write ``FOLDER``, where
its own files are, and take ``MEMORY`` bytes. Nothing of the module is read before it is confined.
"""

import os
import resource
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CANNOT_START = 126
LARGEST_FILE = 256 * 2**20  # bytes


def main(folder: Path, memory: int, program: list[str]) -> None:
    """Become the program, or end with a message and ``CANNOT_START``."""
    from easeml.confinement import Starting, confine
    from easeml.parents import die_with_parent

    die_with_parent()
    _limit(resource.RLIMIT_DATA, memory)
    _limit(resource.RLIMIT_FSIZE, LARGEST_FILE)
    _limit(resource.RLIMIT_NOFILE, 256)
    _limit(resource.RLIMIT_CORE, 0)
    confine(folder, Starting.ANOTHER)
    try:
        os.execv(program[0], program)  # noqa: S606  there is no shell here on purpose
    except OSError as error:
        print(f"{program[0]} cannot be started: {error.strerror}", file=sys.stderr)
        sys.exit(CANNOT_START)


def _limit(what: int, most: int) -> None:
    """Lower a limit for ever; one that is lower already stays."""
    hard = resource.getrlimit(what)[1]
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (value, value))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # an exported model brings its own copy of easeml
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
