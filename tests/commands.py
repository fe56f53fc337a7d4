"""Commands of easeml as a terminal would run them, forked from one Python that has imported them: an
interpreter of its own costs each half a second of the processor.
"""

import os
import pkgutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from easeml import cli
from warm_python import WarmPython

_OTHERS = ("easeml.client.frames", "pandas", "pyarrow.parquet")


def run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None = None,
    seconds: float = 180.0,
) -> subprocess.CompletedProcess[str]:
    """Run ``easeml ARGUMENTS`` in a folder, by default the current one; return what it printed.

    ``environment``: variables beside those of this process. Raises ``TimeoutError``.
    """
    command = ["-m", "easeml.cli", *arguments]
    variables = {**os.environ, **environment}
    return _warm().run(command, folder or Path.cwd(), variables, seconds)


@cache
def _warm() -> WarmPython:
    """Return the Python of this session; it ends with it."""
    commands = [f"easeml.cli.{module.name}" for module in pkgutil.iter_modules(cli.__path__)]
    commands.remove("easeml.cli.__main__")
    return WarmPython([*commands, *_OTHERS])
