"""What ``serving_costs.py`` measures beside easeml: bare servers of the same models, and other programs.

A kind of model is the same everywhere: a linear model, boosted trees, a forest, a model of texts,
and an ensemble of a linear model and a forest. Bare servers answer with easeml's own model as an
ONNX graph (texts: with the peers' pipeline as one); MLflow, MLServer and BentoML serve scikit-learn
pipelines of the same kinds.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from common import peer_programs
from service_process import free_port

KINDS = ("linear", "boosting", "forest", "text", "ensemble")
_READY_SECONDS = 180.0
_TRAIN = """
import sys
from pathlib import Path
import joblib, pandas
from lightgbm import LGBMClassifier
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

folder = Path(sys.argv[1])
linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
boosting = LGBMClassifier(n_jobs=1, verbosity=-1)
words = ColumnTransformer([("words", TfidfVectorizer(lowercase=False), "text")])
made = {
    "linear": linear,
    "boosting": boosting,
    "forest": RandomForestClassifier(n_jobs=1),
    "text": make_pipeline(words, LogisticRegression(max_iter=1000)),
    "ensemble": VotingClassifier(
        [("linear", linear), ("forest", RandomForestClassifier(n_jobs=1))], voting="soft"
    ),
}
for kind, pipeline in made.items():
    if not (folder / f"{kind}.csv").exists():
        continue
    table = pandas.read_csv(folder / f"{kind}.csv")
    answers = table.pop(table.columns[-1])
    joblib.dump(pipeline.fit(table, answers), folder / f"{kind}.joblib")
"""
_TO_MLFLOW = """
import sys, joblib, mlflow.sklearn
model = joblib.load(sys.argv[1])
mlflow.sklearn.save_model(model, sys.argv[2], serialization_format="cloudpickle")
"""
_BENTO = """
import bentoml, joblib, os, pandas

@bentoml.service(workers=1)
class Serving:
    def __init__(self):
        self.model = joblib.load(os.environ["SERVED_MODEL"])

    @bentoml.api
    def predict(self, rows: list[dict]) -> list[list[float]]:
        return self.model.predict_proba(pandas.DataFrame(rows)).tolist()
"""
_BARE = """
import json, os
import numpy, onnxruntime

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(os.environ["SERVED_MODEL"], options)
inputs = [one.name for one in session.get_inputs()]
of_texts = {one.name for one in session.get_inputs() if "string" in one.type}

def column(rows, name):
    kind = object if name in of_texts else float
    return numpy.array([[row[name]] for row in rows], dtype=kind)

async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body += message["body"]
        more = message.get("more_body", False)
    rows = json.loads(body)["rows"]
    labels, probabilities = session.run(None, {name: column(rows, name) for name in inputs})
    answer = {"predictions": labels.tolist(), "probabilities": probabilities.tolist()}
    content = json.dumps(answer).encode()
    length = str(len(content)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": content})
"""
PACKAGES = {
    "MLflow": ("mlflow", "scikit-learn", "lightgbm"),
    "MLServer": ("mlserver", "mlserver-mlflow", "scikit-learn", "lightgbm"),
    "BentoML": ("bentoml", "pandas", "scikit-learn", "lightgbm"),
}


@dataclass(frozen=True)
class Server:
    """A program that answers: where, and the process whose children and self are its cost."""

    port: int
    path: str
    body: bytes
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        """End it with all its children."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def train(folder: Path, tables: Mapping[str, pd.DataFrame], programs: Path) -> None:
    """Train the peers' pipelines of some kinds, with the Python of ``programs``, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, table in tables.items():
        table.to_csv(folder / f"{kind}.csv", index=False)
    subprocess.run([str(programs / "python"), "-c", _TRAIN, str(folder)], check=True)


def bare_server(graph: Path, row: Mapping[str, object], folder: Path) -> Server:
    """Start uvicorn with nothing but JSON and ONNX Runtime behind it."""
    (folder / "bare.py").write_text(_BARE)
    command = [sys.executable, "-m", "uvicorn", "bare:app", "--log-level", "error"]
    return _started(command, folder, graph, "/", {"rows": [row]})


def peer_server(
    name: str, kind: str, row: Mapping[str, object], folder: Path, cache: Path
) -> Server:
    """Start a peer in its own environment below ``cache``; raises where it cannot be installed."""
    programs = peer_programs(cache, name, PACKAGES[name])
    own = folder / name / kind
    own.mkdir(parents=True, exist_ok=True)
    pipeline = folder / name / f"{kind}.joblib"
    if name == "BentoML":
        (own / "service.py").write_text(_BENTO)
        command = [str(programs / "bentoml"), "serve", "service:Serving"]
        return _started(command, own, pipeline, "/predict", {"rows": [row]})
    model = own / "model"
    run = [str(programs / "python"), "-c", _TO_MLFLOW, str(pipeline), str(model)]
    subprocess.run(run, check=True)
    asked = {"dataframe_records": [row]}
    if name == "MLflow":
        command = [str(programs / "mlflow"), "models", "serve", "-m", str(model)]
        return _started([*command, "--env-manager", "local"], own, model, "/invocations", asked)
    port = free_port()
    ports = {"http_port": port, "grpc_port": free_port(), "metrics_port": free_port()}
    settings = {"host": "127.0.0.1", "parallel_workers": 0, "debug": False, **ports}
    served = {"implementation": "mlserver_mlflow.MLflowRuntime", "parameters": {"uri": str(model)}}
    (own / "settings.json").write_text(json.dumps(settings))
    (own / "model-settings.json").write_text(json.dumps({"name": "serving", **served}))
    command = [str(programs / "mlserver"), "start", str(own)]
    return _started(command, own, model, "/invocations", asked, port)


def _started(
    command: list[str],
    folder: Path,
    model: Path,
    path: str,
    asked: Mapping[str, object],
    port: int = 0,
) -> Server:
    """Start a server and wait until it answers. ``port``: told by its files; 0: by its options."""
    if not port:
        port = free_port()
        command = [*command, "--port", str(port)]
    programs = Path(command[0]).parent
    variables = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "SERVED_MODEL": str(model),
        "OMP_NUM_THREADS": "1",
    }
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    server = Server(port, path, json.dumps(asked).encode(), process)
    deadline = time.monotonic() + _READY_SECONDS
    while not _answers(server):
        if process.poll() is not None or time.monotonic() > deadline:
            server.stop()
            raise RuntimeError((folder / "server.log").read_text()[-2000:])
        time.sleep(0.5)
    return server


def _answers(server: Server) -> bool:
    headers = {"Content-Type": "application/json"}
    address = f"http://127.0.0.1:{server.port}{server.path}"
    try:
        with urllib.request.urlopen(urllib.request.Request(address, server.body, headers)):
            return True
    except OSError:
        return False
