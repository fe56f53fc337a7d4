"""The asynchronous client, and that its twin is what it should be."""

import asyncio
import inspect
import subprocess
import sys
from pathlib import Path

from service_for_tests import KEY, FakeService

from easeml.client import AsyncClient, Client

ROOT = Path(__file__).parent.parent.parent


def test_the_synchronous_files_are_current():
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "unasync.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"run scripts/unasync.py: {run.stdout}{run.stderr}"


def test_both_clients_have_the_same_methods():
    def public(kind: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(kind, inspect.isfunction)
        return {
            name: list(inspect.signature(method).parameters)
            for name, method in methods
            if name[0] != "_"
        }

    of_async = public(AsyncClient)
    of_async["close"] = of_async.pop("aclose")
    assert of_async == public(Client)


def test_many_waits_at_once_and_events(service: FakeService, tmp_path: Path):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n1,a\n")

    async def play() -> list[int]:
        async with AsyncClient(service.url, KEY) as client:
            dataset = await client.upload(path)
            await client.wait_version_ready(dataset.version.id)
            service.looks_to_model, service.looks_to_end = 6, 99
            found = await asyncio.gather(
                *(client.wait("app_1", until="first-model", timeout=30) for _ in range(3))
            )
            assert all(one.live_model for one in found)
            assert [task.id async for task in client.tasks()] == [f"task_{n}" for n in range(5)]
            seen: list[int] = []
            async for event in client.events():
                seen.append(event.seq)
                if event.seq == 4:
                    return seen
            return []

    assert asyncio.run(play()) == [1, 2, 3, 4]
