"""HTTP with an end to patience: uvicorn bounds neither the bytes before a body nor their time, and
reads much of a body that nobody wants yet.
"""

import asyncio
import math
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from easeml.api.request_limits import IS_WHOLE
from easeml.engine.joined_writes import JoinedWrites

MOST_HEAD = 64 * 2**10  # bytes of a request that are not its body: address, headers, trailers
HEAD_SECONDS = 20.0  # from the first of them, or the connection, to the last
FIRST_READ, READ = 16 * 2**10, 256 * 2**10  # bytes of one read: of a head, and of a body
MOST_REST = 256 * 2**20  # bytes of a refused body that are read before its connection is closed
REST_SECONDS = 30.0  # for all of them
_FRAMING = 8  # bytes a byte of a body, at most, that say how its pieces are cut

_TOO_LARGE = "431 Request Header Fields Too Large"
_TOO_SLOW = "408 Request Timeout"


class _PatientTransport(JoinedWrites):
    """The head and the body of an answer leave together. It closes once ``may_close`` says so."""

    def __init__(self, transport: asyncio.Transport, may_close: Callable[[], bool]):
        super().__init__(transport)
        self._may_close = may_close

    def close(self) -> None:
        self.flush()
        if self._may_close():
            super().close()


class PatientProtocol(HttpToolsProtocol):
    """Ends a connection whose headers are too long, or take too long.

    One that is closed after an answer first has the rest of the request's body read: a client that
    still sends would else be reset, and never see the answer (RFC 9112, section 9.6).
    """

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **named)
        self._received = 0  # of this request
        self._of_body = 0
        self._in_head = True
        self._closes = False
        self._timer: asyncio.TimerHandle | None = None  # of a head, or of the rest of a body
        self._is_ending = False
        self._most_body = math.inf

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.transport = _PatientTransport(transport, self._may_close)  # type: ignore[assignment]
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        if self._received - (1 + _FRAMING) * self._of_body > MOST_HEAD:
            self._refuse(_TOO_LARGE)
        elif not self._in_head and self._of_body and not self.cycle.response_complete:
            self.flow.pause_reading()  # until the body is asked for
        elif self._in_head and self._received and self._timer is None:
            self._await_head()  # most heads come whole, and need no clock

    def close_after_answer(self) -> None:
        """Close the connection after the next answer, which says so."""
        self._closes = True
        if self.cycle is not None and not self.cycle.response_started:
            self.cycle.keep_alive = False

    @property
    def is_in_head(self) -> bool:
        """Whether the next bytes are those of a head."""
        return self._in_head

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()
        cycle = self.cycle
        cycle.keep_alive &= not self._closes
        cast(Any, self.scope)[IS_WHOLE] = lambda: not cycle.more_body

    def on_body(self, body: bytes) -> None:
        self._of_body += len(body)
        super().on_body(body)
        if self._of_body > self._most_body:
            self.transport.close()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._received = 0
        self._of_body = 0
        self._in_head = True
        if self._is_ending:
            self.transport.close()

    def on_response_complete(self) -> None:
        self.transport.flush()  # type: ignore[attr-defined]
        super().on_response_complete()

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self._refuse, _TOO_SLOW)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _may_close(self) -> bool:
        """Tell whether no more of a body comes, or enough was waited for it; else begin to wait."""
        waits_to_send = self.expect_100_continue and not self._of_body
        is_whole = self._in_head or waits_to_send
        if is_whole or self._is_ending or self.transport.is_closing():
            return True
        self._is_ending = True
        self._most_body = self._of_body + MOST_REST
        self._stop_waiting()
        self._timer = self.loop.call_later(REST_SECONDS, self.transport.close)
        return False

    def _refuse(self, status: str) -> None:
        self._stop_waiting()
        if self.transport.is_closing():
            return
        answer = f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        self.transport.write(answer.encode())
        self.transport.close()


class FrugalProtocol(asyncio.BufferedProtocol):
    """``PatientProtocol``, whose connections are read little by little until a body is asked for.

    Ten thousand requests that wait for their turn hold ``FIRST_READ`` bytes each. A transport that
    brings bytes as it likes reads 256 kB at once.
    """

    # Filled and emptied within one step of the loop, so that all connections share them.
    _of_head = memoryview(bytearray(FIRST_READ))
    _of_body = memoryview(bytearray(READ))

    def __init__(self, *args: Any, **named: Any):
        self._http = PatientProtocol(*args, **named)
        self._buffer = self._of_head

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._http.connection_made(cast(asyncio.Transport, transport))

    def get_buffer(self, sizehint: int) -> memoryview:
        self._buffer = self._of_head if self._http.is_in_head else self._of_body
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._http.data_received(bytes(self._buffer[:nbytes]))

    def eof_received(self) -> None:
        self._http.eof_received()

    def pause_writing(self) -> None:
        self._http.pause_writing()

    def resume_writing(self) -> None:
        self._http.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._http.connection_lost(exc)
