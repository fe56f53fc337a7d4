"""A worker of the tests, forked from a Python that has collected all of them. Each worker of its own
would import the same for ten seconds of the processor.

pytest --dist loadgroup --tx '4*popen//python=.venv/bin/python tests/forked_worker.py'
"""

import os
import sys
import tempfile
from pathlib import Path

import session_files
from warm_python import WarmPython

_IMPORTS = (
    "skops.io",  # first: it looks through all that is loaded
    "easeml.engine.executors.imports",
    "collected",
)


def main() -> int:
    """Be ``python ARGUMENTS``, which xdist starts; return its exit code."""
    own = Path(f"/proc/{os.getpid()}/fd")
    arguments = [one for one in sys.argv[1:] if one != "-u"]
    with tempfile.TemporaryDirectory() as folder:
        for stream, name in ((1, "stdout"), (2, "stderr")):
            (Path(folder) / name).symlink_to(own / str(stream))
        with WarmPython(_IMPORTS, shared=session_files.shared("collected")) as python:
            started = python.start(arguments, Path.cwd(), os.environ, Path(folder), reads=own / "0")
            return started.wait()


if __name__ == "__main__":
    sys.exit(main())
