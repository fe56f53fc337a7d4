"""A program that imports early, marks what it imported, and prints what a forked child sees of it."""

import colorsys
import os
import sys
from multiprocessing.connection import Connection

from easeml.engine.fork_server import fork_server, import_early


def say(answers: Connection) -> None:
    """Send the mark of the parent's parent, and the process id of the fork server."""
    answers.send((getattr(colorsys, "mark", ""), os.getppid()))


if __name__ == "__main__":
    if "early" in sys.argv:
        import_early(["colorsys"])
    colorsys.mark = "set before the fork"  # type: ignore[attr-defined]
    context = fork_server(["colorsys"])
    answers, theirs = context.Pipe(duplex=False)
    context.Process(target=say, args=(theirs,)).start()
    print(*answers.recv(), sep="|", flush=True)
    sys.stdin.read()  # until it is killed
