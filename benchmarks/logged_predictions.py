"""What the log of requests and a roll-out cost a prediction: latency of one row, and the rate.

    python benchmarks/logged_predictions.py [--requests 600] [--rounds 5] [--seconds 3]

One easeml serves one application: LightGBM, or a tree where that is what its search found, on 569
rows of breast cancer. In turn, round after round, it keeps no requests; keeps all; keeps all while
a shadow predicts them too; and while a second model answers half of them. ``p50``, ``p99``:
milliseconds of ``POST .../predict`` over one connection; ``rate``: requests a second of eight
connections. The figures are medians over the rounds, ``over`` and ``of`` the median of the
differences and ratios within a round, since other work on the machine meets all of a round alike.
"""

import itertools
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from sklearn.datasets import load_breast_cancer

from common import arguments, machine_line, read_options, write_table
from easeml.client import Client
from easeml.contract.applications import Declaration
from easeml.contract.production import NewRequestLog
from easeml.contract.rollouts import EndRollout, NewRollout, NewRolloutRule
from easeml.contract.states import RolloutEnd, RolloutWay
from prediction_latency import poster
from service_process import EasemlProcess

CONNECTIONS = 8
SETTLE_SECONDS = 1.0  # until a change of the log or of the models has reached all processes
WARM = 50
MODELS = ["lightgbm-classifier", "decision-tree-classifier"]
WAYS = ("nothing kept", "all kept", "and a shadow", "and half by another")


@dataclass(frozen=True)
class Measured:
    """Milliseconds of a request, and requests a second."""

    p50: float
    p99: float
    rate: float


class Served:
    """An application with two models, and a client that changes how it serves."""

    def __init__(self, easeml: EasemlProcess, client: Client, table: Path):
        self._client = client
        dataset = client.upload(table)
        client.wait_version_ready(dataset.version.id)
        wish = Declaration(dataset_id=dataset.id, target="target", models=MODELS, max_tasks=4)
        self.id = client.create_application(wish).id
        client.wait(self.id, until="converged")
        models = list(client.models(self.id))
        live = client.application(self.id).live_model
        assert live is not None
        self._other = next(one.id for one in models if one.id != live.id)
        frame = load_breast_cancer(as_frame=True).frame
        row = frame.drop(columns="target").iloc[0].to_dict()
        headers = {
            "Authorization": f"Bearer {easeml.key}",
            "Content-Type": "application/json",
        }
        body = json.dumps({"rows": [row]}).encode()
        path = f"/api/v1/applications/{self.id}/predict"
        self.poster: Callable[[], Callable[[], bytes]] = lambda: poster(
            easeml.port, path, body, headers
        )

    def serve(self, way: str) -> None:
        """Serve in one of the ways."""
        if self._client.rollouts(self.id).running:
            self._client.end_rollout(self.id, EndRollout(end=RolloutEnd.STOP))
        share = 0.0 if way == WAYS[0] else 1.0
        self._client.set_request_log(self.id, NewRequestLog(share=share))
        rule = NewRolloutRule(way=RolloutWay.SHARE, shares=[0.5])
        if way == WAYS[2]:
            wish = NewRollout(model_id=self._other, way=RolloutWay.SHADOW)
            self._client.start_rollout(self.id, wish)
        if way == WAYS[3]:
            self._client.set_rollout_rule(self.id, rule)
            wish = NewRollout(model_id=self._other, way=RolloutWay.SHARE)
            self._client.start_rollout(self.id, wish)
        time.sleep(SETTLE_SECONDS)


def measure(served: Served, requests: int, seconds: float) -> Measured:
    """Return latency over one connection, then the rate over several."""
    post = served.poster()
    for _ in range(WARM):
        post()
    taken = []
    for _ in range(requests):
        began = time.perf_counter()
        post()
        taken.append(1000 * (time.perf_counter() - began))
    p50, p99 = np.percentile(taken, [50, 99])
    return Measured(float(p50), float(p99), rate(served, seconds))


def rate(served: Served, seconds: float) -> float:
    """Return how many requests a second are answered over several connections."""
    until = time.perf_counter() + seconds
    counts = [0] * CONNECTIONS

    def ask(place: int) -> None:
        post = served.poster()
        while time.perf_counter() < until:
            post()
            counts[place] += 1

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def report(found: dict[str, list[Measured]], folder: Path) -> None:
    """Print and write the table."""
    print(f"{'':22} {'p50 ms':>8} {'over':>7} {'p99 ms':>8} {'over':>7} {'rate':>7} {'of':>6}")
    rows = []
    for way, measured in found.items():
        pairs = list(zip(measured, found[WAYS[0]], strict=True))
        row = (
            statistics.median(one.p50 for one in measured),
            statistics.median(one.p50 - plain.p50 for one, plain in pairs),
            statistics.median(one.p99 for one in measured),
            statistics.median(one.p99 - plain.p99 for one, plain in pairs),
            statistics.median(one.rate for one in measured),
            statistics.median(one.rate / plain.rate for one, plain in pairs),
        )
        p50, over, p99, over99, per_second, share = row
        print(
            f"{way:22} {p50:8.2f} {over:+7.2f} {p99:8.2f} {over99:+7.2f} "
            f"{per_second:7.0f} {share:6.2f}"
        )
        rows.append([way, *(round(value, 3) for value in row)])
    columns = ["way", "p50_ms", "p50_over", "p99_ms", "p99_over", "rate", "rate_of"]
    write_table(folder / "logged.csv", columns, rows)


def main() -> None:
    """Run once and print."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--requests", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = read_options(parser, requests=20, rounds=1, seconds=0.3)
    found: dict[str, list[Measured]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "breast_cancer.csv"
        load_breast_cancer(as_frame=True).frame.to_csv(table, index=False)
        easeml = EasemlProcess(Path(folder) / "home")
        easeml.start()
        try:
            with Client(easeml.url, easeml.key) as client:
                served = Served(easeml, client, table)
                for _, way in itertools.product(range(options.rounds), WAYS):
                    served.serve(way)
                    found[way].append(measure(served, options.requests, options.seconds))
        finally:
            easeml.stop()
    report(found, options.out)
    print(machine_line("scikit-learn", "lightgbm"))


if __name__ == "__main__":
    main()
