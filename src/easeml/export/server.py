"""A small server for one model that was taken elsewhere: no database, no accounts, one process.

It answers as the endpoint did, and by the Open Inference Protocol and MLflow's invocations. Whoever
reaches its port may ask it: keys, limits and encryption belong to what stands before it.
"""

import argparse
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from easeml.data import Rows, kinds_of, parse_rows, permitted
from easeml.errors import EasemlError, NotFound
from easeml.export.exported import ExportedModel, load_exported
from easeml.modules import Predictions, known_rows
from easeml.modules.known_rows import KnownRows
from easeml.protocols import forecasts, inference, invocations
from easeml.protocols.endpoint import answer_of, problem
from easeml.protocols.errors import INVOCATIONS, V2, in_form_of

_PORT = 8080
_MEDIA_TYPE = "application/problem+json"
_SMALL = 2**16  # bytes of a request that is answered at once; others do not stop the health checks

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Server:
    """A loaded model and what is told with its answers."""

    exported: ExportedModel
    known: KnownRows | None
    name: str  # in the addresses of the Open Inference Protocol: the application's id
    model_id: str
    model_name: str

    async def health(self, request: Request) -> Response:
        """Tell that the model is loaded; it is before the port is opened."""
        return JSONResponse({"status": "ok", "model_id": self.model_id})

    async def predict(self, request: Request) -> Response:
        """Predict rows in any form that the endpoint of the service takes."""
        content_type = request.headers.get("content-type", "application/json")
        content_type += permitted(request.query_params)
        return JSONResponse(await self._ask(content_type, await request.body()))

    async def invoke(self, request: Request) -> Response:
        """Predict rows as MLflow's scoring server takes them."""
        body = await request.body()
        content_type = request.headers.get("content-type", "application/json")
        if not content_type.startswith("text/csv"):
            body = _as_rows(invocations.rows_of(body, self._columns()))
            content_type = "application/json"
        return JSONResponse(invocations.answer_of(await self._ask(content_type, body)))

    async def server(self, request: Request) -> Response:
        """Tell name and version of the server."""
        return JSONResponse(inference.server())

    async def live(self, request: Request) -> Response:
        """Tell that the server answers."""
        return JSONResponse(inference.live())

    async def ready(self, request: Request) -> Response:
        """Tell that the model is loaded."""
        return JSONResponse({"ready": True})

    async def model_ready(self, request: Request) -> Response:
        """Tell that this model is loaded. Raises ``NotFound`` for another one."""
        self._check_name(request)
        return JSONResponse({"name": self.name, "ready": True})

    async def metadata(self, request: Request) -> Response:
        """Tell inputs and outputs. Raises ``NotFound`` for another model."""
        self._check_name(request)
        schemas = self.exported.schema_in, self.exported.schema_out
        return JSONResponse(inference.metadata(self.name, [self.model_id], *schemas))

    async def infer(self, request: Request) -> Response:
        """Predict the rows of tensors. Raises ``NotFound`` for another model."""
        self._check_name(request)
        length = request.headers.get(inference.HEADER_LENGTH)
        asked = inference.read_request(await request.body(), length)
        rows = _as_rows(inference.rows_of(asked, self._columns()))
        answer = await self._ask("application/json", rows)
        body, head = inference.encode_answer(asked, self.name, answer)
        if head is None:
            return Response(body, media_type="application/json")
        headers = {inference.HEADER_LENGTH: str(head)}
        return Response(body, headers=headers, media_type="application/octet-stream")

    async def _ask(self, content_type: str, body: bytes) -> dict[str, Any]:
        if len(body) <= _SMALL:
            return self._answer(content_type, body)
        return await run_in_threadpool(self._answer, content_type, body)

    def _answer(self, content_type: str, body: bytes) -> dict[str, Any]:
        exported = self.exported
        steps = forecasts.steps_of(content_type)
        if steps is not None:
            found = forecasts.forecast(exported, body, content_type, steps)
            return {**self._told(found.rows, found.predicted), **found.told}
        past_only = forecasts.past_only(exported.trained.past)
        schemas = exported.schema_in, exported.schema_out
        rows = parse_rows(body, content_type, *schemas, past_only=past_only)
        answer = self._told(rows, exported.trained.predict(rows.with_values))
        if exported.trained.past is not None:
            answer["notes"] += forecasts.notes_of(exported.trained.past, rows)
        return answer

    def _told(self, rows: Rows, predicted: Predictions) -> dict[str, Any]:
        """Return what is told of predicted rows."""
        answer = answer_of(rows, predicted, self.exported.trained.manifest, self.known)
        return {"model_id": self.model_id, "model_name": self.model_name, **answer}

    def _columns(self) -> list[str]:
        return list(kinds_of(self.exported.schema_in))

    def _check_name(self, request: Request) -> None:
        name = request.path_params["name"]
        if name != self.name:
            raise NotFound(f"There is no model {name!r} here.", remedy=f"There is: {self.name}.")


def load_server(folder: str | Path) -> Server:
    """Load the exported model in ``folder``. Raises ``Damaged`` as ``load_exported`` does."""
    folder = Path(folder)
    facts = json.loads((folder / "export.json").read_text())["facts"]
    model = folder / "model"
    known = known_rows.read(model)
    name, model_id, model_name = facts["application_id"], facts["model_id"], facts["model"]
    return Server(load_exported(model), known, name, model_id, model_name)


def application(server: Server) -> Starlette:
    """Return the ASGI application of a loaded model."""
    asked: Sequence[tuple[str, Handler]] = (
        ("/health", server.health),
        ("/ping", server.health),  # what MLflow's client asks
        (V2, server.server),
        (f"{V2}/health/live", server.live),
        (f"{V2}/health/ready", server.ready),
        (f"{V2}/models/{{name}}", server.metadata),
        (f"{V2}/models/{{name}}/ready", server.model_ready),
    )
    told: Sequence[tuple[str, Handler]] = (
        ("/predict", server.predict),
        (INVOCATIONS, server.invoke),
        (f"{V2}/models/{{name}}/infer", server.infer),
    )
    routes = [Route(path, handler) for path, handler in asked]
    routes += [Route(path, handler, methods=["POST"]) for path, handler in told]
    return Starlette(routes=routes, exception_handlers={EasemlError: _refused, Exception: _failed})


def main(folder: Path) -> None:
    """Serve the exported model in ``folder``: host and port by options or environment."""
    import uvicorn

    parser = argparse.ArgumentParser(description="Serve the model in this folder.")
    host, port = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", _PORT))
    parser.add_argument("--host", default=host, help="address to listen on (or HOST)")
    parser.add_argument("--port", default=port, type=int, help="port to listen on (or PORT)")
    options = parser.parse_args()
    served = application(load_server(folder))
    uvicorn.run(served, host=options.host, port=options.port, access_log=False)


async def _refused(request: Request, error: Exception) -> Response:
    """Return the problem of rows that cannot be predicted, in the form of its protocol."""
    assert isinstance(error, EasemlError)
    status = 404 if isinstance(error, NotFound) else 422
    content = problem(status, "The rows cannot be predicted", error)
    return in_form_of(request.url.path, Response(content, status, media_type=_MEDIA_TYPE))


async def _failed(request: Request, error: Exception) -> Response:
    """Return the problem of a model that failed; its trace goes to the log."""
    failure = EasemlError(f"The model failed on these rows: {type(error).__name__}.")
    content = problem(500, "The model failed", failure)
    return in_form_of(request.url.path, Response(content, 500, media_type=_MEDIA_TYPE))


def _as_rows(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps({"rows": rows}).encode()
