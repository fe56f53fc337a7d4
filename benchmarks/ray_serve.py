"""Ray Serve with the models that ``serving_replicas.py`` asks, as a peer: in an environment of its own."""

import os
import signal
import subprocess
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from cluster_machines import with_descendants
from common import CACHE, ROOT, peer_programs
from service_process import free_port

NAME = "Ray Serve"
_TRAIN = """
import sys, joblib, pandas
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression

table = pandas.read_csv(sys.argv[1])
answers = table.pop("target")
models = {
    "waiting": LogisticRegression(max_iter=5000),
    "lightgbm-classifier": LGBMClassifier(n_jobs=1, verbosity=-1),
}
for name, model in models.items():
    joblib.dump(model.fit(table, answers), f"{sys.argv[2]}/{name}.joblib")
"""
_SERVE = """
import sys, time
import joblib, pandas, ray
from ray import serve

folder, port, waits = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])

class Served:
    def __init__(self, name, seconds):
        self.model = joblib.load(f"{folder}/{name}.joblib")
        self.seconds = seconds

    async def __call__(self, request):
        rows = (await request.json())["rows"]
        time.sleep(self.seconds * len(rows))
        found = self.model.predict_proba(pandas.DataFrame(rows))
        labels = self.model.classes_[found.argmax(axis=1)].tolist()
        return {"predictions": labels, "probabilities": found.tolist()}

ray.init(
    num_cpus=2, include_dashboard=False, object_store_memory=200_000_000,
    _node_ip_address="127.0.0.1", log_to_driver=False,
)
serve.start(http_options={"host": "127.0.0.1", "port": port})
made = serve.deployment(Served)
print("ready", flush=True)
for line in sys.stdin:
    for name, seconds in (("waiting", waits), ("lightgbm-classifier", 0.0)):
        replicas = made.options(
            name=name, num_replicas=int(line), ray_actor_options={"num_cpus": 0}
        )
        serve.run(replicas.bind(name, seconds), name=name, route_prefix=f"/{name}")
    print("ready", flush=True)
"""


class RayServe:
    """A Ray on this machine that serves the models. ``pid``: of what started all of it."""

    def __init__(self, folder: Path, table: pd.DataFrame, seconds_a_row: float):
        """Install, train and start.

        ``seconds_a_row``: how long the model ``waiting`` waits. Raises ``CalledProcessError`` or
        ``RuntimeError`` with the reason where that fails.
        """
        packages = [f"{name}=={version(name)}" for name in ("lightgbm", "scikit-learn", "pandas")]
        programs = peer_programs(CACHE, "ray-serve", [f"ray[serve]=={locked_version()}", *packages])
        python = str(programs / "python")
        table.to_csv(folder / "table.csv", index=False)
        given = [str(folder / "table.csv"), str(folder)]
        subprocess.run([python, "-c", _TRAIN, *given], check=True)
        self.port = free_port()
        self._log = folder / "ray-serve.log"
        command = [python, "-c", _SERVE, str(folder), str(self.port), str(seconds_a_row)]
        variables = {**os.environ, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
        variables.pop("PYTHONPATH", None)  # of easeml's processes
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                env=variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self.pid = self._process.pid
        self._wait()

    def scale(self, count: int) -> None:
        """Have each model served by so many replicas."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()
        self._wait()

    def lose_replica(self, model: str) -> None:
        """Kill -9 one replica of a model."""
        for pid in with_descendants(self.pid):
            title = f"ServeReplica:{model}:".encode()
            if title in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
                return
        raise LookupError(f"No replica of {model} runs.")

    def close(self) -> None:
        """End it with all that it has started."""
        for pid in reversed(with_descendants(self.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def _wait(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip() == "ready":
                return
        raise RuntimeError(self._log.read_text()[-2000:])


def locked_version() -> str:
    """Return the version of Ray that ``make test-ray`` uses."""
    lock = (ROOT / "requirements-ray.lock").read_text("utf-8").splitlines()
    return next(line.partition("==")[2] for line in lock if line.startswith("ray=="))
