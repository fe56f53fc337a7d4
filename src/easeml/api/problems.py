"""Every error as problem details (RFC 9457), with easeml's stable code, the place and the remedy."""

import math
import secrets
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from traceback import format_exception
from typing import Any

import structlog
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from easeml.contract.resources import Problem
from easeml.errors import Damaged, EasemlError, InvalidInput, TooMany
from easeml.ids import request_id
from easeml.protocols.errors import in_form_of

MEDIA_TYPE = "application/problem+json"

_HEADERS = {401: {"WWW-Authenticate": 'Bearer realm="easeml"'}, 503: {"Retry-After": "1"}}

_STATUS = {
    "invalid-input": 422,
    "not-found": 404,
    "not-signed-in": 401,
    "not-allowed": 403,
    "over-quota": 403,
    "over-storage": 507,
    "too-many": 429,
    "conflict": 409,
    "fenced": 409,
    "not-ready": 503,
    "too-large": 413,
    "timed-out": 408,
    "unreachable": 502,
    "storage-full": 507,
}
_CODE = {
    400: "invalid-input",
    401: "not-signed-in",
    403: "not-allowed",
    404: "not-found",
    405: "method-not-allowed",
    413: "too-large",
    429: "too-many",
}
_HALF = InvalidInput(
    "A text has half a character.", remedy="Leave out U+D800 to U+DFFF, or name whole pairs."
)
_NO_OBJECT = InvalidInput(
    "The body is not the JSON that is asked for.",
    where="body",
    remedy="Send an object of JSON, with the header Content-Type: application/json.",
)
_SAID = {"extra_forbidden": "There is no such field"}
_REMEDY = {
    408: "Send it by a quicker connection, or in pieces by POST /api/v1/uploads.",
    413: "Send it in parts; a long file goes in pieces, by POST /api/v1/uploads.",
}
_DESCRIBED = "GET /api/v1/openapi.json lists what there is."
_MOST_ERRORS = 20  # shown of one request
_log = structlog.get_logger("easeml.api")


def problem_of(error: Exception) -> Response:
    """Return the answer for ``error``.

    What nobody foresaw goes to the log with its traceback, and only there.
    """
    if isinstance(error, RequestValidationError):
        return _of_validation(error.errors())
    if isinstance(error, HTTPException):
        return _of_http(error)
    if isinstance(error, UnicodeEncodeError):  # JSON may name halves of characters (\ud800)
        return _of_easeml(_HALF)
    if isinstance(error, EasemlError) and error.code in _STATUS:
        return _of_easeml(error)
    return _of_unforeseen(error)


def _of_easeml(error: EasemlError) -> Response:
    status = _STATUS[error.code]
    answer = _answer(status, error.code, error.message, where=error.where, remedy=error.remedy)
    if isinstance(error, TooMany):
        answer.headers["Retry-After"] = str(max(1, math.ceil(error.seconds)))
    return answer


async def handle(request: Request, error: Exception) -> Response:
    """Give ``problem_of`` the form of a Starlette exception handler."""
    answer = _of_routing(request, error) or problem_of(error)
    return in_form_of(request.url.path, answer)


def _of_routing(request: Request, error: Exception) -> Response | None:
    """Return the answer for an address or a method that there is not; None for other errors."""
    if not isinstance(error, HTTPException):
        return None
    path = request.url.path
    status = error.status_code
    if status == HTTPStatus.NOT_FOUND:
        said = "There is no such address."
        return _answer(404, _CODE[404], said, where=path, remedy=_DESCRIBED)
    if status != HTTPStatus.METHOD_NOT_ALLOWED:
        return None
    headers = dict(error.headers or {})
    remedy = f"Ask it by {headers.get('Allow', 'GET')}."
    answer = _answer(
        405,
        _CODE[405],
        "This address does not take the method.",
        where=f"{request.method} {path}",
        remedy=remedy,
    )
    answer.headers.update(headers)
    return answer


def _of_validation(found: Sequence[Any]) -> Response:
    if found[0]["type"] == "json_invalid":
        return _of_easeml(_no_json(found[0]))
    if found[0]["loc"] == ("body",):
        return _of_easeml(_NO_OBJECT)
    errors = []
    sentences = []
    for entry in found[:_MOST_ERRORS]:
        where = _place(entry["loc"])
        message = _said(entry)
        errors.append({"where": where, "message": message})
        sentences.append(f"{where}: {message}")
    detail = "; ".join(sentences)
    where = ""
    if len(errors) == 1 and errors[0]["where"]:
        where = errors[0]["where"]
        detail = errors[0]["message"]
    return _answer(
        422, "invalid-input", detail, where=where, remedy="Correct the request.", errors=errors
    )


def _said(entry: Mapping[str, Any]) -> str:
    """Return what is wrong with a field, in words."""
    if entry["type"] == "string_too_long":
        most = entry["ctx"]["max_length"]
        length = len(entry["input"])
        return f"It has {length:,} characters, and may have {most:,}"
    message: str = entry["msg"]
    return _SAID.get(entry["type"], message)


def _no_json(entry: Mapping[str, Any]) -> InvalidInput:
    """Return the error of a body that cannot be parsed, by the parser's entry."""
    place = entry["loc"][-1]
    return InvalidInput(
        f"The body is not JSON: {entry['ctx']['error']}.",
        where=f"body, character {place}",
        remedy="Correct it there: names and texts stand in double quotes, and no comma is last.",
    )


def _place(location: Sequence[Any]) -> str:
    """Return the path of a field; ``body``, ``query`` and the like only where there is nothing
    below.
    """
    below = location[1:] or location
    return ".".join(map(str, below))


def _of_http(error: HTTPException) -> Response:
    code = _CODE.get(error.status_code, "http-error")
    remedy = _REMEDY.get(error.status_code, "")
    answer = _answer(error.status_code, code, error.detail, remedy=remedy)
    answer.headers.update(error.headers or {})
    return answer


def _of_unforeseen(error: Exception) -> Response:
    # In a log line that has one, the id of the request stands anyway.
    reference = request_id() or secrets.token_hex(4)
    # As text: structured tracebacks hold local variables, and among them keys and passwords.
    _log.error("request failed", reference=reference, traceback="".join(format_exception(error)))
    code = error.code if isinstance(error, EasemlError) else "internal"
    detail = "Something went wrong inside easeml."
    if isinstance(error, Damaged):
        detail = "Stored data is damaged."
    remedy = f"Tell the provider; the controller's log has it under {reference}."
    return _answer(500, code, detail, remedy=remedy)


def _answer(
    status: int,
    code: str,
    detail: str,
    *,
    where: str = "",
    remedy: str = "",
    errors: Sequence[dict[str, Any]] = (),
) -> Response:
    problem = Problem(
        type=f"urn:easeml:problem:{code}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        where=where,
        remedy=remedy,
        errors=list(errors),
    )
    return response_of(status, problem.model_dump_json())


def response_of(status: int, content: str | bytes) -> Response:
    """Return the answer that holds a problem document, with the headers that its status asks for."""
    return Response(content, status, _HEADERS.get(status), MEDIA_TYPE)
