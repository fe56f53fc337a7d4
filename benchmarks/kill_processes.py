"""kill -9 of processes at random moments: how soon the endpoint answers again, and whether the
books balance.

    python benchmarks/kill_processes.py [--kills 1000]

Starts an easeml of its own and declares applications one after the other, so that there is always
something to search. Every kill hits a worker, the scheduler, the predictor or the controller; the
time runs until a prediction arrives. After every 50 kills a new application is declared; at the end
the books are checked as the fault test does: one accepted result for every finished task, a whole
trained model for each, nothing acknowledged lost.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import arguments, machine_line, read_options
from killing import KINDS, Kill, check_books, declare, kill_at_random
from service_process import EasemlProcess

EACH = 50


def print_table(kills: list[Kill]) -> None:
    """Print the seconds until the endpoint answered, by what was killed."""
    print(f"{'killed':12} {'n':>5} {'median s':>9} {'p90 s':>8} {'worst s':>8}")
    for kind in [*KINDS, "any"]:
        seconds = [kill.seconds for kill in kills if kind in (kill.kind, "any")]
        if len(seconds) > 1:
            ninety = statistics.quantiles(seconds, n=10)[8]
            print(
                f"{kind:12} {len(seconds):5} {statistics.median(seconds):9.2f} {ninety:8.2f} {max(seconds):8.2f}"
            )


def main() -> None:
    """Kill, count and check."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--kills", type=int, default=1000)
    options = read_options(parser, kills=2)
    print(machine_line("easeml"))
    kills: list[Kill] = []
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        easeml = EasemlProcess(Path(folder) / "home")
        easeml.start()
        try:
            applications: list[str] = []
            for first in range(0, options.kills, EACH):
                applications.append(declare(easeml, Path(folder), f"wine-{first}"))
                easeml.command(
                    "app", "wait", applications[-1], "--until", "first-model", "--timeout", "120"
                )
                seeds = range(first, min(first + EACH, options.kills))
                kills += kill_at_random(easeml, applications, seeds)
                print(f"{len(kills)} kills in {time.monotonic() - begun:.0f} s", flush=True)
            for application in applications:
                easeml.command("job", "stop", application)
            ended = check_books(easeml)
        finally:
            easeml.stop()
    print_table(kills)
    tasks = ", ".join(f"{count} {state}" for state, count in sorted(ended.items()))
    print(
        f"{len(kills)} kills in {time.monotonic() - begun:.0f} s; {len(applications)} applications; tasks: {tasks}"
    )
    print(
        "The books balance: one accepted result for every finished task, and a whole model for each."
    )


if __name__ == "__main__":
    main()
