"""Bytes that a flow moves between a person's machine and a live application.

A table of 100,000 rows (8 numbers, 2 texts) is declared at a service of its own and pulled. A step
changes 10 cells, and adds 100 rows; it is pushed, and pulled by another folder that has the version
before. So is a step that changes one column of every row. Each line says the bytes of requests and
answers, the seconds, and the bytes of the whole table in the form in which it travels.

    python benchmarks/flow_bytes.py
    python benchmarks/flow_bytes.py --rows 1000
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import arguments, machine_line, read_options
from easeml.cli.main import app
from easeml.client import Client
from easeml.lineage import StagedRelation
from easeml.relation import Relation
from service_process import EasemlProcess

SEED = 0
CELLS, NEW = 10, 100
STEP = """
[steps.more]
do = "read"
file = "more.parquet"

[steps.repaired]
do = "update"
of = ["current", "more"]
"""

COLUMN = """
[steps.column]
do = "with_column"
of = ["current"]
name = "c2"
formula = "c2 * 2"
"""


def table(rows: int) -> pd.DataFrame:
    """Return a table whose ``level`` follows from its numbers."""
    rng = np.random.default_rng(SEED)
    frame = pd.DataFrame({f"c{place}": rng.normal(size=rows).round(3) for place in range(8)})
    frame["shop"] = rng.choice([f"shop {number}" for number in range(12)], rows)
    frame["way"] = rng.choice(["card", "cash", "transfer"], rows)
    frame["level"] = np.where(frame["c0"] + frame["c1"] > 0, "high", "low")
    return frame


@contextmanager
def counted() -> Iterator[dict[str, float]]:
    """Count the bytes of requests and of answers, and the seconds, of what is done within."""
    counts = {"sent": 0.0, "received": 0.0, "seconds": 0.0}
    plain: Callable[..., httpx.Response] = httpx.HTTPTransport.handle_request

    def handle_request(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        counts["sent"] += int(request.headers.get("content-length", 0))
        response = plain(self, request)
        content = b"".join(response.iter_raw())
        counts["received"] += len(content)
        return httpx.Response(
            response.status_code, headers=response.headers, stream=httpx.ByteStream(content)
        )

    httpx.HTTPTransport.handle_request = handle_request  # pyright: ignore[reportAttributeAccessIssue]
    started = time.perf_counter()
    try:
        yield counts
    finally:
        counts["seconds"] = time.perf_counter() - started
        httpx.HTTPTransport.handle_request = plain  # pyright: ignore[reportAttributeAccessIssue]


def command(*words: str | Path) -> dict[str, Any]:
    """Run a command in this process; return the JSON that it prints."""
    result = CliRunner().invoke(app, [*map(str, words), "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output or repr(result.exception)
    return json.loads(result.stdout)


def changed_rows(current: Relation) -> Relation:
    """Return train rows with one other cell each, and new rows."""
    assert current.roles is not None
    frame = current.to_frame()
    train = frame.loc[np.array(current.roles) == "train"]
    other = train.iloc[:CELLS].assign(c0=9.5)
    new = train.iloc[:NEW].set_axis(range(1_000_000_000, 1_000_000_000 + NEW), axis=0)
    both = pd.concat([other, new.assign(c1=0.25)])
    return Relation.from_frame(both, current.target, ["train"] * len(both))


def moved(folder: Path, rows: int, service: EasemlProcess) -> dict[str, dict[str, float]]:
    """Pull, push and pull again; return what each took."""
    source = folder / "table.csv"
    table(rows).to_csv(source, index=False)
    made = service.command("app", "create", str(source), "--target", "level", "--yes", "--json")
    application = json.loads(made)["id"]
    with Client(service.url, service.key) as client:
        client.wait_version_ready(client.application(application).version_id)
    service.stop_searches()
    found = {}
    flow = folder / "here" / "flow.toml"
    flow.parent.mkdir()
    pull = ("flow", "pull", application, "--out")
    with counted() as found["pull, nothing here"]:
        command(*pull, flow)
    shutil.copytree(flow.parent, folder / "there")  # as somebody else has it
    current = StagedRelation.from_flow(flow)["current"].eval()
    whole = folder / "whole.parquet"
    current.to_frame().reset_index().to_parquet(whole)
    changed_rows(current).save(flow.parent / "more.parquet")
    flow.write_text(flow.read_text() + STEP)
    with counted() as found["push"]:
        pushed = command("flow", "push", flow)
    assert pushed["summary"]["added"] == {"train": NEW}
    service.stop_searches()
    with counted() as found["push again"]:
        command("flow", "push", flow)
    with counted() as found["pull, the version before is here"]:
        command(*pull, folder / "there" / "flow.toml")
    with counted() as found["pull again"]:
        command(*pull, folder / "there" / "flow.toml")
    check(folder / "there" / "flow.toml", current)
    with_one_column(folder, application, service, found)
    found["the whole table"] = {"sent": whole.stat().st_size, "received": 0.0, "seconds": 0.0}
    return found


def with_one_column(
    folder: Path, application: str, service: EasemlProcess, found: dict[str, dict[str, float]]
) -> None:
    """Push a step that changes a column of every row, and pull it where the version before is."""
    flow = folder / "there" / "flow.toml"
    shutil.copytree(flow.parent, folder / "third")
    before = StagedRelation.from_flow(flow)["current"].eval().to_frame()
    flow.write_text(flow.read_text() + COLUMN)
    with counted() as found["push, one column of every row"]:
        command("flow", "push", flow)
    service.stop_searches()
    third = folder / "third" / "flow.toml"
    with counted() as found["pull, one column of every row"]:
        command("flow", "pull", application, "--out", third)
    pulled = StagedRelation.from_flow(third)["current"].eval()
    assert pulled.roles is not None
    frame = pulled.to_frame()
    others = before.columns.drop("c2")
    pd.testing.assert_frame_equal(frame[others], before[others])
    train = np.array(pulled.roles) == "train"
    assert np.allclose(frame["c2"][train], 2 * before["c2"][train])


def check(flow: Path, before: Relation) -> None:
    """Fail where what came is not what was pushed."""
    frame = StagedRelation.from_flow(flow)["current"].eval().to_frame()
    assert len(frame) == len(before) + NEW
    assert (frame["c0"] == 9.5).sum() == CELLS
    assert frame.index[-NEW:].tolist() == list(range(len(before), len(before) + NEW))


def main() -> None:
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    options = read_options(parser, rows=1000)
    with tempfile.TemporaryDirectory() as folder:
        service = EasemlProcess(Path(folder) / "home", workers=1)
        service.start()
        try:
            os.environ.update(EASEML_URL=service.url, EASEML_API_KEY=service.key)
            found = moved(Path(folder), options.rows, service)
        finally:
            service.stop()
    lines = [
        machine_line("pyarrow", "pandas"),
        f"{options.rows:,} rows, {CELLS} cells, {NEW} new rows",
    ]
    for what, counts in found.items():
        sent, received = int(counts["sent"]), int(counts["received"])
        lines.append(
            f"{what}: {sent:,} bytes sent, {received:,} received, {counts['seconds']:.1f} s"
        )
    text = "\n".join(lines)
    print(text)
    (options.out / "summary.txt").write_text(text + "\n")


if __name__ == "__main__":
    main()
