"""What serving adds to a prediction: one row, one client, against the bare in-process predict, and beside peers.

    python benchmarks/prediction_latency.py [--requests 2000] [--peers]

Starts an easeml of its own, trains LightGBM and the logistic pipeline on breast cancer, and times ``POST .../predict``
over one kept-open connection with authentication and validation on. The bare time is the same trained model in this
process, fed a frame that is ready. ``--peers`` also serves the scikit-learn pipeline with MLflow's model server and
with MLServer, each in an environment that the script installs below ``--folder``.
"""

import argparse
import http.client
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from sklearn.datasets import load_breast_cancer

from service_process import EasemlProcess, free_port

MODELS = ["lightgbm-classifier", "logistic"]
PEER_TRAINING = """
import sys, mlflow.sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
mlflow.sklearn.save_model(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y), sys.argv[1])
"""


def times(call: Callable[[], object], count: int) -> list[float]:
    """Return ``count`` durations of ``call`` in milliseconds, after a tenth as many to warm up."""
    for _ in range(max(count // 10, 20)):
        call()
    taken = []
    for _ in range(count):
        begun = time.perf_counter()
        call()
        taken.append((time.perf_counter() - begun) * 1e3)
    return taken


def row_of(name: str, taken: list[float], bare: list[float] | None) -> str:
    """Format one line of the table."""
    p50, p99 = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
    over = f"{p50 - statistics.median(bare):8.2f} {p99 - statistics.median(bare):8.2f}" if bare else f"{'':8} {'':8}"
    return f"{name:32} {p50:8.2f} {p99:8.2f} {over} {1e3 * len(taken) / sum(taken):9.0f}"


def poster(port: int, path: str, body: bytes, headers: dict[str, str]) -> Callable[[], bytes]:
    """Return a function that posts the body over one kept-open connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def post() -> bytes:
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return content

    return post


def serve_and_time(model: str, count: int, table: Path, easeml: EasemlProcess) -> tuple[list[float], list[float]]:
    """Return served and bare times of one model."""
    from easeml.modules.pipeline import load_trained
    from easeml.settings import Settings
    from easeml.store import Store

    created = json.loads(
        easeml.command(
            "app", "create", str(table), "--target", "target", "--models", model, "--max-tasks", "1", "--yes", "--json"
        )
    )
    easeml.command("app", "wait", created["id"], "--until", "first-model", "--timeout", "120")
    frame = load_breast_cancer(as_frame=True).frame.drop(columns="target").iloc[:1]
    body = json.dumps({"rows": frame.to_dict("records")}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {easeml.key}"}
    served = times(poster(easeml.port, f"/api/v1/applications/{created['id']}/predict", body, headers), count)

    settings = Settings(home=easeml.home)
    store = Store.open(settings.database, settings.artefacts)
    with store.read() as tx:
        kept = tx.unscoped().models.list(application_id=created["id"], limit=1)[0]
    with tempfile.TemporaryDirectory() as folder:
        trained = load_trained(store.artefacts.fetch(kept.tenant_id, kept.artefact, Path(folder) / "model"))
        bare = times(lambda: trained.predict(frame), count)
    store.close()
    return served, bare


def environment(folder: Path, *packages: str) -> Path:
    """Make (once) a virtual environment with the packages; return its ``bin``."""
    if not (folder / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", *packages], check=True)
    return folder / "bin"


def time_peer(name: str, folder: Path, count: int) -> list[float]:
    """Return times of a peer that serves the logistic pipeline."""
    packages = ["mlflow", "scikit-learn"] + (["mlserver", "mlserver-mlflow"] if name == "MLServer" else [])
    programs = environment(folder / name, *packages)
    model, port = folder / name / "model", free_port()
    if not model.exists():
        subprocess.run([str(programs / "python"), "-c", PEER_TRAINING, str(model)], check=True)
    command = [str(programs / "mlflow"), "models", "serve", "-m", str(model), "-p", str(port), "--env-manager", "local"]
    command += ["--enable-mlserver"] if name == "MLServer" else []
    variables = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    server = subprocess.Popen(
        command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        frame = load_breast_cancer(as_frame=True).frame.drop(columns="target").iloc[:1]
        body = json.dumps({"dataframe_records": frame.to_dict("records")}).encode()
        deadline = time.monotonic() + 90
        while True:
            try:
                post = poster(port, "/invocations", body, {"Content-Type": "application/json"})
                post()
                break
            except (OSError, AssertionError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)
        return times(post, count)
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "easeml-peers")
    options = parser.parse_args()
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores")
    print(f"{options.requests} requests, one row, one client")
    print(f"{'milliseconds':32} {'p50':>8} {'p99':>8} {'over p50':>8} {'over p99':>8} {'req/s':>9}")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "cancer.csv"
        load_breast_cancer(as_frame=True).frame.to_csv(table, index=False)
        easeml = EasemlProcess(Path(folder) / "home", workers=1)
        easeml.start()
        try:
            for model in MODELS:
                served, bare = serve_and_time(model, options.requests, table, easeml)
                print(row_of(f"bare {model}", bare, None))
                print(row_of(f"easeml {model}", served, bare))
        finally:
            easeml.stop()
    for peer in ["MLflow", "MLServer"] if options.peers else []:
        print(row_of(peer, time_peer(peer, options.folder, options.requests), None))


if __name__ == "__main__":
    main()
