"""A job goes on beyond its first candidates while improvement is expected, and rests when it is
not.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import simulated

from easeml.contract.tasks import Limits
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.engine.slot import Slot, SlotContext
from easeml.search import policy_named
from easeml.store import Store

SPACE = {"x": {".float": [0.0, 1.0]}, "y": {".float": [0.0, 1.0]}}


class OneThatVaries(simulated.OfAnyName):
    spaces: ClassVar = {"m0": SPACE}


REGISTRY = OneThatVaries(())


class Peak(simulated.SimulatedExecutor):
    """The quality has its peak at x = 0.8, y = 0.3, which no quasi-random point hits."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._records = store

    def wait(self) -> Any:
        """Give the quality of the configuration that the newest running task has."""
        with self._records.read() as tx:
            task = tx.unscoped().tasks.list(kind="train", state="running")[0]
        config = {"x": 0.5, "y": 0.5, **task.payload["pipeline"]["model"]["config"]}
        loss = (config["x"] - 0.8) ** 2 + (config["y"] - 0.3) ** 2
        outcome = super().wait()
        quality = (
            0.9 * math.exp(-2 * loss)
            if task.payload["pipeline"]["model"]["module"] == "m0"
            else 0.2
        )
        value = {**outcome.result.value, "quality": quality}
        return replace(outcome, result=outcome.result.model_copy(update={"value": value}))


def test_new_configurations_are_proposed_until_little_is_expected(tmp_path: Path) -> None:
    simulated.make_template(tmp_path / "template")
    store = simulated.open_copy(tmp_path / "template", tmp_path / "home", lambda: 1000.0)
    job_id = simulated.add_job(store, tmp_path)
    with store.write() as tx:
        tx.unscoped().jobs.update(job_id, tolerance=0.004)
    process = register(store, "worker")
    context = SlotContext(
        store, Peak(store), Limits(seconds=1, memory=1, threads=1), process.id, tmp_path / "w", 10.0
    )
    scheduler, worker = Scheduler(store, REGISTRY, policy_named(), 10.0), Slot("search", context)
    job = None
    for _ in range(300):
        scheduler.step()
        worked = worker.step()
        with store.read() as tx:
            job = tx.unscoped().jobs.get(job_id)
        if job.state == "resting" and not worked:
            break
    assert job is not None
    assert job.state == "resting"
    assert job.best_quality is not None
    assert job.best_quality > 0.88
    with store.read() as tx:
        tables = tx.unscoped()
        candidates = tables.candidates.list(limit=None)
        done = tables.tasks.count(kind="train", state="done")
        kinds = [event.kind for event in tx.events.after(0, limit=5000)]
    assert len(candidates) > simulated.ARMS
    assert sorted(one.arm for one in candidates) == list(range(len(candidates)))
    assert len({(one.model, repr(one.pipeline)) for one in candidates}) == len(candidates)
    assert all(one.predicted_cost > 0 for one in candidates)
    assert done < 120
    assert "job.candidates" in kinds
    # A new leader knows all of them, and sees no reason to go on.
    again = Scheduler(store, REGISTRY, policy_named(), 10.0)
    scheduler.step_down()
    again.step()
    with store.read() as tx:
        assert tx.unscoped().jobs.get(job_id).state == "resting"
        assert tx.unscoped().candidates.count() == len(candidates)
    store.close()
