"""A machine that joins waits for a service that is starting again."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from easeml.cli.devices import answered
from easeml.cli.main import app
from easeml.contract.devices import Joined
from easeml.errors import Unreachable

TOLD = Joined(
    database_url="sqlite:///home/easeml.db",
    artefacts_url="",
    task_seconds=1.0,
    task_memory=1,
    isolation="none",
    lease_seconds=1.0,
    module_packages="",
)


class Starting:
    """Does not answer the first times that it is asked."""

    def __init__(self, refusals: int):
        self.refusals = refusals

    def __call__(self) -> Joined:
        if self.refusals:
            self.refusals -= 1
            raise Unreachable("The easeml service does not answer.")
        return TOLD


def test_a_machine_waits_for_a_service_that_starts_again() -> None:
    assert answered(Starting(3), patience=60.0, pause=0.0) == TOLD


def test_a_machine_gives_up_a_service_that_stays_away() -> None:
    service = Starting(3)
    with pytest.raises(Unreachable):
        answered(service, patience=0.0, pause=0.0)
    assert service.refusals == 2


def test_the_key_comes_from_a_file_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_with: list[str] = []

    def client(url: str, key: str) -> None:
        asked_with.append(key)
        raise Unreachable("Nobody is there.")

    monkeypatch.setattr("easeml.cli.devices.Client", client)
    monkeypatch.setenv("EASEML_API_KEY", "eml_of_the_environment")
    (tmp_path / "key").write_text("eml_of_the_file\n")
    join = ["worker", "--join", "http://127.0.0.1:1"]
    CliRunner().invoke(app, [*join, "--token-file", str(tmp_path / "key")])
    CliRunner().invoke(app, join)
    assert asked_with == ["eml_of_the_file", "eml_of_the_environment"]


def test_a_machine_without_a_key_is_told_how_to_give_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EASEML_API_KEY", raising=False)
    join = ["worker", "--join", "http://127.0.0.1:1"]
    for options in ([], ["--token-file", str(tmp_path / "nowhere")]):
        ended = CliRunner().invoke(app, [*join, *options])
        assert ended.exit_code == 2
        assert "key" in ended.output
