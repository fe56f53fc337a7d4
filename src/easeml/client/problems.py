"""Problem details (RFC 9457) back to the exceptions of ``easeml.errors``."""

import httpx
from pydantic import ValidationError

from easeml import errors
from easeml.client.apart import difference
from easeml.contract.resources import Problem

_CLASSES: dict[str, type[errors.EasemlError]] = {
    found.code: found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, errors.EasemlError)
}
_BY_STATUS: dict[int, type[errors.EasemlError]] = {
    400: errors.InvalidInput,
    401: errors.NotSignedIn,
    403: errors.NotAllowed,
    404: errors.NotFound,
    409: errors.Conflict,
    413: errors.TooLarge,
    422: errors.InvalidInput,
    429: errors.NotReady,
    503: errors.NotReady,
}
_NOT_UNDERSTOOD = frozenset({404, 405, 422, 500})  # what another version may not know


def error_of(response: httpx.Response) -> errors.EasemlError:
    """Return the exception that a refused request stands for; the body must have been read."""
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        return _foreign(response)
    kind = _CLASSES.get(problem.code) or _BY_STATUS.get(response.status_code, errors.EasemlError)
    remedy = problem.remedy
    if response.status_code in _NOT_UNDERSTOOD:
        remedy = f"{remedy} {difference(response)}".strip()
    return kind(problem.detail or problem.title, remedy=remedy, where=problem.where)


def _foreign(response: httpx.Response) -> errors.EasemlError:
    """Return the error for an answer that is no problem document: a proxy's, or another program's."""
    kind = _BY_STATUS.get(response.status_code, errors.EasemlError)
    if response.status_code in {502, 504}:
        kind = errors.Unreachable
    return kind(
        f"The service answered with status {response.status_code} {response.reason_phrase}.",
        where=str(response.request.url),
        remedy="Check that EASEML_URL is the address of an easeml service.",
    )
