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
    return f"{path}/".startswith(f"{V2}/")


def in_form_of(path: str, answer: Response) -> Response:
    """Return a problem document as the protocol of ``path`` tells errors.

    Other answers, and those of other addresses, are returned as they are.
    """
    if answer.status_code < 400:
        return answer
    if speaks_v2(path):
        content = {"error": _sentence(answer)}
    elif path.endswith(INVOCATIONS):
        content = _of_mlflow(answer.status_code, _sentence(answer))
    else:
        return answer

    headers = {name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers}
    return Response(json.dumps(content), answer.status_code, headers, media_type="application/json")


def _of_mlflow(status: int, said: str) -> dict[str, str]:
    usual = "BAD_REQUEST" if status < 500 else "INTERNAL_ERROR"
    return {"error_code": _MLFLOW_CODES.get(status, usual), "message": said}


def _sentence(answer: Response) -> str:
    """Return place, fault and remedy of a problem document in one line."""
    problem: dict[str, Any] = json.loads(bytes(answer.body))
    where = problem.get("where")
    place = f"{where}:" if where else ""
    fault = problem.get("detail") or problem.get("title")
    return " ".join(filter(None, [place, fault, problem.get("remedy")]))
