"""The child that holds a tenant's models: reads frames, answers frames, and nothing else.

Everything a tenant can influence in serving, the request and the model, is touched only here: in a
process with a memory limit, that is replaced when it dies.
"""

import json
import os
import random
import selectors
import socket
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from easeml.confinement import Isolation, Starting, confine
from easeml.contract import measures
from easeml.contract.models import Measure
from easeml.data import Rows, kinds_of, parse_rows
from easeml.engine.limits import limit_child
from easeml.engine.logs import configure_logging
from easeml.engine.serving.frames import Header, encode, receive_frame
from easeml.engine.serving.shelf import Assigned, Shelf
from easeml.errors import EasemlError
from easeml.modules import Predictions, added, conformal, interval, known_rows, measured
from easeml.modules.containers import asking
from easeml.modules.ensemble import TrainedEnsemble, load_model
from easeml.modules.known_rows import KnownRows
from easeml.modules.pipeline import TrainedPipeline
from easeml.modules.programs import ProgramFailed
from easeml.protocols.endpoint import answer_of, problem
from easeml.schema import Schema

_log = structlog.get_logger()
_LONGEST_ID = 256  # bytes
_MEASURE_SECONDS = 5.0  # of an uploaded objective: others wait meanwhile
_FAILED = 500  # and above: the model is to blame, not the rows
_PATIENCE = 30.0  # seconds for a frame that has begun to arrive, or an answer to leave


@dataclass(frozen=True)
class _Served:
    model_id: str
    name: str
    objective: str
    trained: TrainedPipeline | TrainedEnsemble
    schema_in: Schema
    schema_out: Schema
    known: KnownRows | None = None  # of the rows that it learned from


def serve(
    control: socket.socket,
    handed: socket.socket,
    keeper: socket.socket,
    memory: int,
    models: Path,
    isolation: Isolation,
) -> None:
    """Load and switch models as ``control`` says, and answer the connections that come over
    ``handed``. ``keeper`` is asked to run programs that live in images.

    Returns when the other end closes. ``memory``: most bytes of private memory. ``models``: where
    the tenant's models are fetched to, which a confined child may read, and not write.
    """
    configure_logging("predictor")
    limit_child(memory=memory, threads=1)
    asking.use(keeper, when_lost=lambda: os._exit(1))  # a new child gets what this one lacks
    if isolation != "none":
        own = Path(tempfile.mkdtemp(dir=models.parent, prefix="child-"))
        # Programs: an uploaded model predicts by one.
        confine(own, Starting.PROGRAMS, isolation, [models])
    _Child(control, handed).run()


class _Child:
    """One loop over all sockets: between two requests, never within one, another model takes over."""

    def __init__(self, control: socket.socket, handed: socket.socket):
        self._control = control
        self._handed = handed
        self._writing = threading.Lock()
        self._shelf: Shelf[_Served] = Shelf()
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Serve until the predictor closes."""
        self._selector.register(self._control, selectors.EVENT_READ, self._obey)
        self._selector.register(self._handed, selectors.EVENT_READ, self._adopt)
        try:
            while True:
                for key, _ in self._selector.select():
                    key.data()
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

    def _load(self, request: Header) -> None:
        try:
            self._shelf.put(request["model_id"], _load(request))
        except (
            Exception
        ) as error:  # whatever a stored model does, the child goes on with the others
            self._acknowledge(request, f"{type(error).__name__}: {error}")
        else:
            self._acknowledge(request, "")

    def _acknowledge(self, request: Header, error: str) -> None:
        with self._writing:
            self._control.sendall(encode({"id": request["id"], "error": error}))

    def _adopt(self) -> None:
        """Take over a connection on which predictions of one application are asked for."""
        application, descriptors, _, _ = socket.recv_fds(self._handed, _LONGEST_ID, 1)
        if not descriptors:
            raise EOFError
        connection = socket.socket(fileno=descriptors[0])
        connection.settimeout(_PATIENCE)
        answer = partial(self._answer, connection, application.decode())
        self._selector.register(connection, selectors.EVENT_READ, answer)

    def _answer(self, connection: socket.socket, application: str) -> None:
        try:
            header, body = receive_frame(connection)
            head, reply = self._asked(application, header["content_type"], body)
            if head["status"] != 200:
                request = header.get("request", "")
                _log.warning(
                    "not predicted",
                    request=request,
                    application=application,
                    status=head["status"],
                )
            connection.sendall(encode(head, reply))
        except (EOFError, OSError):
            self._selector.unregister(connection)
            connection.close()

    def _asked(self, application: str, content_type: str, body: bytes) -> tuple[Header, bytes]:
        """Return head and body of the answer to a request.

        A model that is rolled out answers its share, drawn for each request; where it fails the
        other model answers, and the head says so.
        """
        served = self._shelf.of(application)
        if served is None:  # the predictor sets it up when the caller asks again
            raise EOFError
        challenger = self._shelf.challenger_of(application)
        if challenger is None:
            status, reply = _predict(served, content_type, body)
            return {"status": status}, reply
        other, share = challenger
        head: Header = {"share": share}
        if random.random() < share:  # noqa: S311 nobody gains by guessing it
            status, reply = _predict(other, content_type, body)
            if status < _FAILED:
                return {**head, "status": status}, reply
            head["failed"] = True
        status, reply = _predict(served, content_type, body)
        return {**head, "status": status}, reply


def _load(request: Header) -> _Served:
    """Load, warm up, and replay the manifest's parity sample before anybody is served."""
    added.tell(request["objective_source"], _MEASURE_SECONDS)
    trained = load_model(Path(request["folder"]))
    trained.check_parity()
    schema_in = Schema.from_json(trained.manifest["schema_in"])
    schema_out = Schema.from_json(trained.manifest["schema_out"])
    return _Served(
        request["model_id"],
        request["name"],
        request["objective"],
        trained,
        schema_in,
        schema_out,
        known_rows.read(Path(request["folder"])),
    )


