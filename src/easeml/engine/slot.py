"""A slot of a worker: one thread that claims a task of its lane, has it run, and brings back the
result.
"""

import threading
import traceback
from collections.abc import Callable, Set
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from easeml.contract.states import Lane
from easeml.contract.tasks import Limits, TaskResult, TaskSpec
from easeml.errors import DatabaseAway, EasemlError, Fenced
from easeml.folders import remove_folder
from easeml.ids import answering
from easeml.search.preemption import GRACE
from easeml.service.modules.environments import MachineEnvironments
from easeml.service.modules.images import MachineImages
from easeml.service.tasks import results, task_views
from easeml.service.tasks.kinds import kind_named
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Attempt, Task
from easeml.store.work_hints import ROOM

from . import task_main
from .attempt_trace import AttemptTrace
from .away import AwayPause
from .checkpoints import Checkpoints, NoCheckpoints
from .executors import Execution, Executor
from .gpus import GpuWatch
from .outputs import Outputs

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SlotContext:
    """What the slots of a worker share. ``folder`` holds the work folders of the attempts."""

    store: Store
    executor: Executor
    limits: Limits
    process_id: str
    folder: Path
    lease_seconds: float
    images: MachineImages | None = None  # without, no program runs in a container
    environments: MachineEnvironments | None = None  # without, none has packages of its own
    settings: Settings | None = None  # without, no task reaches out
    checkpoints: Checkpoints | NoCheckpoints = field(default_factory=NoCheckpoints)
    watch: GpuWatch = field(default_factory=GpuWatch)


def _at_once(work: Callable[[], None]) -> None:
    work()


