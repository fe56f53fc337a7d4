"""The endpoint of an application: bytes in, bytes out; the predictor alone looks into them."""

import re
import time
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from easeml.api import request_limits
from easeml.api.context import Context
from easeml.api.gate import let_in
from easeml.api.headers import header_of
from easeml.api.problems import problem_of, response_of
from easeml.contract.applications import Prediction
from easeml.data import FORECAST, MOST_STEPS, permitted
from easeml.ids import new_id
from easeml.service.access import sharing
from easeml.service.production.request_log import Seen

_BINARY = {"type": "string", "format": "binary"}
_BINARIES = (
    "application/x-ndjson",
    "application/vnd.apache.parquet",
    "application/vnd.apache.arrow.stream",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/octet-stream",
    "application/zip",
    "image/*",
)
PATH = "/api/v1/applications/{application_id}/predict"
_HEADERS = [
    (b"content-type", b"application/json"),
    *((name.encode(), value.encode()) for name, value in request_limits.HEADERS.items()),
]
_PATH = re.compile(PATH.format(application_id="([^/]+)"))


def is_asked_for(scope: Scope) -> bool:
    """Does a request ask for predictions?"""
    if scope["type"] != "http" or scope["method"] != "POST":
        return False
    return _PATH.fullmatch(scope["path"]) is not None


class Predictions:
    """The endpoint as an ASGI application: the guards of all routes, and nothing else.

    They are called one after the other, not put around each other: layers, each of which looks at
    every message that is sent, would cost more than a small model. Bytes are forwarded, and nothing
    is parsed here.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever happens."""
        began = time.perf_counter()
        scope["route"] = ROUTE  # what its time is counted for
        context: Context = scope["app"].state.context
        try:
            answer = await _answer(context, scope, receive)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except Exception as error:
            answer = _as_refusal(problem_of(error))
        seconds = time.perf_counter() - began
        await answer(scope, receive, send)
        context.requests.note(scope, answer.status_code, seconds)


ROUTE = Route(PATH, Predictions(), methods=["POST"])


async def _answer(context: Context, scope: Scope, receive: Receive) -> "Response | _Predicted":
    """Let a request in, and return what its predictor answers. Raises what becomes a problem."""
    limit = context.settings.request_limit
    request_limits.check(scope, limit)
    asked = sharing.asked_for(scope["method"], scope["path"])
    assert asked is not None
    caller = await let_in(context, scope, asked)
    scope.setdefault("state", {})["caller"] = caller
    body = await _body(request_limits.bounded(scope, receive, limit))
    content_type = _content_type(scope)
    answered = await context.predictor.predict(caller.tenant_id, asked.id, content_type, body)
    if answered.status >= 400:
        return _as_refusal(response_of(answered.status, answered.content))
    request_id = scope["state"].get("request_id") or new_id("req")
    sends_rows = f"{FORECAST}=" not in content_type  # else there are none to keep
    if sends_rows and context.log.takes(asked.id):
        seen = Seen(
            request_id,
            caller.tenant_id,
            asked.id,
            content_type,
            body,
            answered.content,
            answered.share,
            answered.failed,
        )
        context.log.note(seen)
    return _Predicted(answered.status, _named(answered.content, request_id))


def _as_refusal(problem: Response) -> Response:
    """Put the headers of every answer into one that is a problem."""
    problem.headers.update(request_limits.HEADERS)
    return problem


@dataclass(frozen=True, slots=True)
class _Predicted:
    """An answer in JSON, sent as Starlette's are."""

    status_code: int
    content: bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = (b"content-length", str(len(self.content)).encode())
        headers = [length, *_HEADERS]
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": self.content})


def _content_type(scope: Scope) -> str:
    """Return the media type of the rows, and what they may lack."""
    content_type = header_of(scope, b"content-type").decode("latin-1") or "application/json"
    if not scope["query_string"]:
        return content_type
    return content_type + permitted(QueryParams(scope["query_string"]))


async def _body(receive: Receive) -> bytes:
    """Return the whole body. Raises ``ClientDisconnect`` where the caller goes away before."""
    parts: list[bytes] = []
    has_more = True
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        has_more = message.get("more_body", False)
    return b"".join(parts)


def _named(content: bytes, request_id: str) -> bytes:
    """Return a JSON object with ``request_id`` before its other keys; it is not read for that."""
    return b'{"request_id": "%s", %s' % (request_id.encode(), content.lstrip()[1:])


def describe() -> dict[str, Any]:
    """Return the route's OpenAPI path item."""
    rows = {
        "oneOf": [
            {
                "type": "object",
                "required": ["rows"],
                "properties": {"rows": {"type": "array", "items": {"type": "object"}}},
            },
            {"type": "array", "items": {"type": "object"}},
        ],
        "example": {"rows": [{"age": 31}, {"age": 58}]},
    }
    answer = {"schema": {"$ref": f"#/components/schemas/{Prediction.__name__}"}}
    return {
        "post": {
            "tags": ["applications"],
            "operationId": "predict",
            "summary": "Predict rows: a table, pictures or arrays; rows with the target get the quality as well",
            "parameters": [
                {
                    "name": "application_id",
                    "in": "path",
                    "required": True,
                    "schema": {"type": "string"},
                },
                {
                    "name": "fill_absent",
                    "in": "query",
                    "required": False,
                    "description": "Columns that may be empty may be absent as well.",
                    "schema": {"type": "boolean", "default": False},
                },
                {
                    "name": "fill_empty",
                    "in": "query",
                    "required": False,
                    "description": "Cells may be empty in columns that had no empty one in training.",
                    "schema": {"type": "boolean", "default": False},
                },
                {
                    "name": "explain",
                    "in": "query",
                    "required": False,
                    "description": "Say which columns moved each prediction; for 20 rows at most.",
                    "schema": {"type": "boolean", "default": False},
                },
                {
                    "name": FORECAST,
                    "in": "query",
                    "required": False,
                    "description": "Forecast so many steps of each series. The body may have rows "
                    "with newer values, or be empty.",
                    "schema": {"type": "integer", "minimum": 1, "maximum": MOST_STEPS},
                },
            ],
            "requestBody": {
                "required": False,
                "content": {
                    "application/json": {"schema": rows},
                    "text/csv": {"schema": {"type": "string"}},
                    "multipart/form-data": {
                        "schema": {"type": "object", "additionalProperties": _BINARY}
                    },
                    **{kind: {"schema": _BINARY} for kind in _BINARIES},
                },
            },
            "responses": {
                "200": {
                    "description": "One prediction a row",
                    "content": {"application/json": answer},
                }
            },
        }
    }
