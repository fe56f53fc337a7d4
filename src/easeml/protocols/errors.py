"""Errors in the form of the protocol that the address belongs to."""

import json
from typing import Any

from starlette.responses import Response

V2 = "/v2"
INVOCATIONS = "/invocations"

_KEPT_HEADERS = ("retry-after", "www-authenticate")
_MLFLOW_CODES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "RESOURCE_DOES_NOT_EXIST",
    503: "TEMPORARILY_UNAVAILABLE",
}


def speaks_v2(path: str) -> bool:
    """Does an address belong to the Open Inference Protocol?"""
    return path == V2 or path.startswith(f"{V2}/")


def in_form_of(path: str, answer: Response) -> Response:
    """Return a problem document as the protocol of ``path`` tells errors.

    Other answers, and those of other addresses, are returned as they are.
    """
    is_v2 = speaks_v2(path)
    if answer.status_code < 400 or not (is_v2 or path.endswith(INVOCATIONS)):
        return answer
    problem = json.loads(bytes(answer.body))
    said = _sentence(problem)
    content = {"error": said} if is_v2 else _of_mlflow(answer.status_code, said)
    headers = {name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers}
    return Response(json.dumps(content), answer.status_code, headers, "application/json")


def _of_mlflow(status: int, said: str) -> dict[str, str]:
    usual = "BAD_REQUEST" if status < 500 else "INTERNAL_ERROR"
    return {"error_code": _MLFLOW_CODES.get(status, usual), "message": said}


def _sentence(problem: dict[str, Any]) -> str:
    """Return place, fault and remedy in one line."""
    where = problem.get("where") or ""
    detail = problem.get("detail") or problem.get("title") or ""
    remedy = problem.get("remedy") or ""
    said = f"{where}: {detail}" if where else detail
    return f"{said} {remedy}".strip()
