"""The endpoint of an application: bytes in, bytes out; the predictor alone looks into them."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

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


async def predict(request: Request) -> Response:
    """Forward a prediction request; a plain Starlette route, since nothing is parsed here."""
    context: Context = request.app.state.context
    content_type = request.headers.get("content-type", "application/json")
    if request.query_params.get("fill_absent", "").lower() in ("true", "1"):
        content_type = f"{content_type}; {FILL_ABSENT}"
    tenant_id, body = request.state.caller.tenant_id, await request.body()
    application_id = request.path_params["application_id"]
    answered = await context.predictor.predict(tenant_id, application_id, content_type, body)
    status, content = answered.status, answered.content
    if status < 400:
        request_id = getattr(request.state, "request_id", "") or new_id("req")
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
        return Response(_named(content, request_id), status, media_type="application/json")
    return response_of(status, content)


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
        ]
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
