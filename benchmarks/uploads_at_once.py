"""Ten thousand uploads at once: how much memory the controller takes, and whether all arrive.

    python benchmarks/uploads_at_once.py [--uploads 10000] [--tenants 50] [--kib 256]

Starts an easeml of its own. Uploads are announced (the tus protocol), and then each opens a
connection of its own and sends its whole file by one request; no connection waits for another. Who
is told to come again, or is cut off, asks how much arrived and sends the rest. In the end the
service is asked about each. Beside that somebody else asks who they are, four times a second and
from a process of their own: what they wait is the service's doing.

    memory   MiB of the controller before, and the most that was seen of it
    beside   milliseconds of the requests of who stands beside: median, 99th percentile, worst
    dropped  connections that the kernel's queue had no room for; ``pruned``: segments that it took
             and dropped, since the memory of sockets was full (both of the whole machine)
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import Manager, get_context
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import numpy as np

from common import arguments, machine_line, read_options, write_table
from live_search import new_user
from service_process import EasemlProcess
from watched_memory import MemoryWatch

ASKERS = 32  # connections by which uploads are announced and looked at
AGAIN = 1.0  # seconds that who was refused waits
TRIES = 200
COLUMNS = ["uploads", "tenants", "kib", "whole", "seconds", "mib_a_second", "again"]
COLUMNS += ["mib_before", "mib_most", "beside_median"]
COLUMNS += ["beside_99th", "beside_worst", "dropped", "pruned"]
COUNTERS = Path("/proc/net/netstat")


@dataclass
class Seen:
    """What came of all: how many had to come again, by status (0: cut off)."""

    again: dict[int, int] = field(default_factory=dict)


def counted(name: str) -> int:
    """Return a counter of the machine's TCP, 0 where it has none."""
    if not COUNTERS.exists():
        return 0
    lines = [line.split() for line in COUNTERS.read_text().splitlines()]
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        if name in names:
            return int(values[names.index(name)])
    return 0


async def ask(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    first: str,
    headers: dict[str, str],
    body: bytes = b"",
) -> dict[str, str]:
    """Send one request; return the headers of the answer, ``status`` among them."""
    length = {"host": "easeml", "content-length": str(len(body))} if body else {"host": "easeml"}
    lines = [f"{first} HTTP/1.1", *(f"{name}: {text}" for name, text in (headers | length).items())]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    writer.write(body)
    await writer.drain()
    status, *told = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    answer = dict(line.lower().split(": ", 1) for line in told if line)
    if not first.startswith("HEAD"):
        await reader.readexactly(int(answer.get("content-length", 0)))
    return {**answer, "status": status.split()[1]}


def tus(key: str, **more: str) -> dict[str, str]:
    """Return the headers of a request about an upload."""
    named = {name.replace("_", "-"): text for name, text in more.items()}
    return {"tus-resumable": "1.0.0", "authorization": f"Bearer {key}", **named}


async def in_turn(address: tuple[str, int], asked: list[tuple[str, dict[str, str]]]) -> list[dict]:
    """Ask many things by a few connections; return the answers in their order."""
    answers: list[dict] = [{}] * len(asked)
    waiting = iter(enumerate(asked))

    async def one_asker() -> None:
        reader, writer = await asyncio.open_connection(*address)
        for place, (first, headers) in waiting:
            answers[place] = await ask(reader, writer, first, headers)
        writer.close()

    await asyncio.gather(*(one_asker() for _ in range(ASKERS)))
    return answers


async def send(address: tuple[str, int], place: str, key: str, content: bytes, seen: Seen) -> None:
    """Send one upload, again and again until all of it is there."""
    offset = 0
    for _ in range(TRIES):
        status = 0
        try:
            reader, writer = await asyncio.open_connection(*address)
            told = tus(key, upload_offset=str(offset))
            told["content-type"] = "application/offset+octet-stream"
            answer = await ask(reader, writer, f"PATCH {place}", told, content[offset:])
            writer.close()
            status = int(answer["status"])
        except (OSError, asyncio.IncompleteReadError):
            pass
        if status == 204:
            return
        seen.again[status] = seen.again.get(status, 0) + 1
        await asyncio.sleep(AGAIN)
        offset = await how_far(address, place, key, offset)
    raise SystemExit(f"An upload did not come through in {TRIES} tries.")


