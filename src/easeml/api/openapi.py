"""The OpenAPI 3.1 document: what FastAPI derives, plus authentication, problems and the prediction
route.
"""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from easeml.api import predict
from easeml.api.authentication import OPEN
from easeml.api.problems import MEDIA_TYPE
from easeml.contract.applications import Prediction
from easeml.contract.resources import Problem
from easeml.protocols.errors import INVOCATIONS, speaks_v2

_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "basic": {
        "type": "http",
        "scheme": "basic",
        "description": "any user name; the API key as password",
    },
}
_REFERENCE = "#/components/schemas/{model}"


def document(app: FastAPI) -> dict[str, Any]:
    """Return the document of ``app``, made once."""
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        found["paths"][predict.PATH] = predict.describe()
        components = found.setdefault("components", {})
        components["securitySchemes"] = _SCHEMES
        _add_schemas(components.setdefault("schemas", {}))
        found["security"] = [{name: []} for name in _SCHEMES]
        for path, item in found["paths"].items():
            for operation in item.values():
                _complete(path, operation)
        app.openapi_schema = found
    return app.openapi_schema


def _complete(path: str, operation: dict[str, Any]) -> None:
    operation["responses"].pop("422", None)
    operation["responses"]["default"] = _problem_of(path)
    if path in OPEN:
        operation["security"] = []


def _problem_of(path: str) -> dict[str, Any]:
    """Return what is said of the errors of a path: protocols have a form of their own."""
    if speaks_v2(path) or path.endswith(INVOCATIONS):
        form = {"application/json": {"schema": {"type": "object"}}}
        return {"description": "An error in the protocol's form", "content": form}
    schema = {"$ref": _REFERENCE.format(model=Problem.__name__)}
    return {"description": "A problem (RFC 9457)", "content": {MEDIA_TYPE: {"schema": schema}}}


def _add_schemas(schemas: dict[str, Any]) -> None:
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for model in (Prediction, Problem):
        schema = model.model_json_schema(ref_template=_REFERENCE, mode="serialization")
        schemas.update(schema.pop("$defs", {}))
        schemas[model.__name__] = schema
