"""Why a program ended is told in a line, whatever it wrote."""

import subprocess
import sys

import pytest

from easeml.engine.reasons import reason_in


def written_by(program: str) -> str:
    """Return what a Python program wrote to standard error."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise ImportError('libnew.so is not there')", "ImportError: libnew.so is not there"),
        (
            "try:\n 1/0\nexcept ArithmeticError as error:\n raise OSError('two\\nlines') from error",
            "OSError: two",
        ),
        (
            "from easeml.errors import Conflict\nraise Conflict('It runs already.')",
            "It runs already.",
        ),
        ("import sys; sys.exit('no disk is left')", "no disk is left"),
        ("pass", ""),
    ],
)
def test_the_exception_is_told_without_the_calls_that_led_there(program: str, reason: str) -> None:
    assert reason_in(f"{written_by(program)}") == reason
