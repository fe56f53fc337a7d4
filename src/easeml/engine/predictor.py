"""The predictor: keeps live models loaded in serving children, and hands them the controller's
connections.
"""

import asyncio
import hmac
import signal
import socket
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import structlog
import uvloop

from easeml.contract.states import ProcessKind
from easeml.engine.logs import configure_logging
from easeml.engine.membership import HEARTBEAT_SECONDS, beat, register, sign_off
from easeml.engine.serving.fetching import fetch, forget
from easeml.engine.serving.frames import Header, answer_before_threads, encode, receive_frame_soon
from easeml.engine.serving.tenant import TenantChild, warm_up
from easeml.errors import EasemlError, InvalidInput, NotReady, StorageFull, Unreachable
from easeml.protocols.endpoint import problem
from easeml.service.applications import deleting
from easeml.service.knowledge import knowledge_base
from easeml.service.models import lost_models
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Application, TrainedModel

log = structlog.get_logger()
SECRET_FILE = "internal.secret"  # noqa: S105 the name of a file
_GREETING_SECONDS = 5.0
_BACKLOG = 1024
_PROMOTED = ("promotion.live", "promotion.refitted")
_STATUS = {"not-found": 404, "not-ready": 503, "unreachable": 503, "storage-full": 507}


@dataclass
class _Slot:
    """What an application serves."""

    served: str = ""  # digest of the model's files
    child: TenantChild | None = None
    fetched: Path | None = None
    setting_up: asyncio.Lock = field(default_factory=asyncio.Lock)


class Predictor:
    """Keeps for every application the live model loaded, one child a tenant."""

    def __init__(self, store: Store, settings: Settings, folder: Path):
        self._store = store
        self._settings = settings
        self._folder = folder
        self._slots: dict[tuple[str, str], _Slot] = {}
        self._children: dict[str, TenantChild] = {}
        self._starting: dict[str, asyncio.Lock] = {}

    async def child_of(self, tenant: str, application: str) -> TenantChild:
        """Return the living child that serves the application, set up now if need be; raises as
        ``set_up``.
        """
        slot = self._slots.setdefault((tenant, application), _Slot())
        if slot.child is None or not slot.child.alive:
            await self.set_up(tenant, application)
        assert slot.child is not None
        return slot.child

    async def set_up(self, tenant: str, application: str) -> None:
        """Load the live model of an application beside what serves, switch to it, and let the old
        one go.

        A live model that cannot be loaded gives way to the best that can; then the API says so.
        Raises ``NotFound`` for another tenant's application, ``NotReady`` where there is no model
        yet.
        """
        slot = self._slots.setdefault((tenant, application), _Slot())
        async with slot.setting_up:
            while True:
                declared, model = await asyncio.to_thread(self._live, tenant, application)
                try:
                    return await self._set_up_twice(slot, declared, model)
                except (NotReady, Unreachable, StorageFull):  # no fault of the model
                    raise
                except EasemlError as error:
                    log.error("model given up", model=model.id, error=str(error))
                    await asyncio.to_thread(self._give_up, declared, model, error.message)

    async def _set_up_twice(self, slot: _Slot, declared: Application, model: TrainedModel) -> None:
        """Set up a model; once more where the child ended meanwhile, for whatever reason."""
        try:
            await self._set_up(slot, declared, model)
        except NotReady:
            await self._set_up(slot, declared, model)

    async def _set_up(self, slot: _Slot, declared: Application, model: TrainedModel) -> None:
        child = await self._child(declared.tenant_id)
        if slot.child is child and slot.served == model.served:
            return
        models = self._models_of(declared.tenant_id)
        fetched = await asyncio.to_thread(fetch, self._store, model, models)
        source = await asyncio.to_thread(self._objective_source, declared)
        try:
            await child.load(model.id, model.name, declared.objective, fetched, source)
            await child.serve(declared.id, model.id)
        except BaseException:
            await asyncio.to_thread(forget, fetched)
            raise
        if slot.fetched is not None:
            await asyncio.to_thread(forget, slot.fetched)
        slot.served, slot.child, slot.fetched = model.served, child, fetched
        log.info("serving", application=declared.id, model=model.id)

    def _objective_source(self, application: Application) -> str:
        with self._store.read() as tx:
            return knowledge_base.objective_source(tx, application.objective)

    def _give_up(self, application: Application, model: TrainedModel, reason: str) -> None:
        with self._store.write() as tx:
            lost_models.give_up(tx, application, model, reason, knowledge_base.current(tx))

    async def follow_promotions(self) -> None:
        """Set up every live model now, and each newly promoted one as its event arrives."""
        with self._store.read() as tx:
            seq = tx.events.last()
            there = tx.unscoped().applications.list(deleted=None, limit=None)
            live = [application for application in there if application.live_model_id]
        for application in live:
            await self._try_set_up(application.tenant_id, application.id)
        wakeup = self._store.wakeup()
        try:
            while True:
                with self._store.read() as tx:
                    events = tx.events.after(seq)
                changed = {(e.tenant_id, e.subject) for e in events if e.kind in _PROMOTED}
                for tenant, application in changed:
                    await self._try_set_up(tenant, application)
                seq = events[-1].seq if events else seq
                while not events and not await asyncio.to_thread(wakeup.wait, 0.5):
                    pass
        finally:
            wakeup.close()

    async def stop(self) -> None:
        """End all children."""
        for child in self._children.values():
            await child.stop()

    async def _try_set_up(self, tenant: str, application: str) -> None:
        try:
            await self.set_up(tenant, application)
        except EasemlError as error:  # the model that served before goes on serving
            log.error("model not swapped in", application=application, error=str(error))

    async def _child(self, tenant: str) -> TenantChild:
        async with self._starting.setdefault(tenant, asyncio.Lock()):
            child = self._children.get(tenant)
            if child is None or not child.alive:
                child = self._children[tenant] = self._new_child(tenant)
                await child.start()
            return child

    def _new_child(self, tenant: str) -> TenantChild:
        models = self._models_of(tenant)
        models.mkdir(parents=True, exist_ok=True)
        return TenantChild(self._settings.predictor_memory, models, self._settings.isolation)

    def _models_of(self, tenant: str) -> Path:
        """Return where the models of a tenant are fetched to: their child sees no others."""
        return self._folder.resolve() / tenant / "models"

    def _live(self, tenant: str, application_id: str) -> tuple[Application, TrainedModel]:
        with self._store.read() as tx:
            tables = tx.scoped(tenant)
            application = tables.applications.get(application_id)
            deleting.check_there(application)
            if not application.live_model_id:
                raise NotReady(
                    "This application has no model yet.",
                    remedy=f"Wait for it: easeml app wait {application_id}",
                )
            return application, tables.models.get(application.live_model_id)


