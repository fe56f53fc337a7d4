"""What all processes of a service that was started by its command have in common."""

import os
from pathlib import Path

import pytest

from service_process import EasemlProcess

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("faults")]


def test_all_processes_share_two_arenas_of_memory(easeml: EasemlProcess):
    expected = f"MALLOC_ARENA_MAX={os.environ.get('MALLOC_ARENA_MAX', '2')}"
    processes = easeml.call("GET", "/api/v1/status")["processes"]
    assert "controller" in {one["kind"] for one in processes}
    for one in processes:
        assert expected in Path(f"/proc/{one['pid']}/environ").read_text().split("\0"), one
