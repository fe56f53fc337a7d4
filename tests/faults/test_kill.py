"""Processes are killed at random moments; afterwards the books must balance."""

from pathlib import Path

import pytest

from killing import check_books, declare, kill_at_random
from service_process import EasemlProcess

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600), pytest.mark.xdist_group("faults")]
SEEDS = 12  # benchmarks/kill_processes.py kills a thousand times


def test_killed_at_random_moments_nothing_is_lost(easeml: EasemlProcess, tmp_path: Path):
    applications = [declare(easeml, tmp_path, f"wine-{number}") for number in range(2)]
    for application in applications:
        easeml.wait(application, "first-model", 60)
    for kill in kill_at_random(easeml, list(applications), range(SEEDS)):
        if kill.seed == SEEDS // 4:
            easeml.kill("prefork")
        if kill.seed == SEEDS // 2:
            applications.append(declare(easeml, tmp_path, "wine-late"))
    for application in applications:
        easeml.wait(application, "first-model", 60)
        easeml.command("job", "stop", application)
    ended = check_books(easeml)
    assert ended["done"] > len(applications)
    assert not ended["failed"]
