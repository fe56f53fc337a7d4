"""The child that holds a tenant's models: reads frames, answers frames, and nothing else.

Everything a tenant can influence in serving, the request and the model, is touched only here: in a process with
a memory limit, that is replaced when it dies.
"""

import json
import socket
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from easeml.data import parse_rows
from easeml.engine.limits import limit_child
from easeml.engine.serving.frames import Header, encode, receive_frame
from easeml.errors import EasemlError
from easeml.modules import interval
from easeml.modules.pipeline import TrainedPipeline, load_trained
from easeml.schema import Schema


@dataclass(frozen=True)
class _Served:
    model_id: str
    name: str
    objective: str
    trained: TrainedPipeline
    schema_in: Schema
    schema_out: Schema


def serve(connection: socket.socket, memory: int) -> None:
    """Answer frames until the other end closes. ``memory``: most bytes of private memory."""
    limit_child(memory=memory, threads=1)
    models: dict[str, _Served] = {}
    writing = threading.Lock()

    def answer(header: Header, body: bytes = b"") -> None:
        with writing:
            connection.sendall(encode(header, body))

    def load(request: Header) -> None:
        try:
            models[request["model_id"]] = _load(request)
        except Exception as error:  # whatever a stored model does, the child goes on with the others
            answer({"id": request["id"], "ok": False, "error": f"{type(error).__name__}: {error}"})
        else:
            answer({"id": request["id"], "ok": True})

    while True:
        try:
            request, body = receive_frame(connection)
        except (EOFError, OSError):
            return
        match request["do"]:
            case "load":  # beside the requests: a model that loads does not stop the one that serves
                threading.Thread(target=load, args=(request,), daemon=True).start()
            case "unload":
                models.pop(request["model_id"], None)
            case "predict":
                status, reply = _predict(models[request["model_id"]], request["content_type"], body)
                answer({"id": request["id"], "ok": True, "status": status}, reply)


def _load(request: Header) -> _Served:
    """Load, warm up, and replay the manifest's parity sample before anybody is served."""
    trained = load_trained(Path(request["folder"]))
    trained.check_parity()
    schema_in = Schema.from_json(trained.manifest["schema_in"])
    schema_out = Schema.from_json(trained.manifest["schema_out"])
    return _Served(request["model_id"], request["name"], request["objective"], trained, schema_in, schema_out)


def _predict(served: _Served, content_type: str, body: bytes) -> tuple[int, bytes]:
    try:
        return 200, json.dumps(_prediction(served, content_type, body)).encode()
    except EasemlError as error:
        return 422, problem(422, "The rows cannot be predicted", error)
    except MemoryError:
        return 413, problem(
            413,
            "Too many rows",
            EasemlError("The rows need too much memory.", remedy="Send fewer at a time."),
        )
    except Exception as error:  # a model may fail on input it never saw: the caller learns it, serving goes on
        failure = EasemlError(
            f"The model failed on these rows: {type(error).__name__}.", remedy="Try other rows, or roll back."
        )
        return 500, problem(500, "The model failed", failure)


def _prediction(served: _Served, content_type: str, body: bytes) -> dict[str, Any]:
    rows = parse_rows(body, content_type, served.schema_in, served.schema_out)
    predicted = served.trained.predict(rows.table)
    reply: dict[str, Any] = {
        "model_id": served.model_id,
        "model_name": served.name,
        "predictions": predicted.values.tolist(),
        "probabilities": None,
        "quality": None,
        "notes": list(rows.notes),
    }
    if predicted.probabilities is not None and predicted.classes is not None:
        classes = [str(name) for name in predicted.classes]
        reply["probabilities"] = [dict(zip(classes, row, strict=True)) for row in predicted.probabilities.tolist()]
    if rows.labels is not None:
        value, low, high = interval(served.objective, rows.labels, predicted)
        reply["quality"] = {
            "objective": served.objective,
            "value": value,
            "low": low,
            "high": high,
            "rows": len(rows.labels),
        }
    return reply


def problem(status: int, title: str, error: EasemlError) -> bytes:
    """Return the bytes of problem details (RFC 9457) for an error."""
    return json.dumps(
        {
            "type": f"urn:easeml:problem:{error.code}",
            "title": title,
            "status": status,
            "detail": error.message,
            "code": error.code,
            "where": error.where,
            "remedy": error.remedy,
        }
    ).encode()