def _predict(served: _Served, content_type: str, body: bytes) -> tuple[int, bytes]:
    try:
        return 200, json.dumps(_prediction(served, content_type, body)).encode()
    except ProgramFailed as error:
        return 500, problem(500, "The model failed", error)
    except EasemlError as error:
        return 422, problem(422, "The rows cannot be predicted", error)
    except MemoryError:
        return 413, problem(
            413,
            "Too many rows",
            EasemlError("The rows need too much memory.", remedy="Send fewer at a time."),
        )
    except (
        Exception
    ) as error:  # a model may fail on input it never saw: the caller learns it, serving goes on
        failure = EasemlError(
            f"The model failed on these rows: {type(error).__name__}.",
            remedy="Try other rows, or roll back.",
        )
        return 500, problem(500, "The model failed", failure)


def _prediction(served: _Served, content_type: str, body: bytes) -> dict[str, Any]:
    rows = parse_rows(body, content_type, served.schema_in, served.schema_out)
    predicted = served.trained.predict(rows.table)
    band = served.trained.manifest.get(conformal.FACT)
    reply: dict[str, Any] = {
        "model_id": served.model_id,
        "model_name": served.name,
        **answer_of(rows, predicted, band, served.known),
    }
    if rows.labels is not None:
        with suppress(ProgramFailed):  # an uploaded objective; the predictions are good
            reply["quality"] = _quality(served, rows.labels, predicted)
            _tell_training_rows(served, rows, predicted, reply)
    return reply


def _quality(served: _Served, labels: Any, predicted: Predictions) -> dict[str, Any]:
    """Return the score of predictions with its interval, and the measure in its own unit."""
    value, low, high = interval(served.objective, labels, predicted)
    target = next(iter(kinds_of(served.schema_out)), "")
    return {
        "objective": served.objective,
        "value": value,
        "low": low,
        "high": high,
        "rows": len(labels),
        "measure": asdict(measured(served.objective, labels, predicted, target=target)),
    }


def _tell_training_rows(
    served: _Served, rows: Rows, predicted: Predictions, reply: dict[str, Any]
) -> None:
    """Say how many rows the model learned from, and how good it is on the others: what is known by
    heart flatters.
    """
    if served.known is None or rows.labels is None:
        return
    known = served.known.are_known(rows.table.columns, rows.labels)
    if not known.any():
        return
    reply["quality"]["training_rows"] = int(known.sum())
    are = "rows are rows that the model was trained on; they flatter it."
    if known.sum() == 1:
        are = "rows is a row that the model was trained on; it flatters the model."
    if len(known) == 1:
        are = "row is a row that the model was trained on; it flatters the model."
    said = f"{known.sum():,} of {len(known):,} {are}"
    if not known.all():
        others = _quality(served, rows.labels[~known], predicted.of_rows(~known))
        reply["quality"]["others"] = others
        measure = Measure.model_validate(others["measure"])
        between = f" ({measures.interval(measure)})" if measures.interval(measure) else ""
        where = "row" if others["rows"] == 1 else f"{others['rows']:,} rows"
        said += f" On the other {where}: {measures.named(measure)}{between}."
    reply["notes"].append(said)
