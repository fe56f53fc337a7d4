"""The controller's side of the data plane: forwards a request to a serving child and brings back its
answer.

The predictor of its own machine answers for each application. Where requests wait too long there,
predictors of other machines answer as well: the rows of the database say where they are.
"""

import asyncio
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from itertools import chain
from operator import attrgetter

import structlog

from easeml.contract.states import ProcessKind, ProcessState
from easeml.engine import internal_secret
from easeml.engine.membership import HEARTBEAT_SECONDS, has_ended, this_host
from easeml.engine.serving.endpoint import Endpoint, Reply
from easeml.engine.serving.frames import encode
from easeml.engine.serving.lines import Key, Line, Place, Refused, open_line
from easeml.errors import EasemlError, NotReady
from easeml.ids import request_id
from easeml.protocols.answered import Answered
from easeml.settings import Settings
from easeml.store import Store

_PATIENCE = 30.0  # seconds; a predictor that was killed is back within this, also on a busy machine
_PAUSE = 0.05
_TRIES = 3  # of a request that was sent: it may be what ends the serving process
_MOST_ENDPOINTS = 256
_LOOK_SECONDS = 1.0
_SILENT_SECONDS = 3 * HEARTBEAT_SECONDS  # and a machine is no longer asked
log = structlog.get_logger()


