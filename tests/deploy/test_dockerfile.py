"""The image: what its file copies is there, what it starts is a command, what it asks is a route."""

import json
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from launching import DEPLOY, HOME, USER, check_command, check_probe, check_settings

ROOT = DEPLOY.parent
TEXT = re.sub(r"\s*\\\n\s*", " ", (DEPLOY / "Dockerfile").read_text())
BUILD, RUNS = re.split(r"^FROM .*$", TEXT, flags=re.MULTILINE)[1:]


def instructions(stage: str, name: str) -> list[str]:
    """The arguments of each instruction of a name."""
    return re.findall(rf"^{name} (.*)$", stage, flags=re.MULTILINE)


class Liveness(BaseHTTPRequestHandler):
    """Answers where a controller does."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/livez" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Liveness)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_is_copied_into_the_build_is_there() -> None:
    for arguments in instructions(BUILD, "COPY"):
        *sources, _ = arguments.split()
        assert all((ROOT / source).exists() for source in sources), arguments
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (extras,) = re.findall(r"\.whl\)\[([\w,]+)\]", BUILD)
    assert extras.split(",") == ["cluster", "openid"]
    assert project["optional-dependencies"].keys() >= {"cluster", "openid"}


def test_it_starts_easeml_as_a_user_without_rights() -> None:
    (entry,), (command,) = instructions(RUNS, "ENTRYPOINT"), instructions(RUNS, "CMD")
    assert json.loads(entry)[-1] == "easeml"
    check_command(json.loads(command))
    assert instructions(RUNS, "USER") == [f"{USER}:{USER}"]
    assert f"--uid {USER}" in RUNS


def test_its_variables_are_settings_and_open_nothing_to_a_network() -> None:
    given = dict(word.split("=", 1) for word in instructions(RUNS, "ENV")[0].split())
    settings = check_settings(given)
    assert str(settings.home) == HOME == given["HOME"]
    assert settings.host == "127.0.0.1"


def test_the_health_check_tells_a_controller_that_answers_from_one_that_does_not(
    port: int,
) -> None:
    (check,) = re.findall(r"^HEALTHCHECK .*?CMD (\[.*\])$", RUNS, flags=re.MULTILINE)
    _, *arguments = json.loads(check)
    (path,) = re.findall(r"'(/\w+)'", check)
    check_probe(path)

    def asked(there: int) -> int:
        environment = {"EASEML_PORT": str(there)}
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, check=False).returncode

    assert asked(port) == 0
    assert asked(1) != 0
