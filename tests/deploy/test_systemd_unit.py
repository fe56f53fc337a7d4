"""The unit of systemd is one that systemd reads, starts a command that there is, and takes rights."""

import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from easeml.cli.main import app

UNIT = Path(__file__).parents[2] / "deploy" / "easeml.service"
PROGRAM = "/opt/easeml/bin/easeml"


@pytest.fixture
def unit() -> ConfigParser:
    """The unit by sections."""
    read = ConfigParser(interpolation=None)
    read.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    read.read_string(UNIT.read_text())
    return read


def test_systemd_has_nothing_to_say_against_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed.")
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace(PROGRAM, "/bin/true"))
    done = subprocess.run(
        [program, "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False
    )
    about_it = [line for line in done.stderr.splitlines() if UNIT.name in line]
    assert not about_it


def test_it_starts_a_command_of_easeml_with_options_that_there_are(unit: ConfigParser) -> None:
    program, command, *options = unit["Service"]["ExecStart"].split()
    assert program == PROGRAM
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.output)
    for option in options:
        assert not option.startswith("--") or option in plain


def test_the_home_is_the_one_folder_that_it_may_write_to(unit: ConfigParser) -> None:
    service = unit["Service"]
    home = service["ExecStart"].split()[-1]
    assert home == f"/var/lib/{service['StateDirectory']}"
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    assert "ReadWritePaths" not in service