class PredictorClient:
    """Keeps connections for each application; a prediction is asked again when one breaks."""

    def __init__(self, store: Store, settings: Settings):
        self._store = store
        self._home = settings.home
        self._most = settings.replicas
        self._endpoints: dict[Key, Endpoint] = {}
        self._opening: dict[Key, asyncio.Task[Line]] = {}
        self._growing: dict[Key, asyncio.Task[None]] = {}
        self._balancing: asyncio.Task[None] | None = None

    async def predict(
        self, tenant_id: str, application_id: str, content_type: str, body: bytes
    ) -> Answered:
        """Return the answer.

        Raises ``NotReady`` if no predictor answers in time.
        """
        key = (tenant_id, application_id)
        request = encode({"content_type": content_type, "request": request_id()}, body)
        try:
            answer, reply = await self._asked(key, request)
        except Refused as refusal:
            return Answered(*refusal.answer)
        share, failed = answer.get("share", 0.0), answer.get("failed", False)
        return Answered(answer["status"], reply, share, failed)

    async def close(self) -> None:
        """Close all connections."""
        if self._balancing is not None:
            self._balancing.cancel()
        for growing in self._growing.values():
            growing.cancel()
        for endpoint in self._endpoints.values():
            endpoint.close()
        self._endpoints.clear()

    async def _asked(self, key: Key, request: bytes) -> Reply:
        """Return head and body of the answer. Raises ``Refused``, ``NotReady``."""
        kept = self._endpoint(key).least_busy()
        if kept is not None:
            with suppress(OSError):  # it may be old: this says nothing of the request
                return await self._endpoint(key).answer(kept, request)
        deadline = time.monotonic() + _PATIENCE
        broken = 0
        while time.monotonic() < deadline and broken < _TRIES:
            try:
                line = self._endpoint(key).least_busy() or await self._opened(key)
            except OSError:
                await asyncio.sleep(_PAUSE)
                continue
            try:
                return await self._endpoint(key).answer(line, request)
            except OSError:  # a prediction changes nothing: asking again is safe
                broken += 1
                await asyncio.sleep(_PAUSE)
        if broken:
            raise NotReady(
                "The serving process ended while it worked on the request.",
                remedy="Send fewer rows.",
            )
        raise NotReady(
            "No predictor answers.",
            remedy="Try again in a few seconds; see: easeml status",
        )

    def _endpoint(self, key: Key) -> Endpoint:
        found = self._endpoints.get(key)
        if found is None:
            self._forget_idle()
            found = self._endpoints[key] = Endpoint(key[1])
            self._begin_balancing()
        return found

    def _forget_idle(self) -> None:
        """Close connections where there are many: they are opened again where they are needed."""
        if len(self._endpoints) < _MOST_ENDPOINTS:
            return
        for key, endpoint in list(self._endpoints.items()):
            if endpoint.is_idle:
                self._endpoints.pop(key).close()

    async def _opened(self, key: Key) -> Line:
        """Return a new connection for an application; of several who want it one opens it.

        Raises ``Refused``, ``OSError``.
        """
        opening = self._opening.get(key)
        if opening is None:
            opening = self._opening[key] = asyncio.create_task(self._open_first(key))
            opening.add_done_callback(lambda _: self._opening.pop(key))
        return await asyncio.shield(opening)  # who waits for it may go away

    async def _open_first(self, key: Key) -> Line:
        """Open a connection to the first predictor that there is, one of this machine if it can be.

        Raises ``Refused``, ``OSError``.
        """
        for place in await asyncio.to_thread(self._places):
            try:
                return await self._open(key, place)
            except OSError:
                continue
            except Refused:
                if not place.certificate:  # another machine may lack what the model takes
                    raise
        raise ConnectionRefusedError("no predictor of this service answers")

    async def _open(self, key: Key, place: Place) -> Line:
        line = await open_line(place, key)
        self._endpoint(key).add(line)
        return line

    def _begin_balancing(self) -> None:
        if self._balancing is None:
            self._balancing = asyncio.create_task(self._balance())

    async def _balance(self) -> None:
        """Have endpoints answered by more machines, or fewer, for ever."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                await self._look()
            except EasemlError as error:  # the database is away: those that answer go on
                log.warning("predictors are not balanced", error=error.message)
            except Exception:  # else endpoints would keep what predictors they have for ever
                log.exception("predictors are not balanced")

    async def _look(self) -> None:
        endpoints = self._endpoints.copy()
        for endpoint in endpoints.values():
            endpoint.look()
        concerned = {key: one for key, one in endpoints.items() if one.needs_places}
        if not concerned:
            return  # the database is not asked
        places = await asyncio.to_thread(self._places)
        there = set(map(attrgetter("process"), places))
        for key, endpoint in concerned.items():
            endpoint.leave(there)
            if endpoint.wants_more and key not in self._growing:
                self._growing[key] = asyncio.create_task(self._grow(key, places))
                self._growing[key].add_done_callback(partial(self._has_grown, key))

    def _has_grown(self, key: Key, _: "asyncio.Task[None]") -> None:
        del self._growing[key]

    async def _grow(self, key: Key, places: list[Place]) -> None:
        """Have one more predictor answer, the least asked of those that do not yet and can.

        One in a fault domain of which none answers goes before others.
        """
        asked = self._endpoint(key).predictors
        if len(asked) >= self._most:
            return
        counts = Counter(chain.from_iterable(one.predictors for one in self._endpoints.values()))
        free = [place for place in places if place.process not in asked]
        domains = {place.domain for place in places if place.process in asked}

        def rank(place: Place) -> tuple[bool, bool, int]:
            is_elsewhere = place.certificate != ""  # this machine's first, where it does not answer
            return is_elsewhere, place.domain in domains, counts[place.process]

        for place in sorted(free, key=rank):
            with suppress(OSError, Refused):
                await self._open(key, place)
                return
        log.info("no further predictor", application=key[1])

    def _places(self) -> list[Place]:
        """Return where predictors listen: those of this machine, newest first, and of others.

        Predictors of another service with the same database listen on its machine's loopback.
        """
        is_running = {"kind": ProcessKind.PREDICTOR, "state": ProcessState.RUNNING}
        with self._store.read() as tx:
            running = tx.processes.list(**is_running, limit=None, newest_first=True)
            now = tx.now()
        host, secret = this_host(), internal_secret.current(self._home)
        own, others = list[Place](), list[Place]()
        for one in running:
            if one.certificate and not has_ended(one, now, _SILENT_SECONDS):
                domain = one.fault_domain
                others.append(Place(one.id, one.address, one.secret, one.certificate, domain))
            elif one.host == host and not one.certificate:
                own.append(Place(one.id, one.address, secret, domain=one.fault_domain))
        return own + others
