"""The controller's process: serves the REST application until it is asked to stop."""

import asyncio
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import cast

import structlog
import uvicorn
import uvloop

from easeml.api.app import create_app
from easeml.api.asgi import create_asgi_app
from easeml.api.event_fanout import EventFanout
from easeml.api.log_writer import LogWriter
from easeml.api.other_controllers import follow_changes
from easeml.api.patient_protocol import FrugalProtocol, PatientProtocol
from easeml.api.telemetry import Telemetry, ToldPredictor
from easeml.contract.states import ProcessKind
from easeml.engine import PredictorClient
from easeml.engine.handover import DRAIN_SECONDS
from easeml.engine.logs import configure_logging
from easeml.engine.membership import HEARTBEAT_SECONDS, beat, register, sign_off
from easeml.engine.messages.collector import collector_of
from easeml.engine.networks import networks_of
from easeml.engine.serving.frames import answer_before_threads
from easeml.engine.signals import nobody_waits
from easeml.engine.temporary_files import use_own_folder
from easeml.settings import Settings
from easeml.store import Store

_IDLE = 75  # seconds that a connection may lie idle: longer than clients and proxies keep theirs
_GRACE = 10  # seconds that requests under way get to end
_BUSY_SECONDS = 3.0  # in which a client that asks all the time asks again
_LOOK_EVERY = 0.1  # seconds
_log = structlog.get_logger("easeml.api")


class _Server(uvicorn.Server):
    """Ends open event streams first: they would wait for ever. Drained, it loses no request."""

    def __init__(self, config: uvicorn.Config, fanout: EventFanout, is_ready: Callable[[], None]):
        super().__init__(config)
        self._fanout = fanout
        self._is_ready = is_ready
        self._drains = False

    def drain(self) -> None:
        """End, once all requests are answered; others accept new connections."""
        self.config.timeout_graceful_shutdown = int(DRAIN_SECONDS)
        self._drains = self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._is_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._drains:
            await self._see_off()
        await self._fanout.close()
        await super().shutdown(sockets)

    async def _see_off(self) -> None:
        """Accept no more, and tell busy clients with an answer that their connection closes.

        A request sent to one that is just being closed would be lost.
        """
        for server in self.servers:
            server.close()
        connections = cast(set[PatientProtocol], self.server_state.connections)
        for connection in connections:
            connection.close_after_answer()
        await self._fanout.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_BUSY_SECONDS):
                while connections:
                    await asyncio.sleep(_LOOK_EVERY)


def run_controller(
    settings: Settings,
    listeners: Sequence[socket.socket] = (),
    is_ready: Callable[[], None] = nobody_waits,
) -> None:
    """Serve until SIGTERM or SIGINT, or until SIGQUIT and all requests are answered; blocks.

    ``listeners``: sockets at which it is asked; else it listens at ``settings.host`` and
    ``settings.port``. ``is_ready``: called when it accepts.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(
            number, _leave
        )  # while it serves, uvicorn takes them, and raises them again at its end
    configure_logging("controller", has_file=True)
    answer_before_threads()
    if not listeners:  # it runs alone; exports are made there
        use_own_folder(settings.home, f"controller-{settings.port}")
    store = Store.found(settings)
    try:
        uvloop.run(_serve(store, settings, listeners, is_ready))
    finally:
        store.close()


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


async def _serve(
    store: Store,
    settings: Settings,
    listeners: Sequence[socket.socket],
    is_ready: Callable[[], None],
) -> None:
    proxies = networks_of(settings.trusted_proxies)
    predictor = PredictorClient(store, settings)
    writer = LogWriter(settings)
    telemetry = _telemetry(store, settings)
    told = ToldPredictor(predictor, telemetry) if telemetry else predictor
    app = create_app(store, settings, told, writer.keep)
    config = uvicorn.Config(
        create_asgi_app(app, settings),
        http=cast(type[asyncio.Protocol], FrugalProtocol),  # buffered, which uvicorn does not name
        host=settings.host,
        port=settings.port,
        access_log=False,
        server_header=False,
        ws="none",  # nothing speaks WebSockets here
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies,
        log_level="warning",
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_GRACE,
    )
    process = await asyncio.to_thread(
        register, store, ProcessKind.CONTROLLER, f"{settings.host}:{settings.port}"
    )
    beats = asyncio.create_task(_beat(store, process.id))
    following = asyncio.create_task(follow_changes(app.state.context))
    server = _Server(config, app.state.context.fanout, is_ready)
    asyncio.get_running_loop().add_signal_handler(signal.SIGQUIT, server.drain)
    try:
        await server.serve(list(listeners) or None)
    finally:
        following.cancel()
        beats.cancel()
        with suppress(asyncio.CancelledError):
            await beats
        await predictor.close()
        if telemetry:
            telemetry.close()
        await asyncio.to_thread(writer.close)
        await asyncio.to_thread(sign_off, store, process.id)


def _telemetry(store: Store, settings: Settings) -> Telemetry | None:
    collector = collector_of(settings)
    if collector is None:
        return None
    telemetry = Telemetry(store, collector)
    telemetry.start()
    return telemetry


async def _beat(store: Store, process_id: str) -> None:
    """Say once a second that this process lives; a database that is away for a while is no reason
    to end.
    """

    def write() -> None:
        with store.write() as tx:
            beat(tx, process_id)

    while True:
        try:
            await asyncio.to_thread(write)
        except Exception:
            _log.exception("no heartbeat")
        await asyncio.sleep(HEARTBEAT_SECONDS)