async def how_far(address: tuple[str, int], place: str, key: str, known: int) -> int:
    """Return how many bytes of an upload are there, or what was known where nobody answers."""
    try:
        reader, writer = await asyncio.open_connection(*address)
        answer = await ask(reader, writer, f"HEAD {place}", tus(key))
        writer.close()
        return int(answer.get("upload-offset", known))
    except (OSError, asyncio.IncompleteReadError):
        return known


async def ask_on(address: tuple[str, int], key: str, is_over: Callable[[], bool]) -> list[float]:
    """Ask who one is until it is over, once at least; return milliseconds."""
    waits: list[float] = []
    while not waits or not is_over():
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection(*address)
        await ask(reader, writer, "GET /api/v1/me", {"authorization": f"Bearer {key}"})
        writer.close()
        waits.append(1e3 * (time.perf_counter() - began))
        await asyncio.sleep(0.25)
    return waits


def stand_beside(address: tuple[str, int], key: str, over: Event) -> list[float]:
    """Ask who one is until it is over; return milliseconds."""
    return asyncio.run(ask_on(address, key, over.is_set))


async def measure(easeml: EasemlProcess, keys: list[str], uploads: int, size: int) -> list[object]:
    """Send all; return a line of the table."""
    host = urlsplit(easeml.url)
    address = (str(host.hostname), int(host.port or 80))
    owners = [keys[place % len(keys)] for place in range(uploads)]
    announced = [("POST /api/v1/uploads", tus(key, upload_length=str(size))) for key in owners]
    places = [answer["location"] for answer in await in_turn(address, announced)]
    content = b"x" * size
    seen = Seen()
    watch = MemoryWatch(easeml)
    watch.start()
    began = time.perf_counter()
    before = [counted(name) for name in ("ListenOverflows", "TCPRcvQDrop")]
    sent = [send(address, *one, content, seen) for one in zip(places, owners, strict=True)]
    await asyncio.gather(*sent)
    seconds = time.perf_counter() - began
    watch.stop()
    asked = [(f"HEAD {place}", tus(key)) for place, key in zip(places, owners, strict=True)]
    found = await in_turn(address, asked)
    whole = sum(answer.get("upload-offset") == str(size) for answer in found)
    print(f"came again, by status: {seen.again}")
    rate = uploads * size / 2**20 / seconds
    told: list[object] = [uploads, len(keys), size >> 10, whole, round(seconds, 1), round(rate, 1)]
    told += [sum(seen.again.values()), watch.first["controller"], watch.most["controller"]]
    after = [counted(name) for name in ("ListenOverflows", "TCPRcvQDrop")]
    return [*told, *map(int.__sub__, after, before)]


def measured_beside(
    easeml: EasemlProcess, keys: list[str], uploads: int, size: int
) -> list[object]:
    """Send all while somebody stands beside; return a line of the table."""
    host = urlsplit(easeml.url)
    address = (str(host.hostname), int(host.port or 80))
    with Manager() as shared, ProcessPoolExecutor(1, get_context("spawn")) as pool:
        over = shared.Event()
        beside = pool.submit(stand_beside, address, easeml.key, over)
        line = asyncio.run(measure(easeml, keys, uploads, size))
        over.set()
        waits = beside.result()
    told = [statistics.median(waits), float(np.quantile(waits, 0.99)), max(waits)]
    return [*line[:-2], *(round(one, 1) for one in told), *line[-2:]]


def main() -> None:
    """Measure, print and keep one line."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--uploads", type=int, default=10_000)
    parser.add_argument("--tenants", type=int, default=50)
    parser.add_argument("--kib", type=int, default=256)
    options = read_options(parser, uploads=40, tenants=2, kib=100)
    print(machine_line("easeml", "uvicorn", "uvloop"))
    with tempfile.TemporaryDirectory() as folder:
        easeml = EasemlProcess(Path(folder) / "home", workers=1)
        easeml.start()
        try:
            each = str(-(-options.uploads // options.tenants))
            easeml.command("user", "limits", "--default", "--uploads", each)
            names = [f"sender-{place}" for place in range(options.tenants)]
            keys = [new_user(easeml, name) for name in names]
            line = measured_beside(easeml, keys, options.uploads, options.kib << 10)
        finally:
            easeml.stop()
    for name, cell in zip(COLUMNS, line, strict=True):
        print(f"{name:16} {cell}")
    write_table(options.out / "uploads.csv", COLUMNS, [line])


if __name__ == "__main__":
    main()