class Slot(threading.Thread):
    """Runs one task of ``lane`` at a time until it is told to stop; records a result while the next
    task runs.
    """

    def __init__(self, lane: Lane, context: SlotContext):
        super().__init__(name=f"slot-{lane}", daemon=True)
        self.lane = lane
        self._context = context
        self._woken = threading.Event()
        self._guard = threading.Lock()
        self._stopping = False
        self._lacks_room = False  # when it last looked, tasks waited that it could not take
        self._attempt: Attempt | None = None
        self._recording: set[str] = set()
        self._execution: Execution | None = None
        self._trace: AttemptTrace | None = None
        self._dropped = False
        self._asked_to_end = False

    @property
    def attempt_ids(self) -> list[str]:
        """The attempts under way: the one that runs, and the one whose result is being recorded."""
        with self._guard:
            ids = list(self._recording)
            if self._attempt is not None:
                ids.insert(0, self._attempt.id)
            return ids

    def _runs(self, attempt_id: str) -> bool:
        """Whether that attempt is the one that runs; asked under the guard."""
        return self._attempt is not None and self._attempt.id == attempt_id

    def wake(self) -> None:
        """Look for work: something was committed."""
        self._woken.set()

    def hear(self, told: Set[str]) -> None:
        """Look for work where one of these words (``work_hints``) may mean that there is some."""
        may_have_room = self._lacks_room and ROOM in told
        if self.lane in told or may_have_room:
            self.wake()

    def stop(self) -> None:
        """End after killing what runs; its result is discarded."""
        self._stopping = True
        for attempt_id in self.attempt_ids:
            self.drop(attempt_id)
        self.wake()

    def drop(self, attempt_id: str) -> None:
        """Kill that attempt if it runs: it is no longer this worker's, or the worker stops."""
        with self._guard:
            if not self._runs(attempt_id):
                return
            self._dropped = True
            if self._execution is not None:
                self._execution.kill()

    def ask_to_end(self, attempt_id: str) -> None:
        """Ask that attempt to end with what it has, if it runs: an urgent task needs the device."""
        with self._guard:
            if not self._runs(attempt_id):
                return
            self._asked_to_end = True
            if self._execution is not None:
                self._execution.ask_to_end(GRACE)

    def trace(self, attempt_id: str, *, on: bool) -> None:
        """Trace that attempt from now on, if it runs, or no more."""
        with self._guard:
            if self._runs(attempt_id) and self._trace is not None:
                self._trace.switch(on=on)

    def run(self) -> None:
        """Claim and work until stopped; waits for ``wake`` when the lane is empty."""
        recorded: Future[None] | None = None

        def beside(record: Callable[[], None]) -> None:
            nonlocal recorded
            if recorded is not None:
                recorded.result()  # one at a time: results must not pile up
            recorded = recorder.submit(record)
            recorded.add_done_callback(lambda _: self.wake())

        with ThreadPoolExecutor(1, f"{self.name}-record") as recorder:
            while not self._stopping:
                self._woken.clear()
                if not self.step(beside):
                    if recorded is not None and recorded.done():
                        recorded.result()  # a failure there ends this thread, and the worker with it
                    self._woken.wait()

    def step(self, then: Callable[[Callable[[], None]], None] = _at_once) -> bool:
        """Run one task if there is one and hand the recording of its result to ``then``; False if
        there was none.
        """
        claimed = self._claim_when_there()
        if claimed is None:
            return False
        with _naming(claimed[0]):
            self._work(*claimed, then)
        return True

    def _work(
        self,
        task: Task,
        attempt: Attempt,
        spec: TaskSpec,
        then: Callable[[Callable[[], None]], None],
    ) -> None:
        """Run a claimed task, and hand on the recording of its result."""
        folder = self._context.folder / attempt.id
        trace = AttemptTrace(self._context.store, folder, on=task.traced)
        with self._guard:
            self._trace = trace
        result: TaskResult | None = None
        try:
            result = self._run_body(task, attempt, spec, folder, trace)
        finally:
            with self._guard:
                if result is not None:
                    self._recording.add(attempt.id)
                self._attempt = self._execution = self._trace = None
                self._dropped = self._asked_to_end = False
        if result is None:
            self._context.checkpoints.hand_on(attempt, folder)
            remove_folder(folder)
        else:
            then(lambda: self._record_named(task, attempt, result, folder, trace))

    def _claim_when_there(self) -> tuple[Task, Attempt, TaskSpec] | None:
        """Claim a task as soon as the database answers, or nothing once this worker is to end."""
        pause = AwayPause()
        while not self._stopping:
            try:
                return self._claim()
            except DatabaseAway:
                _log.warning("nothing is claimed: the database does not answer", lane=self.lane)
                pause.wait()
        return None

    def _claim(self) -> tuple[Task, Attempt, TaskSpec] | None:
        context = self._context
        with context.store.read() as tx:  # most looks find nothing: these take no lock
            if self.lane not in tx.queue.waiting_lanes():
                self._lacks_room = False
                return None
        with context.store.write() as tx:
            worker = tx.processes.find(id=context.process_id)
            if worker is not None and worker.draining:
                return None
            claimed = tx.queue.claim(context.process_id, self.lane, context.lease_seconds)
            self._lacks_room = claimed is None
            if claimed is None:
                return None
            task, attempt = claimed
            try:
                spec = results.task_spec(tx, task)
            except EasemlError as error:
                results.accept(tx, attempt, TaskResult(ok=False, error=str(error)), {})
                return None
            name = task_views.names(tx.scoped(task.tenant_id), [task])[task.id]
            tx.events.append(
                "task.running", task.id, {"job_id": task.job_id, "name": name}, task.tenant_id
            )
        with self._guard:
            self._attempt = attempt
        return task, attempt, spec

    def _run_body(
        self, task: Task, attempt: Attempt, spec: TaskSpec, folder: Path, trace: AttemptTrace
    ) -> TaskResult | None:
        """Return the result of the body, or None if the attempt was dropped or suspended."""
        try:
            return self._execute(task, attempt, spec, folder, trace)
        except Exception:
            _log.exception("attempt failed outside its body", task=task.id)
            return TaskResult(
                ok=False,
                error=traceback.format_exc(),
                retry=True,
            )

    def _record_named(
        self,
        task: Task,
        attempt: Attempt,
        result: TaskResult,
        folder: Path,
        trace: AttemptTrace,
    ) -> None:
        with _naming(task):  # another thread
            self._record(task, attempt, result, folder, trace)

    def _record(
        self,
        task: Task,
        attempt: Attempt,
        result: TaskResult,
        folder: Path,
        trace: AttemptTrace,
    ) -> None:
        """Keep the outputs and bring the result; the work folder goes."""
        kept = Outputs(self._context.store, task.tenant_id)
        try:
            kept.keep_log(folder)
            if result.ok:
                with trace.step("keep the outputs"):
                    kept.keep_files(result.outputs, folder / task_main.OUTPUTS)
            kept.keep_text(results.TRACE, trace.text())
        except Exception:
            _log.exception("outputs could not be kept", task=task.id)
            kept = Outputs(self._context.store, task.tenant_id)
            result = TaskResult(
                ok=False,
                error=traceback.format_exc(),
                retry=True,
                cost=result.cost,
            )
        try:
            self._bring(attempt, result, kept)
        finally:
            with self._guard:
                self._recording.discard(attempt.id)
            self._context.checkpoints.forget(attempt)
            remove_folder(folder)

    def _execute(
        self, task: Task, attempt: Attempt, spec: TaskSpec, folder: Path, trace: AttemptTrace
    ) -> TaskResult | None:
        context = self._context
        task_main.prepare(folder, spec)
        _log.info("attempt begins", task=task.id, attempt=attempt.id)
        with trace.step("fetch the inputs"):
            self._fetch_inputs(task, attempt, spec, folder)
        try:
            self._name_what_programs_run_in(task, folder)
        except EasemlError as error:
            return TaskResult(ok=False, error=str(error))
        self._hand_grant(task, folder)
        self._bring_provided(task, folder)
        with trace.step("run the body"):  # a warm child begins before ``start`` returns
            with self._guard:
                if self._dropped or self._stopping:
                    return None
                trace.tell()
                limits = _limits(spec, self._usual_limits())
                limits = limits.model_copy(update={"gpu": context.watch.share(attempt)})
                self._execution = context.executor.start(folder, limits)
                if self._asked_to_end:
                    self._execution.ask_to_end(GRACE)
            outcome = self._execution.wait()
        _log.info(
            "attempt ended",
            task=task.id,
            ending=outcome.ending,
            seconds=round(outcome.seconds, 3),
        )
        if self._dropped or outcome.ending == "killed":
            return None
        if outcome.ending == "suspended":
            context.checkpoints.hand_on(attempt, folder)
            self._put_back(task, attempt, outcome.seconds)
            return None
        if outcome.ending == "lost":
            self._give_up(task, attempt, outcome.result.error, folder)
            return None
        return context.watch.with_peak(attempt, outcome.result)

    def _fetch_inputs(self, task: Task, attempt: Attempt, spec: TaskSpec, folder: Path) -> None:
        """Bring the inputs of a task, and what an earlier attempt left, into the work folder."""
        context = self._context
        for name, digest in spec.inputs.items():
            place = folder / task_main.INPUTS / name
            context.store.artefacts.fetch(task.tenant_id, digest, place)
        context.checkpoints.bring(attempt, folder)

    def _name_what_programs_run_in(self, task: Task, folder: Path) -> None:
        """Bring the images and packages that the body's modules run in, and tell it where they are."""
        context = self._context
        texts = task_main.module_texts(folder)
        if context.images is not None:
            task_main.name_images(folder, context.images.provide(task.tenant_id, texts))
        if context.environments is not None:
            places = context.environments.provide(task.tenant_id, texts)
            task_main.name_environments(folder, places)

    def _hand_grant(self, task: Task, folder: Path) -> None:
        """Let the body of a kind that reaches out do so."""
        context = self._context
        grant = kind_named(task.spec_kind).grant
        if context.settings is not None and grant is not None:
            granted = grant(context.store, context.settings, task)
            task_main.hand_grant(folder, granted.model_dump_json())

    def _bring_provided(self, task: Task, folder: Path) -> None:
        """Bring the files of this machine that the body of a kind reads."""
        context = self._context
        if context.settings is not None:
            provided = kind_named(task.spec_kind).provided(context.settings, task)
            task_main.bring(folder, provided)

    def _put_back(self, task: Task, attempt: Attempt, seconds: float) -> None:
        """Let a task whose attempt had nothing to show when it was asked to end wait again."""
        try:
            with self._context.store.write() as tx:
                results.suspend(tx, task, attempt, seconds)
        except Fenced:
            _log.info("suspended too late: the attempt was no longer current", attempt=attempt.id)

    def _give_up(self, task: Task, attempt: Attempt, error: str, folder: Path) -> None:
        """Let a task whose attempt was lost wait again; what it printed is kept."""
        kept = Outputs(self._context.store, task.tenant_id)
        kept.keep_log(folder)
        with self._context.store.write() as tx:
            results.lose(tx, attempt, error, kept.digests, kept.sizes)

    def _bring(self, attempt: Attempt, result: TaskResult, kept: Outputs) -> None:
        try:
            self._accept_when_there(attempt, result, kept)
        except Fenced:
            _log.info("result discarded: the attempt was no longer current", attempt=attempt.id)
        except Exception:
            _log.exception("result could not be recorded", attempt=attempt.id)
            failure = TaskResult(
                ok=False,
                error=traceback.format_exc(),
                retry=True,
                cost=result.cost,
            )
            self._accept(attempt, failure, Outputs(self._context.store, kept.tenant_id))

    def _accept_when_there(self, attempt: Attempt, result: TaskResult, kept: Outputs) -> None:
        """Bring a result as soon as the database answers: it may have taken hours to compute.

        If it was accepted already and only the answer was lost, it is ``Fenced`` now.
        """
        pause = AwayPause()
        while True:
            try:
                return self._accept(attempt, result, kept)
            except DatabaseAway:
                if self._stopping:
                    raise
                _log.warning("a result waits for the database", attempt=attempt.id)
                pause.wait()

    def _accept(self, attempt: Attempt, result: TaskResult, kept: Outputs) -> None:
        with self._context.store.write() as tx:
            results.accept(tx, attempt, result, kept.digests, kept.sizes)

    def _usual_limits(self) -> Limits:
        """Return what an attempt of the lane may use, where its kind says no less."""
        settings = self._context.settings
        if self.lane != Lane.LONG or settings is None:
            return self._context.limits
        return self._context.limits.model_copy(update={"seconds": settings.long_task_seconds})


def _limits(spec: TaskSpec, usual: Limits) -> Limits:
    if spec.seconds is None or spec.seconds >= usual.seconds:
        return usual
    return usual.model_copy(update={"seconds": spec.seconds})


def _naming(task: Task) -> AbstractContextManager[object]:
    """Let what is logged meanwhile name the request that asked for a task, where one did."""
    if not task.request:
        return nullcontext()
    return answering(task.request)
