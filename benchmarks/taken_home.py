"""What is taken home predicts what the endpoint predicts, asked by other tools' own clients.

    python benchmarks/taken_home.py [--rows 600]

Starts an easeml of its own, trains a model on a table with numbers, categories, dates and texts,
some of them missing, and exports it by ``easeml model export``. New rows are asked of

- the live endpoint and two servers of what was exported, the folder's ``serve.py`` and the image in
  a container: by Triton's client (health, metadata, tensors as JSON and as bytes) and by the client
  of MLflow's scoring server;
- the folders, by their loader and by ``mlflow.pyfunc.load_model``;
- a graph, by ONNX Runtime: of a second application with numbers and categories alone.

All of them run in environments without easeml, which are installed below ``--folder``. ``worst``: the
largest difference of a probability from the endpoint's. A server's ``seconds``, ``cpu``: from its
start, an image's from its loading, to its first answer. ``MB``: of what was exported. Where this
machine runs no containers by podman, the image is not run, and the table says so.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import CACHE, arguments, machine_line, peer_programs, read_options, write_table
from container_images import why_none
from easeml.client import Client
from easeml.contract.applications import Declaration
from service_process import EasemlProcess, free_port

CLIENT = Path(__file__).with_name("taken_home_client.py")
CLIENTS = ("tritonclient[http]", "mlflow-skinny", "pandas", "scipy", "onnxruntime")
TITLES = ("what", "asked by", "rows", "worst", "seconds", "cpu", "MB")
_SECONDS = 120  # for each thing that may hang
_GOOD = [
    "tall",
    "green",
    "quick",
    "fresh",
    "heavy",
    "light",
    "straight",
    "firm",
    "bright",
    "clean",
    "dry",
    "bent",
]
_BAD = [
    "broken",
    "rotten",
    "bent",
    "old",
    "cracked",
    "thin",
    "weak",
    "short",
    "grey",
    "heavy",
    "dull",
    "dry",
]
Row = list[Any]


def trees(rows: int, seed: int) -> pd.DataFrame:
    """Return a table with columns of all kinds, whose answer needs each of them."""
    random = np.random.default_rng(seed)
    size = random.normal(50, 12, rows)
    kind = random.choice(["oak", "elm", "ash"], rows)
    days = random.integers(0, 900, rows)
    is_good = random.random(rows) < 0.5
    said = [" ".join(random.choice(_GOOD if good else _BAD, 12)) for good in is_good]
    worth = (size - 50) / 12 + 2 * is_good + (kind == "oak") + (days - 450) / 500
    keep = worth + random.normal(0, 0.7, rows) > 1.3
    when = pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D")
    table = pd.DataFrame(
        {
            "size (cm)": size.round(2),
            "kind": kind,
            "when": when.strftime("%Y-%m-%d"),
            "said": said,
            "verdict": np.where(keep, "keep", "leave"),
        }
    )
    table.loc[random.random(rows) < 0.08, "size (cm)"] = np.nan
    table.loc[random.random(rows) < 0.05, "kind"] = None
    return table


@dataclass
class Home:
    """A served application, its new rows and what its endpoint predicts of them."""

    easeml: EasemlProcess
    folder: Path
    application: str
    rows: Path
    truth: list[float] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    def ask(self) -> None:
        """Note what the endpoint answers to the rows."""
        with Client(self.easeml.url, self.easeml.key) as client:
            answer = client.predict(self.application, pd.read_csv(self.rows))
        shares = answer.filter(like="probability_")
        self.truth, self.labels = shares.iloc[:, 0].tolist(), answer["prediction"].tolist()

    def export(self, form: str) -> Path:
        """Export the model by the command."""
        out = self.folder / f"{form}-{self.application}"
        self.easeml.command(
            "model", "export", self.application, "--format", form, "--out", str(out)
        )
        return out

    def compared(self, what: str, python: Path, asked: Sequence[str], cost: Row) -> list[Row]:
        """Ask by the client, in the environment of ``python``; return a row a way of asking."""
        command = [str(python), str(CLIENT), str(self.rows), *asked]
        environment = {**os.environ, "PYTHONPATH": ""}
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, env=environment, check=False
        )
        assert run.returncode == 0, run.stderr
        answers = json.loads(run.stdout.splitlines()[-1])
        rows = []
        for way, found in answers.items():
            if way == "labels":
                assert found == self.labels, what
                rows.append([what, "MLflow's client", len(found), "labels equal", *cost])
                continue
            worst = float(np.abs(np.subtract(found, self.truth)).max())
            assert worst <= 1e-5, (what, way, worst)
            rows.append([what, way, len(found), f"{worst:.0e}", *cost])
        return rows


def served(easeml: EasemlProcess, table: pd.DataFrame, new: pd.DataFrame, folder: Path) -> Home:
    """Train and serve a model of a table; return it with new rows."""
    folder.mkdir()
    path = folder / "trees.csv"
    table.to_csv(path, index=False)
    rows = folder / "new.csv"
    new.drop(columns="verdict").to_csv(rows, index=False)
    with Client(easeml.url, easeml.key) as client:
        dataset = client.upload(path)
        client.wait_version_ready(dataset.version.id)
        models = ["logistic", "lightgbm-classifier"]
        wish = Declaration(dataset_id=dataset.id, target="verdict", models=models, max_tasks=3)
        made = client.create_application(wish)
        client.wait(made.id, until="converged", timeout=300)
    home = Home(easeml, folder, made.id, rows)
    home.ask()
    return home


@contextmanager
def folder_served(folder: Path, python: Path, port: int) -> Iterator[int]:
    """Start the server of an exported folder; give its process."""
    command = [str(python), "serve.py", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            yield process.pid
        finally:
            process.terminate()


@contextmanager
def image_served(tar: Path, port: int) -> Iterator[int]:
    """Load an image and start a container of it, with a port of this machine; give its process."""

    def call(*command: str) -> str:
        run = subprocess.run(
            ["podman", *command], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        assert run.returncode == 0, run.stderr
        return run.stdout.strip()

    image = call("load", "--input", str(tar)).split()[-1]
    name = f"easeml-taken-home-{port}"
    try:
        call("run", "--detach", "--name", name, "--publish", f"127.0.0.1:{port}:8080", image)
        yield int(call("inspect", "--format", "{{.State.Pid}}", name))
    finally:
        call("rm", "--force", name)
        call("rmi", image)


def first_answer(port: int, pid: int, began: float) -> Row:
    """Wait until a server answers; return its wall and processor seconds since its start."""
    address = f"http://127.0.0.1:{port}/health"
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                break
        except OSError:
            assert time.monotonic() - began < _SECONDS, "the server does not answer"
            time.sleep(0.1)
    wall = time.monotonic() - began
    spent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(spent[11]) + int(spent[12])
    return [round(wall, 1), round(ticks / os.sysconf("SC_CLK_TCK"), 1)]


def megabytes(path: Path) -> float:
    """Return the size of a file, or of all files of a folder."""
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return round(sum(one.stat().st_size for one in files) / 1e6, 1)


def protocols(home: Home, python: Path, reader: Path) -> list[Row]:
    """Ask the endpoint and both servers by the clients of the protocols."""
    port = home.easeml.port
    address = f":{home.easeml.key}@127.0.0.1:{port}/api/v1/applications/{home.application}"
    asked = ["protocols", f"127.0.0.1:{port}", home.application, f"http://{address}"]
    rows = home.compared("endpoint", python, [*asked, home.easeml.key], ["", "", ""])
    servers: dict[str, Any] = {
        "python": lambda out, port: folder_served(out, reader, port),
        "oci": image_served,
    }
    reason = why_none()  # sets up what podman needs in a small sandbox
    if reason or shutil.which("podman") is None:
        del servers["oci"]
        rows.append(["oci", reason or "podman is not installed", "", "", "", "", ""])
    for form, serving in servers.items():
        out, port = home.export(form), free_port()
        began = time.monotonic()
        with serving(out, port) as pid:
            cost = [*first_answer(port, pid, began), megabytes(out)]
            here = f"127.0.0.1:{port}"
            asked = ["protocols", here, home.application, f"http://{here}", ""]
            rows += home.compared(f"{form}, its server", python, asked, cost)
    return rows


def main() -> None:
    """Print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--folder", type=Path, default=CACHE, help="of the environments")
    options = read_options(parser, rows=200)
    clients = peer_programs(options.folder, "protocol-clients", CLIENTS) / "python"
    table, new = trees(options.rows, 0), trees(60, 1)
    short = ["size (cm)", "kind", "verdict"]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        easeml = EasemlProcess(folder / "home", workers=1)
        easeml.start()
        try:
            home = served(easeml, table, new, folder / "all")
            taken = home.export("mlflow")
            # MLflow 3.17 asks for a pyarrow below 26, and brings it.
            pins = (taken / "requirements.txt").read_text().split()
            packages = ["mlflow", *(pin for pin in pins if not pin.startswith("pyarrow"))]
            reader = peer_programs(options.folder, "mlflow-reader", packages) / "python"
            rows = protocols(home, clients, reader)
            for form in ("python", "mlflow"):
                out = home.folder / f"{form}-{home.application}"
                asked = [form, str(out)]
                rows += home.compared(form, reader, asked, ["", "", megabytes(out)])
            plain = served(easeml, table[short], new[short], folder / "plain")
            graph = plain.export("onnx")
            asked = ["onnx", str(graph / "model.onnx")]
            rows += plain.compared("onnx", clients, asked, ["", "", megabytes(graph)])
        finally:
            easeml.stop()
    lines = [machine_line("easeml", "scikit-learn", "lightgbm", "onnxruntime")]
    for row in [TITLES, *rows]:
        lines.append("{:20} {:30} {:>5} {:>13} {:>8} {:>6} {:>7}".format(*map(str, row)))
    print(*lines, sep="\n")
    write_table(options.out / "taken.csv", TITLES, rows)
    (options.out / "table.txt").write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
