"""Processes of a running easeml are killed at random moments; afterwards the books must balance."""

import json
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from sklearn.datasets import load_wine

from easeml.settings import Settings
from easeml.store import Store
from service_process import EasemlProcess

KINDS = ("worker", "scheduler", "predictor", "controller")
_TRIES = 5  # the service itself waits up to 30 seconds each time
_WINE = load_wine(as_frame=True).frame
ROW = {name: float(value) for name, value in _WINE.iloc[0].items() if name != "target"}


@dataclass(frozen=True)
class Kill:
    """One killed process, and the seconds until the endpoint gave a prediction again."""

    seed: int
    kind: str
    seconds: float


def declare(easeml: EasemlProcess, folder: Path, name: str, *options: str) -> str:
    """Declare an application over the wine table; return its id. ``options``: of ``app create``."""
    path = folder / f"{name}.csv"
    _WINE.to_csv(path, index=False)
    created = easeml.command(
        "app",
        "create",
        str(path),
        "--target",
        "target",
        "--yes",
        "--json",
        "--name",
        name,
        *options,
    )
    return json.loads(created)["id"]


def kill_at_random(
    easeml: EasemlProcess, applications: list[str], seeds: Iterable[int]
) -> Iterator[Kill]:
    """For each seed kill a process after up to a second, and have a prediction made; yields what
    was done.
    """
    for seed in seeds:
        draw = random.Random(seed)
        time.sleep(draw.uniform(0.0, 1.0))  # the random moment
        kind = draw.choice(KINDS)
        easeml.kill(kind)
        begun = time.monotonic()
        easeml.wait_until_answering()
        assert len(predict(easeml, draw.choice(applications))["predictions"]) == 1
        yield Kill(seed, kind, time.monotonic() - begun)


def predict(easeml: EasemlProcess, application: str) -> Any:
    """Ask for a prediction as a careful client does: again, when the service says that it is not
    ready.
    """
    for _ in range(_TRIES):
        try:
            return easeml.call(
                "POST", f"/api/v1/applications/{application}/predict", {"rows": [ROW]}
            )
        except HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
    raise AssertionError(f"{application} was not served again")


def check_books(easeml: EasemlProcess, settings: Settings | None = None) -> Counter[str]:
    """Every finished training has one accepted attempt and one trained model, every live model
    exists.

    Returns how many tasks ended how. ``settings``: where its database is not in its home.
    """
    store = Store.of(settings or Settings(home=easeml.home))
    try:
        with store.read() as tx:
            tables = tx.unscoped()
            tasks = tables.tasks.list(limit=None)
            accepted = Counter(a.task_id for a in tables.attempts.list(limit=None, state="done"))
            models = {m.task_id: m for m in tables.models.list(limit=None)}
            for task in tasks:
                assert accepted[task.id] == (1 if task.state == "done" else 0), task
                if task.kind == "train" and task.state == "done":
                    assert store.artefacts.exists(task.tenant_id, models[task.id].artefact)
            for application in tables.applications.list(limit=None):
                if application.live_model_id:
                    assert (
                        tables.models.get(application.live_model_id).application_id
                        == application.id
                    )
            return Counter(task.state for task in tasks)
    finally:
        store.close()
