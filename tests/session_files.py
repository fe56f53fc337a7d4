"""Files that several tests share, which go when the whole session ends.

Workers end without the functions that ``atexit`` would call, so the session removes what they made.
"""

import os
import shutil
import tempfile
from pathlib import Path

_FOLDER = "EASEML_SESSION_FILES"


def begin() -> None:
    """Make the folder of a session; its workers inherit where it is."""
    os.environ[_FOLDER] = tempfile.mkdtemp(prefix="easeml-tests-")


def end() -> None:
    """Remove the folder of the session and all that is in it."""
    shutil.rmtree(os.environ.pop(_FOLDER), ignore_errors=True)


def new_folder() -> Path:
    """Return a new empty folder that lasts as long as the session.

    Benchmarks, which are no session, get one of the system's.
    """
    return Path(tempfile.mkdtemp(dir=os.environ.get(_FOLDER)))
