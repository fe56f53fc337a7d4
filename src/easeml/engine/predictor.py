"""The predictor: keeps live models loaded in serving children, and hands them the controller's
connections.
"""

import asyncio
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path

import structlog
import uvloop

from easeml.contract.states import ProcessKind
from easeml.engine.logs import configure_logging
from easeml.engine.membership import HEARTBEAT_SECONDS, beat, register, sign_off
from easeml.engine.serving.doors import Door, HomeDoor, NetworkDoor
from easeml.engine.serving.fetching import fetch, forget
from easeml.engine.serving.frames import answer_before_threads
from easeml.engine.serving.shelf import Assigned
from easeml.engine.serving.tenant import TenantChild, warm_up
from easeml.engine.signals import nobody_waits
from easeml.errors import (
    DatabaseAway,
    EasemlError,
    NotFound,
    NotReady,
    StorageFull,
    Unreachable,
)
from easeml.service.applications import deleting
from easeml.service.knowledge import knowledge_base
from easeml.service.models import comparing, lost_models
from easeml.service.modules.environments import MachineEnvironments
from easeml.service.modules.images import MachineImages
from easeml.service.rollouts import kept
from easeml.settings import Settings
from easeml.store import Store, Wakeup, wait_for_group
from easeml.store.records import Application, TrainedModel

log = structlog.get_logger()
_AGAIN_SECONDS = 2.0  # until what could not be set up is tried again
_QUIET_SECONDS = 60.0  # in which nobody asks for an application, before it may rest
_TOLD_SECONDS = 0.5  # in which a child tells that, unless it is busy: a model may never end
_CHANGED = (
    "promotion.live",
    "promotion.refitted",
    "promotion.told",
    "promotion.withdrawn",
    "application.deleted",
    *kept.EVENTS,
)


@dataclass
class _Slot:
    """What an application serves."""

    child: TenantChild | None = None
    assigned: Assigned | None = None
    fetched: dict[str, Path] = field(default_factory=dict)  # by digest of the model's files
    setting_up: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def serves(self) -> bool:
        """Does a living child hold its models?"""
        return self.child is not None and self.child.alive


@dataclass(frozen=True)
class _Wanted:
    """What an application is to serve: the live model first."""

    application: Application
    models: list[TrainedModel]
    assigned: Assigned


class _Unloadable(Exception):
    """A model that cannot be loaded, and why."""

    def __init__(self, model: TrainedModel, reason: str):
        super().__init__(reason)
        self.model = model
        self.reason = reason


