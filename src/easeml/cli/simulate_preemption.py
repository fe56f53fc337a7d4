"""``simulate preemption``: what tasks would have waited under rules of preemption."""

import csv
import math
from functools import partial
from itertools import product, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.options import Json, comma_separated
from easeml.cli.output import print_table, print_told, say
from easeml.cli.progress import progress
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    from easeml.search.preemption import Tasks

SYNTHETIC = "synthetic"
_RULES = "least-delay,fitgpp,fifo,longest-remaining,random"
_BEST_EFFORT = "BE"
# Of traces that do not tell their nodes.
_NODE = {"gpu": 8.0, "cpu_milli": 96_000.0, "memory_mib": 786_432.0}
_PERCENTILES = (50, 95, 99)
_WANTED = ("submit_time", "duration", "num_gpu")
_OPTIONAL = ("gpu_milli", "cpu_milli", "memory_mib", "grace")
_BUSY = 0.9  # part of the jobs for which the nodes would do, if nobody ever waited


def simulate_preemption(
    trace: Annotated[
        str, typer.Argument(metavar="TRACE", help="Folder with jobs.csv, that file, or: synthetic.")
    ],
    policies: Annotated[str, typer.Option(help="Names with commas between.")] = _RULES,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="Equal nodes; as many as keep the trace busy.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Only so many, the first ones (synthetic: 16,384).")
    ] = None,
    interactive: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Share of interactive jobs, where the trace does not tell."
        ),
    ] = 0.3,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn.")] = 0,
    as_json: Json = False,
) -> None:
    """Replay a trace of jobs under several rules, and compare how much jobs were slowed down.

    Interactive jobs are compared apart from best-effort ones. The slowdown is 1 + time spent
    waiting / time spent running. The synthetic trace is that of the FitGpp paper.
    """
    import numpy as np

    from easeml.search.preemption import Cluster, paper_tasks, replay, rule_named
    from easeml.search.preemption.traces import PAPER_LOAD, PAPER_NODES

    rules = list(map(rule_named, comma_separated(policies)))
    if not rules:
        raise InvalidInput("There is no policy to compare.", where="--policies")
    generator = np.random.default_rng(seed)
    with progress("Replaying") as bar:
        if trace == SYNTHETIC:
            cluster = Cluster(nodes or PAPER_NODES)
            drawn = paper_tasks(jobs or 16_384, generator, interactive)
            tasks = _submitted(
                drawn, replay(drawn, cluster, rule_named("fifo"), load=PAPER_LOAD).submit
            )
            left_out = 0
        else:
            tasks, left_out = read_trace(Path(trace), interactive, generator, jobs)
            cluster = Cluster(nodes or tasks.nodes_in_use(_BUSY))
        told: dict[str, Any] = {}
        for place, rule in enumerate(rules):
            told[rule.name] = _told(tasks, replay(tasks, cluster, rule, seed=seed))
            bar((place + 1) / len(rules))
    found = {
        "trace": trace,
        "nodes": cluster.nodes,
        "jobs": len(tasks.submit),
        "interactive": int(tasks.interactive.sum()),
        "left_out": left_out,
        "policies": told,
    }
    print_told(found, partial(_print, found), as_json=as_json)


def read_trace(
    path: Path, interactive: float, generator: Any, most: int | None = None
) -> tuple["Tasks", int]:
    """Return the tasks of ``jobs.csv`` (or of that file), and how many were left out.

    Those are larger than a node, or endless. Columns ``submit_time`` and ``duration`` in seconds,
    ``num_gpu``; if known ``gpu_milli`` (of each), ``cpu_milli``, ``memory_mib``, ``qos`` (``BE`` is
    best effort, any other interactive; drawn with the chance ``interactive`` where it is missing)
    and ``grace`` (else 5 % of the duration, at most 20 minutes). Nodes have 8 GPUs, 96 CPUs and 768
    GiB.

    Raises:
        InvalidInput: with file, row and column of what is wrong.
    """
    import numpy as np

    from easeml.search.preemption import Tasks

    file = path / "jobs.csv" if path.is_dir() else path
    rows = _read(file)
    rows.sort(key=lambda row: row["submit_time"])
    columns = {}
    for name in set(rows[0]) - {"qos"}:
        columns[name] = np.array([row[name] for row in rows], dtype=float)
    demand = _demand(columns)
    if "qos" in rows[0]:
        urgent = np.array([row["qos"] != _BEST_EFFORT for row in rows])
    else:
        urgent = generator.random(len(rows)) < interactive
    grace = columns.get("grace", np.minimum(0.05 * columns["duration"], 1200.0))
    kept = np.flatnonzero((demand <= 1).all(axis=1) & (columns["duration"] > 0))
    if not kept.size:
        raise InvalidInput("No job of the trace fits a node.", where=str(file))
    first = kept[:most]
    tasks = Tasks(
        columns["submit_time"][first],
        columns["duration"][first],
        demand[first],
        urgent[first],
        grace[first],
    )
    return tasks, len(rows) - kept.size


