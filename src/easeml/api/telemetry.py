"""Tells a collector of OpenTelemetry how each application came to its first prediction."""

import queue
import threading
import time
from contextlib import suppress
from http import HTTPStatus

import structlog

from easeml.api.context import Predictor
from easeml.engine.messages.collector import Collector
from easeml.errors import NotFound
from easeml.ids import request_id
from easeml.protocols.answered import Answered
from easeml.service.views.first_prediction import Predicted, is_told, note_told, spans_until
from easeml.store import Store

_PAUSE = 30.0  # seconds until a collector that is away is asked again
_MOST_WAITING = 1000
_MOST_SEEN = 10_000
_log = structlog.get_logger("easeml.telemetry")


class Telemetry:
    """Sends one trace an application: from the upload of its data to its first prediction.

    It is sent by a thread, off the way of answers. What a collector that is away did not get is
    sent later, as long as this process runs.
    """

    def __init__(self, store: Store, collector: Collector):
        self._store = store
        self._collector = collector
        self._seen: set[str] = set()
        self._waiting: queue.Queue[Predicted] = queue.Queue(_MOST_WAITING)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)

    def start(self) -> None:
        """Send from now on, in a thread of its own."""
        self._thread.start()

    def close(self) -> None:
        """Send nothing more."""
        self._ended.set()
        self._collector.close()

    def note(self, tenant_id: str, application_id: str, began: float) -> None:
        """Note a prediction that was answered just now, and was asked for at ``began``, seconds of
        the epoch. All but the first of an application are forgotten at once.
        """
        if application_id in self._seen:
            return
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()  # the database knows as well who was told of
        self._seen.add(application_id)
        first = Predicted(tenant_id, application_id, request_id(), began, time.time())
        with suppress(queue.Full):
            self._waiting.put_nowait(first)

    def tell(self, predicted: Predicted) -> None:
        """Send the trace, unless it was sent before. Raises ``Unreachable``, ``NotFound``."""
        if is_told(self._store, predicted):
            return
        spans = spans_until(self._store, predicted)
        self._collector.send(predicted.application_id, spans)
        note_told(self._store, predicted)

    def _run(self) -> None:
        while not self._ended.is_set():
            predicted = self._waiting.get()
            try:
                self.tell(predicted)
            except NotFound:  # an application that was deleted meanwhile
                continue
            except Exception as error:  # whatever it is, a trace is not worth a controller
                _log.warning("a trace could not be sent", error=str(error))
                self._ended.wait(_PAUSE)
                with suppress(queue.Full):
                    self._waiting.put_nowait(predicted)


class ToldPredictor:
    """A predictor whose first predictions a collector is told of."""

    def __init__(self, predictor: Predictor, telemetry: Telemetry):
        self._predictor = predictor
        self._telemetry = telemetry

    async def predict(
        self, tenant_id: str, application_id: str, content_type: str, body: bytes
    ) -> Answered:
        """Return the answer of the predictor, with whatever it raises."""
        began = time.time()
        answered = await self._predictor.predict(tenant_id, application_id, content_type, body)
        if answered.status < HTTPStatus.BAD_REQUEST:
            self._telemetry.note(tenant_id, application_id, began)
        return answered
