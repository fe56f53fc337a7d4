"""The child that holds a tenant's models: reads frames, answers frames, and nothing else.

Everything a tenant can influence in serving, the request and the model, is touched only here: in a
process with a memory limit, that is replaced when it dies.
"""

import os
import random
import selectors
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog

from easeml.confinement import Isolation, Starting, confine
from easeml.engine.limits import limit_child
from easeml.engine.logs import configure_logging
from easeml.engine.serving.answers import Answer, Request, Served, answer_each
from easeml.engine.serving.frames import (
    TAKEN_BACK,
    Header,
    encode,
    receive_frame,
    take_frames,
)
from easeml.engine.serving.shelf import Assigned, Shelf
from easeml.modules import added, known_rows
from easeml.modules.containers import asking
from easeml.modules.ensemble import load_model
from easeml.modules.environments import placing
from easeml.schema import Schema

_log = structlog.get_logger()
_LONGEST_ID = 256  # bytes
_MEASURE_SECONDS = 5.0  # of an uploaded objective: others wait meanwhile
_FAILED = 500  # and above: the model is to blame, not the rows
_TOGETHER = 2**18  # bytes of requests that are predicted by one call
_PATIENCE = 30  # seconds for a frame that has begun to arrive, or an answer to leave
_NOT_BEGUN: tuple[Header, bytes] = ({"status": TAKEN_BACK}, b"")


def serve(
    control: socket.socket,
    handed: socket.socket,
    keeper: socket.socket,
    says: socket.socket,
    memory: int,
    models: Path,
    own: Path,
    isolation: Isolation,
) -> None:
    """Load and switch models as ``control`` says, and answer the connections that come over
    ``handed``. ``keeper`` is asked to run programs that live in images.

    Returns when the other end closes. ``memory``: most bytes of private memory. ``models``: where
    the tenant's models are fetched to, which a confined child may read, and not write; ``own``: a
    folder for what it writes. What it prints goes to ``says``.
    """
    os.setsid()  # with what it starts it is ended as one
    for descriptor in (1, 2):
        os.dup2(says.fileno(), descriptor)
    says.close()
    configure_logging("predictor")
    limit_child(memory=memory, threads=1)
    asking.use(keeper, when_lost=lambda: os._exit(1))  # a new child gets what this one lacks
    if isolation != "none":
        # Programs: an uploaded model predicts by one.
        confine(own, Starting.PROGRAMS, isolation, [models])
    answer(control, handed)


def answer(control: socket.socket, handed: socket.socket) -> None:
    """Do what ``serve`` does, in this process as it is: without limits, confinement and keeper."""
    _Child(control, handed).run()


@dataclass(slots=True)
class _Waiting:
    """A request that was read, and where its answer goes, unless it is taken back before."""

    connection: socket.socket
    application: str
    request_id: str
    asked: Request
    is_taken_back: bool = False


class _Child:
    """One loop over all sockets: between two requests, never within one, another model takes over."""

    def __init__(self, control: socket.socket, handed: socket.socket):
        self._control = control
        self._handed = handed
        self._writing = threading.Lock()
        self._shelf: Shelf[Served] = Shelf()
        self._selector = selectors.DefaultSelector()
        self._waiting: list[_Waiting] = []
        self._piece = memoryview(bytearray(_TOGETHER))  # into which all that comes is received

    def run(self) -> None:
        """Serve until the predictor closes."""
        self._selector.register(self._control, selectors.EVENT_READ, self._obey)
        self._selector.register(self._handed, selectors.EVENT_READ, self._adopt)
        try:
            while True:
                for key, _ in self._selector.select():
                    key.data()
                self._answer_waiting()
        except (EOFError, OSError):
            return

    def _obey(self) -> None:
        request, _ = receive_frame(self._control)
        match request["do"]:
            case (
                "load"
            ):  # beside the requests: a model that loads does not stop the one that serves
                threading.Thread(
                    target=self._load,
                    args=(request,),
                    daemon=True,
                ).start()
            case "serve":
                assigned = Assigned(request["model_id"], request["challenger_id"], request["share"])
                known = self._shelf.assign(request["application"], assigned)
                self._acknowledge(request, "" if known else "it has not been loaded")
            case "withdraw":
                self._shelf.withdraw(request["application"])
                self._acknowledge(request, "")
            case "tell_quiet":
                self._acknowledge(request, "", quiet_seconds=self._shelf.quiet_seconds())

    def _load(self, request: Header) -> None:
        try:
            self._shelf.put(request["model_id"], _load(request))
        except (
            Exception
        ) as error:  # whatever a stored model does, the child goes on with the others
            self._acknowledge(request, f"{type(error).__name__}: {error}")
        else:
            self._acknowledge(request, "")

    def _acknowledge(self, request: Header, error: str, **facts: object) -> None:
        with self._writing:
            self._control.sendall(encode({"id": request["id"], "error": error, **facts}))

    def _adopt(self) -> None:
        """Take over a connection on which predictions of one application are asked for."""
        application, descriptors, _, _ = socket.recv_fds(self._handed, _LONGEST_ID, 1)
        if not descriptors:
            raise EOFError
        connection = socket.socket(fileno=descriptors[0])
        _be_patient(connection)
        receive = partial(self._receive, connection, application.decode(), bytearray())
        self._selector.register(connection, selectors.EVENT_READ, receive)

    def _receive(self, connection: socket.socket, application: str, received: bytearray) -> None:
        """Read requests; they wait until what else has come is read.

        ``received``: of the connection, what is no whole request yet.
        """
        try:
            frames = self._frames_of(connection, received)
        except (EOFError, OSError):
            self._let_go(connection)
            return
        for header, body in frames:
            if "take_back" in header:
                self._take_back(connection, header["take_back"])
                continue
            asked = Request(header["content_type"], body)
            request_id = header.get("request", "")
            self._waiting.append(_Waiting(connection, application, request_id, asked))

    def _take_back(self, connection: socket.socket, requests_ago: int) -> None:
        """Forget a request that waits; what is answered already is answered."""
        waiting = [one for one in self._waiting if one.connection is connection]
        if requests_ago <= len(waiting):
            waiting[-requests_ago].is_taken_back = True

    def _frames_of(
        self, connection: socket.socket, received: bytearray
    ) -> list[tuple[Header, bytes]]:
        """Return the frames that are whole by what has come now. Raises ``EOFError``, ``OSError``."""
        count = connection.recv_into(self._piece)
        if count == 0:
            raise EOFError
        received += self._piece[:count]
        return take_frames(received)

    def _answer_waiting(self) -> None:
        """Answer what waits; a model predicts the rows of all that ask it by one call.

        Nobody waits for others to come: what is answered together came while others were answered.
        """
        waiting, self._waiting = self._waiting, []
        for application, group in _by_application(waiting):
            replies: dict[socket.socket, list[bytes]] = {}
            for one, (head, reply) in zip(group, self._asked(application, group), strict=True):
                if head is None:  # nothing is loaded: the predictor sets it up for who asks again
                    self._let_go(one.connection)
                    continue
                _tell_failure(one, head)
                replies.setdefault(one.connection, []).append(encode(head, reply))
            for connection, frames in replies.items():
                self._reply(connection, frames)

    def _reply(self, connection: socket.socket, frames: list[bytes]) -> None:
        try:
            connection.sendall(b"".join(frames))
        except OSError:
            self._let_go(connection)

    def _let_go(self, connection: socket.socket) -> None:
        if connection.fileno() >= 0:  # of several requests each may say so
            self._selector.unregister(connection)
            connection.close()

    def _asked(
        self, application: str, group: Sequence["_Waiting"]
    ) -> list[tuple[Header | None, bytes]]:
        """Return head and body of the answer to each request; no heads where nothing is loaded.

        A model that is rolled out answers its share, drawn for each request; where it fails the
        other model answers, and the head says so.
        """
        served = self._shelf.of(application)
        if served is None:
            return [(None, b"")] * len(group)
        requests = [one.asked for one in group if not one.is_taken_back]
        challenger = self._shelf.challenger_of(application)
        if challenger is None:
            answers = answer_each(served, requests)
            told = [({"status": status}, reply) for status, reply in answers]
        else:
            told = _answers_of_two(served, *challenger, requests)
        answered = iter(told)
        return [_NOT_BEGUN if one.is_taken_back else next(answered) for one in group]


