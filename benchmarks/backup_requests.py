"""What a second request brings to bursts where some answers take long: latency, and work done twice.

    python benchmarks/backup_requests.py [--bursts 300]

Real connections of a controller lead to real serving children, whose model waits as one on a device
of its own: 10 ms a request, and 200 ms for one in twenty, whatever is asked (a machine that pauses).
Each quarter of a second a burst of requests comes at once. The same bursts come with backup
requests, and without: then a second predictor is asked only after a second, as for one that stands
still.

"work" is how many requests the children answered, as a multiple of those that were asked.
"""

import asyncio
import multiprocessing
import random
import socket
import sys
import time
from collections.abc import Sequence
from itertools import product
from multiprocessing.sharedctypes import Synchronized

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.engine.serving import backups, child
from easeml.engine.serving.answers import Answer, Request
from easeml.engine.serving.endpoint import Endpoint
from easeml.engine.serving.frames import encode, receive_frame
from easeml.engine.serving.lines import Line, Place

USUAL, LONG = 0.01, 0.2  # seconds of an answer
LONG_SHARE = 0.05
BURST_EVERY = 0.25  # seconds
PREDICTORS = (2, 4)
BURSTS = (2, 6, 12)  # requests at once
COLUMNS = ("predictors", "burst", "backups", "p50 ms", "p95 ms", "p99 ms", "mean ms", "work")
_ASSIGNED = {"application": "app", "model_id": "m", "challenger_id": "", "share": 0.0}


def be_child(
    control: socket.socket, handed: socket.socket, answered: "Synchronized[int]", seed: int
) -> None:
    """Be a serving child whose model waits."""
    rng = random.Random(seed)

    def waiting(_: object, requests: Sequence[Request]) -> list[Answer]:
        for _one in requests:
            time.sleep(LONG if rng.random() < LONG_SHARE else USUAL)
        with answered.get_lock():
            answered.value += len(requests)
        return [Answer(200, b"{}")] * len(requests)

    child.answer_each = waiting
    child._load = lambda request: object()  # type: ignore[assignment, return-value]
    child.answer(control, handed)


class Machine:
    """A serving child in a process of its own."""

    def __init__(self, number: int, answered: "Synchronized[int]"):
        self._number = number
        self._control, control = socket.socketpair()
        self._handing, handed = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        context = multiprocessing.get_context("fork")
        self._process = context.Process(
            target=be_child, args=(control, handed, answered, number), daemon=True
        )
        self._process.start()
        control.close()
        handed.close()
        for order in ({"do": "load", "model_id": "m"}, {"do": "serve", **_ASSIGNED}):
            self._control.sendall(encode({"id": 0, **order}))
            assert receive_frame(self._control)[0]["error"] == ""

    async def line(self) -> Line:
        """Return a connection to it."""
        ours, theirs = socket.socketpair()
        socket.send_fds(self._handing, [b"app"], [theirs.fileno()])
        theirs.close()
        place = Place(f"proc_{self._number}", "", "")
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(lambda: Line(place), sock=ours))[1]

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.join()
        self._control.close()
        self._handing.close()


async def latencies(machines: Sequence[Machine], burst: int, bursts: int) -> list[float]:
    """Return the seconds that each request of all bursts took."""
    endpoint = Endpoint("app")
    for machine in machines:
        endpoint.add(await machine.line())
    request = encode({"content_type": "text/csv"}, b"x")
    found: list[float] = []

    async def ask() -> None:
        began = time.perf_counter()
        line = endpoint.least_busy()
        assert line is not None
        head, _ = await endpoint.answer(line, request)
        assert head["status"] == 200
        found.append(time.perf_counter() - began)

    asked: list[asyncio.Task[None]] = []
    for _ in range(bursts):
        asked += [asyncio.create_task(ask()) for _ in range(burst)]
        await asyncio.sleep(BURST_EVERY)
    await asyncio.gather(*asked)
    await asyncio.sleep(LONG * burst)  # what nobody waits for ends as well, and counts as work
    endpoint.close()
    return found


def measured(predictors: int, burst: int, share: float, bursts: int) -> list[object]:
    """Return what ``COLUMNS`` say after the third; ``share``: of requests that may be answered twice."""
    backups._MOST_NEEDLESS = share
    answered = multiprocessing.Value("i", 0)
    machines = [Machine(number, answered) for number in range(predictors)]
    try:
        found = asyncio.run(latencies(machines, burst, bursts))
    finally:
        for machine in machines:
            machine.stop()
    times = [round(1e3 * float(np.quantile(found, one)), 1) for one in (0.5, 0.95, 0.99)]
    mean = round(1e3 * float(np.mean(found)), 1)
    return [*times, mean, round(answered.value / len(found), 3)]


def main() -> None:
    """Measure all, and write the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--bursts", type=int, default=300)
    parser.add_argument("--predictors", type=int, nargs="+", default=PREDICTORS)
    parser.add_argument("--burst", type=int, nargs="+", default=BURSTS, help="requests at once")
    options = read_options(parser, bursts=2, predictors=[2], burst=[2])
    print(machine_line("numpy"))
    allowed = backups._MOST_NEEDLESS
    rows = []
    print(*(f"{name:>10}" for name in COLUMNS))
    for predictors, burst, share in product(options.predictors, options.burst, (0.0, allowed)):
        row = [predictors, burst, "yes" if share else "no"]
        row += measured(predictors, burst, share, options.bursts)
        print(*(f"{cell!s:>10}" for cell in row))
        sys.stdout.flush()
        rows.append(row)
    write_table(options.out / "bursts.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()
