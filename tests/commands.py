"""Commands of easeml as a terminal would run them, forked from one Python that has imported them: an
interpreter of its own costs each half a second of the processor.
"""

import os
import pkgutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import session_files
from easeml import cli
from warm_python import WarmPython

_OTHERS = (
    "skops.io",  # first: it looks through all that is loaded
    "easeml.client.frames",
    "easeml.export",
    "matplotlib.backends.backend_pdf",  # cards of models
    "pandas",
    "pyarrow.parquet",
    "sklearn.ensemble",
)


def run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None = None,
    seconds: float = 180.0,
) -> subprocess.CompletedProcess[str]:
    """Run ``easeml ARGUMENTS`` in a folder, by default the current one; return what it printed.

    ``environment``: variables beside those of this process. Raises ``TimeoutError``.
    """
    return run_python(["-m", "easeml.cli", *arguments], environment, folder, seconds)


def run_python(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None = None,
    seconds: float = 180.0,
) -> subprocess.CompletedProcess[str]:
    """Run ``python ARGUMENTS`` as ``run`` runs ``easeml ARGUMENTS``."""
    variables = {**os.environ, **environment}
    return warm().run(arguments, folder or Path.cwd(), variables, seconds)


@cache
def warm() -> WarmPython:
    """Return the Python of this session, one for all its workers; it ends with them."""
    commands = [f"easeml.cli.{module.name}" for module in pkgutil.iter_modules(cli.__path__)]
    commands.remove("easeml.cli.__main__")
    return WarmPython([*_OTHERS, "forked_service", *commands], shared=session_files.shared("warm"))