def _be_patient(connection: socket.socket) -> None:
    """Give a connection ``_PATIENCE``, kept by the kernel: Python's own timeouts ask it before each
    call whether there is something to do.
    """
    connection.setblocking(True)
    patience = struct.pack("ll", _PATIENCE, 0)  # a struct timeval
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)


def _tell_failure(one: _Waiting, head: Header) -> None:
    if head["status"] not in (200, TAKEN_BACK):
        facts = {"request": one.request_id, "application": one.application}
        _log.warning("not predicted", status=head["status"], **facts)


def _answers_of_two(
    served: Served, challenger: Served, share: float, requests: Sequence[Request]
) -> list[tuple[Header | None, bytes]]:
    """Return head and body of each answer, a ``share`` of them by the challenger."""
    heads: list[Header] = [{"share": share} for _ in requests]
    answers: dict[int, Answer] = {}
    drawn = [place for place in range(len(requests)) if random.random() < share]  # noqa: S311 nobody gains by guessing it
    for place, answer in zip(drawn, _answers(challenger, requests, drawn), strict=True):
        if answer.status < _FAILED:
            answers[place] = answer
        else:
            heads[place]["failed"] = True
    rest = [place for place in range(len(requests)) if place not in answers]
    answers.update(zip(rest, _answers(served, requests, rest), strict=True))
    told: list[tuple[Header | None, bytes]] = []
    for place, head in enumerate(heads):
        status, reply = answers[place]
        told.append(({**head, "status": status}, reply))
    return told


def _answers(served: Served, requests: Sequence[Request], places: Sequence[int]) -> list[Answer]:
    return answer_each(served, [requests[place] for place in places])


def _by_application(waiting: Sequence[_Waiting]) -> Iterator[tuple[str, list[_Waiting]]]:
    """Group requests of a bounded number of bytes; those of an application keep their order."""
    if len(waiting) == 1:
        yield waiting[0].application, [waiting[0]]
        return
    open_groups: dict[str, list[_Waiting]] = {}
    sizes: Counter[str] = Counter()
    for one in waiting:
        size = len(one.asked.body)
        if sizes[one.application] and size + sizes[one.application] > _TOGETHER:
            yield one.application, open_groups.pop(one.application)
            sizes[one.application] = 0
        open_groups.setdefault(one.application, []).append(one)
        sizes[one.application] += size
    yield from open_groups.items()


def _load(request: Header) -> Served:
    """Load, warm up, and replay the manifest's parity sample before anybody is served."""
    placing.use(request["environments"])
    added.tell(request["objective_source"], _MEASURE_SECONDS)
    trained = load_model(Path(request["folder"]))
    trained.check_parity()
    schema_in = Schema.from_json(trained.manifest["schema_in"])
    schema_out = Schema.from_json(trained.manifest["schema_out"])
    return Served(
        request["model_id"],
        request["name"],
        request["objective"],
        trained,
        schema_in,
        schema_out,
        known_rows.read(Path(request["folder"])),
    )
