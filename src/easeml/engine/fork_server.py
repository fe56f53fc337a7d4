"""The fork server of a process: it has imported what children need, and nothing of a user."""

import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from multiprocessing import forkserver, get_context
from multiprocessing.context import ForkServerContext
from multiprocessing.util import get_temp_dir
from pathlib import Path
from socket import AF_UNIX, socket

from easeml.parents import die_with_parent

_DIES_WITH_ITS_OWNER = "easeml.engine.executors.zygote"
_FORKS_ITS_SERVER = sys.version_info < (3, 14)
"""From 3.14 on the standard fork server expects more of those who start it."""

_imported: set[str] = set()


def import_early(modules: Sequence[str]) -> None:
    """Import modules, so that the processes forked from this one have them."""
    for name in modules:
        import_module(name)
    _imported.update(modules)


def fork_server(preload: Sequence[str]) -> ForkServerContext:
    """Start the fork server of this process; return once it has imported ``preload``.

    Call it in the main thread, before other threads, connections or locks exist. Where this process
    was forked with ``preload`` imported, its fork server is forked as well, and ready at once.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload([_DIES_WITH_ITS_OWNER, *preload])
    if _FORKS_ITS_SERVER and preload and _imported.issuperset(preload):
        _start_by_fork()
    first = context.Process(target=_nothing)
    first.start()
    first.join()
    return context


def _nothing() -> None:
    """Its end tells that the imports are done."""


def _start_by_fork() -> None:
    """Do what ``ForkServer.ensure_running`` does, with a fork in place of a new interpreter.

    Should this server end, ``ensure_running`` starts another one in the usual way.
    """
    with socket(AF_UNIX) as listener:
        address = Path(get_temp_dir()) / "fork-server"
        listener.bind(str(address))
        address.chmod(0o600)
        listener.listen()
        clients_gone, client = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(client)
            die_with_parent()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            forkserver.main(os.dup(listener.fileno()), clients_gone, [])
            os._exit(0)
        os.close(clients_gone)
    vars(forkserver._forkserver).update(
        _forkserver_address=str(address), _forkserver_alive_fd=client, _forkserver_pid=pid
    )
