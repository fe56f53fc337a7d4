"""What a supervisor says where its controller does not answer."""

from pathlib import Path

from easeml.engine.supervisor import no_answer

URL = "http://127.0.0.1:8080"


def test_what_the_controller_said_last_is_told(tmp_path: Path):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "prefork-1.log").write_text("process ended")
    (logs / "controller-1.log").write_text("no space left on the device")
    error = no_answer(tmp_path, URL)
    assert "no space left" in error.message
    assert error.remedy == f"See {logs / 'controller-1.log'}."


def test_where_it_never_began_its_parent_is_asked(tmp_path: Path):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "prefork-1.log").write_text("ModuleNotFoundError: uvloop")
    error = no_answer(tmp_path, URL)
    assert "uvloop" in error.message
    assert error.remedy == f"See {logs / 'prefork-1.log'}."
