"""The addresses of the protocols. Each asks the predictor as ``api.predict`` does, with rows as JSON."""

import json
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from easeml.api.compressed import whole_body
from easeml.api.context import Asker, Context, Here
from easeml.api.problems import response_of
from easeml.data import kinds_of
from easeml.errors import NotFound, NotReady
from easeml.protocols import inference, invocations
from easeml.protocols.errors import INVOCATIONS, V2, in_form_of
from easeml.service.access.caller import Caller
from easeml.service.applications import endpoints

_MODEL = "/models/{application_id}"
_VERSION = f"{_MODEL}/versions/{{model_id}}"

v2 = APIRouter(prefix=V2, tags=["protocols"])
mlflow = APIRouter(tags=["protocols"])

_TENSORS = {
    "type": "object",
    "required": ["inputs"],
    "properties": {
        "id": {"type": "string"},
        "inputs": {"type": "array", "items": {"type": "object"}},
        "outputs": {"type": "array", "items": {"type": "object"}},
    },
    "example": {"inputs": [{"name": "age", "datatype": "FP64", "shape": [2], "data": [31, 58]}]},
}
_FRAME = {
    "type": "object",
    "properties": {name: {} for name in invocations.FORMATS},
    "example": {"dataframe_records": [{"age": 31}, {"age": 58}]},
}
_NAMES_VERSION = {
    "parameters": [
        {"name": "model_id", "in": "path", "required": True, "schema": {"type": "string"}}
    ]
}


def _body(**content: dict[str, Any]) -> dict[str, Any]:
    schemas = {kind: {"schema": schema} for kind, schema in content.items()}
    return {"requestBody": {"required": True, "content": schemas}}


v2.add_api_route("", inference.server)
v2.add_api_route("/health/live", inference.live)


@v2.get("/health/ready")
def get_ready(here: Here) -> Response:
    """Tell whether the service can keep what it is told (503 where not); needs no key."""
    is_ready = not here.health.ask().problems
    return JSONResponse({"ready": is_ready}, 200 if is_ready else 503)


@v2.get(_VERSION, openapi_extra=_NAMES_VERSION)
@v2.get(_MODEL)
def get_metadata(request: Request, here: Here, asker: Asker, application_id: str) -> dict[str, Any]:
    """Tell inputs and outputs of an application's endpoint; its version is the live model's id."""
    found = endpoints.get(here.store, asker, application_id)
    _check_version(request, found)
    versions = [found.model_id] if found.model_id else []
    return inference.metadata(application_id, versions, found.schema_in, found.schema_out)


@v2.get(f"{_VERSION}/ready", openapi_extra=_NAMES_VERSION)
@v2.get(f"{_MODEL}/ready")
def get_model_ready(
    request: Request, here: Here, asker: Asker, application_id: str
) -> dict[str, Any]:
    """Tell whether a model is live (503 where none is)."""
    found = endpoints.get(here.store, asker, application_id)
    _check_version(request, found)
    if not found.model_id:
        raise NotReady("No model is live yet.", remedy="Wait until the search has trained one.")
    return {"name": application_id, "ready": True}


@v2.post(
    f"{_VERSION}/infer",
    openapi_extra=_body(**{"application/json": _TENSORS}) | _NAMES_VERSION,
)
@v2.post(
    f"{_MODEL}/infer",
    openapi_extra=_body(**{"application/json": _TENSORS}),
)
async def infer(request: Request, here: Here, asker: Asker, application_id: str) -> Response:
    """Predict the rows of tensors: an input a column, or one with all columns in their order.

    Outputs: ``prediction``; ``probabilities`` of classes, or ``lower`` and ``upper`` of numbers.
    Binary tensors (Triton's extension) are taken and given. A version of the model may be named
    (``/versions/MODEL_ID`` before ``/infer``): it has to be the live one.
    """
    if "model_id" in request.path_params:
        found = await run_in_threadpool(endpoints.get, here.store, asker, application_id)
        _check_version(request, found)
    length = request.headers.get(inference.HEADER_LENGTH)
    body = await whole_body(request, here.settings.request_limit)
    asked = inference.read_request(body, length)
    columns = []
    if asked.needs_columns:
        columns = await _columns(here, asker, application_id)
    content = json.dumps({"rows": inference.rows_of(asked, columns)}).encode()
    status, answer = await _ask(here, asker, application_id, "application/json", content)
    if status >= 400:
        return _refused(request, status, answer)
    body, head = inference.encode_answer(asked, application_id, json.loads(answer))
    if head is None:
        return Response(body, media_type="application/json")
    headers = {inference.HEADER_LENGTH: str(head)}
    return Response(body, headers=headers, media_type="application/octet-stream")


@mlflow.post(
    f"/applications/{{application_id}}{INVOCATIONS}",
    openapi_extra=_body(**{"application/json": _FRAME, "text/csv": {"type": "string"}}),
)
async def invoke(request: Request, here: Here, asker: Asker, application_id: str) -> Response:
    """Predict rows as MLflow's scoring server takes them: a frame as ``dataframe_split`` or
    ``dataframe_records``, ``instances``, ``inputs``, or CSV.
    """
    content = await whole_body(request, here.settings.request_limit)
    content_type = request.headers.get("content-type", "application/json")
    if not content_type.startswith("text/csv"):
        columns = await _columns(here, asker, application_id)
        content = json.dumps({"rows": invocations.rows_of(content, columns)}).encode()
        content_type = "application/json"
    status, answer = await _ask(here, asker, application_id, content_type, content)
    if status >= 400:
        return _refused(request, status, answer)
    return JSONResponse(invocations.answer_of(json.loads(answer)))


def _check_version(request: Request, found: endpoints.Endpoint) -> None:
    """Raise ``NotFound`` where the address names a version that does not serve."""
    version = request.path_params.get("model_id", found.model_id)
    if version != found.model_id:
        remedy = f"The version that serves is {found.model_id or 'none yet'}."
        raise NotFound("This version of the model does not serve.", where=version, remedy=remedy)


async def _ask(
    here: Context, asker: Caller, application_id: str, content_type: str, content: bytes
) -> tuple[int, bytes]:
    tenant_id = asker.tenant_id
    answered = await here.predictor.predict(tenant_id, application_id, content_type, content)
    return answered.status, answered.content


def _refused(request: Request, status: int, answer: bytes) -> Response:
    """Return the predictor's problem in the protocol's form."""
    return in_form_of(request.url.path, response_of(status, answer))


async def _columns(here: Context, asker: Caller, application_id: str) -> list[str]:
    """Return the columns of the data. Raises ``NotFound`` for an application of somebody else."""
    found = await run_in_threadpool(endpoints.get, here.store, asker, application_id)
    return list(kinds_of(found.schema_in))
