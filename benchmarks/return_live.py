"""A model that goes bad on the electricity market is returned from by itself, on a live easeml.

    python benchmarks/return_live.py [--data ../shared/data] [--rows 2000]

A model of rows 8,000 to 10,000 of elec2 serves. Rows 36,000 to 38,000 are fed, a model learns from
them alone, and its owner lets it serve. The next 2,000 rows are asked, 50 at a time, and the truth
of each 50 is told. Beside what the service did: how often each model was right on these rows.
"""

import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from common import arguments, machine_line, read_options, write_table
from easeml.client import Client, made_request
from easeml.contract.applications import Declaration
from easeml.contract.production import Feedback, NewRequestLog
from easeml.contract.states import RolloutState
from service_process import EasemlProcess

TARGET = "class"
OLD, NEW, ASKED = 8_000, 36_000, 38_000
MODEL = "hist-gradient-boosting-classifier"
PATIENCE = 300.0
TIMES = 50  # rows of a request
PAUSE = 0.5


def write(rows: pd.DataFrame, folder: Path, name: str) -> Path:
    """Write rows as a CSV file and return its path."""
    path = folder / f"{name}.csv"
    rows.to_csv(path, index=False)
    return path


def live_id(client: Client, app_id: str) -> str:
    """Return the model that serves."""
    live = client.application(app_id).live_model
    return live.id if live else ""


def release(client: Client, app_id: str, path: Path) -> str:
    """Feed newer rows, learn from these alone, and let the newest model serve; return its id."""
    before = {model.id for model in client.models(app_id)}
    first = max(row.row for row in client.train_rows(app_id))
    version = client.feed(app_id, path)
    client.wait_version_ready(version.id)
    old = [row.row for row in client.train_rows(app_id) if row.row <= first]
    version = client.refine(app_id, off=old)
    client.wait_version_ready(version.id)
    client.wait(app_id, until="converged", timeout=PATIENCE)
    (*_, made) = sorted(
        (model for model in client.models(app_id) if model.id not in before),
        key=lambda model: model.created,
    )
    if live_id(client, app_id) != made.id:
        client.roll_back(app_id, made.id)
    return made.id


def ask(client: Client, app_id: str, rows: pd.DataFrame) -> tuple[str, int]:
    """Ask about rows and tell their truth; return the model that answered, and how many right."""
    inputs = rows.drop(columns=[TARGET]).to_dict("records")
    answer = client.predict(app_id, inputs)
    truths = [str(value) for value in rows[TARGET]]
    told = [
        {"request_id": answer.request_id, "row": row, "value": value}
        for row, value in enumerate(truths)
    ]
    client.give_feedback(app_id, Feedback.model_validate(told))
    right = sum(str(one) == true for one, true in zip(answer.predictions, truths, strict=True))
    return answer.model_id, right


def main() -> None:
    """Print and write what happened request by request."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--rows", type=int, default=2000)
    options = read_options(parser, rows=200)
    table = pd.read_csv(options.data / "stream_elec2" / "elec2.csv").drop(columns=["timestamp"])
    spans = {name: table[start : start + options.rows] for name, start in SPANS.items()}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        service = EasemlProcess(folder / "home")
        service.start()
        try:
            with Client(service.url, service.key) as client:
                lived = live(client, folder, spans)
        finally:
            service.stop()
    write_table(options.out / "requests.csv", ["rows", "model", "right", "state", "says"], lived)
    print(machine_line("scikit-learn"))


SPANS = {"old": OLD, "new": NEW, "asked": ASKED}


def live(client: Client, folder: Path, spans: dict[str, pd.DataFrame]) -> list[list[object]]:
    """Let an application live through the spans; return a row for each request."""
    dataset = client.upload(write(spans["old"], folder, "old"))
    client.wait_version_ready(dataset.version.id)
    told = {"dataset_id": dataset.id, "name": "market", "target": TARGET, "models": [MODEL]}
    app_id = client.create_application(made_request(Declaration, **told, max_tasks=2)).id
    client.wait(app_id, until="converged", timeout=PATIENCE)
    first = live_id(client, app_id)
    client.set_request_log(app_id, NewRequestLog(share=1.0))
    made = release(client, app_id, write(spans["new"], folder, "new"))
    names = {first: "of rows 8,000 on", made: "of rows 36,000 on"}
    rows = spans["asked"]
    print(f"{names[first]} replaced by {names[made]}; watches: {client.rollouts(app_id).watches}")
    lived: list[list[object]] = []
    for start in range(0, len(rows), TIMES):
        answered, right = ask(client, app_id, rows[start : start + TIMES])
        time.sleep(PAUSE)
        found = client.rollouts(app_id).released[0]
        name = names.get(answered, answered)
        lived.append([start + TIMES, name, right, found.state, found.says])
        print(f"{start + TIMES:5} rows, answered by the model {name}: {right} right. {found.says}")
    _wait_until_counted(client, app_id)
    (*_, last) = client.promotions(app_id)
    print(f"{last.kind}: {last.reason}")
    return lived


def _wait_until_counted(client: Client, app_id: str) -> None:
    """Wait a little until the truth that came last has counted."""
    ends = time.monotonic() + 60.0
    while client.rollouts(app_id).released[0].state == RolloutState.RUNNING:
        if time.monotonic() > ends:
            return
        time.sleep(1.0)


if __name__ == "__main__":
    main()