class _Door:
    """Where controllers come in: each connection is checked, and handed to the child that serves
    its application.
    """

    def __init__(self, predictor: Predictor, secret: str):
        self._predictor = predictor
        self._secret = secret
        self._guests: set[asyncio.Task[None]] = set()

    async def stand_open(self, listener: socket.socket) -> None:
        """Let everybody in who knows the secret."""
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(listener)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            guest = asyncio.create_task(self._receive(connection))
            self._guests.add(guest)
            guest.add_done_callback(self._guests.discard)

    async def _receive(self, connection: socket.socket) -> None:
        with connection:
            try:
                await self._let_in(connection)
            except (OSError, EOFError, TimeoutError):
                return  # who came has gone, or said nothing; or the child has, and they ask again
            except Exception:
                log.exception("a connection was not served")

    async def _let_in(self, connection: socket.socket) -> None:
        async with asyncio.timeout(_GREETING_SECONDS):
            header, _ = await receive_frame_soon(connection)
        status, reply, child = await self._admit(header)
        answer = encode({"status": status}, reply)
        await asyncio.get_running_loop().sock_sendall(connection, answer)
        if child is not None:
            child.hand_over(connection, header["application"])

    async def _admit(self, header: Header) -> tuple[int, bytes, TenantChild | None]:
        if not hmac.compare_digest(str(header.get("secret", "")), self._secret):
            error = EasemlError("The internal secret does not match.")
            return 401, problem(401, "Not signed in", error), None
        tenant, application = header.get("tenant"), header.get("application")
        if not isinstance(tenant, str) or not isinstance(application, str):
            error = InvalidInput("A connection names its tenant and its application.")
            return 400, problem(400, "Not understood", error), None
        try:
            return 200, b"", await self._predictor.child_of(tenant, application)
        except EasemlError as error:
            status = _STATUS.get(error.code, 500)
            return status, problem(status, "No prediction", error), None


def run_predictor(settings: Settings) -> None:
    """Run a predictor until it is told to stop (SIGTERM, SIGINT)."""
    configure_logging("predictor")
    answer_before_threads()
    warm_up()  # before the record: a predictor that is known answers at once
    store = Store.of(settings)
    try:
        uvloop.run(_run(store, settings))  # a third of asyncio's time a request
    finally:
        store.close()


async def _run(store: Store, settings: Settings) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    secret = (settings.home / SECRET_FILE).read_text().strip()
    with tempfile.TemporaryDirectory(prefix="serving-") as folder:
        predictor = Predictor(store, settings, Path(folder))
        listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        listener.setblocking(False)
        host, port = listener.getsockname()
        process = register(store, ProcessKind.PREDICTOR, f"{host}:{port}")
        work = [
            asyncio.create_task(stop.wait()),
            asyncio.create_task(_heartbeats(store, process.id)),
            asyncio.create_task(predictor.follow_promotions()),
            asyncio.create_task(_Door(predictor, secret).stand_open(listener)),
        ]
        try:
            ended, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()  # an unexpected end is a crash: the supervisor starts a fresh predictor
        finally:
            listener.close()
            for task in work:
                task.cancel()
            await predictor.stop()
            sign_off(store, process.id)


async def _heartbeats(store: Store, process_id: str) -> None:
    def once() -> None:
        with store.write() as tx:
            beat(tx, process_id)

    while True:
        await asyncio.to_thread(once)
        await asyncio.sleep(HEARTBEAT_SECONDS)
