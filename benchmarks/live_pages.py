"""How soon open pages show what happened, and what they cost: event to page, memory and processor
of the controller.

    python benchmarks/live_pages.py [--pages 1 100] [--seconds 20]

Starts an easeml of its own with a search in one tenant, and opens pages of its application as
browsers do: an event stream each, and the page fetched again after events (a pause of 300 ms
collects them: ``static/live.js``). All pages are of the same tenant, so that every event reaches
all of them: the worst case. Models are trained on all cores meanwhile. The delay of an event is
from its time in the store to the end of the first fetch that was asked after it.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
from sklearn.datasets import make_classification

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import arguments, machine_line, read_options
from service_process import EasemlProcess

PAUSE = 0.3


def declare(service: EasemlProcess, folder: Path, name: str) -> str:
    """Start a search; return the path of its page."""
    table, target = make_classification(400, 8, random_state=0)
    lines = ["a,b,c,d,e,f,g,h,target"]
    lines += [
        ",".join(f"{value:.4f}" for value in row) + f",{label}"
        for row, label in zip(table, target, strict=True)
    ]
    path = folder / f"{name}.csv"
    path.write_text("\n".join(lines))
    made = service.command("app", "create", str(path), "--target", "target", "--yes", "--json")
    return f"/applications/{json.loads(made)['id']}"


class Connection:
    """A browser's side of one HTTP connection: a hundred of them must not be what the measurement
    waits for.
    """

    def __init__(self, address: str, cookie: str):
        self._host = urlsplit(address).netloc
        self._cookie = cookie

    async def open(self) -> "Connection":
        host, port = self._host.split(":")
        self._reader, self._writer = await asyncio.open_connection(host, int(port), limit=2**24)
        return self

    async def ask(self, path: str, **headers: str) -> dict[str, str]:
        """Send a GET request; return the headers of the answer, the status among them.

        The body is still to be read.
        """
        told = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        request = (
            f"GET {path} HTTP/1.1\r\nhost: {self._host}\r\ncookie: {self._cookie}\r\n{told}\r\n"
        )
        self._writer.write(request.encode())
        first, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        return {
            "status": first.split()[1],
            **dict(line.lower().split(": ", 1) for line in lines if line),
        }

    async def fetch(self, path: str, **headers: str) -> dict[str, str]:
        """Like ``ask``, and read the body."""
        answer = await self.ask(path, **headers)
        await self._reader.readexactly(int(answer.get("content-length", 0)))
        return answer

    async def lines(self) -> AsyncIterator[bytes]:
        """Give the lines of a body that does not end."""
        while line := await self._reader.readline():
            yield line

    def close(self) -> None:
        self._writer.close()


async def follow(
    stream: Connection,
    page: Connection,
    path: str,
    until: float,
    delays: list[float],
    fetches: list[float],
) -> None:
    """Keep one page open: note the delay of each event, and how long each fetch took, in seconds."""
    waiting: list[float] = []
    latest, etag = 0, ""
    news = asyncio.Event()

    async def listen() -> None:
        nonlocal latest
        async for line in stream.lines():
            if line.startswith(b"data:"):
                event = json.loads(line[5:])
                waiting.append(event["created"])
                latest = event["seq"]
                news.set()

    listener = asyncio.create_task(listen())
    while (left := until - time.time()) > 0:
        try:
            await asyncio.wait_for(news.wait(), left)
        except TimeoutError:
            break
        await asyncio.sleep(PAUSE)
        news.clear()
        seen, waiting[:] = list(waiting), []
        began = time.perf_counter()
        answer = await page.fetch(path, x_live=str(latest), if_none_match=etag or "none")
        assert answer["status"] in ("200", "304"), answer
        etag = answer["etag"]
        fetches.append(time.perf_counter() - began)
        delays += [time.time() - created for created in seen]
    listener.cancel()


async def watch(
    service: EasemlProcess,
    process: int,
    cookies: httpx.Cookies,
    path: str,
    pages: int,
    seconds: float,
) -> dict:
    """Open ``pages`` pages for a while; return delays, fetches and what the controller
    (``process``) used.
    """
    delays: list[float] = []
    fetches: list[float] = []
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    connections = [await Connection(service.url, cookie).open() for _ in range(2 * pages)]
    streams, others = connections[:pages], connections[pages:]
    for stream in streams:
        assert (await stream.ask("/live?latest=true"))["status"] == "200"
    began, used = time.time(), cpu_of(process)
    await asyncio.gather(
        *(
            follow(stream, page, path, began + seconds, delays, fetches)
            for stream, page in zip(streams, others, strict=True)
        )
    )
    spent = time.time() - began
    for connection in connections:
        connection.close()
    return {
        "pages": pages,
        "events": len(delays),
        "fetches": len(fetches),
        "delay_median": float(np.median(delays)) if delays else None,
        "delay_p95": float(np.quantile(delays, 0.95)) if delays else None,
        "fetch_median": float(np.median(fetches)) if fetches else None,
        "controller_cores": (cpu_of(process) - used) / spent,
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


def told(seconds: float | None) -> str:
    """Return a time as a column of the table; a dash where no event came."""
    return f"{'-':>8}" if seconds is None else f"{seconds:>7.3f}s"


def main() -> None:
    """Measure and print one row for each number of pages."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--pages", type=int, nargs="+", default=[1, 100])
    parser.add_argument("--seconds", type=float, default=20.0)
    chosen = read_options(parser, pages=[2], seconds=2.0)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        service = EasemlProcess(Path(folder) / "home")
        service.start()
        try:
            service.call("POST", "/api/v1/users", {"name": "watcher", "password": "correct horse"})
            answer = httpx.post(
                service.url + "/sign-in",
                data={"name": "watcher", "password": "correct horse"},
                trust_env=False,
            )
            processes = service.call("GET", "/api/v1/status")[
                "processes"
            ]  # only a provider sees their ids
            controller = next(one["pid"] for one in processes if one["kind"] == "controller")
            service.key = next(iter(answer.cookies.values()))
            for pages in chosen.pages:
                path = declare(service, Path(folder), f"pages{pages}")
                rows.append(
                    asyncio.run(
                        watch(service, controller, answer.cookies, path, pages, chosen.seconds)
                    )
                )
        finally:
            service.stop()
    print(f"{machine_line('easeml')}, load {os.getloadavg()[0]:.1f}")
    print(
        f"{'pages':>6} {'events':>7} {'delay':>8} {'p95':>8} {'fetch':>8} {'cores':>6} {'memory':>8}"
    )
    for row in rows:
        numbers = [told(row[name]) for name in ("delay_median", "delay_p95", "fetch_median")]
        used = f"{row['controller_cores']:>6.2f} {row['controller_mb']:>6.0f}MB"
        print(f"{row['pages']:>6} {row['events']:>7} {' '.join(numbers)} {used}")
    (chosen.out / "rows.json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