def _demand(columns: dict[str, Any]) -> Any:
    """Return what each job takes of a node, one column a resource."""
    import numpy as np

    count = columns["num_gpu"]
    gpus = count * columns.get("gpu_milli", np.full(len(count), 1000.0)) / 1000
    shares = [gpus / _NODE["gpu"]]
    for name in ("cpu_milli", "memory_mib"):
        if name in columns:
            shares.append(columns[name] / _NODE[name])
    return np.column_stack(shares)


def _read(file: Path) -> list[dict[str, Any]]:
    """Return the jobs of a trace: numbers by column, and ``qos`` as text where it is told."""
    rows = _csv_rows(file)
    there = set().union(*rows[:1])
    missing = [name for name in _WANTED if name not in there]
    if missing:
        raise InvalidInput(f"The trace has no column {missing[0]!r}, or no row.", where=str(file))
    names = list(filter(there.__contains__, (*_WANTED, *_OPTIONAL)))
    found = []
    for number, row in enumerate(rows):
        job: dict[str, Any] = {name: _number(file, number, name, row[name]) for name in names}
        if "qos" in there:
            job["qos"] = row["qos"]
        found.append(job)
    return found


def _csv_rows(file: Path) -> list[dict[str, Any]]:
    try:
        with file.open(newline="", encoding="utf-8-sig") as opened:
            return list(csv.DictReader(opened))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(
            "The file is not a CSV table.", where=str(file), remedy="Save it as UTF-8 CSV."
        ) from error


def _number(file: Path, row: int, column: str, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        where = f"{file}, row {row}, column {column!r}"
        raise InvalidInput(f"{text!r} is not a number of at least 0.", where=where)
    return value


def _submitted(tasks: "Tasks", submit: Any) -> "Tasks":
    from easeml.search.preemption import Tasks

    return Tasks(submit, tasks.seconds, tasks.demand, tasks.interactive, tasks.grace)


def _told(tasks: "Tasks", outcome: Any) -> dict[str, Any]:
    """Return percentiles of the slowdowns of either kind, and what suspending did."""
    best_effort = ~tasks.interactive
    suspended = outcome.suspensions[best_effort] > 0
    return {
        "interactive": _percentiles(outcome.slowdown[tasks.interactive]),
        "best_effort": _percentiles(outcome.slowdown[best_effort]),
        "suspended_share": float(suspended.mean()) if suspended.size else 0.0,
        "seconds_until_back": _percentiles(outcome.back),
    }


def _percentiles(values: Any) -> dict[str, float] | None:
    """Return the percentiles by name; None where there are no values."""
    import numpy as np

    if not len(values):
        return None
    return {f"p{q}": float(np.percentile(values, q)) for q in _PERCENTILES}


def _print(found: dict[str, Any]) -> None:
    kinds = product(("interactive", "best effort"), _PERCENTILES)
    titles = starmap("{} p{}".format, kinds)
    rows = starmap(_policy_row, found["policies"].items())
    print_table(["policy", *titles, "suspended"], rows)
    jobs = f"{found['jobs']} jobs, {found['interactive']} interactive, {found['left_out']} left out"
    say(
        f"{jobs}; {found['nodes']} nodes. Slowdown: 1 + waiting / running. "
        "Suspended: share of best-effort jobs."
    )


def _policy_row(name: str, told: dict[str, Any]) -> tuple[str, ...]:
    suspended = f"{100 * told['suspended_share']:.1f} %"
    return name, *_cells(told["interactive"]), *_cells(told["best_effort"]), suspended


def _cells(percentiles: dict[str, float] | None) -> list[str]:
    if percentiles is None:
        return ["-"] * len(_PERCENTILES)
    return list(map("{:.2f}".format, percentiles.values()))
