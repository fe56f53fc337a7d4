"""Files that describe jobs: what they mean, and what is refused where."""

import pytest

from easeml.errors import InvalidInput
from easeml.gang import Member, read_job
from easeml.gang.plan import environment_of, ports_of

JOB = """
restarts = 2

[env]
LEVEL = "debug"

[roles.server]
command = ["serve"]
ports = ["http", "peer"]
background = true

[roles.worker]
command = ["work", "--fast"]
count = 2
env = { LEVEL = "info" }
"""


def test_members_ports_and_environment() -> None:
    job = read_job(JOB, "job.toml")
    assert job.members == (Member("server", 0), Member("worker", 0), Member("worker", 1))
    ports = {port: 40_000 + place for place, port in enumerate(ports_of(job))}
    worker = environment_of(job, Member("worker", 1), 3, "/kept", ports)
    assert worker == {
        "LEVEL": "info",
        "EASEML_ROLE": "worker",
        "EASEML_INDEX": "1",
        "EASEML_ATTEMPT": "3",
        "EASEML_CHECKPOINT": "/kept",
        "EASEML_COUNT_SERVER": "1",
        "EASEML_COUNT_WORKER": "2",
        "EASEML_PORT_SERVER_0_HTTP": "40000",
        "EASEML_PORT_SERVER_0_PEER": "40001",
    }
    assert environment_of(job, Member("server", 0), 3, "/kept", ports)["LEVEL"] == "debug"


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("restarts = 2", "restarts = ", "job.toml"),
        ("restarts = 2", "restarts = -1", "job.toml: restarts"),
        ("restarts = 2", "restarts = 2\ngrace = inf", "job.toml: grace"),
        ("restarts", "retries", "job.toml: retries"),
        ("count = 2", 'count = "two"', "job.toml: roles.worker.count"),
        ("count = 2", "count = 0", "job.toml: roles.worker.count"),
        ("count = 2", "count = 256", "job.toml: roles"),
        ('["serve"]', "[]", "job.toml: roles.server.command"),
        ('["serve"]', '"serve"', "job.toml: roles.server.command"),
        ('["http", "peer"]', '["HTTP"]', "job.toml: roles.server.ports.0"),
        ('["http", "peer"]', '["http", "http"]', "job.toml: roles.server.ports"),
        ("roles.server", "roles.the-server", "job.toml: roles.the-server"),
        ('LEVEL = "debug"', '"A=B" = "debug"', "job.toml: env.A=B"),
        ('LEVEL = "debug"', "LEVEL = 1", "job.toml: env.LEVEL"),
        ('LEVEL = "debug"', 'LEVEL = "a\\u0000b"', "job.toml: env.LEVEL"),
        ('["serve"]', '["a\\u0000b"]', "job.toml: roles.server.command.0"),
        ("count = 2", "background = true", "job.toml: roles"),
    ],
)
def test_what_is_no_job_is_refused_with_its_place_and_a_remedy(
    old: str, new: str, where: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_job(JOB.replace(old, new, 1), "job.toml")
    assert refused.value.where == where
    assert refused.value.remedy


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_job(JOB.replace("restarts = 2", "restarts = -1\nretries = 2"), "job.toml")
    assert refused.value.where == "job.toml: restarts"
    assert "Also wrong: retries: There is no such key." in refused.value.remedy


def test_a_job_without_roles_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_job("restarts = 1", "job.toml")
    assert refused.value.where == "job.toml: roles"
