"""How soon open pages show what happened, and what they cost: event to page, memory and processor of the controller.

    python benchmarks/live_pages.py [--pages 1 100] [--seconds 20]

Starts an easeml of its own with a search in one tenant, and opens pages of its application as browsers do: an event
stream each, and the page fetched again after events (a pause of 300 ms collects them; after a fetch of t follows
none for 4 t: ``static/live.js``). All pages are of the same tenant, so that every event reaches all of them: the
worst case. The delay of an event is from its time in the store to the end of the first fetch that was asked after it.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
from sklearn.datasets import make_classification

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from service_process import EasemlProcess

PAUSE = 0.3
RESTING_SHARE = 4


def declare(service: EasemlProcess, folder: Path, name: str) -> str:
    """Start a search; return the path of its page."""
    table, target = make_classification(400, 8, random_state=0)
    lines = ["a,b,c,d,e,f,g,h,target"]
    lines += [",".join(f"{value:.4f}" for value in row) + f",{label}" for row, label in zip(table, target, strict=True)]
    path = folder / f"{name}.csv"
    path.write_text("\n".join(lines))
    made = service.command("app", "create", str(path), "--target", "target", "--yes", "--json")
    return f"/applications/{json.loads(made)['id']}"


async def follow(client: httpx.AsyncClient, path: str, until: float, delays: list[float], fetches: list[float]) -> None:
    """Keep one page open: note the delay of each event, and how long each fetch took, in seconds."""
    waiting: list[float] = []
    latest = 0
    etag = ""
    news = asyncio.Event()

    async def listen() -> None:
        nonlocal latest
        async with client.stream("GET", "/live?latest=true", timeout=None) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data:"):
                    event = json.loads(line[5:])
                    waiting.append(event["created"])
                    latest = event["seq"]
                    news.set()

    listener = asyncio.create_task(listen())
    not_before = 0.0
    while (left := until - time.time()) > 0:
        try:
            await asyncio.wait_for(news.wait(), left)
        except TimeoutError:
            break
        await asyncio.sleep(max(PAUSE, not_before - time.perf_counter()))
        news.clear()
        seen, waiting[:] = list(waiting), []
        began = time.perf_counter()
        answer = await client.get(path, timeout=60, headers={"x-live": str(latest), "if-none-match": etag})
        assert answer.status_code in (200, 304), answer
        etag = answer.headers["etag"]
        took = time.perf_counter() - began
        fetches.append(took)
        delays += [time.time() - created for created in seen]
        not_before = time.perf_counter() + RESTING_SHARE * took
    listener.cancel()


async def watch(
    service: EasemlProcess, process: int, cookies: httpx.Cookies, path: str, pages: int, seconds: float
) -> dict:
    """Open ``pages`` pages for a while; return delays, fetches and what the controller (``process``) used."""
    delays: list[float] = []
    fetches: list[float] = []
    limits = httpx.Limits(max_connections=2 * pages + 2)
    async with httpx.AsyncClient(
        base_url=service.url, cookies=cookies, limits=limits, trust_env=False, timeout=60
    ) as client:
        began, used = time.time(), cpu_of(process)
        await asyncio.gather(*(follow(client, path, began + seconds, delays, fetches) for _ in range(pages)))
    return {
        "pages": pages,
        "events": len(delays),
        "fetches": len(fetches),
        "delay_median": float(np.median(delays)) if delays else None,
        "delay_p95": float(np.quantile(delays, 0.95)) if delays else None,
        "fetch_median": float(np.median(fetches)) if fetches else None,
        "controller_cores": (cpu_of(process) - used) / (time.time() - began),
        "controller_mb": memory_of(process),
    }


def cpu_of(process: int) -> float:
    """Return the processor seconds that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(process: int) -> float:
    """Return the resident memory of a process, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1000


def main() -> None:
    """Measure and print one row for each number of pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[1, 100])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--out", type=Path, help="also write the rows here, as JSON")
    chosen = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        service = EasemlProcess(Path(folder) / "home")
        service.start()
        try:
            service.call("POST", "/api/v1/users", {"name": "ann", "password": "correct horse"})
            answer = httpx.post(
                service.url + "/sign-in", data={"name": "ann", "password": "correct horse"}, trust_env=False
            )
            processes = service.call("GET", "/api/v1/status")["processes"]  # only a provider sees their ids
            controller = next(one["pid"] for one in processes if one["kind"] == "controller")
            service.key = next(iter(answer.cookies.values()))
            for pages in chosen.pages:
                path = declare(service, Path(folder), f"pages{pages}")
                rows.append(asyncio.run(watch(service, controller, answer.cookies, path, pages, chosen.seconds)))
        finally:
            service.stop()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'pages':>6} {'events':>7} {'delay':>8} {'p95':>8} {'fetch':>8} {'cores':>6} {'memory':>8}")
    for row in rows:
        numbers = [f"{row[name]:>7.3f}s" for name in ("delay_median", "delay_p95", "fetch_median")]
        used = f"{row['controller_cores']:>6.2f} {row['controller_mb']:>6.0f}MB"
        print(f"{row['pages']:>6} {row['events']:>7} {' '.join(numbers)} {used}")
    if chosen.out:
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
