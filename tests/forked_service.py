"""What a Python imports, and does, of which ``WarmService`` is a fork: ``easeml up``, and the process
that it starts as a program, from which all others are forked as always.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import current_process
from pathlib import Path
from socket import socket
from typing import BinaryIO

from argon2 import PasswordHasher

from easeml.cli.main import main
from easeml.engine import listening, supervisor
from easeml.engine.fork_server import fork_server, import_early
from easeml.engine.managed_process import Start, as_environment
from easeml.engine.prefork import Forked
from easeml.parents import die_with_parent
from easeml.service.accounts import passwords
from easeml.settings import Settings

_IMPORTS = (
    "easeml.engine.executors.imports",
    "easeml.engine.serving.warm",
    "easeml.engine.scheduler_process",
    "easeml.api.controller",
    "easeml.cli.services",
)
import_early(_IMPORTS)
# The same algorithm at a cost that fits tests.
passwords.hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)


def be_service() -> None:
    """Be ``easeml up``, or what else starts processes; what would be a program is forked."""
    context = fork_server(_IMPORTS)

    def program(
        kind: str,
        settings: Settings,
        environment: Mapping[str, str],
        inherited: Sequence[socket] = (),
    ) -> Start:
        variables = {**environment, **as_environment(settings)}
        arguments = ["process", kind, "--home", str(settings.home)]

        def start(output: BinaryIO) -> Forked:
            process = context.Process(
                target=_be, args=(arguments, variables, inherited, output.name)
            )
            process.start()
            return Forked(process)

        return start

    supervisor.program = program
    main()


def _be(
    arguments: list[str], variables: Mapping[str, str], inherited: Sequence[socket], log: str
) -> None:
    """Be ``easeml ARGUMENTS`` in a session of its own, which prints to the end of a file."""
    os.setsid()
    die_with_parent()
    vars(current_process())["_config"].pop("tempdir", None)  # each process has a folder of its own
    os.environ.clear()
    os.environ.update(variables)
    if inherited:
        os.environ.update(listening.as_environment(inherited))
        for one in inherited:
            one.detach()
    with Path(log).open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    sys.argv = ["easeml", *arguments]
    main()
