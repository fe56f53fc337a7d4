"""The program as a process, and what starts with it."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from service_for_tests import KEY, FakeService

from easeml.cli import services
from easeml.cli.local_home import settings_of
from easeml.cli.main import _COMMANDS, _Commands, _commands_of
from easeml.errors import InvalidInput
from service_process import LOOK_EVERY


def test_the_command_line_starts_without_heavy_libraries():
    heavy = {
        "pandas",
        "numpy",
        "sklearn",
        "scipy",
        "uvicorn",
        "fastapi",
        "sqlalchemy",
        "pyarrow",
        "lightgbm",
        "alembic",
    }
    program = "import easeml.cli, sys; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not heavy & set(run.stdout.split())


def test_the_program_has_every_command_that_a_module_registers():
    listed = {name for name in _COMMANDS if _Commands()[name].name == name}
    registered = {name for module in set(_COMMANDS.values()) for name in _commands_of(module)}
    modules = {
        path.stem
        for path in Path(services.__file__).parent.glob("*.py")
        if "\ndef register(" in path.read_text()
    }
    assert set(_COMMANDS) == listed == registered
    assert set(_COMMANDS.values()) == modules


def test_exit_codes_and_streams_of_the_program(
    service: FakeService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EASEML_URL", service.url)
    monkeypatch.setenv("EASEML_API_KEY", KEY)
    run = subprocess.run(
        [sys.executable, "-m", "easeml.cli", "app", "show", "app_9"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert (
        run.stderr == "Error: There is no application 'app_9'.\n"
        "  Remedy: There are: prices (app_2), prices (app_3), table (app_1). All: easeml app list.\n"
    )


def test_an_unknown_kind_of_process_is_wrong_use():
    command = [sys.executable, "-m", "easeml.cli", "process", "dragon"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "dragon" in run.stderr


def test_the_first_start_shows_the_login_before_it_says_that_it_is_up(
    capsys: pytest.CaptureFixture[str],
):
    services._greet("http://127.0.0.1:1", "s[e]cret", "k[e]y")
    address, login, _, variables, up = capsys.readouterr().out.splitlines()
    assert "Open http://127.0.0.1:1 in a browser" in address
    assert login.endswith("name: admin  password: s[e]cret")
    assert variables.endswith("export EASEML_URL=http://127.0.0.1:1 EASEML_API_KEY=k[e]y")
    assert up.startswith("easeml is up at http://127.0.0.1:1;")
    services._greet("http://127.0.0.1:1", None, "")
    again = capsys.readouterr().out
    assert "easeml login admin --url http://127.0.0.1:1" in again
    assert "password" not in again
    assert "EASEML_API_KEY" not in again


def test_a_service_that_is_up_and_cannot_work_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    told = {"status": "failing", "problems": ["The database is damaged."]}
    monkeypatch.setattr(httpx, "get", lambda url, timeout: httpx.Response(503, json=told))
    services._warn(services._problems_of("http://127.0.0.1:1"))
    monkeypatch.undo()
    assert capsys.readouterr().out == "It cannot do all its work. The database is damaged.\n"
    assert services._problems_of("http://127.0.0.1:9") == []


def test_flags_win_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EASEML_PORT", "1234")
    monkeypatch.setenv("EASEML_WORKERS", "7")
    settings = settings_of(home=tmp_path, port=4321, workers=None)
    assert (settings.home, settings.port, settings.workers) == (tmp_path, 4321, 7)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("EASEML_ISOLATON", "EASEML_ISOLATION"),
        ("EASEML_ARTEFACT_URL", "EASEML_ARTEFACTS_URL"),
        ("EASEML_TRUSTED_PROXY", "EASEML_TRUSTED_PROXIES"),
    ],
)
def test_a_variable_that_is_misspelt_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, meant: str
):
    """Else its setting would be the default: a service that was to be confined is not."""
    monkeypatch.setenv(wrong, "sandbox")
    with pytest.raises(InvalidInput, match=meant) as told:
        settings_of(home=tmp_path)
    assert told.value.where == wrong


def test_variables_of_other_programs_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    names = ("URL", "API_KEY", "TASK_ID", "GPU_MEMORY", "SERVICE_HOST", "PORT_80_TCP", "RUN")
    for name in names:
        monkeypatch.setenv(f"EASEML_{name}", "x")
    assert settings_of(home=tmp_path).isolation == "none"


@pytest.mark.parametrize("content", [b"keep_models = \n", b"workers 3", b"\xff\xfe"])
def test_a_file_of_settings_that_is_no_toml_is_named(tmp_path: Path, content: bytes):
    (tmp_path / "config.toml").write_bytes(content)
    with pytest.raises(InvalidInput, match="no TOML") as told:
        settings_of(home=tmp_path)
    assert told.value.where == "config.toml in the home"
    assert told.value.remedy


def test_the_demo_stops_on_sigterm(tmp_path: Path):
    """Against no service at all: it waits for it, and still stops at once."""
    command = [
        sys.executable,
        "-m",
        "easeml.cli",
        "demo-tenants",
        "--url",
        "http://127.0.0.1:9",
        "--home",
        str(tmp_path),
    ]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + 30
    while not (tmp_path / "demo.json").exists() and time.monotonic() < deadline:
        assert demo.poll() is None
        time.sleep(LOOK_EVERY)
    demo.send_signal(signal.SIGTERM)
    output, _ = demo.communicate(timeout=90)
    assert demo.returncode == 0, output
    assert "Traceback" not in output
    assert (tmp_path / "demo.json").stat().st_mode & 0o777 == 0o600
