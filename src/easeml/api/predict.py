"""The endpoint of an application: bytes in, bytes out; the predictor alone looks into them."""

import re
from typing import Any

from starlette.datastructures import Headers, QueryParams
from starlette.requests import ClientDisconnect
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from easeml.api.context import Context
from easeml.api.problems import response_of
from easeml.contract.applications import Prediction
from easeml.data import FILL_ABSENT
from easeml.ids import new_id
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
_PATH = re.compile(PATH.format(application_id="([^/]+)"))


def is_asked_for(scope: Scope) -> bool:
    """Does a request ask for predictions?"""
    if scope["type"] != "http" or scope["method"] != "POST":
        return False
    return _PATH.fullmatch(scope["path"]) is not None


class Predict:
    """The endpoint as an ASGI application: bytes are forwarded, and nothing is parsed here."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request."""
        scope["route"] = ROUTE  # what its time is counted for
        context: Context = scope["app"].state.context
        content_type = _content_type(scope)
        application_id = _PATH.fullmatch(scope["path"])[1]  # type: ignore[index]
        tenant_id, body = scope["state"]["caller"].tenant_id, await _body(receive)
        answered = await context.predictor.predict(tenant_id, application_id, content_type, body)
        status, content = answered.status, answered.content
        if status >= 400:
            await response_of(status, content)(scope, receive, send)
            return
        request_id = scope["state"].get("request_id") or new_id("req")
        seen = Seen(
            request_id,
            tenant_id,
            application_id,
            content_type,
            body,
            content,
            answered.share,
            answered.failed,
        )
        context.log.note(seen)
        await _send(send, status, _named(content, request_id))


ROUTE = Route(PATH, Predict(), methods=["POST"])


def _content_type(scope: Scope) -> str:
    """Return the media type of the rows, and whether columns may be absent."""
    content_type = Headers(scope=scope).get("content-type", "application/json")
    if not scope["query_string"]:
        return content_type
    filled = QueryParams(scope["query_string"]).get("fill_absent", "")
    return f"{content_type}; {FILL_ABSENT}" if filled.lower() in ("true", "1") else content_type


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


async def _send(send: Send, status: int, content: bytes) -> None:
    """Send JSON, as Starlette's responses do."""
    length = str(len(content)).encode()
    headers = [(b"content-length", length), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


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
            ],
            "requestBody": {
                "required": True,
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
