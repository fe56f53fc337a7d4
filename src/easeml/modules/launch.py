"""Run as a program: limits and confines itself for ever, and then becomes a program of a module.

``python -I launch.py PLAN``, where ``PLAN`` is a ``Plan`` as JSON. Nothing of the module is read
before it is confined.
"""

import json
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CANNOT_START = 126
LARGEST_FILE = 256 * 2**20  # bytes
_R_HOMES = ("/usr/lib/R", "/usr/lib64/R", "/usr/local/lib/R", "/usr/local/lib64/R")


class Plan(NamedTuple):
    """What becomes of the process: it may read and write ``folder``, read the folders ``reads``,
    take ``memory`` bytes, write files of ``largest_file`` bytes, and go on the ``network``.

    ``program``: with its arguments. Everybody on the machine may read a plan: it holds no secret.
    """

    folder: str
    memory: int
    program: Sequence[str]
    reads: Sequence[str] = ()
    network: bool = False
    largest_file: int = LARGEST_FILE


def command_of(plan: Plan) -> list[str]:
    """Return the command by which a process does what a plan says."""
    return [sys.executable, "-I", __file__, json.dumps(plan)]


def main(plan: Plan) -> None:
    """Become the program, or end with a message and ``CANNOT_START``."""
    from easeml.confinement import Starting, confine
    from easeml.parents import die_with_parent

    die_with_parent()
    _limit(resource.RLIMIT_DATA, plan.memory)
    _limit(resource.RLIMIT_FSIZE, plan.largest_file)
    _limit(resource.RLIMIT_NOFILE, 256)
    _limit(resource.RLIMIT_CORE, 0)
    reads = list(map(Path, plan.reads))
    known = dict(os.environ)  # by whoever starts this, for the program; confining empties it
    confine(Path(plan.folder), Starting.ANOTHER, reads=reads, network=plan.network)
    os.environ.update(known | os.environ)
    program = list(plan.program)
    try:
        command = _of_r(program) if _names_r(program[0]) else program
        os.execv(command[0], command)  # noqa: S606  there is no shell here on purpose
    except OSError as error:
        print(f"{program[0]} cannot be started: {error.strerror}", file=sys.stderr)
        sys.exit(CANNOT_START)


def _names_r(program: str) -> bool:
    """Whether the first line of a program names R's launcher."""
    with Path(program).open("rb") as file:
        first = file.readline(200)
    return first.startswith(b"#!") and first.split()[-1].endswith(b"Rscript")


def _of_r(program: list[str]) -> list[str]:
    """Return the command by which R runs a program.

    R's own launcher is a shell script that starts processes, which programs of modules may not. So
    its settings are made here. Ends with a message where R is not installed.
    """
    homes = [home for home in _R_HOMES if Path(home, "bin/exec/R").exists()]
    if not homes:
        print("R is not installed: on Debian, run apt install r-base-core.", file=sys.stderr)
        sys.exit(CANNOT_START)
    home = homes[0]
    own = str(Path(__file__).with_suffix(".R"))
    os.environ.update(R_HOME=home, LD_LIBRARY_PATH=f"{home}/lib", R_PROFILE=own)
    options = ["--no-echo", "--no-restore", "--no-init-file", f"--file={program[0]}"]
    return [f"{home}/bin/exec/R", *options, "--args", *program[1:]]


def _limit(what: int, most: int) -> None:
    """Lower a limit for ever; one that is lower already stays."""
    hard = resource.getrlimit(what)[1]
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (value, value))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # an exported model brings its own copy of easeml
    main(Plan(*json.loads(sys.argv[1])))
