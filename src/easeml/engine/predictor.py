"""The predictor: keeps live models loaded in serving children, and hands them the controller's
connections.
"""

import asyncio
import hmac
import signal
import socket
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog
import uvloop

from easeml.contract.states import ProcessKind
from easeml.engine.logs import configure_logging
from easeml.engine.membership import HEARTBEAT_SECONDS, beat, register, sign_off
from easeml.engine.serving.child import problem
from easeml.engine.serving.frames import Header, answer_before_threads, encode, receive_frame_soon
from easeml.engine.serving.tenant import TenantChild, warm_up
from easeml.errors import EasemlError, NotReady
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Application, TrainedModel

log = structlog.get_logger()
SECRET_FILE = "internal.secret"  # noqa: S105 the name of a file
_GREETING_SECONDS = 5.0
_BACKLOG = 1024


@dataclass
class _Slot:
    """What an application serves."""

    model_id: str = ""
    child: TenantChild | None = None
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

        Raises ``NotFound`` for another tenant's application, ``NotReady`` where there is no model
        yet.
        """
        slot = self._slots.setdefault((tenant, application), _Slot())
        async with slot.setting_up:
            declared, model = await asyncio.to_thread(self._live, tenant, application)
            child = await self._child(tenant)
            if slot.child is child and slot.model_id == model.id:
                return
            folder = await asyncio.to_thread(self._fetch, model)
            await child.load(model.id, model.name, declared.objective, folder)
            await child.serve(application, model.id)
            slot.model_id, slot.child = model.id, child
            log.info("serving", application=application, model=model.id)

    async def follow_promotions(self) -> None:
        """Set up every live model now, and each newly promoted one as its event arrives."""
        with self._store.read() as tx:
            seq = tx.events.last()
            live = [a for a in tx.unscoped().applications.list(limit=None) if a.live_model_id]
        for application in live:
            await self._try_set_up(application.tenant_id, application.id)
        wakeup = self._store.wakeup()
        try:
            while True:
                with self._store.read() as tx:
                    events = tx.events.after(seq)
                changed = {(e.tenant_id, e.subject) for e in events if e.kind == "promotion.live"}
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
                child = self._children[tenant] = TenantChild(self._settings.predictor_memory)
                await child.start()
            return child

    def _live(self, tenant: str, application_id: str) -> tuple[Application, TrainedModel]:
        with self._store.read() as tx:
            tables = tx.scoped(tenant)
            application = tables.applications.get(application_id)
            if not application.live_model_id:
                raise NotReady(
                    "This application has no model yet.",
                    remedy=f"Wait for it: easeml app wait {application_id}",
                )
            return application, tables.models.get(application.live_model_id)

    def _fetch(self, model: TrainedModel) -> Path:
        return fetched_whole(self._store, model, self._folder)


def fetched_whole(store: Store, model: TrainedModel, folder: Path) -> Path:
    """Return the folder below ``folder`` with all of a model's files, fetched now if need be.

    The name stands for whole, verified files: they are fetched beside, then renamed.
    Raises ``NotFound`` and ``Damaged`` as the artefact store does, and leaves nothing then.
    """
    whole = folder / model.id
    if whole.exists():
        return whole
    with tempfile.TemporaryDirectory(dir=folder, prefix="fetching-") as beside:
        fetched = store.artefacts.fetch(model.tenant_id, model.artefact, Path(beside) / "model")
        try:
            fetched.rename(whole)
        except OSError:
            if not whole.exists():  # else another task was faster, with the same bytes
                raise
    return whole


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
        with connection, suppress(OSError, EOFError, TimeoutError, ValueError, KeyError):
            async with asyncio.timeout(_GREETING_SECONDS):
                header, _ = await receive_frame_soon(connection)
            status, reply, child = await self._admit(header)
            await asyncio.get_running_loop().sock_sendall(
                connection, encode({"status": status}, reply)
            )
            if child is not None:
                child.hand_over(connection, header["application"])

    async def _admit(self, header: Header) -> tuple[int, bytes, TenantChild | None]:
        if not hmac.compare_digest(str(header.get("secret", "")), self._secret):
            return (
                401,
                problem(401, "Not signed in", EasemlError("The internal secret does not match.")),
                None,
            )
        try:
            return 200, b"", await self._predictor.child_of(header["tenant"], header["application"])
        except EasemlError as error:
            status = {"not-found": 404, "not-ready": 503}.get(error.code, 500)
            return status, problem(status, "No prediction", error), None


def run_predictor(settings: Settings) -> None:
    """Run a predictor until it is told to stop (SIGTERM, SIGINT)."""
    configure_logging("predictor")
    answer_before_threads()
    warm_up()  # before the record: a predictor that is known answers at once
    store = Store.open(settings.database, settings.artefacts)
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
