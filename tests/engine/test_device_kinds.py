"""Two kinds of devices under the real scheduler: how fast they are is learned, and places runs."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import simulated
from simulated import REGISTRY

from easeml.contract.tasks import Limits, TaskResult, TaskSpec
from easeml.engine import task_main
from easeml.engine.executors import Outcome
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.engine.slot import Slot, SlotContext
from easeml.search import policy_named
from easeml.store import Store

JOBS = 8
SLOWER = 5.0
SILENCE = 600.0  # seconds
LIMITS = Limits(seconds=1, memory=1, threads=1)


@dataclass
class Device:
    """Runs every body at once, and says that it took ``slower`` times its seconds."""

    slower: float

    def start(self, folder: Path, limits: Limits) -> "Device":
        self._folder = folder
        return self

    def wait(self) -> Outcome:
        spec = TaskSpec.model_validate_json((self._folder / task_main.SPEC).read_bytes())
        pipeline = spec.body.get("pipeline")  # an ensemble has more than one
        arm = int(pipeline["model"]["module"].removeprefix("m")) if pipeline else 0
        seconds = self.slower * 4.0**arm
        for name in ("model", "predictions"):
            (self._folder / task_main.OUTPUTS / name).write_text(self._folder.name)
        value = {"quality": 0.5, "metrics": {}, "name": "m", "seconds": seconds}
        outputs = ["model", "predictions"]
        result = TaskResult(ok=True, value=value, outputs=outputs, cost=seconds)
        return Outcome("finished", result, seconds)

    def kill(self) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing is held."""


def test_the_pace_of_a_slow_kind_is_learned_and_it_gets_the_short_runs(
    store: Store, tmp_path: Path
) -> None:
    workers = {
        "": register(store, "worker"),
        "old": register(store, "worker", device="old"),
    }
    slots = {
        kind: Slot(
            "search",
            SlotContext(
                store,
                Device(SLOWER if kind else 1.0),
                LIMITS,
                worker.id,
                tmp_path / f"w{kind}",
                SILENCE,
            ),
        )
        for kind, worker in workers.items()
    }
    for _ in range(JOBS):
        simulated.add_job(store, tmp_path)
    scheduler = Scheduler(store, REGISTRY, policy_named(), SILENCE)
    scheduler.step()
    while slots[""].step() | slots["old"].step():
        scheduler.step()
    with store.read() as tx:
        tasks = [
            one for one in tx.unscoped().tasks.list(kind="train", limit=None) if one.candidate_id
        ]
        paces = {one.device: one.pace for one in tx.processes.list(kind="worker", limit=None)}
    assert {task.state for task in tasks} == {"done"}
    assert len(tasks) == JOBS * simulated.ARMS
    assert paces[""] == 1.0
    assert paces["old"] == pytest.approx(SLOWER, rel=0.4)

    seconds = {kind: [] for kind in workers}
    for task in tasks[len(tasks) // 3 :]:  # before, little was learned
        seconds[task.device].append(task.cost / (SLOWER if task.device else 1.0))
    assert sum(seconds["old"]) / len(seconds["old"]) < sum(seconds[""]) / len(seconds[""])