class Predictor:
    """Keeps live models loaded, one child a tenant: of as many applications as the settings allow,
    or not ``serves_all``, of those that it is asked for.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        folder: Path,
        is_ready: Callable[[], None] = nobody_waits,
        *,
        serves_all: bool = True,
    ):
        """``is_ready``: called when all live models that can be are loaded."""
        self._is_ready = is_ready
        self._serves_all = serves_all
        self._store = store
        self._settings = settings
        self._folder = folder
        self._images = MachineImages(store, settings.home)
        self._environments = MachineEnvironments(store, settings.home)
        self._slots: dict[tuple[str, str], _Slot] = {}
        self._children: dict[str, TenantChild] = {}
        self._starting: dict[str, asyncio.Lock] = {}

    async def child_of(self, tenant: str, application: str) -> TenantChild:
        """Return the living child that serves the application, set up now if need be; raises as
        ``set_up``.
        """
        slot = self._slots.setdefault((tenant, application), _Slot())
        if slot.serves:
            assert slot.child is not None
            return slot.child
        await self.set_up(tenant, application)
        child = slot.child  # now: it may be let go while others are
        assert child is not None
        await self._let_rest()
        return child

    async def set_up(self, tenant: str, application: str) -> None:
        """Load the live model of an application beside what serves, switch to it, and let the old
        one go.

        A live model that cannot be loaded gives way to the best that can; then the API says so. On
        another machine than the service's it stays: that machine may lack what others have.

        Raises ``NotFound`` for another tenant's application, ``NotReady`` where there is no model
        yet, or none any more: then what served is let go. Raises ``EasemlError`` for a model that
        cannot be loaded on another machine.
        """
        slot = self._slots.setdefault((tenant, application), _Slot())
        async with slot.setting_up:
            while True:
                try:
                    wanted = await asyncio.to_thread(self._wanted, tenant, application)
                except DatabaseAway:
                    raise
                except (NotFound, NotReady):
                    await self._withdraw(slot, application)
                    raise
                try:
                    return await self._set_up_twice(slot, wanted)
                except _Unloadable as fault:
                    if not self._serves_all:
                        raise EasemlError(f"It cannot be loaded here: {fault.reason}") from fault
                    log.error("model given up", model=fault.model.id, error=fault.reason)
                    await asyncio.to_thread(self._give_up, wanted, fault)

    async def let_go(self, tenant: str, application: str) -> None:
        """Keep the model of an application no longer, nor the child of a tenant that has none."""
        slot = self._slots.get((tenant, application))
        if slot is None:
            return
        async with slot.setting_up:
            with suppress(NotReady):  # the child has ended by itself
                await self._withdraw(slot, application)
        if tenant in self._children and not self._needs_child(tenant):
            await self._children.pop(tenant).stop()

    def _needs_child(self, tenant: str) -> bool:
        """Does an application of a tenant serve, or is one just being loaded?"""
        slots = [slot for (owner, _), slot in self._slots.items() if owner == tenant]
        return any(slot.serves or slot.setting_up.locked() for slot in slots)

    def _loaded(self) -> list[tuple[str, str]]:
        """Return the applications (tenant, id) whose models a child holds."""
        return [key for key, slot in self._slots.items() if slot.serves]

    async def _let_rest(self) -> None:
        """Let go of those that nobody has asked for longest, where more are loaded than may be."""
        too_many = len(self._loaded()) - self._settings.loaded_endpoints
        if too_many <= 0:
            return
        quiet = await self._quiet_seconds()
        longest_first = sorted(quiet, key=quiet.__getitem__, reverse=True)
        for key in longest_first[:too_many]:
            if quiet[key] >= _QUIET_SECONDS:
                await self.let_go(*key)
                log.info("rests", application=key[1], quiet_seconds=round(quiet[key]))

    async def _quiet_seconds(self) -> dict[tuple[str, str], float]:
        """Return for how long nobody has asked each application (tenant, id) that is served."""
        children = list(self._children.items())
        told = await asyncio.gather(*[_told_soon(child) for _, child in children])
        quiet: dict[tuple[str, str], float] = {}
        for (tenant, _), seconds in zip(children, told, strict=True):
            quiet |= {(tenant, application): each for application, each in seconds.items()}
        return quiet

    async def _withdraw(self, slot: _Slot, application: str) -> None:
        """Let nothing answer for an application: its model may know what is erased."""
        if slot.child is not None and slot.serves:
            await slot.child.withdraw(application)
            log.info("withdrawn", application=application)
        await self._forget(slot.fetched)
        slot.child, slot.assigned, slot.fetched = None, None, {}

    async def _set_up_twice(self, slot: _Slot, wanted: _Wanted) -> None:
        """Set up models; once more where the child ended meanwhile, for whatever reason."""
        try:
            await self._set_up(slot, wanted)
        except NotReady:
            await self._set_up(slot, wanted)

    async def _set_up(self, slot: _Slot, wanted: _Wanted) -> None:
        child = await self._child(wanted.application.tenant_id)
        loaded = slot.fetched if slot.child is child else {}
        digests = {model.served for model in wanted.models}
        if slot.assigned == wanted.assigned and loaded.keys() == digests:
            return
        fetched = await self._switch(child, wanted, loaded)
        kept = {digest: path for digest, path in loaded.items() if digest in digests}
        await self._forget({d: path for d, path in slot.fetched.items() if d not in kept})
        slot.child, slot.assigned, slot.fetched = child, wanted.assigned, {**kept, **fetched}
        log.info("serving", application=wanted.application.id, **asdict(wanted.assigned))

    async def _switch(
        self, child: TenantChild, wanted: _Wanted, loaded: Mapping[str, Path]
    ) -> dict[str, Path]:
        """Load what a child does not have yet, and let it answer; return where that lies.

        Leaves nothing where it fails.
        """
        fetched: dict[str, Path] = {}
        try:
            for model in wanted.models:
                if model.served not in loaded:
                    fetched[model.served] = await self._load(child, wanted.application, model)
            await child.serve(wanted.application.id, wanted.assigned)
        except BaseException:
            await self._forget(fetched)
            raise
        return fetched

    async def _load(
        self, child: TenantChild, application: Application, model: TrainedModel
    ) -> Path:
        """Load a model in a child; return where its files are. Raises ``_Unloadable``."""
        models = self._models_of(application.tenant_id)
        source = await asyncio.to_thread(self._objective_source, application)
        try:
            fetched = await asyncio.to_thread(fetch, self._store, model, models)
            try:
                tenant_id = application.tenant_id
                images = await asyncio.to_thread(self._images.of_model, tenant_id, fetched, source)
                if images:
                    await asyncio.to_thread(child.allow, images)
                needed = (tenant_id, fetched, source, models / "environments")
                packages = await asyncio.to_thread(self._environments.of_model, *needed)
                facts = (model.id, model.name, application.objective, fetched, source, packages)
                await child.load(*facts)
            except BaseException:
                await self._forget({model.served: fetched})
                raise
        except (NotReady, Unreachable, StorageFull):  # no fault of the model
            raise
        except EasemlError as error:
            raise _Unloadable(model, error.message) from error
        return fetched

    async def _forget(self, fetched: dict[str, Path]) -> None:
        for path in fetched.values():
            await asyncio.to_thread(forget, path)

    def _objective_source(self, application: Application) -> str:
        with self._store.read() as tx:
            return knowledge_base.objective_source(tx, application.objective)

    def _give_up(self, wanted: _Wanted, fault: _Unloadable) -> None:
        application = wanted.application
        model = fault.model
        with self._store.write() as tx:
            rollout = kept.running(tx.scoped(application.tenant_id), application.id)
            if rollout is not None and rollout.model_id == model.id:
                comparing.take_back(tx, rollout, f"It cannot be loaded: {fault.reason}")
            else:
                registry = knowledge_base.current(tx)
                lost_models.give_up(tx, application, model, fault.reason, registry)

    async def follow_promotions(self) -> None:
        """Set up every live model now, and each newly promoted one as its event arrives.

        What a database or an object store that is away keeps from being set up is tried again.
        Meanwhile the models that served go on serving.
        """
        while True:
            try:
                await self._follow()
            except (DatabaseAway, OSError) as error:
                log.warning("promotions are not followed", error=str(error))
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _follow(self) -> None:
        """Set up all, and what changes, until the database is away."""
        with self._store.read() as tx:
            seq = tx.events.last()
            there = tx.unscoped().applications.list(deleted=None, limit=None)
        live = sorted((one for one in there if one.live_model_id), key=attrgetter("created"))
        newest = live[-self._settings.loaded_endpoints :]
        due = self._own({(one.tenant_id, one.id) for one in newest})
        wakeup = await asyncio.to_thread(self._store.wakeup)
        try:
            while True:
                due = await self._set_up_all(due)
                self._is_ready()
                if not await self._wait_for_commit(wakeup, _AGAIN_SECONDS if due else None):
                    continue
                with self._store.read() as tx:
                    events = tx.events.after(seq)
                changed = {(e.tenant_id, e.subject) for e in events if e.kind in _CHANGED}
                due |= self._own(changed)
                await self._let_rest()
                seq = events[-1].seq if events else seq
        finally:
            wakeup.close()

    def _own(self, applications: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return those that this predictor keeps loaded."""
        if self._serves_all:
            return applications
        return applications.intersection(self._loaded())

    async def _set_up_all(self, due: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """Set up applications (tenant, id); return those to be tried again."""
        again: set[tuple[str, str]] = set()
        for tenant, application in due:
            if not await self._try_set_up(tenant, application):
                again.add((tenant, application))
        return again

    async def _wait_for_commit(self, wakeup: Wakeup, seconds: float | None) -> bool:
        """Wait for a commit, for ever or for some seconds; False where none came."""
        latest = float("inf") if seconds is None else time.monotonic() + seconds
        while not await asyncio.to_thread(wait_for_group, wakeup, 0.5):
            if time.monotonic() > latest:
                return False
        return True

    async def stop(self) -> None:
        """End all children."""
        for child in self._children.values():
            await child.stop()

    async def _try_set_up(self, tenant: str, application: str) -> bool:
        """Set up an application; False where it should be tried again."""
        try:
            await self.set_up(tenant, application)
        except DatabaseAway:  # nothing can have changed: what served goes on serving
            return False
        except EasemlError as error:
            log.error("model not swapped in", application=application, error=str(error))
            if not self._serves_all:  # others answer, who know better what should serve
                await self.let_go(tenant, application)
                return True
            return not isinstance(error, Unreachable | StorageFull)
        return True

    async def _child(self, tenant: str) -> TenantChild:
        async with self._starting.setdefault(tenant, asyncio.Lock()):
            child = self._children.get(tenant)
            if child is None or not child.alive:
                child = self._new_child(tenant)
                await child.start()
                self._children[tenant] = child  # not before: others ask those that are here
            return child

    def _new_child(self, tenant: str) -> TenantChild:
        models = self._models_of(tenant)
        models.mkdir(parents=True, exist_ok=True)
        return TenantChild(self._settings.predictor_memory, models, self._settings.isolation)

    def _models_of(self, tenant: str) -> Path:
        """Return where the models of a tenant are fetched to: their child sees no others."""
        return self._folder.resolve() / tenant / "models"

    def _wanted(self, tenant: str, application_id: str) -> _Wanted:
        with self._store.read() as tx:
            tables = tx.scoped(tenant)
            application = tables.applications.get(application_id)
            deleting.check_there(application)
            if not application.live_model_id:
                raise NotReady(
                    "This application has no model yet.",
                    remedy=f"Wait for it: easeml app wait {application_id}",
                )
            models = [tables.models.get(application.live_model_id)]
            challenger = kept.challenger(tables, application_id)
            if challenger is None:
                return _Wanted(application, models, Assigned(models[0].id))
            model, share = challenger
            models.append(model)
            return _Wanted(application, models, Assigned(models[0].id, model.id, share))


async def _told_soon(child: TenantChild) -> dict[str, float]:
    """Return for how long nobody has asked a child's applications; none where it is just busy."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_TOLD_SECONDS):
            return await child.quiet_seconds()
    return {}


def run_predictor(settings: Settings, is_ready: Callable[[], None] = nobody_waits) -> None:
    """Run the predictor of a service until it is told to stop (SIGTERM, SIGINT).

    ``is_ready``: called when the live models are loaded.
    """
    _run_behind(settings, partial(_at_home, is_ready))


def run_replica(settings: Settings) -> None:
    """Run a predictor that answers services of other machines, until it is told to stop."""
    _run_behind(settings, _at_network)


def _at_home(
    is_ready: Callable[[], None], store: Store, settings: Settings, folder: Path
) -> tuple[Predictor, Door]:
    predictor = Predictor(store, settings, folder, is_ready)
    return predictor, HomeDoor(predictor, settings.home)


def _at_network(store: Store, settings: Settings, folder: Path) -> tuple[Predictor, Door]:
    predictor = Predictor(store, settings, folder, serves_all=False)
    return predictor, NetworkDoor(predictor, settings.serve_at)


_Opened = Callable[[Store, Settings, Path], tuple[Predictor, Door]]


def _run_behind(settings: Settings, opened: _Opened) -> None:
    configure_logging("predictor", has_file=True)
    answer_before_threads()
    warm_up()  # before the record: a predictor that is known answers at once
    store = Store.found(settings)
    try:
        uvloop.run(_run(store, settings, opened))  # a third of asyncio's time a request
    finally:
        store.close()


async def _run(store: Store, settings: Settings, opened: _Opened) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with tempfile.TemporaryDirectory(prefix="serving-") as folder:
        predictor, door = opened(store, settings, Path(folder))
        process = register(
            store,
            ProcessKind.PREDICTOR,
            door.address,
            certificate=door.certificate,
            secret=door.secret,
            domain=settings.fault_domain,
        )
        work = [
            asyncio.create_task(stop.wait()),
            asyncio.create_task(_heartbeats(store, process.id)),
            asyncio.create_task(predictor.follow_promotions()),
            asyncio.create_task(door.stand_open()),
        ]
        try:
            ended, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()  # an unexpected end is a crash: the supervisor starts a fresh predictor
        finally:
            door.close()
            for task in work:
                task.cancel()
            await predictor.stop()
            sign_off(store, process.id)


async def _heartbeats(store: Store, process_id: str) -> None:
    def once() -> None:
        with store.write() as tx:
            beat(tx, process_id)

    while True:
        try:
            await asyncio.to_thread(once)
        except DatabaseAway:  # no reason to end what serves
            log.warning("no heartbeat: the database does not answer")
        await asyncio.sleep(HEARTBEAT_SECONDS)
