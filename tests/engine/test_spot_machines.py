"""A machine that is told to go leaves its checkpoints to the machine that takes its tasks next."""

from collections.abc import Callable
from pathlib import Path

import pytest
import simulated
from simulated import REGISTRY, SimulatedExecutor

from easeml.contract.tasks import Limits, TaskResult
from easeml.engine.checkpoints import Checkpoints
from easeml.engine.executors.base import Outcome
from easeml.engine.membership import register, sign_off
from easeml.engine.scheduler import Scheduler
from easeml.engine.slot import Slot, SlotContext
from easeml.search import policy_named
from easeml.settings import Settings
from easeml.store import Store

LEASE = 600.0
SUSPENDED = Outcome("suspended", TaskResult(ok=False), 1.0)
KILLED = Outcome("killed", TaskResult(ok=False), 1.0)


class Machine:
    """A machine with a home of its own; it shares database and bucket with the others."""

    def __init__(self, folder: Path, name: str):
        bucket = folder / "bucket"
        bucket.mkdir(exist_ok=True)
        database = f"sqlite:///{folder / 'easeml.db'}"
        home = folder / name
        self.settings = Settings(home=home, database_url=database, artefacts_url=bucket.as_uri())
        self.store = Store.of(self.settings)
        self.worker = register(self.store, "worker").id

    def slot(self, executor: SimulatedExecutor) -> Slot:
        home = self.settings.home
        work = home / "work"
        context = SlotContext(
            self.store,
            executor,
            Limits(seconds=1, memory=1, threads=1),
            self.worker,
            work / self.worker,
            LEASE,
            checkpoints=Checkpoints(self.store, home / "checkpoints", work, shares=True),
        )
        return Slot("search", context)

    def leave(self) -> None:
        sign_off(self.store, self.worker)
        self.store.close()


class Interrupted(SimulatedExecutor):
    """A body that keeps its third step, and then has to end."""

    def __init__(self, ends: Callable[[], Outcome]):
        super().__init__()
        self._ends = ends

    def wait(self) -> Outcome:
        (self._folder / "checkpoint").mkdir(exist_ok=True)
        (self._folder / "checkpoint" / "step").write_text("3")
        return self._ends()


class GoesOn(SimulatedExecutor):
    """A body that says which step it found."""

    found = ""

    def wait(self) -> Outcome:
        step = self._folder / "checkpoint" / "step"
        self.found = step.read_text() if step.exists() else "nothing"
        return super().wait()


@pytest.mark.parametrize("way", ["asked to end", "killed", "cancelled"])
def test_a_task_goes_on_elsewhere_from_what_it_kept(tmp_path: Path, way: str) -> None:
    first, second = Machine(tmp_path, "first"), Machine(tmp_path, "second")
    simulated.add_job(first.store, tmp_path)
    Scheduler(first.store, REGISTRY, policy_named(), LEASE).step()

    def ends() -> Outcome:
        """As for urgent work, as by SIGTERM, or as its owner wants."""
        if way == "asked to end":
            return SUSPENDED
        if way == "cancelled":
            with first.store.write() as tx:
                for task in tx.unscoped().tasks.list(state="running"):
                    tx.queue.cancel(task.id, "Enough.")
        slot.stop()
        return KILLED

    slot = first.slot(Interrupted(ends))
    assert slot.step()
    first.leave()
    executor = GoesOn()
    again = second.slot(executor)
    assert again.step()
    assert executor.found == ("nothing" if way == "cancelled" else "3")
    with second.store.read() as tx:
        tables = tx.unscoped()
        assert set(tables.attempts.column("checkpoint")) == {""}
        # The rows, and of a result its model and predictions: nothing refers to the checkpoint.
        done = tables.tasks.count(state="done")
        assert tables.artefacts.count() == 2 * done
    second.leave()
