"""The file for compose: commands, settings, secrets and names that there are."""

import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from launching import DEPLOY, HOME, check_bucket, check_command, check_settings

from easeml.service.accounts import first_start

TEXT = (DEPLOY / "compose.yaml").read_text()
VARIABLE = re.compile(r"\$\{(\w+):\?([^}]+)\}")
OURS = ("service", "second", "worker")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder after ``secrets.sh``."""
    folder = tmp_path_factory.mktemp("deploy")
    shutil.copy(DEPLOY / "secrets.sh", folder)
    subprocess.run(["sh", str(folder / "secrets.sh")], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def compose(prepared: Path) -> dict[str, Any]:
    """The file with the variables of ``.env`` in it, as compose reads it."""
    lines = (prepared / ".env").read_text().splitlines()
    values = dict(line.split("=", 1) for line in lines)
    return yaml.safe_load(VARIABLE.sub(lambda found: values[found[1]], TEXT))


def test_a_start_without_secrets_is_refused_with_the_remedy() -> None:
    named = re.findall(r"\$\{[^}]+\}", TEXT)
    assert len(named) > 4
    for variable in named:
        found = VARIABLE.fullmatch(variable)
        assert found is not None, variable
        assert found[2] == "run deploy/secrets.sh first"


def test_secrets_are_those_that_a_first_start_takes_and_a_second_run_keeps_them(
    prepared: Path,
) -> None:
    before = {path: path.read_bytes() for path in prepared.rglob("*") if path.is_file()}
    first = first_start.read(prepared / "secrets")
    assert len(first.keys) == 2
    assert len({first.password, *first.keys.values()}) == 3
    subprocess.run(["sh", str(prepared / "secrets.sh")], check=True, capture_output=True)
    assert before == {path: path.read_bytes() for path in prepared.rglob("*") if path.is_file()}


def test_other_people_of_the_machine_read_no_secret(prepared: Path) -> None:
    for path in (prepared / ".env", prepared / "secrets"):
        assert not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO), path


def test_the_repository_takes_no_secret() -> None:
    assert {".env", "secrets/"} <= set((DEPLOY / ".gitignore").read_text().split())


@pytest.mark.parametrize("name", OURS)
def test_what_is_started_is_a_command_with_settings(compose: dict[str, Any], name: str) -> None:
    service = compose["services"][name]
    options = check_command(service["command"])
    settings = check_settings(service["environment"])
    check_bucket(service["environment"])
    home = options["home"] or HOME
    assert any(volume.split(":")[-1] == str(home) for volume in service["volumes"])
    for secret in service["secrets"]:
        assert secret in compose["secrets"]
    if name == "worker":
        assert str(options["token_file"]) == "/run/secrets/key"
        assert service["secrets"] == ["key"]
        assert settings.database_url == ""  # it is told
    else:
        assert settings.first_secrets == "/run/secrets"
        assert {*first_start.KEYS, first_start.PASSWORD} == set(service["secrets"])


def test_addresses_name_services_and_the_ports_that_these_have(compose: dict[str, Any]) -> None:
    services = compose["services"]
    service = services["service"]
    settings = check_settings(service["environment"])
    joined = urlsplit(check_command(services["worker"]["command"])["join"])
    database = urlsplit(settings.database_url)
    store = urlsplit(service["environment"]["AWS_ENDPOINT"])
    assert {joined.hostname, database.hostname, store.hostname} <= services.keys()
    assert joined.port == settings.port
    postgres = services["database"]["environment"]
    assert (database.username, database.password, database.path) == (
        postgres["POSTGRES_USER"],
        postgres["POSTGRES_PASSWORD"],
        f"/{postgres['POSTGRES_DB']}",
    )
    bucket = urlsplit(settings.artefacts_url).hostname
    assert f"store/{bucket}" in services["bucket"]["command"][0]


def test_only_this_machine_reaches_it_and_containers_have_no_rights(
    compose: dict[str, Any],
) -> None:
    for name, service in compose["services"].items():
        for port in service.get("ports", []):
            host, _, inside = port.split(":")
            assert host == "127.0.0.1"
            assert int(inside) == check_settings(service["environment"]).port
        if name in OURS:
            assert service["cap_drop"] == ["ALL"]
            assert service["read_only"] is True
            assert service["security_opt"] == ["no-new-privileges:true"]
            assert "privileged" not in service


def test_who_waits_waits_for_services_that_there_are(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for service in services.values():
        for other, how in service.get("depends_on", {}).items():
            assert other in services
            is_ours = other in OURS  # their image brings a health check
            if how["condition"] == "service_healthy" and not is_ours:
                assert "healthcheck" in services[other]
    named = {
        volume.split(":")[0]
        for service in services.values()
        for volume in service.get("volumes", [])
        if ":" in volume
    }
    assert named == compose["volumes"].keys()
